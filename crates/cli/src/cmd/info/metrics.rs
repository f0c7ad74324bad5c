//! Filters as metrics, in the text format of Prometheus.

use crate::held::Looked;
use std::fmt::Write;
use std::path::PathBuf;

/// A number that describes a filter: its name, its meaning, and a function that computes it, or
/// returns `None` if the filter has no such number.
type Metric = (&'static str, &'static str, fn(&Looked) -> Option<f64>);

const METRICS: [Metric; 7] = [
    ("truebloom_fill_ratio", "Share of the bits that are set.", |filter| Some(filter.ones() as f64 / filter.bits() as f64)),
    ("truebloom_false_positive_rate", "Upper bound on the false-positive rate now.", |filter| Some(filter.fpr().upper)),
    ("truebloom_asked_rate", "Requested rate.", |filter| filter.rate().map(|rate| rate.to_f64())),
    ("truebloom_offered_keys", "Keys inserted, repeats included.", |filter| Some(filter.offered() as f64)),
    ("truebloom_items", "Lower bound on the distinct items inserted.", |filter| Some(filter.changed() as f64)),
    ("truebloom_capacity_items", "Distinct items planned for.", |filter| filter.capacity().map(|items| items as f64)),
    ("truebloom_items_left", "Distinct items that still fit the plan; negative if there are too many.", |filter| {
        filter.capacity().map(|items| items as f64 - filter.changed() as f64)
    }),
];

/// All metrics of all filters: each metric is described once and has one line for each filter.
pub(super) fn text(filters: &[(PathBuf, Looked)]) -> String {
    let mut text = String::new();
    for (name, help, of) in METRICS {
        let values: Vec<(String, f64)> =
            filters.iter().filter_map(|(path, filter)| Some((escaped(&path.display().to_string()), of(filter)?))).collect();
        if values.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        values.iter().for_each(|(path, value)| {
            let _ = writeln!(text, "{name}{{filter=\"{path}\"}} {value}");
        });
    }
    text
}

/// A label's value, in which three characters must be escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
