//! The search for the best number of probes, for plans that compare proven rates.

use crate::Result;
use core::ops::RangeInclusive;

/// In each direction, the search ends when the proven rate has increased this many times in a row.
/// As a function of the number of probes, the rate decreases and then increases.
const RISES: u32 = 3;

/// The result of trying a number of probes.
pub(super) enum Step {
    /// No filter of this size can have this number of probes. The search skips it.
    Impossible,
    /// This number of probes cannot improve the best result. The search counts it as an increase of
    /// the rate.
    Excluded,
    /// The search computed a rate for this number of probes.
    Kept {
        /// The proven rate with this number of probes, at the best size found so far. The rate is 1
        /// if no rate is proven; the search then continues.
        rate: f64,
        /// Whether this number of probes improved the best result.
        is_better: bool,
    },
}

/// Tries numbers of probes, starting from a probable one, downwards and upwards.
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
