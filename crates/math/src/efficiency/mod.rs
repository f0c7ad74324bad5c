//! How near a filter comes to the limit of one bit for each factor of two of its rate.

use crate::{Result, Variant};

/// `items log2(1/fpr) / bits`: the share of its bits that a filter turns into discrimination (Burns 69). At most 1 for any structure that tells
/// members from others; near ln 2 for large standard filters at their best load. 0 items give 0.
pub fn efficiency(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<f64> {
    let fpr = variant.fpr(bits, items, probes)?;
    if items == 0 {
        return Ok(0.0);
    }
    Ok((items as f64 * -fpr.ln / std::f64::consts::LN_2 / bits as f64).max(0.0))
}
