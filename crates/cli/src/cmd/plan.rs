//! `truebloom plan`: computes the size of a filter before it is built.

use super::plan_beyond;
use crate::args::{Size, needs};
use crate::certificate;
use crate::failure::{Failure, PLANNED, Shown, note, of_options};
use crate::filters::{self, Alternative};
use crate::plots::{self, PlotArgs};
use crate::report::{Format, FormatArgs, Report, askable, bytes, certainty, fpr_value, plural, proven, rate, rate_up, rate_value, size};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::scheme::Standard;
use truebloom_math::certificate::{Certificate, Claim, Smallest};
use truebloom_math::{Layout, Plan, SchemeId, Target, as_one_call};

const EXAMPLES: &str = "\
Give two of -n, -p and -m; truebloom computes the third, and the number of probes. Give all three to see whether a filter of this size meets the rate:
  truebloom plan -n 10M -p 0.1%                  the fewest bits for a rate
  truebloom plan --bits 64MiB -p 1e-6            the most items that fit
  truebloom plan -n 10M --memory 16MiB           the lowest rate of this size
  truebloom plan -n 10M --bits-per-item 10       the same, with the size in bits per item
  truebloom plan -n 10M -p 1% --layout blocked   one cache line per lookup
  truebloom plan -n 1G -p 1% --max-memory 2GiB    refuse a larger filter
  truebloom plan -n 1000 -p 1% --plot plan.svg   also draw the rate for up to 2000 items
  truebloom plan -n 10M -p 0.1% --mean           the fewest bits that meet the rate only on average
  truebloom plan -n 1M -p 1% --transmit 1.1MB     the fewest bits that compress to at most this size
  truebloom plan -n 1M -p 1e-6 --scheme cube --mean
                                                 the size with another hashing scheme

Filters that forget, for endless streams. The report compares `one phase` (one filter), `two phases` (two filters that take turns) and `usual` (a filter that is emptied after a fixed number of items). If --remember is given without a size, the report also has the row `certain`: two phases that never forget an item too early. Examples:
  truebloom plan --recycling --memory 64MiB -p 0.1%      the most items that such filters hold
  truebloom plan --recycling -n 10M -p 0.1%              the fewest bits for this many items per cycle
  truebloom plan --recycling --remember 10M -p 0.1%      the fewest bits that remember this many items
  truebloom plan --recycling --remember 1h --arrival 5000 -p 0.1%
  truebloom plan --recycling --memory 64KiB -p 1% --plot saw.svg    also draw the rate over five cycles

Lines of the report: `guaranteed` is an upper limit on the rate of a single filter, which holds with the given probability. `expected` is the average rate over all seeds. `overfilled` is the average rate with more items than planned. \
`mean only` is the size of a filter that guarantees only the average rate (--mean). `blocked` is the plan for a filter that needs one cache line per lookup. `textbook` shows the size that the usual formula gives, and the actual rate at that size. \
`static` is the approximate size of a filter to which nothing can be added later.";

/// Find the smallest filter that is proven to meet a rate
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    size: Size,

    #[arg(help = scheme_help(), long, value_name = "NAME", value_parser = super::fpr::scheme, default_value = "standard")]
    scheme: SchemeId,

    /// Write a certificate to FILE, so that others can check the plan without this program; with
    /// -, write the certificate to standard output instead of the report
    #[arg(long, value_name = "FILE", requires = "rate", conflicts_with = "recycling")]
    prove: Option<PathBuf>,

    /// Overwrite an existing FILE
    #[arg(long, requires = "prove")]
    force: bool,

    /// Size of the filter in bits per item (10, 14.4); requires -n
    #[arg(long, value_name = "BITS", value_parser = crate::args::bits_per_item, conflicts_with_all = ["bits", "memory", "recycling"])]
    bits_per_item: Option<f64>,

    /// Plan the smallest filter whose compressed form takes at most this size, to send it. Such a
    /// filter has fewer probes than the usual plan
    #[arg(long, value_name = "BYTES", value_parser = crate::args::bytes, allow_hyphen_values = true, requires_all = ["items", "rate"])]
    #[arg(conflicts_with_all = ["bits", "memory", "recycling", "probes", "bits_per_item", "scheme", "layout", "prove"])]
    transmit: Option<u64>,

    #[command(flatten)]
    recycling: super::plan_recycling::Options,

    #[command(flatten)]
    plot: PlotArgs,

    #[command(flatten)]
    format: FormatArgs,
}

