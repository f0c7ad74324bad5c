//! Texts of rates, and tables.

use crate::json::{Json, object};
use truebloom_math::Rate;
use truebloom_report::show::{count, rate, rate_up};

/// Rates from this value on are written as percentages, and lower rates as powers of ten.
pub(crate) const LEAST_PERCENT: f64 = 1e-4;

/// A rate as `0.1%`, or as `1.2e-6` if a percentage would be hard to read.
pub(crate) fn share(value: f64, digits: usize) -> String {
    if value >= LEAST_PERCENT { format!("{}%", rate(100.0 * value, digits)) } else { rate(value, digits) }
}

/// Like [`share`], but in the notation of another rate in the same column, because percentages and
/// powers of ten are hard to compare.
pub(crate) fn share_as(other: f64, value: f64, digits: usize) -> String {
    if other < LEAST_PERCENT { rate(value, digits) } else { share(value, digits) }
}

/// A rate that is compared with a lower rate, with enough digits to show the difference.
pub(crate) fn seen_above(value: f64, other: f64) -> String {
    let excess = (value / other - 1.0).abs();
    let digits = if excess > 0.0 && excess < 0.01 { (2.0 - excess.log10()).ceil().min(12.0) as usize } else { 4 };
    share(value, digits.max(4))
}

/// An upper bound, rounded up, but not above the rate that the filter is proven to keep.
pub(crate) fn at_most(upper: f64, kept: Option<Rate>) -> String {
    const DIGITS: usize = 5;
    let (scale, unit) = if upper >= LEAST_PERCENT { (100.0, "%") } else { (1.0, "") };
    let text = rate_up(scale * upper, DIGITS);
    match kept.map(|rate| scale * rate.to_f64()) {
        Some(asked) if text.parse().is_ok_and(|shown: f64| shown > asked) => format!("{}{unit}", rate(asked, 15)),
        _ => format!("{text}{unit}"),
    }
}

/// A rate as `1 in 1,000`, rounded down to three digits, so that the text claims only what is
/// proven.
pub(crate) fn one_in(value: f64) -> String {
    if !(value > 0.0 && value < 0.5) {
        return String::new();
    }
    let many = 1.0 / value * (1.0 + 1e-12);
    if many >= 1e15 {
        return format!("1 in {}", rate(many, 3));
    }
    let step = 10u64.pow((many.log10().floor() as u32).saturating_sub(2));
    format!("1 in {}", count(many as u64 / step * step))
}

/// The ratio of two numbers: `1.02 times`, `940 times`.
pub(crate) fn times(factor: f64) -> String {
    format!("{} times", rate(factor, 3))
}

/// A size compared with another size: `3.5% more`.
pub(crate) fn more(factor: f64) -> String {
    let percent = 100.0 * (factor - 1.0);
    match percent.abs() {
        0.0..0.05 => "the same".to_owned(),
        0.05..1_000.0 => format!("{:.1}% {}", percent.abs(), if percent > 0.0 { "more" } else { "less" }),
        _ => times(factor),
    }
}

/// A table under construction.
pub(crate) struct Table {
    title: &'static str,
    note: String,
    heads: Vec<&'static str>,
    /// For each column, whether it has numbers, which are aligned on the right.
    numbers: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns. The names of columns with numbers begin with `#`.
    pub(crate) fn new(title: &'static str, columns: &[&'static str]) -> Table {
        let numbers = columns.iter().map(|head| head.starts_with('#')).collect();
        let heads = columns.iter().map(|head| head.trim_start_matches('#')).collect();
        Table { title, note: String::new(), heads, numbers, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.note = note.into();
    }
}

impl From<Table> for Json {
    fn from(table: Table) -> Json {
        object! { "title": table.title, "note": table.note, "heads": table.heads, "numbers": table.numbers, "rows": table.rows }
    }
}

/// A number with its name and a sentence about it. The tone is `good`, `bad` or empty.
pub(crate) fn card(name: &str, value: impl Into<String>, text: impl Into<String>, tone: &str) -> Json {
    object! { "name": name, "value": value.into(), "text": text.into(), "tone": tone }
}

/// A button that leads to another question by clearing fields.
pub(crate) fn choice(text: impl Into<String>, clear: &str) -> Json {
    object! { "text": text.into(), "clear": clear }
}

/// Code to copy.
pub(crate) fn line(name: &str, code: impl Into<String>, note: &str) -> Json {
    object! { "name": name, "code": code.into(), "note": note }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_column_are_written_alike() {
        assert_eq!([1e-6, 1e-3].map(|other| share_as(other, 0.000_25, 3)), ["2.5e-4", "0.025%"]);
    }

    /// The digits that are shown are enough to see an excess.
    #[test]
    fn a_small_excess_is_seen() {
        assert_eq!((seen_above(0.001_000_025, 0.001), seen_above(9.3e-6, 1e-6)), ("0.1000025%".to_owned(), "9.3e-6".to_owned()));
    }

    #[test]
    fn rates_in_words() {
        assert_eq!([0.001, 0.0123456, 9.5e-5, 1e-9].map(|rate| share(rate, 4)), ["0.1%", "1.235%", "9.5e-5", "1e-9"]);
        assert_eq!([0.001, 1e-6, 1.6002e-6, 0.0099997].map(one_in), ["1 in 1,000", "1 in 1,000,000", "1 in 624,000", "1 in 100"]);
        assert_eq!((one_in(0.7), one_in(0.0), one_in(1e-20)), (String::new(), String::new(), "1 in 1e20".to_owned()));
        let asked = "0.1%".parse().expect("a rate");
        assert_eq!((at_most(0.000_999_999_9, Some(asked)), at_most(0.000_999_999_9, None)), ("0.1%".to_owned(), "0.1%".to_owned()));
        assert_eq!((at_most(9.997_991e-7, None), at_most(0.000_998_041, None)), ("9.998e-7".to_owned(), "0.099805%".to_owned()));
        assert_eq!((more(1.035), more(0.77), more(30.0)), ("3.5% more".to_owned(), "23.0% less".to_owned(), "30 times".to_owned()));
    }
}
