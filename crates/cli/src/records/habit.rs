//! Finds a property that the keys of a run share, for a hint if nothing was found.

use super::found::Batch;

/// The first keys of each input are all examined.
const FIRST: u64 = 100;
/// After the first keys, one of this many is examined. Examining all of them would take a few
/// percent of the time of `check`.
const EVERY: u64 = 64;

/// The keys that were examined so far.
#[derive(Clone, Copy)]
pub(super) struct Habits {
    /// The number of records of this input so far, and how many keys of all inputs were examined.
    records: u64,
    examined: u64,
    /// How many of the examined keys end with a carriage return that an option would remove.
    may_strip: bool,
    returns: u64,
    /// Whether all examined keys are hexadecimal digits in upper case, and whether any of them has
    /// a letter.
    is_upper: bool,
    has_letters: bool,
}

/// A property of the examined keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// All keys end with a carriage return.
    CarriageReturn,
    /// Some keys end with a carriage return, and others do not.
    SomeReturns,
    /// All keys are hexadecimal digits, with letters in upper case.
    UpperHex,
}

impl Habits {
    /// `may_strip` says whether --crlf would remove a carriage return from the keys.
    pub(super) fn new(may_strip: bool) -> Habits {
        Habits { records: 0, examined: 0, may_strip, returns: 0, is_upper: true, has_letters: false }
    }

    /// Begins the next input.
    pub(super) fn begin_input(&mut self) {
        self.records = 0;
    }

    /// Examines the next keys. Which keys are examined does not depend on how the keys are divided
    /// into batches.
    pub(super) fn examine(&mut self, batch: Batch<'_>) {
        let end = self.records + batch.len() as u64;
        let mut at = next(self.records);
        while at < end {
            let index = (at - self.records) as usize;
            // A carriage return at the end of a field in the middle of a line is not part of CR LF.
            let ends = batch.text_of(index, index).ends_with(b"\r");
            batch.key(index).filter(|key| !key.is_empty()).into_iter().for_each(|key| self.look_at(key, ends));
            at = next(at + 1);
        }
        self.records = end;
    }

    /// Examines a key; `ends` is whether its record ends with a carriage return.
    fn look_at(&mut self, key: &[u8], ends: bool) {
        self.examined += 1;
        self.returns += u64::from(self.may_strip && ends && key.ends_with(b"\r"));
        // A short word such as FACE is probably not meant as hexadecimal digits.
        self.is_upper &= key.len() >= 8 && key.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
        self.has_letters |= key.iter().any(u8::is_ascii_alphabetic);
    }

    pub(super) fn habit(self) -> Option<Habit> {
        match self.returns {
            // Keys without letters have no upper or lower case.
            0 => (self.examined > 0 && self.is_upper && self.has_letters).then_some(Habit::UpperHex),
            all if all == self.examined => Some(Habit::CarriageReturn),
            _ => Some(Habit::SomeReturns),
        }
    }
}

/// The first of the records from this one on whose key is examined.
fn next(record: u64) -> u64 {
    if record < FIRST { record } else { record.next_multiple_of(EVERY) }
}

impl Habit {
    /// Whether all or some keys end with a carriage return.
    pub(crate) fn is_returns(self) -> bool {
        self != Habit::UpperHex
    }

    /// A possible reason why nothing was found, given this property.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Habit::CarriageReturn => "the lines end with CR LF, and the CR is part of each key; to remove the CR, use --crlf",
            Habit::SomeReturns => "some lines end with CR LF, and the CR is part of their keys; to remove the CR, use --crlf",
            Habit::UpperHex => {
                "the input's keys are upper-case hexadecimal digits; if the filter's keys are lower-case, convert the input with `tr A-F a-f`; if the filter's keys are raw bytes, add --hex"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found::Found;
    use super::*;

    /// Returns the common property of these lines; checks that one batch with all lines and one
    /// batch per line give the same result.
    fn habit(lines: &[&str]) -> Option<Habit> {
        let (text, mut found) = (lines.join("\n"), Found::default());
        let mut start = 0;
        for line in lines {
            found.push(start..start + line.len(), start..start + line.len());
            start += line.len() + 1;
        }
        let [whole, single] = [found.spans.len(), 1].map(|size| {
            let mut habits = Habits::new(true);
            found
                .spans
                .chunks(size.max(1))
                .for_each(|spans| habits.examine(Batch { spans, text: text.as_bytes(), keys: &[], numbers: &[] }));
            habits.habit()
        });
        assert_eq!(whole, single, "{lines:?}");
        whole
    }

    #[test]
    fn all_keys_count() {
        assert_eq!(habit(&["a\r", "b\r"]), Some(Habit::CarriageReturn));
        assert_eq!(habit(&["a\r", "b"]), Some(Habit::SomeReturns));
        assert_eq!(habit(&["00AAFF12", "12345678"]), Some(Habit::UpperHex));
        for lines in [&["12345678"][..], &["00aaff12"], &["FACE"], &["00AAFF1G"], &[""], &[]] {
            assert_eq!(habit(lines), None, "{lines:?}");
        }
        // Beyond the first hundred, one key of 64 is examined.
        let mut lines = vec!["a"; 1_000];
        lines[640] = "a\r";
        assert_eq!(habit(&lines), Some(Habit::SomeReturns));
        lines.swap(640, 641);
        assert_eq!(habit(&lines), None);
    }
}
