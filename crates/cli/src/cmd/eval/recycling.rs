//! Filters that forget.

use super::query::{Answer, Query, brief, explain};
use crate::report::fpr_value;
use serde_json::{Map, Value, json};
use truebloom_math::Fpr;
use truebloom_math::recycling::{Bracket, Counting, Design, Mode, Phases, Seeds, SizedDesign, Trigger, capacity, min_bits, n_bounded};

/// A field that is true or false and may be omitted.
fn flag(query: &mut Query, name: &str, otherwise: bool) -> Result<bool, String> {
    match query.fields.remove(name) {
        None => Ok(otherwise),
        Some(Value::Bool(value)) => Ok(value),
        Some(other) => Err(format!("field `{name}` is {}, but must be true or false", brief(&other))),
    }
}

fn mode(query: &mut Query) -> Result<Mode, String> {
    let phases = query.whole("phases")?;
    let trigger = match query.fields.contains_key("trigger") {
        false => Trigger::default(),
        true => match query.text("trigger")?.as_str() {
            "included" => Trigger::Included,
            "excluded" => Trigger::Excluded,
            other => return Err(format!("field `trigger` is \"{other}\", but must be \"included\" or \"excluded\"")),
        },
    };
    let phases = match phases {
        1 => Phases::One,
        2 => Phases::Two(trigger),
        other => return Err(format!("field `phases` is {other}, but must be 1 or 2")),
    };
    let defaults = Mode::default();
    Ok(Mode {
        phases,
        colliding: flag(query, "colliding", defaults.colliding)?,
        retaining: flag(query, "retaining", defaults.retaining)?,
        // By default the seed is shared, as in the reference vectors, although real filters renew
        // it.
        seeds: if flag(query, "shared_hash", true)? { Seeds::Kept } else { Seeds::Renewed },
    })
}

pub(super) fn design(query: &mut Query) -> Result<Design, String> {
    let mode = mode(query)?;
    let (bits, probes, sigma) = (query.whole("bits")?, query.probes()?, query.whole("sigma")?);
    Design::new(bits, probes, sigma, mode).map_err(explain)
}

/// Adds a rate as a number with its bracket. For the answer's `fpr`, the ends are named `lower` and
/// `upper`; for other rates, these names begin with the name of the rate.
fn put_rate(answer: &mut Answer, name: &str, fpr: &Fpr) {
    for (field, value) in fpr_value(fpr) {
        let name = match field.as_str() {
            "value" => name.to_owned(),
            _ if name == "fpr" => field,
            _ => format!("{name}_{field}"),
        };
        answer.insert(name, value);
    }
}

fn put(answer: &mut Answer, name: &str, bracket: &Bracket) {
    let Bracket { value, lower, upper, method, .. } = bracket;
    for (field, value) in [("", json!(value)), ("_lower", json!(lower)), ("_upper", json!(upper)), ("_method", json!(method.to_string()))] {
        answer.insert(format!("{name}{field}"), value);
    }
}

pub(super) fn long_run(query: &mut Query) -> Result<Answer, String> {
    let design = design(query)?;
    let with_cycle = flag(query, "cycle", false)?;
    let asked = match with_cycle && query.fields.contains_key("quantiles") {
        true => query.list("quantiles", Value::as_f64, "numbers strictly between 0 and 1")?,
        false => USUAL_QUANTILES.to_vec(),
    };
    query.finish()?;
    // The papers' rates, without equal hashes.
    let run = match design.long_run_of_bits() {
        Err(truebloom_math::Error::TooLong { .. }) => design.long_run_of_bits_nearly(),
        found => found,
    };
    let run = run.map_err(explain)?;
    let mut answer: Answer = Map::new();
    put_rate(&mut answer, "fpr", &run.fpr);
    put_rate(&mut answer, "worst", &run.worst);
    put(&mut answer, "items_per_cycle", &run.items_per_cycle);
    if with_cycle {
        let cycle = design.cycle().map_err(explain)?;
        let found = asked.iter().map(|&p| cycle.quantile(p)).collect::<truebloom_math::Result<Vec<_>>>().map_err(explain)?;
        answer.insert("mean".to_owned(), cycle.mean.value.into());
        answer.insert("variance".to_owned(), cycle.variance.into());
        answer.insert("quantiles".to_owned(), found.iter().map(|(items, _)| *items).collect());
        answer.insert("quantiles_at".to_owned(), asked.into());
        answer.insert("quantiles_method".to_owned(), found.first().map(|(_, method)| method.to_string()).into());
        answer.insert("shortest".to_owned(), cycle.least.into());
    }
    Ok(answer)
}

