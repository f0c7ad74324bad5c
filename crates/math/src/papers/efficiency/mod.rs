//! The efficiency of filters, compared with the information-theoretic limit: one bit per item for
//! each halving of the rate.

mod peak;
mod valley;

pub use peak::{MOST_BITS_SEARCHED, Peak, max_efficiency, peak_efficiency};
pub use valley::{crossover, valley_efficiency};

use crate::error::{check_bits, check_probes, out_of_range};
use crate::exact::work;
use crate::{Result, Variant};
use core::f64::consts::LN_2;

/// Returns the efficiency of a filter, `items log2(1/fpr) / bits` (Burns, equations 69 and 70). It
/// compares the filter with the information-theoretic limit, whose efficiency is 1. No structure
/// that answers membership queries has a higher efficiency. The highest efficiency of a large
/// standard filter is near ln 2. For 0 items, the efficiency is 0.
///
/// The relative error is about 1e-15; it is larger only if the rate is nearly 1. The computation
/// takes as long as a call of [`Variant::fpr`].
///
/// # Errors
/// Fails as [`Variant::fpr`] does.
pub fn efficiency(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<f64> {
    let _work = work::begin();
    let fpr = variant.fpr(bits, items, probes)?;
    if items == 0 {
        return Ok(0.0);
    }
    Ok(share(bits, items, fpr.ln))
}

fn share(bits: u64, items: u64, ln_rate: f64) -> f64 {
    (items as f64 * -ln_rate / LN_2 / bits as f64).max(0.0)
}

/// Returns the number of items at which a standard filter of m bits is most efficient, and the
/// efficiency at this number of items. The number of items, which need not be whole, is
/// `1 / log2(m / (m-1))`. The efficiency is `1 / (m log2(m / (m-1)))`. This efficiency is reached
/// with one probe, at a rate of one half (Burns, equation 74). For a filter of one bit, both
/// results are 0.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn standard_limit(bits: u64) -> Result<(f64, f64)> {
    check_bits(bits)?;
    if bits == 1 {
        return Ok((0.0, 0.0));
    }
    let items = LN_2 / -libm::log1p(-1.0 / bits as f64);
    Ok((items, items / bits as f64))
}

/// Returns Burns' approximation for the number of items at which the classic filter is most
/// efficient. With m bits and k probes, the approximation is `(m/k - 1) ln 2` (remark 29, equation
/// 76). This approximation is good for two or more items, and poor for one item.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn peak_items_approximation(bits: u64, probes: u32) -> Result<f64> {
    Variant::Classic.check(bits, probes)?;
    Ok((bits as f64 / f64::from(probes) - 1.0) * LN_2)
}

/// Returns Burns' approximation for the best number of probes of the classic filter. With m bits
/// and n items, the approximation is `m ln 2 / (n + ln 2)` (remark 29, equation 77). This
/// approximation is good for two or more items, and poor for one item. For example, with m = 100
/// and n = 1, the approximation is 40.9 probes, but 50 probes are best.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn best_probes_approximation(bits: u64, items: u64) -> Result<f64> {
    check_bits(bits)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    Ok(bits as f64 * LN_2 / (items as f64 + LN_2))
}

/// Returns the number of items at which the mean fill of a standard filter is one half. With m bits
/// and k probes, this number is `ln 2 / (k ln(m / (m-1)))`. It need not be whole. If the efficiency
/// is computed with [`Approximation::SeveranceLohman`](crate::Approximation::SeveranceLohman), it
/// is highest at this number of items. The exact efficiency at this number of items is close to the
/// highest exact efficiency (Burns, section 4.1).
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn half_full_items(bits: u64, probes: u32) -> Result<f64> {
    check_probes(probes)?;
    Ok(standard_limit(bits)?.0 / f64::from(probes))
}
