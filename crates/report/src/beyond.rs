//! What a plan does not ask: more items than planned for, and filters to which nothing is ever
//! added.

use truebloom_math::{Fpr, Plan, Result};

/// This many times the items planned for, in hundredths.
const FACTORS: [u64; 4] = [105, 120, 150, 200];

/// A filter that holds more than it was planned for.
#[derive(Clone, Copy, Debug)]
pub struct Overload {
    /// The items over those of the plan.
    pub factor: f64,
    /// The items.
    pub items: u64,
    /// The expected rate.
    pub fpr: Fpr,
}

/// The expected rates of a filter that is filled beyond its plan, up to the first that has more
/// than 2^64 items.
///
/// # Errors
/// What the law refuses.
pub fn overload(plan: &Plan) -> Result<Vec<Overload>> {
    let law = plan.law()?;
    let items = |factor: u64| u64::try_from((u128::from(plan.items) * u128::from(factor)).div_ceil(100)).ok();
    let numbers = FACTORS.into_iter().map_while(|factor| Some((factor as f64 / 100.0, items(factor)?)));
    numbers.map(|(factor, items)| Ok(Overload { factor, items, fpr: law.fpr(items)? })).collect()
}

/// What static filters take, to which nothing can be added: fingerprints of whole bits, in 1.23 n
/// slots of an xor filter (Graf and Lemire 2020), or 1.125 n of a binary fuse filter of three
/// segments (Graf and Lemire 2022). Approximations, as their tables are a little larger for few
/// items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Static {
    /// Bits of a fingerprint.
    pub fingerprint: f64,
    /// Bits of an xor filter.
    pub xor: f64,
    /// Bits of a binary fuse filter.
    pub fuse: f64,
}

/// Static filters for the items and the rate of a plan; `None` if no rate was asked for.
#[must_use]
pub fn static_filters(plan: &Plan) -> Option<Static> {
    let fingerprint = (-plan.rate?.to_f64().log2()).ceil().max(1.0);
    let bits = |slots: f64| (slots * plan.items as f64 * fingerprint).ceil();
    Some(Static { fingerprint, xor: bits(1.23), fuse: bits(1.125) })
}
