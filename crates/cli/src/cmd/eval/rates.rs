//! Rates, plans, efficiencies and hits.

use super::query::{Answer, Query, brief, explain, object, whole};
use crate::report::fpr_value;
use serde_json::{Value, json};
use truebloom_math::law::{Blocked, InBlock};
use truebloom_math::sets::{SetOp, set_fpr};
use truebloom_math::{
    Approximation, Best, Error, Law, Method, Variant, bits_interval, crossover, efficiency, estimate_bits, false_positives,
    hits_quantile_bound, max_efficiency, max_items, min_bits, optimal_probes, peak_efficiency,
};

pub(super) fn fpr(query: &mut Query) -> Result<Answer, String> {
    if query.fields.get("variant").is_some_and(|variant| variant == "blocked") {
        return blocked(query);
    }
    if query.fields.contains_key("scheme") || query.fields.contains_key("offsets") {
        let (law, items) = (super::schemes::law(query)?, query.whole("items")?);
        query.finish()?;
        return Ok(fpr_value(&law.fpr(items).map_err(explain)?));
    }
    let (variant, bits, items, probes) = (query.variant()?, query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(fpr_value(&variant.fpr(bits, items, probes).map_err(explain)?))
}

fn blocked(query: &mut Query) -> Result<Answer, String> {
    query.take("variant")?;
    let in_block = match query.text("in_block")?.as_str() {
        "independent" => InBlock::Independent,
        "distinct" => InBlock::Distinct,
        "split" => InBlock::Split { word_bits: query.whole("word_bits")? },
        other => return Err(format!("field `in_block` is \"{other}\", but must be \"independent\", \"distinct\" or \"split\"")),
    };
    let (bits, block_bits, items, probes) = (query.whole("bits")?, query.whole("block_bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(fpr_value(&Blocked::new(bits, block_bits, in_block, probes).and_then(|law| law.fpr(items)).map_err(explain)?))
}

pub(super) fn fpr_at_fill(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes, ones) = (query.variant()?, query.whole("bits")?, query.probes()?, query.take("ones")?);
    query.finish()?;
    let counts: Option<Vec<u64>> = match (variant, &ones) {
        (Variant::Partitioned, Value::Array(counts)) => counts.iter().map(whole).collect(),
        (Variant::Partitioned, _) => None,
        _ => whole(&ones).map(|count| vec![count]),
    };
    let expected = if variant == Variant::Partitioned { "an array of whole numbers, one per slice" } else { "a whole number" };
    let counts = counts.ok_or_else(|| format!("field `ones` is {}, but must be {expected}", brief(&ones)))?;
    let fpr = variant.law(bits, probes).and_then(|law| law.fpr_at_fill(&counts)).map_err(explain)?;
    fpr.map(|fpr| fpr_value(&fpr)).ok_or_else(|| format!("the fill alone does not determine the rate of a {variant} filter"))
}

pub(super) fn approximation(query: &mut Query) -> Result<Answer, String> {
    let name: Approximation = query.text("name")?.parse().map_err(explain)?;
    let (bits, items, probes) = (query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "value": name.value(bits, items, probes).map_err(explain)? })))
}

pub(super) fn best_probes(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items) = (query.variant()?, query.whole("bits")?, query.whole("items")?);
    query.finish()?;
    let best = optimal_probes(variant, bits, items).map_err(explain)?;
    let mut answer = object(json!({ "probes": best.probes, "ties": best.ties, "fpr": best.fpr.value, "capped": best.capped }));
    add_bracket(&mut answer, &best.fpr);
    Ok(answer)
}

/// Adds the bracket of the answer's `fpr`.
fn add_bracket(answer: &mut Answer, fpr: &truebloom_math::Fpr) {
    answer.extend(fpr_value(fpr).into_iter().filter(|(name, _)| name != "value"));
}

pub(super) fn most_items(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, rate) = (query.variant()?, query.whole("bits")?, query.rate("fpr")?);
    query.finish()?;
    match max_items(variant, bits, &rate).map_err(explain)? {
        Some(Best { items, probes, fpr, .. }) => {
            let mut answer = object(json!({ "items": items, "probes": probes, "fpr": fpr.value }));
            add_bracket(&mut answer, &fpr);
            Ok(answer)
        }
        None => Ok(object(json!({ "items": 0, "probes": null, "fpr": null }))),
    }
}

