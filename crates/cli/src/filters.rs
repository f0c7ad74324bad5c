//! Filters of any scheme, and sizes for them.

use crate::failure::Failure;
use std::path::Path;
use truebloom::scheme::{AnyScheme, SchemeId};
use truebloom::{BloomFilter, PortableHasher};
use truebloom_math::{Plan, Rate, Target, Variant};

/// A filter whose scheme is known only from its file.
pub(crate) type AnyFilter = BloomFilter<PortableHasher, AnyScheme>;

pub(crate) fn open(path: &Path) -> Result<AnyFilter, Failure> {
    AnyFilter::of_scheme_open(path).map_err(Failure::new)
}

/// Bits, probes and items for a scheme; whether they keep to a rate is left to whoever builds the filter.
pub(crate) struct Sized {
    pub(crate) bits: u64,
    pub(crate) probes: u32,
    pub(crate) items: u64,
    pub(crate) rate: Option<Rate>,
}

impl Sized {
    /// Steps by which a plan grows until the law of the scheme proves the rate: a percent or two is common, and a floor cannot be grown away.
    const FACTORS: [f64; 12] = [1.0, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0];

    /// The first of some sizes from the standard plan on for which the scheme's law proves the rate. Not the smallest: these rates are not monotone in the bits.
    pub(crate) fn of(scheme: SchemeId, target: &Target) -> Result<Sized, Failure> {
        let variant = match scheme {
            SchemeId::Classic => Variant::Classic,
            SchemeId::Partitioned => Variant::Partitioned,
            _ => Variant::Standard,
        };
        if target.confidence.is_some() && scheme != SchemeId::Standard {
            return Err(Failure::new(format_args!(
                "--confidence is not to be had with the {scheme} scheme: how its rates scatter is not known; leave one of them out"
            )));
        }
        let plan = Plan::new(&Target { variant, ..target.clone() })?;
        let (items, probes, rate) = (plan.items, plan.probes, plan.rate);
        let given = target.bits.is_some() || rate.is_none();
        let Some(asked) = rate.filter(|_| !given) else { return Ok(Sized { bits: plan.bits, probes, items, rate }) };
        for factor in Sized::FACTORS {
            let bits = rounded((plan.bits as f64 * factor) as u64, probes, scheme);
            if target.max_bits.is_some_and(|most| bits > most) {
                break;
            }
            if scheme.hashing().law(bits, probes)?.meets(items, &asked, target.hash_bits)? {
                return Ok(Sized { bits, probes, items, rate });
            }
        }
        Err(Failure::new(format_args!(
            "a rate of {asked} for {items} items could not be proven for the {scheme} scheme, up to {} bits; ask for a higher rate, or take `--scheme standard`, which needs {} bits",
            rounded((plan.bits as f64 * 10.0) as u64, probes, scheme),
            plan.bits
        )))
    }
}

/// Slices of equal size take whole multiples.
fn rounded(bits: u64, probes: u32, scheme: SchemeId) -> u64 {
    let unit = if scheme == SchemeId::PartitionDouble { u64::from(probes) } else { 1 };
    bits.div_ceil(unit).saturating_mul(unit)
}
