//! The files of a merge, and how their keys were read.

use super::Extraction;
use crate::failure::warn;
use std::path::Path;

/// The consequence of a merge of files whose keys were read in different ways.
const LOST: &str =
    "the result does not store how to read keys, so give options such as --column, or --lines for whole lines, with every later command";

/// One of the files of a merge.
pub(crate) struct Source<'p> {
    path: &'p Path,
    label: Option<String>,
    has_keys: bool,
}

impl<'p> Source<'p> {
    pub(crate) fn new(path: &'p Path, label: Option<&str>, has_keys: bool) -> Source<'p> {
        Source { path, label: label.map(str::to_owned), has_keys }
    }

    fn extraction(&self) -> Option<Extraction> {
        Extraction::of(self.label.as_deref())
    }

    fn told(&self) -> String {
        match self.extraction() {
            Some(keys) => format!("the keys of {} were read {}", self.path.display(), keys.described()),
            None => format!("{} does not store how its keys were read", self.path.display()),
        }
    }

    /// Warns if the keys of the two files were read in different ways. The keys may be equal
    /// nevertheless, because the same keys can come from files of any format. But if one file has
    /// hexadecimal digits and the other the bytes that such digits represent, they probably have no
    /// keys in common.
    fn warn_of(&self, other: &Source<'_>) {
        let (ours, theirs) = (self.extraction(), other.extraction());
        if ours == theirs {
            return;
        }
        let result = match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours.is_other_form(&theirs) => {
                "the files have keys in common only if both ways give the same keys"
            }
            _ => LOST,
        };
        warn(format_args!("{}, but {}; {result}", self.told(), other.told()));
    }
}

/// Returns the label of the result: the one that all files share. If the files have different
/// labels, there is a warning. Files without keys do not count if another file has keys, because
/// they have no keys that were read in any way.
pub(crate) fn common_label<'s>(sources: &'s [Source<'_>]) -> Option<&'s str> {
    let any_keys = sources.iter().any(|source| source.has_keys);
    let counted: Vec<&Source<'_>> = sources.iter().filter(|source| source.has_keys || !any_keys).collect();
    let (first, others) = counted.split_first()?;
    others.iter().for_each(|other| first.warn_of(other));
    first.label.as_deref().filter(|_| others.iter().all(|other| other.label == first.label))
}
