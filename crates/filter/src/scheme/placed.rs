//! The layout of a scheme: where its bits are in memory, and how they are set and read.

use crate::arch::{AlignedWords, Level, prefetch};
use crate::backing::{Backing, Counted, Uncounted, Writable};
use crate::bulk::{Batch, BatchAnswers};
use crate::error::{BuildError, FormatError};
use crate::format::Fields;
use crate::hash::KeyHash;
use crate::ids::FileKind;
use crate::word::{Reads, Word};
use truebloom_math::{Error, Fpr};

/// The layout of a scheme: where its positions are in memory. The trait is in a private module, so
/// that no other crate can define a scheme. If a filter used other positions than those of its
/// scheme, keys could not be found again after its file was opened.
pub trait Placed: Sized + 'static {
    /// The kind of file in which such a filter is saved.
    const KIND: FileKind;
    /// The type that stores the bits.
    type Storage<K: Backing>: Storage<Self, K>;
    /// The implementation of batches.
    type Batches: Batches<Self>;

    /// Calls `ask` with the indices of the words that hold the key's first probes, so that they can
    /// be prefetched. At most `probes` indices are passed.
    fn for_each_ahead(&self, hash: KeyHash, probes: usize, ask: impl FnMut(u64));

    /// Whether all bits of the key are set in these words, which other threads may change at the
    /// same time.
    fn are_set<W: Reads>(&self, level: Level, hash: KeyHash, words: &[W]) -> bool;

    /// The false-positive rate of a filter whose bits are in these words; `None` if the bits do not
    /// determine the rate. The time is linear in the number of words.
    fn rate_of<W: Reads>(&self, words: &[W]) -> Result<Option<Fpr>, Error>;

    /// Checks that three fields of the header meet the requirements of the layout: the number of
    /// bits, the number of probes, and the layout's parameters. `parameters` is the position of the
    /// layout's parameters in the header.
    fn check_fields(fields: &Fields, parameters: usize) -> Result<(), FormatError>;

    /// Writes the parameters of the layout.
    fn put_parameters(fields: &mut Fields, parameters: usize);
}

/// The bits of a filter with scheme `S`, in whole words.
pub trait Storage<S, K: Backing>: Sized + Send + Sync {
    /// Storage in which all bits are 0.
    fn zeroed(scheme: &S) -> Result<Self, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted;

    /// Creates the storage from these words, which hold its bits. Returns an error if no filter
    /// with this scheme can have these words. The time is linear in the number of bits.
    fn from_words(scheme: &S, words: K::Words) -> Result<Self, FormatError>
    where
        K: Counted;

    /// Creates the storage from the given words, without reading them.
    fn unread(words: K::Words) -> Self
    where
        K: Uncounted;

    /// A copy of the bits.
    fn copied(&self) -> Self
    where
        K::Words: Clone;

    /// The words, and the number of bits that are set in them. This pair can be passed to
    /// [`with_known`](Self::with_known) of another backing.
    fn into_known(self) -> (K::Words, u64)
    where
        K: Counted;

    /// Creates the storage from words and the known number of set bits in them.
    fn with_known(known: (K::Words, u64)) -> Self
    where
        K: Counted;

    /// The words.
    fn words(&self) -> &K::Words;

    /// The words by value.
    fn into_words(self) -> K::Words;

    /// Mutable access to the words, for code that also updates the number of set bits.
    fn words_mut(&mut self) -> &mut K::Words;

    /// The number of set bits.
    fn ones(&self) -> u64
    where
        K: Counted;

    /// Whether no bit is set.
    fn is_empty(&self) -> bool
    where
        K: Counted;

    /// Unsets all bits.
    fn clear(&mut self)
    where
        K: Writable;

    /// Replaces each word with the result of `combine` for this word and the word of `other` at the
    /// same index. `other` must belong to a filter with the same scheme.
    fn combine<W: Word>(&mut self, other: &[W], combine: impl Fn(u64, u64) -> u64)
    where
        K: Writable;

    /// Sets the positions of a key; returns true if at least one of these bits was 0.
    fn insert(&mut self, scheme: &S, hash: KeyHash) -> bool
    where
        K: Writable;

    /// Whether all positions of a key are set.
    fn contains(&self, scheme: &S, hash: KeyHash) -> bool;

    /// The false-positive rate with these bits; `None` if the bits do not determine it.
    fn fpr(&self, scheme: &S) -> Result<Option<Fpr>, Error>
    where
        K: Counted;
}

/// Whether a batch looks up its keys or inserts them, and whether other threads may change the
/// words meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Doing {
    pub(crate) inserts: bool,
    pub(crate) shared: bool,
}

/// Batched operations for scheme `S`. The results are the same as for single keys. An
/// implementation may prefetch memory for later keys. It keeps its state from one batch to the
/// next.
pub trait Batches<S: Placed> {
    /// The state before the first batch.
    fn new(scheme: &S) -> Self;

    /// The largest number of keys for which single calls are faster than a batch. Starting a batch
    /// takes as much time as 4 to 512 single calls. The limit is `usize::MAX` if a batch is never
    /// faster. `bench/src/begin` measures the limits.
    fn few(scheme: &S, doing: Doing) -> usize;

    /// Reports which keys of a batch are in the filter, and prefetches the memory for the next
    /// batch.
    fn contains<K: Backing>(&mut self, scheme: &S, storage: &S::Storage<K>, batch: Batch<'_>) -> BatchAnswers;

    /// Like [`contains`](Self::contains), but other threads may change the words during the call.
    fn contains_shared<R: Reads>(&mut self, scheme: &S, level: Level, words: &[R], batch: Batch<'_>) -> BatchAnswers {
        let ask = |words: &&[R], hash| scheme.for_each_ahead(hash, usize::MAX, |word| prefetch(words, word));
        batch.one_by_one(&mut { words }, ask, |words, hash| scheme.are_set(level, hash, words))
    }

    /// Inserts a batch of keys in order; returns which of them were new.
    fn insert<K: Writable>(&mut self, scheme: &S, storage: &mut S::Storage<K>, batch: Batch<'_>) -> BatchAnswers;
}
