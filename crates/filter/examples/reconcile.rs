//! Two shards should hold the same keys. They find the keys that each of them lacks, without
//! sending the keys that both have.
//!
//! Each shard sends a filter of its keys. The other shard answers with those of its own keys that
//! the filter does not contain. The first shard certainly lacks these keys. If a missing key is a
//! false positive, it is found in a later round, because each round has a new seed, and therefore
//! other false positives. After r rounds at a rate p, a share p^r of the missing keys is left on
//! average.
//! `cargo run --example reconcile`.

use std::collections::HashSet;
use std::error::Error;
use truebloom::BloomFilter;

struct Shard {
    keys: HashSet<String>,
}

impl Shard {
    /// The message to the other shard: a filter of all keys, with a new seed.
    fn summary(&self, rate: f64) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut filter = BloomFilter::new(self.keys.len(), rate)?;
        filter.extend(&self.keys);
        Ok(filter.to_bytes()?)
    }

    /// The answer: keys that the other shard certainly lacks.
    fn missing_from(&self, summary: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
        let theirs = BloomFilter::from_bytes(summary)?;
        let found = theirs.contains_all(&self.keys);
        Ok(self.keys.iter().zip(found).filter(|(_, found)| !found).map(|(key, _)| key.clone()).collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = |i: u32| format!("user-{i:08}@example.org");
    // The shards have 100,000 keys in common. Another 300 keys are only in the first shard, and 200
    // only in the second.
    let mut east = Shard { keys: (0..100_300).map(key).collect() };
    let mut west = Shard { keys: (0..100_000).chain(100_300..100_500).map(key).collect() };
    let everything: usize = east.keys.iter().map(String::len).sum();

    let mut sent = 0;
    for round in 1.. {
        let (from_east, from_west) = (east.summary(0.01)?, west.summary(0.01)?);
        let (to_east, to_west) = (west.missing_from(&from_east)?, east.missing_from(&from_west)?);
        sent += from_east.len() + from_west.len() + to_east.iter().chain(&to_west).map(String::len).sum::<usize>();
        println!("round {round}: {} keys to the east, {} to the west", to_east.len(), to_west.len());
        let quiet = to_east.is_empty() && to_west.is_empty();
        east.keys.extend(to_east);
        west.keys.extend(to_west);
        // Of 500 missing keys, 0.05 are left on average after two rounds, and 0.0005 after three.
        if quiet && round >= 3 {
            break;
        }
    }
    println!("sent {sent} bytes both ways; all keys of one shard are {everything}");
    println!("equal: {}", east.keys == west.keys);
    Ok(())
}
