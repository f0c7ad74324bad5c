//! Tests the blocked recycling filter: it agrees with a second implementation key by key and
//! follows its law; it reports its wrong drops correctly, and remembers what it must.
//!
//! The statistics are those of `model.rs` and `wrong_drops.rs`: two-sided tests at 5 standard
//! errors (alpha below 1e-6 each), with fixed seeds. Power: the law is exact for one line, and the
//! planted faults deviate from it by 10 or more standard errors. For many lines there are only
//! proven bounds, which are wider than the statistical error. The tests detect an error of 3% in
//! the mean of wrong drops.

use crate::common::SplitMix64;
use crate::filter;
use crate::model::{LIMIT, Subject, batches, z};
use crate::wrong_drops::over_seeds;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use truebloom::recycling::{Blocked, BlockedRecyclingFilter, Phases, Policy, Seeds, Seen, Trigger};
use truebloom::{BuildError, KeyHash, KeyHasher, PortableHasher, Seed};
use truebloom_math::BLOCK_BITS;
use truebloom_math::recycling::{BlockedDesign, Design, Mode};

/// Faults that can be planted in a blocked recycling filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Checks the limit before the item is inserted, so that a cycle ends one item late.
    Late,
    /// Uses the power of the mean fill instead of the mean of the powers.
    MeanFill,
    /// Uses the state of the trigger's line before the insertion.
    Stale,
}

/// A second implementation, with a set of positions for each line, written from docs/FORMAT.md. One
/// seed is used for all cycles.
struct Naive {
    lines: u64,
    probes: u32,
    limit: f64,
    hasher: PortableHasher,
    fault: Fault,
    set: BTreeMap<u64, BTreeSet<u64>>,
    recycles: u64,
}

impl Naive {
    fn new(bits: u64, probes: u32, limit: f64, seed: u128, fault: Fault) -> Naive {
        let hasher = PortableHasher::xxh3(Seed::from(seed));
        Naive { lines: bits / 512, probes, limit, hasher, fault, set: BTreeMap::new(), recycles: 0 }
    }

    fn offer(&mut self, key: u64) -> bool {
        let (line, positions) = positions(self.hasher.hash(&key.to_le_bytes()), self.lines, self.probes);
        let before = self.weight();
        let set = self.set.entry(line).or_default();
        let known = positions.is_subset(set);
        set.extend(positions);
        let weight = if self.fault == Fault::Late { before } else { self.weight() };
        if !known && weight > self.most() {
            self.set.clear();
            self.recycles += 1;
        }
        known
    }

    /// The sum of the weights of all lines, in units of 2^-64.
    fn weight(&self) -> u128 {
        let ones = self.set.values().map(|set| set.len() as u128);
        match self.fault {
            Fault::MeanFill => weight(ones.sum::<u128>() / u128::from(self.lines), self.probes) * u128::from(self.lines),
            Fault::Stale => ones.map(|ones| weight(ones - 1, self.probes)).sum(),
            _ => ones.map(|ones| weight(ones, self.probes)).sum(),
        }
    }

    /// The limit on the sum of weights. The limit per line is a dyadic number, so this product is
    /// exact for a few lines.
    fn most(&self) -> u128 {
        (self.limit * self.lines as f64 * 18_446_744_073_709_551_616.0) as u128
    }

    fn ones(&self) -> u64 {
        self.set.values().map(|set| set.len() as u64).sum()
    }
}

/// The weight `(ones / 512)^probes`, rounded up after each factor.
fn weight(ones: u128, probes: u32) -> u128 {
    (0..probes).fold(1 << 64, |power, _| (power * ones).div_ceil(512))
}

