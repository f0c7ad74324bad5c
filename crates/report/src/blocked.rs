//! Blocked filters in comparison with standard ones: one cache line per lookup, for more bits.

use truebloom_math::{Layout, Plan, Target};

/// The blocked filter for the same target, and how many more bits it needs.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The plan.
    pub plan: Plan,
    /// Its bits per item divided by those of a standard filter with the same rate.
    pub times_bits: f64,
    /// Whether the blocked filter needs at most a tenth more bits.
    pub is_worth_it: bool,
}

impl Alternative {
    /// The alternative for this plan; `None` if no blocked filter is possible, because the limits
    /// are too low.
    #[must_use]
    pub fn of(target: &Target, standard: &Plan) -> Option<Alternative> {
        let plan = Plan::new(&target.clone().layout(Layout::Lines)).ok()?;
        // If the size is given, the standard filter has the lower rate. The cost is still expressed
        // in bits.
        let of_its_rate = match target.rate {
            None => {
                let kept = plan.guarantee.map_or(plan.fpr, |guarantee| guarantee.fpr);
                Some(Plan::new(&Target { bits: None, ..target.clone() }.rate(kept.upper.try_into().ok()?)).ok()?)
            }
            Some(_) => None,
        };
        let standard = of_its_rate.as_ref().unwrap_or(standard);
        let times_bits = plan.bits as f64 / plan.items as f64 / (standard.bits as f64 / standard.items as f64);
        Some(Alternative { times_bits, is_worth_it: plan.is_worth_it(standard), plan })
    }
}
