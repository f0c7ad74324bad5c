//! Filters that forget, for endless streams.

use crate::json::{Json, object};
use crate::lines;
use crate::question::{Question, sentence};
use crate::words::{Table, at_most, card, choice, more, one_in, share};
use crate::{drawn, size::fpr};
use std::time::Duration;
use truebloom_math::recycling::{Design, Mode, SizedDesign, blocked_capacity, blocked_min_bits, min_bits};
use truebloom_math::{BLOCK_BITS, Error, Layout, Rate, Variant};
use truebloom_plot::{Axis, Chart, Mark, Series};
use truebloom_report::charts::RATE;
use truebloom_report::designs::{Designs, FORGET, Usual, held, held_in_words, remembered, remembered_for};
use truebloom_report::read::{self, Span};
use truebloom_report::show::{bytes, count, plural, rate as number, significant};

/// The goal, which is in one of three fields.
#[derive(Clone, Copy)]
enum Goal {
    /// The most items for a memory, which is given in bits.
    Memory(u64),
    /// The least memory for this many new items between two resets.
    Items(u64),
    /// The least memory that remembers an item while this many new items come.
    Remember(u64),
}

struct Asked {
    rate: Rate,
    goal: Goal,
    forget: f64,
    /// New items per second, if times are given.
    arrival: Option<f64>,
    /// The number of seconds to remember, if a time was given.
    seconds: Option<f64>,
}

fn asked(question: &mut Question<'_>) -> Result<Asked, Json> {
    let rate = question.read("p", read::rate);
    let memory = question.read("memory", read::memory);
    let items = question.read("n", read::items);
    let arrival = question.read("arrival", read::per_second);
    let forget = question.read("forget", read::rate);
    let span = question.read("remember", |text| read::span(text, "new items"));
    let seconds = match span {
        Some(Span::Time(time)) => Some(time.as_secs_f64()),
        _ => None,
    };
    let gap = match span {
        Some(Span::Time(time)) => time_in_items(question, time, arrival),
        Some(Span::Items(items)) => remembered(items).map_err(|error| question.wrong("remember", error)).ok(),
        None => None,
    };
    if items == Some(0) {
        question.wrong("n", "items is 0, but must be at least 1");
    }
    if question.is_wrong() {
        return Err(question.refusal());
    }
    let goal = match (memory, items, gap) {
        (Some(bytes), None, None) => Goal::Memory((bytes / 8).saturating_mul(64)),
        (None, Some(items), None) => Goal::Items(items),
        (None, None, Some(gap)) => Goal::Remember(gap),
        (None, None, None) => {
            return Err(object! { "hint": "Fill in one of the first three fields: the memory, the new items, or how long to remember." });
        }
        _ => {
            let given: Vec<(&str, &str)> = [("memory", "the memory"), ("n", "the new items"), ("remember", "how long to remember")]
                .into_iter()
                .filter(|(field, _)| question.has(field))
                .collect();
            let which = match given[..] {
                [(_, one), (_, other)] => format!("Two of the first three fields are filled: {one} and {other}"),
                _ => "All of the first three fields are filled".to_owned(),
            };
            let keep = |(field, name): (&str, &str)| {
                let others = ["memory", "n", "remember"].into_iter().filter(|other| *other != field).collect::<Vec<_>>();
                choice(format!("Keep only {name}"), &others.join(" "))
            };
            return Err(object! {
                "hint": format!("{which}. Each of them determines the others, so none is used until you clear all but one."),
                "choices": given.into_iter().map(keep).collect::<Vec<_>>(),
            });
        }
    };
    let Some(rate) = rate else { return Err(object! { "hint": "Give the share of new items that may be reported as seen." }) };
    let forget = forget.map_or(FORGET, |share| share.to_f64());
    Ok(Asked { rate, goal, forget, arrival, seconds })
}

/// The number of new items that come in a time. If a field is missing for this, a message appears
/// beside it.
fn time_in_items(question: &mut Question<'_>, time: Duration, arrival: Option<f64>) -> Option<u64> {
    let Some(arrival) = arrival else {
        // A field that cannot be read has its own message.
        if !question.has("arrival") {
            let text = format!(
                "`{}` is a time: write here how many new items come per second, such as 5000 or 300 a minute",
                question.text("remember")
            );
            question.wrong("arrival", text);
        }
        return None;
    };
    remembered_for(time, arrival).map_err(|error| question.wrong("remember", error)).ok()
}

