//! Names of inputs, where `-` is standard input.

use crate::failure::STDIN;
use crate::output::is_same;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Whether this is the name of the standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The path in the form in which messages show it.
pub(crate) fn name(path: &Path) -> &Path {
    if is_stdin(path) { Path::new(STDIN) } else { path }
}

/// The first of these inputs that is the same file as `path`, even under another name.
pub(crate) fn same_file<'a>(path: &Path, inputs: &'a [PathBuf]) -> Option<&'a Path> {
    let target = std::fs::metadata(path).ok()?;
    let is_target = |input: &Path| input_metadata(input).is_ok_and(|data| is_same(&target, &data));
    if inputs.is_empty() {
        let stdin = Path::new("-");
        return Some(stdin).filter(|stdin| is_target(stdin));
    }
    inputs.iter().map(PathBuf::as_path).find(|input| is_target(input))
}

/// The system's data about an input, read without opening it, because opening a pipe would wait for
/// a writer.
pub(crate) fn input_metadata(path: &Path) -> io::Result<Metadata> {
    if is_stdin(path) { open_file(path)?.metadata() } else { std::fs::metadata(path) }
}

/// Opens the file of an input.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = if is_stdin(path) { unbuffered_stdin()? } else { File::open(path)? };
    match file.metadata()?.is_dir() {
        true => Err(io::Error::other("this is a directory; name the files in it, or join them with `cat DIR/*`")),
        false => Ok(file),
    }
}

/// Standard input without the standard library's buffer, which would copy everything once more and
/// hide the underlying file.
#[cfg(unix)]
fn unbuffered_stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    crate::output::check_stdin()?;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn unbuffered_stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
