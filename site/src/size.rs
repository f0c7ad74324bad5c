//! How large a filter is, or what one of a size does.

use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::words::{Table, at_most, card, more, one_in, seen_above, share, share_as, times};
use crate::{drawn, lines};
use truebloom_math::{Error, Fpr, MAX_PROBES, Plan, Promise, Target};
use truebloom_report::beyond::{overload, static_filters};
use truebloom_report::blocked::Alternative;
use truebloom_report::charts;
use truebloom_report::read;
use truebloom_report::show::{bytes, count, plural, rate};

/// What the fields ask for; `None` where one is wrong.
pub(crate) fn target(question: &mut Question<'_>) -> Option<Target> {
    let mut target = Target {
        items: question.read("n", read::items),
        rate: question.read("p", read::rate),
        bits: question.read("m", read::bits),
        probes: question.read("k", |text| read::probes_up_to(MAX_PROBES, text)),
        ..Target::default()
    };
    let confidence = question.read("c", read::confidence);
    target.promise = match (question.text("promise"), confidence) {
        ("mean", _) => Promise::Mean,
        (_, Some(confidence)) => Promise::OneFilter { confidence },
        _ => Promise::default(),
    };
    (!question.is_wrong()).then_some(target)
}

/// The plan for the fields, or the answer that says why there is none.
pub(crate) fn plan(question: &mut Question<'_>) -> Result<(Target, Plan), Json> {
    let Some(target) = target(question) else { return Err(question.refusal()) };
    match Plan::new(&target) {
        Ok(plan) => Ok((target, plan)),
        Err(error) => Err(refused(question, &target, &error)),
    }
}

/// An error of the planner, beside the field that can mend it.
fn refused(question: &mut Question<'_>, target: &Target, error: &Error) -> Json {
    let field = match error {
        Error::Underdetermined { .. } if target.items.or(target.bits).is_none() && target.rate.is_none() => {
            return object! { "hint": "Give two of the first three fields, and the page computes the third." };
        }
        Error::Underdetermined { .. } => return object! { "hint": sentence(&error.to_string()) },
        Error::OutOfRange { name: "items", .. } => "n",
        Error::OutOfRange { name: "bits", .. } => "m",
        Error::OutOfRange { name: "probes", .. } => "k",
        Error::OutOfRange { name: "confidence", .. } => "c",
        Error::BelowHashFloor { .. } | Error::OverMemoryCap { .. } | Error::OutOfReach { .. } => "p",
        _ if target.probes.is_some() => "k",
        _ => return object! { "problem": sentence(&error.to_string()) },
    };
    question.wrong(field, error.to_string());
    question.refusal()
}

pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    match plan(question).map(|(target, plan)| described(&target, &plan)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => object! { "problem": sentence(&error.to_string()) },
        Err(refusal) => refusal,
    }
}

pub(crate) fn chart(question: &mut Question<'_>) -> Json {
    match plan(question) {
        Ok((_, plan)) => drawn(charts::plan(&plan), question),
        Err(refusal) => refusal,
    }
}

/// The rate that the one filter keeps, or the average where only that is asked for.
fn kept(plan: &Plan) -> &Fpr {
    plan.guarantee.as_ref().map_or(&plan.fpr, |guarantee| &guarantee.fpr)
}