fn designs(asked: &Asked) -> Result<Designs, Error> {
    match asked.goal {
        Goal::Memory(bits) => Designs::of_bits(bits, &asked.rate, Layout::Spread),
        Goal::Items(items) => Designs::of_items(items, &asked.rate, Layout::Spread),
        Goal::Remember(gap) => Designs::of_gap(gap, asked.forget, &asked.rate, Layout::Spread),
    }
}

/// The designs for the question, or an answer with the reason why there are none.
fn found(question: &mut Question<'_>) -> Result<(Asked, Designs), Json> {
    let asked = asked(question)?;
    match designs(&asked) {
        Ok(designs) => Ok((asked, designs)),
        Err(error) => {
            question.wrong("p", error.to_string());
            Err(question.refusal())
        }
    }
}

pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    match found(question).map(|(asked, designs)| described(&asked, &designs)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => object! { "problem": sentence(&error.to_string()) },
        Err(refusal) => refusal,
    }
}

/// The number of new items after which the share of forgotten items is given.
fn counted_gap(asked: &Asked, usual: Option<&Usual>) -> Option<u64> {
    match asked.goal {
        Goal::Remember(gap) => Some(gap),
        _ => usual.map(|usual| usual.items),
    }
}

/// A number of new items, and the time in which they come, if that is known.
fn lasting(items: u64, arrival: Option<f64>) -> String {
    let text = plural(items, "new item");
    arrival.map_or(text.clone(), |arrival| format!("{text} ({})", lasts(items as f64 / arrival)))
}

fn lasts(seconds: f64) -> String {
    format!("about {}", time(seconds))
}

