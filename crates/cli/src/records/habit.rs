//! Finds a property that the first keys of a run share, for a hint if nothing was found.

use super::found::Batch;

/// How many keys are examined.
const LOOKED_AT: usize = 100;

/// The keys that were examined so far.
#[derive(Clone, Copy)]
pub(super) struct Habits {
    left: usize,
    /// Whether all keys so far end with a carriage return that an option would remove.
    has_returns: bool,
    /// Whether all keys so far are hexadecimal digits in upper case, and whether any of them has a
    /// letter.
    is_upper: bool,
    has_letters: bool,
}

/// A property that all of these keys have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// All keys end with a carriage return.
    CarriageReturn,
    /// All keys are hexadecimal digits, with letters in upper case.
    UpperHex,
}

impl Habits {
    /// `may_strip` says whether --crlf would remove a carriage return from the keys.
    pub(super) fn new(may_strip: bool) -> Habits {
        Habits { left: LOOKED_AT, has_returns: may_strip, is_upper: true, has_letters: false }
    }

    /// Examines the next keys. Which keys are examined does not depend on how the keys are divided
    /// into batches.
    pub(super) fn examine(&mut self, batch: Batch<'_>) {
        for (_, key) in batch.iter().filter(|(_, key)| !key.is_empty()).take(self.left) {
            self.left -= 1;
            self.has_returns &= key.ends_with(b"\r");
            // A short word such as FACE is probably not meant as hexadecimal digits.
            self.is_upper &= key.len() >= 8 && key.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
            self.has_letters |= key.iter().any(u8::is_ascii_alphabetic);
        }
    }

    pub(super) fn habit(self) -> Option<Habit> {
        if self.left == LOOKED_AT {
            return None;
        }
        if self.has_returns {
            return Some(Habit::CarriageReturn);
        }
        // Keys without letters have no upper or lower case.
        (self.is_upper && self.has_letters).then_some(Habit::UpperHex)
    }
}

impl Habit {
    /// A possible reason why nothing was found, given this property.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Habit::CarriageReturn => "the lines end with CR LF, and the CR is part of each key; to remove the CR, use --crlf",
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
        assert_eq!(habit(&["a\r", "b"]), None);
        assert_eq!(habit(&["00AAFF12", "12345678"]), Some(Habit::UpperHex));
        for lines in [&["12345678"][..], &["00aaff12"], &["FACE"], &["00AAFF1G"], &[""], &[]] {
            assert_eq!(habit(lines), None, "{lines:?}");
        }
    }
}
