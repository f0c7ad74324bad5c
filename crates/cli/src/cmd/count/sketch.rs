//! Sketches that are read from a file, which says how the hashes of their rows are computed.

use crate::failure::Failure;
use crate::held::{Held, format_error};
use std::path::Path;
use truebloom::count_min::{FullRows, ListedSketch, RowHashes, Sketch, TwoHashRows};
use truebloom::{FileKind, FormatError, MergeError};

/// A sketch and its list of keys, with one of the two kinds of rows.
pub(super) enum AnySketch {
    Full(ListedSketch<FullRows>),
    TwoHash(ListedSketch<TwoHashRows>),
}

/// Evaluates the same code for both kinds of rows.
macro_rules! with_sketch {
    ($any:expr, $list:ident => $body:expr) => {
        match $any {
            $crate::cmd::count::sketch::AnySketch::Full($list) => $body,
            $crate::cmd::count::sketch::AnySketch::TwoHash($list) => $body,
        }
    };
}
pub(super) use with_sketch;

impl AnySketch {
    pub(super) fn open(path: &Path) -> Result<AnySketch, Failure> {
        AnySketch::from_bytes(Held::open(path)?.as_ref()).map_err(|cause| format_error(path, cause).into())
    }

    /// Reads a sketch from the bytes of a file.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<AnySketch, FormatError> {
        match from_bytes::<FullRows>(bytes) {
            Err(FormatError::Kind { found: FileKind::TwoHashCountMin }) => from_bytes(bytes).map(AnySketch::TwoHash),
            other => other.map(AnySketch::Full),
        }
    }

    /// How keys were extracted, according to the file.
    pub(super) fn label(&self) -> Option<&str> {
        with_sketch!(self, list => list.label())
    }

    fn kind(&self) -> FileKind {
        match self {
            AnySketch::Full(_) => FullRows::KIND,
            AnySketch::TwoHash(_) => TwoHashRows::KIND,
        }
    }

    /// Adds the counts of another sketch, or returns the parameter that differs: its name, and both
    /// values.
    pub(super) fn merge(&mut self, other: &AnySketch) -> Result<(), Mismatch> {
        let result = match (&mut *self, other) {
            (AnySketch::Full(ours), AnySketch::Full(theirs)) => ours.merge(theirs),
            (AnySketch::TwoHash(ours), AnySketch::TwoHash(theirs)) => ours.merge(theirs),
            (ours, theirs) => return Err(Mismatch { name: "kind", ours: ours.kind().to_string(), theirs: theirs.kind().to_string() }),
        };
        result.map_err(|error| Mismatch::of(&error))
    }
}

/// Reads a sketch. A sketch that was saved without a list gets an empty one, which reports that it
/// may have missed any key.
fn from_bytes<R: RowHashes>(bytes: &[u8]) -> Result<ListedSketch<R>, FormatError> {
    ListedSketch::from_bytes(bytes).or_else(|error| match Sketch::<R, u64>::from_bytes(bytes) {
        Ok(sketch) => ListedSketch::new(sketch, 1).map_err(|_| error),
        // The first error only says that the file is a sketch without a list.
        Err(other) => Err(if matches!(error, FormatError::Kind { .. }) { other } else { error }),
    })
}

/// Why two sketches cannot be merged.
pub(super) struct Mismatch {
    pub(super) name: &'static str,
    pub(super) ours: String,
    pub(super) theirs: String,
}

impl Mismatch {
    fn of(error: &MergeError) -> Mismatch {
        let (name, ours, theirs) = match error {
            MergeError::Shape { name, ours, theirs } => (*name, ours.to_string(), theirs.to_string()),
            // The seeds themselves are not shown, because a known seed is enough to choose keys
            // that collide.
            MergeError::Seed => ("seed", String::new(), String::new()),
            MergeError::Hasher { ours, theirs } => {
                let name = |id: &Option<truebloom::HasherId>| id.map_or("unknown", truebloom::HasherId::name).to_owned();
                ("hasher", name(ours), name(theirs))
            }
            other => ("parameters", other.to_string(), "others".to_owned()),
        };
        Mismatch { name, ours, theirs }
    }
}
