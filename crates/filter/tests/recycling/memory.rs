//! Tests what a filter remembers, for how long, and by which clock.

use crate::{filter, policies};
use proptest::prelude::*;
use std::time::Duration;
use truebloom::recycling::{Phases, Policy, RecyclingFilter, Seen, Trigger, sigma_at_rate};
use truebloom::scheme::{Classic, Scheme, Standard};
use truebloom::{BuildError, FormatError, Rate};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

proptest! {
    /// Tests that there are no false negatives for items that must be remembered, and that the rate
    /// never exceeds the worst rate.
    #[test]
    fn what_is_remembered_is_known(keys in prop::collection::vec(0..60u16, 1..300), choice in 0..12usize, insertions in prop::option::of(2..9u64), seed: u128) {
        let policy = Policy { insertions, ..policies(15)[choice] };
        let mut filter = filter::<Classic>(30, 3, policy, seed);
        // The items of this cycle, and those of earlier cycles.
        let mut cycles: Vec<Vec<u16>> = vec![Vec::new()];
        for key in keys {
            prop_assert!(filter.fpr() <= filter.worst_fpr());
            let was_known = filter.contains(&key);
            let seen = filter.check_and_insert(&key);
            prop_assert_eq!(was_known, !seen.is_new());
            let recycled = filter.stats().cycles as usize == cycles.len();
            let last = cycles.len() - 1;
            if !(recycled && policy.phases == Phases::Two(Trigger::Excluded)) {
                cycles[last].push(key);
            }
            if recycled {
                cycles.push(if policy.retaining { vec![key] } else { Vec::new() });
            }
            let depth = if policy.phases == Phases::One { 1 } else { 2 };
            prop_assert!(cycles.iter().rev().take(depth).flatten().all(|key| filter.contains(key)), "forgotten too early");
            let stats = filter.stats();
            prop_assert!(filter.ones() <= policy.sigma && stats.new + stats.refreshed <= stats.offered && stats.by_fill <= stats.cycles);
        }
    }
}

#[test]
fn one_phase_forgets_by_age() {
    let mut filter = filter::<Standard>(1_000, 3, Policy { age: Some(seconds(10)), ..Policy::one_phase(500) }, 1);
    // The first phase begins at the first given time, whatever this time is.
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_005)), Seen::New);
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_014)), Seen::Active);
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_015)), Seen::New);
    // The phases keep their length, even after a pause.
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_058)), Seen::New);
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_064)), Seen::Active);
    assert_eq!(filter.check_and_insert_at("a", seconds(1_000_065)), Seen::New);
    assert_eq!((filter.stats().by_fill, filter.now()), (0, seconds(1_000_065)));
    // If the clock is set back, the time does not change.
    assert_eq!(filter.check_and_insert_at("a", seconds(3)), Seen::Active);
    assert_eq!(filter.now(), seconds(1_000_065));
}

/// Tests setting back a clock that was a day ahead: the phases keep their ages, and then follow the
/// corrected clock.
#[test]
fn a_clock_that_was_ahead_is_set_back() {
    let mut filter = filter::<Standard>(1_000, 3, Policy { age: Some(seconds(10)), ..Policy::two_phases(500) }, 1);
    filter.set_back(seconds(5));
    assert_eq!(filter.now(), seconds(0), "no time was told");
    filter.advance(seconds(100_000));
    filter.check_and_insert_at("a", seconds(100_004));
    filter.set_back(seconds(200_000));
    assert_eq!(filter.now(), seconds(100_004), "it is not ahead");
    filter.set_back(seconds(2_000));
    assert_eq!((filter.now(), filter.stats().cycles), (seconds(2_000), 0));
    assert_eq!(filter.clone().check_and_insert_at("a", seconds(2_005)), Seen::Active);
    assert_eq!(filter.clone().check_and_insert_at("a", seconds(2_006)), Seen::Frozen);
    assert_eq!(filter.clone().check_and_insert_at("a", seconds(2_016)), Seen::New);
    // The new time is shorter than the age of the phase.
    filter.set_back(seconds(1));
    assert_eq!((filter.now(), filter.check_and_insert_at("a", seconds(9))), (seconds(1), Seen::Active));
}

#[test]
fn two_phases_remember_for_one_age_and_not_for_two() {
    for start in 0..40 {
        let mut filter = filter::<Standard>(1_000, 3, Policy { age: Some(seconds(10)), ..Policy::two_phases(500) }, 1);
        filter.advance(seconds(7));
        filter.check_and_insert_at("a", seconds(7 + start));
        for gap in 0..40 {
            let mut later = filter.clone();
            later.advance(seconds(7 + start + gap));
            assert!(later.contains("a") || gap > 10, "forgotten after {gap} seconds");
            assert!(!later.contains("a") || gap < 20, "remembered for {gap} seconds");
        }
    }
}

#[test]
fn a_pause_empties_both_phases_and_a_refresh_keeps() {
    let mut filter = filter::<Standard>(1_000, 3, Policy { age: Some(seconds(10)), ..Policy::two_phases(500) }, 1);
    filter.check_and_insert_at("a", seconds(0));
    assert_eq!(filter.check_and_insert_at("a", seconds(15)), Seen::Frozen);
    assert_eq!(filter.check_and_insert_at("a", seconds(25)), Seen::Frozen);
    assert_eq!((filter.stats().refreshed, filter.stats().new), (2, 1));
    filter.advance(seconds(1_000));
    assert_eq!((filter.ones(), filter.frozen_ones(), filter.contains("a")), (0, 0, false));
    assert_eq!(filter.stats().cycles, 4);
}

