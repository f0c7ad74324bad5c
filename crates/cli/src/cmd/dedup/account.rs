//! The outcome of a run: counts, guarantees and bounds.

use super::Args;
use super::design::Chosen;
use super::filter::Filter;
use super::remember::time_text;
use super::sift::{Sift, Tally};
use crate::aside::{self, Reserved};
use crate::failure::{Failure, warn};
use crate::filters::Layout;
use crate::records::{Habit, KeysOf, Records};
use crate::report::{CONFIDENCE, Report, bytes, count, expected, fpr_value, plural, proven, rate, rate_up};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};
use truebloom::recycling::{Stats, WrongDrops};
use truebloom_math::recycling::LongRun;
use truebloom_math::{Fpr, Method};

/// The shortest time between two messages about phases that end early.
const QUIET_FOR: Duration = Duration::from_secs(60);

/// The option with which not all lines are forgotten at the same time.
const REMEMBER: &str = "--remember (forgets only old lines)";

/// Returns advice on how to avoid forgetting. An existing state cannot be enlarged, so for a state
/// the advice is to begin a new one.
fn more(args: &Args) -> &'static str {
    if args.state.is_some() { "begin a new state with more --memory or a larger -n" } else { args.sizing.advice() }
}

/// The counts at the beginning of this run; they are not 0 if a state has counted before.
pub(super) struct Account {
    before: Stats,
    /// The word that messages use for a record.
    noun: &'static str,
    /// Whether the user was already told that lines are forgotten.
    told: bool,
    told_early: ToldEarly,
}

/// The last message that phases end early.
struct ToldEarly {
    /// The shortest time between two messages.
    quiet_for: Duration,
    /// When the last message was printed, and how many phases had ended early then.
    last: Option<(Instant, u64)>,
}

impl ToldEarly {
    /// Whether to report now that this many phases have ended early, if lines should be remembered
    /// for the time `age`.
    fn is_due(&self, early: u64, age: Duration) -> bool {
        match self.last {
            None => early > 0,
            Some((at, told)) => early > told && at.elapsed() >= age.max(self.quiet_for),
        }
    }
}

impl Account {
    pub(super) fn begin(filter: &Filter, noun: &'static str) -> Account {
        Account { before: filter.stats(), noun, told: false, told_early: ToldEarly { quiet_for: QUIET_FOR, last: None } }
    }

    /// Prints the report if one was requested, and warns if less was remembered than requested.
    pub(super) fn close(
        &self,
        args: &Args,
        reserved: &Reserved,
        filter: &Filter,
        chosen: &Chosen,
        records: &Records,
        tally: Tally,
    ) -> Result<(), Failure> {
        self.warn_of_early(args, filter, chosen);
        if !args.report.is_asked() {
            self.warn_of_cycles(filter);
        }
        if !args.json && !args.report.is_asked() {
            return Ok(());
        }
        let mut report = Report::new("dedup");
        self.add_trust(&mut report, args, filter)?;
        self.add_counts(&mut report, args, filter, tally);
        add_design(&mut report, self.noun, filter, chosen)?;
        add_stream(&mut report, filter, chosen);
        records.add_shortfall(&mut report);
        if args.json {
            aside::print_aside(&report, true)?;
        }
        if !args.json || args.report.has_file() { reserved.write(&report) } else { Ok(()) }
    }

    /// Reports at once, because the input may have no end, that lines are forgotten although this
    /// was not requested. Nothing is reported with --json, whose object contains this fact.
    pub(super) fn tell<W: Write>(&mut self, args: &Args, sift: &Sift<'_, W>, chosen: &Chosen) {
        if args.quiet || args.json {
            return;
        }
        if chosen.design.phases() > 1 {
            self.tell_early(args, sift.filter(), chosen);
        } else {
            self.tell_forgotten(args, sift, chosen);
        }
    }

    /// Reports that phases end early: at the first such phase, and then at most once in the time
    /// for which lines should be remembered.
    fn tell_early(&mut self, args: &Args, filter: &Filter, chosen: &Chosen) {
        let early = self.early(filter);
        let Some(age) = chosen.age.filter(|age| self.told_early.is_due(early, *age)) else { return };
        let told = match self.told_early.last {
            None => {
                warn(format_args!(
                    "the memory ({}) was full before {} had passed, so some lines may be remembered for less time; to avoid this, {}",
                    bytes(chosen.bytes()),
                    time_text(age),
                    more(args)
                ));
                1
            }
            Some(_) => {
                self.warn_of_early(args, filter, chosen);
                early
            }
        };
        self.told_early.last = Some((Instant::now(), told));
    }

