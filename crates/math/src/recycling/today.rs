//! A comparison of recycling with the usual practice. In the usual practice, a filter is sized for
//! the rate after its last item, and is emptied after a fixed number of items.

use super::{Mode, Phases, SizedDesign, Trigger, capacity};
use crate::exact::work;
use crate::{Best, Rate, Result, Variant, max_items};

/// Three ways to use the same memory at the same rate: the usual practice, one phase, and two
/// phases.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The usual practice: a standard filter that is emptied after a fixed number of items. This is
    /// the largest number of items for which the rate is at most the requested rate. The field is
    /// `None` if not even one item fits.
    pub today: Option<Best>,
    /// A filter with one phase. Its long-run average rate is at most the requested rate.
    pub one_phase: Option<SizedDesign>,
    /// A filter with two phases. Its long-run average rate is at most the requested rate. Each of
    /// its two filters has half of the memory.
    pub two_phase: Option<SizedDesign>,
}

impl Comparison {
    /// Returns the number of items per cycle with one phase, divided by the number of items per
    /// cycle of [`today`](Self::today). For many bits, a rate of 0.01 and the default mode, the
    /// ratio is 1.49. The result is `None` if `today` or `one_phase` is `None`.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        self.over_today(self.one_phase.as_ref())
    }

    /// Returns the number of items per phase with two phases, divided by the number of items per
    /// cycle of [`today`](Self::today). With [`Trigger::Included`], two phases remember every item
    /// for at least the shortest possible phase. The filter of `today` may forget an item as soon
    /// as the next item comes.
    #[must_use]
    pub fn gain_two_phase(&self) -> Option<f64> {
        self.over_today(self.two_phase.as_ref())
    }

    fn over_today(&self, sized: Option<&SizedDesign>) -> Option<f64> {
        let today = self.today.as_ref().filter(|best| best.items > 0)?;
        Some(sized?.run.items_per_cycle.value / today.items as f64)
    }
}

/// Compares three designs with `bits` bits in total. For [`Comparison::today`], the rate after the
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
        today: max_items(Variant::Standard, bits, rate)?,
        one_phase: capacity(bits, rate, Mode { phases: Phases::One, ..mode })?,
        two_phase: if bits < 2 { None } else { capacity(bits, rate, two)? },
    })
}