/// Tests that a filter recycles when sigma is exceeded, whatever the clock says.
#[test]
fn sigma_guards_a_limit_by_age() {
    let mut filter = filter::<Standard>(1_000, 3, Policy { age: Some(seconds(10)), ..Policy::two_phases(500) }, 1);
    for key in 0..10_000u64 {
        filter.check_and_insert_at(&key, seconds(1));
        assert!(filter.ones() <= 500 && filter.fpr() <= filter.worst_fpr());
    }
    assert!(filter.stats().by_fill == filter.stats().cycles && filter.stats().cycles > 10);
}

#[test]
fn a_cycle_takes_as_many_insertions_as_asked() {
    let mut filter = filter::<Classic>(10_000, 3, Policy { insertions: Some(7), ..Policy::one_phase(5_000) }, 1);
    (0..700u64).for_each(|key| assert!(filter.check_and_insert(&key).is_new()));
    assert_eq!((filter.stats().cycles, filter.stats().by_fill, filter.stats().items, filter.ones()), (100, 0, 0, 0));
}

/// Tests that an adversary who knows which keys collide in one phase knows nothing about the next:
/// the same keys have different positions and give different errors.
#[test]
fn renewed_seeds_share_nothing() {
    let dropped = |policy| {
        let mut filter: RecyclingFilter = filter(4_000, 2, policy, 1);
        let mut cycle = || {
            let known: Vec<u64> = (0..1_500).filter(|key| !filter.check_and_insert(key).is_new()).collect();
            filter.recycle();
            known
        };
        (cycle(), cycle())
    };
    let (first, second) = dropped(Policy { seeds: truebloom::recycling::Seeds::Kept, ..Policy::one_phase(3_000) });
    assert!(first == second && first.len() > 50);
    let (first, second) = dropped(Policy::one_phase(3_000));
    let common = first.iter().filter(|key| second.contains(key)).count();
    // Of about 130 drops at a rate of at most 28%, 9% are common to both phases on average. The
    // probability of 40 common drops is below 1e-9.
    assert!(first.len() > 50 && second.len() > 50 && common < 40, "{} {} {common}", first.len(), second.len());
}

#[test]
fn policies_that_cannot_work_are_refused() {
    let refused = |bits, probes, policy| match RecyclingFilter::new(bits, probes, policy) {
        Err(BuildError::Policy { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(100, 3, Policy::one_phase(100)), "sigma");
    assert_eq!(refused(100, 3, Policy::two_phases(97)), "sigma");
    assert_eq!(refused(3, 3, Policy::two_phases(0)), "bits");
    assert_eq!(refused(100, 3, Policy { retaining: true, ..Policy::one_phase(2) }), "sigma");
    assert_eq!(refused(100, 3, Policy { insertions: Some(0), ..Policy::one_phase(50) }), "insertions");
    assert_eq!(refused(100, 3, Policy { retaining: true, insertions: Some(1), ..Policy::one_phase(50) }), "insertions");
    assert_eq!(refused(100, 3, Policy { age: Some(Duration::ZERO), ..Policy::one_phase(50) }), "age in nanoseconds");
    assert_eq!(refused(100, 3, Policy { age: Some(Duration::MAX), ..Policy::one_phase(50) }), "age in nanoseconds");
    assert!(RecyclingFilter::new(100, 3, Policy::one_phase(99)).is_ok() && RecyclingFilter::new(100, 3, Policy::two_phases(96)).is_ok());
    assert!(RecyclingFilter::new(1 << 62, 3, Policy::one_phase(99)).is_err());
    assert!(matches!(RecyclingFilter::from_bytes(b""), Err::<RecyclingFilter, _>(FormatError::Truncated { .. })));
}

/// Tests that the result is the largest sigma for a rate: it is exact if the rate is reached
/// exactly, and the next larger sigma exceeds the rate.
#[test]
fn a_rate_becomes_a_sigma() {
    let rate = |text: &str| text.parse::<Rate>().expect("a rate");
    let standard = <Standard as Scheme>::new(1_000, 7).expect("in range");
    let sigma = sigma_at_rate(&standard, &rate("1%")).expect("in range");
    assert!((sigma as f64 / 1_000.0).powi(7) <= 0.01 && ((sigma + 1) as f64 / 1_000.0).powi(7) > 0.01);
    let one = <Standard as Scheme>::new(1_000, 1).expect("in range");
    assert_eq!(sigma_at_rate(&one, &rate("0.2501")).ok(), Some(250));
    let classic = <Classic as Scheme>::new(10, 2).expect("in range");
    // 4 of 10 bits: the rate is 6/45 = 0.133...
    assert_eq!(sigma_at_rate(&classic, &rate("0.14")).ok(), Some(4));
    assert_eq!(sigma_at_rate(&classic, &rate("0.13")).ok(), Some(3));
    assert_eq!(sigma_at_rate(&classic, &rate("1e-9")).ok(), Some(1));
}
