//! The number of keys from which a batch is faster than single calls: nanoseconds per key, the best
//! of many rounds, for batches of 1 to 1,024 keys.
//!
//! ```text
//! cargo run --release -p truebloom-bench --bin begin
//! ```

use std::hint::black_box;
use std::time::Instant;
use truebloom::{BlockedBloomFilter, BloomFilter, PortableHasher, Seed};

const ROUNDS: u64 = 1_000;

/// The best time per key, in nanoseconds, for this many keys.
struct Best {
    keys: usize,
    times: Vec<f64>,
    next: usize,
}

impl Best {
    fn new(keys: usize) -> Best {
        Best { keys, times: Vec::new(), next: 0 }
    }

    /// Runs single calls and then the batch, in this order in every round.
    fn time<R>(&mut self, way: impl FnOnce() -> R) {
        let start = Instant::now();
        black_box(way());
        let time = start.elapsed().as_nanos() as f64 / self.keys as f64;
        if self.next == self.times.len() {
            self.times.push(f64::MAX);
        }
        self.times[self.next] = self.times[self.next].min(time);
        self.next += 1;
    }
}

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(1))
}

fn scrambled(number: u64) -> u64 {
    u128::from(hasher().hash_key(&number)) as u64
}

/// Measures hits, misses and insertions of contained keys, in single calls and in a batch. Each
/// measurement uses other keys, because keys that were just queried are in cache.
macro_rules! ways {
    ($best:ident, $filter:ident, $draw:ident, $items:ident) => {
        let members = [1, 2, 3, 4].map(|salt| $draw(salt, &|number| number % $items));
        let strangers = [5, 6].map(|salt| $draw(salt, &|number| number | 1 << 63));
        let singly = |keys: &[u64]| keys.iter().filter(|key| $filter.contains(*key)).count();
        $best.time(|| singly(black_box(&members[0])));
        $best.time(|| $filter.contains_all(black_box(&members[1])));
        $best.time(|| singly(black_box(&strangers[0])));
        $best.time(|| $filter.contains_all(black_box(&strangers[1])));
        $best.time(|| black_box(&members[2]).iter().filter(|key| $filter.insert(*key)).count());
        $best.time(|| $filter.insert_all(black_box(&members[3])));
    };
}

fn main() {
    println!("ns per key: one by one, then as a batch");
    println!("{:>8} {:>5} | standard: hit, miss, insert | blocked: hit, miss, insert", "bytes", "keys");
    for bytes in [1u64 << 16, 1 << 20, 1 << 23, 1 << 26] {
        let items = bytes * 8 / 10;
        let mut standard = BloomFilter::with_hasher(items, 0.01, hasher()).expect("a plan");
        let mut blocked = BlockedBloomFilter::with_hasher(items, 0.01, hasher()).expect("a plan");
        standard.extend(0..items);
        blocked.extend(0..items);
        for keys in (0..11).map(|power| 1 << power) {
            let mut best = Best::new(keys);
            for round in 0..ROUNDS {
                let draw = |salt: u64, number: &dyn Fn(u64) -> u64| -> Vec<u64> {
                    (0..keys as u64).map(|key| number(scrambled(salt << 48 | round << 20 | key))).collect()
                };
                best.next = 0;
                ways!(best, standard, draw, items);
                ways!(best, blocked, draw, items);
            }
            let cell = |pair: &[f64]| format!("{:6.1} {:6.1}", pair[0], pair[1]);
            let cells: Vec<String> = best.times.chunks(2).map(cell).collect();
            println!("{bytes:>8} {keys:>5} | {} | {}", cells[..3].join(", "), cells[3..].join(", "));
        }
    }
}
