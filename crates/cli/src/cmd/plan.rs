//! `truebloom plan`: what a filter would take, before one is built.

use crate::args::Size;
use crate::failure::Failure;
use crate::filters::Alternative;
use crate::report::{FormatArgs, Report, bytes, fpr_value, plural, proven, rate, rate_value};
use serde_json::{Value, json};
use std::process::ExitCode;
use truebloom_math::law::Hashing;
use truebloom_math::{Plan, SchemePlan, SchemeTarget};

const EXAMPLES: &str = "\
Give any sufficient subset; the rest is found exactly:
  truebloom plan -n 10M -p 0.1%                  the fewest bits for a rate
  truebloom plan --bits 64MiB -p 1e-6            the most items that fit
  truebloom plan -n 10M --bits 16MiB             the best rate of a size
  truebloom plan -n 1G -p 1% --max-memory 2GiB    refuse more than that
  truebloom plan -n 1M -p 1e-6 --scheme cube     a size of another hashing scheme

Filters that forget, for streams without end (one phase, two phases, and as it is done without a model):
  truebloom plan --recycling --memory 64MiB -p 0.1%      the most items that they hold
  truebloom plan --recycling -n 10M -p 0.1%              the fewest bits for so many a cycle
  truebloom plan --recycling --remember 10M -p 0.1%      the fewest bits that remember so long
  truebloom plan --recycling --remember 1h --arrival 5000 -p 0.1%";

