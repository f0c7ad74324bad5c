//! How keys are cut from records, in words that a filter, a state or a sketch keeps as its label: a
//! filter that was made of a column finds nothing in whole lines.

use super::{RecordArgs, json};
use crate::failure::{Failure, warn};
use serde_json::{Map, Value};
use std::path::Path;

/// The options that say what is a key, without those that only say how it is read. As an object:
/// docs/FORMAT.md has its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extraction(Map<String, Value>);

impl Extraction {
    /// What a label says of keys; `None` for none, and where nothing is understood here.
    pub(crate) fn of(label: Option<&str>) -> Option<Extraction> {
        let found = Extraction(serde_json::from_str(label?).ok()?);
        found.apply(&RecordArgs::lines(1)).map(|_| found)
    }

    /// The same of a state of `dedup`: how its keys were cut, if that is known, and whether second
    /// occurrences are among its entries.
    pub(crate) fn of_state(label: Option<&str>) -> (Option<Extraction>, bool) {
        let Some(mut kept) = Extraction::of(label) else { return (None, false) };
        let second = kept.0.remove("second").is_some();
        let unkept = kept.0.remove("unkept").is_some();
        (Some(kept).filter(|_| !unkept), second)
    }

    /// What stands in a file, for people.
    pub(crate) fn told(label: Option<&str>) -> Option<String> {
        match Extraction::of_state(label) {
            (Some(keys), false) => Some(keys.options()),
            (Some(keys), true) => Some(format!("{}, with second occurrences", keys.options())),
            (None, true) => Some("how they were read is not kept; with second occurrences".to_owned()),
            (None, false) => label.map(str::to_owned),
        }
    }

    /// The same of a state of `dedup --second`, whose entries are not all lines.
    pub(crate) fn with_second(mut self) -> Extraction {
        self.0.insert("second".to_owned(), true.into());
        self
    }

