//! Bits in a pack, which its members share.

use super::{Backing, Counted, Counter, Uncounted, Word, counted, unread_and_read};
use core::marker::PhantomData;
use core::ops::Deref;

/// Bits of one filter among many of a [`Pack`](crate::Pack), of which only the record before them
/// was read. It takes 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed<'a, W>(PhantomData<&'a W>);

/// The same, read and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedMember<'a, W>(PhantomData<&'a W>);

/// What a member of a pack keeps, and its bits after it.
#[derive(Clone, Copy)]
pub struct Record<'a, W>(&'a [W]);

/// Words that a member keeps before its bits.
pub(crate) const KEPT_WORDS: usize = 8;

impl<'a, W: Word> Record<'a, W> {
    /// A record, and bits after it.
    pub(crate) fn new(words: &'a [W]) -> Option<Record<'a, W>> {
        (words.len() > KEPT_WORDS).then_some(Record(words))
    }

    /// The same, of bits that may be missing.
    pub(crate) fn or_empty(words: &'a [W]) -> Record<'a, W> {
        Record(words)
    }

    /// What is kept.
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
