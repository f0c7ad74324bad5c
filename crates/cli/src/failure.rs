//! The error type of the command: a message that says what was wrong, where, and what to do.

use crate::{color, progress};
use std::fmt::Display;
use std::io;
use std::path::Path;
use truebloom::{FileError, FileKind, FormatError};

/// The name of standard input in messages.
pub(crate) const STDIN: &str = "standard input";

/// An error that will be printed on standard error.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    /// The kind of the error, if it is an error of standard output.
    output: Option<io::ErrorKind>,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Failure {
        Failure { message: message.to_string(), output: None }
    }

    /// An error with the message `path: error`.
    pub(crate) fn at(path: &Path, error: impl Display) -> Failure {
        Failure::new(format_args!("{}: {error}", path.shown()))
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.output == Some(io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn print(&self) {
        note(&self.message);
    }
}

/// Prints a warning on standard error: the command did what was requested, but the result is
/// probably not what the user wants.
pub(crate) fn warn(message: impl Display) {
    note(format_args!("warning: {message}"));
}

/// Prints a message on standard error. Errors while printing are ignored, because they cannot be
/// reported anywhere.
pub(crate) fn note(message: impl Display) {
    use io::{IsTerminal, Write};
    let name = color::red("truebloom:", io::stderr().is_terminal());
    let message = printable(&message.to_string());
    let _ = progress::aside(|| writeln!(io::stderr(), "{name} {message}"));
}

/// Escapes control characters in names and records, because these come from any source and must not
/// control the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            '\n' => shown.push(c),
            c if is_invisible(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
        shown
    })
}

/// Whether a character controls how a terminal shows others: a control character, or one that
/// changes the direction or the width of text.
fn is_invisible(c: char) -> bool {
    let is_format =
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || is_format
}

/// A text from a file on one line, without characters that control the terminal.
pub(crate) fn on_one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n")
}

/// Names of files in messages.
pub(crate) trait Shown {
    /// The name on one line. A name with a newline must not look like another message.
    fn shown(&self) -> String;
}

impl Shown for Path {
    fn shown(&self) -> String {
        self.to_string_lossy().replace('\n', "\\n")
    }
}

/// A path as a single word of a shell command. A name like `x;rm -rf y` must stay one word, and one
/// that begins with `-` must not become an option. For a name that ends with a newline, the word is
/// the placeholder `FILE`, because a shell removes the newline.
pub(crate) fn for_shell(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.ends_with(b"\n") {
        return "FILE".to_owned();
    }
    let folder: &[u8] = if bytes.starts_with(b"-") { b"./" } else { b"" };
    word(&[folder, bytes].concat())
}

/// A text as a single word of a shell command.
pub(crate) fn quoted(text: &str) -> String {
    word(text.as_bytes())
}

/// A word that cannot be printed is written with `printf`, which makes the same bytes in every
/// shell.
fn word(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.chars().any(|c| is_invisible(c) || c == char::REPLACEMENT_CHARACTER) {
        return format!("\"$(printf '{}')\"", bytes.iter().map(|&byte| octal(byte)).collect::<String>());
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+,@%:=".contains(&byte);
    // A word of punctuation alone would look like a part of the sentence. In zsh, a word that
    // begins with `=` is the path of a program.
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    if has_letter && !text.starts_with('=') && text.bytes().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A byte of a name in the format of `printf`.
fn octal(byte: u8) -> String {
    let is_plain = byte == b' ' || byte.is_ascii_graphic() && !b"'\\%-".contains(&byte);
    if is_plain { char::from(byte).to_string() } else { format!("\\{byte:03o}") }
}

/// What to do about a file that would exceed the limit of the process.
const TOO_LOW: &str = "the limit on the size of a file is too low (see `ulimit -f`)";

/// Converts an error of standard output. Errors of files are converted by [`Failure::at`], which
/// adds the name of the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::FileTooLarge => TOO_LOW,
            _ => "make room, or write it elsewhere",
        };
        Failure { output: Some(error.kind()), message: format!("cannot write the output: {error}; {remedy}{}", crate::output::written()) }
    }
}

