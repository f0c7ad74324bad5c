//! The file of a recycling filter: kinds 3 and 4 of docs/FORMAT.md.

use super::account::Counts;
use super::half::{Half, Salt};
use super::recycle::Clock;
use super::{Phases, Policy, RecyclingFilter, Seeds, Trigger, salt};
use crate::bits::{Bits, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, Kind, Stored, at, check_field};
use crate::hash::PortableHasher;
use crate::scheme::FillScheme;
use std::time::Duration;

const RETAINING: u32 = 2;
const KEPT_SEEDS: u32 = 4;
const TRIGGER_EXCLUDED: u32 = 8;
const CLOCK_RUNS: u32 = 16;

/// Where the parameters start.
mod parameter {
    pub(super) const SIGMA: usize = 120;
    pub(super) const INSERTIONS: usize = 128;
    pub(super) const AGE: usize = 136;
    pub(super) const CYCLES: usize = 144;
    pub(super) const BY_FILL: usize = 152;
    pub(super) const ITEMS: usize = 160;
    pub(super) const REFRESHED: usize = 168;
    pub(super) const NOW: usize = 176;
    pub(super) const START: usize = 184;
    pub(super) const ODDS: usize = 192;
    pub(super) const ODDS_OF_CYCLE: usize = 200;
    pub(super) const UNUSED: usize = 208;
}

/// What a header of kind 3 or 4 says.
pub(crate) struct Header<S> {
    hasher: PortableHasher,
    scheme: S,
    policy: Policy,
    clock: Clock,
    counts: Counts,
}

impl<S: FillScheme> Stored for RecyclingFilter<PortableHasher, S> {
    const KINDS: &'static [Kind] = &[Kind::RecyclingOnePhase, Kind::RecyclingTwoPhase];

    type Header = Header<S>;

    fn read_header(fields: &Fields, kind: Kind) -> Result<Header<S>, FormatError> {
        let id = fields.scheme()?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let (bits, probes) = (fields.bits()?, fields.probes()?);
        let scheme = S::with_id(id, bits, probes).map_err(|error| match error {
            BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
            other => FormatError::Parameters { why: other.to_string() },
        })?;
        fields.check_zero(at::CAPACITY, at::RESERVED)?;
        fields.check_zero(parameter::UNUSED, at::HEADER_CHECKSUM)?;
        let (policy, clock) = read_policy(fields, kind)?;
        policy.check(bits, probes).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        Ok(Header { hasher, scheme, clock, counts: read_counts(fields, &policy)?, policy })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        8 * words_for(header.scheme.bits()) * halves(&header.policy)
    }

    fn assemble(header: Header<S>, mut words: Vec<u64>) -> Result<Self, FormatError> {
        let Header { hasher, scheme, policy, clock, counts } = header;
        let (bits, probes) = (scheme.bits(), u64::from(scheme.probes()));
        // Bounds the memory that is taken now to that of the second phase.
        let frozen_words = words.split_off(words_for(bits) as usize);
        let active = half(words, bits, salt(&hasher, &policy, counts.cycles))?;
        let most = policy.sigma.min(counts.items.saturating_mul(probes));
        check_field("set bits", active.ones, Expected::Within(counts.items, most))?;
        let frozen = match policy.phases {
            Phases::One => None,
            Phases::Two(_) => {
                let salt = if counts.cycles == 0 { Salt::NONE } else { salt(&hasher, &policy, counts.cycles - 1) };
                let frozen = half(frozen_words, bits, salt)?;
                let most = if counts.cycles == 0 { 0 } else { policy.most_frozen(scheme.probes()) };
                check_field("frozen bits", frozen.ones, Expected::Within(0, most))?;
                Some(frozen)
            }
        };
        let shared = frozen.as_ref().filter(|_| policy.seeds == Seeds::Kept);
        let both = shared.map_or(0, |frozen| active.bits.count_common(&frozen.bits));
        let frozen_rate = frozen.as_ref().map_or(0.0, |frozen| scheme.rate_at(frozen.ones));
        Ok(RecyclingFilter { hasher, scheme, policy, active, frozen, both, frozen_rate, clock, counts })
    }

