//! How long to remember, and durations in messages.

use std::time::Duration;
use truebloom_report::read::{self, Span};

/// The longest time: its nanoseconds must be a 64-bit number.
const LONGEST_DAYS: u64 = 213_503;

/// Parses how long to remember a line ([`read::span`]).
pub(super) fn remember(text: &str) -> Result<Span, String> {
    match read::span(text, "lines") {
        Ok(Span::Time(time)) if time > Duration::from_secs(LONGEST_DAYS * 86_400) => {
            Err(format!("`{text}` is too long; give at most {LONGEST_DAYS}d"))
        }
        span => span,
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
    fn times_have_a_limit() {
        assert_eq!(remember("213503d"), Ok(Span::Time(Duration::from_secs(213_503 * 86_400))));
        assert!(remember("213504d").is_err());
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
            assert_eq!(read::time(text).map(time_text), Ok(text.to_owned()));
        }
    }
}
