//! Many small filters, as storage engines build them: 10,000 filters of 5,000 keys each. Times are
//! nanoseconds of processor time per key. The times include the allocation of each filter's memory,
//! and the filter's share of the time to compute the plan.
//!
//! ```text
//! cargo run --release -p truebloom-bench --bin many
//! ```

#[path = "../compare/clock.rs"]
#[allow(dead_code, reason = "the comparison needs the rest of it")]
mod clock;

use clock::timed;
use foldhash::fast::FixedState;
use truebloom::{BlockedBloomFilter, BloomFilter, PortableHasher, Seed};
use truebloom_math::{Plan, SchemeId, Target};

const FILTERS: u64 = 10_000;
const KEYS: u64 = 5_000;
const RATE: f64 = 0.01;

/// The number of queries of each filter. Half of the queried keys were inserted.
const ASKED: u64 = 1_000;

/// The time per key to build all filters, and to query them.
fn measured<F>(name: &str, prepare: impl FnOnce(), build: impl Fn(std::ops::Range<u64>) -> F, contains: impl Fn(&F, u64) -> bool) {
    let (plan, ()) = timed(prepare);
    let (building, filters) = timed(|| (0..FILTERS).map(|number| build(number * KEYS..(number + 1) * KEYS)).collect::<Vec<F>>());
    let ask = |(number, filter): (u64, &F)| (0..ASKED).filter(|key| contains(filter, number * KEYS + KEYS - ASKED / 2 + key)).count();
    let (asking, found) = timed(|| (0..).zip(&filters).map(ask).sum::<usize>());
    assert!(found as u64 >= FILTERS * ASKED / 2, "a key is lost");
    let passed = (found as u64 - FILTERS * ASKED / 2) as f64 / (FILTERS * ASKED / 2) as f64;
    println!(
        "| {name} | {:.1} | {:.1} | {:.1} | {passed:.5} |",
        building / (FILTERS * KEYS) as f64,
        asking / (FILTERS * ASKED) as f64,
        plan / 1e3
    );
}

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(1))
}

fn target() -> Target {
    Target::new().items(KEYS).rate(RATE.to_string().parse().expect("a rate"))
}

fn main() {
    println!("{FILTERS} filters of {KEYS} keys at {RATE}: ns per key, including the allocation of each filter's memory\n");
    println!("| filter | build | ask (half of them members) | plan once, us | measured rate |\n|---|---|---|---|---|");
    let plan = Plan::new(&target()).expect("a plan");
    let standard = || BloomFilter::from_plan_with_hasher(&plan, hasher()).expect("a filter");
    let prepare = || _ = Plan::new(&target()).expect("a plan");
    let build = |keys| {
        let mut filter = standard();
        filter.extend(keys);
        filter
    };
    measured("truebloom standard, extend", prepare, build, |filter, key| filter.contains(&key));
    let build = |keys: std::ops::Range<u64>| {
        let mut filter = standard();
        keys.for_each(|key| _ = filter.insert(&key));
        filter
    };
    measured("truebloom standard, one by one", || (), build, |filter, key| filter.contains(&key));
    let target_blocked = || target().scheme(SchemeId::Blocked);
    let plan = Plan::new(&target_blocked()).expect("a plan");
    let build = |keys| {
        let mut filter = BlockedBloomFilter::from_plan_with_hasher(&plan, hasher()).expect("a filter");
        filter.extend(keys);
        filter
    };
    let prepare = || _ = Plan::new(&target_blocked()).expect("a plan");
    measured("truebloom blocked, extend", prepare, build, |filter, key| filter.contains(&key));
    let build = |keys: std::ops::Range<u64>| {
        let filter = fastbloom::BloomFilter::with_false_pos(RATE).hasher(FixedState::with_seed(1));
        let mut filter = filter.expected_items(KEYS as usize);
        keys.for_each(|key| _ = filter.insert(&key));
        filter
    };
    measured("fastbloom + foldhash", || (), build, |filter, key| filter.contains(&key));
}
