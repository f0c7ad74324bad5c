//! Parsing of times, and of how long to remember an item: a time or a number of items.

use super::{items, spelled};
use std::time::Duration;

/// Parses a time with its unit: 30s, 10min, 1.5h, 7d, 2w, or in words: 2 hours, a day.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time; write it as 30s, 10min, 1h or 7d");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let (number, unit) = match spelled(trimmed) {
        Some((digits, exponent, unit)) => (format!("{digits}e{exponent}"), unit),
        None => (number.to_owned(), unit.trim_start()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = seconds_of(unit).ok_or_else(wrong)?;
    Duration::try_from_secs_f64(number * seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}

/// How long to remember an item: until a number of other items have come, or for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Remember an item until this many other items have come.
    Items(u64),
    /// Remember an item for this time.
    Time(Duration),
}

/// Parses a number of items, such as 10M, or a time, such as 1h. A text such as 10m is refused,
/// because `m` could mean minutes or millions. `noun` is the name of the items in messages.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn span(text: &str, noun: &str) -> Result<Span, String> {
    if let (Some(number), Ok(_)) = (text.trim_end().strip_suffix('m'), time(text)) {
        return Err(format!(
            "`{text}` could be a time or a number of {noun}; write {number}min for minutes, or {number}M for millions of {noun}"
        ));
    }
    if let Ok(time) = time(text) {
        return Ok(Span::Time(time));
    }
    match items(text) {
        Ok(items @ 1..) => Ok(Span::Items(items)),
        Ok(0) => Err(format!("the number of {noun} is 0, but must be at least 1")),
        Err(_) => {
            Err(format!("`{text}` is neither a number of {noun} nor a time; write 10M for {noun}, or 30s, 10min, 1h or 7d for a time"))
        }
    }
}

/// The number of seconds in a unit of time.
pub(super) fn seconds_of(unit: &str) -> Option<f64> {
    let units: [(&[&str], f64); 6] = [
        (&["ms", "millisecond", "milliseconds"], 0.001),
        (&["s", "sec", "secs", "second", "seconds"], 1.0),
        (&["m", "min", "mins", "minute", "minutes"], 60.0),
        (&["h", "hr", "hrs", "hour", "hours"], 3_600.0),
        (&["d", "day", "days"], 86_400.0),
        (&["w", "week", "weeks"], 604_800.0),
    ];
    let is_this = |name: &&str| *name == unit || name.len() > 2 && name.eq_ignore_ascii_case(unit);
    units.into_iter().find_map(|(names, seconds)| names.iter().any(is_this).then_some(seconds))
}