    /// Reports, once per run, that all lines were forgotten.
    fn tell_forgotten<W: Write>(&mut self, args: &Args, sift: &Sift<'_, W>, chosen: &Chosen) {
        if self.told || sift.filter().stats().cycles == self.before.cycles {
            return;
        }
        self.told = true;
        warn(format_args!(
            "the memory ({}) was full within the first {} and was emptied, so earlier lines count as new if they occur again. \
             To avoid this, {}, or add --strict (stops when the memory is full)",
            bytes(chosen.bytes()),
            plural(sift.tally.read, self.noun),
            match (args.state.is_some(), chosen.design.layout()) {
                // A blocked filter has no second phase.
                (_, Layout::Blocked | Layout::Auto) => more(args).to_owned(),
                (true, _) => format!("begin a new state with more --memory, a larger -n or {REMEMBER}"),
                (false, _) => format!("{}, {} {REMEMBER}", more(args), args.sizing.advice_to_remember()),
            }
        ));
    }

    /// The message with which --strict stops.
    pub(super) fn full(&self, args: &Args, tally: Tally, chosen: &Chosen) -> Failure {
        Failure::new(format_args!(
            "stopped after {}, because the memory ({}) is full; nothing was forgotten; {}, or leave --strict out",
            plural(tally.read, self.noun),
            bytes(chosen.bytes()),
            more(args),
        ))
    }

    /// Prints a hint if all lines were new although the state already had some: perhaps their keys
    /// were extracted differently from those in the state. Also warns if only some lines end with
    /// CR LF, because equal texts then have different keys.
    pub(super) fn doubt(&self, keys: &KeysOf, tally: Tally, records: &Records) {
        let complete = records.complete();
        let nothing_known = self.before.offered > 0 && tally.read > 0 && tally.new == tally.read;
        if keys.other_form || keys.other_part || nothing_known || keys.is_kept && !complete {
            keys.print_doubt();
        }
        let habit = records.habit().filter(|habit| *habit == Habit::SomeReturns || nothing_known && habit.is_returns());
        habit.iter().for_each(|habit| warn(habit.hint()));
    }

    /// How many phases of this run have ended because they were full.
    fn early(&self, filter: &Filter) -> u64 {
        filter.stats().by_fill.saturating_sub(self.before.by_fill)
    }

    /// Reports how many phases ended early, unless the user already knows.
    fn warn_of_early(&self, args: &Args, filter: &Filter, chosen: &Chosen) {
        let early = self.early(filter);
        let known = self.told_early.last.map_or(0, |(_, told)| told);
        if let (Some(age), true) = (chosen.age, early > known) {
            warn(format_args!(
                "{} ended early because {} full, so some lines may have been remembered for less than {}; to avoid this, {}",
                plural(early, "phase"),
                if early == 1 { "it was" } else { "they were" },
                time_text(age),
                more(args)
            ));
        }
    }

    /// Reports how many times all lines were forgotten, if this happened more than once. The
    /// first time was reported at once.
    fn warn_of_cycles(&self, filter: &Filter) {
        let cycles = filter.stats().cycles - self.before.cycles;
        if self.told && cycles > 1 {
            warn(format_args!("the memory was full and was emptied {} in all", plural(cycles, "time")));
        }
    }