/// A key's line and its positions in the line, as defined in docs/design/positions.md and
/// docs/FORMAT.md (scheme 12).
fn positions(hash: KeyHash, lines: u64, probes: u32) -> (u64, BTreeSet<u64>) {
    let mix = |word: u64| {
        let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    };
    let whole = u128::from(hash);
    let (mut x, mut y, mut i) = (whole as u64, (whole >> 64) as u64, 0);
    let mut halves = [x, y].into_iter();
    let mut next = || {
        if let Some(half) = halves.next() {
            return half;
        }
        let word = mix(x ^ y.rotate_left(32));
        i += 1;
        (x, y) = (x.wrapping_add(y), y.wrapping_add(i));
        word
    };
    // No word is skipped. With this few lines, the probability of a skipped word is below 2^-50.
    let line = (u128::from(next()) * u128::from(lines)) >> 64;
    let words: Vec<u64> = (0..probes.div_ceil(7)).map(|_| next()).collect();
    (line as u64, (0..probes).map(|probe| words[(probe / 7) as usize] >> (9 * (probe % 7)) & 511).collect())
}

fn kept(limit: f64) -> Policy<f64> {
    Policy { seeds: Seeds::Kept, ..Policy::one_phase(limit) }
}

/// Offers a stream with near and distant repeats to both implementations. Returns the first step at
/// which they differ in the answer, the number of set bits, or the number of recycles.
fn differ(lines: u64, probes: u32, limit: f64, fault: Fault) -> Option<u64> {
    let bits = 512 * lines;
    let mut real = filter::<Blocked>(bits, probes, kept(limit), 7);
    let mut naive = Naive::new(bits, probes, limit, 7, fault);
    let mut random = SplitMix64(bits);
    for step in 0..8_000 {
        let reach = if random.next().is_multiple_of(3) { 1_000_000 } else { 60 * lines };
        let key = step / 20 + random.next() % reach;
        assert!(real.fpr() <= real.worst_fpr());
        let (was_known, known) = (real.contains(&key), naive.offer(key));
        let seen = real.check_and_insert(&key);
        assert_eq!(was_known, seen == Seen::Active);
        if (was_known, real.ones(), real.stats().cycles) != (known, naive.ones(), naive.recycles) {
            return Some(step);
        }
    }
    assert!(naive.recycles > 8 && real.stats().by_fill == naive.recycles, "{lines} {probes}: {}", naive.recycles);
    None
}

#[test]
fn the_filter_does_what_it_says_key_by_key() {
    // With one probe, every possible weight occurs, including the limit itself.
    for (lines, probes, limit) in [(1, 1, 0.5), (1, 6, 0.02), (3, 5, 0.1), (7, 8, 0.001), (10, 14, 1e-5), (5, 32, 1e-9)] {
        assert_eq!(differ(lines, probes, limit, Fault::None), None, "{lines} {probes}");
        for fault in [Fault::Late, Fault::Stale, Fault::MeanFill] {
            // With one line, the power of the mean fill equals the mean of the powers, so this
            // fault has no effect.
            let noticed = differ(lines, probes, limit, fault).is_some();
            assert!(noticed || (lines == 1 && fault == Fault::MeanFill), "{fault:?} of {lines} {probes} is not noticed");
        }
    }
}

impl Subject for Naive {
    fn drops(&mut self, key: u64) -> bool {
        self.offer(key)
    }

    fn cycles(&self) -> u64 {
        self.recycles
    }
}

/// How far the rate and the number of items per cycle are outside these bounds, in standard errors.
fn beyond(subject: &mut impl Subject, rate: (f64, f64), items: (f64, f64), cycles: u64) -> (f64, f64) {
    let batches = batches(subject, cycles);
    let length = cycles as f64;
    let beyond = |low: Vec<f64>, high: Vec<f64>| z(&high).max(0.0) + z(&low).min(0.0);
    let drops = |rate: f64| batches.iter().map(|(drops, items)| drops - rate * items).collect();
    let lengths = |mean: f64| batches.iter().map(|(_, items)| items - mean * length).collect();
    (beyond(drops(rate.0), drops(rate.1)), beyond(lengths(items.0), lengths(items.1)))
}

