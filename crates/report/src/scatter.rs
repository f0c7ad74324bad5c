//! How the fill and the rate of one filter scatter over seeds: what `explain` says and draws.

use truebloom_math::occupancy::{Occupancy, Quantile};
use truebloom_math::{Fpr, Law, Method, Result, Variant, rate_quantile_bound};

/// Throws, or bits if they are fewer, up to which quantiles are summed, which takes milliseconds.
const SUMMED: u64 = 20_000;

/// One filter's fill and rate. Positions of the standard or the classic filter.
pub struct Scatter {
    variant: Variant,
    bits: u64,
    items: u64,
    probes: u32,
    /// The law of its set bits.
    pub fill: Occupancy,
    law: Box<dyn Law>,
    is_summed: bool,
}

impl Scatter {
    /// Of a size.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn new(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<Scatter> {
        let fill = match variant {
            Variant::Classic => Occupancy::classic(bits, items, probes)?,
            _ => Occupancy::standard(bits, items, probes)?,
        };
        let is_summed = items.saturating_mul(probes.into()).min(bits) <= SUMMED;
        Ok(Scatter { variant, bits, items, probes, fill, law: variant.law(bits, probes)?, is_summed })
    }

    /// The number of set bits that a share of all filters keeps to: summed for small filters,
    /// proven bounds beyond.
    ///
    /// # Errors
    /// A share outside of 0 to 1; more work than one call may take.
    pub fn quantile(&self, share: f64) -> Result<Quantile> {
        if self.is_summed { self.fill.exact_quantile(share) } else { self.fill.quantile(share) }
    }

    /// The rate that the same share of all filters keeps to, which rises with the fill; known no
    /// better than the fill is.
    ///
    /// # Errors
    /// As for [`quantile`](Self::quantile).
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