fn scheme_help() -> String {
    use super::fpr::schemes;
    let (sure, others) = (schemes(SchemeId::has_guarantee), schemes(|id| !id.has_guarantee()));
    format!(
        "How positions are computed from a hash: {sure}; with --mean, also {others}. The schemes that need --mean get a prime number of bits (partition-double: a prime number of bits per probe). Sizes up to --max-memory are tried (by default, up to four times the size of the standard scheme); if none of them meets the rate, the command fails"
    )
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    args.plot.check()?;
    check(args)?;
    if args.recycling.asked() {
        let (report, design) = super::plan_recycling::report(&args.recycling, &args.size)?;
        return args.plot.finish(report, args.format.format(), || match &design {
            Some(design) => plots::saw_tooth::<Standard>(design, 1, None),
            None => Err(Failure::new("there is no filter to draw: none of this size can meet this rate")),
        });
    }
    let target = target(args)?;
    let plan = match args.transmit {
        Some(bytes) => Plan::for_transmission(&target, bytes.saturating_mul(8)).map_err(|error| not_sent(&target, bytes, error))?,
        None => Plan::new(&target).map_err(of_options(&PLANNED))?,
    };
    let Some(path) = &args.prove else {
        let held = if args.transmit.is_some() { target.clone().probes(plan.probes) } else { target.clone() };
        let mut report = report(&plan, &held)?;
        if args.transmit.is_some() {
            add_transmitted(&mut report, &plan, &target)?;
        }
        return args.plot.finish(report, args.format.format(), || as_one_call(|| Ok(plots::plan(&plan)?)));
    };
    let certificate = certify(&plan, &target)?;
    if let (Some(claimed), Some(planned)) = (certificate.claim.confidence, plan.guarantee.map(|guarantee| guarantee.confidence))
        && claimed < planned
    {
        note(format_args!(
            "the certificate proves the rate of a single filter with probability {}%, slightly less than the plan's {}%, because the certificate uses a bound that can be checked step by step",
            certainty(claimed, 7),
            certainty(planned, 7)
        ));
    }
    if path.as_os_str() == "-" {
        let drawn = args.plot.write(|| as_one_call(|| Ok(plots::plan(&plan)?)));
        writeln!(crate::output::stdout(), "{}", Value::Object(certificate::object(&certificate)))?;
        return drawn.map(|_| ExitCode::SUCCESS);
    }
    certificate::write(&certificate, path, args.force)?;
    let mut report = report(&plan, &target)?;
    add_certificate(&mut report, &certificate, path);
    args.plot.finish(report, args.format.format(), || as_one_call(|| Ok(plots::plan(&plan)?)))
}

/// Refuses options that would have no effect.
fn check(args: &Args) -> Result<(), Failure> {
    needs(("--force", args.force), ("--prove", args.prove.is_some()))?;
    let is_printed = args.prove.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if is_printed && args.format.format() == Format::Csv {
        return Err(Failure::new("`--prove -` prints a JSON object, not CSV: leave --csv out, or write the certificate to a file"));
    }
    args.recycling.check(args.size.bits.is_some())
}

/// Returns the error for a plan of a filter to be sent. If even a filter with one probe exceeds the
/// allowed size, the message says so.
fn not_sent(target: &Target, asked: u64, error: truebloom_math::Error) -> Failure {
    let least = Plan::new(&target.clone().probes(1)).and_then(|plan| plan.transmitted_bits());
    match least {
        Ok(Some(least)) if least > 8.0 * asked as f64 => Failure::new(format_args!(
            "no filter for this rate compresses to {}: filters with one probe compress best, and even such a filter takes {}; choose a higher rate or fewer items",
            bytes(asked),
            bytes((least / 8.0).ceil() as u64)
        )),
        _ => of_options(&PLANNED)(error),
    }
}