const UNITS: [(f64, &str); 5] = [(604_800.0, "week"), (86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second")];

fn time(seconds: f64) -> String {
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit || seconds == *unit).unwrap_or((1.0, "second"));
    format!("{} {name}{}", significant(seconds / unit, 3), if seconds == unit { "" } else { "s" })
}

/// `the last hour`, `the last 90 minutes`.
fn last_time(seconds: f64) -> String {
    let time = time(seconds);
    format!("the last {}", time.strip_prefix("1 ").unwrap_or(&time))
}

fn described(asked: &Asked, designs: &Designs) -> Result<Json, Error> {
    let gap = counted_gap(asked, designs.usual.as_ref());
    let mut table = Table::new(
        "Ways to forget",
        &["Way", "#Memory", "#New items until it is emptied", "New items reported as seen", "Forgotten", "#Items per bit"],
    );
    let mut facts = Vec::new();
    if let Some(usual) = &designs.usual {
        let forgotten = gap.map_or(String::new(), |gap| share((gap.saturating_add(1).min(usual.items)) as f64 / usual.items as f64, 3));
        table.row([
            "usual: emptied after a fixed number of items".to_owned(),
            bytes(usual.bits.div_ceil(8)),
            count(usual.items),
            format!("{} just before it is emptied", share(asked.rate.to_f64(), 4)),
            forgotten,
            "as usual".to_owned(),
        ]);
        facts.push(("usual", object! { "bits": usual.bits, "items": usual.items, "probes": usual.probes }));
    }
    let rows = [
        ("one phase: one filter, emptied when it is full enough", "one_phase", designs.one.as_ref()),
        ("two phases: two filters, of which the older one is emptied when the newer one is full", "two_phases", designs.two.as_ref()),
        ("two phases, certain: larger, so that nothing is forgotten too early", "certain", designs.certain.as_ref()),
    ];
    for (name, field, sized) in rows {
        let Some(sized @ SizedDesign { design, run, .. }) = sized else { continue };
        // For some thousand items, the exact computation takes seconds; a guarantee does not need
        // it.
        let law = if field == "certain" { None } else { design.forgetting().ok() };
        let forgotten = match (&law, field) {
            (Some(law), _) => gap.map(|gap| law.probability(gap).value),
            (None, "certain") => Some(0.0),
            _ => None,
        };
        let gain = designs.usual.as_ref().map(|usual| usual.gain(sized));
        let rates = match design.mode().filters() {
            1 => {
                format!("{} on average, {} just before it is emptied", at_most(run.fpr.upper, Some(asked.rate)), share(run.worst.value, 3))
            }
            _ => format!("{} at worst, for any stream", at_most(run.worst.upper, Some(asked.rate))),
        };
        table.row([
            name.to_owned(),
            bytes(design.total_bits().div_ceil(8)),
            count(run.items_per_cycle.value.round() as u64),
            rates,
            forgotten.map_or(String::new(), |chance| if chance == 0.0 { "none".to_owned() } else { share(chance, 3) }),
            gain.map_or(String::new(), crate::words::times),
        ]);
        facts.push((
            field,
            object! {
                "bits": design.total_bits(), "probes": design.probes(), "sigma": design.sigma(), "items_per_cycle": run.items_per_cycle.value,
                "items_held": held(sized), "gain": gain, "fpr": fpr(&run.fpr), "worst": fpr(&run.worst), "forgotten": forgotten, "remembered_at_least": law.map(|law| law.remembered_at_least()),
            },
        ));
    }
    if let Some(gap) = gap {
        table.note(format!(
            "Forgotten: the share of items that it no longer knows after {} more. Items per bit: how many items a bit of memory holds when a filter is emptied, relative to the usual way.",
            lasting(gap, asked.arrival)
        ));
    }
    let Some(main) = chosen(asked, designs) else {
        return Ok(object! { "problem": "No filter of this size, or of up to 2^62 bits, meets this rate." });
    };
    let (memory, cycle) = (bytes(main.design.total_bits().div_ceil(8)), main.run.items_per_cycle.value.round() as u64);
    let two = main.design.mode().filters() == 2;
    let repeats = format!("at most {} of new items are wrongly reported as seen", at_most(kept(main), Some(asked.rate)));
    let sets = format!("an item sets {} bits", main.design.probes());
    let (big, small, summary) = match asked.goal {
        Goal::Remember(gap) => {
            let last = remembered_last(asked, gap);
            let of = asked.seconds.map_or(String::new(), |_| format!(" ({})", plural(gap, "new item")));
            let forgotten = share(asked.forget, 4);
            let summary = format!(
                "A filter of {memory} remembers the items of {last}{of}; at most {forgotten} of them are forgotten too early. Of the new items, {repeats}."
            );
            (memory.clone(), format!("to remember {last}; {sets}"), summary.replace("of new items are", "are"))
        }
        Goal::Items(_) => {
            let summary = format!(
                "A filter of {memory} takes about {}, is emptied, and begins anew. In the long run {repeats}.",
                lasting(cycle, asked.arrival)
            );
            (memory.clone(), format!("about {} until it is emptied; {sets}", lasting(cycle, asked.arrival)), summary)
        }
        Goal::Memory(_) => {
            let summary = format!(
                "A filter of {memory} takes about {}, is emptied, and begins anew. In the long run {repeats}.",
                lasting(cycle, asked.arrival)
            );
            let every = asked.arrival.map_or(String::new(), |arrival| format!(" ({})", lasts(cycle as f64 / arrival)));
            (format!("{} items", count(cycle)), format!("until it is emptied{every}, in {memory}; {sets}"), summary)
        }
    };
    Ok(object! {
        "summary": summary,
        "big": big,
        "small": if two { format!("{small}, in one of two filters that take turns") } else { small },
        "note": held_in_words(held(main)).filter(|_| !two).map_or(String::new(), |text| sentence(&text)),
        "cards": cards(asked, main, designs.certain.as_ref())?,
        "lines": lines::of_streams(&in_lines(asked, main)),
        "tables": vec![Json::from(table)],
        "facts": Json::Object(facts),
    })
}

/// The parameters of the code to copy.
fn in_lines<'a>(asked: &Asked, main: &'a SizedDesign) -> lines::Stream<'a> {
    let cycle = main.run.items_per_cycle.value;
    let command = match (asked.goal, asked.seconds) {
        (Goal::Memory(bits), _) => (format!("--memory {}", lines::memory(bits)), ""),
        (Goal::Items(items), _) => (
            format!("-n {}", lines::short(items)),
            " It takes a little more memory, to hold all of these with a probability of at least 99.9999%.",
        ),
        (Goal::Remember(gap), None) => (
            format!("--remember {}", lines::short(gap)),
            " It takes a little more memory, so that in each phase, the probability of forgetting one too early is at most one in a million.",
        ),
        (Goal::Remember(gap), Some(seconds)) => (
            format!("--remember {} -n {}", in_command(seconds), lines::short(gap)),
            " It forgets by the clock, and takes a little more memory, to hold all that may come in that time.",
        ),
    };
    let same = match (main.design.mode().filters(), asked.goal) {
        (2, _) => averaged(asked, main),
        (_, Goal::Items(items)) => Some((items, asked.rate)),
        // Rounded down so that the items fit, or rounded up so that enough items are remembered.
        (_, Goal::Memory(_)) => Some((cycle.floor() as u64, asked.rate)),
        (_, Goal::Remember(_)) => Some((cycle.ceil() as u64, asked.rate)),
    };
    let every = match asked.goal {
        Goal::Remember(gap) => asked.seconds.map(|seconds| (gap, seconds)),
        _ => None,
    };
    lines::Stream { design: &main.design, rate: asked.rate, command, same, every }
}

