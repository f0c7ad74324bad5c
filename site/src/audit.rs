//! The rate that another library gives for the reader's numbers.

use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::words::{Table, card, one_in, seen_above, share, share_as};
use crate::{drawn, drawn_at, lines, size};
use truebloom_audit::Size;
use truebloom_math::{Error, Rate};
use truebloom_report::charts::{Given, libraries};
use truebloom_report::finding::{Finding, Verdict, library};
use truebloom_report::read;
use truebloom_report::show::{count, plural};

/// The maximum number of queries in one simulation.
const MOST_QUERIES: u64 = 100_000_000;
/// From this number of items on, simulations take minutes.
const MANY: u64 = 1_000_000;

struct Asked {
    items: u64,
    rate: Option<Rate>,
    size: Option<(u64, u32)>,
    queries: u64,
}

/// The contents of the fields, except for the library.
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

/// Why there is no finding.
enum NoFinding {
    /// The question cannot be answered; the page shows this instead.
    Unclear(Json),
    /// The library has no filter of this size.
    Refused(String),
}

fn finding(question: &mut Question<'_>) -> Result<(Finding, Asked), NoFinding> {
    let profile = library(question.text("lib")).map_err(|error| NoFinding::Unclear(object! { "problem": sentence(&error) }))?;
    let asked = asked(question).map_err(NoFinding::Unclear)?;
    let found = size_of(profile, &asked).and_then(|size| Finding::by_law(profile, size, asked.items, asked.rate.as_ref()));
    let found = found.and_then(|found| match asked.queries {
        0 => Ok(found),
        queries => found.simulated(queries, 1),
    });
    found.map(|found| (found, asked)).map_err(|error| NoFinding::Refused(sentence(&error.to_string())))
}

fn size_of(profile: &truebloom_audit::Profile, asked: &Asked) -> Result<Size, Error> {
    match (asked.size, asked.rate) {
        (Some((bits, probes)), _) => profile.size_of(bits, probes),
        (None, rate) => profile.size(asked.items, rate.map_or(0.0, |rate| rate.to_f64())),
    }
}

/// The number of queries to simulate next, if no law gives the rate: first a million, which is
/// quick, and then as many as determine the rate to some percent.
fn wanted(found: &Finding) -> Option<u64> {
    let wanted = found.queries()?;
    match found.simulation.as_ref().map(|simulation| simulation.queries) {
        None => Some(1_000_000),
        Some(queries) if queries < wanted => Some(wanted),
        Some(_) => None,
    }
}

/// Whether the rate is known from a law, or from a simulation with hits.
fn has_rate(found: &Finding) -> bool {
    found.law.is_some() || found.simulation.as_ref().is_some_and(|simulation| simulation.hits > 0)
}

/// The text of the rate, or of its upper bound if no query was a hit.
fn shown(found: &Finding, beside: Option<Rate>, digits: usize) -> String {
    let share = |value: f64, digits| beside.map_or_else(|| share(value, digits), |rate| share_as(rate.to_f64(), value, digits));
    match (has_rate(found), &found.simulation) {
        // If the rate is slightly too high, enough digits are shown to see this.
        (true, None) if beside.is_some_and(|rate| found.rate().0 > rate.to_f64()) => {
            seen_above(found.rate().0, beside.map_or(0.0, |rate| rate.to_f64()))
        }
        (true, _) => share(found.rate().0, digits),
        (false, Some(_)) => format!("below {}", share(found.rate().2, 2)),
        (false, None) => "\u{2026}".to_owned(),
    }
}

