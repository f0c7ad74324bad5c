//! How keys are extracted from records, in the form that a filter, a state or a sketch stores as
//! its label. This form is stored because a filter made from one column finds nothing when whole
//! lines are looked up.

use super::{RecordArgs, json};
use crate::failure::{Failure, Shown, note, warn};
use clap::{Args, FromArgMatches};
use serde_json::{Map, Value};
use std::path::Path;

/// The options that determine the key, without those that only say how the input is read.
/// docs/FORMAT.md describes the fields of this object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extraction(Map<String, Value>);

impl Extraction {
    /// Returns the extraction that a label describes; `None` if there is no label, or if the label
    /// has another meaning.
    pub(crate) fn of(label: Option<&str>) -> Option<Extraction> {
        let found = Extraction(serde_json::from_str(label?).ok()?);
        found.apply(&RecordArgs::lines(1)).map(|_| found)
    }

    /// Like [`of`](Self::of), for a state of `dedup`. The result says how its keys are extracted,
    /// if this is known, and whether the state also remembers second occurrences.
    pub(crate) fn of_state(label: Option<&str>) -> (Option<Extraction>, bool) {
        let Some(mut kept) = Extraction::of(label) else { return (None, false) };
        let second = kept.0.remove("second").is_some();
        let unkept = kept.0.remove("unkept").is_some();
        (Some(kept).filter(|_| !unkept), second)
    }

    /// A text that describes the contents of a label, for people.
    pub(crate) fn told(label: Option<&str>) -> Option<String> {
        match Extraction::of_state(label) {
            (Some(keys), false) => Some(keys.options()),
            (Some(keys), true) => Some(format!("read {}; the state also remembers which keys occurred twice", keys.described())),
            (None, true) => Some(
                "unknown, because the state does not record how its keys were read; the state also remembers which keys occurred twice"
                    .to_owned(),
            ),
            (None, false) => label.map(str::to_owned),
        }
    }

    /// Returns this extraction for a state of `dedup --second`, which also has entries for second
    /// occurrences.
    pub(crate) fn with_second(mut self) -> Extraction {
        self.0.insert("second".to_owned(), true.into());
        self
    }

