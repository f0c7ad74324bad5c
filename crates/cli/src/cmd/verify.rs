//! `truebloom verify`: measures the rate of a filter, and compares it with the requested rate and
//! the proven bounds.

use crate::args::count as parse_count;
use crate::cmd::add_layers;
use crate::cmd::info::add_place;
use crate::failure::Failure;
use crate::held::{self, Looked};
use crate::progress::Progress;
use crate::report::{
    FormatArgs, Report, count, fpr as fpr_text, fpr_value, plural, proven, rate, rate_down, rate_up, rate_value, significant,
};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use truebloom::verify::{ALPHA, CONFIDENCE, ExpectedVerdict, Measurement, Verification};
use truebloom::{AnyFilter, Seed};

const EXAMPLES: &str = "\
Examples:
  truebloom verify seen.tbl
  truebloom verify --time 60 seen.tbl             measure longer
  truebloom verify --queries 100M --query-seed 1 seen.tbl

Exit code: 0 if nothing contradicts the guarantee, 1 if something does, 2 after an error.";

/// Measure the rate of a filter, and compare it with the requested rate and the proven bounds
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to verify
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Duration of the measurement: 30s, 10min, or a number of seconds. Not with --queries
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    time: Duration,

    /// Measure with this many random keys, however long it takes
    #[arg(long, value_name = "N", value_parser = queries, conflicts_with = "time", allow_hyphen_values = true)]
    queries: Option<u64>,

    /// Seed of the random keys, to repeat a measurement; random by default
    #[arg(long, value_name = "HEX", value_parser = query_seed)]
    query_seed: Option<u64>,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    format: FormatArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = crate::args::seconds(text)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if (0.0..=1e6).contains(&seconds) => Ok(time),
        _ => Err(format!("`{text}` is too long; give at most a million seconds")),
    }
}

fn queries(text: &str) -> Result<u64, String> {
    parse_count(text).and_then(|queries| if queries > 0 { Ok(queries) } else { Err("at least one key must be queried".to_owned()) })
}

fn query_seed(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| format!("`{text}` is not a seed of up to 16 hexadecimal digits"))
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let filter = held::look(&args.filter)?;
    let verification = filter.verification()?;
    let seed = match args.query_seed {
        Some(seed) => seed,
        None => u128::from(Seed::random().map_err(Failure::new)?) as u64,
    };
    let mut measurement = filter.measurement(seed);
    measure(&mut measurement, args);
    let holds = verification.holds() && measurement.holds();
    report(&filter, &verification, &measurement, seed, holds)?.print_as(args.format.format())?;
    Ok(ExitCode::from(u8::from(!holds)))
}

fn measure(measurement: &mut Measurement<'_>, args: &Args) {
    /// The number of keys that are queried between two checks of the time.
    const BATCH: u64 = 1 << 16;
    let mut progress = if args.no_progress { Progress::none() } else { Progress::new("random keys", args.queries) };
    let start = Instant::now();
    let left = |done: u64| match args.queries {
        Some(queries) => (queries - done).min(BATCH),
        None if done == 0 || start.elapsed() < args.time => BATCH,
        None => 0,
    };
    let mut batch = left(0);
    while batch > 0 {
        measurement.query(batch);
        progress.add(batch);
        batch = left(measurement.queries());
    }
}

fn report(filter: &Looked, verification: &Verification, measurement: &Measurement<'_>, seed: u64, holds: bool) -> Result<Report, Failure> {
    let mut report = Report::new("verify");
    add_asked(&mut report, filter);
    add_expected(&mut report, filter, verification);
    add_this_filter(&mut report, filter, verification)?;
    if let AnyFilter::Scalable(grown) = filter {
        add_layers(&mut report, grown);
    }
    add_place(&mut report, filter);
    add_measured(&mut report, measurement, seed);
    add_power(&mut report, filter.bits(), verification, measurement);
    report.field("alpha", ALPHA).field("holds", holds);
    report.line("verdict", verdict(filter, verification, measurement, holds));
    Ok(report)
}

fn add_asked(report: &mut Report, filter: &Looked) {
    report.field("asked", rate_value(filter.rate())).field("capacity", filter.capacity());
    let text = match (filter.rate(), filter.capacity()) {
        (Some(rate), Some(items)) => format!("{rate} for {}", plural(items, "item")),
        (Some(rate), None) if matches!(filter, AnyFilter::Scalable(_)) => format!("{rate} for any number of items"),
        (Some(rate), None) => rate.to_string(),
        (None, _) => "nothing: the filter was made without a rate".to_owned(),
    };
    report.line("requested", text);
}