/// The quantiles of the cycle length that are given by default.
const USUAL_QUANTILES: [f64; 5] = [0.01, 0.1, 0.5, 0.9, 0.99];

pub(super) fn forgotten(query: &mut Query) -> Result<Answer, String> {
    let (design, gap) = (design(query)?, query.whole("gap")?);
    query.finish()?;
    let law = design.forgetting().map_err(explain)?;
    let mut answer: Answer = Map::new();
    put(&mut answer, "probability", &law.probability(gap));
    answer.insert("remembered_at_least".to_owned(), law.remembered_at_least().into());
    answer.insert("remembered_at_most".to_owned(), law.remembered_at_most().into());
    // If no gap is certain, this is the gap after which all but one in a million are forgotten.
    answer.insert("forgotten_by".to_owned(), law.gap_at(0.999_999).into());
    Ok(answer)
}

pub(super) fn emptied_after(query: &mut Query) -> Result<Answer, String> {
    let (bits, probes, items) = (query.whole("bits")?, query.probes()?, query.whole("items")?);
    let kind: Counting = query.text("kind")?.parse().map_err(explain)?;
    query.finish()?;
    let found = n_bounded(bits, probes, items, kind).map_err(explain)?;
    let mut answer: Answer = Map::new();
    put_rate(&mut answer, "fpr", &found.fpr);
    answer.insert("printed".to_owned(), found.printed.into());
    put(&mut answer, "items_per_cycle", &found.arrivals);
    answer.insert("stuck".to_owned(), found.stuck.into());
    Ok(answer)
}

/// The fields of a design that a search has found.
fn put_sized(found: &SizedDesign) -> Answer {
    let mut answer: Answer = Map::new();
    answer.insert("bits".to_owned(), found.design.total_bits().into());
    answer.insert("probes".to_owned(), found.design.probes().into());
    answer.insert("sigma".to_owned(), found.design.sigma().into());
    put(&mut answer, "items_per_cycle", &found.run.items_per_cycle);
    put_rate(&mut answer, "fpr", &found.run.fpr);
    put_rate(&mut answer, "worst", &found.run.worst);
    answer
}

pub(super) fn most_items(query: &mut Query) -> Result<Answer, String> {
    let (mode, bits, rate) = (mode(query)?, query.whole("bits")?, query.rate("fpr")?);
    query.finish()?;
    let found = capacity(bits, &rate, mode).map_err(explain)?;
    found
        .as_ref()
        .map(put_sized)
        .ok_or_else(|| format!("no recycling filter of {bits} bits can meet a rate of {rate}, however early it is recycled"))
}

pub(super) fn fewest_bits(query: &mut Query) -> Result<Answer, String> {
    let (mode, items, rate) = (mode(query)?, query.take("items_per_cycle")?, query.rate("fpr")?);
    query.finish()?;
    let number = items.as_f64().ok_or_else(|| format!("field `items_per_cycle` is {}, but must be a number", brief(&items)))?;
    let found = min_bits(number, &rate, mode).map_err(explain)?;
    found.as_ref().map(put_sized).ok_or_else(|| format!("{items} items per cycle at a rate of {rate} need more than 2^62 bits"))
}
