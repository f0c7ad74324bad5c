//! Charts that show the rates behind an answer.

use crate::scatter::Scatter;
use crate::show::{count, fpr, plural, significant};
use truebloom_math::{Approximation, Fpr, Law, Method, Plan, Result, Variant, rate_quantile_bound};
use truebloom_plot::{Axis, Chart, Mark, Series};

/// The numbers of items at which the rate of a filter is shown, as multiples of the planned number;
/// they are the same as in the report.
const LOADS: [f64; 5] = [1.0, 1.05, 1.2, 1.5, 2.0];

/// The label of axes that show rates.
pub const RATE: &str = "false-positive rate";

fn items_at(planned: u64, share: f64) -> u64 {
    ((planned as f64 * share).round() as u64).max(1)
}

/// Multiples of the planned number of items, from a quarter to twice the plan.
fn shares(points: u32) -> impl Iterator<Item = f64> {
    (0..=points).map(move |i| 0.25 + 1.75 * f64::from(i) / f64::from(points))
}

/// Returns the points of a curve; the curve ends before the first point whose computation would
/// take too long.
fn curve(xs: impl Iterator<Item = f64>, rate: impl Fn(f64) -> Result<Fpr>) -> Vec<(f64, f64)> {
    rates(xs, rate).into_iter().map(|(x, rate)| (x, rate.value)).collect()
}

fn rates(xs: impl Iterator<Item = f64>, rate: impl Fn(f64) -> Result<Fpr>) -> Vec<(f64, Fpr)> {
    xs.map_while(|x| Some((x, rate(x).ok()?))).collect()
}

/// Returns a line for the points whose rates are exact or validated, and a band for the points
/// where only bounds are known. The band begins and ends at the nearest points of the line.
fn line_and_band(name: &str, rates: &[(f64, Fpr)]) -> Vec<Series> {
    let is_sharp = |i: usize| rates.get(i).is_none_or(|(_, rate)| matches!(rate.method, Method::Exact | Method::Validated));
    let line = rates.iter().enumerate().map(|(i, (x, rate))| (*x, if is_sharp(i) { rate.value } else { f64::NAN })).collect();
    let band = rates.iter().enumerate().map(|(i, (x, rate))| {
        let alone = is_sharp(i) && is_sharp(i + 1) && (i == 0 || is_sharp(i - 1));
        // A lower bound of 0 cannot be shown on a logarithmic axis.
        (*x, if alone { f64::NAN } else { rate.lower.max(rate.upper * 1e-6) }, rate.upper)
    });
    let mut series = Vec::new();
    if !(0..rates.len()).all(is_sharp) {
        series.push(Series::band(format!("{name}, between proven bounds"), band.collect()).coloured(0));
    }
    if (0..rates.len()).any(is_sharp) {
        series.push(Series::line(format!("{name}, exact"), line).coloured(0));
    }
    series
}

/// Draws the chart of a plan. A curve shows the rate for each number of items, up to twice the
/// planned number. For standard, classic and partitioned filters without blocks, a band shows the
/// rates of 98% of all filters.
///
/// # Errors
/// Fails if the rate cannot be computed.
pub fn plan(plan: &Plan) -> Result<Chart> {
    let law = plan.law()?;
    let planned = plan.items;
    let rate = |share: f64| law.fpr(items_at(planned, share));
    let at = |share: f64| items_at(planned, share) as f64;
    let line: Vec<(f64, f64)> = curve(shares(76), rate).into_iter().map(|(share, rate)| (at(share), rate)).collect();
    let points = curve(LOADS.into_iter(), rate).into_iter().map(|(share, rate)| (at(share), rate)).collect();
    let note = format!(
        "{} scheme, {}, {}, planned for {}",
        plan.scheme,
        plural(plan.bits, "bit"),
        plural(plan.probes.into(), "probe"),
        plural(planned, "item")
    );
    let mut chart =
        Chart::new("The rate of this filter by number of items", Axis::linear("items in the filter"), Axis::log(RATE)).note(note);
    let variant = plan.scheme.variant().filter(|_| plan.layout() == truebloom_math::Layout::Spread);
    if let Some(variant) = variant {
        chart = chart.with(Series::band("rates of 98% of filters", scatter(plan, variant)).coloured(0));
    }
    chart = chart
        .with(Series::line("average over filters", line).coloured(0))
        .with(Series::points("at 1, 1.05, 1.2, 1.5 and 2 times the plan", points).coloured(1));
    if let Some(asked) = plan.rate {
        chart = chart.marked(Mark::level(asked.to_f64(), format!("asked: {asked}")));
    }
    Ok(chart.marked(Mark::upright(planned as f64, format!("planned: {}", count(planned)))))
}