fn add_expected(report: &mut Report, filter: &Looked, verification: &Verification) {
    let (low, high) = verification.items();
    let expected = verification.expected();
    let word = expected_word(verification.expected_verdict());
    report.field("items", json!([low, high])).field("expected", fpr_value(&expected)).field("expected_verdict", word);
    let items = if low == high { count(high) } else { format!("{} to {}", count(low), count(high)) };
    let met = filter.rate().filter(|_| verification.expected_verdict() == ExpectedVerdict::Met);
    let of = match filter {
        AnyFilter::Scalable(_) => format!("with the current layers ({items} items)"),
        _ => format!("with {items} item{}", if high == 1 { "" } else { "s" }),
    };
    report.line("proven", format!("the rate is at most {} on average over all seeds, {of}", proven(&expected, met)));
}

fn expected_word(verdict: ExpectedVerdict) -> &'static str {
    match verdict {
        ExpectedVerdict::Met => "met",
        ExpectedVerdict::Undetermined => "undetermined",
        ExpectedVerdict::Exceeded => "exceeded",
        ExpectedVerdict::NothingAsked => "nothing asked",
        _ => "unknown",
    }
}

fn add_this_filter(report: &mut Report, filter: &Looked, verification: &Verification) -> Result<(), Failure> {
    let now = filter.fpr();
    let fill = verification.fill();
    report
        .field("bits", filter.bits())
        .field("ones", fill.ones)
        .field("fpr", fpr_value(&now))
        .field("fill", json!({"too_few": fill.too_few, "too_many": fill.too_many, "tested": fill.tested, "holds": fill.holds()}));
    let is_determined = filter.fill_tells_rate();
    let bounded = !is_determined || matches!(filter, AnyFilter::Blocked(_));
    let law = match (fill.tested, fill.holds()) {
        (false, _) if filter.is_intersection() => "; an intersection has no predicted number of set bits",
        (false, _) if matches!(filter, AnyFilter::Scalable(_)) && !is_determined => {
            "; whether this number of set bits is plausible is unknown, because merged layers may share keys"
        }
        (false, _) if filter.is_merged() => "; a merged filter has no predicted number of set bits",
        (false, _) => "; this number of set bits cannot be tested",
        (true, true) if bounded => ", within the predicted bounds",
        (true, true) => ", as predicted",
        (true, false) => ", NOT as predicted",
    };
    let rate = if is_determined { fpr_text(&now, 6) } else { format!("at most {}", rate_up(now.upper, 3)) };
    let scheme = match filter {
        AnyFilter::Scalable(_) => String::new(),
        _ if is_determined => String::new(),
        _ => format!("; in the {} scheme, the rate depends on more than the number of set bits", filter.scheme_id().name()),
    };
    report.line(
        "this filter",
        format!("{rate} with {} of {} bits set{law}{scheme}{}", count(fill.ones), count(filter.bits()), super::for_others(filter)),
    );
    report.field("withheld", verification.has_withheld_keys());
    if verification.has_withheld_keys() {
        report.line(
            "withheld",
            "more bits are set than the inserted keys explain: keys that seemed to be in the filter already were not inserted",
        );
    }
    Ok(())
}

/// Adds the smallest deviations that the tests would have detected, so that readers can judge what
/// "no fault found" means.
fn add_power(report: &mut Report, bits: u64, verification: &Verification, measurement: &Measurement<'_>) {
    let (fill, rate_noticed) = (verification.fill(), measurement.noticed());
    report.field("limit", verification.limit()).field(
        "noticed",
        json!({ "confidence": CONFIDENCE, "ones": fill.noticed, "share": fill.noticed.map(|more| share(more, fill.ones)), "rate": rate_noticed }),
    );
    let is_highest = fill.ones == bits || measurement.possible_rates().1 >= 1.0;
    let bits = match fill.noticed {
        _ if !fill.tested => Err("the number of set bits cannot be tested"),
        None if fill.ones == bits => Err("all bits are set, so this test cannot notice set bits that are wrong"),
        None => Err("it cannot detect whether too many bits are set"),
        Some(more) if fill.ones == 0 => Ok(plural(more, "set bit")),
        Some(more) => {
            Ok(format!("{} ({}% of those set now)", plural(more, "additional set bit"), significant(100.0 * share(more, fill.ones), 2)))
        }
    };
    let rate = rate_noticed.map(|noticed| format!("a rate of {} or more", rate_up(noticed, 4)));
    let rate = rate.ok_or(if is_highest {
        "the rate is already 1, the highest possible"
    } else {
        "more queries are needed to notice a higher rate"
    });
    report.line(
        "sensitivity",
        match (bits, rate) {
            (Ok(bits), Ok(rate)) => format!("this test would notice {bits}, or {rate}, with probability 99%"),
            (Ok(sure), Err(not)) | (Err(not), Ok(sure)) => format!("this test would notice {sure} with probability 99%; {not}"),
            (Err(bits), Err(rate)) => format!("{bits}; {rate}"),
        },
    );
}