    /// The label that says this.
    fn label(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// Stores this in a file, and reports if it cannot: very long names of columns have no room.
    pub(crate) fn keep(&self, path: &Path, mut set_label: impl FnMut(&str) -> bool) {
        if !set_label(&self.label()) {
            // What the entries are is not lost with it.
            if self.0.contains_key("second") {
                set_label(r#"{"second":true,"unkept":true}"#);
            }
            warn(format_args!(
                "{} does not keep how its keys were read, as the names are too long; give the same options each time",
                path.display()
            ));
        }
    }

    /// Tells that files become one whose keys can hardly be the same: of the one the bytes that
    /// digits stand for, of the other digits. Otherwise the same keys may come from files of any
    /// form.
    pub(crate) fn warn_of_other(first: &Path, label: Option<&str>, other: &Path, other_label: Option<&str>) {
        if let (Some(first_keys), Some(other_keys)) = (Extraction::of(label), Extraction::of(other_label))
            && first_keys.is_other_form(&other_keys)
        {
            warn(format_args!(
                "the keys of {} were read {}, those of {} {}; are they the same keys?",
                first.display(),
                first_keys.described(),
                other.display(),
                other_keys.described()
            ));
        }
    }

    /// These records, with keys that are cut like this. `None` for a field that is not known, or an
    /// impossible value.
    fn apply(&self, to: &RecordArgs) -> Option<RecordArgs> {
        let mut args = to.clone();
        for (name, value) in &self.0 {
            match (name.as_str(), value) {
                ("null", Value::Bool(true)) => args.null = true,
                ("crlf", Value::Bool(true)) => args.crlf = true,
                ("csv", Value::Bool(true)) => args.csv = true,
                ("hex", Value::Bool(true)) => args.hex = true,
                ("blanks", Value::Bool(true)) => args.blanks = true,
                // Say nothing of keys.
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

    /// As options of the command.
    pub(crate) fn options(&self) -> String {
        let options: Vec<String> = self.0.iter().filter_map(|(name, value)| option(name, value)).collect();
        if options.is_empty() { "whole lines".to_owned() } else { options.join(" ") }
    }

    /// The same as part of a sentence.
    fn described(&self) -> String {
        if self.is_lines() { "as whole lines".to_owned() } else { format!("with {}", self.options()) }
    }

    fn is_hex(&self) -> bool {
        self.0.contains_key("hex")
    }

    /// Whether the keys of the one are bytes that digits stand for, and of the other digits.
    fn is_other_form(&self, other: &Extraction) -> bool {
        self.is_hex() != other.is_hex() && !self.is_fixed() && !other.is_fixed()
    }

    /// Which part of a record is the key, without how records end and whether they are named.
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
}

fn option(name: &str, value: &Value) -> Option<String> {
    let text = value.as_str().map(|text| crate::failure::for_shell(Path::new(text)));
    Some(match (name, text) {
        ("null", _) => "-0".to_owned(),
        ("header", _) => "--no-header".to_owned(),
        ("fields", Some(list)) => format!("-f {list}"),
        ("delimiter", Some(_)) if value == "\t" => "--delimiter '\\t'".to_owned(),
        ("delimiter", Some(character)) => format!("--delimiter {character}"),
        ("json", Some(path)) => format!("--json-field {path}"),
        (_, Some(text)) => format!("--{name} {text}"),
        ("fixed", None) => format!("--fixed {value}"),
        (_, None) => format!("--{name}"),
    })
}

impl RecordArgs {
    /// What these options say of keys.
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

    /// Whether any option says what is a key.
    pub(crate) fn says_what_keys_are(&self) -> bool {
        self.lines || !self.extraction().is_lines()
    }

    /// These options, or where they do not say what is a key, what the filters say that are asked.
    /// An error if those differ.
    pub(crate) fn for_filters(&self, filters: &[(&Path, Option<Extraction>)]) -> Result<KeysOf, Failure> {
        let known: Vec<(&Path, &Extraction)> = filters.iter().filter_map(|(path, kept)| kept.as_ref().map(|kept| (*path, kept))).collect();
        let Some(&(first, kept)) = known.first() else {
            return Ok(KeysOf { args: self.clone(), doubt: None, is_kept: false, other_form: false, other_part: false });
        };
        if self.says_what_keys_are() {
            let given = self.extraction();
            let other = known.iter().find(|(_, kept)| **kept != given);
            let doubt = other.map(|(path, other)| {
                format!(
                    "the keys of {} were read {}, and these {}; are they the same keys?",
                    path.display(),
                    other.described(),
                    given.described()
                )
            });
            let other_form = other.is_some_and(|(_, other)| other.is_other_form(&given));
            // That keys are whole lines here is often the point of saying so.
            let other_part = !self.lines && known.iter().any(|(_, kept)| kept.part() != given.part());
            return Ok(KeysOf { args: self.clone(), doubt, is_kept: false, other_form, other_part });
        }
        if let Some((path, other)) = known.iter().find(|(_, other)| *other != kept) {
            return Err(Failure::new(format_args!(
                "the keys of {} were read {}, those of {} {}; say with such options, or with --lines, what the keys are here",
                first.display(),
                kept.described(),
                path.display(),
                other.described()
            )));
        }
        let doubt = (!kept.is_lines()).then(|| {
            format!(
                "keys are read as those of {} were, {}; for whole lines add --lines, or say what the keys are",
                first.display(),
                kept.described()
            )
        });
        Ok(KeysOf { args: kept.apply(self).unwrap_or_else(|| self.clone()), doubt, is_kept: true, other_form: false, other_part: false })
    }
}

/// How keys are read for some filters.
pub(crate) struct KeysOf {
    pub(crate) args: RecordArgs,
    /// What to say if nothing at all was found.
    pub(crate) doubt: Option<String>,
    /// Whether the filters determined it: then this doubt is reported, too, if something went
    /// wrong.
    pub(crate) is_kept: bool,
    /// The keys of a filter are bytes that digits stand for, and these are digits, or the other way
    /// round: hardly ever the same keys.
    pub(crate) other_form: bool,
    /// The keys of a filter are another part of their records than these. They may be the same keys
    /// anyway, but what is written should not mix others in without a word.
    pub(crate) other_part: bool,
}
