//! The one way to fail: a message that says what was wrong, where, and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// An error on its way to standard error.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    broken_pipe: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Failure {
        Failure { message: message.to_string(), broken_pipe: false }
    }

    /// `path: error`.
    pub(crate) fn at(path: &Path, error: impl Display) -> Failure {
        Failure::new(format_args!("{}: {error}", path.display()))
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }

    pub(crate) fn print(&self) {
        warn(&self.message);
    }
}

/// A message on standard error. Nothing is left to tell if that is closed.
pub(crate) fn warn(message: impl Display) {
    use io::Write;
    let _ = writeln!(io::stderr(), "truebloom: {message}");
}

/// Errors of standard output; files are named by [`Failure::at`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure { broken_pipe: error.kind() == io::ErrorKind::BrokenPipe, message: format!("cannot write the output: {error}") }
    }
}

impl From<truebloom_math::Error> for Failure {
    fn from(error: truebloom_math::Error) -> Failure {
        Failure::new(error)
    }
}
