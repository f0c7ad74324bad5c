//! The one way to fail: a message that says what was wrong, where, and what to do.

use crate::color;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// An error on its way to standard error.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    /// Of standard output: what kind of error it was.
    output: Option<io::ErrorKind>,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Failure {
        Failure { message: message.to_string(), output: None }
    }

    /// `path: error`.
    pub(crate) fn at(path: &Path, error: impl Display) -> Failure {
        Failure::new(format_args!("{}: {error}", path.display()))
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.output == Some(io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn print(&self) {
        warn(&self.message);
    }
}

/// A message on standard error. Nothing is left to tell if that is closed.
pub(crate) fn warn(message: impl Display) {
    use io::{IsTerminal, Write};
    let name = color::red("truebloom:", io::stderr().is_terminal());
    let _ = writeln!(io::stderr(), "{name} {}", printable(&message.to_string()));
}

/// Names and records come from anywhere, and must not command the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            '\n' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
        shown
    })
}

/// Errors of standard output; files are named by [`Failure::at`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure { output: Some(error.kind()), message: format!("cannot write the output: {error}; make room, or write it elsewhere") }
    }
}

impl From<truebloom_math::Error> for Failure {
    fn from(error: truebloom_math::Error) -> Failure {
        Failure::new(error)
    }
}