/// Makes a message of one line that includes the cause. The library's own message leaves the cause
/// to [`Error::source`](std::error::Error::source).
impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure::new(match error {
            FileError::Read { path, cause } if path.as_os_str() == "-" && cause.kind() == io::ErrorKind::NotFound => {
                "a file is needed here, but `-` means standard input; name a file, or write ./- for a file named -".to_owned()
            }
            FileError::Read { path, cause } => {
                let remedy = match cause.kind() {
                    io::ErrorKind::OutOfMemory => "; read it on a machine with more memory",
                    io::ErrorKind::IsADirectory => "; give a file",
                    _ if path.as_os_str() == STDIN => "",
                    _ => "; check the path and its permissions",
                };
                format!("cannot read {}: {cause}{remedy}", path.shown())
            }
            FileError::Write { path, cause } => {
                let remedy = match cause.kind() {
                    io::ErrorKind::FileTooLarge => TOO_LOW,
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room, or write to another disk",
                    _ => "check the folder, its permissions and its free space",
                };
                format!("cannot write {}: {cause}; {remedy}", path.shown())
            }
            FileError::Format { path, cause } => match advice(&cause).filter(|_| path.as_os_str() != STDIN) {
                Some(advice) => {
                    format!("{}: {}; {advice}: truebloom doctor {}", path.shown(), without_advice(&cause), for_shell(&path))
                }
                None => format!("{}: {}", path.shown(), wrong_with_file(&cause)),
            },
            FileError::ReadOnly { path } => match others_file(&path) {
                Some(owner) => {
                    format!("{} belongs to {owner}, and this user may not write it; ask its owner, or choose another name", path.shown())
                }
                None => FileError::ReadOnly { path }.to_string(),
            },
            FileError::Replaced { path } => {
                format!(
                    "{} was removed or replaced by another program in the meantime; nothing was written; run the command again",
                    path.shown()
                )
            }
            other => other.to_string(),
        })
    }
}

/// The owner of a file that belongs to another user, who alone may change its permissions.
#[cfg(unix)]
fn others_file(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path).ok()?.uid();
    let us = rustix::process::geteuid();
    let is_others = !us.is_root() && us.as_raw() != owner;
    is_others.then(|| if owner == 0 { "root".to_owned() } else { format!("user {owner}") })
}

/// On other systems, files have no owner of this kind.
#[cfg(not(unix))]
fn others_file(_: &Path) -> Option<String> {
    None
}

/// What to do with a file that may have been damaged after truebloom had written it; the text ends
/// before the command that examines the file.
fn advice(error: &FormatError) -> Option<&'static str> {
    match error {
        FormatError::Truncated { found: 0, .. } => None,
        FormatError::Truncated { .. }
        | FormatError::TextMode { .. }
        | FormatError::TooLong { .. }
        | FormatError::HeaderChecksum { .. }
        | FormatError::PayloadChecksum { .. }
        | FormatError::LayerChecksum { .. } => Some("copy the original file again, or see what can be saved"),
        FormatError::NotAFilter { .. } => Some("make a filter with `truebloom create`; if this file was a filter, see what can be saved"),
        FormatError::Version { .. } => Some("use a newer truebloom, or see whether the file is damaged"),
        _ => None,
    }
}

/// The library's message about a file, without the advice after its last semicolon: the command has
/// better advice. Lengths are grouped, but not checksums, which may consist of digits alone.
pub(crate) fn without_advice(error: &FormatError) -> String {
    let message = error.to_string();
    let what = message.rsplit_once("; ").map_or(message.as_str(), |(what, _)| what);
    match error {
        FormatError::Truncated { .. } | FormatError::TooLong { .. } => grouped_from(4, what),
        _ => what.to_owned(),
    }
}

/// What is wrong with a file, in the terms of the command.
fn wrong_with_file(error: &FormatError) -> String {
    match error {
        FormatError::Truncated { found: 0, .. } => {
            "the file is empty; make a filter with `truebloom create`, or copy the original file again".to_owned()
        }
        FormatError::Kind { found: found @ FileKind::Pack } => {
            format!("the file holds {found}; only programs that use the crate `truebloom` can read it")
        }
        FormatError::Kind { found: FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked } => {
            "this is a state of `truebloom dedup`, which this command cannot use; `dedup --state`, `check`, `clear` and `info` can"
                .to_owned()
        }
        FormatError::Kind { found } => {
            format!(
                "the file holds {found}, which this command cannot use; {} and `truebloom info` read it",
                found.opened_by().rsplit(", or ").next().unwrap_or_default()
            )
        }
        FormatError::Field { field: "hash family", .. } => {
            "the sketch uses pairwise independent hash functions; only programs that use the crate `truebloom` can read it".to_owned()
        }
        FormatError::Memory { bytes } => {
            format!("cannot allocate the {} that it needs; read it on a machine with more memory", crate::report::bytes(*bytes))
        }
        FormatError::Unfinished => {
            "a program is changing the filter in place, or ended during a change, so the counts in the file do not match its bits; \
             wait until that program has finished, or build the filter again"
                .to_owned()
        }
        FormatError::Scheme { found, .. } => {
            format!(
                "the filter computes its bit positions with the {found} scheme, which this command cannot read; only programs that use the crate `truebloom` make such files"
            )
        }
        other => other.to_string(),
    }
}

