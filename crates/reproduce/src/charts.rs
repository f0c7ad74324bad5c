//! The figures of the papers as charts, drawn from our numbers.

use crate::Figure;
use truebloom_plot::{Axis, Chart, Error, Mark, Series};

/// An axis for rates.
fn rate_axis() -> Axis {
    Axis::log("false-positive rate")
}

impl Figure {
    /// Returns the charts of the figure. For each chart, the result has a file name without an
    /// extension, and an SVG document. Most figures are one chart. Figure 1 of Kirsch and
    /// Mitzenmacher has one chart for each load, and figure 2 has one for each scheme. If the
    /// differences between curves would be invisible on an axis of many powers of ten, a second
    /// chart shows the ratios of the curves.
    ///
    /// # Errors
    /// Fails if the figure has no points. This cannot happen for the figures of
    /// [`crate::Paper::figures`].
    pub fn charts(&self) -> Result<Vec<(String, String)>, Error> {
        let again = match self.name {
            "grandi-1-s1" => Some(self.over_standard(10)),
            "grandi-1-s2" => Some(self.over_standard(20)),
            "dozier-3-two-included" => Some(self.over_formula_26()),
            "dozier-3-own" | "dozier-3-own-two" => Some(self.over_model()),
            "dozier-4" => Some(self.over_filter()),
            _ => None,
        };
        let chart = match self.name {
            "burns-table-1" => self.laws(),
            "burns-6" => self.rates("Burns, figure 6: false-positive rates of both filters"),
            "burns-7" => self.bounds(),
            "burns-8" => self.best_probes(),
            "burns-9" | "burns-10" => self.efficiencies(),
            "grandi-1-s1" | "grandi-1-s2" => self.approximations(),
            "lehr-sequence" => self.sequence(),
            "lehr-table" | "lehr-families" => self.families(),
            "kirsch-mitzenmacher-figure-1" => return self.loads(),
            "kirsch-mitzenmacher-figure-2" => return self.hits(),
            "dozier-4" => self.lower_bounds(),
            "dozier-5" | "dozier-6" => self.capacities(),
            "dozier-7" => self.phases(),
            _ => self.models(),
        };
        let mut charts = vec![(self.name.to_owned(), chart.svg()?)];
        if let Some(ratios) = again {
            charts.push((format!("{}-ratio", self.name), ratios.svg()?));
        }
        Ok(charts)
    }

    fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or(0)
    }

    fn pairs(&self, name: &str) -> Vec<(f64, f64)> {
        let column = self.column(name);
        self.rows.iter().map(|row| (row[0], row[column])).collect()
    }

    fn chart(&self, title: &str, x: Axis, y: Axis) -> Chart {
        Chart::new(title, x, y).note(self.text)
    }

    /// Table 1 of Burns as distributions of the number of set bits.
    fn laws(&self) -> Chart {
        let mean = |name: &str| self.pairs(name).iter().map(|(ones, p)| ones * p).sum::<f64>();
        let named = |words: &str, name: &str| format!("{words}, mean {:.2}", mean(name));
        self.chart(
            "Burns, table 1: set bits of classic and standard filters",
            Axis::linear("set bits").between(33.0, 61.0),
            Axis::linear("probability"),
        )
        .with(Series::bars(named("classic: 20 batches of 3 distinct bits", "classic"), self.pairs("classic")).coloured(1))
        .with(Series::line(named("standard: 60 independent probes", "standard"), self.pairs("standard")).coloured(0))
        .with(Series::points("", self.pairs("standard")).coloured(0).unnamed())
    }

    fn rates(&self, title: &str) -> Chart {
        self.chart(title, Axis::linear("probes per item"), rate_axis())
            .with(Series::line("classic (distinct bits)", self.pairs("classic")).coloured(1))
            .with(Series::dashed("standard (independent probes)", self.pairs("standard")).coloured(0))
    }

    fn bounds(&self) -> Chart {
        self.chart("Burns, figure 7: the rates of both filters, between their bounds", Axis::linear("probes"), rate_axis())
            .with(Series::line("U, upper bound", self.pairs("upper")).coloured(3))
            .with(Series::dashed("standard", self.pairs("standard")).coloured(0))
            .with(Series::line("M, power of the mean", self.pairs("middle")).coloured(4))
            .with(Series::dashed("classic", self.pairs("classic")).coloured(1))
            .with(Series::line("L, lower bound", self.pairs("lower")).coloured(2))
            .marked(Mark::upright(33.0, ""))
            .marked(Mark::upright(34.0, "best number of probes: 33 classic, 34 standard"))
    }

    fn best_probes(&self) -> Chart {
        self.chart("Burns, figure 8: the best number of probes, and an estimate of it", Axis::linear("items"), Axis::linear("probes"))
            .with(Series::line("estimate (m/n) ln 2", self.pairs("estimate")).coloured(4))
            .with(Series::points("standard", self.pairs("standard")).coloured(0))
            .with(Series::points("classic", self.pairs("classic")).coloured(1))
    }

    /// A chart of twenty curves, four of which have an entry in the legend.
    fn efficiencies(&self) -> Chart {
        let title = if self.name == "burns-9" {
            "Burns, figure 9: efficiency of a standard filter"
        } else {
            "Burns, figure 10: efficiency of a classic filter"
        };
        let curve = |probes: u32| {
            let series = Series::line(format!("{probes} probe{}", if probes > 1 { "s" } else { "" }), self.pairs(&format!("k{probes}")));
            let series = series.graded(f64::from(probes - 1) / 19.0);
            if [1, 5, 10, 20].contains(&probes) { series } else { series.unnamed() }
        };
        let chart = self
            .chart(title, Axis::linear("items"), Axis::linear("efficiency").between(0.0, 1.0))
            .with_all((1..=20).map(curve))
            .marked(Mark::level(std::f64::consts::LN_2, "ln 2"));
        match self.name {
            "burns-10" => chart.with(Series::dashed("50 probes (not in the paper's figure)", self.pairs("k50")).coloured(2)),
            _ => chart,
        }
    }

    fn approximations(&self) -> Chart {
        let items = if self.name == "grandi-1-s1" { 16 } else { 8 };
        let title = format!("Grandi, figure 1, {}: exact rates and approximations", if items == 16 { "S1" } else { "S2" });
        self.chart(&title, Axis::linear("probes"), rate_axis())
            .with(Series::line("C, classic", self.pairs("classic")).coloured(1))
            .with(Series::line("S, standard", self.pairs("standard")).coloured(0))
            .with(Series::points("A3, second order", self.pairs("a3")).coloured(0))
            .with(Series::dashed("A1, power of the mean", self.pairs("a1")).coloured(3))
            .with(Series::dashed("A2, textbook", self.pairs("a2")).coloured(2))
    }

    /// The curves of the figure, divided by the standard rate. The range is near the best number of
    /// probes, where the order of the curves is visible.
    fn over_standard(&self, most: u32) -> Chart {
        let setting = if self.name == "grandi-1-s1" { "S1" } else { "S2" };
        let standard = self.column("standard");
        let ratio = |name: &str| {
            let column = self.column(name);
            let rows = self.rows.iter().filter(|row| row[0] >= 2.0 && row[0] <= f64::from(most));
            rows.map(|row| (row[0], row[column] / row[standard])).collect::<Vec<_>>()
        };
        let best = self.rows.iter().min_by(|a, b| a[standard].total_cmp(&b[standard])).map_or(0.0, |row| row[0]);
        self.chart(
            &format!("Grandi, figure 1, {setting}: the curves, divided by the standard rate"),
            Axis::linear("probes"),
            Axis::linear("ratio to the rate S"),
        )
        .with(Series::line("C, classic", ratio("classic")).coloured(1))
        .with(Series::line("S, standard", ratio("standard")).coloured(0))
        .with(Series::points("A3, second order", ratio("a3")).coloured(0))
        .with(Series::dashed("A1, power of the mean", ratio("a1")).coloured(3))
        .with(Series::dashed("A2, textbook", ratio("a2")).coloured(2))
        .marked(Mark::upright(best, format!("best number of probes: {best}")))
    }

    fn sequence(&self) -> Chart {
        self.chart("Lehr: mean number of set bits after each throw", Axis::linear("throws"), Axis::linear("mean number of set bits"))
            .with(Series::line("exact: N (1 - (1 - 1/N)^throws)", self.pairs("exact")).coloured(0))
            .with(Series::dashed("approximation: N (1 - e^(-throws/N))", self.pairs("exponential")).coloured(1))
    }

    fn families(&self) -> Chart {
        let (title, y) = match self.name {
            "lehr-table" => ("Lehr: the design table, as curves for 4 to 24 bits per item", rate_axis()),
            _ => ("Lehr: families of filters with equal false-positive rates", Axis::linear("bits per item").between(0.0, 60.0)),
        };
        let names = &self.columns[1..];
        let curves = names.iter().enumerate().map(|(i, name)| {
            let label = if self.name == "lehr-table" { format!("{name} bits per item") } else { format!("rate {name}") };
            Series::line(label, self.pairs(name)).graded(i as f64 / (names.len() - 1).max(1) as f64)
        });
        self.chart(title, Axis::linear("probes"), y).with_all(curves)
    }

    /// Figure 1 of Kirsch and Mitzenmacher: a chart for each load.
    fn loads(&self) -> Result<Vec<(String, String)>, Error> {
        let mut loads: Vec<f64> = self.rows.iter().map(|row| row[0]).collect();
        loads.dedup();
        loads.iter().map(|&load| Ok((format!("kirsch-mitzenmacher-1-c{load}"), self.load(load).svg()?))).collect()
    }

    fn load(&self, load: f64) -> Chart {
        let rows: Vec<&Vec<f64>> = self.rows.iter().filter(|row| row[0] == load).collect();
        let (probes, limit) = rows.first().map_or((0.0, 0.0), |row| (row[1], row[3]));
        let mut chart = Chart::new(
            format!("Kirsch and Mitzenmacher, figure 1, c = {load}: rates of five schemes"),
            Axis::log("items"),
            // The range covers only the schemes, whereas the paper's axis begins at 0.
            Axis::log("false-positive rate"),
        )
        .note(format!(
            "{load} bits per item, {probes} probes; points: simulated rates, with 99% confidence intervals (hidden if narrower than the point); lines: exact or validated rates; wide bands: lower and upper bounds on \
             the other rates, proven or from a longer simulation; between the sizes, lines and bands are straight"
        ))
        .with(Series::dashed("limit for large filters", vec![(90.0, limit), (11_000.0, limit)]).coloured(5));
        let schemes = [
            ("standard", "standard"),
            ("partition-double", "partition scheme"),
            ("double", "double hashing"),
            ("square", "i squared"),
            ("cube", "i cubed"),
        ];
        for (number, (scheme, name)) in schemes.into_iter().enumerate() {
            let of = |what: &str| self.column(&format!("{scheme} {what}"));
            let (simulated, error, law, lower, upper) = (of("simulated"), of("error"), of("law"), of("lower"), of("upper"));
            let line = rows.iter().map(|row| (row[2], row[law])).collect();
            let is_sharp = |i: usize| rows.get(i).is_none_or(|row| row[law].is_finite());
            // The band reaches from the last size with an exact rate to the next one.
            let bracket = rows.iter().enumerate().map(|(i, row)| {
                let alone = is_sharp(i) && is_sharp(i + 1) && (i == 0 || is_sharp(i - 1));
                (row[2], if alone { f64::NAN } else { row[lower] }, row[upper])
            });
            let bracket: Vec<(f64, f64, f64)> = bracket.collect();
            let interval = rows.iter().flat_map(|row| {
                let half = 2.576 * row[error];
                let at = |x: f64| (x, row[simulated] - half, row[simulated] + half);
                [at(row[2] / 1.008), at(row[2] * 1.008), (f64::NAN, 0.0, 0.0)]
            });
            let interval: Vec<(f64, f64, f64)> = interval.collect();
            let points = rows.iter().map(|row| (row[2], row[simulated])).collect();
            if bracket.iter().any(|(_, low, _)| low.is_finite()) {
                chart = chart.with(Series::band("", bracket).coloured(number).unnamed());
            }
            chart = chart
                .with(Series::band("", interval).coloured(number).unnamed())
                .with(Series::line(name, line).coloured(number))
                .with(Series::points("", points).coloured(number).unnamed());
        }
        chart
    }

    /// Figure 2 of Kirsch and Mitzenmacher: a chart for each scheme.
    fn hits(&self) -> Result<Vec<(String, String)>, Error> {
        let filters: f64 = self.rows.iter().map(|row| row[3]).sum();
        let chart = |(scheme, name): (&str, &str)| {
            let chart = Chart::new(
                format!("Kirsch and Mitzenmacher, figure 2: hits with {name}"),
                Axis::linear("hits (false positives) among 464 queries; the last bar: 40 or more"),
                Axis::linear("number of filters"),
            )
            .note(format!(
                "n = 5,000, c = 8, k = 6, {} filters; curves: the expected numbers of filters if each query has the limit of the rate, independently",
                grouped(filters)
            ))
            .with(Series::bars("simulated", self.pairs(scheme)).coloured(0))
            .with(Series::line("normal, as in the paper", self.pairs("normal")).coloured(1))
            .with(Series::points("binomial", self.pairs("binomial")).coloured(2));
            Ok((format!("kirsch-mitzenmacher-2-{scheme}"), chart.sized(720, 340).svg()?))
        };
        let schemes = [
            ("partition-double", "the partition scheme"),
            ("double", "double hashing"),
            ("square", "double hashing and i squared"),
            ("cube", "double hashing and i cubed"),
        ];
        schemes.into_iter().map(chart).collect()
    }

    /// The points for one number of probes: the horizontal value, and the named column.
    fn of_probes(&self, probes: f64, name: &str) -> Vec<(f64, f64)> {
        let column = self.column(name);
        self.rows.iter().filter(|row| row[0] == probes).map(|row| (row[1], row[column])).collect()
    }

    fn interval(&self, probes: f64) -> Vec<(f64, f64, f64)> {
        let (low, high) = (self.of_probes(probes, "lower"), self.of_probes(probes, "upper"));
        // A lower bound of 0 has no logarithm, so the band begins far below the chart.
        low.into_iter().zip(high).map(|((x, low), (_, high))| (x, low.max(FLOOR), high)).collect()
    }

    /// Figure 3 of Dozier et al.: the model, and the filter with its band.
    fn models(&self) -> Chart {
        let title = match self.name {
            "dozier-3-one" => "Dozier et al., figure 3: one phase, the model and a simulated filter",
            "dozier-3-two-excluded" => "Dozier et al., figure 3: two phases, trigger removed from the frozen filter",
            "dozier-3-two-included" => "Dozier et al., figure 3: two phases, trigger kept in the frozen filter",
            "dozier-3-own-two" => "Dozier et al., figure 3, two phases, as the paper simulated it",
            _ => "Dozier et al., figure 3, one phase, as the paper simulated it",
        };
        let mut chart =
            self.chart(title, Axis::linear("sigma: the filter is emptied when more bits are set"), rate_axis().between(FLOOR, 1.0));
        for (number, probes) in PROBES.into_iter().enumerate() {
            chart = chart
                .with(Series::band("", self.interval(probes)).coloured(number).unnamed())
                .with(Series::line(format!("model, {probes} probes"), self.of_probes(probes, "model")).coloured(number))
                .with(Series::points(format!("filter, {probes} probes"), self.of_probes(probes, "simulated")).coloured(number));
        }
        chart
    }

    /// The rate of two phases that keep the trigger, divided by (26), which removes the trigger.
    fn over_formula_26(&self) -> Chart {
        let chart = self.over(
            "formula 26",
            "Dozier et al., figure 3: a filter that inserts first, divided by (26)",
            "two phases of 500 bits; the bits of the trigger (the item that ends a phase) stay in the frozen filter; lines: the model with these bits",
            (0.9, 2.3),
        );
        chart.marked(Mark::level(1.0, "formula (26)"))
    }

    /// The paper's own experiment, divided by its model.
    fn over_model(&self) -> Chart {
        let (title, note) = match self.name {
            "dozier-3-own-two" => (
                "Dozier et al., figure 3, two phases: the paper's simulation, divided by (26)",
                "one set of 1,000 messages, 10 epochs of 100,000 arrivals",
            ),
            _ => (
                "Dozier et al., figure 3, one phase: the paper's simulation, divided by its model",
                "one set of 1,000 messages, 7 epochs of 100,000 arrivals",
            ),
        };
        self.over("model", title, note, (0.8, 1.3)).marked(Mark::level(1.0, "the model"))
    }

    /// Points and bands of figure 3, divided by a column. Points that
    /// would show little except noise are left out.
    fn over(&self, base: &str, title: &str, note: &str, (low, high): (f64, f64)) -> Chart {
        let mut chart = Chart::new(title, Axis::linear("sigma: the filter is emptied when more bits are set"), Axis::linear("ratio of the rates").between(low, high))
            .note(format!(
                "{note}; bands: the 99% confidence interval of the simulated filter; points with an interval wider than an eighth of its upper end are left out"
            ));
        for (number, probes) in PROBES.into_iter().enumerate() {
            let by = self.of_probes(probes, base);
            let over =
                |name: &str| self.of_probes(probes, name).into_iter().zip(&by).map(|((x, rate), by)| (x, rate / by.1)).collect::<Vec<_>>();
            let (low, high) = (over("lower"), over("upper"));
            let is_narrow: Vec<bool> = low.iter().zip(&high).map(|(low, high)| high.1 - low.1 < high.1 / 8.0).collect();
            let band =
                low.iter().zip(&high).zip(&is_narrow).map(|((low, high), narrow)| (low.0, if *narrow { low.1 } else { f64::NAN }, high.1));
            let points = over("simulated").into_iter().zip(&is_narrow).filter_map(|(point, narrow)| narrow.then_some(point));
            chart = chart.with(Series::band("", band.collect()).coloured(number).unnamed());
            if base != "model" {
                chart = chart.with(Series::line(format!("model, {probes} probes"), over("model")).coloured(number));
            }
            chart = chart.with(Series::points(format!("filter, {probes} probes"), points.collect()).coloured(number));
        }
        chart
    }

    /// Figure 4: the lower bounds, the rate by the Markov chain, and the simulated filter.
    fn lower_bounds(&self) -> Chart {
        self.bounds_by(
            "Dozier et al., figure 4: f_o and f_a below the rate of a filter that counts items",
            rate_axis().between(1e-5, 1.0),
            &|_, rate| rate,
        )
    }

    /// The curves of the figure, divided by the filter's rate according to the chain. The ratios
    /// show how close the curves are.
    fn over_filter(&self) -> Chart {
        let exact = self.column("f_a exact");
        self.bounds_by(
            "Dozier et al., figure 4: f_o and f_a, divided by the filter's rate",
            Axis::linear("ratio to the filter's exact rate").between(0.5, 1.3),
            &|row, rate| rate / row[exact],
        )
    }

    fn bounds_by(&self, title: &str, ordinate: Axis, value: &dyn Fn(&[f64], f64) -> f64) -> Chart {
        let mut chart = self.chart(title, Axis::linear("N: the filter is emptied after N items that set a new bit"), ordinate);
        let of = |probes: f64, name: &str| {
            let column = self.column(name);
            self.rows.iter().filter(move |row| row[0] == probes).map(|row| (row[1], value(row, row[column]))).collect::<Vec<_>>()
        };
        for (number, probes) in PROBES.into_iter().enumerate() {
            let (low, high) = (of(probes, "lower"), of(probes, "upper"));
            let band = low.into_iter().zip(high).map(|((x, low), (_, high))| (x, low, high)).collect();
            chart = chart
                .with(Series::band("", band).coloured(number).unnamed())
                .with(Series::line(format!("f_a, {probes} probes"), of(probes, "f_a printed")).coloured(number))
                .with(Series::dashed(format!("f_o, {probes} probes"), of(probes, "f_o printed")).coloured(number))
                .with(Series::points(format!("filter, {probes} probes"), of(probes, "simulated")).coloured(number));
        }
        chart
    }

    /// Figures 5 and 6: capacities, divided by that of the sigma-bounded model.
    fn capacities(&self) -> Chart {
        let (title, x) = match self.name {
            "dozier-5" => ("Dozier et al., figure 5: capacity at a false-positive rate of 0.01", Axis::log("bits")),
            _ => ("Dozier et al., figure 6: capacity of a filter of 100,000 bits", Axis::log("requested false-positive rate")),
        };
        self.chart(title, x, Axis::linear("ratio of the items").between(0.0, 1.1))
            .with(Series::line("planned by f_w, the highest rate of a cycle", self.pairs("f_w ratio")).coloured(1))
            .with(Series::points("", self.pairs("f_w ratio")).coloured(1).unnamed())
            .with(Series::dashed("planned by f_a, an average rate, as printed", self.pairs("f_a ratio")).coloured(0))
            .with(Series::points("", self.pairs("f_a ratio")).coloured(0).unnamed())
            .marked(Mark::level(0.7, "30% fewer items"))
    }

    /// Figure 7: the items of one phase divided by those of two phases.
    fn phases(&self) -> Chart {
        let mut chart = self.chart(
            "Dozier et al., figure 7: items of one phase, divided by those of each of two phases",
            Axis::log("requested false-positive rate"),
            Axis::linear("ratio of the items"),
        );
        for (number, (bits, name)) in [(1e3, "1,000 bits"), (1e4, "10,000 bits"), (1e5, "100,000 bits")].into_iter().enumerate() {
            let of = |column: &str| {
                let column = self.column(column);
                self.rows.iter().filter(|row| row[0] == bits).map(|row| (row[1], row[column])).collect::<Vec<_>>()
            };
            chart = chart
                .with(Series::line(format!("{name}, trigger kept"), of("trigger included")).coloured(number))
                .with(Series::dashed(format!("{name}, trigger removed"), of("trigger excluded")).coloured(number));
        }
        chart.marked(Mark::level(2.0, "both phases together hold as much as one"))
    }
}

/// The numbers of probes in the figures of Dozier et al.
const PROBES: [f64; 3] = [3.0, 5.0, 7.0];

/// Writes a whole number in groups of three digits.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// The smallest rate that is drawn. Lower rates are too small to measure in these simulations.
const FLOOR: f64 = 1e-6;
