//! The memory of a recycling filter whose positions can be anywhere, with one or two phases.

use super::account::Counts;
use super::flight::Flight;
use super::half::Half;
use super::memory::{Entered, Memory, Phased, Recorded};
use super::stored::parameter;
use super::{Phases, Policy, Seeds, Trigger};
use crate::arch::{AlignedWords, LANES};
use crate::backing::{Backing, Counted, Owned, Uncounted, Writable};
use crate::bits::{Bits, words_for};
use crate::bulk::{ASKED_AHEAD, Answers};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, at, check_field};
use crate::hash::{KeyHash, Salt};
use crate::ids::FileKind;
use crate::scheme::FillScheme;
use crate::word::Lies;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The active phase and, if there are two phases, the frozen phase.
pub struct Halves<S, K: Backing = Owned> {
    scheme: S,
    seeds: Seeds,
    active: Half<K>,
    frozen: Option<Half<K>>,
    /// The number of positions whose bits are set in both phases. It is kept up to date only if a
    /// key has the same positions in both phases.
    both: K::Known<u64>,
    /// The rate that the frozen phase alone would have.
    frozen_rate: K::Known<f64>,
}

impl<S: FillScheme, K: Backing> Memory<K> for Halves<S, K> {
    type Limit = u64;
    type Scheme = S;

    const KINDS: &'static [FileKind] = &[FileKind::RecyclingOnePhase, FileKind::RecyclingTwoPhase];

    fn scheme(bits: u64, probes: u32) -> Result<S, BuildError> {
        S::new(bits, probes)
    }

    fn check(scheme: &S, policy: &Policy) -> Result<(), BuildError> {
        policy.check(scheme.bits(), scheme.probes())
    }

