//! The experiments of Kirsch and Mitzenmacher, section 8, repeated: figures 1 and 2.

use crate::cells::{Cell, Known, are_shares};
use crate::kirsch_mitzenmacher::LOADS;
use crate::{Effort, Figure};
use truebloom_math::convergence::{hits_normal, hits_of_one_filter, limit_rate};
use truebloom_math::simulation::SplitMix64;
use truebloom_math::{Fpr, Method, Result, SchemeId};

/// The schemes of section 8, in the order of its legend.
pub(super) const SCHEMES: [SchemeId; 5] =
    [SchemeId::Standard, SchemeId::PartitionDouble, SchemeId::Double, SchemeId::Square, SchemeId::Cube];

/// The schemes of figure 2.
const COUNTED: [SchemeId; 4] = [SchemeId::PartitionDouble, SchemeId::Double, SchemeId::Square, SchemeId::Cube];

/// The numbers of items of figure 1. The paper does not list these numbers; the chosen ones cover
/// its axis.
const SIZES: [u64; 7] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/// The number of queries in a trial of figure 2.
const QUERIES: u64 = 464;

/// The number of bits of a scheme at a load; slices have a whole number of bits.
fn bits(scheme: SchemeId, load: u32, probes: u32, items: u64) -> u64 {
    let bits = u64::from(load) * items;
    if scheme == SchemeId::PartitionDouble { bits / u64::from(probes) * u64::from(probes) } else { bits }
}

/// The rate by the scheme's law.
pub(super) fn rate_of(scheme: SchemeId, load: u32, probes: u32, items: u64) -> Result<Fpr> {
    scheme.law(bits(scheme, load, probes, items), probes)?.fpr(items)
}

/// The methods by which a rate may be computed. A cell stores the index of the method.
const METHODS: [Method; 4] = [Method::Exact, Method::Validated, Method::Bound, Method::Simulation];

/// The value, both bounds, and the index of the method. For an approximation, which no size here
/// needs, the index is the number of methods.
fn numbers(fpr: &Fpr) -> Vec<f64> {
    let method = METHODS.iter().position(|method| *method == fpr.method).unwrap_or(METHODS.len());
    vec![fpr.value, fpr.lower, fpr.upper, method as f64]
}

/// The columns for a rate: its value (or NaN if the value is only the middle of a bracket), both
/// bounds, and the method in words.
fn columns_of(values: &[f64]) -> ([f64; 3], &'static str) {
    let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
    let (value, word) = match METHODS.get(at(3) as usize) {
        Some(Method::Exact) => (at(0), "exact"),
        Some(Method::Validated) => (at(0), "validated"),
        Some(Method::Bound) => (f64::NAN, "bound"),
        Some(Method::Simulation) => (f64::NAN, "simulation"),
        _ => (f64::NAN, "approximation"),
    };
    ([value, at(1), at(2)], word)
}

/// One point of figure 1.
struct Setting {
    load: u32,
    probes: u32,
    items: u64,
    scheme: SchemeId,
}

impl Setting {
    fn all() -> impl Iterator<Item = Setting> {
        let sizes = LOADS.into_iter().flat_map(|(load, probes)| SIZES.map(|items| (load, probes, items)));
        sizes.flat_map(|(load, probes, items)| SCHEMES.map(|scheme| Setting { load, probes, items, scheme }))
    }

    fn limit(&self) -> f64 {
        limit_rate(f64::from(self.load), self.probes)
    }

    fn queries(&self) -> u64 {
        (10.0 / self.limit()).ceil() as u64
    }

    /// The mean share of hits over `filters` filters, and its standard error.
    fn simulated(&self, filters: u64) -> Cell<'static> {
        let (scheme, load, probes, items, queries) = (self.scheme, self.load, self.probes, self.items, self.queries());
        Cell {
            name: format!("kirsch-mitzenmacher-1 {scheme} c={load} n={items} filters={filters}"),
            // A query that does not pass usually ends after about two positions.
            steps: filters as f64 * (items as f64 * f64::from(probes) + 2.0 * queries as f64),
            fits: are_shares(2),
            is_experiment: true,
            run: Box::new(move || {
                let mut trial = Trial::new(scheme, bits(scheme, load, probes, items), probes, 1);
                let shares: Vec<f64> = (0..filters).map(|_| trial.hits(items, queries) as f64 / queries as f64).collect();
                let (mean, error) = mean_and_error(&shares);
                Ok(vec![mean, error])
            }),
        }
    }

    /// The rate by the scheme's law.
    fn law(&self) -> Cell<'static> {
        let (scheme, load, probes, items) = (self.scheme, self.load, self.probes, self.items);
        Cell {
            name: format!("kirsch-mitzenmacher-1 {scheme} c={load} n={items} law"),
            steps: 3e7,
            fits: Box::new(|values| values.len() == 4),
            is_experiment: false,
            run: Box::new(move || Ok(numbers(&rate_of(scheme, load, probes, items)?))),
        }
    }
}

/// The number of filters with 0 hits, 1 hit and so on up to 39, and the number with 40 or more.
fn counts(scheme: SchemeId, filters: u64) -> Cell<'static> {
    Cell {
        name: format!("kirsch-mitzenmacher-2 {scheme} filters={filters}"),
        steps: filters as f64 * 31_000.0,
        fits: Box::new(move |counts| {
            counts.len() == 41 && counts.iter().all(|count| *count >= 0.0) && counts.iter().sum::<f64>() == filters as f64
        }),
        is_experiment: true,
        run: Box::new(move || {
            let mut trial = Trial::new(scheme, bits(scheme, 8, 6, 5_000), 6, 2);
            let mut counts = vec![0.0; 41];
            (0..filters).for_each(|_| counts[trial.hits(5_000, QUERIES).min(40) as usize] += 1.0);
            Ok(counts)
        }),
    }
}

