//! What a scheme's layout has to do: where the bits lie in memory, and how keys get at them.

use crate::arch::{AlignedWords, Level};
use crate::backing::{Backing, Counted, Uncounted, Writable};
use crate::bulk::{Batch, BatchAnswers};
use crate::error::{BuildError, FormatError};
use crate::format::Fields;
use crate::hash::KeyHash;
use crate::ids::FileKind;
use crate::word::{Reads, Word};
use truebloom_math::{Error, Fpr};

/// The layout of a scheme: where its positions lie in memory. In a private module, so that no other
/// crate can make a scheme: a filter that says it is of a scheme and puts its keys elsewhere saves
/// files that lose them.
pub trait Placed: Sized + 'static {
    /// What a file of such a filter holds.
    const KIND: FileKind;
    /// The bits.
    type Storage<K: Backing>: Storage<Self, K>;
    /// How a batch of keys gets at them.
    type Batches: Batches<Self>;

    /// Hands over the words of the first probes of the key, to be asked for.
    fn for_each_ahead(&self, hash: KeyHash, probes: usize, ask: impl FnMut(u64));

    /// Whether all bits of the key are set in these words, which other threads may change
    /// meanwhile.
    fn are_set<W: Reads>(&self, level: Level, hash: KeyHash, words: &[W]) -> bool;

    /// The chance that a fresh key passes these words; `None` where the bits do not tell it. Linear
    /// in the words.
    fn rate_of<W: Reads>(&self, words: &[W]) -> Result<Option<Fpr>, Error>;

    /// Holds the header's parameters, and what it says of bits and probes, to the layout.
    /// `parameters` is where those of the layout begin.
    fn check_fields(fields: &Fields, parameters: usize) -> Result<(), FormatError>;

    /// Writes the parameters of the layout.
    fn put_parameters(fields: &mut Fields, parameters: usize);
}

/// The bits of a filter of scheme `S`, in whole words.
pub trait Storage<S, K: Backing>: Sized + Send + Sync {
    /// All 0.
    fn zeroed(scheme: &S) -> Result<Self, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted;

    /// These words; an error if they are not those of such a filter. Linear in the bits.
    fn from_words(scheme: &S, words: K::Words) -> Result<Self, FormatError>
    where
        K: Counted;

    /// These words, of which none is looked at.
    fn unread(words: K::Words) -> Self
    where
        K: Uncounted;

    /// A copy.
    fn copied(&self) -> Self
    where
        K::Words: Clone;

    /// The words and what is known of them, for [`with_known`](Self::with_known) of another
    /// backing.
    fn into_known(self) -> (K::Words, u64)
    where
        K: Counted;

    /// These words, of which that is known.
    fn with_known(known: (K::Words, u64)) -> Self
    where
        K: Counted;

    /// The words.
    fn words(&self) -> &K::Words;

    /// The words themselves.
    fn into_words(self) -> K::Words;

    /// The words, to be changed by what keeps their fill.
    fn words_mut(&mut self) -> &mut K::Words;

    /// Number of set bits.
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

    /// Each word becomes what `combine` makes of it and of the other's, of a filter of the same
    /// scheme.
    fn combine<W: Word>(&mut self, other: &[W], combine: impl Fn(u64, u64) -> u64)
    where
        K: Writable;

    /// Sets the positions of a key, and says whether any was 0.
    fn insert(&mut self, scheme: &S, hash: KeyHash) -> bool
    where
        K: Writable;

    /// Whether all positions of a key are set.
    fn contains(&self, scheme: &S, hash: KeyHash) -> bool;

    /// The chance that a fresh key passes; `None` where the bits do not tell it.
    fn fpr(&self, scheme: &S) -> Result<Option<Fpr>, Error>
    where
        K: Counted;
}

/// What is to be done with keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Asking whether they are contained.
    Asking,
    /// Inserting them.
    Inserting,
}

/// Many keys of scheme `S` at a time: with the results of one after the other, but asking for the
/// memory of later ones ahead. Keeps what a batch leaves for the next one.
pub trait Batches<S: Placed> {
    /// Before the first batch.
    fn new(scheme: &S) -> Self;

    /// Up to this many keys are faster one by one: a batch has to be begun, which takes as long as
    /// some dozens of keys.
    fn few(_: &S, _: Doing) -> usize {
        0
    }

    /// Which keys of a batch are contained, when the one after it is this.
    fn contains<K: Backing>(&mut self, scheme: &S, storage: &S::Storage<K>, batch: Batch<'_>) -> BatchAnswers;

    /// Inserts a batch of keys in order, and says which were new.
    fn insert<K: Writable>(&mut self, scheme: &S, storage: &mut S::Storage<K>, batch: Batch<'_>) -> BatchAnswers;
}
