//! What rate another library gives at your size.

use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::words::{Table, card, one_in, share, share_as};
use crate::{drawn, drawn_at, size};
use truebloom_audit::Size;
use truebloom_math::{Error, Rate};
use truebloom_report::charts::{Given, libraries};
use truebloom_report::finding::{Finding, library};
use truebloom_report::read;
use truebloom_report::show::{count, plural};

/// Queries of one simulation at most: the page asks again with more.
const MOST_QUERIES: u64 = 100_000_000;

struct Asked {
    items: u64,
    rate: Option<Rate>,
    size: Option<(u64, u32)>,
    queries: u64,
}

/// What the fields say, but for the library.
fn asked(question: &mut Question<'_>) -> Result<Asked, Json> {
    let (items, rate) = (question.read("n", read::items), question.read("p", read::rate));
    let bits = question.read("m", read::bits);
    let probes = question.read("k", |text| read::probes_up_to(truebloom_math::MAX_PROBES, text));
    let queries = question.read("queries", read::count).unwrap_or(0).min(MOST_QUERIES);
    if items == Some(0) {
        question.wrong("n", "items is 0, but must be at least 1");
    }
    if question.is_wrong() {
        return Err(question.refusal());
    }
    match (items, rate, bits, probes) {
        (Some(items), rate, Some(bits), Some(probes)) => Ok(Asked { items, rate, size: Some((bits, probes)), queries }),
        (Some(items), Some(rate), None, None) => Ok(Asked { items, rate: Some(rate), size: None, queries }),
        (Some(_), _, Some(_), None) => Err(object! { "hint": "Give the probes of your filter as well, or clear its size." }),
        (Some(_), _, None, Some(_)) => Err(object! { "hint": "Give the size of your filter as well, or clear its probes." }),
        _ => Err(object! { "hint": "Give the number of items, and the rate that you ask the library for." }),
    }
}

fn finding(question: &mut Question<'_>) -> Result<(Finding, Asked), Json> {
    let profile = library(question.text("lib")).map_err(|error| object! { "problem": sentence(&error) })?;
    let asked = asked(question)?;
    let found = size_of(profile, &asked).and_then(|size| Finding::by_law(profile, size, asked.items, asked.rate.as_ref()));
    let found = found.and_then(|found| match asked.queries {
        0 => Ok(found),
        queries => found.simulated(queries, 1),
    });
    match found {
        Ok(found) => Ok((found, asked)),
        Err(error) => Err(object! { "refused": sentence(&error.to_string()) }),
    }
}

fn size_of(profile: &truebloom_audit::Profile, asked: &Asked) -> Result<Size, Error> {
    match (asked.size, asked.rate) {
        (Some((bits, probes)), _) => profile.size_of(bits, probes),
        (None, rate) => profile.size(asked.items, rate.map_or(0.0, |rate| rate.to_f64())),
    }
}

/// Queries that are still to be simulated, where no law answers: a quick million, and then as many as tell the rate to some percent.
fn wanted(found: &Finding) -> Option<u64> {
    let wanted = found.queries()?;
    match found.simulation.as_ref().map(|simulation| simulation.queries) {
        None => Some(1_000_000),
        Some(queries) if queries < wanted => Some(wanted),
        Some(_) => None,
    }
}

/// Whether a law or a hit tells the rate.
fn has_rate(found: &Finding) -> bool {
    found.law.is_some() || found.simulation.as_ref().is_some_and(|simulation| simulation.hits > 0)
}

/// The rate; what is known of it where no query was a hit.
fn shown(found: &Finding, beside: Option<Rate>, digits: usize) -> String {
    let share = |value: f64, digits| beside.map_or_else(|| share(value, digits), |rate| share_as(rate.to_f64(), value, digits));
    match (has_rate(found), &found.simulation) {
        (true, _) => share(found.rate().0, digits),
        (false, Some(_)) => format!("below {}", share(found.rate().2, 2)),
        (false, None) => "\u{2026}".to_owned(),
    }
}

fn verdict(found: &Finding, rate: Option<Rate>) -> String {
    let verdict = found.verdict(rate, |_| String::new());
    // The page goes on by itself.
    let is_open = found.rate().0.is_nan() || verdict.starts_with("too few") && wanted(found).is_some();
    if is_open { "simulating".to_owned() } else { verdict }
}

fn tone(verdict: &str) -> &'static str {
    match verdict {
        "kept" => "good",
        text if text.starts_with("missed") => "bad",
        _ => "",
    }
}

fn facts(found: &Finding) -> Json {
    let simulation = found.simulation.as_ref().map(|found| {
        object! { "queries": found.queries, "hits": found.hits, "rate": found.rate, "lower": found.lower, "upper": found.upper }
    });
    object! {
        "bits": found.size.bits, "probes": found.size.probes, "ideal": size::fpr(&found.ideal), "law": found.law.as_ref().map(size::fpr),
        "hash_floor": found.floor, "share": found.share, "simulation": simulation,
    }
}

