//! The layout of schemes whose positions can be anywhere among the bits.

use super::words::count_ones_in;
use super::{Bits, IN_CACHE, Probing, combine};
use crate::arch::{AlignedWords, Level, prefetch};
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

/// Bits, and the number of set bits, which is kept up to date.
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

    // Always inlined, so that a loop that inserts single keys keeps the hasher's and the scheme's
    // numbers in registers.
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

/// Processes the keys of a batch one by one, for schemes that have no faster method. While a key is
/// processed, the words at all positions of later keys are prefetched.
pub struct OneByOne;

impl<S: Scheme> Batches<S> for OneByOne {
    fn new(_: &S) -> OneByOne {
        OneByOne
    }

    /// This limit was measured with `bench/src/begin`. In a filter that fits in the cache, a
    /// prefetch takes more time than it saves, so a batch is never faster than single keys.
    fn few(scheme: &S, _: Doing) -> usize {
        if scheme.bits() > IN_CACHE { 8 } else { usize::MAX }
    }

    fn contains<K: Backing>(&mut self, scheme: &S, storage: &S::Storage<K>, batch: Batch<'_>) -> BatchAnswers {
        batch.one_by_one(&mut { storage }, |storage, hash| ask(scheme, *storage, hash), |storage, hash| storage.contains(scheme, hash))
    }

    fn insert<K: Writable>(&mut self, scheme: &S, storage: &mut S::Storage<K>, batch: Batch<'_>) -> BatchAnswers {
        batch.one_by_one(storage, |storage, hash| ask(scheme, storage, hash), |storage, hash| storage.insert(scheme, hash))
    }
}

/// Prefetches the words of all probes of a key.
#[inline(always)]
fn ask<S: Scheme, K: Backing>(scheme: &S, storage: &S::Storage<K>, hash: KeyHash) {
    let words = &<S::Storage<K> as Storage<S, K>>::words(storage)[..];
    scheme.for_each_ahead(hash, usize::MAX, |word| prefetch(words, word));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Partitioned, SchemeId};
    use crate::{FilterOf, PortableHasher, Seed};
    use core::cell::Cell;

    std::thread_local! {
        static PREFETCHED: Cell<usize> = const { Cell::new(0) };
    }

    /// The partitioned scheme, with a count of the prefetched words.
    #[derive(Clone, Debug, PartialEq)]
    struct Watched(Partitioned);

    impl Scheme for Watched {
        const ID: SchemeId = Partitioned::ID;

        fn new(bits: u64, probes: u32) -> Result<Watched, BuildError> {
            Partitioned::new(bits, probes).map(Watched)
        }

        fn bits(&self) -> u64 {
            self.0.bits()
        }

        fn probes(&self) -> u32 {
            self.0.probes()
        }

        fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
            self.0.positions(hash)
        }

        fn law(&self) -> alloc::boxed::Box<dyn truebloom_math::Law> {
            self.0.law()
        }
    }

    impl Placed for Watched {
        const KIND: FileKind = FileKind::Bloom;
        type Storage<K: Backing> = Spread<K>;
        type Batches = OneByOne;

        fn for_each_ahead(&self, hash: KeyHash, probes: usize, mut ask: impl FnMut(u64)) {
            self.0.for_each_ahead(hash, probes, |word| {
                PREFETCHED.set(PREFETCHED.get() + 1);
                ask(word);
            });
        }

        fn are_set<W: Reads>(&self, level: Level, hash: KeyHash, words: &[W]) -> bool {
            self.0.are_set(level, hash, words)
        }

        fn rate_of<W: Reads>(&self, words: &[W]) -> Result<Option<Fpr>, Error> {
            self.0.rate_of(words)
        }

        fn check_fields(_: &Fields, _: usize) -> Result<(), FormatError> {
            Ok(())
        }

        fn put_parameters(_: &mut Fields, _: usize) {}
    }

    /// The number of words that are prefetched during `run`.
    fn prefetched(run: impl FnOnce()) -> usize {
        PREFETCHED.set(0);
        run();
        PREFETCHED.get()
    }

    /// Batches prefetch every probe of every key once, unless the filter fits in the cache.
    #[test]
    fn batches_prefetch_all_probes_beyond_the_cache() {
        const KEYS: u64 = 1_000;
        const PROBES: u32 = 7;
        for (bits, expected) in [(IN_CACHE, 0), (IN_CACHE + 1, KEYS as usize * PROBES as usize)] {
            let scheme = Watched::new(bits, PROBES).expect("in range");
            let mut filter = FilterOf::with_scheme(scheme, PortableHasher::xxh3(Seed::from(1))).expect("small");
            assert_eq!(prefetched(|| drop(filter.insert_all(0..KEYS))), expected, "{bits} bits");
            assert_eq!(prefetched(|| drop(filter.contains_all(0..KEYS))), expected, "{bits} bits");
            #[cfg(target_has_atomic = "64")]
            {
                let shared = crate::AtomicFilterOf::from(filter);
                assert_eq!(prefetched(|| drop(shared.insert_all(0..KEYS))), expected, "{bits} bits");
                assert_eq!(prefetched(|| drop(shared.contains_all(0..KEYS))), expected, "{bits} bits");
            }
        }
    }
}
