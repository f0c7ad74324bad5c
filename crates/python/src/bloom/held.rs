//! Storage of the bits: in memory, or in a file.

use crate::batch::Refusal;
use std::sync::OnceLock;
use truebloom::file::Mapped;
use truebloom::{AnyFilter, BuildError, Checked, FormatError, MergeError, View};

#[expect(clippy::large_enum_variant, reason = "there is one for each filter, and most filters are in memory")]
pub(super) enum Held {
    Owned(AnyFilter),
    Mapped(Box<InFile>),
}

/// A filter in a mapped file. The first operation that needs all bits reads and checks them; the
/// result is kept for later operations.
pub(super) struct InFile {
    pub(super) view: AnyFilter<View<Mapped>>,
    checked: OnceLock<Result<AnyFilter<Checked<Mapped>>, FormatError>>,
}

impl InFile {
    pub(super) fn checked(&self) -> Result<&AnyFilter<Checked<Mapped>>, FormatError> {
        self.checked.get_or_init(|| self.view.clone().verify_bytes()).as_ref().map_err(Clone::clone)
    }
}

/// Evaluates the same expression for a filter in memory and for one in a file.
macro_rules! viewed {
    ($held:expr, $filter:ident => $value:expr) => {
        match $held {
            $crate::bloom::held::Held::Owned($filter) => $value,
            $crate::bloom::held::Held::Mapped(file) => {
                let $filter = &file.view;
                $value
            }
        }
    };
}

/// Like `viewed!`, but first reads and checks all bits of a filter in a file. Returns an error if
/// they are damaged.
macro_rules! counted {
    ($held:expr, $filter:ident => $value:expr) => {
        match $held {
            $crate::bloom::held::Held::Owned($filter) => Ok($value),
            $crate::bloom::held::Held::Mapped(file) => file.checked().map(|$filter| $value),
        }
    };
}

pub(super) use {counted, viewed};

/// Why a filter cannot be copied.
pub(super) enum Copying {
    Build(BuildError),
    Format(FormatError),
}

impl Held {
    pub(super) fn mapped(view: AnyFilter<View<Mapped>>) -> Held {
        Held::Mapped(Box::new(InFile { view, checked: OnceLock::new() }))
    }

    pub(super) fn is_mapped(&self) -> bool {
        matches!(self, Held::Mapped(_))
    }

    pub(super) fn owned(&mut self) -> Result<&mut AnyFilter, Refusal> {
        match self {
            Held::Owned(filter) => Ok(filter),
            Held::Mapped(_) => Err(Refusal::ReadOnly),
        }
    }

    /// A copy of the filter in its own memory.
    pub(super) fn copied(&self) -> Result<AnyFilter, Copying> {
        match self {
            Held::Owned(filter) => to_owned(filter).map_err(Copying::Build),
            Held::Mapped(file) => {
                let bytes = file.checked().map_err(Copying::Format)?.to_bytes().map_err(Copying::Build)?;
                AnyFilter::from_bytes(&bytes).map_err(Copying::Format)
            }
        }
    }

    /// Whether both filters have the same bits, plan and counts. One can be in memory and the other
    /// in a file.
    pub(super) fn equals(&self, other: &Held) -> Result<bool, Copying> {
        match (self, other) {
            (Held::Owned(ours), Held::Owned(theirs)) => Ok(ours == theirs),
            (Held::Mapped(ours), Held::Mapped(theirs)) => {
                Ok(ours.checked().map_err(Copying::Format)? == theirs.checked().map_err(Copying::Format)?)
            }
            // `==` needs two filters with the same kind of storage.
            (Held::Owned(owned), mapped) | (mapped, Held::Owned(owned)) => Ok(*owned == mapped.copied()?),
        }
    }
}

/// An operation that changes a filter by combining it with another one.
#[derive(Clone, Copy)]
pub(super) enum Merge {
    Union,
    Intersection,
}

impl Merge {
    /// Changes the filter `ours`. The outer error means that the file of `theirs` is damaged.
    pub(super) fn apply(self, ours: &mut AnyFilter, theirs: &Held) -> Result<Result<(), MergeError>, FormatError> {
        counted!(theirs, theirs => match self {
            Merge::Union => ours.union_with(theirs),
            Merge::Intersection => ours.intersect_with(theirs),
        })
    }
}

/// Clones a filter, or returns an error if there is not enough memory. Without the test, `clone`
/// would end the process. This can still happen if another thread takes the memory between the test
/// and the clone.
fn to_owned(filter: &AnyFilter) -> Result<AnyFilter, BuildError> {
    let bytes = filter.encoded_bytes();
    let mut room = Vec::<u8>::new();
    if usize::try_from(bytes).is_ok_and(|bytes| room.try_reserve_exact(bytes).is_ok()) {
        drop(room);
        return Ok(filter.clone());
    }
    Err(BuildError::Memory { bytes })
}
