//! Beyond the plan: filters with more items than planned, and filters to which nothing is ever
//! added.

use crate::report::{Report, bytes, fpr_value, plural, proven, rate};
use serde_json::json;
use truebloom_math::{Error, Plan};
use truebloom_report::beyond::{overload, static_filters};

/// Adds the expected rate of a filter that is filled beyond its plan.
pub(super) fn add_overload(report: &mut Report, plan: &Plan) -> Result<(), Error> {
    let found = overload(plan)?;
    // In small plans, several factors give the same number of items.
    let distinct = found.chunk_by(|one, next| one.items == next.items).filter_map(<[_]>::last);
    for (row, over) in distinct.enumerate() {
        let label = if row == 0 { "overfilled" } else { "" };
        let times = rate(over.items as f64 / plan.items as f64, 3);
        report.line(
            label,
            format!("with {} ({times} times the plan): at most {} on average", plural(over.items, "item"), proven(&over.fpr, None)),
        );
    }
    let rows: Vec<_> =
        found.iter().map(|over| json!({ "factor": over.factor, "items": over.items, "fpr": fpr_value(&over.fpr) })).collect();
    report.field("overfilled", rows);
    Ok(())
}

/// Adds the size of a static filter for the same items and rate.
pub(super) fn add_static(report: &mut Report, plan: &Plan) {
    let Some(found) = static_filters(plan) else {
        report.field("static", serde_json::Value::Null);
        return;
    };
    let (fingerprint, xor, fuse) = (found.fingerprint, found.xor, found.fuse);
    report.field("static", json!({ "fingerprint_bits": fingerprint, "xor_bits": xor, "fuse_bits": fuse, "method": "approximation" }));
    // For few items, a static filter does not save memory.
    let share = (100.0 * (1.0 - fuse / plan.bits as f64)).round();
    if share >= 1.0 {
        let size = bytes((fuse / 8.0).ceil() as u64);
        report.line(
            "static",
            format!("a binary fuse filter would take about {size}, {share}% less than this filter, if the set of items never changes"),
        );
    }
}
