//! Bits in memory, and how the keys of a scheme get at them: anywhere ([`Spread`]) or in lines ([`Lined`]).

#[cfg(target_has_atomic = "64")]
mod atomic;
mod flight;
mod lined;
mod owned;
mod probing;
mod spread;

use alloc::vec::Vec;
#[cfg(target_has_atomic = "64")]
pub(crate) use atomic::AtomicBits;
pub(crate) use flight::Flights;
pub(crate) use owned::{Bits, words_for};
pub(crate) use probing::Probing;
pub(crate) use spread::Spread;

use crate::bulk::{BatchAnswers, Hashes};
use crate::error::{BuildError, FormatError};
use crate::format::{Fields, FileKind};
use crate::hash::KeyHash;
use truebloom_math::{Error, Fpr};

/// The layout of a scheme: where its positions lie in memory. In a private module, so that no other crate can make a scheme: a filter that says it is of a scheme and puts its keys elsewhere
/// saves files that lose them.
pub trait Placed: Sized {
    /// What a file of such a filter holds.
    const KIND: FileKind;
    /// Where the bits are.
    type Storage: Storage<Self>;
    /// How a batch of keys gets at them.
    type Batches: Batches<Self, Self::Storage>;

    /// Whether `has` says yes to every word of the key, each with the bits in it that are the key's; the words after a no are not asked for.
    fn all_words(&self, hash: KeyHash, has: impl FnMut(usize, u64) -> bool) -> bool;

    /// Bytes that the parameters of the layout take in a header.
    const PARAMETER_BYTES: usize;

    /// Holds the header's parameters, and what it says of bits and probes, to the layout. `parameters` is where those of the layout begin.
    fn check_fields(fields: &Fields, parameters: usize) -> Result<(), FormatError>;

    /// Writes the parameters of the layout.
    fn put_parameters(fields: &mut Fields, parameters: usize);
}

/// The bits of a filter of scheme `S`, in whole words.
pub trait Storage<S>: Clone + PartialEq + Send + Sync {
    /// All 0.
    fn zeroed(scheme: &S) -> Result<Self, BuildError>;

    /// These words; an error if they are not those of such a filter.
    fn from_words(scheme: &S, words: Vec<u64>) -> Result<Self, FormatError>;

    /// The words.
    fn words(&self) -> &[u64];

    /// Number of set bits.
    fn ones(&self) -> u64;

    /// Whether no bit is set.
    fn is_empty(&self) -> bool;

    /// Unsets all bits.
    fn clear(&mut self);

    /// Each word becomes what `combine` makes of it and of the other's, of a filter of the same scheme.
    fn combine(&mut self, other: &Self, combine: impl Fn(u64, u64) -> u64);

    /// Sets the positions of a key, and says whether any was 0.
    fn insert(&mut self, scheme: &S, hash: KeyHash) -> bool;

    /// Whether all positions of a key are set.
    fn contains(&self, scheme: &S, hash: KeyHash) -> bool;

    /// The chance that a fresh key passes; `None` where the bits do not tell it.
    fn fpr(&self, scheme: &S) -> Result<Option<Fpr>, Error>;
}

/// Many keys of scheme `S` at a time in bits `M`: with the results of one after the other, but asking for the memory of later ones ahead. Keeps what a batch leaves for the next one.
pub trait Batches<S, M> {
    /// Before the first batch.
    fn new(scheme: &S) -> Self;

    /// Which keys of a batch are contained, when the one after it is this.
    fn contains(&mut self, scheme: &S, storage: &M, batch: Batch<'_>) -> BatchAnswers;

    /// Inserts a batch of keys in order, and says which were new.
    fn insert(&mut self, scheme: &S, storage: &mut M, batch: Batch<'_>) -> BatchAnswers;
}

/// A batch of keys and what is known of the others.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    pub(crate) present: &'a Hashes,
    /// The batch after it: empty at the end.
    pub(crate) following: &'a Hashes,
    /// Whether none came before.
    pub(crate) is_first: bool,
}
