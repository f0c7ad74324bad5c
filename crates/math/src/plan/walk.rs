//! The search over numbers of probes, for plans that compare proven rates instead of a formula.

use crate::Result;
use core::ops::RangeInclusive;

/// In each direction, the search ends when the proven rate has increased this many times in a row,
/// because the rate as a function of the probes decreases and then increases.
const RISES: u32 = 3;

/// The result of trying one number of probes.
pub(super) enum Step {
    /// No filter of this size can have this number of probes. The search skips the number.
    Impossible,
    /// The number cannot improve the best size. This counts as an increase of the rate.
    Excluded,
    /// The filter was considered.
    Kept {
        /// The proven rate at the best size so far. It is 1 if no rate is proven, and then the
        /// search continues.
        rate: f64,
        /// Whether the number improved that size.
        is_better: bool,
    },
}

/// Tries numbers of probes from a likely one downwards and upwards.
pub(super) fn walk(choice: RangeInclusive<u32>, likely: u32, mut step: impl FnMut(u32) -> Result<Step>) -> Result<()> {
    let first = match step(likely)? {
        Step::Kept { rate, .. } => rate,
        Step::Impossible | Step::Excluded => f64::INFINITY,
    };
    let mut side = |probes: &mut dyn Iterator<Item = u32>| -> Result<()> {
        let (mut last, mut rises) = (first, 0);
        for probes in probes {
            let (rate, is_better) = match step(probes)? {
                Step::Impossible => continue,
                Step::Excluded => (f64::INFINITY, false),
                Step::Kept { rate, is_better } => (rate, is_better),
            };
            rises = if is_better || rate < last || rate == 1.0 && last == 1.0 { 0 } else { rises + 1 };
            if rises == RISES {
                break;
            }
            last = rate;
        }
        Ok(())
    };
    side(&mut (*choice.start()..likely).rev())?;
    side(&mut (likely + 1..=*choice.end()))
}
