//! Blocked filters in comparison with standard ones: one cache line per lookup, for more bits.

use truebloom_math::{Layout, Plan, Target, WORTH_TIMES};

/// The blocked filter for the same target as a standard plan, and how many more bits it needs.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The plan.
    pub plan: Plan,
    /// The bits of a blocked filter for the same items and rate, divided by those of the standard
    /// filter ([`Plan::bits_ratio`]).
    pub bits_ratio: f64,
    /// Whether the blocked filter needs at most a tenth more bits.
    pub is_worth_it: bool,
}

impl Alternative {
    /// Returns the alternative to this plan. Returns `None` if the limits are too low for a blocked
    /// filter, or if no blocked filter is proven to have the rate of the standard filter.
    #[must_use]
    pub fn of(target: &Target, standard: &Plan) -> Option<Alternative> {
        let plan = Plan::new(&target.clone().layout(Layout::Lines)).ok()?;
        let bits_ratio = plan.bits_ratio(standard)?;
        Some(Alternative { bits_ratio, is_worth_it: bits_ratio <= WORTH_TIMES, plan })
    }
}
