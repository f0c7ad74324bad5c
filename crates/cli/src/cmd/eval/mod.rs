//! `truebloom eval`: answers queries in JSON Lines. Every number that the library computes can be
//! queried.

mod certificate;
mod count_min;
mod occupancy;
mod papers;
mod query;
mod rates;
mod recycling;
mod schemes;

use crate::failure::Failure;
use crate::records::without_line;
use crate::records::{Event, RecordArgs, Records};
use crate::report::bytes;
use query::{Answer, Query};
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

const EXAMPLES: &str = r#"Example:
  echo '{"fn":"fpr","variant":"standard","bits":9585,"items":1e3,"probes":7}' | truebloom eval

One query object per line, one answer object per line, in order. A bad query gets the answer {"error": ...}; the other queries are still answered, and the exit code is 2. A query can be at most 4 MiB long."#;

/// The largest query in bytes. Lists of numbers can be long, and after parsing they take some sixty
/// times the memory of their text.
const MAX_QUERY: u64 = 4 << 20;

/// Answer queries for rates, sizes and other numbers, in JSON Lines from standard input
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<ExitCode, Failure> {
    let mut records = Records::passing(&RecordArgs::lines(MAX_QUERY), &[], |_, _| ())?;
    // The message of a panic becomes the answer to the query.
    panic::set_hook(Box::new(|_| ()));
    let mut out = io::BufWriter::new(crate::output::stdout());
    let mut code = ExitCode::SUCCESS;
    loop {
        match records.next() {
            Event::Batch(queries, _) => {
                for (line, _) in queries.iter() {
                    let answer = guarded(|| truebloom_math::as_one_call(|| answer(line))).unwrap_or_else(|message| {
                        code = ExitCode::from(2);
                        Map::from_iter([("error".to_owned(), message.into())])
                    });
                    writeln!(out, "{}", Value::Object(answer))?;
                }
            }
            // A query that is too long comes in pieces, the last of which ends with a newline. It
            // gets one answer, so that programs can pair queries and answers.
            Event::Passed(piece) if piece.ends_with(b"\n") => {
                code = ExitCode::from(2);
                let message = format!("the query is longer than {}", bytes(MAX_QUERY));
                writeln!(out, "{}", Value::Object(Map::from_iter([("error".to_owned(), message.into())])))?;
            }
            // Answers are flushed before the next query is awaited.
            Event::Idle => out.flush()?,
            Event::Stopped | Event::End => break,
            _ => {}
        }
    }
    if !records.complete() {
        code = ExitCode::from(2);
    }
    out.flush()?;
    Ok(code)
}

/// Computes the answer to one query. A panic would be a bug of this program, and must not prevent
/// the answers to other queries.
fn guarded(answer: impl FnOnce() -> Result<Answer, String>) -> Result<Answer, String> {
    // Queries share nothing that a panic could leave half changed.
    panic::catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        Err(format!("internal error: {}; this is a fault of truebloom, please report it with the query", text.unwrap_or("unknown")))
    })
}

pub(crate) fn answer(line: &[u8]) -> Result<Answer, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("not a JSON object: {}", without_line(&error)))?;
    let Value::Object(fields) = value else { return Err("not a JSON object: write one query object per line".to_owned()) };
    let mut query = Query { fields };
    let name = query.text("fn")?;
    match name.as_str() {
        "fpr" => rates::fpr(&mut query),
        "fpr_at_fill" => rates::fpr_at_fill(&mut query),
        "approximation" => rates::approximation(&mut query),
        "optimal_probes" => rates::best_probes(&mut query),
        "max_items" => rates::most_items(&mut query),
        "min_bits" => rates::fewest_bits(&mut query),
        "efficiency" => rates::efficiency_of(&mut query),
        "peak_efficiency" => rates::peak(&mut query),
        "max_efficiency" => rates::maximum(&mut query),
        "crossover" => rates::crossover_of(&mut query),
        "estimate_bits" => rates::bits_estimate(&mut query),
        "false_positives" => rates::hits(&mut query),
        "set_fpr" => rates::combined(&mut query),
        "occupancy" => occupancy::occupancy(&mut query),
        "estimate_items" => occupancy::items_estimate(&mut query),
        "recycling" => recycling::long_run(&mut query),
        "forgetting" => recycling::forgotten(&mut query),
        "n_bounded" => recycling::emptied_after(&mut query),
        "recycling_capacity" => recycling::most_items(&mut query),
        "recycling_min_bits" => recycling::fewest_bits(&mut query),
        "count_min" => count_min::count_min(&mut query),
        "certificate" => certificate::certificate(&mut query),
        "bounds" => papers::bounds_of_rates(&mut query),
        "collision_free" => papers::collision_free(&mut query),
        "standard_limit" => papers::limit(&mut query),
        "half_full_items" => papers::half_full(&mut query),
        "peak_items_approximation" => papers::peak_items(&mut query),
        "best_probes_approximation" => papers::peak_probes(&mut query),
        "valley_efficiency" => papers::valley(&mut query),
        "likelihood" => papers::likelihood(&mut query),
        "textbook" => papers::textbook(&mut query),
        "convergence" => papers::convergence(&mut query),
        "conditions" => papers::conditions(&mut query),
        "rate_deviation" => papers::deviation(&mut query),
        "hits_at_rate" => papers::hits_at_rate(&mut query),
        "negligible" => papers::negligible(&mut query),
        "simulate" => papers::simulated(&mut query),
        _ => Err(format!(
            "fn `{name}` is unknown; the known functions are fpr, fpr_at_fill, approximation, optimal_probes, max_items, min_bits, efficiency, peak_efficiency, \
                 max_efficiency, crossover, estimate_bits, estimate_items, false_positives, set_fpr, occupancy, recycling, recycling_capacity, \
                 recycling_min_bits, n_bounded, forgetting, count_min, certificate, bounds, collision_free, standard_limit, half_full_items, \
                 peak_items_approximation, best_probes_approximation, valley_efficiency, likelihood, textbook, convergence, conditions, \
                 rate_deviation, hits_at_rate, negligible, simulate"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer() {
        let message = |result: Result<Answer, String>| result.expect_err("it panicked");
        let index = std::hint::black_box(7);
        assert!(message(guarded(|| panic!("an argument of {index}"))).starts_with("internal error: an argument of 7;"));
        assert!(message(guarded(|| panic!("a text"))).starts_with("internal error: a text;"));
        assert!(guarded(|| Ok(Answer::new())).is_ok());
    }
}
