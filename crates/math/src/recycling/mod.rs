//! Recycling filters. A recycling filter is emptied when more than a given number of its bits are
//! set. It then forgets its items.
//!
//! A [`Design`] consists of the size of a filter, its number of probes, a recycle threshold and a
//! [`Mode`]. The filter is emptied when the number of its set bits exceeds the threshold. The mode
//! determines how items are placed, and what happens when the filter is emptied. A *cycle* is
//! everything from one emptying to the next. An item is *new* if it has not come before in the same
//! cycle. So a forgotten item is new when it comes again. All results of this module assume that
//! the hashes of new items are independent of the bits that are set.
//!
//! | question | answer |
//! |---|---|
//! | what are the average rate, the worst rate and the mean number of items per cycle? | [`Design::long_run`] |
//! | what is the average rate if the number of items per cycle is limited? | [`Design::fpr_with_limit`] |
//! | at most how many new items are wrongly reported as seen in one run? | [`Design::wrong_drops_at_most`] |
//! | how many items does a cycle have? | [`Design::cycle`] |
//! | how long is an item remembered? | [`Design::forgetting`] |
//! | how many more items fit than in a filter that is emptied after a fixed number of items? | [`compare`] |
//! | what is the rate of filters that are emptied after a fixed number of items? | [`n_bounded()`] |
//! | what are the rates of simulated filters, for example with popular items? | [`simulate()`] |
//! | how many items fit into a given memory, and how much memory does a given number of items need? | [`capacity()`], [`min_bits`] |
//! | what if the rate must hold for every item of every stream? | [`worst_capacity`], [`worst_min_bits`] |
//! | how much memory is needed to remember items until a given number of new items have come? | [`remember()`] |
//! | what if all probes of an item are in one cache line? | [`BlockedDesign`], [`blocked_capacity()`], [`blocked_min_bits`] |
//!
//! The rates are those of Dozier, Salamatian and Rubenstein, *Modeling Average False Positive Rates
//! of Recycling Bloom Filters*, with the corrections in docs/ERRATA.md. A recursion over the
//! numbers of set bits computes these rates. The lower and upper ends that [`Design::long_run`]
//! returns are proven, and include all rounding errors.

mod average;
mod blocked;
mod capacity;
mod cycle;
mod equal_hashes;
mod fills;
mod fluid;
mod forgetting;
#[cfg(feature = "study")]
mod gaps;
#[cfg(feature = "study")]
mod limited;
mod long_run;
mod mode;
#[cfg(feature = "study")]
mod n_bounded;
mod number;
#[cfg(feature = "study")]
mod one_run;
#[cfg(feature = "serde")]
mod readable;
mod remember;
mod restart;
#[cfg(feature = "study")]
mod simulate;
#[cfg(feature = "study")]
mod simulated;
#[cfg(feature = "study")]
mod stream;
#[cfg(feature = "study")]
mod usual;
mod walk;

use alloc::format;
pub use blocked::{BlockedDesign, BlockedSized, Weights, blocked_capacity, blocked_min_bits};
pub use capacity::{SizedDesign, capacity, min_bits, worst_capacity, worst_min_bits};
pub use cycle::Cycle;
pub use forgetting::Forgetting;
#[cfg(feature = "study")]
pub use gaps::Gaps;
pub use long_run::LongRun;
pub use mode::{Mode, Phases, Seeds, Trigger};
#[cfg(feature = "study")]
pub use n_bounded::{Counting, NBounded, n_bounded};
pub use remember::{remember, worst_remember};
#[cfg(feature = "study")]
pub use simulate::{Simulated, Subject, simulate, simulate_subject, subject};
#[cfg(feature = "study")]
pub use stream::Stream;
#[cfg(feature = "study")]
pub use usual::{Comparison, compare, usual_capacity, usual_min_bits};

use crate::error::{check_bits, check_probes, out_of_range};
use crate::{Fpr, Method, Result};