/// A time as the command reads it.
fn in_command(seconds: f64) -> String {
    let units = [(604_800.0, "w"), (86_400.0, "d"), (3_600.0, "h"), (60.0, "min")];
    let whole = units.into_iter().find(|(unit, _)| seconds % unit == 0.0);
    whole.map_or_else(|| format!("{seconds}s"), |(unit, name)| format!("{}{name}", seconds / unit))
}

/// Parameters for programs that size two phases by their average rate: the number of new items of a
/// phase, and an average rate at which the worst rate is the requested rate.
fn averaged(asked: &Asked, main: &SizedDesign) -> Option<(u64, Rate)> {
    let items = main.run.items_per_cycle.value.ceil();
    let mut average = main.run.fpr.upper;
    for _ in 0..4 {
        // Rounded down to three digits.
        let step = 10f64.powi(average.log10().floor() as i32 - 2);
        let rate: Rate = number((average / step).floor() * step, 3).parse().ok()?;
        let found = min_bits(items, &rate, Mode::two_phase()).ok()??;
        if found.run.worst.upper <= asked.rate.to_f64() {
            return Some((items as u64, rate));
        }
        average *= 0.995 * asked.rate.to_f64() / found.run.worst.upper;
    }
    None
}

/// The main design of the answer. To remember items for a time, two phases usually take the least
/// memory.
fn chosen<'a>(asked: &Asked, designs: &'a Designs) -> Option<&'a SizedDesign> {
    let (one, two) = (designs.one.as_ref(), designs.two.as_ref());
    match asked.goal {
        Goal::Remember(_) => one.into_iter().chain(two).min_by_key(|sized| sized.design.total_bits()),
        _ => one.or(two),
    }
}

/// The rate that the design promises.
fn kept(sized: &SizedDesign) -> f64 {
    if sized.design.mode().filters() == 2 { sized.run.worst.upper } else { sized.run.fpr.upper }
}

