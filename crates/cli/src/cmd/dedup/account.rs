//! What became of a stream: counted, promised and bounded.

use super::Args;
use super::design::Chosen;
use super::filter::Filter;
use super::remember::time_text;
use super::sift::{Sift, Tally};
use crate::aside::{self, Reserved};
use crate::failure::{Failure, warn};
use crate::filters::Layout;
use crate::records::{KeysOf, Records};
use crate::report::{Report, bytes, count, fpr_value, plural, proven, rate, rate_up, significant};
use serde_json::{Value, json};
use std::io::Write;
use truebloom::recycling::{Stats, WrongDrops};
use truebloom_math::Method;
use truebloom_math::recycling::LongRun;

/// Confidence of the bound on wrong drops.
const CONFIDENCE: f64 = 0.999_999;

/// What helps against forgetting.
const MORE: &str = "give more with --memory or -n";

/// The counts when this run began: a state may have seen more.
pub(super) struct Account {
    before: Stats,
    /// What a record is called.
    noun: &'static str,
    /// Whether it was said that lines are forgotten.
    told: bool,
}

impl Account {
    pub(super) fn begin(filter: &Filter, noun: &'static str) -> Account {
        Account { before: filter.stats(), noun, told: false }
    }

    /// Reports if asked to, and warns if less was remembered than asked.
    pub(super) fn close(
        &self,
        args: &Args,
        reserved: &Reserved,
        filter: &Filter,
        chosen: &Chosen,
        records: &Records,
        tally: Tally,
    ) -> Result<(), Failure> {
        self.warn_of_early(filter, chosen);
        if !args.json && !args.report.is_asked() {
            return Ok(());
        }
        let mut report = Report::new("dedup");
        self.add_trust(&mut report, args, filter)?;
        self.add_counts(&mut report, args, filter, tally);
        add_design(&mut report, self.noun, filter, chosen)?;
        add_stream(&mut report, filter);
        records.add_shortfall(&mut report);
        if args.json {
            aside::print_aside(&report, true)?;
        }
        if !args.json || args.report.has_file() { reserved.write(&report) } else { Ok(()) }
    }

    /// Says once that all lines were forgotten. To forget what is old is what --remember asks for, and the object of --json says it itself and stands alone.
    pub(super) fn tell_forgotten<W: Write>(&mut self, args: &Args, sift: &Sift<'_, W>, chosen: &Chosen) {
        if self.told || args.quiet || args.json || chosen.design.phases() > 1 || sift.filter().stats().cycles == self.before.cycles {
            return;
        }
        self.told = true;
        warn(format_args!(
            "the memory ({}) was full within the first {} and was emptied: what came before is forgotten, and counts as new if it comes again; {MORE}, --remember to forget only what is old, or --strict to stop in time",
            bytes(chosen.bytes()),
            plural(sift.tally.read, self.noun),
        ));
    }

    /// What --strict says when it stops.
    pub(super) fn full(&self, tally: Tally, chosen: &Chosen) -> Failure {
        Failure::new(format_args!(
            "stopped after {}, of which nothing is forgotten: the memory ({}) is full; {MORE}, or leave --strict out",
            plural(tally.read, self.noun),
            bytes(chosen.bytes()),
        ))
    }

    /// What may be the reason that nothing was known of lines that were read otherwise than those of the state.
    pub(super) fn doubt(&self, keys: &KeysOf, tally: Tally, complete: bool) {
        let nothing_known = self.before.offered > 0 && tally.read > 0 && tally.new == tally.read;
        if keys.other_form || nothing_known || keys.is_kept && !complete {
            keys.doubt.iter().for_each(warn);
        }
    }

    fn warn_of_early(&self, filter: &Filter, chosen: &Chosen) {
        let early = filter.stats().by_fill.saturating_sub(self.before.by_fill);
        if let (Some(age), 1..) = (chosen.age, early) {
            warn(format_args!(
                "{} ended early because {} full: what came then was remembered for less than {}; give more --memory, or -n",
                plural(early, "phase"),
                if early == 1 { "it was" } else { "they were" },
                time_text(age)
            ));
        }
    }

