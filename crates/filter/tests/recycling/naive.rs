//! A second implementation of the recycling filter, as simple as possible, in which faults can be
//! planted.

use crate::common::SplitMix64;
use crate::{filter, policies};
use std::collections::BTreeSet;
use truebloom::recycling::{Phases, Policy, Seeds, Seen, Trigger};
use truebloom::scheme::{Classic, FillScheme, Standard};
use truebloom::{KeyHasher, PortableHasher, Seed};

/// Faults that can be planted in a recycling filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    /// Recycles when sigma bits are set, instead of when more are.
    Early,
    /// Removes the trigger from the frozen phase, although the policy keeps it.
    TriggerDropped,
    /// Does not insert an item into the active phase if the frozen phase contains it.
    NotRefreshed,
}

/// A filter that stores sets of positions, and uses one seed for all phases.
pub struct Naive<S> {
    scheme: S,
    hasher: PortableHasher,
    policy: Policy,
    fault: Fault,
    active: BTreeSet<u64>,
    frozen: BTreeSet<u64>,
    items: u64,
    pub recycles: u64,
}

impl<S: FillScheme> Naive<S> {
    pub fn new(bits: u64, probes: u32, policy: Policy, seed: u128, fault: Fault) -> Naive<S> {
        assert_eq!(policy.seeds, Seeds::Kept);
        let scheme = S::new(bits, probes).expect("in range");
        let hasher = PortableHasher::xxh3(Seed::from(seed));
        Naive { scheme, hasher, policy, fault, active: BTreeSet::new(), frozen: BTreeSet::new(), items: 0, recycles: 0 }
    }

    pub fn offer(&mut self, key: u64) -> Seen {
        let positions: BTreeSet<u64> = self.scheme.positions(self.hasher.hash(&key.to_le_bytes())).collect();
        let two = self.policy.phases != Phases::One;
        if positions.is_subset(&self.active) {
            return Seen::Active;
        }
        let in_frozen = two && positions.is_subset(&self.frozen);
        if in_frozen && self.fault == Fault::NotRefreshed {
            return Seen::Frozen;
        }
        let before = self.active.clone();
        self.active.extend(&positions);
        self.items += 1;
        let most = self.policy.sigma - u64::from(self.fault == Fault::Early);
        if self.active.len() as u64 > most || self.policy.insertions.is_some_and(|most| self.items == most) {
            self.recycles += 1;
            let taken_out = self.policy.phases == Phases::Two(Trigger::Excluded) || self.fault == Fault::TriggerDropped;
            self.frozen = if taken_out { before } else { self.active.clone() };
            self.active = if self.policy.retaining { positions } else { BTreeSet::new() };
            self.items = self.policy.retaining.into();
        }
        if in_frozen { Seen::Frozen } else { Seen::New }
    }

    pub fn ones(&self) -> (u64, u64) {
        (self.active.len() as u64, if self.policy.phases == Phases::One { 0 } else { self.frozen.len() as u64 })
    }
}

/// Tests that both implementations give the same answer to every key, and then have the same fill,
/// for streams with near and distant repeats.
fn agrees<S: FillScheme>(bits: u64, probes: u32, policy: Policy) {
    let seed = u128::from(bits) << 32 | u128::from(probes);
    let mut real = filter::<S>(bits, probes, policy, seed);
    let mut naive = Naive::<S>::new(bits, probes, policy, seed, Fault::None);
    let mut random = SplitMix64(bits);
    for step in 0..3_000 {
        let reach = if random.next().is_multiple_of(3) { 1_000_000 } else { 5 + bits / u64::from(probes) };
        let key = step / 50 + random.next() % reach;
        assert_eq!(real.check_and_insert(&key), naive.offer(key), "{policy:?}, {bits} bits, {probes} probes, step {step}");
        assert_eq!(((real.ones(), real.frozen_ones()), real.stats().cycles), (naive.ones(), naive.recycles));
    }
    assert!(naive.recycles > 20, "{policy:?}: {}", naive.recycles);
}

#[test]
fn the_filter_does_what_it_says_key_by_key() {
    for (bits, probes, sigma) in [(8, 1, 4), (10, 3, 3), (20, 3, 12), (64, 5, 30), (100, 4, 77), (130, 7, 7)] {
        for policy in policies(sigma).into_iter().filter(|policy| policy.seeds == Seeds::Kept) {
            agrees::<Standard>(bits, probes, policy);
            agrees::<Classic>(bits, probes, policy);
            let bounded = Policy { insertions: Some(3), ..policy };
            agrees::<Standard>(bits, probes, bounded);
            agrees::<Classic>(bits, probes, bounded);
        }
    }
}
