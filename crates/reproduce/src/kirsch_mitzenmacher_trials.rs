//! The experiments of Kirsch and Mitzenmacher, section 8, run again: figures 1 and 2.

use crate::cells::{Cell, Known};
use crate::kirsch_mitzenmacher::LOADS;
use crate::{Effort, Figure};
use truebloom_math::convergence::{hits_normal, hits_of_one_filter, limit_rate};
use truebloom_math::simulation::SplitMix64;
use truebloom_math::{Result, SchemeId};

/// The schemes of section 8, in the order of its legend.
pub(super) const SCHEMES: [SchemeId; 5] =
    [SchemeId::Standard, SchemeId::PartitionDouble, SchemeId::Double, SchemeId::Square, SchemeId::Cube];

/// Those of figure 2.
const COUNTED: [SchemeId; 4] = [SchemeId::PartitionDouble, SchemeId::Double, SchemeId::Square, SchemeId::Cube];

/// The numbers of items of figure 1. The paper prints no list; these span its axis.
const SIZES: [u64; 7] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/// Queries of a trial of figure 2.
const QUERIES: u64 = 464;

/// Bits of a scheme at a load; slices of whole size.
fn bits(scheme: SchemeId, load: u32, probes: u32, items: u64) -> u64 {
    let bits = u64::from(load) * items;
    if scheme == SchemeId::PartitionDouble { bits / u64::from(probes) * u64::from(probes) } else { bits }
}

/// The rate by its law.
pub(super) fn exact(scheme: SchemeId, load: u32, probes: u32, items: u64) -> Result<f64> {
    Ok(scheme.law(bits(scheme, load, probes, items), probes)?.fpr(items)?.value)
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

    /// The mean share of hits over so many filters, and its standard error.
    fn simulated(&self, filters: u64) -> Cell<'static> {
        let (scheme, load, probes, items, queries) = (self.scheme, self.load, self.probes, self.items, self.queries());
        Cell {
            name: format!("kirsch-mitzenmacher-1 {scheme} c={load} n={items} filters={filters}"),
            // A query is refused after two positions or so.
            steps: filters as f64 * (items as f64 * f64::from(probes) + 2.0 * queries as f64),
            run: Box::new(move || {
                let mut trial = Trial::new(scheme, bits(scheme, load, probes, items), probes, 1);
                let shares: Vec<f64> = (0..filters).map(|_| trial.hits(items, queries) as f64 / queries as f64).collect();
                let (mean, error) = mean_and_error(&shares);
                Ok(vec![mean, error])
            }),
        }
    }

    /// The rate by its law.
    fn law(&self) -> Cell<'static> {
        let (scheme, load, probes, items) = (self.scheme, self.load, self.probes, self.items);
        Cell {
            name: format!("kirsch-mitzenmacher-1 {scheme} c={load} n={items} law"),
            steps: 3e7,
            run: Box::new(move || Ok(vec![exact(scheme, load, probes, items)?])),
        }
    }
}

/// How many filters gave 0, 1, .. 39 and at least 40 hits.
fn counts(scheme: SchemeId, filters: u64) -> Cell<'static> {
    Cell {
        name: format!("kirsch-mitzenmacher-2 {scheme} filters={filters}"),
        steps: filters as f64 * 31_000.0,
        run: Box::new(move || {
            let mut trial = Trial::new(scheme, bits(scheme, 8, 6, 5_000), 6, 2);
            let mut counts = vec![0.0; 41];
            (0..filters).for_each(|_| counts[trial.hits(5_000, QUERIES).min(40) as usize] += 1.0);
            Ok(counts)
        }),
    }
}

pub(super) fn cells(effort: &Effort) -> Vec<Cell<'static>> {
    let points = Setting::all().flat_map(|setting| [setting.simulated(effort.filters), setting.law()]);
    points.chain(COUNTED.map(|scheme| counts(scheme, effort.filters))).collect()
}

/// Figure 1: the rate of every scheme by simulation, with its standard error, and by its law. Figure 2: how often Q hits came up.
pub(super) fn figures(effort: &Effort, known: &Known) -> Result<Vec<Figure>> {
    let mut columns = vec!["c".to_owned(), "k".to_owned(), "n".to_owned(), "limit".to_owned()];
    for scheme in SCHEMES {
        columns.extend(["simulated", "error", "law"].map(|what| format!("{scheme} {what}")));
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for setting in Setting::all() {
        if setting.scheme == SCHEMES[0] {
            rows.push(vec![f64::from(setting.load), f64::from(setting.probes), setting.items as f64, setting.limit()]);
        }
        let values = [setting.simulated(effort.filters).value(known)?, setting.law().value(known)?].concat();
        if let Some(row) = rows.last_mut() {
            row.extend(values);
        }
    }
    let text = "rates of five schemes against n, simulated and by their laws";
    let first = Figure { name: "kirsch-mitzenmacher-figure-1", text, columns, rows };
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
        text: "filters by their hits among 464 queries (40 and more in one), n = 5000, c = 8, k = 6",
        columns,
        rows: (0..=40).map(row).collect(),
    })
}

fn mean_and_error(shares: &[f64]) -> (f64, f64) {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count.max(1.0);
    let squares = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>();
    (mean, libm::sqrt(squares / (count - 1.0).max(1.0) / count.max(1.0)))
}

/// Filters of one scheme, filled and asked with hashes of a frozen generator.
struct Trial {
    scheme: SchemeId,
    probes: u64,
    /// Of one slice, for the partition scheme.
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

    /// One trial: a filter of so many items, and the hits among so many fresh queries.
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