    fn add_counts(&self, report: &mut Report, args: &Args, filter: &Filter, tally: Tally) {
        let (stats, Tally { read, new, selected }) = (filter.stats(), tally);
        let dropped = read.saturating_sub(new);
        report.field("lines", read).field("kept", new).field("dropped", dropped).field("selected", selected);
        let (firsts, repeats) = match (args.repeated, args.second) {
            (false, false) => ("kept".to_owned(), "dropped as repeats".to_owned()),
            (true, _) => ("first occurrences".to_owned(), "repeats".to_owned()),
            (_, true) => ("first occurrences".to_owned(), format!("repeats, {} of them second ones", count(selected))),
        };
        report.line("lines", format!("{}, {} {firsts}, {} {repeats}", plural(read, self.noun), count(new), count(dropped)));
        // With second occurrences the filter counts entries, not lines.
        if self.before.offered > 0 && !args.second {
            report.line("in all", format!("{} since the state was made, {} kept", count(stats.offered), count(stats.new)));
        }
        report.field("lines_in_all", stats.offered).field("kept_in_all", stats.new).field("refreshed_in_all", stats.refreshed);
    }

    /// Whether the output can be trusted, in one line: what is expected to be missing in it, and whether something may be in it twice.
    fn add_trust(&self, report: &mut Report, args: &Args, filter: &Filter) -> Result<(), Failure> {
        let lost = filter.wrong_drops(CONFIDENCE)?;
        report.field("wrong_drops", lost.map_or(Value::Null, wrong_drops_value));
        let noun = self.noun;
        let wrong = match (args.repeated, args.second) {
            (false, false) => format!("first {noun}s are expected to be missing"),
            (true, _) => format!("of the repeats are expected to be first {noun}s"),
            (_, true) => format!("{noun}s are expected to be printed at their first occurrence, or never"),
        };
        let since = if self.before.offered > 0 { ", since the state was made" } else { "" };
        let wrong = match lost {
            Some(WrongDrops { expected, at_most, .. }) => format!(
                "{} {wrong}, at most {} with {}% confidence{since}",
                // The exact share of a line that is not there says nothing to anybody.
                if expected < 1e-6 { "fewer than 1e-6".to_owned() } else { format!("about {}", significant(expected, 4)) },
                count(at_most),
                100.0 * CONFIDENCE
            ),
            None => format!("no bound is known for so small a filter of how many {wrong}"),
        };
        let twice = match (filter.stats().cycles - self.before.cycles, args.repeated, args.second) {
            (0, false, false) => "; none is printed twice".to_owned(),
            (0, ..) => "; nothing was forgotten".to_owned(),
            (forgotten, ..) => format!("; what was forgotten ({}) counts as new when it comes again", plural(forgotten, "time")),
        };
        report.line("trust", wrong + &twice);
        Ok(())
    }
}

/// How many distinct lines a state was offered, as far as that is known: until it forgets, every line that was kept, and those that were wrongly taken for known.
pub(super) fn add_distinct(report: &mut Report, filter: &Filter, second: bool) -> Result<(), Failure> {
    let (stats, lost) = (filter.stats(), filter.wrong_drops(CONFIDENCE)?);
    report.field("kept", stats.new).field("cycles", stats.cycles).field("in_phase", stats.items);
    report.field("wrong_drops", lost.map_or(Value::Null, wrong_drops_value));
    report.line("kept", format!("{} as new; {} in the present phase", count(stats.new), count(stats.items)));
    match lost {
        Some(lost) if stats.cycles == 0 && !second => {
            let most = stats.new.saturating_add(lost.at_most).min(stats.offered);
            report.field("distinct", json!({ "lower": stats.new, "upper": most, "confidence": CONFIDENCE }));
            report.line("distinct", format!("{} to {} ({}% confidence)", count(stats.new), count(most), 100.0 * CONFIDENCE));
        }
        _ => {
            report.field("distinct", Value::Null);
            let why = match (second, stats.cycles) {
                (true, _) => "second occurrences are among them",
                (_, 0) => "the filter is too small for a bound",
                _ => "lines were forgotten, and counted again when they came again",
            };
            report.line("distinct", format!("not known: {why}"));
        }
    }
    if let (Some(lost), 1..) = (lost, stats.cycles) {
        report.line(
            "lost",
            format!(
                "about {} first lines, at most {} ({}% confidence)",
                significant(lost.expected, 4),
                count(lost.at_most),
                100.0 * CONFIDENCE
            ),
        );
    }
    Ok(())
}

