//! Repeats one operation of one filter in the second-level cache, so that `valgrind` can count its
//! instructions. `bench/instructions.py` runs it for all cells and prints the table.
//!
//! ```text
//! instructions standard|blocked|fastbloom 1%|0.1% insert|hit|miss single|batch ROUNDS
//! ```

use fastbloom::BloomFilter as Fastbloom;
use foldhash::fast::FixedState;
use std::hint::black_box;
use truebloom::scheme::Scheme;
use truebloom::{BlockedBloomFilter, BloomFilter, FilterOf, PortableHasher, Seed};
use truebloom_math::{Plan, Target};

/// The number of keys of one round; `bench/instructions.py` divides by it.
const KEYS: u64 = 8_192;
const BITS: u64 = 8 * 65_536;

fn number(key: u64) -> u64 {
    u128::from(PortableHasher::xxh3(Seed::from(1)).hash_key(&key)) as u64
}

/// The keys of a round: some that are contained, or some that are not.
fn keys(contained: bool, items: u64) -> Vec<u64> {
    (0..KEYS).map(|key| if contained { number(number(key) % items) } else { number(key + (1 << 40)) }).collect()
}

fn ours<S: Scheme>(mut filter: FilterOf<S>, items: u64, operation: &str, is_batch: bool, rounds: u32) {
    filter.extend((0..items).map(number));
    let keys = keys(operation == "hit", items);
    for _ in 0..rounds {
        match (operation, is_batch) {
            ("insert", true) => black_box(filter.clone().insert_all(&keys).count_ones()),
            ("insert", false) => {
                let mut copy = filter.clone();
                black_box(keys.iter().filter(|key| copy.insert(*key)).count())
            }
            (_, true) => black_box(filter.contains_all(&keys).count_ones()),
            (_, false) => black_box(keys.iter().filter(|key| filter.contains(*key)).count()),
        };
    }
}

fn theirs(items: u64, probes: u32, operation: &str, rounds: u32) {
    let mut filter = Fastbloom::with_num_bits(BITS as usize).hasher(FixedState::with_seed(1)).hashes(probes);
    filter.extend((0..items).map(number));
    let keys = keys(operation == "hit", items);
    for _ in 0..rounds {
        if operation == "insert" {
            let mut copy = filter.clone();
            black_box(keys.iter().filter(|key| copy.insert(*key)).count());
        } else {
            black_box(keys.iter().filter(|key| filter.contains(*key)).count());
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, rate, operation, mode, rounds] = arguments.as_slice() else {
        panic!("give a filter, a rate, an operation, a mode and rounds")
    };
    let (is_batch, rounds) = (mode == "batch", rounds.parse().expect("a number of rounds"));
    let plan = Plan::new(&Target::new().bits(BITS).rate(rate.parse().expect("a rate")).mean()).expect("a plan");
    let hasher = PortableHasher::xxh3(Seed::from(1));
    match kind.as_str() {
        "standard" => {
            ours(BloomFilter::with_hasher(plan.items, rate.as_str(), hasher).expect("a plan"), plan.items, operation, is_batch, rounds)
        }
        "blocked" => {
            ours(
                BlockedBloomFilter::with_hasher(plan.items, rate.as_str(), hasher).expect("a plan"),
                plan.items,
                operation,
                is_batch,
                rounds,
            );
        }
        _ => theirs(plan.items, plan.probes, operation, rounds),
    }
}
