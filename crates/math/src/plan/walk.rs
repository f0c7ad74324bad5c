//! The search over numbers of probes, for plans that compare proven rates instead of a formula.

use crate::Result;
use core::ops::RangeInclusive;

/// In each direction, the search ends when the proven rate has increased this many times in a row,
/// because the rate as a function of the probes decreases and then increases.
const RISES: u32 = 3;

/// Tries numbers of probes from a likely one downwards and upwards. `kept` returns the proven rate
/// of a number of probes at the best size so far, and whether this number improved that size. The
/// search continues if no rate is proven (`kept` returns 1), or if no such filter exists at that
/// size (it returns NaN).
pub(super) fn walk(choice: RangeInclusive<u32>, likely: u32, mut kept: impl FnMut(u32) -> Result<(f64, bool)>) -> Result<()> {
    let (first, _) = kept(likely)?;
    let mut side = |probes: &mut dyn Iterator<Item = u32>| -> Result<()> {
        let (mut last, mut rises) = (first, 0);
        for probes in probes {
            let (found, is_better) = kept(probes)?;
            if found.is_nan() {
                continue;
            }
            rises = if is_better || found < last || found == 1.0 && last == 1.0 { 0 } else { rises + 1 };
            if rises == RISES {
                break;
            }
            last = found;
        }
        Ok(())
    };
    side(&mut (*choice.start()..likely).rev())?;
    side(&mut (likely + 1..=*choice.end()))
}
