//! Filters that forget, for streams without end.

use crate::json::{Json, object};
use crate::lines;
use crate::question::{Question, sentence};
use crate::words::{Table, at_most, card, more, one_in, share};
use crate::{drawn, size::fpr};
use truebloom_math::recycling::{Design, SizedDesign, blocked_capacity, blocked_min_bits};
use truebloom_math::{BLOCK_BITS, Error, Layout, Rate, Variant};
use truebloom_plot::{Axis, Chart, Mark, Series};
use truebloom_report::charts::RATE;
use truebloom_report::designs::{Designs, MOST_REMEMBERED, Today};
use truebloom_report::read;
use truebloom_report::show::{bytes, count, plural, rate as number, significant};

/// What one of the three fields asks for.
#[derive(Clone, Copy)]
enum Goal {
    /// The most items of a memory, in bits.
    Memory(u64),
    /// The least memory for so many new items between two resets.
    Items(u64),
    /// The least memory that remembers while so many new items come.
    Remember(u64),
}

struct Asked {
    rate: Rate,
    goal: Goal,
    forget: Rate,
    /// New items a second, where times are meant.
    arrival: Option<f64>,
}

fn asked(question: &mut Question<'_>) -> Result<Asked, Json> {
    let rate = question.read("p", read::rate);
    let memory = question.read("memory", read::memory);
    let items = question.read("n", read::items);
    let arrival = question.read("arrival", read::per_second);
    let forget = question.read("forget", read::rate);
    let gap = question.read("remember", |text| gap(text, arrival));
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
            return Err(object! { "hint": "Give one of: the memory, the new items between two resets, how long to remember." });
        }
        _ => {
            return Err(
                object! { "hint": "Give only one of: the memory, the new items between two resets, how long to remember. The page computes the others." },
            );
        }
    };
    let Some(rate) = rate else { return Err(object! { "hint": "Give the share of new items that may be taken for repeats." }) };
    let forget = match forget {
        Some(forget) => forget,
        None => Rate::from_parts(1, -2, 1).map_err(|error| object! { "problem": error.to_string() })?,
    };
    Ok(Asked { rate, goal, forget, arrival })
}

/// New items to remember: a number of them, or a time in which so many come.
fn gap(text: &str, arrival: Option<f64>) -> Result<u64, String> {
    let items = match (read::count(text), read::time(text), arrival) {
        // `10M` is items, `10m` minutes.
        (Ok(items), _, _) => items,
        (Err(_), Ok(time), Some(arrival)) => (time.as_secs_f64() * arrival).ceil() as u64,
        (Err(_), Ok(_), None) => return Err("a time needs the new items per second in the next field".to_owned()),
        (Err(error), Err(_), _) => return Err(format!("{error}; or a time, as 30s, 10min, 1h or 7d")),
    };
    match items {
        1..=MOST_REMEMBERED => Ok(items),
        _ => Err(format!("{} to remember; give 1 to 10^15", plural(items, "item"))),
    }
}

fn designs(asked: &Asked) -> Result<Designs, Error> {
    match asked.goal {
        Goal::Memory(bits) => Designs::of_bits(bits, &asked.rate, Layout::Spread),
        Goal::Items(items) => Designs::of_items(items, &asked.rate, Layout::Spread),
        Goal::Remember(gap) => Designs::of_gap(gap, asked.forget.to_f64(), &asked.rate, Layout::Spread),
    }
}

/// The questions' designs, or the answer that says why there are none.
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

/// The gap after which the forgotten are counted.
fn counted_gap(asked: &Asked, today: Option<&Today>) -> Option<u64> {
    match asked.goal {
        Goal::Remember(gap) => Some(gap),
        _ => today.map(|today| today.items),
    }
}

/// A number of new items, and the time in which they come if that is known.
fn lasting(items: u64, arrival: Option<f64>) -> String {
    let text = plural(items, "new item");
    arrival.map_or(text.clone(), |arrival| format!("{text} ({})", lasts(items as f64 / arrival)))
}