/// Adds the compressed size of the filter, and that of the filter with the fewest bits in memory.
fn add_transmitted(report: &mut Report, plan: &Plan, target: &Target) -> Result<(), Failure> {
    let usual = Plan::new(target)?;
    let sent = |plan: &Plan| plan.transmitted_bits().map(|bits| (bits.unwrap_or(plan.bits as f64) / 8.0).ceil() as u64);
    let (now, then) = (sent(plan)?, sent(&usual)?);
    report.field("transmitted", json!({ "bytes": now, "usual_bytes": then, "usual_bits": usual.bits, "usual_probes": usual.probes }));
    report.line("transmitted", format!("{} on average when full and compressed, plus about 120 bytes for the file format", bytes(now)));
    report.line(
        "usual",
        format!(
            "the plan without --transmit has {} and {}, and would compress to {}",
            size(usual.bits),
            plural(usual.probes.into(), "probe"),
            bytes(then)
        ),
    );
    let rate = target.rate.map_or(String::new(), |rate| format!(" -p {rate}"));
    report.line("to make it", format!("truebloom create -n {}{rate} -m {} -k {} FILTER INPUT", plan.items, plan.bits, plan.probes));
    Ok(())
}

/// The target that these options describe, with the size in bits.
fn target(args: &Args) -> Result<Target, Failure> {
    let layout = args.recycling.layout();
    filters::check_layout(args.scheme, layout)?;
    let mut target = args.size.target().scheme(args.scheme).layout(layout.planned());
    target.bits = target.bits.or(args.recycling.bits());
    if let Some(each) = args.bits_per_item {
        let items = target.items.ok_or_else(|| Failure::new("--bits-per-item needs a number of items; give it with -n"))?;
        let bits = (items as f64 * each).ceil();
        target.bits = Some(if bits < 9e18 { bits as u64 } else { u64::MAX });
    }
    Ok(target)
}

/// The certificate for a plan of the standard filter. If the size was proven to be the smallest, as
/// in plans for the average rate, the certificate also claims this.
fn certify(plan: &Plan, target: &Target) -> Result<Certificate, Failure> {
    if plan.scheme != SchemeId::Standard {
        return Err(Failure::new(format_args!(
            "there is no certificate for the {} scheme, only for the standard one; leave out --scheme or --prove",
            plan.scheme
        )));
    }
    let rate = plan.rate.ok_or_else(|| Failure::new("a certificate proves a rate; give one with -p"))?;
    let confidence = plan.guarantee.map(|guarantee| guarantee.confidence);
    let smallest = match (target.bits, confidence, target.probes) {
        (None, None, None) => Smallest::ForAnyProbes,
        (None, None, Some(_)) => Smallest::ForTheseProbes,
        _ => Smallest::NotClaimed,
    };
    let claim = Claim { bits: plan.bits, items: plan.items, probes: plan.probes, rate, hash_bits: target.hash_bits, smallest, confidence };
    Ok(Certificate::new(claim)?)
}

/// Adds the certificate's claim, which may be slightly weaker than what the plan proves.
fn add_certificate(report: &mut Report, certificate: &Certificate, path: &Path) {
    let claim = &certificate.claim;
    let mut parts = vec!["the average rate".to_owned()];
    if let Some(share) = claim.confidence {
        parts.push(format!("the rate of a single filter with probability {}%", certainty(share, 13)));
    }
    if claim.smallest != Smallest::NotClaimed {
        parts.push("that one bit less is not enough".to_owned());
    }
    report
        .field("certificate", json!({ "file": path.display().to_string(), "confidence": claim.confidence, "smallest": claim.smallest != Smallest::NotClaimed }))
        .line("certificate", format!("{} proves {}; docs/CERTIFICATE.md says how to check it", path.shown(), parts.join(" and ")));
}