/// For each number of items, the range of rates that contains 98% of the filters.
fn scatter(plan: &Plan, variant: Variant) -> Vec<(f64, f64, f64)> {
    let at = |share: f64| {
        let items = items_at(plan.items, share);
        let level = |level| Some(rate_quantile_bound(variant, plan.bits, items, plan.probes, level).ok()?.fpr);
        // Both edges are rounded outwards: the value is the upper bound of a quantile.
        Some((items as f64, level(0.01)?.lower, level(0.99)?.value))
    };
    shares(19).map_while(at).collect()
}

/// Draws a chart of the rate for different numbers of probes, with given numbers of bits and items.
///
/// # Errors
/// Fails if the rate cannot be computed.
pub fn by_probes(
    (name, points): (&str, u32),
    bits: u64,
    items: u64,
    given: u32,
    law: impl Fn(u32) -> Result<Box<dyn Law>>,
) -> Result<Chart> {
    let best = (bits as f64 / items.max(1) as f64 * std::f64::consts::LN_2).max(1.0);
    let most = (2.5 * best).max(2.0 * f64::from(given)).clamp(8.0, 120.0) as u32;
    let step = most.div_ceil(points).max(1);
    let probes = || (1..=most).step_by(step as usize).chain((most >= given).then_some(given));
    let mut probes: Vec<u32> = probes().collect();
    probes.sort_unstable();
    probes.dedup();
    let xs = || probes.iter().map(|&probes| f64::from(probes));
    let rates = rates(xs(), |probes| law(probes as u32)?.fpr(items));
    let textbook = xs().filter_map(|probes| Some((probes, Approximation::Knuth.value(bits, items, probes as u32).ok()?))).collect();
    let note = format!("{}, {}", plural(bits, "bit"), plural(items, "item"));
    let chart = Chart::new("Rate by probes", Axis::linear("probes per item"), Axis::log(RATE)).note(note);
    Ok(chart
        // The textbook curve is drawn over the exact line, from which it hardly differs for large
        // filters.
        .with_all(line_and_band(name, &rates))
        .with(Series::dashed("textbook", textbook).coloured(1))
        .marked(Mark::upright(f64::from(given), format!("given: {given}"))))
}

/// Draws a chart of a table, with one curve for each column.
#[must_use]
pub fn table(title: &str, note: String, ordinate: Axis, columns: &[(String, Vec<(f64, f64)>)]) -> Chart {
    let last = columns.len().saturating_sub(1).max(1) as f64;
    let curves = columns.iter().enumerate().map(|(i, (name, points))| Series::line(name.clone(), points.clone()).graded(i as f64 / last));
    Chart::new(title, Axis::linear("probes per item"), ordinate).note(note).with_all(curves)
}

