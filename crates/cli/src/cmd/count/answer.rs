//! The list of the most frequent keys, as text and as a JSON object.

use crate::failure::{Failure, note};
use crate::report::{count, key_fields, plural};
use serde_json::{Value, json};
use std::io::Write;
use truebloom::KeyHasher;
use truebloom::count_min::{HeavyHitter, ListedSketch, RowHashes};
use truebloom_math::Rate;

/// The options that say what the list should contain.
#[derive(clap::Args)]
pub(super) struct Asked {
    /// Number of keys to list
    #[arg(short = 'k', long, value_name = "K", value_parser = crate::args::count, default_value = "20")]
    pub(super) top: u64,

    /// Instead of the K most frequent keys, list all keys that occurred at least this often. COUNT
    /// is a number, or a share of the total count (0.1%). The exit code is 1 if some of these keys
    /// may be missing from the list
    #[arg(long, value_name = "COUNT", value_parser = above, conflicts_with = "top")]
    pub(super) above: Option<Above>,

    /// Print one JSON object for each list
    #[arg(long)]
    pub(super) json: bool,
}

/// The smallest count to list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Above {
    Count(u64),
    Share(Rate),
}

fn above(text: &str) -> Result<Above, String> {
    match crate::args::count(text) {
        Ok(0) => Err("a count of 0 would select every possible key; give 1 to list all known keys".to_owned()),
        Ok(number) => Ok(Above::Count(number)),
        Err(_) => text
            .parse()
            .map(Above::Share)
            .map_err(|_| format!("`{text}` is neither a number nor a share; write it as 1000, 10k, 0.1% or 1/1000")),
    }
}

impl Above {
    /// The smallest count to list, for this total.
    fn threshold(self, total: u64) -> u64 {
        let Above::Share(share) = self else {
            let Above::Count(number) = self else { return 1 };
            return number;
        };
        let (numerator, exponent, divisor) = share.parts();
        let (top, divisor) = (u128::from(numerator) * u128::from(total), u128::from(divisor));
        let scale = 10u128.checked_pow(exponent.unsigned_abs());
        let exact = if exponent < 0 {
            // With a divisor of 2^128 or more, the result is below one.
            scale.and_then(|scale| scale.checked_mul(divisor)).map_or(Some(1), |bottom| Some(top.div_ceil(bottom)))
        } else {
            scale.and_then(|scale| top.checked_mul(scale)).map(|top| top.div_ceil(divisor))
        };
        exact.and_then(|exact| u64::try_from(exact).ok()).unwrap_or((share.to_f64() * total as f64) as u64).max(1)
    }
}

/// The contents of a list.
pub(super) struct Answer {
    hitters: Vec<HeavyHitter>,
    /// An upper bound on the count of every key that is not printed.
    unlisted: u64,
    threshold: Option<u64>,
    complete: bool,
    total: u64,
    parameters: Value,
}

impl Answer {
    pub(super) fn of<R: RowHashes>(list: &ListedSketch<R>, asked: &Asked) -> Answer {
        let (total, missed) = (list.sketch().total(), list.missed_at_most());
        let threshold = asked.above.map(|above| above.threshold(total));
        let mut hitters = list.top(usize::MAX);
        let enough = match threshold {
            Some(threshold) => hitters.partition_point(|hitter| hitter.at_most >= threshold),
            None => hitters.len().min(usize::try_from(asked.top).unwrap_or(usize::MAX)),
        };
        let next = hitters.get(enough).map_or(0, |hitter| hitter.at_most);
        hitters.truncate(enough);
        let complete = threshold.is_none_or(|threshold| threshold > missed);
        Answer { hitters, unlisted: missed.max(next), threshold, complete, total, parameters: parameters(list) }
    }

    /// Whether the list is guaranteed to contain all keys that were requested.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Prints the list; `noun` names what was counted.
    pub(super) fn print(&self, asked: &Asked, noun: &str, out: &mut impl Write) -> Result<(), Failure> {
        if asked.json {
            writeln!(out, "{}", self.object())?;
            return Ok(());
        }
        for hitter in &self.hitters {
            row(out, bound(hitter.at_most), hitter.at_least, &hitter.key)?;
        }
        out.flush()?;
        self.tell(noun);
        Ok(())
    }

