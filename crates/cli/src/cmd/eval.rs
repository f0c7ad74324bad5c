//! `truebloom eval`: every number of the library, over JSON Lines.

use crate::args::json_whole;
use crate::failure::Failure;
use crate::input::{name, open};
use crate::lines::Lines;
use crate::report::fpr_value;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use truebloom_math::occupancy::Occupancy;
use truebloom_math::sets::{SetOp, set_fpr};
use truebloom_math::{
    Approximation, Best, Method, Rate, Variant, crossover, efficiency, estimate_bits, false_positives, hits_quantile_bound, items_interval,
    max_efficiency, max_items, min_bits, optimal_probes, peak_efficiency,
};

const EXAMPLES: &str = r#"Example:
  echo '{"fn":"fpr","variant":"standard","bits":9585,"items":1e3,"probes":7}' | truebloom eval

One query object a line, one answer object a line, in order. A bad query answers {"error": ...}; the others go on, and the exit code is 2."#;

/// Answer queries in JSON Lines from standard input
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

type Answer = Map<String, Value>;

pub(crate) fn run(_: &Args) -> Result<ExitCode, Failure> {
    let stdin = Path::new("-");
    let fail = |error| Failure::at(name(stdin), error);
    let mut lines = Lines::new(open(stdin).map_err(fail)?);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut code = ExitCode::SUCCESS;
    loop {
        // Whoever waits for an answer gets it before we wait for the next query.
        if lines.must_read() {
            out.flush()?;
        }
        let Some(line) = lines.next_line().map_err(fail)? else { break };
        let answer = answer(line).unwrap_or_else(|message| {
            code = ExitCode::from(2);
            Map::from_iter([("error".to_owned(), message.into())])
        });
        writeln!(out, "{}", Value::Object(answer))?;
    }
    out.flush()?;
    Ok(code)
}

fn answer(line: &[u8]) -> Result<Answer, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("not a JSON object: {error}"))?;
    let Value::Object(fields) = value else { return Err("not a JSON object: write one query object a line".to_owned()) };
    let mut query = Query { fields };
    let name = query.text("fn")?;
    match name.as_str() {
        "fpr" => fpr(&mut query),
        "fpr_at_fill" => fpr_at_fill(&mut query),
        "approximation" => approximation(&mut query),
        "optimal_probes" => best_probes(&mut query),
        "max_items" => most_items(&mut query),
        "min_bits" => fewest_bits(&mut query),
        "efficiency" => efficiency_of(&mut query),
        "peak_efficiency" => peak(&mut query),
        "max_efficiency" => maximum(&mut query),
        "crossover" => crossover_of(&mut query),
        "estimate_bits" => bits_estimate(&mut query),
        "false_positives" => hits(&mut query),
        "set_fpr" => combined(&mut query),
        "occupancy" => occupancy(&mut query),
        "estimate_items" => items_estimate(&mut query),
        _ if LATER.contains(&name.as_str()) => Err(format!("fn `{name}` is not answered by this version of truebloom")),
        _ => Err(format!(
            "fn `{name}` is unknown; known are fpr, fpr_at_fill, approximation, optimal_probes, max_items, min_bits, efficiency, peak_efficiency, \
                 max_efficiency, crossover, estimate_bits, estimate_items, false_positives, set_fpr, occupancy"
        )),
    }
}

/// Named by the interface, and not answered yet.
const LATER: [&str; 6] = ["recycling", "recycling_capacity", "recycling_min_bits", "n_bounded", "forgetting", "count_min"];

/// A query's fields; each is taken out when it is read, so that what is left is unknown.
struct Query {
    fields: Answer,
}

