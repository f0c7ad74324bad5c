//! The answers of the textbook formulas, and their errors.

use super::Plan;
use super::spread::useful_probes;
use super::target::Target;
use crate::Variant;
use crate::{Fpr, MAX_BITS, Rate, Result};

/// The filter that the textbook formulas give for the same target, and the expected rate that this
/// filter really has. The textbook filter is always a filter without blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Textbook {
    /// The number of bits that the target gives. If it gives none, this is the result of the
    /// textbook formula, rounded up. For n items and the rate p, the formula is
    /// `-n ln p / (ln 2)^2`. If the target gives the number of probes k, the formula is
    /// `-n k / ln(1 - p^(1/k))`.
    pub bits: u64,
    /// The number of items that the target gives. If the target gives no number of items, this is
    /// the largest number for which the formula for `bits` stays within the target's bits. It is at
    /// least 1.
    pub items: u64,
    /// The number of probes that the target gives. If it gives none, this is `(m/n) ln 2` for m
    /// bits and n items. The result is rounded, and limited to the numbers of probes that
    /// [`Plan::new`] tries.
    pub probes: u32,
    /// The rate according to the textbook formula, `(1 - e^(-nk/m))^k` for m bits, n items and k
    /// probes.
    pub claimed: f64,
    /// The exact expected rate of the textbook filter.
    pub fpr: Fpr,
    /// Whether the textbook filter meets the requested rate. The requested rate is compared with
    /// the exact rate plus an upper bound on the part that equal hashes add. The comparison is
    /// exact. `None` if no rate was requested.
    pub meets: Option<bool>,
}

impl Textbook {
    pub(super) fn new(target: &Target, plan: &Plan) -> Result<Textbook> {
        // The textbook's formulas are for independent positions.
        let variant = plan.scheme.variant().unwrap_or(Variant::Standard);
        const LN2: f64 = core::f64::consts::LN_2;
        // The number of items per bit at the requested rate.
        let load = target.rate.map(|rate| match target.probes {
            Some(k) => -libm::log1p(-libm::exp(rate.ln() / f64::from(k))) / f64::from(k),
            None => LN2 * LN2 / -rate.ln(),
        });
        let (bits, items) = match (target.bits, target.items, load) {
            (Some(bits), Some(items), _) => (bits as f64, items as f64),
            (Some(bits), None, Some(load)) => (bits as f64, libm::floor(bits as f64 * load)),
            (None, Some(items), Some(load)) => (libm::ceil(items as f64 / load), items as f64),
            // Cannot occur: no plan is made for such a target.
            _ => (1.0, 1.0),
        };
        let (bits, items) = ((bits.max(1.0) as u64).min(MAX_BITS), items.max(1.0) as u64);
        let most = useful_probes(target, bits, items)?;
        let ideal = libm::round(bits as f64 / items as f64 * LN2).clamp(1.0, f64::from(most)) as u32;
        let probes = if target.probes.is_some() { plan.probes.min(variant.max_probes(bits)) } else { ideal };
        let k = f64::from(probes);
        let claimed = libm::pow(-libm::expm1(-(items as f64) * k / bits as f64), k);
        let meets = |rate: Rate| variant.meets(bits, items, probes, &rate, Some(target.hash_bits));
        let meets = target.rate.map(meets).transpose()?;
        Ok(Textbook { bits, items, probes, claimed, fpr: variant.fpr(bits, items, probes)?, meets })
    }
}