/// A recycling filter: its size, its number of probes, and the number of set bits above which it is
/// emptied (recycled).
///
/// ```
/// use truebloom_math::recycling::{Design, Mode};
/// let design = Design::new(1_000, 4, 300, Mode::default())?;
/// let run = design.long_run()?;
/// assert_eq!(format!("{:.8}", run.fpr.value), "0.00182461");
/// assert_eq!(format!("{:.4}", run.items_per_cycle.value), "89.8473");
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    bits: u64,
    probes: u32,
    sigma: u64,
    mode: Mode,
}

impl Design {
    /// Creates the design of a filter with `bits` bits and `probes` probes per item. For two
    /// phases, each of the two filters has `bits` bits. The filter is recycled (emptied) when more
    /// than `sigma` bits are set after an insertion.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range. Also fails if the probes of an item are
    /// distinct and `probes` exceeds `bits`. Fails if `sigma` is above `bits - 1`, because such a
    /// filter would never be recycled. With [`Mode::retaining`], fails if `sigma` is below
    /// `probes`, because the retained item alone could set more than `sigma` bits. Also fails for
    /// two phases with [`Mode::retaining`], because no exact formula is known for this case.
    pub fn new(bits: u64, probes: u32, sigma: u64, mode: Mode) -> Result<Design> {
        check_bits(bits)?;
        check_probes(probes)?;
        if sigma >= bits {
            return out_of_range(
                "sigma",
                sigma,
                format!("below the number of bits ({bits}): otherwise, the filter would never be emptied"),
            );
        }
        if !mode.colliding && u64::from(probes) > bits {
            return out_of_range("probes", probes, format!("at most the number of bits ({bits}), because the probes are distinct"));
        }
        if mode.retaining && mode.has_two_phases() {
            return out_of_range(
                "retaining",
                true,
                "false for two phases: the retained item is in both filters, and no exact law is known",
            );
        }
        if mode.retaining && sigma < u64::from(probes) {
            return out_of_range("sigma", sigma, format!("at least probes ({probes}), because the last item is retained"));
        }
        Ok(Design { bits, probes, sigma, mode })
    }

    /// Returns the number of bits in each filter.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Returns the number of bits in all filters together.
    #[must_use]
    pub fn total_bits(&self) -> u64 {
        self.bits * self.mode.filters()
    }

    /// Returns the number of probes per item.
    #[must_use]
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// Returns the recycle threshold. The filter is recycled when more than this number of bits are
    /// set.
    #[must_use]
    pub fn sigma(&self) -> u64 {
        self.sigma
    }

    /// Returns how items are placed, and what happens at a recycle.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The largest number of set bits that a queried filter can have. This number exceeds sigma
    /// only if the item that ends a phase stays in the frozen filter.
    fn fullest(&self) -> u64 {
        match self.mode.phases {
            Phases::Two(Trigger::Included) => self.bits.min(self.sigma.saturating_add(self.probes.into())),
            _ => self.sigma,
        }
    }
}

/// A non-negative number with two bounds: `lower <= truth <= upper`. With [`Method::Simulation`],
/// the two bounds hold only with 99% confidence. With [`Method::Validated`], the two bounds are not
/// proven.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bracket {
    /// The number, rounded.
    pub value: f64,
    /// The lower end, which is at most the true number.
    pub lower: f64,
    /// The upper end, which is at least the true number.
    pub upper: f64,
    /// The method by which the bracket was obtained.
    pub method: Method,
}

impl Bracket {
    pub(crate) fn from_enclosure(enclosure: &crate::exact::enclosure::Enclosure) -> Bracket {
        let (lower, upper) = (enclosure.lower.floor(), enclosure.upper.ceil());
        let method = if upper - lower <= long_run::NARROW * lower { Method::Exact } else { Method::Bound };
        Bracket { value: lower + (upper - lower) / 2.0, lower, upper, method }
    }
}

/// An upper limit on the number of steps of the recursion over states in one computation. This many
/// steps take about a second.
const MAX_STEPS: f64 = 3e8;
