//! A query, which is read field by field.

use crate::args::json_whole;
use serde_json::{Map, Value};
use truebloom_math::{Rate, Variant};

pub(super) type Answer = Map<String, Value>;

/// The fields of a query. Each field is removed when it is read, so fields that remain at the end
/// are unknown.
pub(super) struct Query {
    pub(super) fields: Answer,
}

impl Query {
    pub(super) fn take(&mut self, name: &str) -> Result<Value, String> {
        self.fields.remove(name).ok_or_else(|| format!("field `{name}` is missing"))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            Value::String(text) => Ok(text),
            other => Err(format!("field `{name}` is {}, but must be a string", brief(&other))),
        }
    }

    pub(super) fn whole(&mut self, name: &str) -> Result<u64, String> {
        let value = self.take(name)?;
        whole(&value).ok_or_else(|| format!("field `{name}` is {}, but must be a whole number from 0 to 2^64 - 1", brief(&value)))
    }

    pub(super) fn probes(&mut self) -> Result<u32, String> {
        let probes = self.whole("probes")?;
        u32::try_from(probes).map_err(|_| format!("field `probes` is {probes}, but must be at most {}", truebloom_math::MAX_PROBES))
    }

    pub(super) fn rate(&mut self, name: &str) -> Result<Rate, String> {
        match self.take(name)? {
            // The decimal number as it is written, not the nearest f64.
            Value::Number(number) => number.to_string().parse().map_err(|error| format!("field `{name}`: {error}")),
            other => Err(format!("field `{name}` is {}, but must be a number", brief(&other))),
        }
    }

    /// Reads a finite number that is at least `least`, or, if `least` is 0, greater than 0.
    pub(super) fn number(&mut self, name: &str, least: f64) -> Result<f64, String> {
        let value = self.take(name)?;
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= least && (*number > 0.0 || least != 0.0));
        let expected = if least == 0.0 { "a number above 0" } else { "a number" };
        number.ok_or_else(|| format!("field `{name}` is {}, but must be {expected}", brief(&value)))
    }

    /// Reads one of the three variants. The error for a name that only later versions know differs
    /// from the error for a typing error.
    pub(super) fn variant(&mut self) -> Result<Variant, String> {
        if self.fields.contains_key("scheme") {
            return Err("field `scheme` is not allowed here; give `variant` standard, classic or partitioned".to_owned());
        }
        let name = self.text("variant")?;
        if name == "blocked" {
            return Err(
                "field `variant` is \"blocked\", which only fn `fpr` accepts; for this fn it must be \"standard\", \"classic\" or \"partitioned\""
                    .to_owned(),
            );
        }
        name.parse().map_err(|_| format!("field `variant` is \"{name}\", but must be \"standard\", \"classic\" or \"partitioned\""))
    }

    /// Returns the elements of a field that must be an array; `read` converts each element.
    pub(super) fn list<T>(&mut self, name: &str, read: impl Fn(&Value) -> Option<T>, expected: &str) -> Result<Vec<T>, String> {
        let value = self.take(name)?;
        let items = match &value {
            Value::Array(items) => items.iter().map(read).collect(),
            _ => None,
        };
        items.ok_or_else(|| format!("field `{name}` is {value}, but must be an array of {expected}"))
    }

    pub(super) fn finish(&self) -> Result<(), String> {
        match self.fields.keys().next() {
            Some(name) => Err(format!("field `{name}` is not known to this fn; remove it, or correct its name")),
            None => Ok(()),
        }
    }
}

/// Formats a value for a message.
pub(super) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text,
    }
}

pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => json_whole(&number.to_string()),
        _ => None,
    }
}

pub(super) fn explain(error: truebloom_math::Error) -> String {
    error.to_string()
}

pub(super) fn object(value: Value) -> Answer {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