pub(super) fn add_design(report: &mut Report, noun: &str, filter: &Filter, chosen: &Chosen) -> Result<(), Failure> {
    let design = &chosen.design;
    let run = design.long_run()?;
    let phases = design.phases();
    report
        .field("layout", design.layout().name())
        .field("memory_bytes", chosen.bytes())
        .field("phases", phases)
        .field("bits", design.bits())
        .field("probes", design.probes())
        .field("sigma", design.sigma())
        .field("limit", design.limit())
        .field("age_seconds", chosen.age.map(|age| age.as_secs_f64()))
        .field("items_per_cycle", run.items_per_cycle.value)
        .field("design_fpr", fpr_value(&run.fpr))
        .field("worst_fpr", filter.worst_fpr());
    let items = run.items_per_cycle;
    // Designs count entries.
    let in_lines = |entries: f64| entries / chosen.entries as f64;
    // A bracket that is not narrow has an end to promise.
    let (least, items) = if items.method == Method::Exact { ("", in_lines(items.value)) } else { ("at least ", in_lines(items.lower)) };
    let least = if chosen.entries > 1 { "at least " } else { least };
    let full = format!("{least}{} {noun}s on average", if items < 100.0 { significant(items, 3) } else { count(items.round() as u64) });
    let forgets = match (phases, chosen.age) {
        (1, _) => format!("forgets all after {full}"),
        (_, None) => format!("forgets the older phase after {full}"),
        (_, Some(age)) => format!("forgets the older phase after {}, or {full}", time_text(age)),
    };
    let layout = if design.layout() == Layout::Standard { "" } else { ", blocked" };
    report.line("memory", format!("{} in {}{layout}; {forgets}", bytes(chosen.bytes()), plural(phases, "phase")));
    let sure = design.sigma().filter(|_| phases > 1).map(|sigma| sigma / u64::from(design.probes()) / chosen.entries);
    report.field("remembers_at_least", sure);
    report.field("remembers", chosen.items);
    if let Some(sure) = sure {
        let asked = chosen.items.map_or(String::new(), |items| format!(", {} in all but one phase in a million (proven)", count(items)));
        let within = chosen.age.map_or(String::new(), |age| format!(" of the last {}", time_text(age)));
        report.line("remembers", format!("the last {}{within} for certain{asked}", plural(sure, noun)));
    }
    add_rate(report, filter, chosen, &run, noun);
    Ok(())
}

/// The rate that holds for every input chosen without the seed: with one phase the average, with two that of the fullest state.
fn add_rate(report: &mut Report, filter: &Filter, chosen: &Chosen, run: &LongRun, noun: &str) {
    let method = match run.fpr.method {
        Method::Exact | Method::Bound => "proven",
        _ => "validated",
    };
    let (promised, of, text) = match chosen.design.phases() {
        1 => {
            // A limit is exact; what its filters say of themselves is rounded up.
            let fullest = rate_up(chosen.design.limit().unwrap_or(filter.worst_fpr()), 4);
            let text = format!("at most {} on average in the long run ({method}), {fullest} when fullest", proven(&run.fpr, chosen.rate));
            (&run.fpr, "average of the long run", text)
        }
        _ => {
            let (worst, average) = (proven(&run.worst, chosen.rate), rate(run.fpr.value, 4));
            let text = format!(
                "at most {worst} for every new {noun}, whatever came before (proven); {average} on average where all {noun}s are new"
            );
            (&run.worst, "every new record", text)
        }
    };
    let unless = "for input that was chosen without knowing the seed";
    report.field("promised_fpr", fpr_value(promised)).field("promised_for", format!("{of}, {unless}"));
    report.line("rate", text);
    report.line("", unless);
}

/// What has become of the memory.
fn add_stream(report: &mut Report, filter: &Filter) {
    let stats = filter.stats();
    report.field("cycles", stats.cycles).field("cycles_by_fill", stats.by_fill).field("seed", filter.seed().to_string());
    report.field("average_fpr", filter.average_fpr());
    let because = match stats.by_fill {
        0 => String::new(),
        full if full == stats.cycles => ", because it was full".to_owned(),
        full => format!(", {} of them because it was full", count(full)),
    };
    report.line("recycled", if stats.cycles == 0 { "never".to_owned() } else { plural(stats.cycles, "time") + &because });
}

fn wrong_drops_value(lost: WrongDrops) -> Value {
    json!({ "expected": lost.expected, "at_most": lost.at_most, "confidence": CONFIDENCE })
}
