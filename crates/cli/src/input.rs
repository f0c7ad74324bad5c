//! Where lines come from: files in order, `-` or nothing for standard input.

use crate::failure::Failure;
use crate::lines::Lines;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};

/// The inputs of a verb.
pub(crate) struct Inputs(Vec<PathBuf>);

impl Inputs {
    pub(crate) fn new(paths: &[PathBuf]) -> Inputs {
        Inputs(if paths.is_empty() { vec![PathBuf::from("-")] } else { paths.to_vec() })
    }

    /// Whether the only input is a terminal: nobody means to type a data set.
    pub(crate) fn is_terminal(&self) -> bool {
        self.0.iter().all(|path| is_stdin(path)) && io::stdin().is_terminal()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// The number of lines in all inputs, which can then be read again; `None` if one of them can be read only once.
    pub(crate) fn count_lines(&self) -> Result<Option<u64>, Failure> {
        let mut total = 0;
        for path in self.iter() {
            let Some(mut file) = reopenable(path).map_err(|error| Failure::at(path, error))? else { return Ok(None) };
            let begin = file.stream_position().map_err(|error| Failure::at(path, error))?;
            let mut lines = Lines::new(&mut file);
            while lines.next_line().map_err(|error| Failure::at(path, error))?.is_some() {
                total += 1;
            }
            // Standard input shares its position with this handle.
            file.seek(io::SeekFrom::Start(begin)).map_err(|error| Failure::at(path, error))?;
        }
        Ok(Some(total))
    }
}

/// The path as it is called in messages.
pub(crate) fn name(path: &Path) -> &Path {
    if is_stdin(path) { Path::new("standard input") } else { path }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens an input for one pass.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(unbuffered_stdin()?));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a directory; name files, or join them with `cat DIR/*`"));
    }
    Ok(Box::new(file))
}

/// The file behind an input, if it is a regular one.
fn reopenable(path: &Path) -> io::Result<Option<File>> {
    let file = if is_stdin(path) { unbuffered_stdin()? } else { File::open(path)? };
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::other("is a directory; name files, or join them with `cat DIR/*`"));
    }
    Ok(kind.is_file().then_some(file))
}

/// Standard input without the standard library's buffer, which would copy everything once more and hide the file behind it.
#[cfg(unix)]
fn unbuffered_stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn unbuffered_stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
