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
use truebloom_math::{Approximation, Best, Rate, Variant, efficiency, max_items, min_bits, optimal_probes};

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
    let answer = match name.as_str() {
        "fpr" => fpr(&mut query),
        "fpr_at_fill" => fpr_at_fill(&mut query),
        "approximation" => approximation(&mut query),
        "optimal_probes" => best_probes(&mut query),
        "max_items" => most_items(&mut query),
        "min_bits" => fewest_bits(&mut query),
        "efficiency" => efficiency_of(&mut query),
        _ if LATER.contains(&name.as_str()) => return Err(format!("fn `{name}` is not answered by this version of truebloom")),
        _ => {
            return Err(format!(
                "fn `{name}` is unknown; known are fpr, fpr_at_fill, approximation, optimal_probes, max_items, min_bits, efficiency"
            ));
        }
    }?;
    Ok(answer)
}

/// Named by the interface, and not answered yet.
const LATER: [&str; 14] = [
    "occupancy",
    "peak_efficiency",
    "max_efficiency",
    "crossover",
    "estimate_items",
    "estimate_bits",
    "recycling",
    "recycling_capacity",
    "recycling_min_bits",
    "n_bounded",
    "forgetting",
    "false_positives",
    "set_fpr",
    "count_min",
];

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