impl Query {
    fn take(&mut self, name: &str) -> Result<Value, String> {
        self.fields.remove(name).ok_or_else(|| format!("field `{name}` is missing"))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            Value::String(text) => Ok(text),
            other => Err(format!("field `{name}` is {}, but must be a string", brief(&other))),
        }
    }

    fn whole(&mut self, name: &str) -> Result<u64, String> {
        let value = self.take(name)?;
        whole(&value).ok_or_else(|| format!("field `{name}` is {}, but must be a whole number from 0 to 2^64 - 1", brief(&value)))
    }

    fn probes(&mut self) -> Result<u32, String> {
        let probes = self.whole("probes")?;
        u32::try_from(probes).map_err(|_| format!("field `probes` is {probes}, but must be at most {}", truebloom_math::MAX_PROBES))
    }

    fn rate(&mut self, name: &str) -> Result<Rate, String> {
        match self.take(name)? {
            // The decimal as written, not the nearest f64.
            Value::Number(number) => number.to_string().parse().map_err(|error| format!("field `{name}`: {error}")),
            other => Err(format!("field `{name}` is {}, but must be a number", brief(&other))),
        }
    }

    /// One of the three laws; those of later versions are told from typing errors.
    fn variant(&mut self) -> Result<Variant, String> {
        if self.fields.contains_key("scheme") {
            return Err(
                "field `scheme` is not answered by this version of truebloom; give `variant` standard, classic or partitioned".to_owned()
            );
        }
        let name = self.text("variant")?;
        if name == "blocked" {
            return Err("variant `blocked` is not answered by this version of truebloom".to_owned());
        }
        name.parse().map_err(|_| format!("field `variant` is \"{name}\", but must be \"standard\", \"classic\" or \"partitioned\""))
    }

    /// A field that must be an array, each element read by `read`.
    fn list<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>, expected: &str) -> Result<Vec<T>, String> {
        let value = self.take(name)?;
        let items = match &value {
            Value::Array(items) => items.iter().map(read).collect(),
            _ => None,
        };
        items.ok_or_else(|| format!("field `{name}` is {value}, but must be an array of {expected}"))
    }

    fn finish(&self) -> Result<(), String> {
        match self.fields.keys().next() {
            Some(name) => Err(format!("field `{name}` is unknown here")),
            None => Ok(()),
        }
    }
}

/// A value as it is shown in a message.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text,
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => json_whole(&number.to_string()),
        _ => None,
    }
}

fn explain(error: truebloom_math::Error) -> String {
    error.to_string()
}

fn object(value: Value) -> Answer {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn fpr(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items, probes) = (query.variant()?, query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(fpr_value(&variant.fpr(bits, items, probes).map_err(explain)?))
}

fn fpr_at_fill(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes, ones) = (query.variant()?, query.whole("bits")?, query.probes()?, query.take("ones")?);
    query.finish()?;
    let counts: Option<Vec<u64>> = match (variant, &ones) {
        (Variant::Partitioned, Value::Array(counts)) => counts.iter().map(whole).collect(),
        (Variant::Partitioned, _) => None,
        _ => whole(&ones).map(|count| vec![count]),
    };
    let expected = if variant == Variant::Partitioned { "an array of whole numbers, one a slice" } else { "a whole number" };
    let counts = counts.ok_or_else(|| format!("field `ones` is {}, but must be {expected}", brief(&ones)))?;
    let fpr = variant.law(bits, probes).and_then(|law| law.fpr_at_fill(&counts)).map_err(explain)?;
    fpr.map(|fpr| fpr_value(&fpr)).ok_or_else(|| format!("the fill alone does not determine the rate of a {variant} filter"))
}

fn approximation(query: &mut Query) -> Result<Answer, String> {
    let name: Approximation = query.text("name")?.parse().map_err(explain)?;
    let (bits, items, probes) = (query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "value": name.value(bits, items, probes).map_err(explain)? })))
}

fn best_probes(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items) = (query.variant()?, query.whole("bits")?, query.whole("items")?);
    query.finish()?;
    let best = optimal_probes(variant, bits, items).map_err(explain)?;
    let mut answer = object(json!({ "probes": best.probes, "ties": best.ties, "fpr": best.fpr.value, "capped": best.capped }));
    add_bracket(&mut answer, &best.fpr);
    Ok(answer)
}

/// The bracket of the answer's `fpr`.
fn add_bracket(answer: &mut Answer, fpr: &truebloom_math::Fpr) {
    answer.extend(fpr_value(fpr).into_iter().filter(|(name, _)| name != "value"));
}

fn most_items(query: &mut Query) -> Result<Answer, String> {
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

fn fewest_bits(query: &mut Query) -> Result<Answer, String> {
    let (variant, items, rate) = (query.variant()?, query.whole("items")?, query.rate("fpr")?);
    query.finish()?;
    let best = min_bits(variant, items, &rate).map_err(explain)?;
    let Best { bits, probes, fpr, .. } = best.ok_or_else(|| format!("a rate of {rate} for {items} items needs more than 2^62 bits"))?;
    let mut answer = object(json!({ "bits": bits, "probes": probes, "fpr": fpr.value }));
    add_bracket(&mut answer, &fpr);
    Ok(answer)
}

fn efficiency_of(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, items, probes) = (query.variant()?, query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "value": efficiency(variant, bits, items, probes).map_err(explain)? })))
}

