//! Writes JSON, which the page reads. This crate reads no JSON.

use std::fmt;

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Is(bool),
    /// Written as the shortest decimal that gives this `f64`, so that equal texts mean equal bits;
    /// null for infinities and NaN.
    Number(f64),
    Whole(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// The object with one more field.
    pub(crate) fn with(self, name: &'static str, value: impl Into<Json>) -> Json {
        match self {
            Json::Object(mut fields) => {
                fields.push((name, value.into()));
                Json::Object(fields)
            }
            other => other,
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Is(is) => write!(f, "{is}"),
            Json::Number(number) if number.is_finite() => write!(f, "{number:?}"),
            Json::Number(_) => f.write_str("null"),
            Json::Whole(number) => write!(f, "{number}"),
            Json::Text(text) => quoted(f, text),
            Json::List(list) => enclosed(f, '[', list, ']', |f, value| value.fmt(f)),
            Json::Object(fields) => enclosed(f, '{', fields, '}', |f, (name, value)| write!(f, "\"{name}\":{value}")),
        }
    }
}

fn enclosed<T>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    all: &[T],
    close: char,
    one: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    write!(f, "{open}")?;
    for (place, value) in all.iter().enumerate() {
        if place > 0 {
            f.write_str(",")?;
        }
        one(f, value)?;
    }
    write!(f, "{close}")
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Whole(number)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Whole(number.into())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Number(number)
    }
}

impl From<bool> for Json {
    fn from(is: bool) -> Json {
        Json::Is(is)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(list: Vec<T>) -> Json {
        Json::List(list.into_iter().map(Into::into).collect())
    }
}

/// Makes an object: `object!{ "name": value, .. }`.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::json::Json::Object(vec![$(($name, $crate::json::Json::from($value))),*])
    };
}
pub(crate) use object;

#[cfg(test)]
mod tests {
    #[test]
    fn texts_and_numbers_are_json() {
        let value =
            object! { "text": "a \"b\"\n\u{1}\\", "list": vec![1.0, 1e-7, f64::NAN], "none": None::<f64>, "is": true, "whole": u64::MAX };
        let expected = r#"{"text":"a \"b\"\n\u0001\\","list":[1.0,1e-7,null],"none":null,"is":true,"whole":18446744073709551615}"#;
        assert_eq!(value.to_string(), expected);
    }
}