fn described(target: &Target, plan: &Plan) -> Result<Json, Error> {
    let textbook = plan.textbook()?;
    let mean = match (&plan.guarantee, plan.rate) {
        (Some(_), Some(_)) => Some(Plan::new(&Target { promise: Promise::Mean, ..target.clone() })?),
        _ => None,
    };
    let blocked = Alternative::of(target, plan);
    let over = overload(plan)?;
    let still = static_filters(plan);
    let mut cards = vec![guaranteed(plan), expected(plan, mean.as_ref(), target)];
    cards.push(usual(plan, &textbook));
    let mut beyond = Table::new("If it holds more than planned", &["#Items", "", "#Rate on average", "", "#Times the plan's rate"]);
    let planned = plan.rate.map_or(plan.fpr.value, |rate| rate.to_f64());
    beyond.row([
        count(plan.items),
        "as planned".into(),
        share(plan.fpr.value, 4),
        one_in(plan.fpr.value),
        rate(plan.fpr.value / planned, 3),
    ]);
    for row in &over {
        let value = row.fpr.value;
        beyond.row([
            count(row.items),
            format!("{} times", row.factor),
            share_as(planned, value, 4),
            one_in(value),
            rate(value / planned, 3),
        ]);
    }
    let mut facts = vec![
        ("bits", Json::from(plan.bits)),
        ("items", plan.items.into()),
        ("probes", plan.probes.into()),
        ("bytes", plan.bytes().into()),
        ("bits_per_item", (plan.bits as f64 / plan.items as f64).into()),
        ("asked", plan.rate.map(|rate| rate.to_f64()).into()),
        ("fpr", fpr(&plan.fpr)),
        ("confidence", plan.guarantee.as_ref().map(|guarantee| guarantee.confidence).into()),
        ("guarantee", plan.guarantee.as_ref().map(|guarantee| fpr(&guarantee.fpr)).into()),
        ("mean_bits", mean.as_ref().map(|mean| mean.bits).into()),
        ("mean_items", mean.as_ref().map(|mean| mean.items).into()),
        ("textbook_bits", textbook.bits.into()),
        ("textbook_items", textbook.items.into()),
        ("textbook_probes", textbook.probes.into()),
        ("textbook_claimed", textbook.claimed.into()),
        ("textbook_fpr", textbook.fpr.value.into()),
    ];
    if let Some(blocked) = &blocked {
        facts.push(("blocked_bits", blocked.plan.bits.into()));
        facts.push(("blocked_probes", blocked.plan.probes.into()));
        facts.push(("blocked_fpr", blocked.plan.fpr.upper.into()));
        facts.push(("blocked_times_bits", blocked.times_bits.into()));
    }
    if let Some(still) = still {
        facts.push(("xor_bits", still.xor.into()));
        facts.push(("fuse_bits", still.fuse.into()));
    }
    facts.push(("overfilled_fpr", Json::List(over.iter().map(|row| row.fpr.value.into()).collect())));
    let summary = format!(
        "A Bloom filter of {} holds {}. It never misses one of them, and takes an item that was never added for a known one at most {}.",
        bytes(plan.bytes()),
        plural(plan.items, "item"),
        Some(one_in(kept(plan).upper))
            .filter(|text| !text.is_empty())
            .map_or(format!("{} of the time", at_most(kept(plan).upper, plan.rate)), |text| text.replacen("1 in", "once in", 1) + " times"),
    );
    Ok(object! {
        "summary": summary,
        "big": bytes(plan.bytes()),
        "small": format!(
            "{}, {} for each item, and {} (bits that an item sets)",
            plural(plan.bits, "bit"),
            rate(plan.bits as f64 / plan.items as f64, 4),
            plural(plan.probes.into(), "probe")
        ),
        "fill": object! {
            "n": count(plan.items),
            "p": at_most(kept(plan).upper, plan.rate),
            "m": bytes(plan.bytes()),
            "k": plan.probes.to_string(),
        },
        "cards": cards,
        "lines": lines::of_plan(target, plan),
        "tables": vec![Json::from(beyond), others(plan, blocked.as_ref(), still)],
        "facts": Json::Object(facts),
    })
}

fn guaranteed(plan: &Plan) -> Json {
    let Some(guarantee) = &plan.guarantee else {
        let text = "Only the average is asked for, so about half of the filters that are built lie slightly above it.";
        return card("Guaranteed", "the average alone", text, "");
    };
    let upper = guarantee.fpr.upper;
    let text = format!(
        "{}The one filter that you build keeps this rate with a probability of {}%. Proven.",
        said_as_one_in(upper),
        rate(100.0 * guarantee.confidence, 13)
    );
    card("Guaranteed", format!("at most {}", at_most(upper, plan.rate)), text, "good")
}

