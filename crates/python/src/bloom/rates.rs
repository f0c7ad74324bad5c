//! What a filter reports about its rate and its keys, and how that is checked.

use super::BloomFilter;
use super::held::{counted, viewed};
use crate::errors::{Kind, build_error, format_error, math_error, raise};
use crate::given::whole;
use crate::results::{rate, result};
use pyo3::prelude::*;
use truebloom::verify::{ExpectedVerdict, Measurement};

#[pymethods]
impl BloomFilter {
    /// The current false-positive rate of this filter, with a lower and an upper bound. It is the
    /// probability that a key that was never added passes, and is computed from the set bits.
    ///
    /// >>> BloomFilter(1000, 0.01).fpr().value
    /// 0.0
    fn fpr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fpr = self.held.read(py, |held| counted!(held, filter => filter.fpr())).map_err(|error| format_error(py, &error))?;
        rate(py, &fpr)
    }

    /// The expected rate of a filter of this size with this many distinct items: a mean over seeds.
    /// By default, `items` is the number of items that the filter was planned for; the result is
    /// None if there was no plan.
    #[pyo3(signature = (items=None))]
    fn expected_fpr<'py>(&self, py: Python<'py>, items: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let items = items.map(|items| whole("items", items)).transpose()?;
        let fpr = self.held.read(py, |held| {
            viewed!(held, filter => match items {
                Some(items) => filter.expected_fpr_at(items).map(Some),
                None => filter.expected_fpr(),
            })
        });
        fpr.map_err(|error| math_error(py, &error))?.map(|fpr| rate(py, &fpr)).transpose()
    }

    /// Estimates the number of distinct keys from the set bits. The result also has an interval
    /// that contains the true number with at least this confidence.
    ///
    /// For blocked filters, schemes of two hashes, intersections and full filters, no estimate is
    /// known, and its value is None. For these filters, and for filters that grow, the interval is
    /// certain.
    #[pyo3(signature = (confidence=0.99))]
    fn estimated_items<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyAny>> {
        let found = self.held.read(py, |held| {
            counted!(held, filter => {
                (filter.items_interval(confidence), filter.estimated_items(), filter.changed(), filter.most_items())
            })
        });
        let (interval, value, fewest, most) = found.map_err(|error| format_error(py, &error))?;
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(raise(py, Kind::Plan, &format!("confidence is {confidence}, but must be strictly between 0 and 1")));
        }
        let interval = interval.map_err(|error| math_error(py, &error))?;
        result(py, "ItemsEstimate", |fields| {
            fields.set_item("value", interval.as_ref().map_or(value, |interval| interval.value))?;
            fields.set_item("lower", interval.as_ref().map_or(fewest, |interval| interval.lower))?;
            fields.set_item("upper", interval.as_ref().map_or(Some(most), |interval| interval.upper))?;
            fields.set_item("method", interval.as_ref().map_or_else(|| "bound".to_owned(), |interval| interval.method.to_string()))
        })
    }

    /// Checks whether the filter meets its rate. The expected rate is compared with the requested
    /// rate. Exact tests compare the number of set bits, and the number of hits among this many
    /// random keys, with their predictions. Each test wrongly fails at most once in a million. The
    /// check uses a copy, so other threads can add keys meanwhile.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> _ = f.update(range(1000))
    /// >>> f.verify(100_000, seed=1).holds
    /// True
    #[pyo3(signature = (queries=1_000_000, *, seed=None))]
    fn verify<'py>(&self, py: Python<'py>, queries: u64, seed: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let seed = match seed {
            Some(seed) => seed,
            None => u128::from(truebloom::Seed::random().map_err(|error| build_error(py, &error))?) as u64,
        };
        // All results must describe the same state of the filter, although other threads can add
        // keys meanwhile. A filter in a file does not change, so it is not copied.
        let snapshot = if self.is_mapped(py) { None } else { Some(BloomFilter::new_of(self.copied(py)?)) };
        let state = snapshot.as_ref().unwrap_or(self);
        let verification =
            state.held.read(py, |held| counted!(held, filter => filter.verification())).map_err(|error| format_error(py, &error))?;
        let verification = verification.map_err(|error| math_error(py, &error))?;
        let measured = state.measured(py, queries, seed)?;
        let own = state.fpr(py)?;
        let fill = verification.fill();
        let expected = rate(py, &verification.expected())?;
        let verdict = match verification.expected_verdict() {
            ExpectedVerdict::Met => "met",
            ExpectedVerdict::Exceeded => "exceeded",
            ExpectedVerdict::NothingAsked => "nothing asked",
            _ => "undetermined",
        };
        result(py, "Verification", |fields| {
            fields.set_item("holds", verification.holds() && measured.holds)?;
            fields.set_item("expected", expected)?;
            fields.set_item("expected_verdict", verdict)?;
            fields.set_item("fill_tested", fill.tested)?;
            fields.set_item("fill_holds", fill.holds())?;
            fields.set_item("overfull", verification.is_overfull() || measured.overfull)?;
            fields.set_item("own", own)?;
            fields.set_item("queries", measured.queries)?;
            fields.set_item("hits", measured.hits)?;
            fields.set_item("measured", measured.rate)?;
            fields.set_item("interval", measured.interval)?;
            fields.set_item("p_value", measured.p_value)
        })
    }
}

impl BloomFilter {
    /// Queries random keys in parts, so that an interrupt is handled in between.
    fn measured(&self, py: Python<'_>, queries: u64, seed: u64) -> PyResult<Measured> {
        const PART: u64 = 1 << 22;
        let (mut left, mut part, mut hits) = (queries, 0, 0);
        loop {
            let now = left.min(PART);
            // The random keys of each part have their own seed. The tests are applied to all parts
            // together.
            let (seed, before) = (seed.wrapping_add(part), queries - left);
            let found = self.held.read(py, |held| {
                counted!(held, filter => {
                    let mut measurement = filter.measurement(seed);
                    measurement.query(now);
                    Measured::of(&measurement, hits + measurement.hits(), before + now)
                })
            });
            let measured = found.map_err(|error| format_error(py, &error))?;
            (hits, left, part) = (measured.hits, left - now, part + 1);
            if left == 0 {
                return Ok(measured);
            }
            py.check_signals()?;
        }
    }
}

/// The result of querying random keys.
struct Measured {
    holds: bool,
    overfull: bool,
    queries: u64,
    hits: u64,
    rate: f64,
    interval: (f64, f64),
    p_value: f64,
}

impl Measured {
    /// Combines the results of all parts, and compares the measured rate with the possible rates of
    /// the filter.
    fn of(measurement: &Measurement<'_>, hits: u64, queries: u64) -> Measured {
        use truebloom_math::binomial;
        let (low, high) = measurement.possible_rates();
        let rate = hits as f64 / queries.max(1) as f64;
        let nearest = rate.clamp(low, high);
        let p_value = if low < high && nearest == rate { 1.0 } else { binomial::two_sided(hits, queries, nearest) };
        let level = if low < high { truebloom::verify::ALPHA / 2.0 } else { truebloom::verify::ALPHA };
        let overfull = measurement.is_overfull();
        let interval = binomial::interval(hits, queries, truebloom::verify::CONFIDENCE);
        Measured { holds: p_value >= level && !overfull, overfull, queries, hits, rate, interval, p_value }
    }
}
