//! The files of a merge, and how their keys were read.

use super::Extraction;
use std::path::Path;

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
}

/// Returns the label of the result: the one that all files share. If the files have different
/// labels, there is a warning. Files without keys do not count if another file has keys, because
/// they have no keys that were read in any way.
pub(crate) fn common_label<'s>(sources: &'s [Source<'_>]) -> Option<&'s str> {
    let any_keys = sources.iter().any(|source| source.has_keys);
    let mut counted = sources.iter().filter(|source| source.has_keys || !any_keys);
    let first = counted.next()?;
    let mut is_common = true;
    for other in counted {
        is_common &= other.label == first.label;
        Extraction::warn_of_other(first.path, first.label.as_deref(), other.path, other.label.as_deref());
    }
    first.label.as_deref().filter(|_| is_common)
}
