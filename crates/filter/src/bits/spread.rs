//! Bits that the keys of a scheme reach anywhere.

use super::{Batch, Batches, Bits, Placed, Probing, Storage};
use crate::bulk::{BatchAnswers, mark};
use crate::error::{BuildError, FormatError};
use crate::format::{Fields, FileKind};
use crate::hash::KeyHash;
use crate::scheme::{Scheme, spread_schemes};
use alloc::vec;
use alloc::vec::Vec;
use truebloom_math::{Error, Fpr};

/// The layout of schemes whose positions lie anywhere among the bits.
macro_rules! spread {
    ($($scheme:ident by $batches:ident,)*) => {
        $(impl Placed for crate::scheme::$scheme {
            const KIND: FileKind = FileKind::Bloom;
            type Storage = Spread;
            type Batches = $batches;

            #[inline(always)]
            fn all_words(&self, hash: KeyHash, mut has: impl FnMut(usize, u64) -> bool) -> bool {
                self.positions(hash).all(|position| has((position >> 6) as usize, 1 << (position & 63)))
            }

            const PARAMETER_BYTES: usize = 0;

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

/// Bits, of which those that are set are counted along.
#[derive(Clone, PartialEq)]
pub struct Spread {
    pub(super) bits: Bits,
    /// Number of set bits, kept exact.
    pub(super) ones: u64,
}

impl<S: Scheme> Storage<S> for Spread {
    fn zeroed(scheme: &S) -> Result<Spread, BuildError> {
        Ok(Spread { bits: Bits::zeroed(scheme.bits())?, ones: 0 })
    }

    fn from_words(scheme: &S, words: Vec<u64>) -> Result<Spread, FormatError> {
        let bits = Bits::from_words(words, scheme.bits()).ok_or(FormatError::Padding { bits: scheme.bits() })?;
        Ok(Spread { ones: bits.count_ones(), bits })
    }

    fn words(&self) -> &[u64] {
        self.bits.words()
    }

    fn ones(&self) -> u64 {
        self.ones
    }

    fn is_empty(&self) -> bool {
        self.ones == 0
    }

    fn clear(&mut self) {
        self.bits.clear();
        self.ones = 0;
    }

    fn combine(&mut self, other: &Spread, combine: impl Fn(u64, u64) -> u64) {
        self.bits.combine(&other.bits, combine);
        self.ones = self.bits.count_ones();
    }

    // Always: a loop over single keys keeps the hasher's and the scheme's numbers in registers.
    #[inline(always)]
    fn insert(&mut self, scheme: &S, hash: KeyHash) -> bool {
        let (mut newly_set, mut set) = (0, self.bits.setter());
        scheme.all(hash, |position| {
            newly_set += u64::from(set(position));
            true
        });
        self.ones += newly_set;
        newly_set > 0
    }

    #[inline(always)]
    fn contains(&self, scheme: &S, hash: KeyHash) -> bool {
        scheme.all(hash, |position| self.bits.get(position))
    }

    fn fpr(&self, scheme: &S) -> Result<Option<Fpr>, Error> {
        scheme.law().fpr_at_fill(&self.slice_ones(scheme))
    }
}

impl Spread {
    /// The set bits of each slice that the law asks for.
    fn slice_ones(&self, scheme: &impl Scheme) -> Vec<u64> {
        let slices = u64::from(scheme.slices());
        if slices == 1 {
            return vec![self.ones];
        }
        let (short, longer) = (scheme.bits() / slices, scheme.bits() % slices);
        let start = |slice: u64| slice * short + slice.min(longer);
        (0..slices).map(|slice| self.bits.count_ones_in(start(slice)..start(slice + 1))).collect()
    }
}

/// Batches of schemes that are not made for speed: one key after the other.
pub struct OneByOne;

impl<S: Scheme> Batches<S, Spread> for OneByOne {
    fn new(_: &S) -> OneByOne {
        OneByOne
    }

    fn contains(&mut self, scheme: &S, storage: &Spread, batch: Batch<'_>) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        (0..batch.present.count()).for_each(|key| mark(&mut answers, key, storage.contains(scheme, batch.present.hash(key))));
        answers
    }

    fn insert(&mut self, scheme: &S, storage: &mut Spread, batch: Batch<'_>) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        (0..batch.present.count()).for_each(|key| mark(&mut answers, key, storage.insert(scheme, batch.present.hash(key))));
        answers
    }
}