fn report(plan: &Plan, target: &Target) -> Result<Report, Failure> {
    let mut report = Report::new("plan");
    report
        .field("scheme", plan.scheme.name())
        .field("items", plan.items)
        .field("bits", plan.bits)
        .field("bytes", plan.bytes())
        .field("probes", plan.probes)
        .field("asked", rate_value(plan.rate))
        .field("fpr", fpr_value(&askable(&plan.fpr, plan.rate)))
        .field("hash_floor", plan.hash_floor)
        .field("bits_per_item", plan.bits as f64 / plan.items as f64);
    let items = plural(plan.items, "item");
    let scheme = if plan.scheme == SchemeId::Standard { String::new() } else { format!(", {} scheme", plan.scheme) };
    match plan.rate {
        Some(asked) => report.line("requested", format!("{asked} for {items}{scheme}")),
        None => report.line("requested", format!("the lowest rate for {items}{scheme}")),
    };
    let per_item = rate(plan.bits as f64 / plan.items as f64, 4);
    report.line("size", format!("{}, {per_item} bits per item, {}", size(plan.bits), plural(plan.probes.into(), "probe")));
    add_promise(&mut report, plan);
    plan_beyond::add_overload(&mut report, plan)?;
    add_mean(&mut report, plan, target)?;
    if plan.scheme == SchemeId::Standard {
        add_blocked(&mut report, plan, Alternative::of(target, plan).as_ref(), target);
        add_textbook(&mut report, plan)?;
    } else {
        add_standard(&mut report, plan, target)?;
    }
    plan_beyond::add_static(&mut report, plan);
    Ok(report)
}

/// Adds the guaranteed and the expected rate of a plan. Commands that build a filter use this
/// function, too.
pub(crate) fn add_promise(report: &mut Report, plan: &Plan) {
    match &plan.guarantee {
        Some(guarantee) => {
            let share = certainty(guarantee.confidence, 13);
            report.field("confidence", guarantee.confidence).field("guarantee", fpr_value(&askable(&guarantee.fpr, plan.rate)));
            let kept = proven(&guarantee.fpr, plan.rate);
            report.line("guaranteed", format!("at most {kept} in a single filter, with probability {share}% (proven)"));
        }
        None => {
            report.field("confidence", Value::Null).field("guarantee", Value::Null);
            report.line("guaranteed", "only the average rate; the rate of a single filter can be higher or lower");
        }
    }
    report.line("expected", format!("at most {} on average over all seeds (proven)", proven(&plan.fpr, plan.rate)));
}

/// Adds how many more bits the guarantee needs than the average alone.
fn add_mean(report: &mut Report, plan: &Plan, target: &Target) -> Result<(), Failure> {
    if plan.guarantee.is_none() || plan.rate.is_none() {
        report.field("mean", Value::Null);
        return Ok(());
    }
    let mean = Plan::new(&target.clone().mean())?;
    report.field("mean", json!({ "bits": mean.bits, "items": mean.items, "probes": mean.probes }));
    if target.bits.is_none() {
        let less = 100.0 * (plan.bits as f64 / mean.bits as f64 - 1.0);
        let takes = if plan.bits == mean.bits { "no more bits".to_owned() } else { format!("{}% more", rate(less, 2)) };
        report.line(
            "mean only",
            format!(
                "{} would be enough with --mean (only the average rate is guaranteed); the guarantee for a single filter takes {takes}",
                plural(mean.bits, "bit"),
            ),
        );
    } else if mean.items != plan.items {
        report.line("mean only", format!("{} would fit with --mean (only the average rate is guaranteed)", plural(mean.items, "item")));
    }
    Ok(())
}

