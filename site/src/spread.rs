//! How the rates of single filters vary around the average.

use crate::drawn;
use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::size::plan;
use crate::words::{Table, one_in, share};
use truebloom_math::{Error, Plan, Variant, rate_quantile_bound};
use truebloom_plot::{Axis, Chart, Mark, Series};
use truebloom_report::charts;
use truebloom_report::show::{plural, rate as number};

/// The quantiles that the answer lists: shares of filters.
const LEVELS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let plan = match plan(question) {
        Ok((_, plan)) => plan,
        Err(refusal) => return refusal,
    };
    let (table, facts) = match quantiles(&plan) {
        Ok(found) => found,
        Err(error) => return object! { "problem": sentence(&error.to_string()) },
    };
    // The exact distribution of the set bits if it can be summed quickly, and otherwise bounds,
    // which are proven at any size.
    let is_small = plan.items.saturating_mul(plan.probes.into()).min(plan.bits) <= 60_000;
    let chart = if is_small { charts::spread(Variant::Standard, plan.bits, plan.items, plan.probes) } else { bounds(&plan) };
    let chart = drawn(chart, question);
    object! { "tables": vec![Json::from(table)], "chart": chart, "facts": facts }
}

/// The chart of the proven shares of filters that meet a rate. Rates are in percent if they are
/// large enough.
fn bounds(plan: &Plan) -> Result<Chart, Error> {
    let (scale, unit) = if plan.fpr.value >= crate::words::LEAST_PERCENT { (100.0, ", %") } else { (1.0, "") };
    let mut points: Vec<(f64, f64)> = Vec::new();
    for step in 1..=50u32 {
        // The points are denser at both ends, from 0.1% to 99.9%.
        let level = (1.0 - (std::f64::consts::PI * f64::from(step) / 51.0).cos()) / 2.0;
        let rate = scale * rate_quantile_bound(Variant::Standard, plan.bits, plan.items, plan.probes, level)?.fpr.upper;
        if points.last().is_none_or(|last| rate > last.0) {
            points.push((rate, 100.0 * level));
        }
    }
    let keep = |rate: f64, level: f64| format!("{}%: at most {}", number(100.0 * level, 4), share(rate, 5));
    let mut chart = Chart::new(
        "How the rate of one filter depends on its seed",
        Axis::linear(format!("rate of one filter{unit}")),
        Axis::linear("filters with at most this rate, %").between(0.0, 100.0),
    )
    .with(Series::line("at least this share of filters", points).coloured(0))
    .marked(Mark::upright(scale * plan.fpr.value, format!("average {}", share(plan.fpr.value, 5))));
    if let Some(guarantee) = &plan.guarantee {
        let rate = guarantee.fpr.upper;
        chart = chart.marked(Mark::upright(scale * rate, keep(rate, guarantee.confidence)));
    }
    Ok(chart.note(format!("{}, {}, {}", plural(plan.bits, "bit"), plural(plan.probes.into(), "probe"), plural(plan.items, "item"))))
}

fn quantiles(plan: &Plan) -> Result<(Table, Json), Error> {
    let mut table = Table::new("What rate filters of this size keep", &["Share of filters", "#Keep at most", "That is"]);
    let mut values = Vec::new();
    for level in LEVELS {
        let upper = rate_quantile_bound(Variant::Standard, plan.bits, plan.items, plan.probes, level)?.fpr.upper;
        table.row([format!("{}%", number(100.0 * level, 4)), share(upper, 5), one_in(upper)]);
        values.push(upper);
    }
    Ok((table, object! { "keep_at_most": values }))
}
