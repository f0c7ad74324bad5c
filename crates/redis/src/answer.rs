//! The reply of a command.

use std::borrow::Cow;
use std::ffi::CStr;

/// A reply, which is sent in the form of the client's protocol.
pub(crate) enum Reply {
    Ok,
    Number(i64),
    /// Sent as 0 or 1 in RESP2, and as a boolean in RESP3.
    Bool(bool),
    Float(f64),
    Null,
    Bytes(Vec<u8>),
    Text(String),
    /// An error in place of one element of an array.
    Error(Cow<'static, str>),
    Array(Vec<Reply>),
    /// Sent as an array of names and values in RESP2, and as a map in RESP3.
    Map(Vec<(&'static CStr, Reply)>),
}

/// The reason why a command did nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The whole line of the error, which begins with its code.
    Text(Cow<'static, str>),
    /// The key holds a value of another type.
    WrongType,
    /// There are too few or too many arguments.
    Arity,
}

impl Failure {
    pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::Text(text.into())
    }

    /// Converts an error of the library to an error of the server.
    pub(crate) fn of(error: impl std::fmt::Display) -> Failure {
        Failure::Text(format!("ERR {error}").into())
    }

    /// Converts the failure to an error reply, for one element of an array.
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