    /// The label with these contents.
    fn label(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// Stores this extraction in a file, and warns if it cannot be stored: very long column names
    /// do not fit.
    pub(crate) fn keep(&self, path: &Path, mut set_label: impl FnMut(&str) -> bool) {
        if !set_label(&self.label()) {
            // That the entries include second occurrences is stored even then.
            if self.0.contains_key("second") {
                set_label(r#"{"second":true,"unkept":true}"#);
            }
            warn(format_args!(
                "{} has no room to store how its keys were read, because the names of the columns or fields are too long; give the same options with every later command",
                path.shown()
            ));
        }
    }

    /// Returns these record options, changed so that they extract keys in this way. `None` for an
    /// unknown field or an impossible value.
    fn apply(&self, to: &RecordArgs) -> Option<RecordArgs> {
        let mut args = to.clone();
        for (name, value) in &self.0 {
            match (name.as_str(), value) {
                ("null", Value::Bool(true)) => args.null = true,
                ("crlf", Value::Bool(true)) => args.crlf = true,
                ("csv", Value::Bool(true)) => args.csv = true,
                ("hex", Value::Bool(true)) => args.hex = true,
                ("blanks", Value::Bool(true)) => args.blanks = true,
                // These fields do not describe keys.
                ("second" | "unkept", Value::Bool(true)) => {}
                ("header", Value::Bool(false)) => args.no_header = true,
                ("fields", Value::String(text)) => args.field = Some(text.parse().ok()?),
                ("delimiter", Value::String(text)) => args.delimiter = Some(text.parse::<char>().ok().filter(char::is_ascii)? as u8),
                ("column", Value::String(text)) => args.column = Some(text.clone()),
                ("json", Value::String(text)) => args.json_field = Some(text.parse::<json::Path>().ok()?),
                ("fixed", Value::Number(length)) => args.fixed = Some(length.as_u64().filter(|length| *length > 0)?),
                _ => return None,
            }
        }
        Some(args)
    }

    /// The equivalent options of the command.
    pub(crate) fn options(&self) -> String {
        let words: Vec<String> = self.words().iter().map(|word| crate::failure::quoted(word)).collect();
        if words.is_empty() { "whole lines".to_owned() } else { words.join(" ") }
    }

    /// The equivalent options, as words without quotes.
    fn words(&self) -> Vec<String> {
        self.0.iter().flat_map(|(name, value)| option(name, value)).collect()
    }

    /// Whether the equivalent options, written on a command line, have this meaning. Labels of
    /// other programs can combine options that exclude each other.
    pub(crate) fn can_be_given(&self) -> bool {
        let words = self.words();
        // A shell removes newlines from the end of a word that `printf` makes.
        if words.iter().any(|word| word.ends_with('\n') || word.contains('\0')) {
            return false;
        }
        let parser = RecordArgs::augment_args(clap::Command::new("truebloom").no_binary_name(true));
        let parsed = parser.try_get_matches_from(words).ok().and_then(|matches| RecordArgs::from_arg_matches(&matches).ok());
        parsed.is_some_and(|args| args.extraction() == *self && args.splitter().is_ok())
    }

    /// The equivalent options, each after a space. Empty if keys are whole lines.
    pub(crate) fn options_if_any(&self) -> String {
        if self.is_lines() { String::new() } else { format!(" {}", self.options()) }
    }

    /// A description of this extraction as part of a sentence.
    pub(super) fn described(&self) -> String {
        if self.is_lines() { "as whole lines".to_owned() } else { format!("with {}", self.options()) }
    }

    fn is_hex(&self) -> bool {
        self.0.contains_key("hex")
    }

    /// Whether the keys of one extraction are hexadecimal digits, and the keys of the other are the
    /// bytes that such digits represent.
    pub(super) fn is_other_form(&self, other: &Extraction) -> bool {
        self.is_hex() != other.is_hex() && !self.is_fixed() && !other.is_fixed()
    }

    /// Returns the options that say which part of a record is the key, without those that say how
    /// records end or whether columns have names.
    fn part(&self) -> Map<String, Value> {
        let is_part = |name: &str| !matches!(name, "null" | "crlf" | "csv" | "header");
        self.0.iter().filter(|(name, _)| is_part(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn is_fixed(&self) -> bool {
        self.0.contains_key("fixed")
    }

    fn is_lines(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all options only modify others: a delimiter, no header, or the end of lines.
    fn is_half(&self) -> bool {
        let has = |name| self.0.contains_key(name);
        (has("delimiter") || has("header") || has("crlf"))
            && self.0.keys().all(|name| matches!(name.as_str(), "delimiter" | "header" | "crlf"))
    }

    /// This extraction with the options of another one, if they have a meaning here.
    fn changed_by(&self, other: &Extraction) -> Option<Extraction> {
        let has = |name| self.0.contains_key(name);
        let has_delimiter = has("csv") || has("fields") && !has("blanks") && !other.0.contains_key("header");
        let only_ends = other.0.keys().all(|name| name == "crlf");
        let has_ends = !self.is_lines() && !has("fixed") && !has("null");
        let mut both = self.clone();
        both.0.extend(other.0.clone());
        (if only_ends { has_ends } else { has_delimiter }).then_some(both)
    }
}

/// The words of one option.
fn option(name: &str, value: &Value) -> Vec<String> {
    let number = value.is_number().then(|| value.to_string());
    let text = value.as_str().map(str::to_owned).or(number);
    let flag = match name {
        "null" => "-0".to_owned(),
        "header" => "--no-header".to_owned(),
        "fields" => "-f".to_owned(),
        "json" => "--json-field".to_owned(),
        _ => format!("--{name}"),
    };
    match text {
        None => vec![flag],
        Some(text) if name == "delimiter" && text == "\t" => vec![flag, "\\t".to_owned()],
        Some(text) if text.starts_with('-') => vec![format!("{flag}={text}")],
        Some(text) => vec![flag, text],
    }
}

impl RecordArgs {
    /// The extraction that these options describe.
    pub(crate) fn extraction(&self) -> Extraction {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| fields.extend(value.map(|value| (name.to_owned(), value)));
        let flag = |set: bool, value: bool| set.then_some(Value::Bool(value));
        put("null", flag(self.null, true));
        put("crlf", flag(self.crlf, true));
        put("csv", flag(self.is_csv(), true));
        put("column", self.column.clone().map(Value::String));
        put("header", flag(self.no_header, false));
        put("fields", self.field.as_ref().map(|fields| Value::String(fields.to_string())));
        put("blanks", flag(self.blanks, true));
        put("json", self.json_field.as_ref().map(|path| Value::String(path.to_string())));
        put("delimiter", self.delimiter.map(|delimiter| Value::String(char::from(delimiter).to_string())));
        put("hex", flag(self.hex, true));
        put("fixed", self.fixed.map(Value::from));
        Extraction(fields)
    }

    /// Whether any option determines the key.
    pub(crate) fn says_what_keys_are(&self) -> bool {
        self.lines || !self.extraction().is_lines()
    }

    /// Returns these options if they say how keys are extracted; otherwise, returns the options
    /// that are stored in the filters. Returns an error if the filters differ.
    pub(crate) fn for_filters(&self, filters: &[(&Path, Option<Extraction>)]) -> Result<KeysOf, Failure> {
        let known: Vec<(&Path, &Extraction)> = filters.iter().filter_map(|(path, kept)| kept.as_ref().map(|kept| (*path, kept))).collect();
        let Some(&(first, kept)) = known.first() else {
            return Ok(KeysOf { args: self.clone(), doubt: None, is_kept: false, other_form: false, other_part: false });
        };
        let given = self.extraction();
        let both = given.is_half().then(|| kept.changed_by(&given)).flatten();
        // Options that repeat a part of the stored ones change nothing.
        let repeats = both.as_ref() == Some(kept);
        if self.says_what_keys_are() && !repeats {
            if let Some(both) = both {
                return Err(Failure::new(format_args!(
                    "the keys of {} were read with {}; if you give any option for reading keys, give all of them: {}",
                    first.shown(),
                    kept.options(),
                    both.options()
                )));
            }
            let other = known.iter().find(|(_, kept)| **kept != given);
            let doubt = other.map(|(path, other)| {
                format!(
                    "the keys of {} were read {}, but this run reads its keys {}; two keys match only if they consist of the same bytes",
                    path.shown(),
                    other.described(),
                    given.described()
                )
            });
            let other_form = other.is_some_and(|(_, other)| other.is_other_form(&given));
            // With --lines, keys are often whole lines on purpose, so there is no warning.
            let other_part = !self.lines && known.iter().any(|(_, kept)| kept.part() != given.part());
            return Ok(KeysOf { args: self.clone(), doubt, is_kept: false, other_form, other_part });
        }
        if let Some((path, other)) = known.iter().find(|(_, other)| *other != kept) {
            return Err(Failure::new(format_args!(
                "the keys of {} were read {}, but those of {} were read {}, so it is not clear how to read keys in this run; give options such as --column, or --lines for whole lines",
                first.shown(),
                kept.described(),
                path.shown(),
                other.described()
            )));
        }
        let doubt = (!kept.is_lines()).then(|| {
            format!(
                "keys are read like those of {}, {}; to read whole lines instead, add --lines; to read other keys, give options such as --column",
                first.shown(),
                kept.described()
            )
        });
        Ok(KeysOf { args: kept.apply(self).unwrap_or_else(|| self.clone()), doubt, is_kept: true, other_form: false, other_part: false })
    }
}

/// How keys are read for the given filters.
pub(crate) struct KeysOf {
    pub(crate) args: RecordArgs,
    /// The hint to print if nothing at all was found.
    pub(crate) doubt: Option<String>,
    /// Whether the filters determined how keys are read. In this case, the hint is also printed if
    /// there were errors.
    pub(crate) is_kept: bool,
    /// Whether the keys of a filter and those of this run have different forms: the keys of one are
    /// hexadecimal digits, and the keys of the other are the bytes that such digits represent. Such
    /// keys are hardly ever equal.
    pub(crate) other_form: bool,
    /// Whether the keys of this run are taken from another part of the records than the keys of a
    /// filter. The keys may be equal nevertheless, but the command warns before it adds both to one
    /// file.
    pub(crate) other_part: bool,
}

impl KeysOf {
    /// Prints the hint. If options of this run differ from those stored in a filter, it is a
    /// warning.
    pub(crate) fn print_doubt(&self) {
        self.doubt.iter().for_each(if self.is_kept { note } else { warn });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the options of this label can be given to the command.
    fn can_be_given(label: &str) -> bool {
        Extraction::of(Some(label)).is_some_and(|keys| keys.can_be_given())
    }

    #[test]
    fn options_of_impossible_labels_are_not_printed() {
        for label in [
            "{}",
            r#"{"csv":true,"column":"it's"}"#,
            r#"{"csv":true,"column":"-id"}"#,
            r#"{"fields":"1,3-4","delimiter":"-"}"#,
            r#"{"fields":"2","blanks":true,"hex":true}"#,
            r#"{"json":".a.b","crlf":true}"#,
            r#"{"fixed":16}"#,
            r#"{"null":true}"#,
        ] {
            assert!(can_be_given(label), "{label}");
        }
        for label in [
            r#"{"second":true}"#,
            r#"{"blanks":true}"#,
            r#"{"delimiter":","}"#,
            r#"{"header":false}"#,
            r#"{"csv":true,"fields":"1"}"#,
            r#"{"fixed":3,"null":true}"#,
            r#"{"csv":true,"column":"a\n"}"#,
            r#"{"csv":true,"column":"a\u0000b"}"#,
            "made by another program",
        ] {
            assert!(!can_be_given(label), "{label}");
        }
    }

    #[test]
    fn values_that_begin_with_a_hyphen_stay_values() {
        let told = |label: &str| Extraction::of(Some(label)).map(|keys| keys.options());
        assert_eq!(told(r#"{"csv":true,"column":"-id"}"#).as_deref(), Some("--csv --column=-id"));
        assert_eq!(told(r#"{"fields":"1","delimiter":"\t"}"#).as_deref(), Some(r"-f 1 --delimiter '\t'"));
    }
}
