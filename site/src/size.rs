//! The size of a filter, or what a filter of a given size can do.

use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::words::{Table, at_most, card, choice, more, one_in, seen_above, share, share_as, times};
use crate::{drawn, lines};
use truebloom_math::{Error, Fpr, MAX_PROBES, Plan, Promise, Target};
use truebloom_report::beyond::{Overload, overload, static_filters};
use truebloom_report::blocked::Alternative;
use truebloom_report::charts;
use truebloom_report::read;
use truebloom_report::show::{askable, bytes, certainty, count, plural, rate};

/// The target that the fields describe; `None` if a field is wrong.
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

/// The plan for the fields, or an answer with the reason why there is none.
pub(crate) fn plan(question: &mut Question<'_>) -> Result<(Target, Plan), Json> {
    let Some(target) = target(question) else { return Err(question.refusal()) };
    match Plan::new(&target) {
        Ok(plan) => Ok((target, plan)),
        Err(error) => Err(refused(question, &target, &error)),
    }
}

/// An error of the planner, shown beside a field whose change can resolve it.
fn refused(question: &mut Question<'_>, target: &Target, error: &Error) -> Json {
    let field = match error {
        Error::Underdetermined { .. } => {
            return object! { "hint": "Give two of the first three fields, and the page computes the third." };
        }
        Error::OutOfRange { name: "items", .. } => "n",
        Error::OutOfRange { name: "bits", .. } => "m",
        Error::OutOfRange { name: "probes", .. } => "k",
        Error::OutOfRange { name: "confidence", .. } => "c",
        Error::BelowHashFloor { .. } | Error::OverMemoryCap { .. } | Error::OutOfReach { .. } => "p",
        _ if target.probes.is_some() => "k",
        _ => return object! { "problem": sentence(&error.to_string()) },
    };
    let Some(help) = too_small(target).filter(|_| field == "p") else {
        question.wrong(field, error.to_string());
        return question.refusal();
    };
    question.wrong("m", help);
    question.refusal().with("choices", choices_of_three())
}

/// The possible changes, if items, rate and size are given and the size is too small.
fn too_small(target: &Target) -> Option<String> {
    let (items, rate, bits) = (target.items?, target.rate?, target.bits?);
    let needed = Plan::new(&Target { bits: None, ..target.clone() }).ok().filter(|plan| plan.bits > bits)?;
    let size = bytes(bits.div_ceil(8));
    let fits = Plan::new(&Target { items: None, ..target.clone() }).ok();
    let lowest = Plan::new(&Target { rate: None, ..target.clone() }).ok();
    let mut text = format!("{size} is too small: {} at {} take {}", plural(items, "item"), asked_for(rate), bytes(needed.bytes()));
    if let Some(fits) = fits {
        text += &format!("; {size} holds {} at that rate", count(fits.items));
    }
    if let Some(lowest) = lowest {
        let rate = kept(&lowest).upper;
        // A filter that reports half of all items as known is not useful.
        if rate < 0.5 {
            text += &format!("; with all {} it reaches a rate of {} ({})", count(items), at_most(rate, None), one_in(rate));
        }
    }
    Some(text + "; change one of the three, or clear one")
}

/// The questions for each two of the three fields.
fn choices_of_three() -> Json {
    Json::List(vec![choice("How many items fit?", "n"), choice("What rate do they get?", "p"), choice("What size do they need?", "m")])
}

/// The requested rate: `0.1%`, or `1 in 3` if it has no decimal.
fn asked_for(rate: truebloom_math::Rate) -> String {
    share(rate.to_f64(), 6)
}

/// Whether a size was typed in bytes.
fn is_in_bytes(size: &str) -> bool {
    size.ends_with('B') || size.to_ascii_lowercase().contains("byte")
}

/// A note for sizes such as `64M`, because many people mean bytes by it.
fn read_as_bits(size: &str, plan: &Plan) -> Option<String> {
    let is_plain = !size.is_empty() && !is_in_bytes(size) && !size.to_ascii_lowercase().contains("bit");
    is_plain.then(|| {
        let unit = if size.ends_with(|letter: char| letter.is_ascii_digit()) { " bytes" } else { "B" };
        format!("The size {size} is read as bits, which are {}; for bytes write {}{unit}.", bytes(plan.bytes()), size.trim_end_matches('b'))
    })
}