    fn fields(&self) -> Fields {
        let kind = if self.frozen.is_some() { Kind::RecyclingTwoPhase } else { Kind::RecyclingOnePhase };
        let mut fields = Fields::new(kind);
        fields.put_scheme(self.scheme.id(), self.bits(), self.probes());
        fields.put_hasher(self.hasher.hasher_id(), self.seed());
        fields.put(at::FLAGS, flags(&self.policy, &self.clock).to_le_bytes());
        let (policy, counts) = (&self.policy, &self.counts);
        let numbers = [
            (at::OFFERED, counts.offered),
            (at::CHANGED, counts.new),
            (parameter::SIGMA, policy.sigma),
            (parameter::INSERTIONS, policy.insertions.unwrap_or(0)),
            (parameter::AGE, policy.age_nanoseconds().unwrap_or(0)),
            (parameter::CYCLES, counts.cycles),
            (parameter::BY_FILL, counts.by_fill),
            (parameter::ITEMS, counts.items),
            (parameter::REFRESHED, counts.refreshed),
            (parameter::NOW, self.clock.now),
            (parameter::START, self.clock.start),
            (parameter::ODDS, counts.odds.to_bits()),
            (parameter::ODDS_OF_CYCLE, counts.odds_of_cycle.to_bits()),
        ];
        numbers.into_iter().for_each(|(offset, number)| fields.put(offset, number.to_le_bytes()));
        fields
    }

    fn word_count(&self) -> u64 {
        words_for(self.bits()) * halves(&self.policy)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let frozen = self.frozen.as_ref().map_or(&[][..], |frozen| frozen.bits.words());
        self.active.bits.words().iter().chain(frozen).copied()
    }
}

fn halves(policy: &Policy) -> u64 {
    if policy.phases == Phases::One { 1 } else { 2 }
}

fn half(words: Vec<u64>, bits: u64, salt: Salt) -> Result<Half, FormatError> {
    let bits = Bits::from_words(words, bits).ok_or(FormatError::Padding { bits })?;
    Ok(Half { ones: bits.count_ones(), bits, salt })
}

fn flags(policy: &Policy, clock: &Clock) -> u32 {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    flag(policy.retaining, RETAINING)
        | flag(policy.seeds == Seeds::Kept, KEPT_SEEDS)
        | flag(policy.phases == Phases::Two(Trigger::Excluded), TRIGGER_EXCLUDED)
        | flag(clock.runs, CLOCK_RUNS)
}

fn read_policy(fields: &Fields, kind: Kind) -> Result<(Policy, Clock), FormatError> {
    let two = kind == Kind::RecyclingTwoPhase;
    let flags = fields.flags(RETAINING | KEPT_SEEDS | CLOCK_RUNS | if two { TRIGGER_EXCLUDED } else { 0 })?;
    let trigger = if flags & TRIGGER_EXCLUDED == 0 { Trigger::Included } else { Trigger::Excluded };
    let policy = Policy {
        phases: if two { Phases::Two(trigger) } else { Phases::One },
        sigma: fields.u64(parameter::SIGMA),
        insertions: Some(fields.u64(parameter::INSERTIONS)).filter(|most| *most > 0),
        age: Some(fields.u64(parameter::AGE)).filter(|age| *age > 0).map(Duration::from_nanos),
        retaining: flags & RETAINING != 0,
        seeds: if flags & KEPT_SEEDS == 0 { Seeds::Renewed } else { Seeds::Kept },
    };
    let runs = flags & CLOCK_RUNS != 0;
    let now = fields.u64_within("time", parameter::NOW, 0, if runs { u64::MAX } else { 0 })?;
    let start = fields.u64_within("start of the phase", parameter::START, 0, now)?;
    Ok((policy, Clock { now, start, runs }))
}

fn read_counts(fields: &Fields, policy: &Policy) -> Result<Counts, FormatError> {
    let offered = fields.u64(at::OFFERED);
    let new = fields.u64_within("new items", at::CHANGED, 0, offered)?;
    let most_refreshed = if policy.phases == Phases::One { 0 } else { offered - new };
    let refreshed = fields.u64_within("refreshed items", parameter::REFRESHED, 0, most_refreshed)?;
    let cycles = fields.u64(parameter::CYCLES);
    let by_fill = fields.u64_within("recycles by fill", parameter::BY_FILL, 0, cycles)?;
    let most_items = policy.insertions.map_or(u64::MAX, |most| most - 1).min(new + refreshed);
    let items = fields.u64_within("items of the cycle", parameter::ITEMS, 0, most_items)?;
    // Of numbers that are not negative, the larger has the larger bits.
    let odds = |name, offset| fields.u64_within(name, offset, 0, f64::MAX.to_bits()).map(f64::from_bits);
    let (odds, odds_of_cycle) = (odds("sum of odds", parameter::ODDS)?, odds("sum of odds of the cycle", parameter::ODDS_OF_CYCLE)?);
    Ok(Counts { offered, new, refreshed, cycles, by_fill, items, odds, odds_of_cycle })
}
