//! The subcommands. Each file has the arguments of one subcommand, and a function `run` that
//! returns the exit code.

pub(crate) mod apply;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod clear;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod count;
pub(crate) mod create;
pub(crate) mod dedup;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod fpr;
pub(crate) mod info;
pub(crate) mod insert;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod plan;
mod plan_beyond;
mod plan_recycling;
pub(crate) mod reproduce;
mod reproduce_report;
pub(crate) mod simulate;
pub(crate) mod table;
pub(crate) mod verify;

use crate::failure::Failure;
use crate::report::{CONFIDENCE, Report, count, fpr as fpr_text, fpr_value, plural, rate_up, rate_value};
use serde_json::{Value, json};
use truebloom::{AnyFilter, Counted, ScalableFilter};
use truebloom_math::Growth;

/// For an intersection, the keys for which its rate holds: keys of only some of its filters can
/// pass more often. So can such keys in a union that contains an intersection.
pub(crate) fn for_others(filter: &AnyFilter<impl Counted>) -> &'static str {
    if filter.is_intersection() { ", for keys that were inserted into none of the filters that it was made from" } else { "" }
}

/// A text like `at least 128 distinct`: how many of all records certainly are `what`.
pub(crate) fn certainly(all: u64, certain: u64, what: &str) -> String {
    match certain {
        0 if all == 1 => format!("perhaps not {what}"),
        0 => format!("perhaps none of them {what}"),
        1 if all == 1 => what.to_owned(),
        _ if certain == all => format!("all {what}"),
        _ => format!("at least {} {what}", count(certain)),
    }
}

/// A text like `130 lines, at least 128 distinct (2 may be repeats)`.
pub(crate) fn distinct(offered: u64, changed: u64, noun: &str) -> String {
    if offered == 0 {
        return plural(0, noun);
    }
    let rest = offered.saturating_sub(changed);
    let why = match rest {
        0 => String::new(),
        1 => " (1 may be a repeat)".to_owned(),
        _ => format!(" ({} may be repeats)", count(rest)),
    };
    let offered_text = plural(offered, noun);
    match (offered, rest) {
        (1, 0) => offered_text,
        _ => format!("{offered_text}, {}{why}", certainly(offered, changed, "distinct")),
    }
}

/// A text that says what a filter holds: the number of keys that it was offered, or, after a merge,
/// the range of its number of distinct keys.
pub(crate) fn held(filter: &AnyFilter<impl Counted>) -> String {
    let (least, most) = (filter.changed(), filter.most_items());
    match (filter.is_merged(), least < most) {
        (false, _) => distinct(filter.offered(), least, "key"),
        (true, true) => format!("between {} and {} distinct keys", count(least), count(most)),
        (true, false) => plural(most, "distinct key"),
    }
}

/// Returns the smallest and the largest number of distinct items that are likely for this number of
/// set bits, within the bounds that are certain. Returns `None` if the number of insertions gives
/// closer bounds, or if no interval is known.
pub(crate) fn items_by_fill(filter: &AnyFilter<impl Counted>, least: u64, most: u64) -> Result<Option<(u64, u64)>, Failure> {
    if !filter.is_merged() && most < u64::MAX {
        return Ok(None);
    }
    let found = filter.items_interval(CONFIDENCE)?;
    Ok(found.and_then(|found| Some((found.lower.clamp(least, most), found.upper?.clamp(least, most)))))
}

/// The JSON form of the result of [`items_by_fill`].
pub(crate) fn by_fill_value((lower, upper): (u64, u64)) -> Value {
    json!({ "lower": lower, "upper": upper, "confidence": CONFIDENCE })
}

/// A text that says what a filter holds, from the result of [`items_by_fill`].
fn held_by_fill((lower, upper): (u64, u64)) -> String {
    let items = if lower < upper { format!("{} to {} distinct keys", count(lower), count(upper)) } else { plural(upper, "distinct key") };
    format!("{items} (99.9999% confidence)")
}