fn said_as_one_in(rate: f64) -> String {
    Some(one_in(rate)).filter(|text| !text.is_empty()).map_or(String::new(), |text| format!("That is {text}. "))
}

fn expected(plan: &Plan, mean: Option<&Plan>, target: &Target) -> Json {
    let cost = match mean {
        Some(mean) if target.bits.is_none() => format!(
            " The average alone would take {}; the guarantee takes {}% more.",
            plural(mean.bits, "bit"),
            rate(100.0 * (plan.bits as f64 / mean.bits as f64 - 1.0), 2)
        ),
        Some(mean) if mean.items != plan.items => format!(" For the average alone {} would fit.", plural(mean.items, "item")),
        _ => String::new(),
    };
    let text = format!("The average over all filters of this size. Proven.{cost}");
    card("Expected", format!("at most {}", at_most(plan.fpr.upper, plan.rate)), text, "")
}

fn usual(plan: &Plan, textbook: &truebloom_math::Textbook) -> Json {
    let value = textbook.fpr.value;
    let aim = plan.rate.map_or(textbook.claimed, |asked| asked.to_f64());
    let excess = (value + plan.hash_floor) / aim - 1.0;
    let by = if excess >= 1.0 { times(excess + 1.0) } else { format!("{}%", rate(100.0 * excess, 2)) };
    let (verdict, tone) = match textbook.meets {
        Some(true) => (", which keeps the rate you ask for, on average".to_owned(), ""),
        Some(false) if excess < 1e-9 => (", which just misses the rate you ask for".to_owned(), "bad"),
        Some(false) if excess >= 1.0 => (format!(", {by} the rate you ask for"), "bad"),
        Some(false) => (format!(", {by} above the rate you ask for"), "bad"),
        None if excess > 1e-9 && excess < 1.0 => (format!(", {by} above what it promises"), "bad"),
        None if excess > 1e-9 => (format!(", {by} what it promises"), "bad"),
        None => (String::new(), ""),
    };
    let text = format!(
        "The usual formula gives {}, {} and {}, and promises {}. The exact average is {}{verdict}. It says nothing of the one filter that you build.",
        plural(textbook.bits, "bit"),
        plural(textbook.items, "item"),
        plural(textbook.probes.into(), "probe"),
        share(textbook.claimed, 5),
        seen_above(value, aim),
    );
    card("Textbook", seen_above(value, aim), text, tone)
}

/// Filters of other kinds for the same question.
fn others(plan: &Plan, blocked: Option<&Alternative>, still: Option<truebloom_report::beyond::Static>) -> Json {
    let mut table = Table::new("Other kinds of filter for the same question", &["Filter", "#Size", "#Bits", "What it means"]);
    table.row([
        "standard (this plan)".to_owned(),
        bytes(plan.bytes()),
        String::new(),
        "each lookup reads up to as many places in memory as there are probes".to_owned(),
    ]);
    if let Some(Alternative { plan: found, times_bits, .. }) = blocked {
        let mut size = bytes(found.bytes());
        if found.items != plan.items {
            size = format!("{size} for {}", plural(found.items, "item"));
        }
        table.row([
            "blocked".to_owned(),
            size,
            more(*times_bits),
            format!("each lookup reads one cache line; {}", plural(found.probes.into(), "probe")),
        ]);
    }
    if let Some(still) = still {
        for (name, bits) in [("xor, static", still.xor), ("binary fuse, static", still.fuse)] {
            let size = format!("about {}", bytes((bits / 8.0).ceil() as u64));
            let text = "all items must be known before it is built, and none can be added; not made by truebloom";
            table.row([name.to_owned(), size, more(bits / plan.bits as f64), text.to_owned()]);
        }
    }
    table.into()
}

/// A rate with its bracket.
pub(crate) fn fpr(fpr: &Fpr) -> Json {
    object! { "value": fpr.value, "lower": fpr.lower, "upper": fpr.upper, "ln": fpr.ln, "ln_lower": fpr.ln_lower, "ln_upper": fpr.ln_upper, "method": fpr.method.to_string() }
}
