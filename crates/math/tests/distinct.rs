//! Tests that the bounds on the number of distinct keys hold with the promised probability, and are
//! not much larger than necessary.
#![allow(missing_docs, reason = "a test has no public interface")]

use truebloom_math::{Variant, binomial, distinct, mcdiarmid};

/// The generator SplitMix64, which must not change.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(word ^ (word >> 31)) * u128::from(limit)) >> 64) as u64
    }
}

/// Inserts `keys` keys into a filter with independent positions. Returns the number of keys that
/// set a bit, and the number of set bits.
fn fill(bits: u64, probes: u32, keys: u64, random: &mut Random) -> (u64, u64) {
    let mut set = vec![false; bits as usize];
    let changed =
        (0..keys).map(|_| (0..probes).fold(false, |new, _| !std::mem::replace(&mut set[random.below(bits) as usize], true) | new));
    let changed = changed.map(u64::from).sum();
    (changed, set.iter().filter(|bit| **bit).count() as u64)
}

/// Tests 1,000 filters of each of seven sizes, from sparse to overfull. If a bound fails with
/// probability 10%, more than 140 failures in 1,000 have a probability below 1e-4. The fixed seeds
/// give far fewer failures, because the bounds combine three inequalities. A bound that ignores the
/// keys that passed would fail nearly always.
#[test]
fn the_bounds_miss_at_most_as_often_as_promised() {
    let mut random = Random(5);
    for (bits, probes, keys) in [(64, 1, 40), (64, 1, 200), (200, 3, 60), (200, 3, 300), (1_000, 7, 100), (1_000, 7, 400), (300, 2, 150)] {
        let (mut missed, mut missed_at_rate) = (0, 0);
        for _ in 0..1_000 {
            let (changed, ones) = fill(bits, probes, keys, &mut random);
            missed += u32::from(distinct::most(Variant::Standard, bits, probes, changed, 0.1).is_some_and(|most| most < keys));
            let pass = (ones as f64 / bits as f64).powi(probes as i32);
            missed_at_rate += u32::from(distinct::most_at_rate(pass, changed, 0.1).is_some_and(|most| most < keys));
        }
        assert!(missed <= 140 && missed_at_rate <= 140, "{bits} {probes} {keys}: {missed} {missed_at_rate}");
    }
    assert!(binomial::at_least(141, 1_000, 0.1) < 1e-4);
}

#[test]
fn the_bounds_are_near_what_is_met() {
    // On average, 1.2 and 188 keys pass.
    let most = |variant, bits, probes, changed| distinct::most(variant, bits, probes, changed, 2.5e-7).expect("far from full");
    for variant in Variant::ALL {
        assert!((1_003..=1_020).contains(&most(variant, 9_595, 7, 1_000)), "{variant}");
        assert!((104_300..=104_500).contains(&most(variant, 1_000_874, 7, 104_139)), "{variant}");
    }
    let at_rate = distinct::most_at_rate(0.01, 104_139, 2.5e-7).expect("far from full");
    assert!((105_190..=105_500).contains(&at_rate), "{at_rate}");
    assert_eq!(distinct::most(Variant::Standard, 100, 7, 0, 1e-6), Some(0));
    assert_eq!(distinct::most(Variant::Standard, 1, 1, 1, 1e-6), None);
    assert_eq!(distinct::most(Variant::Standard, 1 << 62, 1, 1, 1e-6), Some(1));
    assert_eq!((distinct::most_at_rate(0.0, 7, 1e-6), distinct::most_at_rate(1.0, 7, 1e-6)), (Some(7), None));
}

/// Tests that extreme arguments are answered quickly, and that no bound is below the number of keys
/// that set a bit.
#[test]
fn any_arguments_are_answered() {
    for bits in [1, 2, 64, 1 << 40, 1 << 62] {
        for probes in [1, 2, 64, 1_000] {
            for changed in [1, 2, 1 << 20, 1 << 61, u64::MAX] {
                for variant in Variant::ALL {
                    assert!(distinct::most(variant, bits, probes, changed, 1e-7).is_none_or(|most| most >= changed));
                }
                for pass in [0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0] {
                    assert!(distinct::most_at_rate(pass, changed, 1e-7).is_none_or(|most| most >= changed));
                }
                let fill = mcdiarmid::Fill { bits, probes, items: changed, covered: f64::from(probes).min(bits as f64) };
                assert!(fill.at_least(bits) <= 1.0 && fill.at_most(0) <= 1.0 && fill.at_least(0) == 1.0);
            }
        }
    }
}

/// Compares bounds on the tails of a block's fill with a simulation of 4,000 filters. A bound that
/// is too low by half would be found with probability above 99.9%.
#[test]
fn mcdiarmid_bounds_the_tails_of_blocks() {
    let (blocks, block, probes, items) = (8u64, 64, 4, 60);
    let covered = mcdiarmid::covered(block, probes);
    let law = mcdiarmid::Fill { bits: blocks * block, probes, items, covered };
    let mut random = Random(6);
    let mut counts = vec![0u32; (blocks * block) as usize + 1];
    let mut total = 0;
    for _ in 0..4_000 {
        let mut set = vec![false; (blocks * block) as usize];
        for _ in 0..items {
            let start = block * random.below(blocks);
            (0..probes).for_each(|_| set[(start + random.below(block)) as usize] = true);
        }
        let ones = set.iter().filter(|bit| **bit).count();
        counts[ones] += 1;
        total += ones;
    }
    // The tolerance is five standard errors, for a standard deviation below 12.
    assert!((total as f64 / 4_000.0 - law.mean()).abs() < 1.0, "{} {}", total as f64 / 4_000.0, law.mean());
    for ones in 0..counts.len() {
        let (below, above) = (counts[..=ones].iter().sum::<u32>(), counts[ones..].iter().sum::<u32>());
        let share = |count: u32| f64::from(count) / 4_000.0;
        assert!(share(below) <= law.at_most(ones as u64) + 0.01 && share(above) <= law.at_least(ones as u64) + 0.01, "{ones}");
    }
}
