//! Certificates of planned standard filters.

use super::query::{Answer, Query, explain, whole};
use crate::certificate::object;
use serde_json::Value;
use truebloom_math::certificate::{Certificate, Claim, Smallest};
use truebloom_math::{Plan, Promise, Target};

/// The certificate of a plan. The certificate is for the smallest filter for `items` and `fpr`,
/// unless `bits` is given.
pub(super) fn certificate(query: &mut Query) -> Result<Answer, String> {
    let (items, rate) = (query.whole("items")?, query.rate("fpr")?);
    let bits = optional(query, "bits")?;
    let probes = optional(query, "probes")?.map(|probes| u32::try_from(probes).unwrap_or(u32::MAX));
    let hash_bits = optional(query, "hash_bits")?.map_or(128, |bits| u32::try_from(bits).unwrap_or(u32::MAX));
    let confidence = match query.fields.remove("confidence") {
        None | Some(Value::Null) => None,
        Some(found) => Some(found.as_f64().ok_or("field `confidence` must be a number strictly between 0 and 1")?),
    };
    query.finish()?;
    let promise = confidence.map_or(Promise::Mean, |confidence| Promise::OneFilter { confidence });
    let target = Target { items: Some(items), rate: Some(rate), bits, probes, hash_bits, promise, ..Target::default() };
    let plan = Plan::new(&target).map_err(explain)?;
    let smallest = match (bits, confidence, probes) {
        (None, None, None) => Smallest::ForAnyProbes,
        (None, None, Some(_)) => Smallest::ForTheseProbes,
        _ => Smallest::NotClaimed,
    };
    let claim = Claim { bits: plan.bits, items, probes: plan.probes, rate, hash_bits, smallest, confidence };
    Ok(object(&Certificate::new(claim).map_err(explain)?))
}

fn optional(query: &mut Query, name: &str) -> Result<Option<u64>, String> {
    match query.fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(found) => whole(&found).map(Some).ok_or_else(|| format!("field `{name}` must be a whole number from 0 to 2^64 - 1")),
    }
}
