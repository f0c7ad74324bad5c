//! Measures the speed of shared filters with one thread, and with as many threads as the machine
//! can run in parallel. Times are nanoseconds of elapsed time per key, the best of several rounds.
//!
//! ```text
//! cargo run --release -p truebloom-bench --bin threads
//! ```
//!
//! The program also counts the cache lines that an insertion writes. These lines limit the speed: a
//! line that two threads write moves between their processors.

use foldhash::fast::FixedState;
use std::collections::HashSet;
use std::sync::Barrier;
use std::time::Instant;
use truebloom::scheme::Scheme;
use truebloom::{AtomicBlockedBloomFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, PortableHasher, Seed};

/// The number of rounds; the best one counts.
const ROUNDS: u64 = 3;

/// The number of queries in a round, by all threads together.
const ASKED: u64 = 1 << 20;

const RATE: f64 = 0.01;

/// A filter that threads share.
trait Shared: Sync {
    fn insert(&self, key: u64);
    fn contains(&self, key: u64) -> bool;
}

struct Claiming(AtomicBloomFilter);

macro_rules! shared {
    ($($filter:ty, $self:ident => $filter_of:expr, $insert:ident;)*) => {
        $(impl Shared for $filter {
            fn insert(&$self, key: u64) {
                $filter_of.$insert(&key);
            }
            fn contains(&$self, key: u64) -> bool {
                $filter_of.contains(&key)
            }
        })*
    };
}

shared! {
    AtomicBloomFilter, self => self, insert;
    AtomicBlockedBloomFilter, self => self, insert;
    Claiming, self => self.0, claim;
    fastbloom::AtomicBloomFilter<FixedState>, self => self, insert;
}

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(1))
}

fn standard(items: u64) -> BloomFilter {
    BloomFilter::with_hasher(items, RATE, hasher()).expect("a plan")
}

fn blocked(items: u64) -> BlockedBloomFilter {
    BlockedBloomFilter::with_hasher(items, RATE, hasher()).expect("a plan")
}

type Make = fn(u64) -> Box<dyn Shared>;

const FILTERS: [(&str, Make); 4] = [
    ("truebloom standard", |items| Box::new(AtomicBloomFilter::from(standard(items)))),
    ("truebloom standard, claim", |items| Box::new(Claiming(standard(items).into()))),
    ("truebloom blocked", |items| Box::new(AtomicBlockedBloomFilter::from(blocked(items)))),
    ("fastbloom + foldhash", |items| {
        let filter = fastbloom::AtomicBloomFilter::with_false_pos(RATE).hasher(FixedState::with_seed(1));
        Box::new(filter.expected_items(items as usize))
    }),
];

/// The time per key in nanoseconds if this many threads share the keys. The time is measured from
/// the start of the first thread to the end of the last thread.
fn timed(threads: u64, keys: u64, work: impl Fn(u64) + Sync) -> f64 {
    let begin = Barrier::new(threads as usize);
    let part = |thread: u64| {
        begin.wait();
        let start = Instant::now();
        (keys * thread / threads..keys * (thread + 1) / threads).for_each(&work);
        (start, Instant::now())
    };
    let times: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn({
                    let part = &part;
                    move || part(thread)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let start = times.iter().map(|(start, _)| *start).min().expect("a thread");
    let end = times.iter().map(|(_, end)| *end).max().expect("a thread");
    (end - start).as_nanos() as f64 / keys as f64
}

/// The best times of an insertion, a hit and a miss.
fn best(make: Make, items: u64, threads: u64) -> [f64; 3] {
    let scrambled = |key: u64| u128::from(hasher().hash_key(&key)) as u64;
    let mut best = [f64::MAX; 3];
    for round in 0..ROUNDS {
        // Many small filters are filled one after another, because filling a single one is too fast
        // to measure.
        let filters: Vec<Box<dyn Shared>> = (0..ASKED.div_ceil(items)).map(|_| make(items)).collect();
        let filter = &filters[0];
        let asked = |number: u64| scrambled(round << 32 | number);
        let times = [
            timed(threads, items * filters.len() as u64, |key| filters[(key / items) as usize].insert(key % items)),
            timed(threads, ASKED, |key| assert!(filter.contains(asked(key) % items), "a key is lost")),
            timed(threads, ASKED, |key| _ = std::hint::black_box(filter.contains(asked(key) | 1 << 63))),
        ];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    best
}

/// Returns the mean number of cache lines of the filter's bits that the insertion of a key changes.
fn lines_written<S: Scheme>(filter: &truebloom::FilterOf<S>) -> f64 {
    const KEYS: u64 = 10_000;
    let lines = |key: u64| filter.scheme().positions(filter.hash(&key)).map(|position| position / 512).collect::<HashSet<_>>().len();
    (0..KEYS).map(lines).sum::<usize>() as f64 / KEYS as f64
}

fn main() {
    let most = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    println!("ns per key by the wall clock at {RATE}, the best of {ROUNDS} rounds: with 1 thread, with {most} threads, and the ratio\n");
    println!("| bytes | filter | insert | hit | miss |\n|---|---|---|---|---|");
    for bytes in [1u64 << 16, 1 << 23, 1 << 25] {
        let items = bytes * 8 / 10;
        for (name, make) in FILTERS {
            let (one, all) = (best(make, items, 1), best(make, items, most));
            let cells: Vec<String> = one.iter().zip(all).map(|(one, all)| format!("{one:.1}, {all:.1}, {:.2}", one / all)).collect();
            println!("| {bytes} | {name} | {} |", cells.join(" | "));
        }
    }
    println!(
        "\nCache lines of the bits that a new key writes, on average, in a filter of 64 KiB; the count of keys is in a line of the thread's own:"
    );
    println!("standard {:.2}, blocked {:.2}", lines_written(&standard(1 << 15)), lines_written(&blocked(1 << 15)));
}
