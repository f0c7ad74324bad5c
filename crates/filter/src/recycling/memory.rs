//! The interface to a filter's memory. The rules that say when the filter forgets, and the
//! statistics of the stream, are in other modules.

use super::Policy;
use super::account::Counts;
use crate::arch::AlignedWords;
use crate::backing::{Backing, Counted, Uncounted, Writable};
use crate::bulk::Answers;
use crate::error::{BuildError, FormatError};
use crate::format::Fields;
use crate::hash::{KeyHash, Salt};
use crate::ids::FileKind;
use crate::scheme::FillScheme;
use alloc::vec::Vec;
use core::fmt::Debug;

/// The layout of a recycling filter's bits. With a [`FillScheme`], the positions of a key can be
/// anywhere in the filter. With [`Blocked`](super::Blocked), all positions of a key are in one
/// cache line.
pub trait Layout {
    /// The recycle threshold: [`sigma`](Policy::sigma).
    type Limit: Limit;
    /// The type that stores the bits of all phases.
    type Memory<K: Backing>: Memory<K, Limit = Self::Limit, Scheme = Self::Scheme>;
    /// The scheme, which maps the hash of a key to positions.
    type Scheme: 'static;
}

impl<S: FillScheme> Layout for S {
    type Limit = u64;
    type Memory<K: Backing> = super::halves::Halves<S, K>;
    type Scheme = S;
}

/// The recycle threshold, which files store as an integer.
pub trait Limit: Copy + PartialEq + Debug {
    /// Converts an integer from a file to the threshold.
    fn from_number(number: u64) -> Self;
    /// Converts the threshold to the integer that the file stores.
    fn number(self) -> u64;
}

impl Limit for u64 {
    fn from_number(number: u64) -> u64 {
        number
    }

    fn number(self) -> u64 {
        self
    }
}

impl Limit for f64 {
    fn from_number(number: u64) -> f64 {
        f64::from_bits(number)
    }

    fn number(self) -> u64 {
        self.to_bits()
    }
}

/// The outcome of an insertion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entered {
    /// Nothing changed, because all bits of the item were already set in the active phase.
    Known,
    /// The item entered the active phase. The frozen phase contained it.
    Refreshed,
    /// The item entered the active phase. No phase contained it.
    New {
        /// The filter's rate just before this insertion: the probability that a new item is
        /// reported as seen.
        rate: f64,
    },
}

/// The bits of one or two phases. Each phase represents a set of keys. The rate of the filter is
/// the probability that a key is reported as seen although it was never offered. This rate is known
/// at any moment.
pub trait Memory<K: Backing>: Sized + PartialEq {
    /// The type of the recycle threshold.
    type Limit: Limit;
    /// The scheme, which maps the hash of a key to positions.
    type Scheme;

    /// The kinds of files that can store a filter with this memory.
    const KINDS: &'static [FileKind];

    /// Makes the scheme. Returns an error if the scheme does not support this number of bits or
    /// probes.
    fn scheme(bits: u64, probes: u32) -> Result<Self::Scheme, BuildError>;

    /// Returns an error for a policy that this memory does not support.
    fn check(scheme: &Self::Scheme, policy: &Policy<Self::Limit>) -> Result<(), BuildError>;

    /// Makes empty phases for a policy, which must have been [checked](Self::check).
    fn new(scheme: Self::Scheme, policy: &Policy<Self::Limit>, salt: Salt) -> Result<Self, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted;

    /// The number of bits per phase.
    fn bits(&self) -> u64;

    /// The number of probes per key, k.
    fn probes(&self) -> u32;

    /// The name of the scheme.
    fn name(&self) -> &'static str;

    /// The number of set bits in the active phase.
    fn ones(&self) -> u64
    where
        K: Counted;

    /// The number of set bits in the frozen phase.
    fn frozen_ones(&self) -> u64
    where
        K: Counted;

    /// The filter's rate: the probability that a key is reported as seen although it was never
    /// offered. The rate is computed from values that every insertion updates, so this method does
    /// not count the set bits.
    fn rate(&self) -> f64
    where
        K: Counted;

    /// The largest possible [`rate`](Self::rate) at the moment when an item is offered. `overfill`
    /// is the number of bits by which threads have exceeded the limit of a phase. Rounding errors
    /// are not included.
    fn worst_rate(&self, policy: &Policy<Self::Limit>, overfill: u64) -> f64;

