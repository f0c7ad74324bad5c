//! Repeats one operation of one filter in the second-level cache, so that `valgrind` can count its
//! instructions. `bench/instructions.py` runs it for all cells and prints the table.
//!
//! ```text
//! instructions standard|blocked|fastbloom RATE insert|hit|miss single|batch ROUNDS
//! ```

use fastbloom::BloomFilter as Fastbloom;
use foldhash::fast::FixedState;
use std::error::Error;
use std::hint::black_box;
use truebloom::scheme::Scheme;
use truebloom::{BlockedBloomFilter, BloomFilter, FilterOf, PortableHasher, Seed};
use truebloom_math::{Plan, Target};

/// The number of keys in a round. `bench/instructions.py` divides the instructions by this number.
const KEYS: u64 = 8_192;
const BITS: u64 = 8 * 65_536;
const USAGE: &str = "usage: instructions standard|blocked|fastbloom RATE insert|hit|miss single|batch ROUNDS";

fn number(key: u64) -> u64 {
    u128::from(PortableHasher::xxh3(Seed::from(1)).hash_key(&key)) as u64
}

/// The keys of a round. Either all of them are contained in the filter, or none.
fn keys(contained: bool, items: u64) -> Vec<u64> {
    (0..KEYS).map(|key| if contained { number(number(key) % items) } else { number(key + (1 << 40)) }).collect()
}

#[derive(Clone, Copy)]
enum Operation {
    Insert,
    Hit,
    Miss,
}

fn ours<S: Scheme>(mut filter: FilterOf<S>, items: u64, operation: Operation, is_batch: bool, rounds: u32) {
    filter.extend((0..items).map(number));
    let keys = keys(matches!(operation, Operation::Hit), items);
    for _ in 0..rounds {
        match (operation, is_batch) {
            (Operation::Insert, true) => black_box(filter.clone().insert_all(&keys).count_ones()),
            (Operation::Insert, false) => {
                let mut copy = filter.clone();
                black_box(keys.iter().filter(|key| copy.insert(*key)).count())
            }
            (Operation::Hit | Operation::Miss, true) => black_box(filter.contains_all(&keys).count_ones()),
            (Operation::Hit | Operation::Miss, false) => black_box(keys.iter().filter(|key| filter.contains(*key)).count()),
        };
    }
}

fn theirs(items: u64, probes: u32, operation: Operation, rounds: u32) {
    let mut filter = Fastbloom::with_num_bits(BITS as usize).hasher(FixedState::with_seed(1)).hashes(probes);
    filter.extend((0..items).map(number));
    let keys = keys(matches!(operation, Operation::Hit), items);
    for _ in 0..rounds {
        if let Operation::Insert = operation {
            let mut copy = filter.clone();
            black_box(keys.iter().filter(|key| copy.insert(*key)).count());
        } else {
            black_box(keys.iter().filter(|key| filter.contains(*key)).count());
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&arguments) {
        eprintln!("{error}\n{USAGE}");
        std::process::exit(2);
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [kind, rate, operation, mode, rounds] = arguments else { return Err("five arguments are needed".into()) };
    let operation = match operation.as_str() {
        "insert" => Operation::Insert,
        "hit" => Operation::Hit,
        "miss" => Operation::Miss,
        _ => return Err(format!("no operation is called {operation:?}").into()),
    };
    let is_batch = match mode.as_str() {
        "single" => false,
        "batch" => true,
        _ => return Err(format!("no mode is called {mode:?}").into()),
    };
    let rounds = rounds.parse()?;
    let plan = Plan::new(&Target::new().bits(BITS).rate(rate.parse()?).mean())?;
    let (items, hasher) = (plan.items, PortableHasher::xxh3(Seed::from(1)));
    match (kind.as_str(), is_batch) {
        ("standard", _) => ours(BloomFilter::with_hasher(items, rate.as_str(), hasher)?, items, operation, is_batch, rounds),
        ("blocked", _) => ours(BlockedBloomFilter::with_hasher(items, rate.as_str(), hasher)?, items, operation, is_batch, rounds),
        ("fastbloom", false) => theirs(items, plan.probes, operation, rounds),
        ("fastbloom", true) => return Err("fastbloom has no batches".into()),
        _ => return Err(format!("no filter is called {kind:?}").into()),
    }
    Ok(())
}
