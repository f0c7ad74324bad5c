//! Estimates of the number of items, of the number of bits, and of the number of keys that were
//! looked up. They are computed from the number of set bits or, in [`distinct`], from the number of
//! keys that set a bit.

mod beyond;
#[cfg(feature = "study")]
mod bits;
#[cfg(feature = "study")]
mod bits_interval;
pub mod distinct;
mod interval;
#[cfg(feature = "study")]
mod likelihood;

use alloc::format;
pub use beyond::{Ground, items_beyond};
#[cfg(feature = "study")]
pub use bits::{BitsEstimate, estimate_bits};
#[cfg(feature = "study")]
pub use bits_interval::{BitsInterval, bits_interval};
pub use interval::{ItemsEstimate, items_interval};
#[cfg(feature = "study")]
pub use likelihood::items_by_likelihood;

use crate::error::out_of_range;
use crate::exact::work;
use crate::{Result, Variant};

/// Returns the method-of-moments estimate of the number of distinct items in a standard filter.
/// This is the number of items that would set `ones` bits on average. It need not be whole. The
/// formula is equation 46 of Burns, corrected for the standard filter:
/// `ln(1 - ones/bits) / (probes ln(1 - 1/bits))`.
///
/// The result is `None` for a full filter, because any large enough number of items would fill it.
#[must_use]
pub fn items_from_ones(bits: u64, probes: u32, ones: u64) -> Option<f64> {
    if ones >= bits {
        return None;
    }
    let m = bits as f64;
    // If `ones` is 0, the result must be 0, not -0.
    Some((libm::log1p(-(ones as f64) / m) / (f64::from(probes) * libm::log1p(-1.0 / m))).max(0.0))
}

/// Returns the method-of-moments estimate of the number of items in a standard or classic filter.
/// This is the number of items that would set `ones` bits on average. It need not be whole.
///
/// For the standard filter, the estimate is the result of [`items_from_ones`]. For the classic
/// filter, the estimate is `ln(1 - ones/bits) / ln(1 - probes/bits)` (Burns, equation 46). The
/// result is `None` for a full filter.
///
/// ```
/// use truebloom_math::{Variant, items_by_moments};
/// assert!((items_by_moments(Variant::Classic, 100, 5, 10)?.unwrap() - 2.05408).abs() < 1e-5);
/// assert_eq!(items_by_moments(Variant::Standard, 100, 5, 100)?, None);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or if the filter is partitioned. `ones` must be at most
/// `bits`. In a classic filter, every item sets `probes` bits, so `ones` must be 0 or at least
/// `probes`.
pub fn items_by_moments(variant: Variant, bits: u64, probes: u32, ones: u64) -> Result<Option<f64>> {
    let _work = work::begin();
    check(variant, bits, probes, ones)?;
    if ones == bits {
        return Ok(None);
    }
    if ones == 0 {
        return Ok(Some(0.0));
    }
    let m = bits as f64;
    Ok(match variant {
        Variant::Classic => Some(libm::log1p(-(ones as f64) / m) / libm::log1p(-f64::from(probes) / m)),
        _ => items_from_ones(bits, probes, ones),
    })
}

/// Checks that some number of items can set exactly this many bits.
fn check(variant: Variant, bits: u64, probes: u32, ones: u64) -> Result<()> {
    variant.check(bits, probes)?;
    if variant == Variant::Partitioned {
        return out_of_range("variant", variant, "standard or classic: a partitioned filter has a number of set bits for each slice");
    }
    if ones > bits {
        return out_of_range("ones", ones, format!("at most the number of bits ({bits})"));
    }
    if variant == Variant::Classic && ones > 0 && ones < u64::from(probes) {
        return out_of_range(
            "ones",
            ones,
            format!("0, or at least the number of probes ({probes}): every item of a classic filter sets that many bits"),
        );
    }
    Ok(())
}