    fn new(scheme: S, policy: &Policy, salt: Salt) -> Result<Halves<S, K>, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted,
    {
        let bits = scheme.bits();
        let frozen = match policy.phases {
            Phases::Two(_) => Some(Half::new(bits, Salt::NONE)?),
            _ => None,
        };
        let active = Half::new(bits, salt)?;
        Ok(Halves { scheme, seeds: policy.seeds, active, frozen, both: K::keep(0), frozen_rate: K::keep(0.0) })
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

    fn ones(&self) -> u64
    where
        K: Counted,
    {
        self.active.ones()
    }

    fn frozen_ones(&self) -> u64
    where
        K: Counted,
    {
        self.frozen.as_ref().map_or(0, Half::ones)
    }

    fn rate(&self) -> f64
    where
        K: Counted,
    {
        self.rate_at(self.active.ones(), *K::kept(&self.both))
    }

    /// The active phase has at most `sigma` set bits. The frozen phase can have more: the bits of
    /// the item that triggered the recycle, and bits that threads have set beyond the limit. If a
    /// key has the same positions in both phases, the rate is highest when the phases have as few
    /// set bits as possible in common.
    fn worst_rate(&self, policy: &Policy, overfill: u64) -> f64 {
        let frozen = policy.most_ones(self.scheme.probes()).saturating_add(overfill).min(self.scheme.bits());
        let active = policy.sigma;
        let rate = |ones| self.scheme.rate_at(ones);
        match (policy.phases, policy.seeds) {
            (Phases::One, _) => rate(active),
            (_, Seeds::Kept) => rate(active) + rate(frozen) - rate((active + frozen).saturating_sub(self.scheme.bits())),
            _ => rate(active) + rate(frozen) - rate(active) * rate(frozen),
        }
    }

    #[inline]
    fn is_over_limit(&self, policy: &Policy) -> bool
    where
        K: Counted,
    {
        self.active.ones() > policy.sigma
    }

    fn would_exceed(&self, hash: KeyHash, policy: &Policy) -> bool
    where
        K: Writable,
    {
        // If the number of set bits is far from the limit, the item's bits are not read.
        let ones = self.active.ones();
        ones.saturating_add(self.probes().into()) > policy.sigma && ones + self.active.unset(&self.scheme, hash).len() as u64 > policy.sigma
    }

    #[inline]
    fn enter(&mut self, hash: KeyHash) -> Entered
    where
        K: Writable,
    {
        let before = (self.active.ones(), *K::kept(&self.both));
        match self.set(hash) {
            (0, _) => Entered::Known,
            (_, true) => Entered::Refreshed,
            (_, false) => Entered::New { rate: self.rate_at(before.0, before.1) },
        }
    }

    fn enters_groups(&self) -> bool {
        self.frozen.is_none()
    }

    #[inline]
    fn enter_groups(
        &mut self,
        hashes: &mut impl Iterator<Item = KeyHash>,
        policy: &Policy,
        counts: &mut Counts,
        answers: &mut Answers,
        left: &mut Vec<KeyHash>,
    ) where
        K: Writable,
    {
        let mut flight = Flight::new(&self.scheme, self.active.salt);
        loop {
            if self.may_end(flight.present.count() as u64, policy, counts) {
                return flight.land(left);
            }
            let new = self.enter_group(&mut flight, hashes, counts);
            answers.push_bits(new, flight.present.count());
            if !flight.advance(&self.scheme) {
                return;
            }
        }
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        let known = |half: &Half<K>| half.contains(&self.scheme, hash);
        known(&self.active) || self.frozen.as_ref().is_some_and(known)
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        self.active.prefetch(&self.scheme, hash, usize::MAX);
        if let Some(frozen) = &self.frozen {
            frozen.prefetch(&self.scheme, hash, ASKED_AHEAD);
        }
    }

    #[inline]
    fn trigger_bits(&self, hash: KeyHash, policy: &Policy, is_last: bool) -> Vec<u64>
    where
        K: Counted,
    {
        let is_taken_out = policy.phases == Phases::Two(Trigger::Excluded);
        let may_overfill = || self.active.ones().saturating_add(self.scheme.probes().into()) > policy.sigma;
        if is_taken_out && (is_last || may_overfill()) { self.active.unset(&self.scheme, hash) } else { Vec::new() }
    }

    fn remove(&mut self, positions: &[u64])
    where
        K: Writable,
    {
        self.active.remove(positions);
    }

    fn turn(&mut self, salt: Salt)
    where
        K: Writable,
    {
        if let Some(frozen) = &mut self.frozen {
            core::mem::swap(frozen, &mut self.active);
        }
        self.active.clear(salt);
        self.both = K::keep(0);
        self.frozen_rate = K::keep(self.frozen.as_ref().map_or(0.0, |frozen| self.scheme.rate_at(frozen.ones())));
    }

    fn clear(&mut self, salt: Salt)
    where
        K: Writable,
    {
        // If there is a frozen phase, two turns are needed: the first freezes the active phase, and
        // the second empties it.
        if self.frozen.is_some() {
            self.turn(Salt::NONE);
        }
        self.turn(salt);
    }

    fn read_scheme(fields: &Fields) -> Result<S, FormatError> {
        // The scheme is checked before the bytes that are unused in these schemes, because an error
        // about the scheme is more helpful.
        let id = fields.scheme(FileKind::RecyclingOnePhase)?;
        fields.check_zero(parameter::OVERFILL + 8, at::HEADER_CHECKSUM)?;
        S::with_id(id, fields.bits()?, fields.probes()?).map_err(|error| match error {
            BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
            other => FormatError::Parameters { why: other.to_string() },
        })
    }

    fn header(&self) -> Fields {
        let mut fields = Fields::new(if self.frozen.is_some() { FileKind::RecyclingTwoPhase } else { FileKind::RecyclingOnePhase });
        fields.put_scheme(self.scheme.id(), self.scheme.bits(), self.scheme.probes());
        fields
    }

    fn phase_words(scheme: &S) -> u64 {
        words_for(scheme.bits())
    }

    fn from_words(scheme: S, words: Phased<K::Words>, policy: &Policy, recorded: Recorded) -> Result<Halves<S, K>, FormatError>
    where
        K: Counted,
    {
        let (bits, probes) = (scheme.bits(), u64::from(scheme.probes()));
        let active: Half<K> = half(words.0, bits, recorded.salt)?;
        let most = policy.sigma.min(recorded.items.saturating_mul(probes));
        check_field("set bits", active.ones(), Expected::Within(recorded.items, most))?;
        let frozen = match words.1 {
            Some(words) => {
                let half: Half<K> = half(words, bits, recorded.frozen.unwrap_or(Salt::NONE))?;
                let most = if recorded.frozen.is_none() { 0 } else { policy.most_ones(scheme.probes()).saturating_add(recorded.overfill) };
                check_field("frozen bits", half.ones(), Expected::Within(0, most))?;
                Some(half)
            }
            None => None,
        };
        Ok(Halves::of(scheme, policy.seeds, active, frozen))
    }

    fn unread(scheme: S, words: Phased<K::Words>, policy: &Policy, recorded: Recorded) -> Halves<S, K>
    where
        K: Uncounted,
    {
        let half = |words, salt| Half { bits: Bits::unread(words), ones: K::nothing(), salt };
        let frozen = words.1.map(|words| half(words, recorded.frozen.unwrap_or(Salt::NONE)));
        let (both, frozen_rate) = (K::nothing(), K::nothing());
        Halves { scheme, seeds: policy.seeds, active: half(words.0, recorded.salt), frozen, both, frozen_rate }
    }

    fn copied(&self) -> Halves<S, K>
    where
        K::Words: Clone,
    {
        let (active, frozen) = (self.active.copied(), self.frozen.as_ref().map(Half::copied));
        Halves {
            scheme: self.scheme.clone(),
            seeds: self.seeds,
            active,
            frozen,
            both: self.both.clone(),
            frozen_rate: self.frozen_rate.clone(),
        }
    }

    fn into_parts(self) -> (S, Phased<K::Words>) {
        (self.scheme, (self.active.bits.into_words(), self.frozen.map(|frozen| frozen.bits.into_words())))
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let frozen = self.frozen.as_ref().map_or(&[][..], |frozen| frozen.bits.words());
        self.active.bits.words().iter().chain(frozen).map(|word| word.get())
    }

    fn word_count(&self) -> u64 {
        words_for(self.scheme.bits()) * if self.frozen.is_some() { 2 } else { 1 }
    }
}

fn half<K: Counted>(words: K::Words, bits: u64, salt: Salt) -> Result<Half<K>, FormatError> {
    Bits::from_words(words, bits).map(|bits| Half::of(bits, salt)).ok_or(FormatError::Padding { bits })
}

impl<S: FillScheme, K: Writable> Halves<S, K> {
    /// Sets the bits of an item in the active phase. Returns the number of bits that were not set
    /// before, and whether the frozen phase contains the item. If no bit was newly set, the second
    /// result can be false although the frozen phase contains the item, because the caller does not
    /// use it.
    #[inline]
    fn set(&mut self, hash: KeyHash) -> (u64, bool) {
        let Some(frozen) = &self.frozen else { return (self.active.insert(&self.scheme, hash), false) };
        if self.seeds == Seeds::Renewed {
            let newly_set = self.active.insert(&self.scheme, hash);
            return (newly_set, newly_set > 0 && frozen.contains(&self.scheme, hash));
        }
        let (mut newly_set, mut newly_both, mut in_frozen) = (0, 0, true);
        let is_frozen = frozen.bits.getter();
        for position in self.scheme.positions(hash) {
            let (new, old) = (self.active.bits.set(position), is_frozen(position));
            newly_set += u64::from(new);
            newly_both += u64::from(new && old);
            in_frozen &= old;
        }
        self.active.add_ones(newly_set);
        *K::kept_mut(&mut self.both) += newly_both;
        (newly_set, in_frozen)
    }
}

impl<S: FillScheme, K: Writable> Halves<S, K> {
    /// Whether the phase can end while the next `items` items are offered.
    fn may_end(&self, items: u64, policy: &Policy, counts: &Counts) -> bool {
        let most_ones = self.active.ones().saturating_add(items.saturating_mul(self.scheme.probes().into()));
        most_ones > policy.sigma || policy.insertions.is_some_and(|most| counts.items.saturating_add(items) >= most)
    }