fn lasts(seconds: f64) -> String {
    let units = [(604_800.0, "weeks"), (86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= 2.0 * unit).unwrap_or((1.0, "seconds"));
    format!("about {} {name}", significant(seconds / unit, 3))
}

fn described(asked: &Asked, designs: &Designs) -> Result<Json, Error> {
    let gap = counted_gap(asked, designs.today.as_ref());
    let mut table =
        Table::new("Ways to forget", &["Filter", "#Memory", "#New items between resets", "#Probes", "Rate", "Forgotten by then", "Gain"]);
    let mut facts = Vec::new();
    if let Some(today) = &designs.today {
        let forgotten = gap.map_or(String::new(), |gap| share((gap.saturating_add(1).min(today.items)) as f64 / today.items as f64, 3));
        table.row([
            "fixed: emptied after so many items, as it is usually done".to_owned(),
            bytes(today.bits.div_ceil(8)),
            count(today.items),
            today.probes.to_string(),
            format!("{} for the last item", share(asked.rate.to_f64(), 4)),
            forgotten,
            "1".to_owned(),
        ]);
        facts.push(("fixed", object! { "bits": today.bits, "items": today.items, "probes": today.probes }));
    }
    let rows = [
        ("one phase: emptied when it is full enough", "one_phase", designs.one.as_ref()),
        ("two phases: the older one is emptied", "two_phases", designs.two.as_ref()),
        ("two phases that forget nothing sooner", "certain", designs.certain.as_ref()),
    ];
    for (name, field, sized) in rows {
        let Some(SizedDesign { design, run, .. }) = sized else { continue };
        let law = design.forgetting()?;
        let forgotten = gap.map(|gap| law.probability(gap));
        let gain = designs.today.as_ref().map(|today| today.gain(run.items_per_cycle.value, design.total_bits()));
        let rates = match design.mode().filters() {
            1 => format!("{} on average, {} at worst", at_most(run.fpr.upper, Some(asked.rate)), share(run.worst.value, 3)),
            _ => format!("{} at worst, whatever the stream", at_most(run.worst.upper, Some(asked.rate))),
        };
        table.row([
            name.to_owned(),
            bytes(design.total_bits().div_ceil(8)),
            count(run.items_per_cycle.value.round() as u64),
            design.probes().to_string(),
            rates,
            forgotten.map_or(String::new(), |chance| if chance.value == 0.0 { "none".to_owned() } else { share(chance.value, 3) }),
            gain.map_or(String::new(), |gain| significant(gain, 3)),
        ]);
        facts.push((
            field,
            object! {
                "bits": design.total_bits(), "probes": design.probes(), "sigma": design.sigma(), "items_per_cycle": run.items_per_cycle.value,
                "fpr": fpr(&run.fpr), "worst": fpr(&run.worst), "forgotten": forgotten.map(|chance| chance.value), "remembered_at_least": law.remembered_at_least(),
            },
        ));
    }
    if let Some(gap) = gap {
        table.note(format!(
            "Forgotten by then: the share of items that the filter no longer knows after {} more. Gain: new items between resets for each bit, over those of the fixed filter.",
            lasting(gap, asked.arrival)
        ));
    }
    let Some(main) = chosen(asked, designs) else {
        return Ok(object! { "problem": "No filter of this size, or of up to 2^62 bits, keeps to this rate." });
    };
    let mut cards = cards(asked, main)?;
    if let Goal::Remember(gap) = asked.goal {
        cards.insert(
            0,
            card(
                "Remembers",
                lasting(gap, asked.arrival),
                format!("At most {} of the items are forgotten sooner.", share(asked.forget.to_f64(), 4)),
                "good",
            ),
        );
    }
    let (memory, cycle) = (bytes(main.design.total_bits().div_ceil(8)), main.run.items_per_cycle.value.round() as u64);
    let big = if matches!(asked.goal, Goal::Memory(_)) { format!("{} items", count(cycle)) } else { memory.clone() };
    let each = if main.design.mode().filters() == 2 { "in each of two phases" } else { "between two resets" };
    let items = match asked.goal {
        Goal::Items(items) => items,
        Goal::Remember(gap) if main.design.mode().filters() == 2 => gap,
        _ => cycle,
    };
    Ok(object! {
        "summary": format!("A filter of {memory} takes about {} {each}, and wrongly takes at most {} of the new items for repeats.", lasting(cycle, asked.arrival), at_most(kept(main), Some(asked.rate))),
        "big": big,
        "small": match asked.goal {
            Goal::Memory(_) => format!("{each}, in {memory} and with {}", plural(main.design.probes().into(), "probe")),
            _ => format!("about {} {each}, {}", lasting(cycle, asked.arrival), plural(main.design.probes().into(), "probe")),
        },
        "cards": cards,
        "lines": lines::of_streams(&main.design, asked.rate, &option(asked), items),
        "tables": vec![Json::from(table)],
        "facts": Json::Object(facts),
    })
}

/// The design that the page leads with: what is to be remembered for a time takes least with two phases, as a rule.
fn chosen<'a>(asked: &Asked, designs: &'a Designs) -> Option<&'a SizedDesign> {
    let (one, two) = (designs.one.as_ref(), designs.two.as_ref());
    match asked.goal {
        Goal::Remember(_) => one.into_iter().chain(two).min_by_key(|sized| sized.design.total_bits()),
        _ => one.or(two),
    }
}