    fn add_counts(&self, report: &mut Report, args: &Args, filter: &Filter, tally: Tally) {
        let (stats, Tally { read, new, selected }) = (filter.stats(), tally);
        let dropped = read.saturating_sub(new);
        report.field("lines", read).field("kept", new).field("dropped", dropped).field("selected", selected);
        let kinds = match (args.repeated, args.second) {
            (false, false) => format!("{} kept, {} dropped as repeats", count(new), count(dropped)),
            (true, _) => format!("{}, {}", plural(new, "first occurrence"), plural(dropped, "repeat")),
            (_, true) => format!(
                "{}, {}, {}",
                plural(new, "first occurrence"),
                plural(selected, "second occurrence"),
                plural(dropped.saturating_sub(selected), "later occurrence")
            ),
        };
        report.line("lines", format!("{}, {kinds}", plural(read, self.noun)));
        if self.before.offered > 0 && !args.second {
            report.line(
                "in all",
                format!("{} read since the state was made, {} of them kept", plural(stats.offered, self.noun), count(stats.new)),
            );
        }
        // With second occurrences the filter counts entries, and how many lines it had before this
        // run is not known.
        let in_all = match (args.second, self.before.offered) {
            (false, _) => Some((stats.offered, stats.new)),
            (true, 0) => Some((read, new)),
            (true, _) => None,
        };
        report.field("lines_in_all", in_all.map(|(lines, _)| lines)).field("kept_in_all", in_all.map(|(_, kept)| kept));
        report.field("refreshed_in_all", Some(stats.refreshed).filter(|_| !args.second));
    }

    /// Adds one line about whether the output can be trusted: how many lines are expected to be
    /// missing, and whether a line may be in it twice.
    fn add_trust(&self, report: &mut Report, args: &Args, filter: &Filter) -> Result<(), Failure> {
        let lost = filter.wrong_drops(CONFIDENCE)?;
        report.field("wrong_drops", lost.map_or(Value::Null, wrong_drops_value));
        let noun = self.noun;
        let (wrong, none) = match (args.repeated, args.second) {
            (false, false) => ("first occurrences wrongly dropped".to_owned(), "no first occurrence was wrongly dropped".to_owned()),
            (true, _) => (format!("{noun}s wrongly reported as repeats"), format!("no {noun} was wrongly reported as a repeat")),
            (_, true) => {
                (format!("{noun}s printed too early or never printed"), format!("no {noun} was printed too early, and none is missing"))
            }
        };
        let since = if self.before.offered > 0 { " since the state was made" } else { "" };
        let wrong = match lost {
            Some(WrongDrops { at_most: 0, .. }) => none + since,
            // A line with two wrong look-ups counts as one line.
            Some(lost) => drops(&lost, if args.second { "at most " } else { "" }, &(wrong + since)),
            None => format!("the filter is too small for a proven bound on the number of {wrong}"),
        };
        // Counted since the state was made, like the number of missing lines.
        let twice = match (filter.stats().cycles, args.repeated, args.second) {
            (0, false, false) => format!("; no {noun} is printed twice"),
            (0, ..) => "; nothing was forgotten".to_owned(),
            (forgotten, ..) => {
                format!("; lines were forgotten {}, and a forgotten line counts as new if it occurs again", plural(forgotten, "time"))
            }
        };
        report.line("trust", wrong + &twice);
        Ok(())
    }
}

/// Adds the number of distinct lines that were offered to a state, or bounds on it. Until the state
/// forgets for the first time, these are the lines that were kept plus the new lines that were
/// wrongly dropped as repeats.
pub(super) fn add_distinct(report: &mut Report, filter: &Filter, second: bool) -> Result<(), Failure> {
    let (stats, lost) = (filter.stats(), filter.wrong_drops(CONFIDENCE)?);
    report.field("kept", stats.new).field("in_phase", stats.items);
    report.field("wrong_drops", lost.map_or(Value::Null, wrong_drops_value));
    let new = if second { format!("{} entries", count(stats.new)) } else { plural(stats.new, "line") };
    report.line("kept", format!("{new} were counted as new; the current phase contains {} of them", count(stats.items)));
    match lost {
        Some(lost) if stats.cycles == 0 && !second => {
            let most = stats.new.saturating_add(lost.at_most).min(stats.offered);
            report.field("distinct", json!({ "lower": stats.new, "upper": most, "confidence": CONFIDENCE }));
            report.line("distinct", format!("{} to {} ({}% confidence)", count(stats.new), count(most), 100.0 * CONFIDENCE));
        }
        _ => {
            report.field("distinct", Value::Null);
            let why = match (second, stats.cycles) {
                (true, _) => "the counts include second occurrences",
                (_, 0) => "the filter is too small for a bound",
                _ => "a forgotten line that occurs again is counted again",
            };
            report.line("distinct", format!("not known: {why}"));
        }
    }
    if let (Some(lost), 1..) = (lost, stats.cycles) {
        report.line("lost", drops(&lost, "", "first occurrences wrongly dropped"));
    }
    Ok(())
}

