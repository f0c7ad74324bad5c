//! The file of a recycling filter: kinds 3, 4 and 8 of docs/FORMAT.md.

use super::account::Counts;
use super::memory::{Layout, Limit, Memory, Phased, Recorded};
use super::recycle::Clock;
use super::{Phases, Policy, RecyclingFilter, Seeds, Trigger, salt};
use crate::arch::AlignedWords;
use crate::backing::{Backing, Checked, Counted, InBytes, Owned, View};
use crate::error::FormatError;
use crate::format::{Fields, HEADER_BYTES, Label, Stored, Viewed, Written, at, check_payload};
use crate::hash::PortableHasher;
use crate::ids::FileKind;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

const RETAINING: u32 = 2;
const KEPT_SEEDS: u32 = 4;
const TRIGGER_EXCLUDED: u32 = 8;
const CLOCK_RUNS: u32 = 16;
const SHARED: u32 = 32;

/// Positions of the parameters in the header.
pub(super) mod parameter {
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
    /// Position of a parameter that only kinds 3 and 4 have.
    pub(in super::super) const OVERFILL: usize = 208;
    /// Position of a parameter that only kind 8 has.
    pub(in super::super) const BLOCK_BITS: usize = 208;
}

/// The contents of a header of these kinds.
pub(crate) struct Header<S: Layout> {
    hasher: PortableHasher,
    scheme: S::Scheme,
    policy: Policy<S::Limit>,
    clock: Clock,
    counts: Counts,
    /// The flags of the file; one of them says that the payload ends with a label.
    flags: u32,
}

impl<S: Layout> Header<S> {
    fn recorded(&self) -> Recorded {
        let (counts, salt) = (&self.counts, |cycle| salt(&self.hasher, self.policy.seeds, cycle));
        let overfill = counts.overfill.unwrap_or(0);
        Recorded { salt: salt(counts.cycles), items: counts.items, frozen: counts.cycles.checked_sub(1).map(salt), overfill }
    }

    fn phase_words(&self) -> u64 {
        S::Memory::<Owned>::phase_words(&self.scheme)
    }

    fn has_two(&self) -> bool {
        self.policy.phases != Phases::One
    }

    /// Makes the filter from all its words. First checks that the words agree with the header and
    /// with each other.
    fn counted<K: Counted>(self, label: Label, words: Phased<K::Words>) -> Result<RecyclingFilter<PortableHasher, S, K>, FormatError> {
        let recorded = self.recorded();
        let Header { hasher, scheme, policy, clock, counts, .. } = self;
        let memory: S::Memory<K> = Memory::from_words(scheme, words, &policy, recorded)?;
        Ok(RecyclingFilter { hasher, policy, memory, clock, counts, label })
    }
}

impl<S: Layout> Stored for RecyclingFilter<PortableHasher, S> {
    const KINDS: &'static [FileKind] = S::Memory::<Owned>::KINDS;

    type Header = Header<S>;

    fn read_header(fields: &Fields, kind: FileKind) -> Result<Self::Header, FormatError> {
        let scheme = S::Memory::<Owned>::read_scheme(fields)?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        fields.check_zero(at::CAPACITY, at::RESERVED)?;
        let (policy, clock) = read_policy(fields, kind)?;
        S::Memory::<Owned>::check(&scheme, &policy).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        Ok(Header { hasher, scheme, clock, counts: read_counts(fields, kind, &policy)?, policy, flags: fields.u32(at::FLAGS) })
    }

    fn payload_bytes(header: &Self::Header) -> u64 {
        8 * header.phase_words() * if header.has_two() { 2 } else { 1 } + Label::payload_bytes(header.flags)
    }

    fn assemble(header: Self::Header, mut words: Vec<u64>) -> Result<Self, FormatError> {
        let label = Label::split_off(&mut words, header.flags)?;
        let bytes = 8 * header.phase_words();
        let aligned = |words| AlignedWords::from_vec(words).ok_or(FormatError::Memory { bytes });
        // Only the words of the second phase are copied here, which limits the additional memory.
        let frozen = header.has_two().then(|| words.split_off(header.phase_words() as usize));
        header.counted(label, (aligned(words)?, frozen.map(aligned).transpose()?))
    }
}

impl<S: Layout, K: Counted> Written for RecyclingFilter<PortableHasher, S, K> {
    fn fields(&self) -> Fields {
        let mut fields = self.memory.header();
        fields.put_hasher(self.hasher.hasher_id(), self.seed());
        fields.put(at::FLAGS, (flags(self) | self.label.flag()).to_le_bytes());
        let (policy, counts) = (&self.policy, &self.counts);
        let numbers = [
            (at::OFFERED, counts.offered),
            (at::CHANGED, counts.new),
            (parameter::SIGMA, policy.sigma.number()),
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
        if let Some(overfill) = counts.overfill {
            fields.put(parameter::OVERFILL, overfill.to_le_bytes());
        }
        fields
    }

    fn word_count(&self) -> u64 {
        self.memory.word_count() + self.label.word_count()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.memory.words().chain(self.label.words())
    }
}

impl<S: Layout, B: AsRef<[u8]> + Send + Sync + Clone> Viewed<B> for RecyclingFilter<PortableHasher, S> {
    type View = RecyclingFilter<PortableHasher, S, View<B>>;

