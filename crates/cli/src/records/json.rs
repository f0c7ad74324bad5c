//! Finds one member of a JSON text without building the rest, which is only checked and skipped.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Names from the outermost to the innermost: `.a.b` is the member `b` of the member `a`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path(Vec<String>);

impl std::str::FromStr for Path {
    type Err = String;

    /// Parses `.a.b`; a name that contains dots is written in quotes, as in `.a."b.c"`.
    fn from_str(text: &str) -> Result<Path, String> {
        let wrong = || format!("`{text}` is not a path to a JSON member; write it as .name, .outer.inner or .\"with.dot\"");
        let mut names = Vec::new();
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or_else(wrong)?,
                None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
            };
            if name.is_empty() {
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
        self.0.iter().try_for_each(|name| if name.contains('.') { write!(f, ".\"{name}\"") } else { write!(f, ".{name}") })
    }
}

/// Appends the key at `path` of a JSON text: the decoded text of a string; numbers, `true` and
/// `false` as they are written. The text must be one whole JSON value; if a name is repeated, the
/// last one counts.
pub(super) fn member(text: &[u8], path: &Path, key: &mut Vec<u8>) -> Result<(), String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let found = Along(&path.0).deserialize(&mut json).and_then(|found| json.end().map(|()| found));
    let found = found.map_err(|error| format!("is not JSON that can be read: {}", without_line(&error)))?;
    let Some(raw) = found.map(RawValue::get) else { return Err(format!("has no member {path}")) };
    if raw == "null" {
        return Err(format!("has null at {path}, which is not a key"));
    }
    match raw.as_bytes().first() {
        Some(b'"') => {
            let decoded = serde_json::Deserializer::from_str(raw).deserialize_str(AppendTo(key));
            decoded.map_err(|error| format!("has a {path} that cannot be read: {}", without_line(&error)))?;
        }
        Some(b'{' | b'[') => return Err(format!("has an object or a list at {path}, not a string or a number")),
        _ => key.extend_from_slice(raw.as_bytes()),
    }
    Ok(())
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

/// Removes the line number, because records are single lines, so "line 1" would mislead.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
}

/// Finds the value at the end of these names, as it is written; none if it does not exist.
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

    // What is not an object has no members.
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

/// Compares a name with this one, without keeping it.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, path: &str) -> Result<String, String> {
        let mut key = Vec::new();
        member(text.as_bytes(), &path.parse()?, &mut key)?;
        String::from_utf8(key).map_err(|error| error.to_string())
    }

    #[test]
    fn members_of_all_kinds() {
        let text = r#"{"x":[1,{"a":"no"}],"a":{"b":"ver\u00fcckt\n","n":1.50e3,"t":true,"z":null,"o":{}},"a.b":"dot"} "#;
        assert_eq!(find(text, ".a.b"), Ok("verückt\n".to_owned()));
        assert_eq!(find(text, "a.n"), Ok("1.50e3".to_owned()));
        assert_eq!(find(text, ".a.t"), Ok("true".to_owned()));
        assert_eq!(find(text, ".\"a.b\""), Ok("dot".to_owned()));
        assert_eq!(find(r#"{"a":1,"a":2}"#, ".a"), Ok("2".to_owned()));
        assert_eq!(find(r#"{"a":123456789012345678901234567890}"#, ".a"), Ok("123456789012345678901234567890".to_owned()));
    }

    #[test]
    fn what_is_no_member_says_why() {
        for (text, path, why) in [
            ("{\"a\":{\"b\":1}}", ".b", "no member .b"),
            ("{\"a\":null}", ".a", "has null at .a"),
            ("{\"a\":3}", ".a.b", "no member .a.b"),
            ("[1,2]", ".a", "no member .a"),
            ("7", ".a", "no member .a"),
            ("{\"a\":{}}", ".a", "an object or a list"),
            ("{\"a\":1", ".a", "EOF"),
            ("{\"a\":1}{", ".a", "trailing"),
            ("{\"a\":\"\\ud800\"}", ".a", "has a .a that"),
            ("", ".a", "EOF"),
        ] {
            let error = find(text, path).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        for path in ["", ".", "..a", ".a.", ".\"a", ".\"a\"b"] {
            assert!(path.parse::<Path>().is_err(), "{path}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(1 << 20);
        assert!(find(&format!("{{\"b\":{deep}}}"), ".a").is_err());
    }
}