/// How the rate is known, in words.
fn known_by(found: &Finding) -> String {
    match (&found.law, &found.simulation) {
        (Some(law), _) => format!("by a law: {}", law.method),
        (None, Some(simulation)) => format!(
            "simulated: {} in {} queries; 99% interval {} to {}",
            plural(simulation.hits, "hit"),
            count(simulation.queries),
            share(found.rate().1, 3),
            share(found.rate().2, 3)
        ),
        (None, None) => "no law fits, so it is simulated".to_owned(),
    }
}

/// One library.
pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let (found, asked) = match finding(question) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let (value, ..) = found.rate();
    let verdict = verdict(&found, asked.rate);
    let shown = shown(&found, asked.rate, 4);
    let many = if shown.starts_with("below") { String::new() } else { one_in(value) };
    let mut cards = vec![
        card(
            "Its rate",
            shown.clone(),
            format!("{}{}.", if many.is_empty() { String::new() } else { format!("That is {many}. ") }, capital(&known_by(&found))),
            tone(&verdict),
        ),
        card("With independent positions", share(found.ideal.value, 4), "What its bits and probes could give. Exact.", ""),
    ];
    if let Some(rate) = asked.rate {
        let (value, text) = match found.share {
            Some(share) => (
                format!("{:.1}%", (1000.0 * share).floor() / 10.0),
                format!("At least this share of the filters that are built keep {}.", self::share(rate.to_f64(), 6)),
            ),
            None => (
                "not known".to_owned(),
                "Its positions depend on each other, so the set bits do not fix the rate of one filter.".to_owned(),
            ),
        };
        cards.push(card("Filters that keep the rate", value, text, ""));
    }
    let profile = found.profile;
    let name = profile.title.split(',').next().unwrap_or_default();
    let mut table = Table::new("Why", &["", ""]);
    for (name, text) in [
        ("Size", profile.sizing),
        ("Positions", profile.scheme),
        ("In short", profile.remark),
        ("Version", profile.version),
        ("Read in", profile.source),
    ] {
        table.row([name.to_owned(), capital(text)]);
    }
    object! {
        "summary": match asked.rate {
            Some(rate) => format!("Asked for {} with {}, {} gives {}.", self::share(rate.to_f64(), 6), plural(asked.items, "item"), name, shown),
            None => format!("With {}, {} gives {}.", plural(asked.items, "item"), name, shown),
        },
        "big": if asked.rate.is_some() { capital(&verdict) } else { shown.clone() },
        "small": format!("{} takes {} and {} for {}", profile.title, plural(found.size.bits, "bit"), plural(found.size.probes.into(), "probe"), plural(asked.items, "item")),
        "cards": cards,
        "tables": vec![Json::from(table)],
        "chart": drawn(Ok(found.chart(asked.rate)), question),
        "more": wanted(&found),
        "facts": facts(&found),
    }
}

/// One line of the table of all libraries.
pub(crate) fn row(question: &mut Question<'_>) -> Json {
    let name = question.text("lib");
    match finding(question) {
        Ok((found, asked)) => {
            let (value, lower, upper) = found.rate();
            let verdict = verdict(&found, asked.rate);
            object! {
                "row": vec![name.to_owned(), plural(found.size.bits, "bit"), found.size.probes.to_string(), shown(&found, asked.rate, 3), capital(&verdict)],
                "tone": tone(&verdict),
                // What no query has shown has no place in a chart.
                "given": has_rate(&found).then(|| vec![found.ideal.value, value, lower, upper]),
                "more": wanted(&found),
                "facts": facts(&found),
            }
        }
        Err(answer) => match answer {
            Json::Object(fields) if fields.iter().any(|(field, _)| *field == "refused") => {
                let text = fields.into_iter().find_map(|(_, value)| if let Json::Text(text) = value { Some(text) } else { None });
                object! { "row": vec![name.to_owned(), String::new(), String::new(), "refused".to_owned(), text.unwrap_or_default()], "tone": "" }
            }
            other => other,
        },
    }
}

/// All libraries in one chart: the fields `given.NAME` have the numbers that the rows had.
pub(crate) fn chart(question: &mut Question<'_>) -> Json {
    let asked = match asked(question) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let given: Vec<Given> = truebloom_audit::PROFILES
        .iter()
        .filter_map(|profile| {
            let numbers: Vec<f64> =
                question.text(&format!("given.{}", profile.name)).split(' ').filter_map(|number| number.parse().ok()).collect();
            let [ideal, value, lower, upper] = numbers[..] else { return None };
            Some(Given { library: profile.name.to_owned(), ideal, rate: (value, lower, upper) })
        })
        .collect();
    if given.is_empty() {
        return object! { "hint": "No library has an answer yet." };
    }
    // A line each.
    let height = 170 + 22 * given.len() as u32;
    drawn_at(Ok(libraries(&given, &[], asked.items, asked.rate.map(|rate| rate.to_f64()))), question, height)
}

/// With a capital letter at its beginning, unless a formula stands there.
fn capital(text: &str) -> String {
    match text.split_once(' ') {
        Some((first, rest)) if first.len() > 1 && is_word(first.trim_end_matches([',', ':'])) && !rest.starts_with('=') => {
            first[..1].to_uppercase() + &text[1..]
        }
        None if is_word(text) && !text.is_empty() => text[..1].to_uppercase() + &text[1..],
        _ => text.to_owned(),
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_lowercase())
}
