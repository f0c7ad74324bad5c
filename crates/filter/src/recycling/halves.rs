//! Memory whose bits lie anywhere: one phase or two.

use super::half::Half;
use super::memory::{Entered, Memory, Recorded};
use super::salt::Salt;
use super::stored::parameter;
use super::{Phases, Policy, Seeds, Trigger};
use crate::bits::{Bits, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, at, check_field};
use crate::hash::KeyHash;
use crate::scheme::FillScheme;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The active phase, and the one before it if there are to be two.
#[derive(Clone, PartialEq)]
pub struct Halves<S> {
    scheme: S,
    seeds: Seeds,
    active: Half,
    frozen: Option<Half>,
    /// Bits that are set in both phases, kept exact where they share their positions.
    both: u64,
    /// The rate of the frozen phase alone.
    frozen_rate: f64,
}

impl<S: FillScheme> Memory for Halves<S> {
    type Limit = u64;
    type Scheme = S;

    const KINDS: &'static [FileKind] = &[FileKind::RecyclingOnePhase, FileKind::RecyclingTwoPhase];

    fn scheme(bits: u64, probes: u32) -> Result<S, BuildError> {
        S::new(bits, probes)
    }

    fn check(scheme: &S, policy: &Policy) -> Result<(), BuildError> {
        policy.check(scheme.bits(), scheme.probes())
    }

    fn new(scheme: S, policy: &Policy, salt: Salt) -> Result<Halves<S>, BuildError> {
        let bits = scheme.bits();
        let frozen = match policy.phases {
            Phases::Two(_) => Some(Half::new(bits, Salt::NONE)?),
            _ => None,
        };
        let active = Half::new(bits, salt)?;
        Ok(Halves { scheme, seeds: policy.seeds, active, frozen, both: 0, frozen_rate: 0.0 })
    }

    #[inline]
    fn bits(&self) -> u64 {
        self.scheme.bits()
    }

    #[inline]
    fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    fn name(&self) -> &'static str {
        self.scheme.id().name()
    }

    fn ones(&self) -> u64 {
        self.active.ones
    }

    fn frozen_ones(&self) -> u64 {
        self.frozen.as_ref().map_or(0, |frozen| frozen.ones)
    }

    fn rate(&self) -> f64 {
        self.rate_at(self.active.ones, self.both)
    }

    /// The active phase has at most sigma set bits, and the frozen one sigma and a trigger's; if they share their positions, they have no fewer bits in common than must be.
    fn worst_rate(&self, policy: &Policy) -> f64 {
        let (active, frozen) = (policy.sigma, policy.most_frozen(self.probes()));
        let rate = |ones| self.scheme.rate_at(ones);
        match (policy.phases, policy.seeds) {
            (Phases::One, _) => rate(active),
            (_, Seeds::Kept) => rate(active) + rate(frozen) - rate((active + frozen).saturating_sub(self.bits())),
            _ => rate(active) + rate(frozen) - rate(active) * rate(frozen),
        }
    }

    #[inline]
    fn is_over_limit(&self, policy: &Policy) -> bool {
        self.active.ones > policy.sigma
    }

    #[inline]
    fn would_exceed(&self, hash: KeyHash, policy: &Policy) -> bool {
        // Most items are far from the limit, so their bits need not be looked at.
        let at_most = self.active.ones.saturating_add(self.probes().into());
        at_most > policy.sigma && self.active.ones + self.active.unset(&self.scheme, hash).len() as u64 > policy.sigma
    }

    #[inline]
    fn enter(&mut self, hash: KeyHash) -> Entered {
        let before = (self.active.ones, self.both);
        match self.set(hash) {
            (0, _) => Entered::Known,
            (_, true) => Entered::Refreshed,
            (_, false) => Entered::New { rate: self.rate_at(before.0, before.1) },
        }
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        let known = |half: &Half| half.contains(&self.scheme, hash);
        known(&self.active) || self.frozen.as_ref().is_some_and(known)
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        self.active.prefetch(&self.scheme, hash, usize::MAX);
        if let Some(frozen) = &self.frozen {
            // A new item leaves the frozen phase after two probes or so.
            frozen.prefetch(&self.scheme, hash, 2);
        }
    }

    #[inline]
    fn trigger_bits(&self, hash: KeyHash, policy: &Policy, is_last: bool) -> Vec<u64> {
        let is_taken_out = policy.phases == Phases::Two(Trigger::Excluded);
        let may_overfill = || self.active.ones.saturating_add(self.probes().into()) > policy.sigma;
        if is_taken_out && (is_last || may_overfill()) { self.active.unset(&self.scheme, hash) } else { Vec::new() }
    }

    fn remove(&mut self, positions: &[u64]) {
        self.active.remove(positions);
    }

    fn turn(&mut self, salt: Salt) {
        if let Some(frozen) = &mut self.frozen {
            core::mem::swap(frozen, &mut self.active);
        }
        self.active.clear(salt);
        self.both = 0;
        self.frozen_rate = self.frozen.as_ref().map_or(0.0, |frozen| self.scheme.rate_at(frozen.ones));
    }

    fn read_scheme(fields: &Fields) -> Result<S, FormatError> {
        // Before the bytes that only other schemes use: what the scheme is says more.
        let id = fields.scheme(FileKind::RecyclingOnePhase)?;
        fields.check_zero(parameter::BLOCK_BITS, at::HEADER_CHECKSUM)?;
        S::with_id(id, fields.bits()?, fields.probes()?).map_err(|error| match error {
            BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
            other => FormatError::Parameters { why: other.to_string() },
        })
    }

    fn header(&self) -> Fields {
        let mut fields = Fields::new(if self.frozen.is_some() { FileKind::RecyclingTwoPhase } else { FileKind::RecyclingOnePhase });
        fields.put_scheme(self.scheme.id(), self.bits(), self.probes());
        fields
    }

    fn count_words(scheme: &S, policy: &Policy) -> u64 {
        words_for(scheme.bits()) * if policy.phases == Phases::One { 1 } else { 2 }
    }

    fn from_words(scheme: S, mut words: Vec<u64>, policy: &Policy, recorded: Recorded) -> Result<Halves<S>, FormatError> {
        let (bits, probes) = (scheme.bits(), u64::from(scheme.probes()));
        // Bounds the memory that is taken now to that of the second phase.
        let frozen_words = words.split_off(words_for(bits) as usize);
        let active = half(words, bits, recorded.salt)?;
        let most = policy.sigma.min(recorded.items.saturating_mul(probes));
        check_field("set bits", active.ones, Expected::Within(recorded.items, most))?;
        let frozen = match policy.phases {
            Phases::Two(_) => {
                let half = half(frozen_words, bits, recorded.frozen.unwrap_or(Salt::NONE))?;
                let most = if recorded.frozen.is_none() { 0 } else { policy.most_frozen(scheme.probes()) };
                check_field("frozen bits", half.ones, Expected::Within(0, most))?;
                Some(half)
            }
            _ => None,
        };
        let shared = frozen.as_ref().filter(|_| policy.seeds == Seeds::Kept);
        let both = shared.map_or(0, |frozen| active.bits.count_common(&frozen.bits));
        let frozen_rate = frozen.as_ref().map_or(0.0, |frozen| scheme.rate_at(frozen.ones));
        Ok(Halves { scheme, seeds: policy.seeds, active, frozen, both, frozen_rate })
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let frozen = self.frozen.as_ref().map_or(&[][..], |frozen| frozen.bits.words());
        self.active.bits.words().iter().chain(frozen).copied()
    }

    fn word_count(&self) -> u64 {
        words_for(self.bits()) * if self.frozen.is_some() { 2 } else { 1 }
    }
}