/// The verdict in words, and its tone. What is missed by less than people notice is no alarm.
fn verdict(found: &Finding, rate: Option<Rate>) -> (String, &'static str) {
    let verdict = found.verdict(rate);
    let tone = match verdict {
        // The page goes on by itself.
        _ if found.rate().0.is_nan() => return ("simulating".to_owned(), ""),
        Verdict::TooFew(_) if wanted(found).is_some() => return ("simulating".to_owned(), ""),
        Verdict::Kept => "good",
        Verdict::Missed { times, .. } if times >= 1.0 + size::NOTICED => "bad",
        _ => "",
    };
    (verdict.to_string(), tone)
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

/// The method by which the rate is known, in words.
fn known_by(found: &Finding) -> String {
    match (&found.law, &found.simulation) {
        (Some(law), _) => format!("by a law: {}", law.method),
        (None, Some(simulation)) => format!(
            "simulated: {} in {} queries, {}",
            plural(simulation.hits, "hit"),
            count(simulation.queries),
            found.interval(simulation, |rate| share(rate, 3))
        ),
        (None, None) => "no law fits, so it is simulated".to_owned(),
    }
}

/// The answer about one library.
pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let (found, asked) = match finding(question) {
        Ok(found) => found,
        Err(NoFinding::Unclear(answer)) => return answer,
        Err(NoFinding::Refused(why)) => return object! { "refused": why },
    };
    let (value, ..) = found.rate();
    let (verdict, tone) = verdict(&found, asked.rate);
    let shown = shown(&found, asked.rate, 4);
    let many = if has_rate(&found) { one_in(value) } else { String::new() };
    let mut cards = vec![
        card(
            "Its rate",
            shown.clone(),
            format!("{}{}.", if many.is_empty() { String::new() } else { format!("That is {many}. ") }, capital(&known_by(&found))),
            tone,
        ),
        card("With independent positions", share(found.ideal.value, 4), "The rate that its bits and probes could give. Exact.", ""),
    ];
    if let Some(rate) = asked.rate {
        let (value, text) = match found.share {
            Some(share) => (
                format!("{:.1}%", (1000.0 * share).floor() / 10.0),
                format!("At least this share of the filters that are built keep {}.", self::share(rate.to_f64(), 6)),
            ),
            None => (
                "not known".to_owned(),
                "Its positions depend on each other, so the set bits do not determine a filter\u{2019}s rate.".to_owned(),
            ),
        };
        cards.push(card("Filters that meet the rate", value, text, ""));
    }
    // Smaller numbers of queries are not suggested, because the page simulates these by itself.
    let more = asked.rate.and_then(|rate| found.more_queries(rate)).filter(|_| wanted(&found).is_none());
    let profile = found.profile;
    let name = profile.title.split(',').next().unwrap_or_default();
    let mut table = Table::new("Why", &["", ""]);
    let hash =
        format!("{} bits; hash collisions alone give a rate of {}", profile.arithmetic.hash_bits(found.size), self::share(found.floor, 2));
    for (name, text) in [
        ("Size", profile.sizing),
        ("Positions", profile.scheme),
        ("Hash", &hash),
        ("In short", profile.remark),
        ("Version", profile.version),
        ("Read in", profile.source),
    ] {
        table.row([name.to_owned(), capital(text)]);
    }
    object! {
        "summary": match asked.rate {
            _ if value.is_nan() => format!(
                "No law fits, so the page builds filters of {} and queries them. {}",
                plural(asked.items, "item"),
                if asked.items > MANY { "With so many items this takes minutes." } else { "" }
            ),
            Some(rate) if more.is_some() => format!(
                "Asked for {} with {}, {} gave {} in a simulation that is too short to tell.",
                self::share(rate.to_f64(), 6), plural(asked.items, "item"), name, shown
            ),
            Some(rate) => format!("Asked for {} with {}, {} gives {}.", self::share(rate.to_f64(), 6), plural(asked.items, "item"), name, shown),
            None => format!("With {}, {} gives {}.", plural(asked.items, "item"), name, shown),
        },
        "big": if asked.rate.is_some() { capital(&verdict) } else { shown.clone() },
        "small": format!("{} takes {} and {} for {}", name, plural(found.size.bits, "bit"), plural(found.size.probes.into(), "probe"), plural(asked.items, "item")),
        "cards": cards,
        "lines": lines::of_audit(profile.name, asked.items, asked.rate, asked.size, more.as_deref()),
        "tables": vec![Json::from(table)],
        "chart": drawn(Ok(found.chart(asked.rate)), question),
        "more": wanted(&found),
        "facts": facts(&found),
    }
}

/// One row of the table of all libraries.
pub(crate) fn row(question: &mut Question<'_>) -> Json {
    let name = question.text("lib");
    match finding(question) {
        Ok((found, asked)) => {
            let (verdict, tone) = verdict(&found, asked.rate);
            let write = |rate: f64| asked.rate.map_or_else(|| share(rate, 3), |beside| share_as(beside.to_f64(), rate, 3));
            object! {
                "row": vec![
                    name.to_owned(),
                    count(found.size.bits),
                    found.size.probes.to_string(),
                    write(found.ideal.value),
                    shown(&found, asked.rate, 3),
                    if found.rate().0.is_nan() { String::new() } else { found.known_by(write) },
                    capital(&verdict),
                ],
                "tone": tone,
                "given": in_chart(&found),
                "more": wanted(&found),
                "facts": facts(&found),
            }
        }
        Err(NoFinding::Unclear(answer)) => answer,
        Err(NoFinding::Refused(why)) => {
            let row = [name, "", "", "", REFUSED, "", &why].map(str::to_owned);
            object! { "row": row.to_vec(), "tone": "", "given": REFUSED }
        }
    }
}

/// Replaces the numbers of a library that refuses this size.
const REFUSED: &str = "refused";
/// Replaces the numbers if no query was a hit.
const NO_HIT: &str = "no hit";

/// The numbers of one library for the chart of all libraries, as text that ends with the name.
fn in_chart(found: &Finding) -> String {
    if !has_rate(found) {
        return NO_HIT.to_owned();
    }
    let Given { library, ideal, rate: (value, lower, upper) } = found.given();
    format!("{ideal} {value} {lower} {upper} {library}")
}

/// Reads the text of [`in_chart`].
fn out_of_row(text: &str) -> Option<Given> {
    let mut parts = text.splitn(5, ' ');
    let mut number = || parts.next()?.parse::<f64>().ok();
    let (ideal, rate) = (number()?, (number()?, number()?, number()?));
    Some(Given { library: parts.next()?.to_owned(), ideal, rate })
}

