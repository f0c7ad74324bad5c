//! Plans for filters that are sent over a network. With fewer probes and more bits, a filter has
//! fewer set bits and compresses better.

use super::Plan;
use crate::error::out_of_range;
use crate::{Layout, Result, SchemeId, Target};
use alloc::format;

/// Returns the size of a compressed filter, in bits: `m H(ones/m)`. Here m is the number of bits of
/// the filter, `ones` is the number of set bits, and H is the binary entropy. There are
/// `C(m, ones)` different filters with these numbers, where C is the binomial coefficient. Any code
/// for these filters has an average length of at least `log2 C(m, ones)` bits. The result exceeds
/// this limit by at most `log2(2 m) / 2`.
///
/// ```
/// use truebloom_math::entropy_bits;
/// assert_eq!(entropy_bits(1_000, 500), 1_000.0);
/// assert!((entropy_bits(1_000, 10) - 80.79).abs() < 0.01 && entropy_bits(1_000, 0) == 0.0);
/// ```
#[must_use]
pub fn entropy_bits(bits: u64, ones: u64) -> f64 {
    entropy(bits as f64, ones.min(bits) as f64)
}

fn entropy(bits: f64, ones: f64) -> f64 {
    let part = |count: f64| if count > 0.0 { count * libm::log2(bits / count) } else { 0.0 };
    part(ones) + part(bits - ones)
}

impl Plan {
    /// Returns an upper bound on the average compressed size, in bits, of the planned filter with
    /// its planned number of items. The function [`entropy_bits`] computes the compressed size from
    /// the number of set bits. The bound is the compressed size that this formula gives for the
    /// mean number of set bits. By Jensen's inequality, it is at least the average compressed size.
    /// The result is `None` if the mean number of set bits is not known, as for blocked filters.
    ///
    /// Let p be the rate and n the number of items. With the best number of probes, the filter is
    /// about half full, and the bound is about `1.44 n log2(1/p)`. With fewer probes and more bits
    /// for the same rate, the bound is smaller than this value. With one probe and `n/p` bits, the
    /// bound is about `n (log2(1/p) + 1.44)` (Mitzenmacher 2002).
    ///
    /// # Errors
    /// Fails if computing the mean would take too much work, which happens only with hundreds of
    /// probes.
    pub fn transmitted_bits(&self) -> Result<Option<f64>> {
        Ok(self.law()?.fill(self.items)?.map(|fill| entropy(self.bits as f64, fill.mean)))
    }

    /// Returns a plan whose compressed filter takes at most `most` bits on average. The search
    /// starts with the best number of probes, and reduces this number until the compressed filter
    /// is small enough. Fewer probes need more bits in memory. So the search stops at the first
    /// plan that is small enough: this plan takes the fewest bits in memory.
    ///
    /// ```
    /// use truebloom_math::{Plan, Target};
    /// let target = Target::new().items(100_000).rate("1%".parse()?);
    /// let (usual, sent) = (Plan::new(&target)?, Plan::for_transmission(&target, 900_000)?);
    /// assert!(usual.transmitted_bits()?.expect("known") > 950_000.0 && usual.probes == 7);
    /// assert!(sent.transmitted_bits()?.expect("known") <= 900_000.0 && sent.probes == 2 && sent.bits > usual.bits);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does. Fails if the target does not give both items and a rate.
    /// Fails if the target gives bits or probes. Fails for the layout [`Layout::Lines`] and for the
    /// scheme [`SchemeId::Blocked`]. Fails if a compressed filter with one probe still takes more
    /// than `most` bits.
    pub fn for_transmission(target: &Target, most: u64) -> Result<Plan> {
        if target.bits.is_some() || target.probes.is_some() || target.items.is_none() || target.rate.is_none() {
            return out_of_range(
                "target",
                "one with bits or probes, or without items or rate",
                "one with only items and a rate, for a filter that is transmitted",
            );
        }
        // The law of the fill of blocked filters is not known, so their compressed size is not
        // known either.
        if target.layout == Layout::Lines || target.scheme == SchemeId::Blocked {
            return out_of_range("layout", "blocked", "standard for a filter that is transmitted");
        }
        let target = &target.clone().layout(Layout::Spread);
        let best = Plan::new(target)?;
        let mut least = f64::INFINITY;
        for probes in (1..=best.probes).rev() {
            let plan = if probes == best.probes { best.clone() } else { Plan::new(&target.clone().probes(probes))? };
            let sent = plan.transmitted_bits()?.unwrap_or(f64::INFINITY);
            if sent <= most as f64 {
                return Ok(plan);
            }
            least = least.min(sent);
        }
        out_of_range("transmitted bits", most, format!("at least {least:.0}, which one probe takes at this rate"))
    }
}