pub(super) fn fewest_bits(query: &mut Query) -> Result<Answer, String> {
    let (variant, items, rate) = (query.variant()?, query.whole("items")?, query.rate("fpr")?);
    query.finish()?;
    let best = min_bits(variant, items, &rate).map_err(explain)?;
    let Best { bits, probes, fpr, .. } = best.ok_or_else(|| format!("a rate of {rate} for {items} items needs more than 2^62 bits"))?;
    let mut answer = object(json!({ "bits": bits, "probes": probes, "fpr": fpr.value }));
    add_bracket(&mut answer, &fpr);
    Ok(answer)
}

pub(super) fn efficiency_of(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items, probes) = (query.variant()?, query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "value": efficiency(variant, bits, items, probes).map_err(explain)? })))
}

pub(super) fn peak(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes) = (query.variant()?, query.whole("bits")?, query.probes()?);
    query.finish()?;
    let peak = peak_efficiency(variant, bits, probes).map_err(explain)?;
    Ok(object(json!({ "items": peak.items, "value": peak.value, "proven": peak.proven })))
}

pub(super) fn maximum(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits) = (query.variant()?, query.whole("bits")?);
    query.finish()?;
    let peak = max_efficiency(variant, bits).map_err(explain)?;
    Ok(object(json!({ "items": peak.items, "probes": peak.probes, "value": peak.value, "proven": peak.proven })))
}

pub(super) fn crossover_of(query: &mut Query) -> Result<Answer, String> {
    let probes = query.probes()?;
    query.finish()?;
    Ok(object(json!({ "items_per_bit": crossover(probes).map_err(explain)? })))
}

pub(super) fn bits_estimate(query: &mut Query) -> Result<Answer, String> {
    let (variant, items, probes, ones) = (query.variant()?, query.whole("items")?, query.probes()?, query.whole("ones")?);
    let confidence = if query.fields.contains_key("confidence") { Some(query.rate("confidence")?.to_f64()) } else { None };
    query.finish()?;
    let found = match (estimate_bits(variant, items, probes, ones), confidence) {
        // The interval can always be computed, and is useful without the value.
        (Err(Error::TooLong { .. }), Some(_)) => None,
        (found, _) => Some(found.map_err(explain)?),
    };
    let mut answer = object(json!({
        "value": found.map(|found| found.value),
        "relative_error": found.map(|found| found.relative_error),
        "note": found.map_or("the unbiased estimate takes too long for this many items; only the interval is given", |found| found.note),
    }));
    if let Some(confidence) = confidence {
        let interval = bits_interval(variant, items, probes, ones, confidence).map_err(explain)?;
        answer.extend(object(json!({ "lower": interval.lower, "upper": interval.upper, "method": interval.method.to_string() })));
    }
    Ok(answer)
}

/// The mean and the variance of the number of hits are exact. For a quantile, the answer gives the
/// upper end of its proven bracket; if both ends are equal, this is the exact quantile.
pub(super) fn hits(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items, probes, queries) =
        (query.variant()?, query.whole("bits")?, query.whole("items")?, query.probes()?, query.whole("queries")?);
    let asked = match query.fields.contains_key("quantiles") {
        true => query.list("quantiles", Value::as_f64, "numbers strictly between 0 and 1")?,
        false => Vec::new(),
    };
    query.finish()?;
    let moments = false_positives(variant, bits, items, probes, queries).map_err(explain)?;
    let quantile = |&probability: &f64| hits_quantile_bound(variant, bits, items, probes, queries, probability);
    let quantiles = asked.iter().map(quantile).collect::<truebloom_math::Result<Vec<_>>>();
    // The library names the probability differently than the query.
    let quantiles = quantiles.map_err(|error| explain(error).replacen("confidence", "an element of `quantiles`", 1))?;
    let validated = quantiles.iter().any(|found| found.method == Method::Validated);
    Ok(object(json!({
        "mean": moments.mean,
        "variance": moments.variance,
        "quantiles": quantiles.iter().map(|found| found.upper).collect::<Vec<_>>(),
        "quantiles_lower": quantiles.iter().map(|found| found.lower).collect::<Vec<_>>(),
        "method": (if validated { Method::Validated } else { Method::Bound }).to_string(),
    })))
}

pub(super) fn combined(query: &mut Query) -> Result<Answer, String> {
    let op: SetOp = query.text("op")?.parse().map_err(explain)?;
    let (variant, bits, probes) = (query.variant()?, query.whole("bits")?, query.probes()?);
    let items = query.list("items", whole, "whole numbers, one per filter")?;
    query.finish()?;
    Ok(fpr_value(&set_fpr(op, variant, bits, probes, &items).map_err(explain)?))
}
