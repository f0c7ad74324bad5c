//! A property that all the first keys of a run have, for a hint if nothing is found.

use super::found::Batch;

/// How many keys are examined.
const LOOKED_AT: usize = 100;

/// A property that all of these keys have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// All keys end with a carriage return.
    CarriageReturn,
    /// All keys are hexadecimal digits, with letters in upper case.
    UpperHex,
}

impl Habit {
    pub(super) fn of(batch: Batch<'_>) -> Option<Habit> {
        let keys = || batch.iter().map(|(_, key)| key).filter(|key| !key.is_empty()).take(LOOKED_AT);
        let is_upper = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
        keys().next()?;
        if keys().all(|key| key.ends_with(b"\r")) {
            return Some(Habit::CarriageReturn);
        }
        // Numbers without letters, and short words, are not regarded as upper-case hexadecimal.
        let is_hex =
            keys().all(|key| key.len() >= 8 && key.iter().all(is_upper)) && keys().any(|key| key.iter().any(u8::is_ascii_alphabetic));
        is_hex.then_some(Habit::UpperHex)
    }

    /// A possible reason why nothing was found, given this property.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Habit::CarriageReturn => "the lines end with CR LF, and the CR is part of each key: --crlf removes it",
            Habit::UpperHex => {
                "the keys are upper-case hexadecimal: if the filter's keys are lower-case, convert the input with `tr A-F a-f`; if the filter's keys are raw bytes, add --hex"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found::Found;
    use super::*;

    fn habit(lines: &[&str]) -> Option<Habit> {
        let (text, mut found) = (lines.join("\n"), Found::default());
        let mut start = 0;
        for line in lines {
            found.push(start..start + line.len(), start..start + line.len());
            start += line.len() + 1;
        }
        Habit::of(Batch { spans: &found.spans, text: text.as_bytes(), keys: &[], numbers: &[] })
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
