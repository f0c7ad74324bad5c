//! `truebloom plan --recycling`: filters that forget, with one or with two phases, compared with
//! the usual design that assumes no model.

use crate::args::{self, Size, needs};
use crate::failure::{Failure, of_options};
use crate::filters::Layout;
use crate::report::{self, CONFIDENCE, Report, count, fpr_value, plural, proven, rate, rate_up, rate_value, significant, size};
use serde_json::{Map, Value, json};
use truebloom_math::Rate;
use truebloom_math::recycling::{BlockedSized, Bracket, Design, SizedDesign};
use truebloom_report::designs::{Designs, FORGET, Usual, blocked_held, held, held_in_words, remembered, remembered_for};
use truebloom_report::read::{self, Span};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Plan filters that forget: they are emptied when full. A single filter (one phase) meets the
    /// rate on average. Two filters that take turns (two phases) meet the rate for every stream. A
    /// cycle lasts from one emptying to the next, and -n is the number of new items in a cycle
    #[arg(long, requires = "rate", conflicts_with_all = ["scheme", "confidence", "mean", "probes", "max_memory"])]
    recycling: bool,

    /// Total memory in bytes (64MiB, 2GB), in place of --bits
    #[arg(long, value_name = "BYTES", value_parser = args::memory, conflicts_with = "bits")]
    memory: Option<u64>,

    /// Remember an item until this many new items have arrived after it (10M), or for this time
    /// (1h, which needs --arrival). If you also give a size, the report shows the share of items
    /// that a filter of this size forgets too early
    #[arg(long, value_name = "N|TIME", requires = "recycling", conflicts_with = "items")]
    remember: Option<String>,

    /// Number of new items that arrive per second
    #[arg(long, visible_alias = "rate-of-arrival", value_name = "RATE", value_parser = args::per_second, requires = "remember")]
    arrival: Option<f64>,

    /// Share of items that may be forgotten earlier than --remember says [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = args::rate, requires = "remember")]
    forget: Option<Rate>,

    /// Number of new items in one run. The report gives an upper bound on the number of wrong drops
    /// (new items that are dropped as repeats) in this run. By default, a run lasts for 100 cycles
    #[arg(long, value_name = "N", value_parser = args::count, requires = "recycling")]
    over: Option<u64>,

    /// standard: the fewest bits; blocked: all probes of an item in one cache line; auto: blocked
    /// if that needs at most 10% more bits. With --recycling, only designs with one phase can be
    /// blocked
    #[arg(long, value_name = "LAYOUT", default_value = "standard", hide_possible_values = true)]
    layout: Layout,
}

impl Options {
    pub(crate) fn asked(&self) -> bool {
        self.recycling
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Refuses options that would have no effect. `has_bits` says whether the size is given in
    /// bits.
    pub(crate) fn check(&self, has_bits: bool) -> Result<(), Failure> {
        let recycling = ("--recycling", self.recycling);
        needs(("--remember", self.remember.is_some()), recycling)?;
        needs(("--over", self.over.is_some()), recycling)?;
        let remember = ("--remember", self.remember.is_some());
        needs(("--arrival", self.arrival.is_some()), remember)?;
        needs(("--forget", self.forget.is_some()), remember)?;
        if self.forget.is_some() && (has_bits || self.memory.is_some()) {
            return Err(Failure::new("--forget determines the size; leave out --forget or the size (-m or --memory)"));
        }
        Ok(())
    }

    /// The memory in bits, rounded down to whole words.
    pub(crate) fn bits(&self) -> Option<u64> {
        self.memory.map(|bytes| (bytes / 8).saturating_mul(64))
    }

    /// The number of new items to remember.
    fn gap(&self) -> Result<Option<u64>, Failure> {
        let Some(text) = &self.remember else { return Ok(None) };
        let wrong = |what: String| Failure::new(format!("--remember: {what}"));
        let span = read::span(text, "new items").map_err(wrong)?;
        let items = match (span, self.arrival) {
            (Span::Items(items), None) => remembered(items),
            (Span::Time(time), Some(rate)) => remembered_for(time, rate),
            (Span::Time(_), None) => return Err(wrong(format!("`{text}` is a time; add --arrival (new items per second)"))),
            (Span::Items(_), Some(_)) => {
                return Err(wrong(format!("with --arrival, give a time, such as 1h; to remember {text} items, leave --arrival out")));
            }
        };
        items.map(Some).map_err(wrong)
    }
}

/// The options other than the size of the filters.
struct Asked {
    rate: Rate,
    /// The number of new items after which to report the share of items that are forgotten.
    gap: Option<u64>,
    /// The number of new items in one run.
    over: Option<u64>,
    /// The bits of the smallest design.
    fewest: u64,
    /// Whether the size is given.
    is_sized: bool,
}

/// A design that has at least this many times the bits of the smallest one is not described.
const TIMES_THE_FEWEST: u64 = 1_000;

/// Adds only the size of a design that is far too large.
fn add_far_too_large(report: &mut Report, label: &str, bits: u64) {
    let times = count(TIMES_THE_FEWEST);
    report.line(label, format!("{}, at least {times} times the size of the smallest design in this list", size(bits)));
}

impl Asked {
    /// Why there is no design of this kind.
    fn none(&self, kind: &str) -> String {
        let size = if self.is_sized { "of the given size" } else { "of at most 2^62 bits" };
        format!("none: no {kind} {size} is proven to meet this rate")
    }

