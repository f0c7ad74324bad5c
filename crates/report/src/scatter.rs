//! How the fill and the rate of one filter vary with its seed. The command `explain` prints and
//! draws this variation.

use truebloom_math::occupancy::{Occupancy, Quantile};
use truebloom_math::{Fpr, Law, Method, Result, Variant, rate_quantile_bound};

/// The largest number of throws, or of bits, for which quantiles are computed by summing the
/// distribution, which takes milliseconds.
const SUMMED: u64 = 20_000;

/// The distributions of the fill and the rate of one filter, over all seeds. The filter is a
/// standard or a classic filter.
pub struct Scatter {
    variant: Variant,
    bits: u64,
    items: u64,
    probes: u32,
    /// The distribution of the number of set bits.
    pub fill: Occupancy,
    law: Box<dyn Law>,
    is_summed: bool,
}

impl Scatter {
    /// Creates the distributions for a filter of this size.
    ///
    /// # Errors
    /// Fails if parameters are out of range.
    pub fn new(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<Scatter> {
        let fill = match variant {
            Variant::Classic => Occupancy::classic(bits, items, probes)?,
            _ => Occupancy::standard(bits, items, probes)?,
        };
        let is_summed = items.saturating_mul(probes.into()).min(bits) <= SUMMED;
        Ok(Scatter { variant, bits, items, probes, fill, law: variant.law(bits, probes)?, is_summed })
    }

    /// Returns a quantile of the number of set bits: the share `share` of all filters has at most
    /// this number of set bits. For small filters, the quantile is computed by a sum. For larger
    /// filters, the result is a bracket from proven bounds.
    ///
    /// # Errors
    /// Fails if the share is not between 0 and 1, or the computation would take too long.
    pub fn quantile(&self, share: f64) -> Result<Quantile> {
        if self.is_summed { self.fill.exact_quantile(share) } else { self.fill.quantile(share) }
    }

    /// Returns a quantile of the rate: the share `share` of all filters has at most this rate.
    /// `fill` is the quantile of the number of set bits for the same share, from
    /// [`quantile`](Self::quantile). The rate rises with the number of set bits, so the bracket of
    /// the rate follows from the bracket of this number.
    ///
    /// # Errors
    /// Fails as [`quantile`](Self::quantile) does.
    pub fn rate(&self, share: f64, fill: &Quantile) -> Result<Fpr> {
        let at = |ones: u64| self.law.fpr_at_fill(&[ones]);
        if self.is_summed
            && let (Some(low), Some(mut rate)) = (at(fill.lower)?, at(fill.upper)?)
        {
            (rate.lower, rate.ln_lower) = (low.lower, low.ln_lower);
            if fill.method != Method::Exact {
                rate.method = fill.method;
            }
            return Ok(rate);
        }
        Ok(rate_quantile_bound(self.variant, self.bits, self.items, self.probes, share)?.fpr)
    }
}