/// Rounds a mean number of lines to a whole number, or to three significant digits if it is at
/// least 100,000.
pub(super) fn rounded(lines: f64) -> u64 {
    rounded_with(lines, f64::round)
}

fn rounded_with(lines: f64, round: fn(f64) -> f64) -> u64 {
    let unit = if lines < 100_000.0 { 1.0 } else { 10f64.powf(lines.log10().floor() - 2.0) };
    (round(lines / unit) * unit) as u64
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
        .field("items_per_cycle", run.items_per_cycle.value / chosen.entries as f64)
        .field("design_fpr", fpr_value(&run.fpr))
        .field("worst_fpr", filter.worst_fpr());
    let items = run.items_per_cycle;
    // If the bracket is wide, its lower end is reported. It is a lower bound also because not all
    // lines take all their entries.
    let is_least = items.method != Method::Exact || chosen.entries > 1;
    let entries = if items.method == Method::Exact { items.value } else { items.lower };
    let full = entries / chosen.entries as f64;
    let full = match is_least {
        true => format!("an average of at least {} distinct {noun}s", count(rounded_with(full, f64::floor))),
        false => format!("about {} distinct {noun}s", count(rounded(full))),
    };
    let forgets = match (phases, chosen.age) {
        (1, _) => format!(", room for {full}; emptied when full"),
        (_, None) => format!(", each with room for {full}; when one is full, the other is emptied"),
        (_, Some(age)) => format!("; the older phase is emptied after {} or after {full}", time_text(age)),
    };
    let layout = if design.layout() == Layout::Standard { "" } else { ", blocked layout" };
    let split = if phases == 1 { String::new() } else { format!(" in {}", plural(phases, "phase")) };
    report.line("memory", format!("{}{layout}{split}{forgets}", bytes(chosen.bytes())));
    let sure = design.sigma().filter(|_| phases > 1).map(|sigma| sigma / u64::from(design.probes()) / chosen.entries);
    report.field("remembers_at_least", sure);
    report.field("remembers", chosen.items);
    if let Some(sure) = sure {
        let likely = "with a probability of at least 99.9999% in each phase";
        // A line is forgotten when it is too old, even if no other lines have come since.
        let text = match (chosen.age.map(time_text), chosen.items.map(count)) {
            (None, None) => format!("the last {} (guaranteed)", plural(sure, noun)),
            (None, Some(items)) => format!("the last {} always, and the last {items} {likely} (proven)", plural(sure, noun)),
            (Some(age), None) => {
                format!("a {noun} for at least {age}, if fewer than {} other {noun}s come in that time (guaranteed)", count(sure))
            }
            (Some(age), Some(items)) => format!(
                "a {noun} for at least {age}: always if fewer than {} other {noun}s come in that time, and {likely} if fewer than {items} come (proven)",
                count(sure)
            ),
        };
        report.line("remembers", text);
    }
    add_rate(report, filter, chosen, &run, noun);
    Ok(())
}

/// Returns the rate of wrong lines, where a line is wrong if at least one of its `look_ups`
/// look-ups is wrong. This rate is at most the sum of the look-ups' rates, and at least the rate of
/// one look-up.
fn of_lines(fpr: &Fpr, look_ups: u64) -> Fpr {
    if look_ups == 1 {
        return *fpr;
    }
    let most = (fpr.upper * look_ups as f64).min(1.0);
    let method = if fpr.method == Method::Exact { Method::Bound } else { fpr.method };
    let ln_most = (fpr.ln_upper + (look_ups as f64).ln()).next_up().min(0.0);
    let mut sum = *fpr;
    (sum.value, sum.upper, sum.ln, sum.ln_upper, sum.method) = (most, most, ln_most, ln_most, method);
    sum
}