/// Adds the plan with the standard scheme, for comparison with another scheme.
fn add_standard(report: &mut Report, plan: &Plan, target: &Target) -> Result<(), Failure> {
    let floors = plan.floors()?;
    let listed: Vec<_> = floors.iter().map(|floor| json!({ "cause": floor.cause, "rate": floor.rate })).collect();
    report.field("floors", listed);
    if let (Some(asked), None) = (plan.rate, target.bits) {
        // A limit on the size must not prevent the comparison, and with the layout in lines, the
        // result would be the blocked scheme itself.
        let standard = Plan::new(&Target { max_bits: None, ..target.clone().scheme(SchemeId::Standard).layout(Layout::Spread) })?;
        report.field("standard_bits", standard.bits);
        let more = 100.0 * (plan.bits as f64 / standard.bits as f64 - 1.0);
        report.line("standard", format!("{}; this scheme takes {} the standard scheme", plural(standard.bits, "bit"), more_bits(more, 3)));
        for floor in floors.iter().filter(|floor| floor.rate >= 1e-6 * asked.to_f64()) {
            report.line("adds", format!("about {} by {}", rate(floor.rate, 3), floor.cause));
        }
    }
    Ok(())
}

/// Formats a difference in bits: as `8.13% more bits than`, or, from 100% on, as
/// `2.5 times the bits of`.
fn more_bits(percent: f64, places: usize) -> String {
    let shown = format!("{:.places$}", percent.abs());
    match percent {
        100.0.. => format!("{} times the bits of", rate(1.0 + percent / 100.0, 3)),
        _ if shown.parse() == Ok(0.0) => "about as many bits as".to_owned(),
        _ => format!("{shown}% {} bits than", if percent < 0.0 { "fewer" } else { "more" }),
    }
}

/// Adds the blocked layout: one memory access per item, and how many more bits it needs. If the
/// number of bits is given, the blocked filter has fewer items or a higher rate instead.
fn add_blocked(report: &mut Report, standard: &Plan, blocked: Option<&Alternative>, target: &Target) {
    let loss = blocked.and_then(|blocked| blocked.loss(target, standard));
    let Some(Alternative { plan, bits_ratio, is_worth_it }) = blocked else {
        report.field("blocked", Value::Null);
        return;
    };
    report.field(
        "blocked",
        json!({
            "bits": plan.bits, "items": plan.items, "probes": plan.probes, "fpr": fpr_value(&plan.fpr),
            "bits_ratio": bits_ratio, "is_worth_it": is_worth_it,
        }),
    );
    let mut parts = vec![size(plan.bits), plural(plan.probes.into(), "probe")];
    if plan.items != standard.items {
        parts.insert(1, plural(plan.items, "item"));
    }
    // With given items, what is lost is a part of the rate.
    if plan.rate.is_none() || loss.is_some() && plan.items == standard.items {
        parts.push(format!("rate at most {}", rate_up(plan.promised(), 6)));
    }
    let costs = loss.unwrap_or_else(|| format!("{} the standard layout", more_bits(100.0 * (bits_ratio - 1.0), 2)));
    report.line("blocked", format!("{}: {costs}, one cache line per lookup", parts.join(", ")));
}

/// Adds the textbook's answer, and by how much it would miss the rate.
fn add_textbook(report: &mut Report, plan: &Plan) -> Result<(), Failure> {
    let textbook = plan.textbook()?;
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
        (Some(true), _) => ", which meets the requested rate".to_owned(),
        (Some(false), _) if excess < 1e-9 => ", just above the requested rate".to_owned(),
        (Some(false), _) => format!(", {} the requested rate", percent(excess)),
        (None, _) if excess > 1e-9 => format!(", {} the rate that the textbook formula gives", percent(excess)),
        (None, _) => String::new(),
    };
    report.line("textbook", format!("{filter}: the average rate would be {}{verdict}", rate(textbook.fpr.value, 6)));
    Ok(())
}

/// Formats an excess over a rate: as `0.088% above`, or, from 100% on, as a multiple of the rate,
/// `2.1 times`.
fn percent(excess: f64) -> String {
    if excess >= 1.0 { format!("{} times", rate(excess + 1.0, 3)) } else { format!("{}% above", rate(excess * 100.0, 2)) }
}
