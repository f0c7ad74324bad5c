//! Rates of hashing schemes.

use super::query::{Query, explain};
use serde_json::Value;
use truebloom_math::law::{Double, Offsets, PartitionDouble, Step};
use truebloom_math::{Law, SchemeId};

/// Returns the rate law of a query's `scheme` or `offsets`, with its `bits` (or `slice_bits`) and
/// `probes`.
pub(super) fn law(query: &mut Query) -> Result<Box<dyn Law>, String> {
    if query.fields.contains_key("offsets") {
        return own_offsets(query);
    }
    let scheme: SchemeId = query.text("scheme")?.parse().map_err(|error| format!("field `scheme`: {error}", error = explain(error)))?;
    if scheme == SchemeId::PartitionDouble {
        let (slice_bits, probes) = (query.whole("slice_bits")?, query.probes()?);
        return Ok(Box::new(PartitionDouble::new(slice_bits, probes).map_err(explain)?));
    }
    let (bits, probes) = (query.whole("bits")?, query.probes()?);
    scheme.law(bits, probes).map_err(explain)
}

/// Returns the rate law of plain double hashing with `offsets` added; `scheme`, if given, says
/// whether h2 may be 0.
fn own_offsets(query: &mut Query) -> Result<Box<dyn Law>, String> {
    let offsets = query.list("offsets", Value::as_i64, "whole numbers, one for each probe")?;
    let step = match query.fields.contains_key("scheme").then(|| query.text("scheme")).transpose()?.as_deref() {
        None | Some("double") => Step::Any,
        Some("double-nonzero") => Step::NonZero,
        Some(other) => return Err(format!("field `scheme` is \"{other}\", but with `offsets` must be \"double\" or \"double-nonzero\"")),
    };
    let (bits, probes) = (query.whole("bits")?, query.probes()?);
    Ok(Box::new(Double::new(bits, probes, step, Offsets::Custom(offsets)).map_err(explain)?))
}
