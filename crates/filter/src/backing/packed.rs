//! Bits in a pack. The filters of a pack share one plan and one seed.

use super::{Backing, Counted, Counter, Uncounted, counted, unread_and_read};
use crate::word::Word;
use core::marker::PhantomData;
use core::ops::Deref;

/// The backing of a filter in a [`Pack`](crate::Pack), before `verify_bytes` has checked the
/// filter's bits. A backing is a type parameter that says where the bits of a filter are stored.
/// With this backing, only the filter's record has been read, and none of its bits. The record is
/// stored before the bits. It holds the filter's counts and checksums. A filter with this backing
/// takes 64 bytes, in addition to its bytes in the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed<'a, W>(PhantomData<&'a W>);

/// The backing of a filter in a [`Pack`](crate::Pack) after `verify_bytes` has read and checked all
/// bytes of the filter. A backing is a type parameter that says where the bits of a filter are
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedMember<'a, W>(PhantomData<&'a W>);

/// A filter in a pack: its record, followed by its bits.
#[derive(Clone, Copy)]
pub struct Record<'a, W>(&'a [W]);

/// The number of words in a record, before the bits.
pub(crate) const KEPT_WORDS: usize = 8;

impl<'a, W: Word> Record<'a, W> {
    /// A record, followed by its filter's bits. `None` if `words` is too short.
    pub(crate) fn new(words: &'a [W]) -> Option<Record<'a, W>> {
        (words.len() > KEPT_WORDS).then_some(Record(words))
    }

    /// Like [`new`](Self::new), but if `words` is too short, the record is empty.
    pub(crate) fn or_empty(words: &'a [W]) -> Record<'a, W> {
        Record(words)
    }

    /// The words of the record.
    pub(crate) fn kept(&self) -> [u64; KEPT_WORDS] {
        self.0.first_chunk().map_or([0; KEPT_WORDS], |kept: &[W; KEPT_WORDS]| kept.map(W::get))
    }
}

impl<W> Deref for Record<'_, W> {
    type Target = [W];

    #[inline(always)]
    fn deref(&self) -> &[W] {
        self.0.get(KEPT_WORDS..).unwrap_or_default()
    }
}

unread_and_read!(['a, W: Word] Packed<'a, W>, CheckedMember<'a, W>, {
    type Word = W;
    type Words = Record<'a, W>;
    type Layers = ();
    type List = Record<'a, W>;
    type Cell<C: Counter> = C;
    type Cells<C: Counter> = &'a [C];
    type Head<T: 'static> = &'a T;
});