fn cards(asked: &Asked, main: &SizedDesign, certain: Option<&SizedDesign>) -> Result<Vec<Json>, Error> {
    let many = |rate: f64| Some(one_in(rate)).filter(|text| !text.is_empty()).map_or(String::new(), |text| format!("That is {text}. "));
    let two = main.design.mode().filters() == 2;
    let held = match two {
        false => card(
            "Reported as seen, on average",
            format!("at most {}", at_most(main.run.fpr.upper, Some(asked.rate))),
            format!("{}The share of new items that are wrongly reported as seen, in the long run. Proven.", many(main.run.fpr.upper)),
            "good",
        ),
        true => card(
            "Reported as seen",
            format!("at most {}", at_most(main.run.worst.upper, Some(asked.rate))),
            format!(
                "{}For every new item, whatever came before it. Proven. On average {}, where all items are new.",
                many(main.run.worst.upper),
                share(main.run.fpr.value, 3)
            ),
            "good",
        ),
    };
    let turns = format!("about {}", lasting(main.run.items_per_cycle.value.round() as u64, asked.arrival));
    let third = if two {
        let text = "Two filters of equal size take turns: new items go into one, and both are queried.";
        card("The older filter is emptied", format!("after {turns}"), text, "")
    } else {
        // A number that cannot be computed quickly is left out.
        let varies = main.design.cycle().ok().map(|cycle| number(100.0 * cycle.variance.sqrt() / cycle.mean.value, 2));
        let text = varies
            .map_or(String::new(), |varies| format!("That number varies by {varies}% from one time to the next (standard deviation)."));
        card("Is emptied", format!("after {turns}"), text, "")
    };
    let Goal::Remember(gap) = asked.goal else {
        let text = format!("{}The rate when it is fullest.", many(main.run.worst.value));
        return Ok(vec![held, card("Just before it is emptied", share(main.run.worst.value, 4), text, ""), third]);
    };
    let none =
        certain.map_or(String::new(), |sized| format!(" To forget none of them takes {}.", bytes(sized.design.total_bits().div_ceil(8))));
    let text = format!(
        "{}At most {} of the items are forgotten too early.{none}",
        asked.seconds.map_or(String::new(), |_| format!("In which {} come. ", plural(gap, "new item"))),
        share(asked.forget, 4)
    );
    Ok(vec![card("Remembers", remembered_last(asked, gap), text, "good"), held, third])
}

/// What is remembered: a time if one was given, and otherwise a number of items.
fn remembered_last(asked: &Asked, gap: u64) -> String {
    asked.seconds.map_or_else(|| format!("the last {}", plural(gap, "new item")), last_time)
}

/// A blocked filter with one phase, compared with the standard filter. Its design takes longer to
/// compute, so it is a separate question.
pub(crate) fn blocked(question: &mut Question<'_>) -> Json {
    let (asked, designs) = match found(question) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    if chosen(&asked, &designs).is_none_or(|main| main.design.mode().filters() == 2) {
        return object! { "hint": "Two phases have no known rate in cache lines." };
    }
    let cycle = designs.one.as_ref().map(|one| one.run.items_per_cycle.value);
    let sized = match asked.goal {
        Goal::Memory(bits) if bits >= BLOCK_BITS => blocked_capacity(bits, &asked.rate),
        Goal::Memory(_) => Ok(None),
        _ => cycle.map_or(Ok(None), |items| blocked_min_bits(items, &asked.rate)),
    };
    let (Ok(Some(sized)), Some(one)) = (sized, designs.one.as_ref()) else {
        return object! { "hint": "No filter in cache lines meets this rate." };
    };
    let mut table = Table::new(
        "Faster: one filter with all bits of an item in one cache line",
        &["Layout", "#Memory", "#New items until it is emptied", "#Memory per item", "New items reported as seen"],
    );
    let items = sized.run.items_per_cycle.lower;
    let bits_per_item = sized.design.bits() as f64 / items;
    let standard = one.design.total_bits() as f64 / one.run.items_per_cycle.value;
    table.row([
        "blocked".to_owned(),
        bytes(sized.design.bits().div_ceil(8)),
        format!("at least {}", count(items.floor() as u64)),
        more(bits_per_item / standard),
        format!(
            "{} on average, {} just before it is emptied",
            at_most(sized.run.fpr.upper, Some(asked.rate)),
            share(sized.run.worst.value, 3)
        ),
    ]);
    table.note(
        "A lookup reads one place in memory instead of several. Its memory is compared with that of one phase in the standard layout.",
    );
    let facts = object! { "bits": sized.design.bits(), "probes": sized.design.probes(), "items_per_cycle_at_least": items, "fpr": sized.run.fpr.upper };
    object! { "tables": vec![Json::from(table)], "facts": facts }
}

/// Two charts: the saw-tooth curve of the rate, and the share of forgotten items.
pub(crate) fn charts(question: &mut Question<'_>) -> Json {
    let (asked, designs) = match found(question) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let Some(main) = chosen(&asked, &designs) else { return object! { "hint": "There is no filter to draw." } };
    object! { "saw": drawn(saw_tooth(&asked, main), question), "forgetting": drawn(forgetting(&asked, &designs, main), question) }
}

/// The number of resets in the chart.
const CYCLES: u64 = 4;
/// The number of points of the curve between two resets.
const POINTS: u64 = 40;

