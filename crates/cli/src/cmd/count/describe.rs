//! Describes a sketch and its guarantees, for `info`.

use super::answer::{bound, others};
use super::sketch::{AnySketch, with_sketch};
use crate::records::Extraction;
use crate::report::{CONFIDENCE, Report, count, plural, significant};
use serde_json::{Value, json};
use truebloom::FormatError;
use truebloom::count_min::{ListedSketch, PairwiseCountMin, RowHashes};
use truebloom_math::Rate;

/// The probability that the error of an estimate exceeds the printed bound is at most this.
const DELTA: &str = "0.1%";

/// Describes a list of this many keys. Every other key occurred at most `missed` times.
pub(super) fn listing(listed: u64, total: u64, missed: u64) -> String {
    match listed {
        _ if total == 0 => "empty".to_owned(),
        0 => format!("empty; {}", others(missed)),
        _ => format!("{} (`truebloom count show` prints the list); {}", plural(listed, "key"), others(missed)),
    }
}

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
        let lower = count(distinct.lower);
        let range = distinct.upper.map_or_else(|| format!("at least {lower}"), |upper| format!("{lower} to {}", count(upper)));
        let range = format!("{range} with {}% confidence", 100.0 * CONFIDENCE);
        let about = distinct.value.map(|value| count(value.round() as u64));
        report.line("distinct", about.map_or_else(|| range.clone(), |about| format!("about {about} ({range})")));
    } else {
        report.field("distinct", Value::Null);
    }
    if let Ok(delta) = DELTA.parse::<Rate>() {
        let error = sketch.error_bound(&delta).least();
        report.field("error", error).field("error_delta", delta.to_f64());
        report.line(
            "estimates",
            format!(
                "never below a key's count, and {1} with probability {0}%",
                significant(100.0 * (1.0 - delta.to_f64()), 4),
                if error == 0 { "exact".to_owned() } else { format!("at most {} above it", count(error)) }
            ),
        );
    }
    report.field("listed", listed).field("unlisted_at_most", bound(list.missed_at_most()));
    report.line("list", listing(listed, sketch.total(), list.missed_at_most()));
}
