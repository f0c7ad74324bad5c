//! The files of a merge, and how their keys were read.

use super::Extraction;
use crate::failure::{Shown, warn};
use std::path::Path;

/// The consequence of a merge of files whose keys were read in different ways.
const LOST: &str = "The result does not store how keys are read: give --lines, or options such as --column, with every later command";

/// One of the files of a merge.
pub(crate) struct Source<'p> {
    path: &'p Path,
    label: Option<String>,
    /// How the keys were read, if the label says so.
    keys: Option<Extraction>,
    has_keys: bool,
}

impl<'p> Source<'p> {
    pub(crate) fn new(path: &'p Path, label: Option<&str>, has_keys: bool) -> Source<'p> {
        Source { path, label: label.map(str::to_owned), keys: Extraction::of(label), has_keys }
    }

    fn told(&self) -> String {
        match &self.keys {
            Some(keys) => format!("the keys of {} were read {}", self.path.shown(), keys.described()),
            None => format!("{} does not store how its keys were read", self.path.shown()),
        }
    }

    /// Whether the keys of both files were read in the same way, as far as the labels say. Labels
    /// of other programs must be equal.
    fn agrees(&self, other: &Source<'_>) -> bool {
        self.keys == other.keys && (self.keys.is_some() || self.label == other.label)
    }

    /// Warns that the keys of the two files were read in different ways. The keys may be equal
    /// nevertheless, because the same keys can come from files of any format. But if one file has
    /// hexadecimal digits and the other the bytes that such digits represent, they probably have no
    /// keys in common.
    fn warn_of(&self, other: &Source<'_>) {
        let unlike = match (&self.keys, &other.keys) {
            (None, None) => return,
            (Some(ours), Some(theirs)) if ours.is_other_form(theirs) => ", so the same key may be stored in two forms",
            _ => "",
        };
        warn(format_args!("{}, but {}{unlike}. {LOST}", self.told(), other.told()));
    }
}

/// Returns the label of the result, if all files agree on how their keys were read; otherwise,
/// warns. Files without keys do not count if another file has keys, because they have no keys that
/// were read in any way.
pub(crate) fn common_label<'s>(sources: &'s [Source<'_>]) -> Option<&'s str> {
    let any_keys = sources.iter().any(|source| source.has_keys);
    let counted: Vec<&Source<'_>> = sources.iter().filter(|source| source.has_keys || !any_keys).collect();
    let (first, others) = counted.split_first()?;
    let unlike: Vec<&&Source<'_>> = others.iter().filter(|other| !first.agrees(other)).collect();
    unlike.iter().for_each(|other| first.warn_of(other));
    first.label.as_deref().filter(|_| unlike.is_empty())
}