/// The chart of all libraries. The fields `given.NAME` contain the texts of [`in_chart`].
pub(crate) fn chart(question: &mut Question<'_>) -> Json {
    let asked = match asked(question) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let rows: Vec<(&str, &str)> =
        truebloom_audit::PROFILES.iter().map(|profile| (profile.name, question.text(&format!("given.{}", profile.name)))).collect();
    let mut given: Vec<Given> = rows.iter().filter_map(|(_, text)| out_of_row(text)).collect();
    let mut missing = Vec::new();
    if !question.has("file") {
        missing.extend(without_interval(&mut given));
    }
    if given.is_empty() {
        return object! { "hint": "No library has an answer yet." };
    }
    let those = |what: &str| rows.iter().filter(|(_, text)| *text == what).map(|(name, _)| *name).collect::<Vec<_>>();
    let (refused, no_hit) = (those(REFUSED), those(NO_HIT));
    // Each library has one line.
    let height = 170 + 22 * given.len() as u32;
    let drawn = drawn_at(Ok(libraries(&given, &refused, asked.items, asked.rate.map(|rate| rate.to_f64()))), question, height);
    for (names, why) in [(refused, "this question is refused"), (no_hit, "no query of its simulation was a hit")] {
        if !names.is_empty() {
            missing.push(format!("Not drawn: {}, as {why}.", names.join(", ")));
        }
    }
    drawn.with("note", missing.join(" "))
}

/// The sentence below the chart that lists the libraries without an interval. Beside the names,
/// this information would not fit into a narrow chart.
fn without_interval(given: &mut [Given]) -> Option<String> {
    let mut names = Vec::new();
    for given in given.iter_mut().filter(|given| given.rate.1.is_nan()) {
        if let Some((name, _)) = given.library.split_once(' ') {
            given.library = name.to_owned();
        }
        names.push(given.library.clone());
    }
    (!names.is_empty()).then(|| format!("Without an interval, as its hits are too few: {}.", names.join(", ")))
}

/// The text with a capital letter at its beginning, unless it begins with a formula.
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

#[cfg(test)]
mod tests {

    /// The chart of all libraries lists the libraries that it does not show, with the reason.
    #[test]
    fn what_is_not_drawn_is_named() {
        let row = |library: &str| crate::answer(&format!("audit/row\nlib={library}\nn=1000\np=1e-6"));
        let given = |library: &str| {
            let answer = row(library);
            let (_, after) = answer.split_once("\"given\":\"").unwrap_or_else(|| panic!("{answer}"));
            format!("given.{library}={}", after.split('"').next().unwrap_or_default())
        };
        assert_eq!(given("cassandra"), "given.cassandra=refused");
        assert_eq!(given("guava"), "given.guava=no hit", "no query was made");
        let rows = ["cassandra", "guava", "rbloom"].map(given).join("\n");
        let chart = crate::answer(&format!("audit/chart\nn=1000\np=1e-6\n{rows}"));
        let missing = "Not drawn: cassandra, as this question is refused. Not drawn: guava, as no query of its simulation was a hit.";
        assert!(chart.contains(missing) && chart.contains(">\\nrbloom\\n") && !chart.contains(">\\nguava"), "{chart}");
        let file = crate::answer(&format!("audit/chart\nn=1000\np=1e-6\nfile=1\n{rows}"));
        assert!(file.contains("not drawn, because they refuse these numbers: cassandra"), "{file}");
    }

    /// An interval without information is not drawn as a bar across the chart, and the command to
    /// copy requests more queries.
    #[test]
    fn few_hits_are_no_interval() {
        let asked = "lib=dcso\nn=1000\np=1e-6\nqueries=20M";
        let row = crate::answer("audit/row\nlib=dcso\nn=1000\np=1e-6\nqueries=1M");
        assert!(row.contains("NaN NaN dcso (too short)") && row.contains("simulation, too short ("), "{row}");
        let one = crate::answer(&format!("audit\n{asked}"));
        assert!(one.contains("simulation too short; the rate is below 4.44%"), "{one}");
        assert!(one.contains("truebloom audit dcso -n 1k -p 1e-6 --simulate 200M"), "{one}");
        let rows = "given.dcso=1e-6 1.4e-6 NaN NaN dcso (too short)";
        let chart = crate::answer(&format!("audit/chart\nn=1000\np=1e-6\n{rows}"));
        assert!(chart.contains(">\\ndcso\\n") && chart.contains("as its hits are too few: dcso."), "{chart}");
        assert!(crate::answer(&format!("audit/chart\nn=1000\np=1e-6\nfile=1\n{rows}")).contains("dcso (too short)"));
        // No command is offered while a longer simulation on the page can still give the answer.
        assert!(!crate::answer("audit\nlib=dcso\nn=1000\np=1e-6\nqueries=1M").contains("--simulate"));
    }
}
