//! Filters with more items than planned, and static filters, to which nothing can be added.

use truebloom_math::{Fpr, Plan, Result};

/// The numbers of items for which rates are reported, in percent of the planned number.
const FACTORS: [u64; 4] = [105, 120, 150, 200];

/// A filter that holds more items than it was planned for.
#[derive(Clone, Copy, Debug)]
pub struct Overload {
    /// The number of items divided by the planned number of items.
    pub factor: f64,
    /// The number of items.
    pub items: u64,
    /// The expected rate.
    pub fpr: Fpr,
}

/// Returns the expected rates of a filter with more items than planned: with 1.05, 1.2, 1.5 and 2
/// times the planned number of items. Numbers of 2^64 or more items are left out.
///
/// # Errors
/// Fails if the rate cannot be computed.
pub fn overload(plan: &Plan) -> Result<Vec<Overload>> {
    let items = |factor: u64| u64::try_from((u128::from(plan.items) * u128::from(factor)).div_ceil(100)).ok();
    let numbers = FACTORS.into_iter().map_while(|factor| Some((factor as f64 / 100.0, items(factor)?)));
    numbers.map(|(factor, items)| Ok(Overload { factor, items, fpr: plan.fpr_with(items)? })).collect()
}

/// The sizes of static filters, to which nothing can be added. Static filters store fingerprints of
/// a whole number of bits. For n items, an xor filter has 1.23 n + 32 slots (Graf and Lemire 2020).
/// A binary fuse filter with three segments (Graf and Lemire 2022) has 1.125 n slots for many
/// items, and more for few items. These sizes are approximations, because other implementations may
/// round differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Static {
    /// The number of bits in a fingerprint.
    pub fingerprint: f64,
    /// The number of bits of an xor filter.
    pub xor: f64,
    /// The number of bits of a binary fuse filter.
    pub fuse: f64,
}

/// Returns the sizes of static filters for the items and the requested rate of a plan. Nothing can
/// be added to a static filter. The result is `None` if the plan has no requested rate.
#[must_use]
pub fn static_filters(plan: &Plan) -> Option<Static> {
    let fingerprint = (-plan.rate?.to_f64().log2()).ceil().max(1.0);
    let bits = |slots: f64| slots.ceil() * fingerprint;
    Some(Static { fingerprint, xor: bits(1.23 * plan.items as f64 + 32.0), fuse: bits(fuse_slots(plan.items as f64)) })
}

/// The number of slots of a binary fuse filter with three segments, as in the implementation by the
/// authors (FastFilter).
fn fuse_slots(items: f64) -> f64 {
    let ln = items.max(2.0).ln();
    // The constants are ln 3.33 and a quarter of ln 10^6.
    let segment = (1u64 << ((ln / 1.202_972 + 2.25) as u32).min(18)) as f64;
    let slots = (items * (0.875 + 3.453_878 / ln).max(1.125)).round();
    (slots / segment).ceil().max(3.0) * segment
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of the authors' implementation for these numbers of items.
    #[test]
    fn slots_of_small_and_large_fuse_filters() {
        assert_eq!([303.0, 444.0, 1_124.0].map(fuse_slots), [448.0, 640.0, 1_536.0]);
        assert_eq!(fuse_slots(6e8), 675_020_800.0, "segments of 2^18 slots");
        let slots = [20.0, 300.0, 1e3, 1e4, 1e5, 1e6].map(fuse_slots);
        assert_eq!(slots, [336.0 / 7.0, 3_136.0 / 7.0, 9_856.0 / 7.0, 89_600.0 / 7.0, 831_488.0 / 7.0, 7_913_472.0 / 7.0]);
        assert!([0.0, 1.0, 2.0].map(fuse_slots).into_iter().all(|slots| (12.0..=24.0).contains(&slots)));
    }
}
