//! Measures how fast a filter that grows inserts keys and answers queries, compared with a filter
//! that was planned for the right number of keys. Also measures how many megabytes of filters per
//! second are compressed, expanded, compared and updated.
//!
//! `cargo run --release -p truebloom --example growth_speed -- 10000000` measures ten million keys;
//! the default is 50,000, so that the example runs anywhere.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use truebloom::{BloomFilter, Filter, PortableHasher, ScalableFilter, Seed, wire};

fn main() -> Result<(), Box<dyn Error>> {
    let keys: u64 = std::env::args().nth(1).map_or(Ok(50_000), |text| text.parse())?;
    let mut known = BloomFilter::with_hasher(keys, 0.001, PortableHasher::xxh3(Seed::from(1)))?;
    let mut grown = ScalableFilter::new(0.001)?;
    println!("{keys} keys at 0.1%: ns a key to insert, one by one and many at a time; to ask, contained, not contained; bits a key");
    report("known beforehand", &mut known, keys);
    report("grown", &mut grown, keys);
    println!("\nMB of filter a second, of {} MB:", known.encoded_bytes() / 1_000_000);
    for fill in [0.01, 0.1, 0.5] {
        let mut filter = BloomFilter::with_bits_and_probes(known.bits(), 3)?;
        let mut key = 0u64;
        while filter.fill() < fill {
            filter.extend(key..key + 1_000);
            key += 1_000;
        }
        travel(&filter, key)?;
    }
    Ok(())
}

fn report<F: Filter>(name: &str, filter: &mut F, keys: u64) {
    let half = keys / 2;
    let each = |start: Instant, count: u64| start.elapsed().as_nanos() as f64 / count as f64;
    let start = Instant::now();
    (0..half).for_each(|key| _ = filter.insert(&key));
    let one = each(start, half);
    let start = Instant::now();
    filter.insert_all(half..keys);
    let many = each(start, keys - half);
    let asked = |range: std::ops::Range<u64>, filter: &F| {
        let (start, count) = (Instant::now(), range.end - range.start);
        black_box(filter.contains_all(range).count_ones());
        each(start, count)
    };
    let (hits, misses) = (asked(0..keys, filter), asked(keys..2 * keys, filter));
    println!("{name}: {one:.0} and {many:.0}; {hits:.0}, {misses:.0}; {:.1}", filter.bits() as f64 / keys as f64);
}

fn travel(filter: &BloomFilter, keys: u64) -> Result<(), Box<dyn Error>> {
    let bytes = filter.to_bytes()?;
    let mut later = filter.clone();
    later.extend(keys..keys + keys / 100);
    let later = later.to_bytes()?;
    let rate = |start: Instant| bytes.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    let sent = wire::compress(&bytes)?;
    let compress = rate(start);
    let start = Instant::now();
    let back = wire::expand(&sent)?;
    let expand = rate(start);
    let start = Instant::now();
    let news = wire::difference(&bytes, &later)?;
    let difference = rate(start);
    let start = Instant::now();
    let applied = wire::apply(&bytes, &news)?;
    let apply = rate(start);
    assert!(back == bytes && applied == later);
    println!(
        "fill {:.0}%: compress {compress:.0}, expand {expand:.0}; 1% of new keys: difference {difference:.0}, apply {apply:.0}",
        100.0 * filter.fill()
    );
    Ok(())
}