/// A filter of one line is a standard filter with the same number of bits, whose law is exact;
/// sigma is the largest number of set bits within the limit.
#[test]
fn one_line_has_the_exact_law_of_the_standard_filter() {
    for (probes, limit) in [(3, 0.2), (6, 0.03), (8, 0.01)] {
        let most = (limit * 18_446_744_073_709_551_616.0) as u128;
        let sigma = (0..512).rev().find(|ones| weight(*ones, probes) <= most).expect("no bits weigh nothing");
        let exact = Design::new(512, probes, sigma as u64, Mode::default()).and_then(|design| design.long_run()).expect("small");
        let (rate, items) = (exact.fpr.value, exact.items_per_cycle.value);
        let mut sound = filter::<Blocked>(512, probes, Policy::one_phase(limit), 3);
        let found = beyond(&mut sound, (rate, rate), (items, items), 20);
        println!("{probes}: {rate:.4e} {items:.1}: {found:?}");
        assert!(found.0.abs() < LIMIT && found.1.abs() < LIMIT, "{probes} {found:?}");
        for fault in [Fault::Late, Fault::Stale] {
            let mut faulty = Naive::new(512, probes, limit, 3, fault);
            let found = beyond(&mut faulty, (rate, rate), (items, items), 20);
            println!("{fault:?}: {found:?}");
            assert!(found.0.abs().max(found.1.abs()) > LIMIT, "{fault:?} is not noticed: {found:?}");
        }
    }
}

/// Tests that filters of many lines stay within the proven bounds of the law. The widths of the
/// bounds are printed.
#[test]
fn many_lines_keep_to_the_law() {
    for (lines, probes, limit, cycles) in [(16, 6, 0.05, 4), (64, 8, 0.01, 2), (256, 8, 0.008, 1)] {
        let design = BlockedDesign::new(512 * lines, BLOCK_BITS, probes, limit).expect("in range");
        let law = design.long_run().expect("small");
        let (rate, items) = ((law.fpr.lower, law.fpr.upper), (law.items_per_cycle.lower, law.items_per_cycle.upper));
        let mut sound = filter::<Blocked>(512 * lines, probes, Policy::one_phase(limit), 5);
        let found = beyond(&mut sound, rate, items, cycles);
        println!("{lines} {probes}: {rate:?} {items:?}: {found:?}");
        assert!(found.0.abs() < LIMIT && found.1.abs() < LIMIT, "{lines} {probes} {found:?}");
    }
}

/// Tests a stream with popular keys and with forgotten keys that return. The reported number of
/// wrong drops has the same mean as the true number, and the reported bound holds.
#[test]
fn the_sum_of_the_odds_has_the_mean_of_the_wrong_drops_and_the_bound_holds() {
    let mut random = SplitMix64(3);
    let stream: Vec<u64> = (0..1_500).map(|i| if random.next().is_multiple_of(2) { random.next() % 40 } else { i % 600 }).collect();
    let (mean, apart, failed) = over_seeds::<Blocked>(512 * 3, 3, Policy::one_phase(0.15), 1_500, &stream);
    println!("{mean:.2} wrong drops, {apart:.1}, bound failed for {failed:.4}");
    assert!(mean > 10.0 && apart.abs() < 5.0, "{mean} {apart}");
    // At most 10% of the 100 filters may exceed the bound. 26 or more have a probability below
    // 5e-6.
    assert!(failed <= 0.25, "{failed}");
}