impl From<truebloom_math::Error> for Failure {
    fn from(error: truebloom_math::Error) -> Failure {
        match error {
            truebloom_math::Error::NoGuarantee { scheme } => Failure::new(format_args!(
                "no rate can be guaranteed for a single filter with {scheme} hashing: its bit positions are correlated, and no useful bound is known for the rate of one filter; \
                 add --mean to guarantee only the average rate, or leave --scheme out"
            )),
            truebloom_math::Error::Underdetermined { given: "an empty target", missing } => {
                Failure::new(format_args!("the size of the filter is not determined; give {}", with_options(missing)))
            }
            truebloom_math::Error::Underdetermined { given, missing } => {
                Failure::new(format_args!("{} does not determine a filter; give {}", with_options(given), with_options(missing)))
            }
            truebloom_math::Error::OutOfRange { name, found, expected } => {
                let name = match name {
                    "items_per_cycle" => "the number of items per cycle",
                    "bits" => "the number of bits",
                    "items" => "the number of items",
                    "probes" => "the number of probes",
                    "ones" => "the number of set bits",
                    "sigma" => "--sigma",
                    "first" => {
                        return Failure::new(format_args!("--grow={found}: the first layer must hold 64 to 1,000,000,000,000 items"));
                    }
                    name => name,
                };
                Failure::new(grouped(&format!("{name} is {found}, but must be {expected}")))
            }
            truebloom_math::Error::LawTooCostly { .. } => Failure::new(
                "with these numbers of bits, items and probes, computing the rates of single filters takes too long; \
                 `truebloom fpr` computes the expected rate at any size",
            ),
            error => Failure::new(grouped(&error.to_string())),
        }
    }
}

/// Converts an error of a call whose parameters were given as options. Each pair is a parameter and
/// the option that gives it, which the message names.
pub(crate) fn of_options(options: &[(&str, &'static str)]) -> impl Fn(truebloom_math::Error) -> Failure {
    |error| match error {
        truebloom_math::Error::OutOfRange { name, found, expected } => {
            let option = options.iter().find(|(parameter, _)| *parameter == name).map_or(name, |(_, option)| option);
            Failure::from(truebloom_math::Error::OutOfRange { name: option, found, expected })
        }
        error => Failure::from(error),
    }
}

/// The options of a plan, by the names that the planner gives them.
pub(crate) const PLANNED: [(&str, &str); 2] = [("items", "-n"), ("max_bits", "--max-memory")];

/// The message for a name that cannot be parsed: "`triple` is not a known scheme; choose one of
/// ...".
pub(crate) fn unknown_name(error: truebloom_math::Error) -> String {
    match error {
        truebloom_math::Error::OutOfRange { name, found, expected } => format!("`{found}` is not a known {name}; choose {expected}"),
        error => error.to_string(),
    }
}

/// The planner's message with the names of the options that it refers to.
fn with_options(text: &str) -> String {
    [("number of items", "-n"), ("rate", "-p"), ("number of bits", "-m"), ("or of bits", "-m")]
        .into_iter()
        .fold(text.to_owned(), |text, (name, option)| text.replace(name, &format!("{name} ({option})")))
}

/// Groups whole numbers of five digits or more, as in reports: `1,234,567`.
fn grouped(text: &str) -> String {
    grouped_from(5, text)
}

fn grouped_from(least: usize, text: &str) -> String {
    let group = |word: &str| {
        let digits = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let is_long = digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_long).map_or(word.to_owned(), |number| word.replacen(digits, &crate::report::count(number), 1))
    };
    text.split(' ').map(group).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_errors_are_grouped() {
        let (plain, expected) = (
            "items is 1000000, but (at most 65536) 1.00000 x12345 2^30 1234",
            "items is 1,000,000, but (at most 65,536) 1.00000 x12345 2^30 1234",
        );
        assert_eq!(grouped(plain), expected);
    }
}
