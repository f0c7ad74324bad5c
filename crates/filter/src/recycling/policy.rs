//! The rules that say when a filter recycles, and what the filter still remembers after a recycle.

use crate::error::{BuildError, Expected};
use crate::scheme::FillScheme;
use core::time::Duration;
use truebloom_math::recycling::{BlockedDesign, Design, Mode};
pub use truebloom_math::recycling::{Phases, Seeds, Trigger};
use truebloom_math::{Rate, try_bisect};

/// Says when a recycling filter recycles (forgets old items), and what the filter still remembers
/// after a recycle.
///
/// Every policy makes the filter recycle when its fill exceeds the threshold
/// [`sigma`](Self::sigma). This limit on the fill also limits the filter's rate. In addition, a
/// policy can make the filter recycle after a number of insertions, or after a period of time.
///
/// ```
/// use std::time::Duration;
/// use truebloom::recycling::Policy;
/// // Two phases of one hour each. A phase ends earlier if more than 500,000 bits are set.
/// let policy = Policy { age: Some(Duration::from_secs(3600)), ..Policy::two_phases(500_000) };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy<L = u64> {
    /// The number of phases. The item that ends a phase is the *trigger*. With two phases, the
    /// field `phases` also says whether the trigger stays in the phase that ends.
    pub phases: Phases,
    /// The recycle threshold: the filter recycles as soon as *more* than `sigma` bits are set in
    /// the active phase. If `bits` is the number of bits per phase, the threshold must be at most
    /// `bits - 1`. With [`Trigger::Included`], the threshold must be at most `bits - 1 - probes`,
    /// where `probes` is the number of probes per key. The reason is that the item that ends a
    /// phase sets up to `probes` more bits in that phase. A frozen phase must never have all its
    /// bits set.
    ///
    /// In a [`Blocked`](super::Blocked) filter, the threshold is a false-positive rate, and not a
    /// number of bits: the filter recycles as soon as its present rate exceeds the threshold.
    pub sigma: L,
    /// The filter recycles as soon as this number of items have entered the active phase, even if
    /// [`sigma`](Self::sigma) is not exceeded. The number must be at least 1. If
    /// [`retaining`](Self::retaining) is true, it must be at least 2. This limit changes the
    /// average rate of the filter, but does not raise its highest possible rate.
    pub insertions: Option<u64>,
    /// The filter recycles when the active phase reaches this age, even if [`sigma`](Self::sigma)
    /// is not exceeded. The filter does not read a clock. The caller passes the time to
    /// [`RecyclingFilter::advance`](super::RecyclingFilter::advance) or
    /// [`check_and_insert_at`](super::RecyclingFilter::check_and_insert_at).
    pub age: Option<Duration>,
    /// If this field is true, the item that triggers a recycle is also inserted into the next
    /// phase, as the first item of that phase. In this case, [`sigma`](Self::sigma) must be at
    /// least the number of probes.
    pub retaining: bool,
    /// With [`Seeds::Kept`], all phases use the hasher's seed. With [`Seeds::Renewed`], each phase
    /// has its own seed. The seed of a phase is then derived from the hasher's seed and the number
    /// of recycles before the phase.
    pub seeds: Seeds,
}

impl<L> Policy<L> {
    /// A policy with one phase and [`Seeds::Renewed`]. The filter recycles when its fill exceeds
    /// the recycle threshold, `sigma`.
    pub fn one_phase(sigma: L) -> Policy<L> {
        Policy { phases: Phases::One, sigma, insertions: None, age: None, retaining: false, seeds: Seeds::Renewed }
    }

    /// A policy with two phases and [`Seeds::Renewed`]. When the fill of the active phase exceeds
    /// `sigma`, the active phase becomes the frozen phase. The last item of the active phase stays
    /// in the frozen phase ([`Trigger::Included`]).
    pub fn two_phases(sigma: L) -> Policy<L> {
        Policy { phases: Phases::Two(Trigger::Included), ..Policy::one_phase(sigma) }
    }

    /// The age in nanoseconds, if there is one.
    pub(crate) fn age_nanoseconds(&self) -> Option<u64> {
        self.age.map(nanoseconds)
    }

