//! The layout of schemes whose positions can be anywhere among the bits.

use super::words::count_ones_in;
use super::{Bits, IN_CACHE, Probing, combine};
use crate::arch::{AlignedWords, Level};
use crate::backing::{Backing, Counted, Owned, Uncounted, Writable};
use crate::bulk::{Batch, BatchAnswers};
use crate::error::{BuildError, FormatError};
use crate::format::Fields;
use crate::hash::KeyHash;
use crate::ids::FileKind;
use crate::scheme::{Batches, Doing, Placed, Scheme, Storage, spread_schemes};
use crate::word::{Reads, Word, is_set};
use alloc::vec::Vec;
use truebloom_math::{Error, Fpr};

/// Implements the layout for schemes whose positions can be anywhere among the bits.
macro_rules! spread {
    ($($(#[$when:meta])* $scheme:ident by $batches:ident,)*) => {
        $($(#[$when])* impl Placed for crate::scheme::$scheme {
            const KIND: FileKind = FileKind::Bloom;
            type Storage<K: Backing> = Spread<K>;
            type Batches = $batches;

            #[inline]
            fn for_each_ahead(&self, hash: KeyHash, probes: usize, mut ask: impl FnMut(u64)) {
                self.positions(hash).take(probes).for_each(|position| ask(position >> 6));
            }

            #[inline(always)]
            fn are_set<W: Reads>(&self, _: Level, hash: KeyHash, words: &[W]) -> bool {
                self.all(hash, |position| is_set(words, position))
            }

            fn rate_of<W: Reads>(&self, words: &[W]) -> Result<Option<Fpr>, Error> {
                self.law().fpr_at_fill(&slice_ones(self, words))
            }

            fn check_fields(_: &Fields, _: usize) -> Result<(), FormatError> {
                Ok(())
            }

            fn put_parameters(_: &mut Fields, _: usize) {}
        })*
    };
}

spread_schemes!(spread);
spread! {
    AnyScheme by OneByOne,
}

/// Bits with a running count of those that are set.
pub struct Spread<K: Backing = Owned> {
    pub(super) bits: Bits<K>,
    /// The number of set bits, if they were counted.
    pub(super) ones: K::Known<u64>,
}

impl<S: Scheme, K: Backing> Storage<S, K> for Spread<K> {
    fn zeroed(scheme: &S) -> Result<Spread<K>, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted,
    {
        Ok(Spread { bits: Bits::zeroed(scheme.bits())?, ones: K::keep(0) })
    }

    fn from_words(scheme: &S, words: K::Words) -> Result<Spread<K>, FormatError>
    where
        K: Counted,
    {
        let bits: Bits<K> = Bits::from_words(words, scheme.bits()).ok_or(FormatError::Padding { bits: scheme.bits() })?;
        Ok(Spread { ones: K::keep(bits.count_ones()), bits })
    }

    fn unread(words: K::Words) -> Spread<K>
    where
        K: Uncounted,
    {
        Spread { bits: Bits::unread(words), ones: K::nothing() }
    }

    fn into_known(self) -> (K::Words, u64)
    where
        K: Counted,
    {
        let ones = *K::kept(&self.ones);
        (self.bits.into_words(), ones)
    }

    fn with_known((words, ones): (K::Words, u64)) -> Spread<K>
    where
        K: Counted,
    {
        Spread { bits: Bits::unread(words), ones: K::keep(ones) }
    }

    fn copied(&self) -> Spread<K>
    where
        K::Words: Clone,
    {
        Spread { bits: self.bits.copied(), ones: self.ones.clone() }
    }

    fn words(&self) -> &K::Words {
        self.bits.words()
    }

    fn into_words(self) -> K::Words {
        self.bits.into_words()
    }

    fn words_mut(&mut self) -> &mut K::Words {
        self.bits.words_mut()
    }

    fn ones(&self) -> u64
    where
        K: Counted,
    {
        *K::kept(&self.ones)
    }

    fn is_empty(&self) -> bool
    where
        K: Counted,
    {
        *K::kept(&self.ones) == 0
    }

    fn clear(&mut self)
    where
        K: Writable,
    {
        self.bits.clear();
        self.ones = K::keep(0);
    }

    fn combine<W: Word>(&mut self, other: &[W], with: impl Fn(u64, u64) -> u64)
    where
        K: Writable,
    {
        combine(self.bits.words_mut(), other, with);
        self.ones = K::keep(self.bits.count_ones());
    }

    // Always inlined, so that a loop over single keys keeps the hasher's and the scheme's numbers
    // in registers.
    #[inline(always)]
    fn insert(&mut self, scheme: &S, hash: KeyHash) -> bool
    where
        K: Writable,
    {
        let (mut newly_set, mut set) = (0, self.bits.setter());
        scheme.each(hash, |position| newly_set += u64::from(set(position)));
        drop(set);
        *K::kept_mut(&mut self.ones) += newly_set;
        newly_set > 0
    }

    #[inline(always)]
    fn contains(&self, scheme: &S, hash: KeyHash) -> bool {
        scheme.all(hash, self.bits.getter())
    }

    fn fpr(&self, scheme: &S) -> Result<Option<Fpr>, Error>
    where
        K: Counted,
    {
        match scheme.slices() {
            1 => scheme.law().fpr_at_fill(&[*K::kept(&self.ones)]),
            _ => scheme.rate_of(self.bits.words()),
        }
    }
}

/// The number of set bits in each slice, if the law distinguishes slices.
fn slice_ones(scheme: &impl Scheme, words: &[impl Reads]) -> Vec<u64> {
    let slices = u64::from(scheme.slices());
    let (short, longer) = (scheme.bits() / slices, scheme.bits() % slices);
    let start = |slice: u64| slice * short + slice.min(longer);
    (0..slices).map(|slice| count_ones_in(words, start(slice)..start(slice + 1))).collect()
}

/// Batches of a scheme without a faster method: the keys are handled one by one.
pub struct OneByOne;

impl<S: Scheme> Batches<S> for OneByOne {
    fn new(_: &S) -> OneByOne {
        OneByOne
    }

    /// If the words are not shared, a batch is never slower. If they are, it prefetches, which
    /// gains nothing in a filter that fits in the cache.
    fn few(scheme: &S, doing: Doing) -> usize {
        match doing {
            Doing::Asking | Doing::Inserting => 0,
            Doing::AskingShared | Doing::InsertingShared if scheme.bits() > IN_CACHE => 8,
            Doing::AskingShared | Doing::InsertingShared => usize::MAX,
        }
    }

    fn contains<K: Backing>(&mut self, scheme: &S, storage: &S::Storage<K>, batch: Batch<'_>) -> BatchAnswers {
        batch.one_by_one(|_| (), |hash| storage.contains(scheme, hash))
    }

    fn insert<K: Writable>(&mut self, scheme: &S, storage: &mut S::Storage<K>, batch: Batch<'_>) -> BatchAnswers {
        batch.one_by_one(|_| (), |hash| storage.insert(scheme, hash))
    }
}
