//! How far the answers can be trusted: how many of the lines that were found are expected to be
//! false hits.
//!
//! A line that was never inserted is found with a probability R, the filter's false-positive rate,
//! which depends only on the bits that are set. Suppose that, of N such lines, F are found and M
//! are not. M can be counted, and F cannot. For each N, F is binomial. So the mean of F equals the
//! mean of M times R / (1 - R). The upper bound on F excludes all values whose tail has a
//! probability below alpha. The bound holds only if the lines differ from each other, because a
//! line that occurs twice is found twice; the mean holds in any case.

use crate::records::RecordArgs;
use crate::report::{Report, count, plural, rate, rate_up, significant};
use serde_json::json;
use truebloom_math::{binomial, bisect};

/// The probability that the bound is wrong.
const ALPHA: f64 = 1e-6;

/// The queries and answers of a run.
pub(super) struct Trust {
    /// The number of lines that were read, and how many of them were found.
    pub(super) lines: u64,
    pub(super) found: u64,
    /// The current rate, and whether it is exact or only an upper bound.
    pub(super) rate: f64,
    pub(super) is_exact: bool,
    /// Where the other lines certainly are not: the end of a sentence.
    pub(super) others: &'static str,
}

impl Trust {
    /// Estimates the number of false hits; over seeds, the estimate has the same mean as the true
    /// number. The estimate may exceed the number of lines found. At a rate of 1, the hits reveal
    /// nothing, and the estimate is the number of lines found.
    fn expected(&self) -> f64 {
        let missed = self.lines.saturating_sub(self.found) as f64;
        if self.rate >= 1.0 { self.found as f64 } else { missed * self.rate / (1.0 - self.rate) }
    }

    /// An upper bound on the number of false hits; it is wrong with probability at most [`ALPHA`].
    fn at_most(&self) -> u64 {
        let missed = self.lines.saturating_sub(self.found);
        let excluded = |hits: u64| binomial::at_least(hits, missed.saturating_add(hits), self.rate.min(1.0)) <= ALPHA;
        if !excluded(self.found) { self.found } else { bisect(0..=self.found, excluded).saturating_sub(1) }
    }

    /// Whether most lines were not found, and those that were found are so few that all of them may
    /// be false hits: as many as are found in 1% of runs. If lines can be repeated, a few distinct
    /// false hits can be many lines, and this also holds for ten times as many as expected.
    pub(super) fn may_be_all_false(&self, can_repeat: bool) -> bool {
        let (missed, expected) = (self.lines.saturating_sub(self.found), self.rate * self.lines as f64);
        let is_usual = || binomial::at_least(self.found, self.lines, self.rate.min(1.0)) > 0.01;
        let is_repeated = can_repeat && self.found as f64 <= 10.0 * expected;
        self.found > 0 && missed > self.found && (is_repeated || is_usual())
    }

    pub(super) fn add(&self, report: &mut Report, records: &RecordArgs, inverted: bool) {
        let (expected, most) = (self.expected(), self.at_most());
        report.field("found", self.found).field(
            "false_hits",
            json!({ "expected": expected, "is_bound": !self.is_exact, "at_most": most, "confidence": 1.0 - ALPHA, "rate": self.rate }),
        );
        let noun = records.noun();
        let missed = self.lines.saturating_sub(self.found);
        let about = if self.is_exact { "about" } else { "at most" };
        let expected = significant(expected.min(self.found as f64), 3);
        let most_text = if most == 0 { "none".to_owned() } else { format!("at most {}", count(most)) };
        let bound = format!("{most_text} with {}% confidence, if no key is repeated", significant(100.0 * (1.0 - ALPHA), 6));
        let is_known = self.is_exact || self.rate < 1.0;
        let text = match (self.found, inverted) {
            (0, _) => "every answer is certain".to_owned(),
            _ if !is_known => format!(
                "it is not known how many of the {} found are false positives: the filter is an intersection, and keys of only some of its filters can pass",
                plural(self.found, noun)
            ),
            (_, false) => {
                format!("false positives among the {} found: {about} {expected} expected ({bound})", plural(self.found, noun))
            }
            (_, true) => {
                format!("{noun}s wrongly left out (false positives): {about} {expected} expected ({bound})")
            }
        };
        report.line("trust", text);
        let others = match missed {
            0 => String::new(),
            1 => format!("; the other one is certainly {}", self.others),
            _ => format!("; the other {} are certainly {}", count(missed), self.others),
        };
        report.line("found", format!("{} of {}{others}", count(self.found), plural(self.lines, noun)));
        if !is_known {
            return;
        }
        let now = if self.is_exact { rate(self.rate, 4) } else { rate_up(self.rate, 4) };
        report.line(
            "rate",
            format!("{}{now} now, for keys that were chosen without knowing the seed", if self.is_exact { "" } else { "at most " }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(lines: u64, found: u64, rate: f64) -> Trust {
        Trust { lines, found, rate, is_exact: true, others: "not in the filter" }
    }

    #[test]
    fn extremes() {
        assert_eq!((trust(0, 0, 0.5).expected(), trust(0, 0, 0.5).at_most()), (0.0, 0));
        assert_eq!((trust(10, 10, 1.0).expected(), trust(10, 10, 1.0).at_most()), (10.0, 10));
        assert_eq!((trust(10, 3, 0.0).expected(), trust(10, 3, 0.0).at_most()), (0.0, 0));
        // All were found, and all may be members: even one false hit would be very improbable at
        // this rate.
        assert_eq!(trust(1, 1, 1e-7).at_most(), 0);
        assert_eq!(trust(1, 1, 1e-5).at_most(), 1);
        // Ten of a thousand are usual at this rate. Fifty can be one false hit that is repeated.
        let all_false = |can_repeat| [0, 10, 50, 200].map(|found| trust(1_000, found, 0.01).may_be_all_false(can_repeat));
        assert_eq!([true, false].map(all_false), [[false, true, true, false], [false, true, false, false]]);
        // One hit of a few lines is unusual, two hits of two lines even more.
        let usual = [(5, 1, 0.003), (5, 1, 1e-4), (2, 2, 0.3)].map(|(lines, found, rate)| trust(lines, found, rate).may_be_all_false(true));
        assert_eq!(usual, [true, false, false]);
    }

    /// Tests the number of false hits with queries for lines that are in no filter. The mean agrees
    /// within five standard errors (alpha below 1e-6). The bound, which is wrong once in a million
    /// runs, never fails in two thousand runs. A bound of a third of this size would fail in a
    /// quarter of the runs.
    #[test]
    fn false_hits_are_as_expected() {
        let (runs, lines, rate) = (2_000u32, 500u64, 0.02);
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        // With members, which are also found, or without them: in the latter case, the expected
        // number may exceed the number found.
        for members in [300, 0] {
            let (mut difference, mut beyond_third) = (0.0, 0);
            for _ in 0..runs {
                let hits = (0..lines).filter(|_| uniform() < rate).count() as u64;
                let trust = trust(lines + members, hits + members, rate);
                assert!(hits <= trust.at_most(), "{hits} {}", trust.at_most());
                difference += hits as f64 - trust.expected();
                beyond_third += u32::from(3 * hits > trust.at_most());
            }
            // The variance of the hits minus their estimate is at most N R / (1 - R).
            let error = (f64::from(runs) * lines as f64 * rate / (1.0 - rate)).sqrt();
            assert!(difference.abs() < 5.0 * error, "{members}: {difference} {error}");
            assert!(beyond_third > runs / 4, "the test has no power");
        }
    }
}