proptest! {
    /// Tests that there are no false negatives within a cycle, and that the rate never exceeds the
    /// limit.
    #[test]
    fn what_is_remembered_is_known(keys in prop::collection::vec(0..400u16, 1..600), insertions in prop::option::of(2..200u64), seed: u128, probes in 1..=32u32) {
        let policy = Policy { insertions, ..Policy::one_phase(0.001) };
        let mut filter = filter::<Blocked>(1_024, probes, policy, seed);
        let (mut cycle, mut cycles) = (Vec::new(), 0);
        for key in keys {
            prop_assert!(filter.fpr() <= filter.worst_fpr());
            let was_known = filter.contains(&key);
            prop_assert_eq!(was_known, !filter.check_and_insert(&key).is_new());
            cycle.push(key);
            if filter.stats().cycles > cycles {
                cycles += 1;
                cycle.clear();
            }
            prop_assert!(cycle.iter().all(|key| filter.contains(key)), "forgotten too early");
        }
    }
}

#[test]
fn it_forgets_by_age_and_by_insertions_and_at_once() {
    let age = Policy { age: Some(Duration::from_secs(10)), ..Policy::one_phase(0.01) };
    let mut seen = filter::<Blocked>(5_120, 5, age, 1);
    let mut at = |second| seen.check_and_insert_at("a", Duration::from_secs(second));
    assert_eq!([at(5), at(14), at(15), at(24), at(25)], [Seen::New, Seen::Active, Seen::New, Seen::Active, Seen::New]);
    seen.recycle();
    assert_eq!((seen.ones(), seen.fpr(), seen.contains("a"), seen.stats().by_fill), (0, 0.0, false, 0));
    let mut seen = filter::<Blocked>(51_200, 5, Policy { insertions: Some(7), ..Policy::one_phase(0.01) }, 1);
    (0..700u64).for_each(|key| assert!(seen.check_and_insert(&key).is_new()));
    assert_eq!((seen.stats().cycles, seen.stats().by_fill, seen.stats().items), (100, 0, 0));
}

/// Tests that the keys that collide in one cycle are unrelated to those that collide in the next.
#[test]
fn renewed_seeds_share_nothing() {
    let dropped = |policy| {
        let mut filter = filter::<Blocked>(5_120, 2, policy, 1);
        let mut cycle = || {
            let known: Vec<u64> = (0..1_800).filter(|key| !filter.check_and_insert(key).is_new()).collect();
            filter.recycle();
            known
        };
        (cycle(), cycle())
    };
    let (first, second) = dropped(kept(0.5));
    assert!(first == second && first.len() > 50);
    let (first, second) = dropped(Policy::one_phase(0.5));
    let common = first.iter().filter(|key| second.contains(key)).count();
    // Of about 180 drops at a rate of at most 28%, 10% are common to both cycles on average. The
    // probability of 60 common drops is below 1e-9.
    assert!(first.len() > 50 && second.len() > 50 && common < 60, "{} {} {common}", first.len(), second.len());
}

#[test]
fn what_has_no_law_is_refused() {
    let with = |bits, probes, policy| BlockedRecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::xxh3(Seed::from(1)));
    let one = Policy::one_phase(0.01);
    for phases in [Phases::Two(Trigger::Included), Phases::Two(Trigger::Excluded)] {
        assert!(matches!(with(512, 3, Policy { phases, ..one }), Err(BuildError::NotBlocked { what: "two phases" })));
    }
    assert!(matches!(with(512, 3, Policy { retaining: true, ..one }), Err(BuildError::NotBlocked { what: "retained triggers" })));
    for limit in [0.0, -0.1, 1.0, 1e-16, f64::NAN, f64::INFINITY] {
        assert!(matches!(with(512, 3, Policy::one_phase(limit)), Err(BuildError::Math(_))), "{limit}");
    }
    for (bits, probes) in [(0, 3), (511, 3), (1_000, 3), (512, 0), (512, 33), (512, 65), (1 << 63, 3)] {
        assert!(with(bits, probes, one).is_err(), "{bits} {probes}");
    }
    assert!(matches!(with(1 << 62, 3, one), Err(BuildError::Memory { .. })));
    assert!(matches!(with(512, 3, Policy { insertions: Some(0), ..one }), Err(BuildError::Policy { field: "insertions", .. })));
    assert!(with(512, 32, one).is_ok());
}
