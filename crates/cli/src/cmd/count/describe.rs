//! What a sketch says and promises, for `info`.

use super::answer::bound;
use super::sketch::{AnySketch, with_sketch};
use crate::records::Extraction;
use crate::report::{Report, count, plural};
use serde_json::json;
use truebloom::FormatError;
use truebloom::count_min::{ListedSketch, RowHashes};
use truebloom_math::Rate;

/// Confidence of the interval of distinct keys.
const CONFIDENCE: f64 = 0.999_999;

/// The probability with which an estimate is further off than is said.
const DELTA: &str = "0.1%";

/// Adds what there is to say of the sketch in these bytes of a file.
pub(crate) fn describe(bytes: &[u8], report: &mut Report) -> Result<(), FormatError> {
    with_sketch!(AnySketch::from_bytes(bytes)?, list => add(&list, report));
    Ok(())
}

fn add<R: RowHashes>(list: &ListedSketch<R>, report: &mut Report) {
    let sketch = list.sketch();
    report.field("keys", list.label()).field("total", sketch.total());
    if let Some(keys) = Extraction::told(list.label()) {
        report.line("keys", keys);
    }
    report.line("counted", plural(sketch.total(), "record"));
    if list.missed_at_most() == 0 && sketch.total() > 0 {
        let keys = list.top(usize::MAX).len() as u64;
        report.field("distinct", json!({ "value": keys, "lower": keys, "upper": keys, "confidence": 1 }));
        report.line("distinct", format!("{} for certain", count(keys)));
    } else if let Ok(Some(distinct)) = sketch.distinct(CONFIDENCE) {
        report.field(
            "distinct",
            json!({ "value": distinct.value, "lower": distinct.lower, "upper": distinct.upper, "confidence": CONFIDENCE }),
        );
        let most = distinct.upper.map_or("any number".to_owned(), count);
        let about = distinct.value.map_or(String::new(), |value| format!("about {}: ", count(value.round() as u64)));
        report.line("distinct", format!("{about}{} to {most} ({}% confidence)", count(distinct.lower), 100.0 * CONFIDENCE));
    }
    if let Ok(delta) = DELTA.parse::<Rate>() {
        let error = sketch.error_bound(&delta).least();
        report.field("error", error).field("error_delta", delta.to_f64());
        report
            .line("estimates", format!("at most {} above the count of a key, but for a probability of {DELTA}; never below", count(error)));
    }
    let listed = list.top(usize::MAX).len() as u64;
    report.field("listed", listed).field("unlisted_at_most", bound(list.missed_at_most()));
    let others = match bound(list.missed_at_most()) {
        Some(0) => "there are no others".to_owned(),
        Some(most) => format!("no other came more than {}", plural(most, "time")),
        None => "how often others came is not known".to_owned(),
    };
    report.line("list", format!("{}, shown by `truebloom count show`; {others}", plural(listed, "key")));
}
