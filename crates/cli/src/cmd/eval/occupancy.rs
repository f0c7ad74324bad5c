//! Queries about the number of set bits, and about the number of items that a number of set bits
//! implies.

use super::query::{Answer, Query, brief, explain, object, whole};
use serde_json::{Value, json};
use truebloom_math::items_interval;
use truebloom_math::occupancy::Occupancy;

/// Reads `[[size, count], ..]`.
fn committees(value: &Value) -> Option<Vec<(u64, u64)>> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [size, count] => Some((whole(size)?, whole(count)?)),
        _ => None,
    };
    value.as_array()?.iter().map(pair).collect()
}

fn occupancy_law(query: &mut Query) -> Result<Occupancy, String> {
    let name = query.text("law")?;
    let bits = query.whole("bits")?;
    match name.as_str() {
        "standard" => Occupancy::standard(bits, query.whole("items")?, query.probes()?),
        "classic" => Occupancy::classic(bits, query.whole("items")?, query.probes()?),
        "union" => {
            let given = query.take("committees")?;
            let list = committees(&given)
                .ok_or_else(|| format!("field `committees` is {}, but must be a list of pairs [size, count]", brief(&given)))?;
            Occupancy::union(bits, &list)
        }
        "intersection" => {
            let given = query.take("departments")?;
            let lists = given.as_array().and_then(|lists| lists.iter().map(committees).collect::<Option<Vec<_>>>());
            let lists = lists
                .ok_or_else(|| format!("field `departments` is {}, but must be a list of lists of pairs [size, count]", brief(&given)))?;
            Occupancy::intersection(bits, &lists)
        }
        _ => return Err(format!("field `law` is \"{name}\", but must be \"standard\", \"classic\", \"union\" or \"intersection\"")),
    }
    .map_err(explain)
}

/// The largest number of probabilities in an answer; each takes some hundred bytes of memory.
const MOST_IN_PMF: u64 = 1 << 22;

pub(super) fn occupancy(query: &mut Query) -> Result<Answer, String> {
    let law = occupancy_law(query)?;
    let with_pmf = match query.fields.remove("pmf") {
        None => false,
        Some(Value::Bool(wanted)) => wanted,
        Some(other) => return Err(format!("field `pmf` is {}, but must be true or false", brief(&other))),
    };
    let orders = if query.fields.contains_key("moments") { query.whole("moments")? } else { 0 };
    let orders = u32::try_from(orders).ok().filter(|orders| *orders <= MOST_MOMENTS);
    let orders = orders.ok_or_else(|| format!("field `moments` must be at most {MOST_MOMENTS}"))?;
    let z = if query.fields.contains_key("z") { Some(query.number("z", f64::MIN)?) } else { None };
    query.finish()?;
    if with_pmf && law.bits() > MOST_IN_PMF {
        return Err(format!(
            "field `pmf` needs an answer of {} numbers, but at most {MOST_IN_PMF} are allowed; give fewer bits",
            law.bits() + 1
        ));
    }
    let mut answer = object(json!({ "mean": law.mean().map_err(explain)?, "variance": law.variance().map_err(explain)? }));
    if with_pmf {
        answer.insert("pmf".to_owned(), law.pmf().map_err(explain)?.into());
    }
    if let Some(z) = z {
        answer.insert("generating_function".to_owned(), law.generating_function(z).map_err(explain)?.into());
    }
    if orders > 0 {
        let list = |moment: &dyn Fn(u32) -> truebloom_math::Result<f64>| {
            (1..=orders).map(moment).collect::<truebloom_math::Result<Vec<f64>>>().map_err(explain)
        };
        answer.insert("raw".to_owned(), list(&|r| law.raw_moment(r))?.into());
        answer.insert("factorial".to_owned(), list(&|r| law.factorial_moment(r))?.into());
        answer.insert("binomial".to_owned(), list(&|r| law.binomial_moment(r))?.into());
    }
    Ok(answer)
}

/// The highest order of moments in an answer.
const MOST_MOMENTS: u32 = 1_000;

pub(super) fn items_estimate(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes, ones) = (query.variant()?, query.whole("bits")?, query.probes()?, query.whole("ones")?);
    let confidence = query.rate("confidence")?.to_f64();
    query.finish()?;
    let estimate = items_interval(variant, bits, probes, ones, confidence).map_err(explain)?;
    let (value, lower, upper) = (estimate.value, estimate.lower, estimate.upper);
    Ok(object(json!({ "value": value, "lower": lower, "upper": upper, "method": estimate.method.to_string() })))
}