    /// Prints an explanation of the numbers, for people.
    fn tell(&self, noun: &str) {
        let exact = self.hitters.iter().all(|hitter| hitter.at_least == hitter.at_most);
        let bounds = match (self.hitters.is_empty(), exact) {
            (true, _) => "",
            (_, true) => "; the listed counts are exact",
            (..) => "; for each key, the first number is a guaranteed upper bound on its count, and the second a guaranteed lower bound",
        };
        let others = if self.total == 0 { String::new() } else { format!("; {}", others(self.unlisted)) };
        note(format_args!("{} counted{bounds}{others}", plural(self.total, noun)));
        let Some(threshold) = self.threshold else { return };
        if self.complete {
            let (all, times) = (self.hitters.len(), times(threshold));
            let sure = self.hitters.iter().filter(|hitter| hitter.at_least >= threshold).count();
            note(match (sure, all) {
                (_, 0) => format!("no key occurred {times} or more"),
                _ if sure == all => format!("every listed key occurred {times} or more, and no unlisted key did"),
                _ => format!("{sure} of the {all} listed keys certainly occurred {times} or more; no unlisted key did"),
            });
        } else {
            note(format_args!(
                "the list may lack some keys that occurred {} or more; count again with more --memory or a smaller --epsilon",
                times(threshold)
            ));
        }
    }

    fn object(&self) -> Value {
        let keys: Vec<Value> = self.hitters.iter().map(hitter_object).collect();
        let mut object = json!({
            "verb": "count",
            "total": self.total,
            "threshold": self.threshold,
            "complete": self.complete,
            "unlisted_at_most": bound(self.unlisted),
            "keys": keys,
        });
        if let (Some(object), Value::Object(parameters)) = (object.as_object_mut(), self.parameters.clone()) {
            object.extend(parameters);
        }
        object
    }
}

/// The parameters of a sketch.
fn parameters<R: RowHashes>(list: &ListedSketch<R>) -> Value {
    let sketch = list.sketch();
    let shape = sketch.shape();
    json!({
        "rows": shape.all_rows(),
        "width": shape.width(),
        "copies": shape.copies(),
        "two_hash": shape.copies() > 1 || R::ROWS == truebloom_math::count_min::Rows::TwoHash,
        "conservative": sketch.is_conservative(),
        "capacity": list.capacity(),
        "hasher": sketch.hasher().id().map_or("unknown", truebloom::HasherId::name),
        "seed": sketch.hasher().seed().to_string(),
    })
}

/// Converts a bound to an `Option`: the highest number stands for "not known" and becomes `None`.
pub(super) fn bound(number: u64) -> Option<u64> {
    (number < u64::MAX).then_some(number)
}

/// Prints the two counts, and then the key unchanged.
pub(super) fn row(out: &mut impl Write, at_most: Option<u64>, at_least: u64, key: &[u8]) -> Result<(), Failure> {
    let at_most = at_most.map_or("?".to_owned(), |number| number.to_string());
    write!(out, "{at_most:>7} {at_least:>7} ")?;
    out.write_all(key)?;
    out.write_all(b"\n")?;
    Ok(())
}

fn hitter_object(hitter: &HeavyHitter) -> Value {
    let (key, hex) = key_fields(&hitter.key);
    json!({ "key": key, "hex": hex, "at_most": bound(hitter.at_most), "at_least": hitter.at_least })
}

/// A sentence about the keys that are not listed.
pub(super) fn others(unlisted: u64) -> String {
    match bound(unlisted) {
        Some(0) => "every key is listed".to_owned(),
        Some(most) => format!("each unlisted key occurred at most {}", times(most)),
        None => "it is not known how often unlisted keys occurred".to_owned(),
    }
}

fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", count(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_decided_on_the_decimals() {
        let threshold = |text: &str, total| above(text).expect(text).threshold(total);
        assert_eq!(threshold("0.1%", 1_000), 1);
        assert_eq!(threshold("0.1%", 1_001), 2);
        assert_eq!(threshold("1/3", 9), 3);
        assert_eq!(threshold("1/3", 10), 4);
        assert_eq!(threshold("0.1%", 0), 1);
        assert_eq!(threshold("1e-300", u64::MAX), 1);
        assert_eq!(threshold("0.5", u64::MAX), 1 << 63);
        assert_eq!(threshold("10k", 5), 10_000);
        assert!(above("0").is_err() && above("x").is_err() && above("2.5").is_err());
    }
}