/// The expected rate as a function of the number of items since the last reset. The resets are
/// drawn at their average distance.
fn saw_tooth(asked: &Asked, sized: &SizedDesign) -> Result<Chart, Error> {
    let design = &sized.design;
    let (length, two) = (sized.run.items_per_cycle.value, design.mode().filters() == 2);
    let rate =
        |items: f64| -> Result<f64, Error> { Ok(Variant::Standard.fpr(design.bits(), items.round() as u64, design.probes())?.value) };
    // With two phases, the frozen phase answers queries, too.
    let frozen = if two { rate(length)? } else { 0.0 };
    let mut points = Vec::new();
    for cycle in 0..CYCLES {
        for step in 0..=POINTS {
            let held = length * step as f64 / POINTS as f64;
            let active = rate(held)?;
            let beside = if cycle == 0 { 0.0 } else { frozen };
            points.push((cycle as f64 * length + held, active + beside - active * beside));
        }
    }
    let (name, average) =
        if two { ("rate of both phases together", sized.run.fpr.value) } else { ("rate of the filter", sized.run.fpr.value) };
    let mut chart =
        Chart::new("The rate rises until the filter is emptied, and begins anew", Axis::linear("new items"), Axis::linear(RATE))
            .with(Series::line(name, points).coloured(0))
            .marked(Mark::level(average, format!("average {}", share(average, 4))));
    if !two {
        chart = chart.marked(Mark::level(sized.run.worst.value, format!("when fullest {}", share(sized.run.worst.value, 4))));
    } else {
        chart = chart.marked(Mark::level(asked.rate.to_f64(), format!("asked for {}", share(asked.rate.to_f64(), 4))));
    }
    Ok(chart.note(format!(
        "{} in all, {}; resets at their average distance",
        bytes(design.total_bits().div_ceil(8)),
        plural(design.probes().into(), "probe")
    )))
}

/// The share of forgotten items as a function of the number of new items that came since.
fn forgetting(asked: &Asked, designs: &Designs, main: &SizedDesign) -> Result<Chart, Error> {
    // The chart ends where the curve of the main design no longer changes.
    let reach = main.run.items_per_cycle.value * main.design.mode().filters() as f64;
    let wanted = if let Goal::Remember(gap) = asked.goal { Some(gap as f64) } else { None };
    let last = (1.25 * reach.max(wanted.unwrap_or(0.0))).max(4.0);
    let gaps = || (0..=120u32).map(|step| last * f64::from(step) / 120.0);
    let mut chart = Chart::new(
        "What is forgotten, and when",
        Axis::linear("new items since an item came"),
        Axis::linear("forgotten, %").between(0.0, 100.0),
    );
    if let Some(usual) = &designs.usual {
        let points = gaps().map(|gap| (gap, 100.0 * ((gap + 1.0) / usual.items as f64).min(1.0))).collect();
        chart = chart.with(Series::dashed("usual", points).coloured(5));
    }
    for (name, colour, sized) in
        [("one phase", 0, &designs.one), ("two phases", 1, &designs.two), ("two phases, certain", 2, &designs.certain)]
    {
        let Some(SizedDesign { design, .. }) = sized else { continue };
        let Ok(points) = forgotten(design, gaps()) else { continue };
        chart = chart.with(Series::line(name, points).coloured(colour));
    }
    if let Some(gap) = wanted {
        chart = chart.marked(Mark::upright(gap, "to be remembered"));
    }
    Ok(chart)
}