pub(super) fn cells(effort: &Effort) -> Vec<Cell<'static>> {
    if effort.filters == 0 {
        return Vec::new();
    }
    let points = Setting::all().flat_map(|setting| [setting.simulated(effort.filters), setting.law()]);
    points.chain(COUNTED.map(|scheme| counts(scheme, effort.filters))).collect()
}

/// Returns the data of both figures. Figure 1 has the rate of every scheme twice: from a
/// simulation, with its standard error, and from a formula, with its bounds and its method. Figure
/// 2 has the number of filters with each number of hits among 464 queries.
pub(super) fn figures(effort: &Effort, known: &Known) -> Result<Vec<Figure>> {
    let mut columns = vec!["c".to_owned(), "k".to_owned(), "n".to_owned(), "limit".to_owned()];
    for scheme in SCHEMES {
        columns.extend(["simulated", "error", "law", "lower", "upper"].map(|what| format!("{scheme} {what}")));
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut words: Vec<(String, Vec<&'static str>)> = SCHEMES.iter().map(|scheme| (format!("{scheme} method"), Vec::new())).collect();
    for (number, setting) in Setting::all().enumerate() {
        let scheme = number % SCHEMES.len();
        if scheme == 0 {
            rows.push(vec![f64::from(setting.load), f64::from(setting.probes), setting.items as f64, setting.limit()]);
        }
        let simulated = setting.simulated(effort.filters).value(known)?;
        let (law, method) = columns_of(&setting.law().value(known)?);
        words[scheme].1.push(method);
        if let Some(row) = rows.last_mut() {
            row.extend(simulated.into_iter().chain(law));
        }
    }
    let text = "false-positive rates of five schemes for each number of items n, simulated and computed";
    let first = Figure { name: "kirsch-mitzenmacher-figure-1", text, columns, rows, words };
    Ok(vec![first, second(effort.filters, known)?])
}

fn second(filters: u64, known: &Known) -> Result<Figure> {
    let counts = COUNTED.map(|scheme| counts(scheme, filters).value(known));
    let counts = counts.into_iter().collect::<Result<Vec<_>>>()?;
    let rate = limit_rate(8.0, 6);
    let row = |hits: usize| {
        let scale = filters as f64;
        let curves = [hits as f64, scale * hits_normal(QUERIES, rate, hits as f64), scale * hits_of_one_filter(QUERIES, rate, hits as u64)];
        curves.into_iter().chain(counts.iter().map(|counts| counts.get(hits).copied().unwrap_or(f64::NAN))).collect()
    };
    let columns = ["hits", "normal", "binomial"].into_iter().chain(COUNTED.map(SchemeId::name)).map(str::to_owned).collect();
    Ok(Figure {
        name: "kirsch-mitzenmacher-figure-2",
        text: "the number of filters with each number of hits (false positives) among 464 queries; the last row is for 40 or more hits; n = 5,000, c = 8, k = 6",
        columns,
        rows: (0..=40).map(row).collect(),
        words: Vec::new(),
    })
}

fn mean_and_error(shares: &[f64]) -> (f64, f64) {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count.max(1.0);
    let squares = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>();
    (mean, libm::sqrt(squares / (count - 1.0).max(1.0) / count.max(1.0)))
}

/// A filter of one scheme, which is filled and queried with hashes from a random generator that
/// never changes.
struct Trial {
    scheme: SchemeId,
    probes: u64,
    /// The number of bits of the filter or, for the partition scheme, of one slice.
    range: u64,
    filter: Vec<bool>,
    random: SplitMix64,
}

impl Trial {
    fn new(scheme: SchemeId, bits: u64, probes: u32, seed: u64) -> Trial {
        let probes = u64::from(probes);
        let range = if scheme == SchemeId::PartitionDouble { bits / probes } else { bits };
        Trial { scheme, probes, range, filter: vec![false; bits as usize], random: SplitMix64::at(seed) }
    }

    fn below_range(&mut self) -> u64 {
        self.random.below(self.range)
    }

    fn position(&mut self, first: u64, second: u64, i: u64) -> usize {
        let progression = |offset: u64| (first + i * second + offset) % self.range;
        let position = match self.scheme {
            SchemeId::Standard => self.below_range(),
            SchemeId::Square => progression(i * i),
            SchemeId::Cube => progression(i * i * i),
            SchemeId::PartitionDouble => i * self.range + progression(0),
            _ => progression(0),
        };
        position as usize
    }

    /// Runs one trial: fills a filter with this many items, and returns the hits among this many
    /// queries of other keys.
    fn hits(&mut self, items: u64, queries: u64) -> u64 {
        self.filter.fill(false);
        for _ in 0..items {
            let (first, second) = (self.below_range(), self.below_range());
            for i in 0..self.probes {
                let position = self.position(first, second, i);
                self.filter[position] = true;
            }
        }
        let mut hits = 0;
        for _ in 0..queries {
            let (first, second) = (self.below_range(), self.below_range());
            let passes = (0..self.probes).all(|i| {
                let position = self.position(first, second, i);
                self.filter[position]
            });
            hits += u64::from(passes);
        }
        hits
    }
}