    /// Whether the active phase is fuller than [`sigma`](Policy::sigma).
    fn is_over_limit(&self, policy: &Policy<Self::Limit>) -> bool
    where
        K: Counted;

    /// Whether this item would make the active phase fuller than [`sigma`](Policy::sigma).
    fn would_exceed(&self, hash: KeyHash, policy: &Policy<Self::Limit>) -> bool
    where
        K: Writable;

    /// Inserts an item into the active phase, unless that phase contains it.
    fn enter(&mut self, hash: KeyHash) -> Entered
    where
        K: Writable;

    /// Inserts items in groups. Stops before the first group with an item that can end the phase.
    /// In this case, the items that were taken from `hashes` but not inserted are put into `left`.
    fn enter_groups(
        &mut self,
        _hashes: &mut impl Iterator<Item = KeyHash>,
        _policy: &Policy<Self::Limit>,
        _counts: &mut Counts,
        _answers: &mut Answers,
        _left: &mut Vec<KeyHash>,
    ) where
        K: Writable,
    {
    }

    /// Whether items are inserted in groups.
    fn enters_groups(&self) -> bool {
        false
    }

    /// Whether any phase contains the key.
    fn contains(&self, hash: KeyHash) -> bool;

    /// Prefetches the memory of a key's bits.
    fn prefetch(&self, hash: KeyHash);

    /// The positions of the bits that must be unset again if this item ends the phase. These are
    /// the bits of the item that are not yet set. If `is_last` is true, the item is known to end
    /// the phase. The list is empty if this item cannot end the phase, or if the policy keeps the
    /// bits of an item that ends a phase.
    fn trigger_bits(&self, _hash: KeyHash, _policy: &Policy<Self::Limit>, _is_last: bool) -> Vec<u64>
    where
        K: Counted,
    {
        Vec::new()
    }

    /// Unsets the bits of the active phase at these positions, which
    /// [`trigger_bits`](Self::trigger_bits) returned.
    fn remove(&mut self, _trigger_bits: &[u64])
    where
        K: Writable,
    {
    }

    /// Starts an empty active phase with this salt. If there are two phases, first freezes the
    /// present active phase.
    fn turn(&mut self, salt: Salt)
    where
        K: Writable;

    /// Empties all phases; the active phase gets this salt.
    fn clear(&mut self, salt: Salt)
    where
        K: Writable;

    /// Reads the scheme from a header.
    fn read_scheme(fields: &Fields) -> Result<Self::Scheme, FormatError>;

    /// A file header with the kind and the scheme of these phases.
    fn header(&self) -> Fields;

    /// The number of words per phase in a file.
    fn phase_words(scheme: &Self::Scheme) -> u64;

    /// Reads the phases of a file and compares them with its header. `words` holds the words of the
    /// active phase. If there is a frozen phase, its words follow.
    fn from_words(
        scheme: Self::Scheme,
        words: Phased<K::Words>,
        policy: &Policy<Self::Limit>,
        recorded: Recorded,
    ) -> Result<Self, FormatError>
    where
        K: Counted;

    /// Creates the phases that a file contains, without reading their bits. `words` has the same
    /// order as in [`from_words`](Self::from_words).
    fn unread(scheme: Self::Scheme, words: Phased<K::Words>, policy: &Policy<Self::Limit>, recorded: Recorded) -> Self
    where
        K: Uncounted;

    /// A copy of the phases.
    fn copied(&self) -> Self
    where
        K::Words: Clone;

    /// The scheme and the words.
    fn into_parts(self) -> (Self::Scheme, Phased<K::Words>);

    /// The words of all phases.
    fn words(&self) -> impl Iterator<Item = u64>;

    /// The total number of words in all phases.
    fn word_count(&self) -> u64;
}

/// A value for the active phase and, if there are two phases, one for the frozen phase.
pub(super) type Phased<T> = (T, Option<T>);

/// What a file stores about the phases, apart from their bits.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// The salt of the active phase.
    pub salt: Salt,
    /// How many items have entered the active phase.
    pub items: u64,
    /// The salt of the frozen phase, if there is one.
    pub frozen: Option<Salt>,
    /// The number of bits by which threads have exceeded the limit of the frozen phase.
    pub overfill: u64,
}