/// The rate that a design is held to.
fn kept(sized: &SizedDesign) -> f64 {
    if sized.design.mode().filters() == 2 { sized.run.worst.upper } else { sized.run.fpr.upper }
}

fn cards(asked: &Asked, main: &SizedDesign) -> Result<Vec<Json>, Error> {
    let many = |rate: f64| Some(one_in(rate)).filter(|text| !text.is_empty()).map_or(String::new(), |text| format!("That is {text}. "));
    let cycle = main.design.cycle()?;
    let spread = 100.0 * cycle.variance.sqrt() / cycle.mean.value;
    let two = main.design.mode().filters() == 2;
    let held = match two {
        false => card(
            "Average rate",
            format!("at most {}", at_most(main.run.fpr.upper, Some(asked.rate))),
            format!("{}The share of new items that are taken for repeats, in the long run. Proven.", many(main.run.fpr.upper)),
            "good",
        ),
        true => card(
            "Rate, whatever the stream",
            format!("at most {}", at_most(main.run.worst.upper, Some(asked.rate))),
            format!("{}For every new item, whatever came before it. Proven.", many(main.run.worst.upper)),
            "good",
        ),
    };
    let other = match two {
        false => card(
            "When fullest",
            share(main.run.worst.value, 4),
            format!("{}The rate just before it is emptied.", many(main.run.worst.value)),
            "",
        ),
        true => card("On average", share(main.run.fpr.value, 4), "Where all items are new.".to_owned(), ""),
    };
    let resets = card(
        if two { "Turns over after" } else { "Is emptied after" },
        format!("about {}", lasting(main.run.items_per_cycle.value.round() as u64, asked.arrival)),
        format!("This varies by {}% from one time to the next (standard deviation).", number(spread, 2)),
        "",
    );
    Ok(vec![held, other, resets])
}

/// The option of `dedup` that asks for the same.
fn option(asked: &Asked) -> String {
    match asked.goal {
        Goal::Memory(bits) => format!("--memory {}", lines::memory(bits)),
        Goal::Items(items) => format!("-n {}", lines::short(items)),
        Goal::Remember(gap) => format!("--remember {}", lines::short(gap)),
    }
}