/// Returns the number of additional bits, divided by the number of set bits.
fn share(more: u64, ones: u64) -> f64 {
    more as f64 / ones.max(1) as f64
}

fn add_measured(report: &mut Report, measurement: &Measurement<'_>, seed: u64) {
    let (low, high) = measurement.interval();
    report.field(
        "measured",
        json!({
            "queries": measurement.queries(), "hits": measurement.hits(), "rate": measurement.rate(), "lower": low, "upper": high,
            "confidence": CONFIDENCE, "p_value": measurement.p_value(), "query_seed": format!("{seed:x}"),
        }),
    );
    let hits = format!("{} in {}", plural(measurement.hits(), "hit"), plural(measurement.queries(), "random key"));
    let text = match measurement.hits() {
        0 => format!("below {} (99% confidence), {hits}", rate_up(high, 4)),
        _ => format!("{} (99% interval {} to {}), {hits}", rate(measurement.rate(), 4), rate_down(low, 4), rate_up(high, 4)),
    };
    report.line("measured", text);
    let (lowest, highest) = measurement.possible_rates();
    if lowest < highest {
        report.field("possible_rates", json!({ "lower": lowest, "upper": highest }));
        report.line("computed", format!("the rate is between {} and {}", rate_down(lowest, 3), rate_up(highest, 3)));
    }
}

fn verdict(filter: &Looked, verification: &Verification, measurement: &Measurement<'_>, holds: bool) -> String {
    if holds {
        let ranged = measurement.possible_rates().0 < measurement.possible_rates().1;
        return match verification.expected_verdict() {
            ExpectedVerdict::Met if ranged => {
                "kept: the average rate is at most the requested rate, and the measurement does not contradict this".to_owned()
            }
            ExpectedVerdict::Met => "kept: the average rate is at most the requested rate, and the measurement agrees".to_owned(),
            ExpectedVerdict::Undetermined if matches!(filter, AnyFilter::Scalable(_)) => {
                "no fault found, but because of a merge, its rate can exceed the requested rate".to_owned()
            }
            ExpectedVerdict::Undetermined => {
                let why = match (filter.is_merged(), verification.has_withheld_keys()) {
                    (true, _) => "a merge",
                    (false, true) => "withheld keys",
                    (false, false) => "repeated keys",
                };
                let agrees = if ranged { "is plausible" } else { "agrees with the set bits" };
                format!(
                    "no fault found, but because of {why}, it is not known whether the filter holds more items than planned; the measurement {agrees}"
                )
            }
            _ if ranged => {
                "no fault found: no rate was requested, and both the number of set bits and the measured rate are plausible".to_owned()
            }
            _ => "no fault found: no rate was requested, and the measured rate agrees with the set bits".to_owned(),
        };
    }
    let mut reasons = Vec::new();
    let is_exceeded = verification.expected_verdict() == ExpectedVerdict::Exceeded;
    if is_exceeded {
        let (low, _) = verification.items();
        reasons
            .push(format!("the filter holds at least {} items, too many for the requested rate; plan a filter for more items", count(low)));
    }
    let fill = verification.fill();
    if !fill.holds() {
        let (word, cause) = if fill.too_few < fill.too_many {
            ("too few", "the hash spreads the keys unevenly, or the count of items is too high")
        } else {
            ("too many", "the count of items is too low, or bits were changed")
        };
        reasons.push(format!("{word} bits are set for the number of items counted: {cause}"));
    }
    let is_overfull = verification.is_overfull() || measurement.is_overfull();
    if let (true, AnyFilter::Scalable(_), Some(asked)) = (is_overfull, filter, filter.rate()) {
        reasons.push(format!(
            "the filter's rate is above the requested {asked}; a union of filters that grow can exceed the requested rate even if each of them meets it"
        ));
    }
    // If the counted items already exceed the plan, this is not reported twice.
    if let (true, false, Some(limit), Some(items)) = (is_overfull, is_exceeded, verification.limit(), filter.capacity()) {
        reasons.push(format!(
            "the filter's rate is above {}. At most one in a million filters with the planned {} have a rate above this limit, so this filter almost certainly holds more items than planned; plan a filter for more items",
            rate_up(limit, 4),
            plural(items, "item")
        ));
    }
    if !measurement.agrees() {
        reasons.push("random keys pass at a rate that contradicts the number of set bits: the hash spreads the keys unevenly".to_owned());
    }
    format!("BROKEN: {}", reasons.join("; "))
}