/// A text like `7 probes`. For a filter that grows, this is the number of probes in all layers,
/// although a look-up of a missing key usually examines only a few of them.
pub(crate) fn probes(filter: &AnyFilter<impl Counted>) -> String {
    let all = plural(filter.probes().into(), "probe");
    match filter {
        AnyFilter::Scalable(grown) if grown.layers().len() > 1 => {
            format!("{all} in all layers together; a look-up of a missing key needs only about two probes in each layer")
        }
        _ => all,
    }
}

/// Adds what is guaranteed for a filter that grows, and how much memory it may use.
pub(crate) fn add_growth(report: &mut Report, growth: &Growth) {
    report
        .field("confidence", 1.0)
        .field("guarantee", Value::Null)
        .field("grows", json!({ "first": growth.first(), "memory_ratio": growth.ratio() }))
        .line("guaranteed", format!("at most {} in this filter, for any number of items and every seed", growth.rate()))
        .line(
            "memory",
            format!(
                "with {1} or more items, at most about {0} times the memory of a filter planned for the actual number of items",
                growth.ratio(),
                count(growth.first())
            ),
        );
}

/// Adds the layers of a filter that grows: their number, and the keys and the rate of each.
pub(crate) fn add_layers<K: Counted>(report: &mut Report, filter: &ScalableFilter<K>) {
    let (bound, layers) = (filter.bound(), filter.layers());
    let each: Vec<Value> = layers
        .iter()
        .zip(filter.inserted().iter().zip(filter.layer_ones()))
        .map(|(layer, (inserted, ones))| json!({ "bits": layer.bits(), "probes": layer.probes(), "limit": layer.limit(), "inserted": inserted, "ones": ones }))
        .collect();
    report.field("layers", each).field("bound", fpr_value(&bound));
    let newest = filter.inserted().last().copied().unwrap_or(0);
    let holder = if layers.len() == 1 { ", with" } else { "; the newest has" };
    report.line("layers", format!("{}{holder} {}", count(layers.len() as u64), plural(newest, "key")));
    let asked = filter.growth().rate();
    let text = if filter.fill_tells_rate() && bound.upper <= asked.to_f64() {
        format!("the rate is at most {asked}, for any number of items and every seed")
    } else {
        format!(
            "with the present layers, the rate is at most {} for every seed (the sum of the bounds of all merged layers)",
            rate_up(bound.upper, 3)
        )
    };
    report.line("bound", text);
}

/// Adds the filter's current counts and rate to the report of a subcommand that has changed the
/// filter.
pub(crate) fn add_state(report: &mut Report, filter: &AnyFilter) -> Result<(), Failure> {
    let now = filter.fpr();
    report
        .field("offered", filter.offered())
        .field("changed", filter.changed())
        .field("merged", filter.is_merged())
        .field("capacity", filter.capacity())
        .field("asked", rate_value(filter.rate()))
        .field("ones", filter.ones())
        .field("fpr", fpr_value(&now))
        .field("over_capacity", filter.is_over_capacity());
    let planned = filter.capacity().map_or(String::new(), |items| format!("; planned for {}", count(items)));
    let by_fill = items_by_fill(filter, filter.changed(), filter.most_items())?.filter(|_| filter.is_merged());
    report.field("items_by_fill", by_fill.map(by_fill_value));
    report.line("holds", format!("{}{planned}", by_fill.map_or_else(|| held(filter), held_by_fill)));
    let asked = filter.rate().map_or(String::new(), |asked| format!("; {asked} was requested"));
    let now = if filter.fill_tells_rate() { fpr_text(&now, 4) } else { format!("at most {}", rate_up(now.upper, 3)) };
    report.line("rate", format!("{now} now{}{asked}", for_others(filter)));
    if let AnyFilter::Scalable(grown) = filter {
        add_layers(report, grown);
    }
    Ok(())
}
