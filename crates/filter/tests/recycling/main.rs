//! Tests recycling filters: they agree with a second implementation key by key, and with the model
//! in the long run. Their memory and their files are tested, too.
#![allow(unreachable_pub, reason = "a test has no public interface")]

mod blocked;
mod blocked_state;
#[path = "../common/mod.rs"]
mod common;
mod files;
mod many;
mod memory;
mod model;
mod naive;
mod overfill;
mod state;
mod wrong_drops;

use truebloom::recycling::{Layout, Phases, Policy, RecyclingFilter, Seeds, Trigger};
use truebloom::{PortableHasher, Seed};

/// A filter with a known seed.
pub fn filter<S: Layout>(bits: u64, probes: u32, policy: Policy<S::Limit>, seed: u128) -> RecyclingFilter<PortableHasher, S> {
    RecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::xxh3(Seed::from(seed))).expect("in range")
}

/// All policies that recycle by sigma: with one or two phases, with or without retaining the
/// trigger, with or without the trigger in the frozen phase, and with kept or renewed seeds.
pub fn policies(sigma: u64) -> Vec<Policy> {
    let mut policies = Vec::new();
    for phases in [Phases::One, Phases::Two(Trigger::Included), Phases::Two(Trigger::Excluded)] {
        for retaining in [false, true] {
            for seeds in [Seeds::Renewed, Seeds::Kept] {
                policies.push(Policy { phases, retaining, seeds, ..Policy::one_phase(sigma) });
            }
        }
    }
    policies
}
