//! Filters and states of `dedup` as metrics, in the text format of Prometheus.

use crate::cmd::dedup::State;
use crate::failure::Failure;
use crate::held::{Held, Looked, look_at};
use crate::opened::Opened;
use crate::report::CONFIDENCE;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use truebloom::recycling::{Stats, WrongDrops};

/// What metrics describe.
pub(super) struct Subject {
    opened: Opened<Looked>,
    /// For a state of `dedup`, bounds on the number of new keys that were wrongly dropped. `None`
    /// if no bounds are known.
    lost: Option<WrongDrops>,
}

impl Subject {
    pub(super) fn open(name: &Path, bytes: Held) -> Result<Subject, Failure> {
        let opened = Opened::of(name, bytes, look_at, State::present)?;
        let lost = match &opened {
            Opened::Filter(_) => None,
            Opened::State(state) => state.wrong_drops(CONFIDENCE)?,
        };
        Ok(Subject { opened, lost })
    }

    /// A number of a filter.
    fn filter(&self, of: impl FnOnce(&Looked) -> Option<f64>) -> Option<f64> {
        if let Opened::Filter(filter) = &self.opened { of(filter) } else { None }
    }

    /// A count of a state.
    fn state(&self, of: impl FnOnce(&Stats) -> u64) -> Option<f64> {
        if let Opened::State(state) = &self.opened { Some(of(&state.stats()) as f64) } else { None }
    }

    fn rate(&self) -> f64 {
        match &self.opened {
            Opened::Filter(filter) => filter.fpr().upper,
            Opened::State(state) => state.fpr(),
        }
    }

    fn offered(&self) -> u64 {
        match &self.opened {
            Opened::Filter(filter) => filter.offered(),
            Opened::State(state) => state.stats().offered,
        }
    }
}

/// A number that describes a filter or a state: its name, its type, its meaning, and a function
/// that computes it, or returns `None` if there is no such number.
type Metric = (&'static str, Type, &'static str, fn(&Subject) -> Option<f64>);

/// The types of metrics in Prometheus. A counter never falls, unless the file is emptied or
/// replaced. Prometheus can therefore compute how fast it rises.
#[derive(Clone, Copy)]
enum Type {
    Gauge,
    Counter,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Gauge => "gauge",
            Type::Counter => "counter",
        }
    }
}

const METRICS: [Metric; 11] = [
    ("truebloom_fill_ratio", Type::Gauge, "Share of the bits that are set.", |subject| {
        subject.filter(|filter| Some(filter.ones() as f64 / filter.bits() as f64))
    }),
    ("truebloom_false_positive_rate", Type::Gauge, "Upper bound on the current false-positive rate.", |subject| Some(subject.rate())),
    ("truebloom_asked_rate", Type::Gauge, "Requested rate.", |subject| subject.filter(|filter| filter.rate().map(|rate| rate.to_f64()))),
    ("truebloom_offered_keys", Type::Counter, "Keys inserted, repeats included.", |subject| Some(subject.offered() as f64)),
    ("truebloom_items", Type::Gauge, "Lower bound on the distinct items inserted.", |subject| {
        subject.filter(|filter| Some(filter.changed() as f64))
    }),
    ("truebloom_capacity_items", Type::Gauge, "Planned number of distinct items.", |subject| {
        subject.filter(|filter| filter.capacity().map(|items| items as f64))
    }),
    (
        "truebloom_items_left",
        Type::Gauge,
        "Distinct items that can still be inserted within the plan; negative if there are more than planned.",
        |subject| subject.filter(|filter| filter.capacity().map(|items| items as f64 - filter.changed() as f64)),
    ),
    ("truebloom_kept_keys", Type::Counter, "Keys that a dedup state has reported as new.", |subject| subject.state(|stats| stats.new)),
    ("truebloom_cycles", Type::Counter, "Number of times that a dedup state has forgotten its older keys.", |subject| {
        subject.state(|stats| stats.cycles)
    }),
    (
        "truebloom_cycles_by_fill",
        Type::Counter,
        "Number of times that a dedup state has forgotten its older keys because it was full.",
        |subject| subject.state(|stats| stats.by_fill),
    ),
    (
        "truebloom_lost_keys",
        Type::Gauge,
        "Upper bound (99.9999% confidence) on the number of new keys that a dedup state has wrongly dropped.",
        |subject| subject.lost.map(|lost| lost.at_most as f64),
    ),
];

/// All metrics of all files: each metric is described once and has one line for each file.
pub(super) fn text(subjects: &[(PathBuf, Subject)]) -> String {
    let mut text = String::new();
    for (name, kind, help, of) in METRICS {
        let values: Vec<(String, f64)> =
            subjects.iter().filter_map(|(path, subject)| Some((escaped(&path.display().to_string()), of(subject)?))).collect();
        if values.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {}", kind.name());
        values.iter().for_each(|(path, value)| {
            let _ = writeln!(text, "{name}{{filter=\"{path}\"}} {value}");
        });
    }
    text
}

/// Escapes the three characters that a label's value must not contain unescaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
