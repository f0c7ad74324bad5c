//! Standard input and output as the process received them, and messages for errors while writing.
//!
//! A program can be started with a closed output (`>&-`). Before `main`, the Rust runtime replaces
//! a closed stream with `/dev/null`. Lines would then be lost silently, although a state file
//! records them as printed. So the program records before `main` which streams are closed, and they
//! remain closed.

use crate::arch;
use crate::failure::Failure;
use crate::failure::Shown;
use crate::{progress, stop};
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use truebloom::file::{Expected, Replacement};

static WRITTEN: Mutex<Vec<(PathBuf, &str)>> = Mutex::new(Vec::new());

/// Standard output, locked; if it is closed, the first write is an error.
pub(crate) struct Output {
    stream: io::StdoutLock<'static>,
    is_terminal: bool,
    in_blocks: bool,
}

/// Standard output.
pub(crate) fn stdout() -> Output {
    let stream = io::stdout().lock();
    Output { is_terminal: stream.is_terminal(), stream, in_blocks: false }
}

/// The result of printing the last part of the output. A program that closes the pipe does not need
/// the rest of it, but the exit code must still say how the command ended.
pub(crate) fn unless_closed(printed: io::Result<()>) -> io::Result<()> {
    printed.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// The number of bytes that are written at once.
const BLOCK: usize = 64 << 10;

/// Standard output for many lines. Lines are written in full blocks, not through the line buffer of
/// the runtime, which would write the unfinished last line of every block separately.
pub(crate) fn blocks() -> BufWriter<Output> {
    BufWriter::with_capacity(BLOCK, Output { in_blocks: true, ..stdout() })
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(arch::stdout_was_closed())?;
        if self.is_terminal {
            progress::end();
        }
        if self.in_blocks { streams::write(&mut self.stream, bytes) } else { self.stream.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The name of the standard stream that goes to this file, if there is one.
pub(crate) fn stream_to(path: &Path) -> Option<&'static str> {
    let data = std::fs::metadata(path).ok()?;
    let goes_there = |stream: Option<File>| stream.and_then(|file| file.metadata().ok()).is_some_and(|stream| is_same(&data, &stream));
    let streams = [("the output", streams::stdout()), ("standard error", streams::stderr())];
    streams.into_iter().find_map(|(name, stream)| goes_there(stream).then_some(name))
}

/// Whether standard output writes to this file, at or after the position that is read next. The
/// program would then read its own output, without end.
pub(crate) fn feeds(input: &File) -> io::Result<bool> {
    let Some(mut output) = streams::stdout() else { return Ok(false) };
    let (to, from) = (output.metadata()?, input.metadata()?);
    if !is_same(&to, &from) {
        return Ok(false);
    }
    let mut input = input;
    let at = if streams::appends(&output) { to.len() } else { output.stream_position()? };
    Ok(at >= input.stream_position()?)
}

/// The width of the terminal that a stream goes to, in columns; `None` if it is not a terminal.
#[cfg(unix)]
pub(crate) fn columns(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let size = || rustix::termios::tcgetwinsize(stream).map_or(0, |size| size.ws_col.into());
    // If the size is unknown, lines are not wrapped.
    stream.is_terminal().then(size).map(|columns| if columns == 0 { usize::MAX } else { columns })
}

/// On systems other than Unix, the width is not known.
#[cfg(not(unix))]
pub(crate) fn columns(stream: &impl IsTerminal) -> Option<usize> {
    stream.is_terminal().then_some(usize::MAX)
}

/// Whether both are the same regular file.
#[cfg(unix)]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On systems other than Unix, a file that is open for reading cannot be replaced.
#[cfg(not(unix))]
pub(crate) fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// The standard streams as files.
#[cfg(unix)]
mod streams {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;

    pub(super) fn stdout() -> Option<File> {
        io::stdout().as_fd().try_clone_to_owned().ok().map(File::from)
    }

    pub(super) fn stderr() -> Option<File> {
        io::stderr().as_fd().try_clone_to_owned().ok().map(File::from)
    }

    /// Writes the bytes with a single system call.
    pub(super) fn write(_: &mut io::StdoutLock<'_>, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    /// Whether writes always go to the end of the file.
    pub(super) fn appends(file: &File) -> bool {
        rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::APPEND))
    }
}

/// On systems other than Unix, files cannot be compared.
#[cfg(not(unix))]
mod streams {
    use std::fs::File;
    use std::io::{self, Write};

    pub(super) fn stdout() -> Option<File> {
        None
    }

    pub(super) fn stderr() -> Option<File> {
        None
    }

    pub(super) fn write(stream: &mut io::StdoutLock<'_>, bytes: &[u8]) -> io::Result<usize> {
        stream.write(bytes)
    }

    pub(super) fn appends(_: &File) -> bool {
        false
    }
}

/// Prints the requested help or version.
pub(crate) fn print_help(help: &clap::Error) -> Result<ExitCode, Failure> {
    check(arch::stdout_was_closed())?;
    help.print()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if standard input is closed.
pub(crate) fn check_stdin() -> io::Result<()> {
    check(arch::stdin_was_closed())
}

fn check(closed: bool) -> io::Result<()> {
    if closed { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Writes a file completely or not at all; a signal never leaves half of it.
pub(crate) fn write_whole(path: &Path, expected: Expected<'_>, bytes: &[u8]) -> Result<(), Failure> {
    if matches!(expected, Expected::Nothing) && path.symlink_metadata().is_ok() {
        return Err(crate::lock::taken(path, |_| true));
    }
    let _shield = stop::last_moment()?;
    let replacement = Replacement::begin(path, expected).map_err(Failure::from)?;
    replacement.file().write_all(bytes).map_err(|error| Failure::at(path, error))?;
    replacement.commit().map_err(Failure::from)?;
    now_written(path);
    Ok(())
}

/// Notes that a file was written, so that this can be reported if the output fails later.
pub(crate) fn now_written(path: &Path) {
    note_written(path, "was written anyway");
}

/// Notes that a state was saved. If the output fails, later lines are not saved.
pub(crate) fn now_saved(path: &Path) {
    note_written(path, "lacks the lines since its last save");
}

fn note_written(path: &Path, outcome: &'static str) {
    if let Ok(mut written) = WRITTEN.lock()
        && !written.iter().any(|(other, _)| other == path)
    {
        written.push((path.to_owned(), outcome));
    }
}

/// The end of a message: `; seen.tbl was written anyway`, or nothing if no file was written.
pub(crate) fn written() -> String {
    let written = WRITTEN.lock().map_or_else(|_| Vec::new(), |written| written.clone());
    written.iter().map(|(path, outcome)| format!("; {} {outcome}", path.shown())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_twice_is_named_once() {
        let path = Path::new("named-once.tbl");
        now_written(path);
        now_written(path);
        assert_eq!(written().matches("named-once.tbl").count(), 1);
    }
}