    /// Whether a design is so large that nobody would use it.
    fn is_far_too_large(&self, bits: u64) -> bool {
        bits / TIMES_THE_FEWEST >= self.fewest
    }
}

fn fewest_bits(designs: &Designs) -> u64 {
    let phases = [&designs.one, &designs.two, &designs.certain].into_iter().flatten().map(|sized| sized.design.total_bits());
    phases.chain(designs.usual.as_ref().map(|usual| usual.bits)).min().unwrap_or(u64::MAX)
}

/// The smallest share of forgotten items for which the library plans a filter.
const LEAST_FORGET: f64 = 1e-6;

/// Returns the report, and the one-phase design that the report describes.
pub(crate) fn report(options: &Options, size: &Size) -> Result<(Report, Option<Design>), Failure> {
    let gap = options.gap()?;
    let Some(asked) = size.rate else { return Err(Failure::new("give the average rate with -p")) };
    let bits = size.bits.or(options.bits());
    let layout = options.layout.planned();
    let (designs, what) = match (bits, size.items, gap) {
        (Some(bits), None, _) => (Designs::of_bits(bits, &asked, layout)?, report::size(bits)),
        (None, Some(items), _) => (
            Designs::of_items(items, &asked, layout).map_err(of_options(&[("items", "-n"), ("items_per_cycle", "-n")]))?,
            format!("{} per cycle", plural(items, "new item")),
        ),
        (None, None, Some(gap)) => {
            let forget = options.forget.map_or(FORGET, |share| share.to_f64());
            if forget < LEAST_FORGET {
                return Err(Failure::new(format_args!(
                    "--forget is {}, but must be at least {LEAST_FORGET:e}; without --forget, the line `certain` shows the filter that forgets no item too early",
                    rate(forget, 3)
                )));
            }
            let kept = format!(
                "an item is remembered for the next {}; the share of items that may be forgotten earlier is {}",
                plural(gap, "new item"),
                options.forget.map_or_else(|| FORGET.to_string(), |share| share.to_string())
            );
            (Designs::of_gap(gap, forget, &asked, layout)?, kept)
        }
        _ => return Err(Failure::new("give one of these: --memory (or --bits), -n (new items per cycle), --remember")),
    };
    let mut report = Report::new("plan");
    report.line("requested", format!("a rate of {asked}; {what}"));
    report.field("recycling", true).field("asked", rate_value(Some(asked)));
    let usual = designs.usual.as_ref();
    let asked = Asked {
        rate: asked,
        gap: gap.or(usual.map(|usual| usual.items)),
        over: options.over,
        fewest: fewest_bits(&designs),
        is_sized: bits.is_some(),
    };
    report.field("gap", asked.gap);
    add_usual(&mut report, usual, &asked);
    add_design(&mut report, ["one phase", "one_phase"], designs.one.as_ref(), &asked, usual)?;
    if options.layout != Layout::Standard {
        add_blocked(&mut report, &designs, options.layout, &asked)?;
    }
    add_design(&mut report, ["two phases", "two_phase"], designs.two.as_ref(), &asked, usual)?;
    if options.remember.is_some() && bits.is_none() {
        add_design(&mut report, ["certain", "certain"], designs.certain.as_ref(), &asked, usual)?;
    }
    Ok((report, designs.one.map(|sized| sized.design)))
}

fn add_usual(report: &mut Report, usual: Option<&Usual>, asked: &Asked) {
    let Some(Usual { bits, probes, items }) = usual else {
        report.field("usual", Value::Null).line("usual", asked.none("filter"));
        return;
    };
    let forgotten = asked.gap.map(|gap| gap.saturating_add(1).min(*items) as f64 / *items as f64);
    report.field("usual", json!({ "bits": bits, "probes": probes, "items_per_cycle": items, "forgotten": forgotten }));
    if asked.is_far_too_large(*bits) {
        add_far_too_large(report, "usual", *bits);
        return;
    }
    report.line("usual", format!("{}: emptied after {}, {}", size(*bits), plural(*items, "item"), plural((*probes).into(), "probe")));
    add_forgotten(report, asked.gap, forgotten, 0);
}

fn add_design(
    report: &mut Report,
    [label, name]: [&str; 2],
    found: Option<&SizedDesign>,
    asked: &Asked,
    usual: Option<&Usual>,
) -> Result<(), Failure> {
    let Some(sized @ SizedDesign { design, run, .. }) = found else {
        report.field(name, Value::Null).line(label, asked.none("filter"));
        return Ok(());
    };
    let law = design.forgetting()?;
    let forgotten = asked.gap.map(|gap| law.probability(gap));
    let is_one = design.mode().filters() == 1;
    let (held, gain) = (held(sized), usual.map(|usual| usual.gain(sized)));
    let by_worst = design.wrong_drops_are_by_worst();
    let one_run = OneRun::of(asked, &run.items_per_cycle, by_worst, |items| design.wrong_drops_at_most(items, CONFIDENCE))?;
    let mut fields: Map<String, Value> = Map::new();
    for (field, value) in [
        ("bits", json!(design.total_bits())),
        ("probes", json!(design.probes())),
        ("sigma", json!(design.sigma())),
        ("items_per_cycle", json!(run.items_per_cycle.value)),
        ("items_held", json!(held)),
        ("fpr", fpr_value(&run.fpr).into()),
        ("worst", fpr_value(&run.worst).into()),
        ("one_run", one_run.value()),
        ("gain", json!(gain)),
        ("forgotten", json!(forgotten.map(|chance| chance.value))),
        ("remembered_at_least", json!(law.remembered_at_least())),
    ] {
        fields.insert(field.to_owned(), value);
    }
    report.field(name, fields);
    if asked.is_far_too_large(design.total_bits()) {
        add_far_too_large(report, label, design.total_bits());
        return Ok(());
    }
    let items = plural(run.items_per_cycle.value.round() as u64, "item");
    let (unit, ends) = if is_one { ("cycle", "emptied") } else { ("phase", "a phase ends") };
    let probes = plural(design.probes().into(), "probe");
    let when = match design.sigma() {
        0 => "as soon as a bit is set".to_owned(),
        1 => "when more than 1 bit is set".to_owned(),
        sigma => format!("when more than {} bits are set", count(sigma)),
    };
    report.line(label, format!("{}, {probes}: {items} per {unit}; {ends} {when}{}", size(design.total_bits()), gained(gain)));
    if is_one {
        add_held(report, held);
    }
    // Refreshed items can fill a phase before new items arrive, so with two phases only the worst
    // rate holds for every stream.
    let rates = if is_one {
        format!("the rate is at most {} on average, and {} at worst", proven(&run.fpr, Some(asked.rate)), rate(run.worst.value, 3))
    } else {
        format!(
            "the rate is at most {} for any stream, and {} on average if all items are new",
            proven(&run.worst, Some(asked.rate)),
            rate(run.fpr.value, 3)
        )
    };
    report.line("", rates);
    add_one_run(report, &one_run, is_one);
    let sure = law.remembered_at_least();
    add_forgotten(report, asked.gap, forgotten.map(|chance| chance.value), sure);
    if sure > 1 {
        report.line("", format!("each item is guaranteed to be remembered until {} have arrived after it", plural(sure, "new item")));
    }
    Ok(())
}

/// Adds the blocked design with one phase, for comparison with the standard one. With `auto`, the
/// blocked design is added only if it needs at most 10% more bits.
fn add_blocked(report: &mut Report, designs: &Designs, layout: Layout, asked: &Asked) -> Result<(), Failure> {
    let worth = |found: &BlockedSized| designs.one.as_ref().is_some_and(|one| found.is_worth_it(one));
    let Some(found) = designs.blocked.as_ref().filter(|found| layout == Layout::Blocked || worth(found)) else {
        let why = match layout {
            Layout::Auto => "none: no blocked filter meets this rate with at most 10% more bits than the standard layout",
            _ => &asked.none("blocked filter"),
        };
        report.field("blocked", Value::Null).line("blocked", why);
        return Ok(());
    };
    let (design, run) = (&found.design, &found.run);
    // A cycle is proven to have at least this many items, so at most this share is forgotten.
    let items = run.items_per_cycle.lower;
    let forgotten = asked.gap.map(|gap| ((gap as f64 + 1.0) / items).min(1.0));
    let one_run = OneRun::of(asked, &run.items_per_cycle, true, |items| design.wrong_drops_at_most(items, CONFIDENCE))?;
    let held = blocked_held(found);
    let gain = designs.usual.as_ref().map(|usual| usual.blocked_gain(found));
    let bits_ratio = designs.one.as_ref().map(|one| found.bits_ratio(one));
    report.field(
        "blocked",
        json!({
            "bits": design.bits(), "probes": design.probes(), "limit": design.limit(), "items_per_cycle": run.items_per_cycle.value,
            "items_per_cycle_at_least": items, "items_held_at_least": held, "fpr": fpr_value(&run.fpr), "worst": fpr_value(&run.worst), "one_run": one_run.value(),
            "gain": gain, "forgotten_at_most": forgotten, "bits_ratio": bits_ratio, "is_worth_it": worth(found),
        }),
    );
    let (items, probes) = (plural(items.floor() as u64, "item"), plural(design.probes().into(), "probe"));
    let above = rate(design.limit(), 4);
    report.line(
        "blocked",
        format!("{}, {probes}: at least {items} per cycle; emptied when its rate exceeds {above}{}", size(design.bits()), gained(gain)),
    );
    add_held(report, held);
    report.line("", format!("the rate is at most {} on average, and {above} at worst", proven(&run.fpr, Some(asked.rate))));
    add_one_run(report, &one_run, true);
    if let Some((gap, share)) = asked.gap.zip(forgotten) {
        report.line("", format!("at most {}% of items are forgotten once {}", significant(100.0 * share, 3), more_items(gap)));
    }
    if let Some(times) = bits_ratio {
        report.line(
            "",
            format!(
                "blocked layout: {:.2}% {}, one cache line per lookup",
                (100.0 * (times - 1.0)).abs(),
                if times < 1.0 { "smaller" } else { "larger" }
            ),
        );
    }
    Ok(())
}

/// Bounds for a single run, and the worst rate. The bounds hold for every stream and nearly all
/// seeds.
struct OneRun {
    items: u64,
    /// An upper bound on how many items are wrongly dropped.
    at_most: u64,
    /// Whether the bound was computed from the worst rate alone.
    by_worst: bool,
}

/// The number of cycles in a run if the options do not give the run's length.
const CYCLES: f64 = 100.0;

impl OneRun {
    fn of(asked: &Asked, cycle: &Bracket, by_worst: bool, bound: impl Fn(u64) -> truebloom_math::Result<u64>) -> Result<OneRun, Failure> {
        let items = asked.over.unwrap_or((CYCLES * cycle.value.clamp(1.0, 1e13)).round() as u64);
        Ok(OneRun { items, at_most: bound(items).map_err(of_options(&[("items", "--over")]))?, by_worst })
    }

