//! Finds one member of a JSON text without building the other values, which are only checked and
//! skipped.
//!
//! Most texts are read by the fast path ([`scan`]), and the others by the general reader.

mod scan;
#[cfg(test)]
mod tests;

use super::key::Found;
use scan::{Order, Value};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Names from the outermost to the innermost: `.a.b` is the member `b` of the member `a`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path(Vec<String>);

impl std::str::FromStr for Path {
    type Err = String;

    /// Parses `.a.b`; a name that contains dots or is empty is written in quotes, as in `.a."b.c"`.
    fn from_str(text: &str) -> Result<Path, String> {
        let wrong = || format!("`{text}` is not a path to a JSON member; write it as .name, .outer.inner or .\"with.dot\"");
        let mut names = Vec::new();
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or_else(wrong)?,
                None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
            };
            if name.is_empty() && !rest.starts_with('"') {
                return Err(wrong());
            }
            names.push(name.to_owned());
            if after.is_empty() {
                return Ok(Path(names));
            }
            rest = after.strip_prefix('.').ok_or_else(wrong)?;
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|name| if name.contains('.') || name.is_empty() { write!(f, ".\"{name}\"") } else { write!(f, ".{name}") })
    }
}

/// The member that is the key of JSON texts.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    path: Path,
    order: Order,
}

impl Member {
    pub(super) fn new(path: Path) -> Member {
        Member { path, order: Order::default() }
    }

    /// Finds the key of a JSON text. For a string, the key is its decoded text, which is appended
    /// to `keys` if the string has escapes. Numbers, `true` and `false` are used as they are
    /// written. The text must be one whole JSON value; if a name is repeated, the last one counts.
    #[inline]
    pub(super) fn find(&mut self, text: &[u8], keys: &mut Vec<u8>) -> Result<Found, String> {
        let path = &self.path;
        match scan::find(text, &path.0, &mut self.order).map_or_else(|| value(text, path), Ok)? {
            Value { raw: [b'"', plain @ .., b'"'], has_escapes: false } => Ok(Found::part_of(text, plain)),
            Value { raw: raw @ [b'"', ..], .. } => {
                let decoded = serde_json::Deserializer::from_slice(raw).deserialize_str(AppendTo(keys));
                decoded.map_err(|error| format!("has a member {path} that cannot be read as JSON: {}", without_line(&error)))?;
                Ok(Found::Appended)
            }
            Value { raw: b"null", .. } => Err(format!("has null at {path}, which is not a key")),
            Value { raw: [b'{' | b'[', ..], .. } => Err(format!("has an object or a list at {path}, not a string or a number")),
            Value { raw, .. } => Ok(Found::part_of(text, raw)),
        }
    }
}

/// The value at a path, of any type, by the general reader.
fn value<'t>(text: &'t [u8], path: &Path) -> Result<Value<'t>, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let found = Along(&path.0).deserialize(&mut json).and_then(|found| json.end().map(|()| found));
    let found = found.map_err(|error| format!("is not valid JSON: {}", without_line(&error)))?;
    let raw = found.ok_or_else(|| missing(path))?.get().as_bytes();
    Ok(Value { raw, has_escapes: raw.contains(&b'\\') })
}

/// The message if nothing is found at a path.
fn missing(path: &Path) -> String {
    let brackets = path.0.iter().any(|name| name.contains('['));
    let remark = if brackets { "; [ ] has no special meaning in a path, and list elements cannot be keys" } else { "" };
    format!("has no member {path}{remark}")
}

/// Appends the text of a string.
struct AppendTo<'a>(&'a mut Vec<u8>);

impl Visitor<'_> for AppendTo<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// The message of the error without the line number: records are single lines, so "line 1" would
/// mislead.
pub(crate) fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ").replace("expected ident", "expected true, false or null")
}

/// Finds the value at the end of this path, in the form in which it is written; `None` if it does
/// not exist.
#[derive(Clone, Copy)]
struct Along<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Along<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Along<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Ok(None) };
        let mut found = None;
        while let Some(here) = members.next_key_seed(Is(name))? {
            if here {
                found = members.next_value_seed(Along(rest))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    // Only objects have members.
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Compares a name with this one, without storing it.
struct Is<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}
