//! Compares batches of 1 to 1,024 keys with single calls, to find the number of keys from which a
//! batch is faster. Times are nanoseconds per key, the best of many rounds.
//!
//! ```text
//! cargo run --release -p truebloom-bench --bin begin [-- PART_OF_A_NAME...]
//! ```
//!
//! A batch of up to `Batches::few` keys is processed by single calls, so for these batches both
//! columns measure single calls. To find the best value of `few`, let it return 0.

use std::hint::black_box;
use std::time::Instant;
use truebloom::scheme::{Classic, Double, Partitioned, Scheme};
use truebloom::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicFilterOf, AtomicScalableFilter, BlockedBloomFilter, BloomFilter, FilterOf,
    PortableHasher, ScalableFilter, Seed,
};
use truebloom_math::{Growth, Plan, Target};

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

fn standard(items: u64) -> BloomFilter {
    BloomFilter::with_hasher(items, 0.01, hasher()).expect("a plan")
}

fn blocked(items: u64) -> BlockedBloomFilter {
    BlockedBloomFilter::with_hasher(items, 0.01, hasher()).expect("a plan")
}

/// A filter of another scheme, with as many bits and probes as the standard filter.
fn like_standard<S: Scheme>(items: u64) -> FilterOf<S> {
    let plan = Plan::new(&Target::new().items(items).rate("1%".parse().expect("a rate"))).expect("a plan");
    FilterOf::with_scheme(S::new(plan.bits, plan.probes).expect("in range"), hasher()).expect("memory")
}

fn growing(items: u64) -> ScalableFilter {
    ScalableFilter::with_growth(Growth::new("1%".parse().expect("a rate"), items).expect("in range"), hasher()).expect("memory")
}

/// Measures hits, misses and insertions of contained keys, in single calls and in a batch. Each
/// measurement uses different keys, because the words of keys that were just queried are in cache.
macro_rules! measure {
    ($name:literal, $filter:expr, $bytes:ident, $items:ident) => {
        let mut filter = $filter;
        let fill: Vec<u64> = (0..$items).collect();
        filter.insert_all(&fill);
        for keys in (0..11).map(|power| 1 << power) {
            let mut best = Best::new(keys);
            for round in 0..ROUNDS {
                let draw = |salt: u64, number: &dyn Fn(u64) -> u64| -> Vec<u64> {
                    (0..keys as u64).map(|key| number(scrambled(salt << 48 | round << 20 | key))).collect()
                };
                let members = [1, 2, 3, 4].map(|salt| draw(salt, &|number| number % $items));
                let strangers = [5, 6].map(|salt| draw(salt, &|number| number | 1 << 63));
                best.next = 0;
                best.time(|| black_box(&members[0]).iter().filter(|key| filter.contains(*key)).count());
                best.time(|| filter.contains_all(black_box(&members[1])));
                best.time(|| black_box(&strangers[0]).iter().filter(|key| filter.contains(*key)).count());
                best.time(|| filter.contains_all(black_box(&strangers[1])));
                best.time(|| black_box(&members[2]).iter().filter(|key| filter.insert(*key)).count());
                best.time(|| filter.insert_all(black_box(&members[3])));
            }
            let cells: Vec<String> = best.times.chunks(2).map(|pair| format!("{:6.1} {:6.1}", pair[0], pair[1])).collect();
            println!("{:>18} {:>8} {keys:>5} | {}", $name, $bytes, cells.join(" | "));
        }
    };
}

#[allow(unused_mut, reason = "shared filters are filled without")]
fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|part| name.contains(part.as_str()));
    println!("ns per key: one by one, then as a batch");
    println!("{:>18} {:>8} {:>5} | {:13} | {:13} | {:13}", "filter", "bytes", "keys", "hit", "miss", "insert");
    for bytes in [1u64 << 16, 1 << 20, 1 << 23, 1 << 26] {
        let items = bytes * 8 / 10;
        macro_rules! measure_all {
            ($($name:literal: $filter:expr;)*) => {
                $(if is_asked($name) {
                    measure!($name, $filter, bytes, items);
                })*
            };
        }
        measure_all! {
            "standard": standard(items);
            "blocked": blocked(items);
            "partitioned": like_standard::<Partitioned>(items);
            "classic": like_standard::<Classic>(items);
            "double": like_standard::<Double>(items);
            "shared standard": AtomicBloomFilter::from(standard(items));
            "shared blocked": AtomicBlockedBloomFilter::from(blocked(items));
            "shared partitioned": AtomicFilterOf::from(like_standard::<Partitioned>(items));
            "shared growing": AtomicScalableFilter::from(growing(items));
        }
    }
}
