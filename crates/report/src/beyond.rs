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
/// a whole number of bits. For n items, an xor filter has 1.23 n slots (Graf and Lemire 2020), and
/// a binary fuse filter with three segments has 1.125 n slots (Graf and Lemire 2022). These sizes
/// are approximations, because the tables are slightly larger for few items.
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
    let bits = |slots: f64| (slots * plan.items as f64 * fingerprint).ceil();
    Some(Static { fingerprint, xor: bits(1.23), fuse: bits(1.125) })
}
