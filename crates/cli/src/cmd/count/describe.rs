//! Describes a sketch and its guarantees, for `info`.

use super::answer::{bound, others};
use super::sketch::{AnySketch, with_sketch};
use crate::records::Extraction;
use crate::report::{CONFIDENCE, Report, count, plural, significant};
use serde_json::{Value, json};
use truebloom::FormatError;
use truebloom::count_min::{ListedSketch, PairwiseCountMin, RowHashes};
use truebloom_math::Rate;

/// Probability with which the error of an estimate may exceed the printed bound.
const DELTA: &str = "0.1%";

/// Describes the sketch in these bytes of a file. Returns false, and describes nothing, for a kind
/// of sketch that no subcommand writes.
pub(crate) fn describe(bytes: &[u8], report: &mut Report) -> Result<bool, FormatError> {
    match AnySketch::from_bytes(bytes) {
        Ok(sketch) => with_sketch!(sketch, list => add(&list, report)),
        Err(FormatError::Field { field: "hash family", .. }) if PairwiseCountMin::<u64>::from_bytes(bytes).is_ok() => return Ok(false),
        Err(error) => return Err(error),
    }
    Ok(true)
}

fn add<R: RowHashes>(list: &ListedSketch<R>, report: &mut Report) {
    let sketch = list.sketch();
    report.field("keys", list.label()).field("total", sketch.total());
    if let Some(keys) = Extraction::told(list.label()) {
        report.line("keys", keys);
    }
    report.line("counted", plural(sketch.total(), "record"));
    let listed = list.top(usize::MAX).len() as u64;
    if list.missed_at_most() == 0 && sketch.total() > 0 {
        let keys = listed;
        report.field("distinct", json!({ "value": keys, "lower": keys, "upper": keys, "confidence": 1 }));
        report.line("distinct", format!("exactly {}", count(keys)));
    } else if let Ok(Some(distinct)) = sketch.distinct(CONFIDENCE) {
        report.field(
            "distinct",
            json!({ "value": distinct.value, "lower": distinct.lower, "upper": distinct.upper, "confidence": CONFIDENCE }),
        );
        let most = distinct.upper.map_or("any number".to_owned(), count);
        let about = distinct.value.map_or(String::new(), |value| format!("about {}: ", count(value.round() as u64)));
        report.line("distinct", format!("{about}{} to {most} ({}% confidence)", count(distinct.lower), 100.0 * CONFIDENCE));
    } else {
        report.field("distinct", Value::Null);
    }
    if let Ok(delta) = DELTA.parse::<Rate>() {
        let error = sketch.error_bound(&delta).least();
        report.field("error", error).field("error_delta", delta.to_f64());
        report.line(
            "estimates",
            format!(
                "never below a key's count; too high by at most {} with probability {}%",
                count(error),
                significant(100.0 * (1.0 - delta.to_f64()), 4)
            ),
        );
    }
    report.field("listed", listed).field("unlisted_at_most", bound(list.missed_at_most()));
    report.line("list", format!("{} (`truebloom count show` prints them); {}", plural(listed, "key"), others(list.missed_at_most())));
}
