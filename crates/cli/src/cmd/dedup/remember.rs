//! Durations, and how long to remember: as a number of lines or as a time.

use crate::args::{self, time};
use std::time::Duration;

/// How long a line must be remembered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Remember {
    /// The line is remembered while at most this many other lines come.
    Items(u64),
    Time(Duration),
}

/// Parses a number of lines, such as `10M`, or a time, such as `1h`. Among the units of numbers and
/// of times, only M and m are easily confused, so `10m` is refused.
pub(super) fn remember(text: &str) -> Result<Remember, String> {
    if let (Some(number), Ok(_)) = (text.trim_end().strip_suffix('m'), time(text)) {
        return Err(format!(
            "`{text}` could be a time or a number of lines; write {number}min for minutes, or {number}M for millions of lines"
        ));
    }
    if let Ok(time) = time(text) {
        return Ok(Remember::Time(time));
    }
    match args::count(text) {
        Ok(items @ 1..) => Ok(Remember::Items(items)),
        _ => Err(format!("`{text}` is neither a number of lines nor a time; write 10M for lines, 30s, 10min, 1h or 7d for a time")),
    }
}

/// The time as a whole number of the largest possible unit.
pub(super) fn time_text(time: Duration) -> String {
    let seconds = time.as_secs();
    let whole = [(604_800, "w"), (86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        .into_iter()
        .find(|(unit, _)| time.subsec_nanos() == 0 && seconds.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{}s", time.as_secs_f64()), |(unit, name)| format!("{}{name}", seconds / unit))
}

/// The time, rounded: `about 24h`.
pub(super) fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let unit = [604_800, 86_400, 3600, 60].into_iter().find(|unit| seconds >= 2 * unit).unwrap_or(1);
    format!("about {}", time_text(Duration::from_secs((seconds + unit / 2) / unit * unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_times() {
        let seconds = |seconds| Ok(Remember::Time(Duration::from_secs(seconds)));
        for (text, expected) in [
            ("10M", Ok(Remember::Items(10_000_000))),
            ("10min", seconds(600)),
            ("1h", seconds(3600)),
            ("1.5h", seconds(5400)),
            ("7d", seconds(604_800)),
            ("2w", seconds(1_209_600)),
            ("30s", seconds(30)),
            ("500", Ok(Remember::Items(500))),
            ("2e3", Ok(Remember::Items(2000))),
        ] {
            assert_eq!(remember(text), expected, "{text}");
        }
        for text in ["", "0", "0s", "h", "1y", "-1h", "1e999d", "..s", "10Mh", "10m", "10 m"] {
            assert!(remember(text).is_err(), "{text}");
        }
    }

    #[test]
    fn long_times_are_rounded() {
        for (seconds, expected) in [(61, "61s"), (121, "2min"), (86_399, "1d"), (90_000, "25h"), (180_000, "2d"), (10 * 604_800 + 1, "10w")]
        {
            assert_eq!(about(Duration::from_secs(seconds)), format!("about {expected}"));
        }
    }

    #[test]
    fn times_are_shown_as_they_are_written() {
        for text in ["30s", "10min", "1h", "36h", "2d", "1w", "0.25s"] {
            assert_eq!(time(text).map(time_text), Ok(text.to_owned()));
        }
    }
}