    /// Returns an error for an invalid number of insertions or age.
    fn check_times(&self) -> Result<(), BuildError> {
        let first = if self.retaining { 2 } else { 1 };
        within("insertions", self.insertions.unwrap_or(first), first, u64::MAX, "a phase must accept at least one item")?;
        within("age in nanoseconds", self.age_nanoseconds().unwrap_or(1), 1, u64::MAX - 1, "a phase must last for some time")
    }
}

impl From<&Design> for Policy {
    /// Returns the policy for a filter with this design.
    fn from(design: &Design) -> Policy {
        let Mode { phases, retaining, seeds, .. } = design.mode();
        Policy { phases, retaining, seeds, ..Policy::one_phase(design.sigma()) }
    }
}

impl From<Design> for Policy {
    fn from(design: Design) -> Policy {
        Policy::from(&design)
    }
}

impl From<&BlockedDesign> for Policy<f64> {
    /// Returns the policy for a blocked filter with this design.
    fn from(design: &BlockedDesign) -> Policy<f64> {
        Policy::one_phase(design.limit())
    }
}

impl From<BlockedDesign> for Policy<f64> {
    fn from(design: BlockedDesign) -> Policy<f64> {
        Policy::from(&design)
    }
}

impl Policy<f64> {
    /// Returns an error for policies that blocked filters do not support. With these policies, the
    /// rates of blocked filters are not known. The threshold is checked elsewhere.
    pub(super) fn check_blocked(&self) -> Result<(), BuildError> {
        if self.phases != Phases::One {
            return Err(BuildError::NotBlocked { what: "two phases" });
        }
        if self.retaining { Err(BuildError::NotBlocked { what: "retained triggers" }) } else { self.check_times() }
    }
}

impl Policy {
    /// The largest number of bits that one thread can set in a phase before the phase ends. It is
    /// also the largest number of set bits of a frozen phase.
    pub(crate) fn most_ones(&self, probes: u32) -> u64 {
        match self.phases {
            Phases::One | Phases::Two(Trigger::Excluded) => self.sigma,
            _ => self.sigma.saturating_add(probes.into()),
        }
    }

    /// Returns an error for policies with invalid values. The documentation of the fields says
    /// which values are allowed.
    pub(crate) fn check(&self, bits: u64, probes: u32) -> Result<(), BuildError> {
        let probes = u64::from(probes);
        let over = if self.phases == Phases::Two(Trigger::Included) { probes } else { 0 };
        let Some(highest) = bits.checked_sub(1 + over) else {
            let expected = Expected::Within(1 + over, truebloom_math::MAX_BITS);
            return Err(BuildError::Policy { field: "bits", found: bits, expected, why: "a phase must never be full" });
        };
        let lowest = if self.retaining { probes } else { 0 };
        within(
            "sigma",
            self.sigma,
            lowest,
            highest,
            if self.sigma > highest {
                "with a higher value, all bits of a phase could be set"
            } else {
                "with a lower value, a phase would have no room for the retained item"
            },
        )?;
        self.check_times()
    }
}

fn within(field: &'static str, found: u64, lowest: u64, highest: u64, why: &'static str) -> Result<(), BuildError> {
    let fits = (lowest..=highest).contains(&found);
    if fits { Ok(()) } else { Err(BuildError::Policy { field, found, expected: Expected::Within(lowest, highest), why }) }
}

/// The duration in nanoseconds. Durations of more than about 584 years saturate.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The largest recycle threshold, [`sigma`](Policy::sigma), for which the rate of the active phase
/// is proven to be at most `rate`. If the filter has two phases, the frozen phase adds to the rate
/// of the whole filter. The rate of the whole filter can then be higher than `rate`. The running
/// time of this function is logarithmic in the number of bits.
///
/// # Errors
/// Returns an error if computing the rate of a phase would take too long.
pub fn sigma_at_rate<S: FillScheme>(scheme: &S, rate: &Rate) -> Result<u64, BuildError> {
    let law = scheme.law();
    let asked = rate.to_f64().next_down();
    // With no set bits the rate is 0. With all bits set it is 1, which exceeds every requested
    // rate.
    let exceeds = |ones: u64| Ok::<bool, BuildError>(!law.fpr_at_fill(&[ones])?.is_some_and(|fpr| fpr.upper <= asked));
    Ok(try_bisect(1..=scheme.bits(), exceeds)? - 1)
}