fn forgotten(design: &Design, gaps: impl Iterator<Item = f64>) -> Result<Vec<(f64, f64)>, Error> {
    let law = design.forgetting()?;
    Ok(gaps.map(|gap| (gap, 100.0 * law.probability(gap as u64).value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filter that Python and Redis make with the code: the fewest bits for this many items at
    /// an average rate.
    fn made(items: u64, rate: Rate, main: &SizedDesign) -> SizedDesign {
        let mode = if main.design.mode().filters() == 2 { Mode::two_phase() } else { Mode::default() };
        min_bits(items as f64, &rate, mode).expect("a quick answer").expect("a filter")
    }

    /// Python and Redis have other arguments, but their filters keep the page's promise with the
    /// same memory.
    #[test]
    fn lines_ask_for_what_is_answered() {
        for fields in [
            "remember=18M\np=0.1%",
            "remember=200k\np=1e-4",
            "remember=1 hour\narrival=50\np=1%\nforget=0.1%",
            "memory=1 MiB\np=0.1%",
            "n=100k\np=1e-6",
        ] {
            let text = format!("streams\n{fields}");
            let (asked, designs) = found(&mut Question::new(&text)).unwrap_or_else(|refusal| panic!("{refusal}"));
            let main = chosen(&asked, &designs).expect("a design");
            let (items, rate) = in_lines(&asked, main).same.expect("lines for Python");
            let theirs = made(items, rate, main);
            let size = theirs.design.total_bits() as f64 / main.design.total_bits() as f64;
            assert!((0.98..=1.01).contains(&size), "{fields}: {size} of the memory");
            assert!(kept(&theirs) <= asked.rate.to_f64(), "{fields}: a rate of {}", kept(&theirs));
            if let Goal::Remember(gap) = asked.goal {
                let forgotten = theirs.design.forgetting().expect("a law").probability(gap).value;
                assert!(forgotten <= 1.01 * asked.forget, "{fields}: {forgotten} forgotten");
            }
        }
    }

    /// A message appears beside the field that is wrong or missing.
    #[test]
    fn a_time_needs_items_per_second() {
        let errors = |fields: &str| crate::answer(&format!("streams\np=1%\n{fields}"));
        let lacking = errors("remember=1 hour");
        assert!(lacking.contains("`1 hour` is a time: write here how many") && lacking.contains("\"field\":\"arrival\""), "{lacking}");
        let wrong = errors("remember=1 hour\narrival=often");
        assert!(wrong.matches("\"field\"").count() == 1 && wrong.contains("`often`"), "{wrong}");
        assert!(errors("remember=soon").contains("neither a number of new items nor a time"));
        assert!(errors("remember=10m\narrival=50").contains("could be a time or a number of new items"));
        assert!(errors("remember=1h\narrival=500 a minute").contains("30,000 new items"));
        for fields in ["remember=1 hour\narrival=500 a second", "remember=60min\narrival=30k per minute", "remember=3600s\narrival=500"] {
            let answer = errors(fields);
            assert!(answer.contains("to remember the last hour") && answer.contains("1,800,000 new items"), "{fields}: {answer}");
        }
    }

    /// Fields that contradict each other are named.
    #[test]
    fn only_one_question_is_answered() {
        let three = crate::answer("streams\np=1%\nmemory=1MiB\nn=5\nremember=7");
        assert!(three.contains("All of the first three fields are filled"), "{three}");
        let two = crate::answer("streams\np=1%\nmemory=1MiB\nn=5");
        assert!(two.contains("filled: the memory and the new items. Each"), "{two}");
    }

    /// The item that ends a cycle is not remembered, and the page says so if that matters.
    #[test]
    fn what_is_forgotten_is_not_held() {
        let one = crate::answer("streams\nn=1\np=10%");
        assert!(one.contains("\"items_held\":0.0,\"gain\":0.0") && one.contains("\"note\":\"It remembers no item"), "{one}");
        let three = crate::answer("streams\nn=3\np=10%");
        assert!(three.contains("1.64 times") && three.contains("It remembers 2.153 items on average"), "{three}");
        assert!(crate::answer("streams\nn=100k\np=1%").contains("\"note\":\"\""));
    }

    #[test]
    fn times_in_words() {
        let text = [1.0, 60.0, 90.0, 3600.0, 5400.0, 86_400.0, 604_800.0, 1e6, 0.25].map(time).join(", ");
        assert_eq!(text, "1 second, 1 minute, 90 seconds, 1 hour, 90 minutes, 1 day, 1 week, 11.6 days, 0.25 seconds");
        assert_eq!((last_time(3600.0), last_time(1800.0)), ("the last hour".to_owned(), "the last 30 minutes".to_owned()));
    }

    /// A chart ends soon after the curve of the main design stops changing.
    #[test]
    fn charts_end_where_nothing_happens_any_more() {
        let chart = crate::answer("streams/charts\nremember=18M\np=0.1%");
        assert!(chart.contains(">\\n40,000,000") && !chart.contains("\u{d7}10"), "{}", &chart[chart.len() - 4000..]);
    }
}