    fn over(header: Header<S>, bytes: B) -> Result<Self::View, FormatError> {
        let label = Label::at_end(bytes.as_ref(), Self::payload_bytes(&header), header.flags)?;
        let length = 8 * header.phase_words() as usize;
        let frozen = header.has_two().then(|| InBytes::new(bytes.clone(), HEADER_BYTES + length, length));
        let recorded = header.recorded();
        let Header { hasher, scheme, policy, clock, counts, .. } = header;
        let memory: S::Memory<View<B>> = Memory::unread(scheme, (InBytes::new(bytes, HEADER_BYTES, length), frozen), &policy, recorded);
        Ok(RecyclingFilter { hasher, policy, memory, clock, counts, label })
    }
}

impl<S: Layout, B: AsRef<[u8]> + Send + Sync> RecyclingFilter<PortableHasher, S, View<B>> {
    /// Reads and checks all bytes of the view: verifies the checksum, and compares the number of
    /// set bits with the counts in the header. The resulting view can report its own rate. The time
    /// is linear in the number of bits.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or do not match the header.
    pub fn verify_bytes(self) -> Result<RecyclingFilter<PortableHasher, S, Checked<B>>, FormatError> {
        let RecyclingFilter { hasher, policy, memory, clock, counts, label } = self;
        let (scheme, words) = memory.into_parts();
        check_payload(words.0.whole().0)?;
        Header::<S> { hasher, scheme, policy, clock, counts, flags: label.flag() }.counted(label, words)
    }

    /// The size of the filter's file in bytes. A view may have more bytes than this, because other
    /// data may follow the filter.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + 8 * (self.memory.word_count() + self.label.word_count())
    }
}

fn flags<S: Layout, K: Backing>(filter: &RecyclingFilter<PortableHasher, S, K>) -> u32 {
    let RecyclingFilter { policy, clock, counts, .. } = filter;
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    flag(policy.retaining, RETAINING)
        | flag(policy.seeds == Seeds::Kept, KEPT_SEEDS)
        | flag(policy.phases == Phases::Two(Trigger::Excluded), TRIGGER_EXCLUDED)
        | flag(clock.runs, CLOCK_RUNS)
        | flag(counts.overfill.is_some(), SHARED)
}

fn read_policy<L: Limit>(fields: &Fields, kind: FileKind) -> Result<(Policy<L>, Clock), FormatError> {
    let two = kind == FileKind::RecyclingTwoPhase;
    let more = match kind {
        FileKind::RecyclingTwoPhase => TRIGGER_EXCLUDED | SHARED,
        FileKind::RecyclingOnePhase => SHARED,
        _ => 0,
    };
    let flags = fields.flags(RETAINING | KEPT_SEEDS | CLOCK_RUNS | Label::FLAG | more)?;
    let trigger = if flags & TRIGGER_EXCLUDED == 0 { Trigger::Included } else { Trigger::Excluded };
    let policy = Policy {
        phases: if two { Phases::Two(trigger) } else { Phases::One },
        sigma: L::from_number(fields.u64(parameter::SIGMA)),
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

/// Reads the number of bits by which threads have exceeded the limit. Returns `None` if threads
/// have not shared the filter. In files of kind 8, this field has another meaning, and the flag for
/// shared filters is an error.
fn read_overfill(fields: &Fields, kind: FileKind) -> Result<Option<u64>, FormatError> {
    if fields.flags(u32::MAX)? & SHARED != 0 {
        return fields.u64_within("overfill", parameter::OVERFILL, 0, fields.u64(at::BITS)).map(Some);
    }
    if kind != FileKind::RecyclingBlocked {
        fields.check_zero(parameter::OVERFILL, parameter::OVERFILL + 8)?;
    }
    Ok(None)
}

fn read_counts<L>(fields: &Fields, kind: FileKind, policy: &Policy<L>) -> Result<Counts, FormatError> {
    let offered = fields.u64(at::OFFERED);
    let new = fields.u64_within("new items", at::CHANGED, 0, offered)?;
    let most_refreshed = if policy.phases == Phases::One { 0 } else { offered - new };
    let refreshed = fields.u64_within("refreshed items", parameter::REFRESHED, 0, most_refreshed)?;
    let cycles = fields.u64(parameter::CYCLES);
    let by_fill = fields.u64_within("recycles by fill", parameter::BY_FILL, 0, cycles)?;
    let most_items = policy.insertions.map_or(u64::MAX, |most| most - 1).min(new + refreshed);
    let items = fields.u64_within("items of the cycle", parameter::ITEMS, 0, most_items)?;
    // The bits of non-negative floating-point numbers have the same order as the numbers, so they
    // can be compared as integers.
    let odds = |name, offset| fields.u64_within(name, offset, 0, f64::MAX.to_bits()).map(f64::from_bits);
    let (odds, odds_of_cycle) = (odds("sum of odds", parameter::ODDS)?, odds("sum of odds of the cycle", parameter::ODDS_OF_CYCLE)?);
    Ok(Counts { offered, new, refreshed, cycles, by_fill, items, odds, odds_of_cycle, overfill: read_overfill(fields, kind)? })
}