fn peak(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes) = (query.variant()?, query.whole("bits")?, query.probes()?);
    query.finish()?;
    let peak = peak_efficiency(variant, bits, probes).map_err(explain)?;
    Ok(object(json!({ "items": peak.items, "value": peak.value, "proven": peak.proven })))
}

fn maximum(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits) = (query.variant()?, query.whole("bits")?);
    query.finish()?;
    let peak = max_efficiency(variant, bits).map_err(explain)?;
    Ok(object(json!({ "items": peak.items, "probes": peak.probes, "value": peak.value, "proven": peak.proven })))
}

fn crossover_of(query: &mut Query) -> Result<Answer, String> {
    let probes = query.probes()?;
    query.finish()?;
    Ok(object(json!({ "items_per_bit": crossover(probes).map_err(explain)? })))
}

fn bits_estimate(query: &mut Query) -> Result<Answer, String> {
    let (variant, items, probes, ones) = (query.variant()?, query.whole("items")?, query.probes()?, query.whole("ones")?);
    query.finish()?;
    let found = estimate_bits(variant, items, probes, ones).map_err(explain)?;
    Ok(object(json!({ "value": found.value, "relative_error": found.relative_error, "note": found.note })))
}

/// Mean and variance are exact; a quantile is the proven upper end of its bracket, and the quantile itself where the lower end is the same.
fn hits(query: &mut Query) -> Result<Answer, String> {
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
    // The library's name for the probability is not the query's.
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

fn combined(query: &mut Query) -> Result<Answer, String> {
    let op: SetOp = query.text("op")?.parse().map_err(explain)?;
    let (variant, bits, probes) = (query.variant()?, query.whole("bits")?, query.probes()?);
    let items = query.list("items", whole, "whole numbers, one a filter")?;
    query.finish()?;
    Ok(fpr_value(&set_fpr(op, variant, bits, probes, &items).map_err(explain)?))
}

/// `[[size, count], ..]`
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
                .ok_or_else(|| format!("field `committees` is {}, but must be a list of [size, count]", brief(&given)))?;
            Occupancy::union(bits, &list)
        }
        "intersection" => {
            let given = query.take("departments")?;
            let lists = given.as_array().and_then(|lists| lists.iter().map(committees).collect::<Option<Vec<_>>>());
            let lists =
                lists.ok_or_else(|| format!("field `departments` is {}, but must be a list of lists of [size, count]", brief(&given)))?;
            Occupancy::intersection(bits, &lists)
        }
        _ => return Err(format!("field `law` is \"{name}\", but must be \"standard\", \"classic\", \"union\" or \"intersection\"")),
    }
    .map_err(explain)
}

fn occupancy(query: &mut Query) -> Result<Answer, String> {
    let law = occupancy_law(query)?;
    let with_pmf = match query.fields.remove("pmf") {
        None => false,
        Some(Value::Bool(wanted)) => wanted,
        Some(other) => return Err(format!("field `pmf` is {}, but must be true or false", brief(&other))),
    };
    let orders = if query.fields.contains_key("moments") { query.whole("moments")? } else { 0 };
    let orders = u32::try_from(orders).ok().filter(|orders| *orders <= MOST_MOMENTS);
    let orders = orders.ok_or_else(|| format!("field `moments` must be at most {MOST_MOMENTS}"))?;
    query.finish()?;
    let mut answer = object(json!({ "mean": law.mean().map_err(explain)?, "variance": law.variance().map_err(explain)? }));
    if with_pmf {
        answer.insert("pmf".to_owned(), law.pmf().map_err(explain)?.into());
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

/// Moments are given up to this order.
const MOST_MOMENTS: u32 = 1_000;

fn items_estimate(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes, ones) = (query.variant()?, query.whole("bits")?, query.probes()?, query.whole("ones")?);
    let confidence = query.rate("confidence")?.to_f64();
    query.finish()?;
    let estimate = items_interval(variant, bits, probes, ones, confidence).map_err(explain)?;
    let (value, lower, upper) = (estimate.value, estimate.lower, estimate.upper);
    Ok(object(json!({ "value": value, "lower": lower, "upper": upper, "method": estimate.method.to_string() })))
}
