//! Items from set bits.

/// The method-of-moments estimate of the number of distinct items in a standard filter with `ones` set bits:
/// `ln(1 - ones/bits) / (probes ln(1 - 1/bits))`, which inverts the mean fill (Burns 46, corrected for the standard filter). `None` for a full filter, which
/// any number of items above some point would fill.
pub fn items_from_ones(bits: u64, probes: u32, ones: u64) -> Option<f64> {
    if ones >= bits {
        return None;
    }
    let m = bits as f64;
    // Zero ones must give 0, not -0.
    Some((libm::log1p(-(ones as f64) / m) / (f64::from(probes) * libm::log1p(-1.0 / m))).max(0.0))
}
