//! Comparison of blocked filters with standard filters. A blocked filter reads only one cache line
//! per lookup, but needs more bits than a standard filter.

use crate::show::rate;
use truebloom_math::{Layout, Plan, Target, WORTH_TIMES};

/// The blocked filter for the same target as a standard filter, and a comparison of the numbers of
/// bits of the two filters. All comparisons use the promised rates of the plans
/// ([`Plan::promised`]).
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The plan of the blocked filter.
    pub plan: Plan,
    /// The number of bits of a blocked filter for the same items and rate, divided by the number of
    /// bits of the standard filter ([`Plan::bits_ratio`]).
    pub bits_ratio: f64,
    /// Whether the blocked filter needs at most a tenth more bits than the standard filter.
    pub is_worth_it: bool,
}

impl Alternative {
    /// Returns the blocked alternative to the plan `standard`. Returns `None` if the target has no
    /// blocked plan, or if no blocked filter is proven to have the rate of the standard filter.
    #[must_use]
    pub fn of(target: &Target, standard: &Plan) -> Option<Alternative> {
        let plan = Plan::new(&target.clone().layout(Layout::Lines)).ok()?;
        let bits_ratio = plan.bits_ratio(standard)?;
        Some(Alternative { bits_ratio, is_worth_it: bits_ratio <= WORTH_TIMES, plan })
    }

    /// Returns what a blocked filter loses if it has no more bits than the standard filter. The
    /// loss is a smaller number of items, such as `3.35% fewer items`. If the target has a number
    /// of items, the loss is a higher rate, such as `1.451 times the rate of a standard filter`.
    /// Returns `None` if the target has no number of bits.
    #[must_use]
    pub fn loss(&self, target: &Target, standard: &Plan) -> Option<String> {
        target.bits?;
        if self.plan.items < standard.items {
            let lost = standard.items - self.plan.items;
            // Rounded to significant digits, a small loss is not printed as 0.
            return Some(format!("{}% fewer items", rate(100.0 * lost as f64 / standard.items as f64, 3)));
        }
        let times = rate(self.plan.promised() / standard.promised(), 4);
        Some(if times == "1" { "the same rate".to_owned() } else { format!("{times} times the rate of a standard filter") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates of one filter and the average rates have different ratios. The loss is that of the
    /// promised rates.
    #[test]
    fn a_loss_compares_promised_rates() {
        for target in [Target::new(), Target::new().mean()] {
            let target = target.items(1_000).bits(1 << 14);
            let standard = Plan::new(&target).expect("a plan");
            let blocked = Alternative::of(&target, &standard).expect("a blocked plan");
            let times = blocked.plan.promised() / standard.promised();
            let of_means = blocked.plan.fpr.upper / standard.fpr.upper;
            assert_eq!((times / of_means - 1.0).abs() > 0.1, standard.guarantee.is_some(), "{times} {of_means}");
            assert_eq!(blocked.loss(&target, &standard), Some(format!("{} times the rate of a standard filter", rate(times, 4))));
        }
    }
}