/// Adds the rate that is proven for every input that is chosen without knowing the seed. With one
/// phase, this is the average rate; with two phases, it is the rate when the state is fullest.
fn add_rate(report: &mut Report, filter: &Filter, chosen: &Chosen, run: &LongRun, noun: &str) {
    let method = match run.fpr.method {
        Method::Exact | Method::Bound => "proven",
        _ => "validated",
    };
    let (promised, of, text) = match chosen.design.phases() {
        1 => {
            let average = of_lines(&run.fpr, chosen.entries);
            // A limit is exact, whereas the rate that a filter reports is rounded up.
            let fullest = chosen.design.limit().unwrap_or(filter.worst_fpr()) * chosen.entries as f64;
            let (most, fullest) = (proven(&average, chosen.rate), rate_up(fullest.min(1.0), 4));
            let text = format!(
                "at most {most} on average in the long run ({method}); each time the memory fills, the rate rises from 0 to {fullest}"
            );
            (average, "average of the long run", text)
        }
        _ => {
            let (worst, average) = (of_lines(&run.worst, chosen.entries), of_lines(&run.fpr, chosen.entries));
            let text = format!(
                "at most {} for every new {noun}, whatever came before (proven); {}{} on average if all {noun}s are new",
                proven(&worst, chosen.rate),
                if chosen.entries > 1 { "at most " } else { "" },
                rate(average.value, 4)
            );
            (worst, "every new record", text)
        }
    };
    let unless = "for input that was chosen without knowing the seed";
    report.field("promised_fpr", fpr_value(&promised)).field("promised_for", format!("{of}, {unless}"));
    report.line("rate", text);
    report.line("", format!("these rates hold {unless}"));
}

/// Adds how often the filter was recycled, its seed, and the average rate so far.
fn add_stream(report: &mut Report, filter: &Filter, chosen: &Chosen) {
    add_recycled(report, filter.stats(), chosen.design.phases());
    report.field("seed", filter.seed().to_string()).field("average_fpr", filter.average_fpr());
}

/// Adds how often the filter has forgotten something, and why.
pub(super) fn add_recycled(report: &mut Report, stats: Stats, phases: u64) {
    report.field("cycles", stats.cycles).field("cycles_by_fill", stats.by_fill);
    let full = if phases == 1 { "the memory was full" } else { "the newer phase was full" };
    let what = if phases == 1 { "all lines were forgotten" } else { "the older phase was emptied" };
    let because = match stats.by_fill {
        0 => String::new(),
        by_fill if by_fill == stats.cycles => format!(", because {full}"),
        by_fill => format!("; {} of these times because {full}", count(by_fill)),
    };
    report
        .line("recycled", if stats.cycles == 0 { "never".to_owned() } else { format!("{what} {}{because}", plural(stats.cycles, "time")) });
}

/// A text like `lines printed too early: about 1.7 expected (at most 6 with 99.9999% confidence)`.
/// The expected number is left out if it is not below the bound. `about` is a word
/// before the expected number, and is left out if this number is tiny.
fn drops(lost: &WrongDrops, about: &str, what: &str) -> String {
    let (most, percent) = (count(lost.at_most), 100.0 * CONFIDENCE);
    if lost.expected >= lost.at_most as f64 {
        return format!("{what}: at most {most} with {percent}% confidence");
    }
    let about = if lost.expected < 1e-6 { "" } else { about };
    format!("{what}: {about}{} expected (at most {most} with {percent}% confidence)", expected(lost.expected))
}

fn wrong_drops_value(lost: WrongDrops) -> Value {
    // The expected number is a bound, too, and can be the weaker of the two.
    json!({ "expected": lost.expected.min(lost.at_most as f64), "at_most": lost.at_most, "confidence": CONFIDENCE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_rounded() {
        assert_eq!([0.4, 99_998.5, 100_999.0, 22_901_487.6].map(rounded), [0, 99_999, 101_000, 22_900_000]);
        let down = |lines| rounded_with(lines, f64::floor);
        assert_eq!([0.9, 99_999.9, 100_999.0, 22_999_999.0].map(down), [0, 99_999, 100_000, 22_900_000]);
    }

    #[test]
    fn each_early_end_is_reported_once_and_not_too_often() {
        let (now, later) = (Duration::ZERO, Duration::MAX);
        let told = |quiet_for, last: Option<u64>| ToldEarly { quiet_for, last: last.map(|told| (Instant::now(), told)) };
        assert!(!told(now, None).is_due(0, now));
        assert!(told(later, None).is_due(1, later));
        assert!(!told(now, Some(1)).is_due(1, now));
        assert!(told(now, Some(1)).is_due(2, now));
        assert!(!told(later, Some(1)).is_due(2, now));
        assert!(!told(now, Some(1)).is_due(2, later));
    }
}
