//! Mean and scatter of a blocked filter's own rate after so many items.

use super::super::Result;
use crate::Law;
use crate::enclosure::Enclose;
use crate::law::Blocked;

/// A filter's own rate `W`, of which these are proven ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// At least the variance.
    pub(super) variance: f64,
}

/// After `items` distinct items.
///
/// W is the mean over B lines of `Y = (d/m)^k`, so `E[W] = E[Y]` is the law's rate, and `E[Y^2]` the chance that two queries of one line both pass. The lines' loads are multinomial and
/// so negatively associated (Joag-Dev and Proschan 1983). Given the positions that a line would give to its 1st, 2nd, .. item, Y rises with the line's load; these are independent
/// between lines, so two Y are correlated negatively or not at all, and `Var W <= Var Y / B`.
pub(super) fn after(law: &Blocked, items: u64) -> Result<Moments> {
    if items == 0 {
        return Ok(Moments { lower: 0.0, upper: 0.0, variance: 0.0 });
    }
    let mean = law.fpr(items)?;
    let square = law.square(items).fpr()?;
    let variance = (square.upper - (mean.lower * mean.lower).next_down()).next_up().max(0.0);
    let blocks = (law.bits() / law.block_bits()) as f64;
    Ok(Moments { lower: mean.lower, upper: mean.upper, variance: (variance / blocks.next_down()).next_up() })
}

impl Moments {
    /// At least `P(W > x)`: Cantelli, where the mean is below x.
    pub(super) fn above(&self, x: f64) -> f64 {
        one_sided(self.variance, (x - self.upper).next_down())
    }

    /// At least `P(W <= x)`: Cantelli, where the mean is above x.
    pub(super) fn at_most(&self, x: f64) -> f64 {
        one_sided(self.variance, (self.lower - x).next_down())
    }

    /// At least `E[(W - x)^+]`: Scarf.
    pub(super) fn excess(&self, x: f64) -> f64 {
        positive_part((self.upper - x).next_up(), self.variance)
    }

    /// At least `E[(x - W)^+]`: Scarf.
    pub(super) fn shortfall(&self, x: f64) -> f64 {
        positive_part((x - self.lower).next_up(), self.variance)
    }
}

/// `v / (v + d^2)` for d above 0, rounded up.
fn one_sided(variance: f64, distance: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let square = (distance * distance).next_down();
    (variance / (variance + square).next_down()).next_up().min(1.0)
}

/// `(sqrt(v + d^2) + d) / 2`, rounded up; without cancellation for d below 0.
fn positive_part(mean: f64, variance: f64) -> f64 {
    if mean < 0.0 {
        let root = libm::sqrt((variance + (mean * mean).next_down()).next_down()).next_down();
        return (variance / (2.0 * (root - mean).next_down())).next_up();
    }
    let root = libm::sqrt((variance + (mean * mean).next_up()).next_up()).next_up();
    ((root + mean).next_up() / 2.0).next_up()
}