    /// Inserts the present group into a filter with one phase. The caller has checked that no item
    /// of the group can end the phase. Returns one bit per item, which is set if the item was new.
    /// There is no branch on whether an item is new, because such a branch would be mispredicted
    /// every other time.
    ///
    /// Before each item is inserted, one later item is hashed, and the bits of another one are
    /// prefetched, so that hashing and memory accesses always overlap.
    #[inline]
    fn enter_group(&mut self, flight: &mut Flight, hashes: &mut impl Iterator<Item = KeyHash>, counts: &mut Counts) -> u64 {
        let Flight { added, asked, present, .. } = flight;
        let (mut answers, mut new, mut ones) = (0, 0, self.active.ones());
        let mut before = [0; LANES];
        for lane in 0..LANES {
            if let Some(hash) = hashes.next() {
                added.add(hash);
            }
            asked.ask(lane, &self.active.bits.words()[..]);
            if lane < present.count() {
                let newly_set = self.active.set_positions(&self.scheme, present, lane);
                before[new % LANES] = ones;
                answers |= u64::from(newly_set > 0) << lane;
                new += usize::from(newly_set > 0);
                ones += newly_set;
            }
        }
        self.active.add_ones(ones - self.active.ones());
        counts.offered = counts.offered.saturating_add(present.count() as u64);
        counts.items += new as u64;
        before.iter().take(new).for_each(|ones| counts.keep(self.rate_at(*ones, 0)));
        answers
    }
}

impl<S: FillScheme, K: Counted> Halves<S, K> {
    /// Makes the memory from these phases.
    pub(super) fn of(scheme: S, seeds: Seeds, active: Half<K>, frozen: Option<Half<K>>) -> Halves<S, K> {
        let shared = frozen.as_ref().filter(|_| seeds == Seeds::Kept);
        let both = shared.map_or(0, |frozen| active.bits.count_common(&frozen.bits));
        let frozen_rate = frozen.as_ref().map_or(0.0, |frozen| scheme.rate_at(frozen.ones()));
        Halves { scheme, seeds, active, frozen, both: K::keep(both), frozen_rate: K::keep(frozen_rate) }
    }

