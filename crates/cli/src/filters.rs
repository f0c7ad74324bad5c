//! Filters of any scheme, and sizes for them.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use truebloom::scheme::{AnyScheme, SchemeId};
use truebloom::{BloomFilter, FileError, FormatError, PortableHasher};
use truebloom_math::{Fpr, Plan, Rate, SchemePlan, SchemeTarget, Target, Variant};

/// A filter whose scheme is known only from its file.
pub(crate) type AnyFilter = BloomFilter<PortableHasher, AnyScheme>;

pub(crate) fn open(path: &Path) -> Result<AnyFilter, Failure> {
    AnyFilter::of_scheme_open(path).map_err(Failure::new)
}

/// [`open`], for a verb that reads these inputs; a filter among them was perhaps meant to be the first.
pub(crate) fn open_for(path: &Path, inputs: &[PathBuf]) -> Result<AnyFilter, Failure> {
    AnyFilter::of_scheme_open(path).map_err(|error| {
        let foreign = matches!(error, FileError::Format { cause: FormatError::NotAFilter { .. }, .. });
        let swapped = inputs.first().filter(|input| foreign && input.is_file() && AnyFilter::of_scheme_open(input).is_ok());
        swapped.map_or(Failure::new(&error), |filter| {
            Failure::at(path, format_args!("this is not a filter, but {} is: put the filter first, then the inputs", filter.display()))
        })
    })
}

/// Bits, probes and items for a scheme; whether they keep to a rate is left to whoever builds the filter.
pub(crate) struct Sized {
    pub(crate) bits: u64,
    pub(crate) probes: u32,
    pub(crate) items: u64,
    pub(crate) rate: Option<Rate>,
    /// The expected rate, if the plan has it already: for some schemes it takes seconds.
    pub(crate) expected: Option<Fpr>,
}

impl Sized {
    /// A plan by the scheme's own law where items and a rate are given; else what is given, completed by the standard plan.
    pub(crate) fn of(scheme: SchemeId, target: &Target) -> Result<Sized, Failure> {
        if target.confidence.is_some() && scheme != SchemeId::Standard {
            return Err(Failure::new(format_args!(
                "--confidence is not to be had with the {scheme} scheme: how its rates scatter is not known; leave one of them out"
            )));
        }
        let variant = match scheme {
            SchemeId::Classic => Some(Variant::Classic),
            SchemeId::Partitioned => Some(Variant::Partitioned),
            _ => None,
        };
        if let (None, Some(items), Some(rate), None) = (variant, target.items, target.rate, target.bits) {
            let Target { probes, max_bits, hash_bits, .. } = *target;
            let plan = SchemePlan::new(&SchemeTarget { scheme: scheme.hashing(), items, rate, probes, max_bits, hash_bits })?;
            return Ok(Sized { bits: plan.bits, probes: plan.probes, items, rate: Some(rate), expected: Some(plan.fpr) });
        }
        let plan = Plan::new(&Target { variant: variant.unwrap_or(Variant::Standard), ..target.clone() })?;
        Ok(Sized { bits: plan.bits, probes: plan.probes, items: plan.items, rate: plan.rate, expected: None })
    }
}
