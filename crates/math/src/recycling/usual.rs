//! A comparison of recycling filters with the usual design. The usual design is a standard filter
//! that is emptied after a fixed number of items. Its rate after the last of these items is at most
//! the requested rate.

use super::{Mode, Phases, SizedDesign, Trigger, capacity};
use crate::exact::work;
use crate::{Error, Plan, Rate, Result, Target};

/// Returns the usual design for `bits` bits: a standard filter that is emptied after a fixed number
/// of items. This number of items is the largest for which the expected rate after the last item is
/// at most `rate`. The expected rate includes the probability that a new item has the same hash as
/// an item in the filter. The result is `None` if not even one item fits.
///
/// # Errors
/// Fails as [`Plan::new`] does.
pub fn usual_capacity(bits: u64, rate: &Rate) -> Result<Option<Plan>> {
    planned(Target::new().bits(bits), rate)
}

/// Like [`usual_capacity`], but returns the design with the fewest bits that holds `items` items.
/// The result is `None` if no filter of at most 2^62 bits meets the rate.
///
/// # Errors
/// Fails as [`Plan::new`] does.
pub fn usual_min_bits(items: u64, rate: &Rate) -> Result<Option<Plan>> {
    planned(Target::new().items(items), rate)
}

fn planned(target: Target, rate: &Rate) -> Result<Option<Plan>> {
    match Plan::new(&target.rate(*rate).mean()) {
        Err(Error::BelowHashFloor { .. } | Error::OutOfReach { .. } | Error::OverMemoryCap { .. }) => Ok(None),
        plan => plan.map(Some),
    }
}

/// Compares three designs that use the same memory and have the same rate. The usual design is a
/// filter that is emptied after a fixed number of items. The other two designs are recycling
/// filters with one phase and with two phases.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The usual design: [`usual_capacity`].
    pub usual: Option<Plan>,
    /// A filter with one phase. Its long-run average rate is at most the requested rate.
    pub one_phase: Option<SizedDesign>,
    /// A filter with two phases. Its long-run average rate is at most the requested rate. Each of
    /// its two filters has half of the memory.
    pub two_phase: Option<SizedDesign>,
}

impl Comparison {
    /// Returns the number of items per cycle with one phase, divided by the number of items per
    /// cycle of [`usual`](Self::usual). In the default mode, the ratio is 1.49 for large filters at
    /// a rate of 0.01. The result is `None` if `usual` or `one_phase` is `None`.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        self.over_usual(self.one_phase.as_ref())
    }

    /// Returns the number of items per phase with two phases, divided by the number of items per
    /// cycle of [`usual`](Self::usual). With [`Trigger::Included`] and two phases, every item is
    /// remembered for at least as long as the shortest possible phase lasts. In contrast, the usual
    /// design may forget an item as soon as the next item comes.
    #[must_use]
    pub fn gain_two_phase(&self) -> Option<f64> {
        self.over_usual(self.two_phase.as_ref())
    }

    fn over_usual(&self, sized: Option<&SizedDesign>) -> Option<f64> {
        Some(sized?.run.items_per_cycle.value / self.usual.as_ref()?.items as f64)
    }
}

/// Compares three designs with `bits` bits in total. For [`Comparison::usual`], the rate after the
/// last item of a cycle is at most `rate`. For the other two designs, the long-run average rate is
/// at most `rate`. `mode` provides all settings except the number of phases. The design with two
/// phases ignores `retaining`.
///
/// ```
/// use truebloom_math::recycling::{Mode, compare};
/// let found = compare(100_000, &"0.01".parse()?, Mode::default())?;
/// assert!(found.gain().is_some_and(|gain| (gain - 1.49).abs() < 0.01));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails as [`capacity()`] does.
pub fn compare(bits: u64, rate: &Rate, mode: Mode) -> Result<Comparison> {
    let _work = work::begin();
    let trigger = if let Phases::Two(trigger) = mode.phases { trigger } else { Trigger::Included };
    let two = Mode { phases: Phases::Two(trigger), retaining: false, ..mode };
    Ok(Comparison {
        usual: usual_capacity(bits, rate)?,
        one_phase: capacity(bits, rate, Mode { phases: Phases::One, ..mode })?,
        two_phase: if bits < 2 { None } else { capacity(bits, rate, two)? },
    })
}
