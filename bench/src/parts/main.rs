//! Divides the time for one key into the time for the hash, for the positions, and for the words at
//! these positions. The filter is in the second-level cache. Times are nanoseconds per key, the
//! best of many rounds.
//!
//! ```text
//! cargo run --release -p truebloom-bench --bin parts
//! ```

use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::time::Instant;
use truebloom::scheme::Scheme;
use truebloom::{BlockedBloomFilter, BloomFilter, FilterOf, KeyHash, PortableHasher, Seed};
use truebloom_math::{Plan, Target};

const ROUNDS: usize = 400;
const KEYS: u64 = 16_384;
const BITS: u64 = 8 * 65_536;

/// The best time per key.
fn best<R>(mut run: impl FnMut() -> R) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_nanos() as f64 / KEYS as f64);
    }
    best
}

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(1))
}

fn line(name: &str, time: f64) {
    println!("| {name} | {time:.1} |");
}

fn parts<S: Scheme>(name: &str, mut filter: FilterOf<S>, items: u64) {
    let number = |key: u64| u128::from(hasher().hash_key(&key)) as u64;
    filter.extend((0..items).map(number));
    let members: Vec<u64> = (0..KEYS).map(|key| number(number(key) % items)).collect();
    let strangers: Vec<u64> = (0..KEYS).map(|key| number(key + (1 << 40))).collect();
    let hash_all = |keys: &[u64]| -> Vec<KeyHash> { keys.iter().map(|key| filter.hash(key)).collect() };
    let (member_hashes, stranger_hashes) = (hash_all(&members), hash_all(&strangers));
    println!("\n{name}, {} bits, {} probes:\n\n| part | ns per key |\n|---|---|", filter.bits(), filter.probes());
    let positions = |hash: &KeyHash| filter.scheme().positions(*hash).fold(0, |all, position| all ^ position);
    line("hash", best(|| members.iter().fold(0, |all, key| all ^ u128::from(filter.hash(key)))));
    line("foldhash's hash", best(|| members.iter().fold(0, |all, key| all ^ FixedState::with_seed(1).hash_one(key))));
    line("positions of a hash", best(|| member_hashes.iter().fold(0, |all, hash| all ^ positions(hash))));
    line("hit of a hash", best(|| member_hashes.iter().filter(|hash| filter.contains_hash(**hash)).count()));
    line("miss of a hash", best(|| stranger_hashes.iter().filter(|hash| filter.contains_hash(**hash)).count()));
    line("hit of a key", best(|| members.iter().filter(|key| filter.contains(*key)).count()));
    line("miss of a key", best(|| strangers.iter().filter(|key| filter.contains(*key)).count()));
    line("hits of hashes together", best(|| filter.contains_all_hashes(&member_hashes).count_ones()));
    line("misses of hashes together", best(|| filter.contains_all_hashes(&stranger_hashes).count_ones()));
    line("hits of keys together", best(|| filter.contains_all(&members).count_ones()));
    line("misses of keys together", best(|| filter.contains_all(&strangers).count_ones()));
    line("insertion of a hash that is there", best(|| member_hashes.iter().filter(|hash| filter.insert_hash(**hash)).count()));
    line("insertion of a key that is there", best(|| members.iter().filter(|key| filter.insert(*key)).count()));
}

fn main() {
    for rate in ["1%", "0.1%"] {
        let target = Target::new().bits(BITS).rate(rate.parse().expect("a rate")).mean();
        let items = Plan::new(&target).expect("a plan").items;
        let standard = BloomFilter::with_hasher(items, rate, hasher()).expect("a plan");
        parts(&format!("standard, {rate}"), standard, items);
        let blocked = BlockedBloomFilter::with_hasher(items, rate, hasher()).expect("a plan");
        parts(&format!("blocked, {rate}"), blocked, items);
    }
}
