//! Sketches that count items with a bounded error.

use crate::json::{Json, object};
use crate::lines;
use crate::question::Question;
use crate::words::{Table, at_most, card, one_in, share};
use truebloom_math::count_min::{Family, Rows, Shape};
use truebloom_math::{Error, Rate};
use truebloom_report::read;
use truebloom_report::show::{bytes, count, plural};

/// The number of bytes of a counter.
const COUNTER: u128 = 8;

pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let (epsilon, delta) = (question.read("e", read::rate), question.read("d", read::rate));
    let total = question.read("total", read::count);
    if question.is_wrong() {
        return question.refusal();
    }
    let (Some(epsilon), Some(delta)) = (epsilon, delta) else {
        return object! { "hint": "Give the error, and how often it may be exceeded." };
    };
    match described(&epsilon, &delta, total) {
        Ok(answer) => answer,
        Err(error) => {
            let field = if matches!(error, Error::OutOfRange { name: "delta", .. }) { "d" } else { "e" };
            question.wrong(field, error.to_string());
            question.refusal()
        }
    }
}

fn memory(shape: &Shape) -> String {
    u64::try_from(shape.cells().saturating_mul(COUNTER)).map_or("more than 16 EiB".to_owned(), bytes)
}

fn described(epsilon: &Rate, delta: &Rate, total: Option<u64>) -> Result<Json, Error> {
    let shape = Shape::for_error(epsilon, delta, Rows::Independent)?;
    let failure = shape.failure_bound(epsilon, Family::Ideal)?;
    let two = Shape::for_error(epsilon, delta, Rows::TwoHash);
    let mut table = Table::new("Two ways to hash", &["Rows", "#Memory", "#Counters in a row", "#Rows", "#Hash functions for each item"]);
    table.row([
        "independent (the default)".to_owned(),
        memory(&shape),
        count(shape.width()),
        shape.all_rows().to_string(),
        shape.hash_functions().to_string(),
    ]);
    if let Ok(two) = &two {
        table.row(["of two hashes".to_owned(), memory(two), count(two.width()), count(two.all_rows()), count(two.hash_functions())]);
    }
    let above = share(epsilon.to_f64(), 4);
    let mut cards = vec![
        card("Never too low", "certain", "An estimate is never below the true count.", "good"),
        card(
            "Too high by more than the error",
            format!("at most {}", at_most(failure.upper, Some(*delta))),
            format!(
                "{}For an item that was chosen without knowing the hashes. Proven.",
                Some(one_in(failure.upper)).filter(|text| !text.is_empty()).map_or(String::new(), |text| format!("That is {text}. "))
            ),
            "good",
        ),
    ];
    let mut exact = Json::Null;
    if let Some(total) = total.filter(|total| *total > 0) {
        let bound = shape.error_bound(total, Family::Ideal, delta);
        exact = bound.into();
        cards.push(card(
            "In your stream",
            format!("at most {} too high", count(bound)),
            format!(
                "With {} counted, an estimate exceeds the true count by at most this, except with a probability of at most {delta}.",
                count(total)
            ),
            "",
        ));
    }
    let rows = plural(shape.all_rows(), "row");
    Ok(object! {
        "summary": format!("A sketch of {} counts any number of different items. A count is too high by more than {above} of all counts together for at most {} of the items that you ask for.", memory(&shape), share(delta.to_f64(), 4)),
        "big": memory(&shape),
        "small": format!("{rows} of {}, of 8 bytes each", plural(shape.width(), "counter")),
        "cards": cards,
        "lines": lines::of_counts(*epsilon, *delta),
        "tables": vec![Json::from(table)],
        "facts": object! {
            "width": shape.width(), "depth": shape.depth(), "failure": crate::size::fpr(&failure), "error_at_most": exact,
            "two_hash_width": two.as_ref().ok().map(Shape::width), "two_hash_rows": two.as_ref().ok().map(Shape::all_rows),
        },
    })
}