fn half(words: Vec<u64>, bits: u64, salt: Salt) -> Result<Half, FormatError> {
    let bits = Bits::from_words(words, bits).ok_or(FormatError::Padding { bits })?;
    Ok(Half { ones: bits.count_ones(), bits, salt })
}

impl<S: FillScheme> Halves<S> {
    /// Sets the bits of an item in the active phase: how many were not set there, and whether the frozen phase knows it (asked only if that matters).
    #[inline]
    fn set(&mut self, hash: KeyHash) -> (u64, bool) {
        let Some(frozen) = &self.frozen else { return (self.active.insert(&self.scheme, hash), false) };
        if self.seeds == Seeds::Renewed {
            let newly_set = self.active.insert(&self.scheme, hash);
            return (newly_set, newly_set > 0 && frozen.contains(&self.scheme, hash));
        }
        let (mut newly_set, mut newly_both, mut in_frozen) = (0, 0, true);
        for position in self.scheme.positions(hash) {
            let (new, old) = (self.active.bits.set(position), frozen.bits.get(position));
            newly_set += u64::from(new);
            newly_both += u64::from(new && old);
            in_frozen &= old;
        }
        self.active.ones += newly_set;
        self.both += newly_both;
        (newly_set, in_frozen)
    }

    /// The pass probability of a fresh key if so many bits are set in the active phase and in both.
    ///
    /// Phases of one seed share the key's positions: all of them lie among the active phase's bits, or the frozen one's, or in what they have in common. Phases of two seeds are
    /// independent.
    #[inline]
    fn rate_at(&self, active: u64, both: u64) -> f64 {
        let rate = self.scheme.rate_at(active);
        if self.frozen.is_none() {
            return rate;
        }
        match self.seeds {
            Seeds::Kept => rate + self.frozen_rate - self.scheme.rate_at(both),
            _ => rate + self.frozen_rate - rate * self.frozen_rate,
        }
    }
}