/// Draws a chart that shows how the rate of one filter varies with its seed. For each rate, the
/// chart shows the share of filters whose own rate is at most this rate.
///
/// # Errors
/// Fails if the rate cannot be computed.
pub fn spread(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<Chart> {
    let scatter = Scatter::new(variant, bits, items, probes)?;
    let occupancy = &scatter.fill;
    let law = variant.law(bits, probes)?;
    let (mean, deviation) = (occupancy.mean()?, occupancy.variance()?.sqrt().max(0.5));
    let mut points: Vec<(f64, f64, f64)> = Vec::new();
    for step in -44i32..=44 {
        let ones = (mean + deviation * f64::from(step) / 11.0).round().clamp(1.0, bits as f64) as u64;
        let (Some(rate), share) = (law.fpr_at_fill(&[ones])?, occupancy.cdf(ones)?) else { continue };
        if points.last().is_none_or(|last| rate.value > last.0) {
            points.push((rate.value, 100.0 * share.lower, 100.0 * share.upper));
        }
    }
    let expected = variant.fpr(bits, items, probes)?;
    let note = format!("{variant}, {}, {}, {}", plural(bits, "bit"), plural(probes.into(), "probe"), plural(items, "item"));
    let middle = points.iter().map(|&(rate, low, high)| (rate, f64::midpoint(low, high))).collect();
    let wide = points.iter().any(|(_, low, high)| high - low > 0.5);
    let mut chart = Chart::new(
        "How the rate of one filter depends on its seed",
        Axis::log("rate of one filter"),
        Axis::linear("filters with at most this rate, %").between(0.0, 100.0),
    )
    .note(note);
    if wide {
        chart = chart.with(Series::band("proven bounds", points).coloured(0));
    }
    chart = chart.with(Series::line("share of filters with at most this rate", middle).coloured(0));
    chart = chart.marked(Mark::upright(expected.value, format!("average {}", fpr(&expected, 4))));
    if let Ok(rate) = scatter.quantile(0.999).and_then(|fill| scatter.rate(0.999, &fill)) {
        chart = chart.marked(Mark::upright(rate.value, format!("99.9%: at most {}", fpr(&rate, 4))));
    }
    Ok(chart)
}

/// One row in a chart of libraries: the name and the rates of one library.
pub struct Given {
    /// The library's name.
    pub library: String,
    /// The rate that the library's filter would have with independent positions.
    pub ideal: f64,
    /// The real rate, and the lower and the upper end of its interval.
    pub rate: (f64, f64, f64),
}

/// Draws a chart with one row for each library. The row shows the rates of the library, and a line
/// shows the requested rate. `refused` lists the libraries that do not support these parameters.
#[must_use]
pub fn libraries(given: &[Given], refused: &[&str], items: u64, asked: Option<f64>) -> Chart {
    let place = |i: usize| (given.len() - 1 - i) as f64;
    let names = given.iter().rev().map(|given| given.library.clone()).collect();
    let points = |rate: &dyn Fn(&Given) -> f64| given.iter().enumerate().map(|(i, given)| (rate(given), place(i))).collect::<Vec<_>>();
    let interval = |(i, given): (usize, &Given)| {
        let ((_, low, high), y) = (given.rate, place(i));
        [(low, y - 0.12, y + 0.12), (high, y - 0.12, y + 0.12), (f64::NAN, y, y)]
    };
    let intervals = given.iter().enumerate().flat_map(interval).collect();
    let height = 150 + 24 * given.len() as u32;
    let missing =
        if refused.is_empty() { String::new() } else { format!("; not drawn, because they refuse these numbers: {}", refused.join(", ")) };
    // The range covers only the rates. With few or no hits, an interval reaches down to the floor
    // of equal hashes.
    let rates = given.iter().flat_map(|given| [given.ideal, given.rate.0]).chain(asked).filter(|rate| *rate > 0.0);
    let (low, high) = rates.fold((f64::INFINITY, 0.0f64), |(low, high), rate| (low.min(rate), high.max(rate)));
    let chart = Chart::new(
        "The rates that libraries really give",
        Axis::log(RATE).between((low / 2.0).max(asked.unwrap_or(0.0) * 1e-4), (2.0 * high).min(1.0)),
        Axis::named("", names),
    )
    .note(format!("filters for {}; each rate is computed by a formula, or simulated (with a 99% interval){missing}", plural(items, "item")))
    .sized(720, height)
    .with(Series::band("99% interval or bracket", intervals).coloured(0))
    .with(Series::points("if positions were independent", points(&|given| given.ideal)).coloured(5))
    .with(Series::points("real rate", points(&|given| given.rate.0)).coloured(1));
    match asked {
        Some(asked) => chart.marked(Mark::upright(asked, format!("asked: {}", significant(asked, 4)))),
        None => chart,
    }
}

/// Draws a chart of the rate of one library's filter for different numbers of items. For
/// comparison, a second curve shows the rate with independent positions.
#[must_use]
pub fn library(
    title: &str,
    items: u64,
    asked: Option<f64>,
    rate: impl Fn(u64) -> Option<f64>,
    ideal: impl Fn(u64) -> Option<f64>,
    now: (f64, f64, f64),
) -> Chart {
    let of = |rate: &dyn Fn(u64) -> Option<f64>| -> Vec<(f64, f64)> {
        shares(38).map_while(|share| Some((items_at(items, share) as f64, rate(items_at(items, share))?))).collect()
    };
    let (line, ideal) = (of(&rate), of(&ideal));
    // With few hits, the interval may reach down to the floor of equal hashes, far below the rates
    // of interest.
    let lowest = asked.unwrap_or(now.0) * 1e-4;
    let ordinate = Axis::log(RATE).between(lowest.max(f64::MIN_POSITIVE), 1.0);
    let mut chart = Chart::new(format!("The rate that {title} really gives"), Axis::linear("items in the filter"), ordinate)
        .with(Series::dashed("if positions were independent", ideal).coloured(5));
    if line.is_empty() {
        let (value, low, high) = now;
        let x = items as f64;
        chart = chart
            .with(Series::band("99% interval", vec![(x * 0.985, low, high), (x * 1.015, low, high)]).coloured(1))
            .with(Series::points("real rate, simulated", vec![(x, value)]).coloured(1));
    } else {
        chart = chart.with(Series::line("real rate, computed", line).coloured(1));
    }
    if let Some(asked) = asked {
        chart = chart.marked(Mark::level(asked, format!("asked: {}", significant(asked, 4))));
    }
    chart.marked(Mark::upright(items as f64, format!("given: {}", plural(items, "item"))))
}
