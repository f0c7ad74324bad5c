//! What a command answers.

use std::borrow::Cow;
use std::ffi::CStr;

/// A reply, sent as the client's protocol has it.
pub(crate) enum Reply {
    Ok,
    Number(i64),
    /// 0 or 1 in RESP2, a boolean in RESP3.
    Bool(bool),
    Float(f64),
    Null,
    Bytes(Vec<u8>),
    Text(String),
    /// An error of one element of an array.
    Error(Cow<'static, str>),
    Array(Vec<Reply>),
    /// An array of names and values in RESP2, a map in RESP3.
    Map(Vec<(&'static CStr, Reply)>),
}

/// Why a command does nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The whole line of the error, its code first.
    Text(Cow<'static, str>),
    /// A value of another type.
    WrongType,
    /// Too few or too many arguments.
    Arity,
}

impl Failure {
    pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::Text(text.into())
    }

    /// An error of the library, as the server says it.
    pub(crate) fn of(error: impl std::fmt::Display) -> Failure {
        Failure::Text(format!("ERR {error}").into())
    }

    /// As one element of an array.
    pub(crate) fn into_reply(self) -> Reply {
        Reply::Error(match self {
            Failure::Text(text) => text,
            Failure::WrongType => Cow::Borrowed("WRONGTYPE Operation against a key holding the wrong kind of value"),
            Failure::Arity => Cow::Borrowed("ERR wrong number of arguments"),
        })
    }
}

pub(crate) const NOT_FOUND: Failure = Failure::Text(Cow::Borrowed("ERR not found"));
pub(crate) const FULL: Failure = Failure::Text(Cow::Borrowed("ERR non scaling filter is full"));
pub(crate) const EXISTS: Failure = Failure::Text(Cow::Borrowed("ERR item exists"));
