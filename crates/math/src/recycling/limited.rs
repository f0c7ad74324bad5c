//! Cycles that end early: after a fixed number of new items, or after the time in which this number
//! of new items arrives.

use super::fills::Fills;
use super::number::Positive;
use super::restart::restart_law;
use super::{Design, Result};
use crate::error::out_of_range;
use crate::exact::double::DoubleDouble;
use crate::exact::work;
use alloc::vec::Vec;

impl Design {
    /// Returns the long-run average rate of a one-phase filter with a second limit. The filter is
    /// emptied when more than sigma bits are set, or after `items` new items. The result is at most
    /// the rate of [`Design::long_run`], and rises to that rate as the limit grows.
    ///
    /// Let `p_i` be the probability that the cycle has not ended before item i. Let `rho_i` be the
    /// rate just before item i, or 0 if the cycle has ended before item i. The result is the sum of
    /// `E[rho_i]` for i from 1 to `items`, divided by the sum of `p_i`. Among the cycles that
    /// reach item i, the filter is fuller for larger i. So the average rises with the limit. The
    /// relative error is below 1e-9.
    ///
    /// The computation takes time O(probes x items x width). Here, width is the count of those
    /// numbers of set bits whose probability is not negligible.
    ///
    /// # Errors
    /// Fails if `items` is 0, or if the computation would take more than 6e7 steps. Also fails for
    /// two phases, because there the rate depends on how the previous phase ended.
    pub fn fpr_with_limit(&self, items: u64) -> Result<f64> {
        let _work = work::begin();
        if items == 0 {
            return out_of_range("items", items, "at least 1");
        }
        if self.mode.has_two_phases() {
            return out_of_range("phases", 2, "1 for a limit on new items");
        }
        let start: Vec<f64> = restart_law::<DoubleDouble>(self).into_iter().map(|x| x.parts().0).collect();
        let mut fills = Fills::new(self.bits, self.probes, !self.mode.colliding, start, 1e-200);
        let (mut passed, mut arrived) = (0.0, 0.0);
        for _ in 0..items {
            let goes_on = fills.mean(|_| 1.0);
            if goes_on < 1e-17 {
                break;
            }
            arrived += goes_on;
            passed += fills.mean(|ones| fills.passing(ones));
            fills.item()?;
            fills.overflow(self.sigma);
        }
        Ok(passed / arrived)
    }
}