    /// The rate of the filter if `active` bits are set in the active phase, and `both` bits are set
    /// in both phases.
    #[inline]
    fn rate_at(&self, active: u64, both: u64) -> f64 {
        let frozen_rate = self.frozen.as_ref().map(|_| *K::kept(&self.frozen_rate));
        pass_rate(&self.scheme, self.seeds, active, frozen_rate, || both)
    }
}

/// The probability that a key is reported as seen although it was never offered. `active` bits are
/// set in the active phase, and `both` returns the number of bits that are set in both phases.
/// `frozen_rate` is the rate that the frozen phase alone would have, if there is one.
///
/// The key is reported as seen if all its bits are set in the active phase, or if all its bits are
/// set in the frozen phase. If the phases have the same seed, the key has the same positions in
/// both. Otherwise, its positions in the two phases are independent.
#[inline]
pub(super) fn pass_rate(scheme: &impl FillScheme, seeds: Seeds, active: u64, frozen_rate: Option<f64>, both: impl FnOnce() -> u64) -> f64 {
    let rate = scheme.rate_at(active);
    match (frozen_rate, seeds) {
        (None, _) => rate,
        (Some(frozen_rate), Seeds::Kept) => rate + frozen_rate - scheme.rate_at(both()),
        (Some(frozen_rate), _) => rate + frozen_rate - rate * frozen_rate,
    }
}

impl<S: FillScheme, K: Backing> PartialEq for Halves<S, K> {
    fn eq(&self, other: &Halves<S, K>) -> bool {
        self.scheme == other.scheme && self.seeds == other.seeds && self.active == other.active && self.frozen == other.frozen
    }
}
