//! What a filter remembers with, apart from when it forgets and what it says of the stream.

use super::Policy;
use crate::arch::AlignedWords;
use crate::backing::{Backing, Counted, Uncounted, Writable};
use crate::error::{BuildError, FormatError};
use crate::format::Fields;
use crate::hash::{KeyHash, Salt};
use crate::ids::FileKind;
use crate::scheme::FillScheme;
use alloc::vec::Vec;
use core::fmt::Debug;

/// How the bits of a recycling filter are laid out: anywhere, for the [schemes whose fill tells
/// their rate](FillScheme), or in one cache line per key, for [`Blocked`](super::Blocked).
pub trait Layout {
    /// The recycle threshold: [`sigma`](Policy::sigma).
    type Limit: Limit;
    /// The phases.
    type Memory<K: Backing>: Memory<K, Limit = Self::Limit, Scheme = Self::Scheme>;
    /// How a hash becomes positions; known before there is memory for them.
    type Scheme: 'static;
}

impl<S: FillScheme> Layout for S {
    type Limit = u64;
    type Memory<K: Backing> = super::halves::Halves<S, K>;
    type Scheme = S;
}

/// The recycle threshold, and its number in files.
pub trait Limit: Copy + PartialEq + Debug {
    /// The limit of this number.
    fn from_number(number: u64) -> Self;
    /// Its number.
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

/// Outcome of an insertion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entered {
    /// Nothing: all its bits were set in the active phase.
    Known,
    /// It is in the active phase now; the frozen one knew it.
    Refreshed,
    /// It is in the active phase now.
    New {
        /// The probability with which it would have been reported as seen.
        rate: f64,
    },
}

/// Phases of bits: sets of keys, of which the chance that a fresh key passes is known exactly at
/// any moment.
pub trait Memory<K: Backing>: Sized + PartialEq {
    /// The type of the recycle threshold.
    type Limit: Limit;
    /// How a hash becomes positions; known before there is memory for them.
    type Scheme;

    /// The kinds of its files.
    const KINDS: &'static [FileKind];

    /// The scheme, for bits and probes that it can have.
    fn scheme(bits: u64, probes: u32) -> Result<Self::Scheme, BuildError>;

    /// Refuses a policy that cannot work.
    fn check(scheme: &Self::Scheme, policy: &Policy<Self::Limit>) -> Result<(), BuildError>;

    /// Empty phases, for a policy that was checked.
    fn new(scheme: Self::Scheme, policy: &Policy<Self::Limit>, salt: Salt) -> Result<Self, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted;

    /// Number of bits m of a phase.
    fn bits(&self) -> u64;

    /// Probes k per key.
    fn probes(&self) -> u32;

    /// The name of its scheme.
    fn name(&self) -> &'static str;

    /// Set bits of the active phase.
    fn ones(&self) -> u64
    where
        K: Counted;

    /// Set bits of the frozen phase.
    fn frozen_ones(&self) -> u64
    where
        K: Counted;

    /// The chance that a fresh key passes. Determined by the bits, and known without counting them.
    fn rate(&self) -> f64
    where
        K: Counted;

    /// What [`rate`](Self::rate) is at most when an item is offered, before rounding, if threads
    /// have set this many more bits in a phase than it may have.
    fn worst_rate(&self, policy: &Policy<Self::Limit>, overfill: u64) -> f64;

    /// Whether the active phase is fuller than [`sigma`](Policy::sigma).
    fn is_over_limit(&self, policy: &Policy<Self::Limit>) -> bool
    where
        K: Counted;

    /// Whether the active phase would be fuller than [`sigma`](Policy::sigma) with this item in it.
    fn would_exceed(&self, hash: KeyHash, policy: &Policy<Self::Limit>) -> bool
    where
        K: Writable;

    /// Enters an item into the active phase, unless that knows it.
    fn enter(&mut self, hash: KeyHash) -> Entered
    where
        K: Writable;

    /// Whether any phase knows the key.
    fn contains(&self, hash: KeyHash) -> bool;

    /// Asks for the memory of a key's bits.
    fn prefetch(&self, hash: KeyHash);

    /// The positions that an item would set and that are to be unset again if it ends the phase,
    /// which it does if it `is_last`; none where such items stay, or cannot end it.
    fn trigger_bits(&self, _hash: KeyHash, _policy: &Policy<Self::Limit>, _is_last: bool) -> Vec<u64>
    where
        K: Counted,
    {
        Vec::new()
    }

    /// Unsets [these](Self::trigger_bits) positions of the active phase.
    fn remove(&mut self, _trigger_bits: &[u64])
    where
        K: Writable,
    {
    }

    /// The active phase becomes the frozen one, if there is one, and an empty one with this salt
    /// the active one.
    fn turn(&mut self, salt: Salt)
    where
        K: Writable;

    /// The scheme that a header says.
    fn read_scheme(fields: &Fields) -> Result<Self::Scheme, FormatError>;

    /// A header of its kind, with its scheme.
    fn header(&self) -> Fields;

    /// Words of a phase in a file.
    fn phase_words(scheme: &Self::Scheme) -> u64;

    /// The phases of a file, held to what its header says of them. `words` are the active one's,
    /// and the frozen one's if there are two phases.
    fn from_words(
        scheme: Self::Scheme,
        words: Phased<K::Words>,
        policy: &Policy<Self::Limit>,
        recorded: Recorded,
    ) -> Result<Self, FormatError>
    where
        K: Counted;

    /// The phases of a file, of which none is looked at; `words` as above.
    fn unread(scheme: Self::Scheme, words: Phased<K::Words>, policy: &Policy<Self::Limit>, recorded: Recorded) -> Self
    where
        K: Uncounted;

    /// A copy.
    fn copied(&self) -> Self
    where
        K::Words: Clone;

    /// The scheme and the words.
    fn into_parts(self) -> (Self::Scheme, Phased<K::Words>);

    /// The words of all phases.
    fn words(&self) -> impl Iterator<Item = u64>;

    /// Their number.
    fn word_count(&self) -> u64;
}

/// Something of the active phase, and of the frozen one where there are two.
pub(super) type Phased<T> = (T, Option<T>);

/// What a file records about the phases beside their words.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// The active phase's.
    pub salt: Salt,
    /// Items that have entered the active phase.
    pub items: u64,
    /// That of the phase before, if there was one.
    pub frozen: Option<Salt>,
    /// Bits that threads have set in the frozen phase beyond what it can have.
    pub overfill: u64,
}