/// One phase in cache lines, beside the standard one. It takes longer to find, so it is asked for by itself.
pub(crate) fn blocked(question: &mut Question<'_>) -> Json {
    let (asked, designs) = match found(question) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let cycle = designs.one.as_ref().map(|one| one.run.items_per_cycle.value);
    let sized = match asked.goal {
        Goal::Memory(bits) if bits >= BLOCK_BITS => blocked_capacity(bits, &asked.rate),
        Goal::Memory(_) => Ok(None),
        _ => cycle.map_or(Ok(None), |items| blocked_min_bits(items, &asked.rate)),
    };
    let (Ok(Some(sized)), Some(one)) = (sized, designs.one.as_ref()) else {
        return object! { "hint": "No filter in cache lines keeps this rate." };
    };
    let mut table = Table::new(
        "One phase, all bits of an item in one cache line",
        &["Layout", "#Memory", "#New items between resets", "#Probes", "#Bits", "Rate"],
    );
    let items = sized.run.items_per_cycle.lower;
    let bits_per_item = sized.design.bits() as f64 / items;
    let standard = one.design.total_bits() as f64 / one.run.items_per_cycle.value;
    table.row([
        "blocked".to_owned(),
        bytes(sized.design.bits().div_ceil(8)),
        format!("at least {}", count(items.floor() as u64)),
        sized.design.probes().to_string(),
        more(bits_per_item / standard),
        format!("{} on average, {} at worst", at_most(sized.run.fpr.upper, Some(asked.rate)), share(sized.run.worst.value, 3)),
    ]);
    table.note("A lookup reads one place in memory in place of several. Bits: for each item, beside one phase in the standard layout.");
    let facts = object! { "bits": sized.design.bits(), "probes": sized.design.probes(), "items_per_cycle_at_least": items, "fpr": sized.run.fpr.upper };
    object! { "tables": vec![Json::from(table)], "facts": facts }
}

/// The saw-tooth of the rate, and what is forgotten when.
pub(crate) fn charts(question: &mut Question<'_>) -> Json {
    let (asked, designs) = match found(question) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let Some(main) = chosen(&asked, &designs) else { return object! { "hint": "There is no filter to draw." } };
    object! { "saw": drawn(saw_tooth(&asked, main), question), "forgetting": drawn(forgetting(&designs), question) }
}

/// Resets that are shown.
const CYCLES: u64 = 4;
/// Points of a curve between two resets.
const POINTS: u64 = 40;

/// The expected rate by the items since the last reset, one reset after the other at their average distance.
fn saw_tooth(asked: &Asked, sized: &SizedDesign) -> Result<Chart, Error> {
    let design = &sized.design;
    let (length, two) = (sized.run.items_per_cycle.value, design.mode().filters() == 2);
    let rate =
        |items: f64| -> Result<f64, Error> { Ok(Variant::Standard.fpr(design.bits(), items.round() as u64, design.probes())?.value) };
    // Of two phases the frozen one answers beside the active one.
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

/// The share of items that are forgotten, by the new items that came since.
fn forgetting(designs: &Designs) -> Result<Chart, Error> {
    let longest = [&designs.one, &designs.two, &designs.certain]
        .into_iter()
        .flatten()
        .map(|sized| sized.run.items_per_cycle.value)
        .fold(1.0, f64::max);
    let last = (1.6 * longest).max(4.0);
    let gaps = || (0..=120u32).map(|step| last * f64::from(step) / 120.0);
    let mut chart = Chart::new(
        "What is forgotten, and when",
        Axis::linear("new items since an item came"),
        Axis::linear("forgotten, %").between(0.0, 100.0),
    );
    if let Some(today) = &designs.today {
        let points = gaps().map(|gap| (gap, 100.0 * ((gap + 1.0) / today.items as f64).min(1.0))).collect();
        chart = chart.with(Series::dashed("fixed", points).coloured(5));
    }
    for (name, colour, sized) in
        [("one phase", 0, &designs.one), ("two phases", 1, &designs.two), ("two phases, certain", 2, &designs.certain)]
    {
        let Some(SizedDesign { design, .. }) = sized else { continue };
        let points = forgotten(design, gaps())?;
        chart = chart.with(Series::line(name, points).coloured(colour));
    }
    Ok(chart)
}

fn forgotten(design: &Design, gaps: impl Iterator<Item = f64>) -> Result<Vec<(f64, f64)>, Error> {
    let law = design.forgetting()?;
    Ok(gaps.map(|gap| (gap, 100.0 * law.probability(gap as u64).value)).collect())
}