/// The number in the empty field, which is the main number of the answer.
fn asked_number(target: &Target, plan: &Plan) -> String {
    match (target.items, target.rate, target.bits) {
        (None, _, Some(_)) => plural(plan.items, "item"),
        (Some(_), _, Some(_)) => format!("at most {}", at_most(kept(plan).upper, plan.rate)),
        _ => bytes(plan.bytes()),
    }
}

pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let size = question.text("m");
    match plan(question).map(|(target, plan)| described(&target, &plan, size)) {
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

/// The rate that the one filter keeps, or the average rate if only that was requested.
fn kept(plan: &Plan) -> &Fpr {
    plan.guarantee.as_ref().map_or(&plan.fpr, |guarantee| &guarantee.fpr)
}

/// `typed` is the size as it was typed.
fn described(target: &Target, plan: &Plan, typed: &str) -> Result<Json, Error> {
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
    cards.extend(overfull(plan, &over));
    let mut beyond =
        Table::new("If it holds more than planned", &["#Items", "Of the plan", "#Rate on average", "That is", "#Of the planned rate"]);
    let planned = plan.rate.map_or(plan.fpr.value, |rate| rate.to_f64());
    beyond.row([count(plan.items), "as planned".into(), share(plan.fpr.value, 4), one_in(plan.fpr.value), times(plan.fpr.value / planned)]);
    for row in &over {
        let value = row.fpr.value;
        beyond.row([count(row.items), format!("{} times", row.factor), share_as(planned, value, 4), one_in(value), times(value / planned)]);
    }
    beyond.note("If more may come, size the filter for them: twice the items take twice the bits.");
    let mut facts = vec![
        ("bits", Json::from(plan.bits)),
        ("items", plan.items.into()),
        ("probes", plan.probes.into()),
        ("bytes", plan.bytes().into()),
        ("bits_per_item", (plan.bits as f64 / plan.items as f64).into()),
        ("asked", plan.rate.map(|rate| rate.to_f64()).into()),
        ("fpr", fpr(&askable(&plan.fpr, plan.rate))),
        ("confidence", plan.guarantee.as_ref().map(|guarantee| guarantee.confidence).into()),
        ("guarantee", plan.guarantee.as_ref().map(|guarantee| fpr(&askable(&guarantee.fpr, plan.rate))).into()),
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
        facts.push(("blocked_bits_ratio", blocked.bits_ratio.into()));
    }
    if let Some(still) = still {
        facts.push(("xor_bits", still.xor.into()));
        facts.push(("fuse_bits", still.fuse.into()));
    }
    facts.push(("overfilled_fpr", Json::List(over.iter().map(|row| row.fpr.value.into()).collect())));
    let often = Some(one_in(kept(plan).upper))
        .filter(|text| !text.is_empty())
        .map_or(format!("{} of the time", at_most(kept(plan).upper, plan.rate)), |text| text.replacen("1 in", "once in", 1) + " times");
    // A size is shown as it was typed: 64 MB, and not 61.04 MiB.
    let size = if is_in_bytes(typed) { typed.to_owned() } else { bytes(plan.bytes()) };
    let summary = format!(
        "A Bloom filter of {size} holds {}, and never misses one of them. Asked for an item that was never added, it wrongly says \u{201c}seen\u{201d} at most {often}.",
        plural(plan.items, "item"),
    );
    let (three, choices) = match (target.items, target.rate, target.bits) {
        (Some(_), Some(rate), Some(_)) => (
            format!(
                "All three fields are filled: the size is used whole, and the rate that you ask for, {}, is only checked.",
                asked_for(rate)
            ),
            choices_of_three(),
        ),
        _ => (String::new(), Json::Null),
    };
    Ok(object! {
        "summary": summary,
        "note": [read_as_bits(typed, plan).unwrap_or_default(), three].join(" ").trim(),
        "choices": choices,
        "big": asked_number(target, plan),
        "small": format!(
            "{}, which is {} for each item; an item sets {} of them ({})",
            plural(plan.bits, "bit"),
            rate(plan.bits as f64 / plan.items as f64, 4),
            plan.probes,
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
        "lines_note": lines::why_no_redis(target),
        "tables": vec![Json::from(beyond), others(target, plan, blocked.as_ref(), still)],
        "facts": Json::Object(facts),
    })
}

fn guaranteed(plan: &Plan) -> Json {
    let Some(guarantee) = &plan.guarantee else {
        let text = "Only the average is asked for, so about half of the filters that are built lie slightly above it.";
        return card("Your filter", "no guarantee", text, "");
    };
    let upper = guarantee.fpr.upper;
    let text = format!(
        "{}A filter\u{2019}s rate depends on its random seed. Proven: {}% of all seeds meet this rate.",
        said_as_one_in(upper),
        certainty(guarantee.confidence, 13)
    );
    card("Your filter, guaranteed", format!("at most {}", at_most(upper, plan.rate)), text, "good")
}

fn said_as_one_in(rate: f64) -> String {
    Some(one_in(rate)).filter(|text| !text.is_empty()).map_or(String::new(), |text| format!("That is {text}. "))
}

fn expected(plan: &Plan, mean: Option<&Plan>, target: &Target) -> Json {
    let cost = match mean {
        Some(mean) if target.bits.is_none() => {
            format!(
                " Keeping the rate only on average would save {}% of the bits.",
                rate(100.0 * (1.0 - mean.bits as f64 / plan.bits as f64), 2)
            )
        }
        Some(mean) if mean.items != plan.items => format!(" For the average alone {} would fit.", plural(mean.items, "item")),
        _ => String::new(),
    };
    // If two rates look the same, their difference is shown.
    let below = plan.guarantee.as_ref().map(|guarantee| 1.0 - plan.fpr.upper / guarantee.fpr.upper).filter(|below| *below > 0.0);
    let beside = below.map_or(String::new(), |below| format!(", {}% below what the guarantee says", rate(100.0 * below, 2)));
    let text = format!("The expected rate, over all seeds{beside}. Proven.{cost}");
    card("On average", format!("at most {}", at_most(plan.fpr.upper, plan.rate)), text, "")
}

/// An excess over the rate of at least this share is relevant to users.
pub(crate) const NOTICED: f64 = 0.01;

fn usual(plan: &Plan, textbook: &truebloom_math::Textbook) -> Json {
    let value = textbook.fpr.value;
    let aim = plan.rate.map_or(textbook.claimed, |asked| asked.to_f64());
    let excess = (value + plan.hash_floor) / aim - 1.0;
    let by = if excess >= 1.0 { times(excess + 1.0) } else { format!("{}%", rate(100.0 * excess, 2)) };
    let what = if textbook.meets.is_some() { "the rate that you ask for" } else { "what it promises" };
    let is_kept = textbook.meets.unwrap_or(excess <= 1e-9);
    let (short, verdict) = match excess {
        _ if is_kept => ("meets the rate".to_owned(), format!("which keeps {what}, on average")),
        ..1e-9 => ("just misses it".to_owned(), format!("which just misses {what}")),
        1.0.. => (format!("{by} too high"), format!("{by} {what}")),
        _ => (format!("{by} too high"), format!("{by} above {what}")),
    };
    let matters = if !is_kept && excess < NOTICED { ": too little to notice here" } else { "" };
    let tone = if !is_kept && excess >= NOTICED { "bad" } else { "" };
    let text = format!(
        "The usual formula gives {}, {} and {}. Its exact average is {}, {verdict}{matters}. It promises nothing for the one filter that you build.",
        plural(textbook.bits, "bit"),
        plural(textbook.items, "item"),
        plural(textbook.probes.into(), "probe"),
        seen_above(value, aim),
    );
    card("Textbook formula", short, text, tone)
}

/// The rate with one and a half times the items, because plans are often exceeded.
fn overfull(plan: &Plan, over: &[Overload]) -> Option<Json> {
    let row = over.iter().find(|row| row.factor == 1.5)?;
    let value = row.fpr.value;
    let planned = kept(plan).upper;
    let text = format!(
        "{}On average, if {} come instead of {}: {} the rate. The table below has more.",
        said_as_one_in(value),
        count(row.items),
        count(plan.items),
        times(value / planned)
    );
    Some(card("At 1.5 times the items", share_as(planned, value, 3), text, ""))
}

/// Other kinds of filters for the same question.
fn others(target: &Target, plan: &Plan, blocked: Option<&Alternative>, still: Option<truebloom_report::beyond::Static>) -> Json {
    let mut table = Table::new("Other kinds of filter for the same question", &["Filter", "#Size", "#Compared", "What it means"]);
    table.row([
        "standard (this plan)".to_owned(),
        bytes(plan.bytes()),
        String::new(),
        format!("each lookup reads up to {} in memory", plural(plan.probes.into(), "place")),
    ]);
    if let Some(blocked @ Alternative { plan: found, bits_ratio, .. }) = blocked {
        let mut size = bytes(found.bytes());
        if found.items != plan.items {
            size = format!("{size} for {}", plural(found.items, "item"));
        }
        table.row([
            "blocked".to_owned(),
            size,
            blocked.loss(target, plan).unwrap_or_else(|| more(*bits_ratio)),
            format!("each lookup reads one place in memory, a cache line of 64 bytes, so it is faster; an item sets {} bits", found.probes),
        ]);
    }
    if let Some(still) = still {
        for (name, bits) in [("xor, static", still.xor), ("binary fuse, static", still.fuse)] {
            let size = format!("about {}", bytes((bits / 8.0).ceil() as u64));
            let text = "no items can be added; truebloom does not make such filters";
            table.row([name.to_owned(), size, more(bits / plan.bits as f64), text.to_owned()]);
        }
    }
    table.into()
}

/// A rate with its bracket.
pub(crate) fn fpr(fpr: &Fpr) -> Json {
    object! { "value": fpr.value, "lower": fpr.lower, "upper": fpr.upper, "ln": fpr.ln, "ln_lower": fpr.ln_lower, "ln_upper": fpr.ln_upper, "method": fpr.method.to_string() }
}

#[cfg(test)]
mod tests {
    fn answer(fields: &str) -> String {
        crate::answer(&format!("size\n{fields}"))
    }

    /// `64M` means bits here, and megabytes in other programs.
    #[test]
    fn a_size_in_bits_is_said_to_be_one() {
        for (size, said) in [("64M", "for bytes write 64MB."), ("64 Mb", "for bytes write 64 MB."), ("80000", "write 80000 bytes.")] {
            let text = answer(&format!("n=1000\nm={size}"));
            assert!(text.contains("is read as bits") && text.contains(said), "{text}");
        }
        for size in ["64MB", "64 MiB", "8000 bits", "64 megabytes", ""] {
            assert!(!answer(&format!("n=1000\np=1%\nm={size}")).contains("is read as bits"), "{size}");
        }
    }

    /// If a size is too small, the message says which changes would be enough.
    #[test]
    fn a_size_that_is_too_small_has_a_remedy() {
        let text = answer("n=15M\np=0.1%\nm=20 MiB");
        for part in ["\"field\":\"m\"", "take 25.71 MiB", "20 MiB holds 11,66", "it reaches a rate of 0.46", "(1 in 215)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!answer("n=1000\np=1e-6\nm=100").contains("it reaches"));
        // Each proposed change is enough.
        for fields in ["n=15M\np=0.1%\nm=25.72 MiB", "n=11666720\np=0.1%\nm=20 MiB", "n=15M\np=0.46492%\nm=20 MiB"] {
            assert!(answer(fields).contains("\"big\""), "{fields}");
        }
    }

    /// A negligible excess is not marked; a relevant one is.
    #[test]
    fn alarms_are_for_what_matters() {
        let textbook =
            |fields: &str| answer(fields).split("\"Textbook formula\"").nth(1).map(|rest| rest[..600.min(rest.len())].to_owned());
        let (close, far) = (textbook("n=10M\np=0.1%").expect("a card"), textbook("n=100\np=1e-6").expect("a card"));
        assert!(close.contains("0.0025% too high") && close.contains("\"tone\":\"\"") && close.contains("too little to notice"), "{close}");
        assert!(far.contains("\"tone\":\"bad\"") && !far.contains("too little"), "{far}");
        assert!(textbook("n=1M\np=0.1%\nm=4MiB").expect("a card").contains("meets the rate"));
    }

    /// How three fields are read, and the reason if a part of the answer is missing.
    #[test]
    fn what_is_left_out_is_said() {
        let [two, three] = ["n=1M\np=0.1%", "n=1M\np=0.1%\nm=4MiB"].map(answer);
        assert!(three.contains("All three fields are filled") && three.contains("No lines for Redis") && !three.contains("BF.RESERVE"));
        assert!(!two.contains("All three") && !two.contains("No lines for Redis") && two.contains("BF.RESERVE"));
        for fields in ["n=1M\np=0.1%\nk=3", "n=1M\np=0.1%\npromise=mean", "n=1M\np=0.1%\nc=99%"] {
            let text = answer(fields);
            assert!(text.contains("No lines for Redis") && !text.contains("BF.RESERVE"), "{fields}: {text}");
        }
    }
}