    fn average(&self) -> f64 {
        self.at_most as f64 / self.items as f64
    }

    fn value(&self) -> Value {
        json!({ "items": self.items, "wrong_drops_at_most": self.at_most, "average_at_most": self.average(), "confidence": CONFIDENCE, "by": if self.by_worst { "worst" } else { "average" } })
    }
}

/// If the design was planned for its average rate (`is_planned`), a bound that comes from the worst
/// rate is several times the requested rate.
fn add_one_run(report: &mut Report, run: &OneRun, is_planned: bool) {
    let (dropped, share) = (count(run.at_most), rate_up(run.average(), 3));
    let of = plural(run.items, "new item");
    let how = if is_planned && run.by_worst { ", even if the rate is always at its worst" } else { "" };
    let sure = 100.0 * CONFIDENCE;
    report.line("", format!("in a run of {of}, at most {dropped} are wrongly dropped (a share of {share}), with {sure}% confidence{how}"));
}

/// Adds the average number of items that a filter holds when it is emptied, if this number is
/// clearly smaller than the number of items per cycle.
fn add_held(report: &mut Report, held: f64) {
    if let Some(text) = held_in_words(held) {
        report.line("", text);
    }
}

fn gained(gain: Option<f64>) -> String {
    gain.map_or(String::new(), |gain| {
        let than_usual = if gain < 1.0 { "fewer" } else { "more" };
        format!("; holds {}% {than_usual} items per bit than `usual`", significant(100.0 * (gain - 1.0).abs(), 3))
    })
}

/// A text like `another 10 new items have arrived`.
fn more_items(number: u64) -> String {
    if number == 1 { "another new item has arrived".to_owned() } else { format!("another {} have arrived", plural(number, "new item")) }
}

/// Adds the share of items that are forgotten when `gap` others have arrived. Every item is
/// remembered until `sure` others have arrived.
fn add_forgotten(report: &mut Report, gap: Option<u64>, forgotten: Option<f64>, sure: u64) {
    if let Some((gap, share)) = gap.zip(forgotten) {
        let share = match share {
            _ if gap < sure => "no items".to_owned(),
            // This can be the result of rounding.
            0.0 => "practically no items".to_owned(),
            _ => format!("{}% of items", significant(100.0 * share, 3)),
        };
        report.line("", format!("{share} are forgotten once {}", more_items(gap)));
    }
}