/// Find the smallest filter that is proven to meet a rate
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    size: Size,

    /// A hashing scheme: double, double-nonzero, square, cube, enhanced or partition-double; refused where it cannot reach the rate in four times the usual bits
    #[arg(long, value_name = "NAME", value_parser = super::fpr::scheme, conflicts_with_all = ["bits", "confidence"], requires_all = ["items", "rate"])]
    scheme: Option<Hashing>,

    #[command(flatten)]
    recycling: super::plan_recycling::Options,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.recycling.asked() {
        super::plan_recycling::report(&args.recycling, &args.size)?.print_as(args.format.format())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(scheme), Some(items), Some(rate)) = (args.scheme, args.size.items, args.size.rate) {
        let max_bits = args.size.max_memory.map(|bytes| bytes.saturating_mul(8));
        let target = SchemeTarget { scheme, items, rate, probes: args.size.probes, max_bits, hash_bits: 128 };
        scheme_report(&SchemePlan::new(&target)?).print_as(args.format.format())?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = args.size.plan()?;
    report(&plan, Alternative::of(&args.size.target(), &plan).as_ref()).print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

fn report(plan: &Plan, blocked: Option<&Alternative>) -> Report {
    let mut report = Report::new("plan");
    report
        .field("items", plan.items)
        .field("bits", plan.bits)
        .field("bytes", plan.bytes())
        .field("probes", plan.probes)
        .field("asked", rate_value(plan.rate))
        .field("fpr", fpr_value(&plan.fpr))
        .field("hash_floor", plan.hash_floor)
        .field("bits_per_item", plan.bits as f64 / plan.items as f64);
    let items = plural(plan.items, "item");
    match plan.rate {
        Some(asked) => report.line("asked", format!("{asked} for {items}")),
        None => report.line("asked", format!("the best rate for {items}")),
    };
    let per_item = rate(plan.bits as f64 / plan.items as f64, 4);
    report.line(
        "size",
        format!("{} ({}), {per_item} bits an item, {}", plural(plan.bits, "bit"), bytes(plan.bytes()), plural(plan.probes.into(), "probe")),
    );
    report.line("proven", format!("expected rate at most {}", proven(&plan.fpr, plan.rate)));
    if let Some(guarantee) = &plan.guarantee {
        let share = rate(100.0 * guarantee.confidence, 13);
        report.field("confidence", guarantee.confidence).field("guarantee", fpr_value(&guarantee.fpr));
        report.line("guaranteed", format!("{share}% of filters keep to {}", proven(&guarantee.fpr, plan.rate)));
    }
    add_blocked(&mut report, plan, blocked);
    add_textbook(&mut report, plan);
    report
}

/// The same in cache lines: one access to memory an item, and its price.
fn add_blocked(report: &mut Report, standard: &Plan, blocked: Option<&Alternative>) {
    let Some(Alternative { plan, times_bits, is_worth_it }) = blocked else {
        report.field("blocked", Value::Null);
        return;
    };
    report.field(
        "blocked",
        json!({
            "bits": plan.bits, "items": plan.items, "probes": plan.probes, "fpr": fpr_value(&plan.fpr),
            "times_bits": times_bits, "is_worth_it": is_worth_it,
        }),
    );
    let mut parts = vec![format!("{} ({})", plural(plan.bits, "bit"), bytes(plan.bits / 8)), plural(plan.probes.into(), "probe")];
    if plan.items != standard.items {
        parts.insert(1, plural(plan.items, "item"));
    }
    if plan.rate.is_none() {
        parts.push(format!("rate at most {}", proven(&plan.fpr, None)));
    }
    let more = 100.0 * (times_bits - 1.0);
    report.line("blocked", format!("{}: one cache line an item for {more:+.2}% bits", parts.join(", ")));
}

fn scheme_report(plan: &SchemePlan) -> Report {
    let mut report = Report::new("plan");
    let floors: Vec<_> = plan.floors.iter().map(|floor| json!({ "cause": floor.cause, "rate": floor.rate })).collect();
    report
        .field("scheme", plan.scheme.name())
        .field("items", plan.items)
        .field("bits", plan.bits)
        .field("probes", plan.probes)
        .field("asked", rate_value(Some(plan.rate)))
        .field("fpr", fpr_value(&plan.fpr))
        .field("standard_bits", plan.standard_bits)
        .field("floors", floors);
    report.line("asked", format!("{} for {}, {} hashing", plan.rate, plural(plan.items, "item"), plan.scheme));
    let per_item = rate(plan.bits as f64 / plan.items as f64, 4);
    let memory = bytes(plan.bits.div_ceil(64) * 8);
    report
        .line("size", format!("{} ({memory}), {per_item} bits an item, {}", plural(plan.bits, "bit"), plural(plan.probes.into(), "probe")));
    report.line("proven", format!("expected rate at most {}", proven(&plan.fpr, Some(plan.rate))));
    let more = 100.0 * (plan.bits as f64 / plan.standard_bits as f64 - 1.0);
    report.line("standard", format!("{}; what is proven of the scheme takes {more:+.3}%", plural(plan.standard_bits, "bit")));
    for floor in plan.floors.iter().filter(|floor| floor.rate >= 1e-6 * plan.rate.to_f64()) {
        report.line("adds", format!("about {} by {}", rate(floor.rate, 3), floor.cause));
    }
    report
}

/// The textbook's answer, and by how much it would have missed.
fn add_textbook(report: &mut Report, plan: &Plan) {
    let textbook = &plan.textbook;
    let aim = plan.rate.map_or(textbook.claimed, |asked| asked.to_f64());
    let excess = (textbook.fpr.value + plan.hash_floor) / aim - 1.0;
    report.field(
        "textbook",
        json!({
            "bits": textbook.bits, "items": textbook.items, "probes": textbook.probes, "claimed": textbook.claimed,
            "fpr": fpr_value(&textbook.fpr), "meets": textbook.meets, "excess": excess,
        }),
    );
    let filter =
        format!("{}, {}, {}", plural(textbook.bits, "bit"), plural(textbook.items, "item"), plural(textbook.probes.into(), "probe"));
    let verdict = match (textbook.meets, plan.rate) {
        (Some(true), _) => ", enough".to_owned(),
        (Some(false), _) if excess < 1e-9 => ", just too high".to_owned(),
        (Some(false), _) => format!(", {} too high", percent(excess)),
        (None, _) if excess > 1e-9 => format!(", {} more than it claims", percent(excess)),
        (None, _) => String::new(),
    };
    report.line("textbook", format!("{filter} really give {}{verdict}", rate(textbook.fpr.value, 6)));
}

/// `0.088%`, or a multiple from twofold on.
fn percent(excess: f64) -> String {
    if excess >= 1.0 { format!("{} times", rate(excess + 1.0, 3)) } else { format!("{}%", rate(excess * 100.0, 2)) }
}
