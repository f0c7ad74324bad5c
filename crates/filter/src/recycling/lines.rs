//! The memory of a blocked recycling filter. The filter has one phase, and each key uses one cache
//! line.

use super::Policy;
use super::memory::{Entered, Layout, Memory, Phased, Recorded};
use super::stored::parameter;
use crate::arch::{AlignedWords, LINE_BITS, Level, Line, prefetch};
use crate::backing::{Backing, Counted, Owned, Uncounted, Writable};
use crate::bits::{Bits, count_ones};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, at, check_field};
use crate::hash::{KeyHash, Salt};
use crate::ids::FileKind;
use crate::scheme::{InLines, Placed as _, Scheme, SchemeId};
use crate::word::{Lies, Word};
use alloc::format;
use alloc::string::ToString;
use truebloom_math::recycling::{BlockedDesign, Weights};
use truebloom_math::{Law, MAX_BLOCKED_PROBES};

/// The layout of a recycling filter in which all bits of a key are in one cache line. A cache line
/// is a block of 512 bits, as in a [`BlockedBloomFilter`](crate::BlockedBloomFilter). Offering or
/// looking up a key takes a single memory access. At the same rate, the filter needs a few more
/// bits than a filter with the standard scheme.
///
/// The number of set bits does not determine the rate of such a filter, because some cache lines
/// get more items than others. The rate of one cache line is `(ones / 512)^probes`, where `ones` is
/// the number of set bits in this line and `probes` is the number of probes per key. The rate of
/// the filter is the mean over its cache lines. The filter updates its rate after every new item.
/// For this, it uses integer arithmetic that rounds up ([`Weights`]). The filter recycles as soon
/// as its rate exceeds the recycle threshold ([`Policy::sigma`]). This threshold can be from 1e-15
/// to 0.999.
///
/// A blocked recycling filter has one phase and at most 32 probes per key. In its policy, the field
/// [`retaining`](Policy::retaining) must be false. [`BlockedDesign`] computes the rates of blocked
/// recycling filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {}

impl Layout for Blocked {
    type Limit = f64;
    type Memory<K: Backing> = Lines<K>;
    type Scheme = InLines;
}

/// The cache lines of a blocked filter, and the sum of their weights. The filter's rate is computed
/// from this sum.
pub struct Lines<K: Backing = Owned> {
    scheme: InLines,
    /// The words of the lines, eight per line.
    words: K::Words,
    level: Level,
    salt: Salt,
    sum: K::Known<Sum>,
}

/// The sum of the lines' weights, and its limit.
#[derive(Clone, PartialEq)]
pub(super) struct Sum {
    weights: Weights,
    /// The sum over all lines.
    weight: u128,
    /// The limit: a cycle ends when the sum exceeds it.
    most_weight: u128,
}

impl<K: Backing> Lines<K> {
    fn lines(&self) -> &[Line<K::Word>] {
        self.words.as_chunks().0
    }
}

impl<K: Counted> Lines<K> {
    /// Makes a phase of words that are all 0. The words are not read, because reading them would
    /// make the system allocate every page.
    fn empty(scheme: InLines, words: K::Words, policy: &Policy<f64>, salt: Salt) -> Result<Lines<K>, BuildError> {
        let design = design(&scheme, policy)?;
        let (weights, most_weight) = (design.weights(), design.most_weight());
        Ok(Lines { scheme, words, level: Level::detect(), salt, sum: K::keep(Sum { weights, weight: 0, most_weight }) })
    }
}

impl<K: Backing> Memory<K> for Lines<K> {
    type Limit = f64;
    type Scheme = InLines;

    const KINDS: &'static [FileKind] = &[FileKind::RecyclingBlocked];

    fn scheme(bits: u64, probes: u32) -> Result<InLines, BuildError> {
        InLines::new(bits, probes)
    }

    fn check(scheme: &InLines, policy: &Policy<f64>) -> Result<(), BuildError> {
        policy.check_blocked()?;
        design(scheme, policy).map(drop)
    }

    fn new(scheme: InLines, policy: &Policy<f64>, salt: Salt) -> Result<Lines<K>, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted,
    {
        let bits = scheme.law.bits();
        Lines::empty(scheme, Bits::<K>::zeroed(bits)?.into_words(), policy, salt)
    }

    fn bits(&self) -> u64 {
        self.scheme.law.bits()
    }

    fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    fn name(&self) -> &'static str {
        "blocked"
    }

    /// This method counts the set bits, which takes linear time. Insertions update only the sum of
    /// weights, and not the number of set bits.
    fn ones(&self) -> u64
    where
        K: Counted,
    {
        count_ones(&self.words)
    }

    fn frozen_ones(&self) -> u64
    where
        K: Counted,
    {
        0
    }

    #[inline]
    fn rate(&self) -> f64
    where
        K: Counted,
    {
        Weights::rate(K::kept(&self.sum).weight, self.scheme.lines())
    }

    fn worst_rate(&self, policy: &Policy<f64>, _: u64) -> f64 {
        policy.sigma
    }

    #[inline]
    fn is_over_limit(&self, _: &Policy<f64>) -> bool
    where
        K: Counted,
    {
        let Sum { weight, most_weight, .. } = K::kept(&self.sum);
        weight > most_weight
    }

    fn would_exceed(&self, hash: KeyHash, _: &Policy<f64>) -> bool
    where
        K: Writable,
    {
        let hash = self.salt.apply(hash);
        let (line, word) = self.scheme.line_and_word(hash);
        let Some(line) = self.lines().get(line as usize) else { return false };
        let mut with = *line;
        self.scheme.set_in(self.level, &mut with, word, hash);
        let Sum { weights, weight, most_weight } = K::kept(&self.sum);
        // The sum saturates, because a view's bytes may have changed since they were counted.
        weight.saturating_sub(weights.of(ones(line))).saturating_add(weights.of(ones(&with))) > *most_weight
    }

    #[inline]
    fn enter(&mut self, hash: KeyHash) -> Entered
    where
        K: Writable,
    {
        let hash = self.salt.apply(hash);
        let (line, word) = self.scheme.line_and_word(hash);
        // The scheme never draws a line beyond the end.
        let Some(line) = self.words.as_chunks_mut().0.get_mut(line as usize) else { return Entered::Known };
        if self.scheme.is_in(self.level, line, word, hash) {
            return Entered::Known;
        }
        let Sum { weights, weight, .. } = K::kept_mut(&mut self.sum);
        let before = (*weight, weights.of(ones(line)));
        self.scheme.set_in(self.level, line, word, hash);
        *weight = weight.saturating_add(weights.of(ones(line)).saturating_sub(before.1));
        Entered::New { rate: Weights::rate(before.0, self.scheme.lines()) }
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        self.scheme.contains(self.level, self.lines(), self.salt.apply(hash))
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        let (line, _) = self.scheme.line_and_word(self.salt.apply(hash));
        prefetch(&self.words[..], 8 * line);
    }

    fn turn(&mut self, salt: Salt)
    where
        K: Writable,
    {
        self.words.fill(K::Word::of(0));
        K::kept_mut(&mut self.sum).weight = 0;
        self.salt = salt;
    }

    fn clear(&mut self, salt: Salt)
    where
        K: Writable,
    {
        self.turn(salt);
    }

    fn read_scheme(fields: &Fields) -> Result<InLines, FormatError> {
        let id = fields.scheme(FileKind::RecyclingBlocked)?;
        InLines::check_fields(fields, parameter::BLOCK_BITS)?;
        fields.check_zero(parameter::BLOCK_BITS + FileKind::Blocked.layout_bytes(), at::HEADER_CHECKSUM)?;
        let bits = fields.u64(at::BITS);
        let probes = fields.u32(at::PROBES);
        check_field("probes", probes.into(), Expected::Within(1, MAX_BLOCKED_PROBES.into()))?;
        InLines::with_id(id, bits, probes).map_err(|error| FormatError::Parameters { why: error.to_string() })
    }

    fn header(&self) -> Fields {
        let mut fields = Fields::new(FileKind::RecyclingBlocked);
        fields.put_scheme(SchemeId::Blocked, self.scheme.law.bits(), self.scheme.probes());
        InLines::put_parameters(&mut fields, parameter::BLOCK_BITS);
        fields
    }

    fn phase_words(scheme: &InLines) -> u64 {
        scheme.law.bits() / 64
    }

    fn from_words(scheme: InLines, words: Phased<K::Words>, policy: &Policy<f64>, recorded: Recorded) -> Result<Lines<K>, FormatError>
    where
        K: Counted,
    {
        // The design was checked with the header, so this returns no error.
        let lines: Result<Lines<K>, BuildError> = Lines::empty(scheme, words.0, policy, recorded.salt);
        let mut lines = lines.map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        let Sum { weights, most_weight, .. } = K::kept(&lines.sum).clone();
        let weight = lines.lines().iter().map(|line| weights.of(ones(line))).sum();
        lines.sum = K::keep(Sum { weights, weight, most_weight });
        let most = recorded.items.saturating_mul(scheme.probes().into());
        check_field("set bits", count_ones(&lines.words), Expected::Within(recorded.items, most))?;
        if weight > most_weight {
            let (rate, limit) = (Weights::rate(weight, scheme.lines()), policy.sigma);
            return Err(FormatError::Parameters { why: format!("the rate of its lines is {rate:e}, above the limit of {limit:e}") });
        }
        Ok(lines)
    }

    fn unread(scheme: InLines, words: Phased<K::Words>, _: &Policy<f64>, recorded: Recorded) -> Lines<K>
    where
        K: Uncounted,
    {
        Lines { scheme, words: words.0, level: Level::detect(), salt: recorded.salt, sum: K::nothing() }
    }

    fn copied(&self) -> Lines<K>
    where
        K::Words: Clone,
    {
        Lines { words: self.words.clone(), sum: self.sum.clone(), ..*self }
    }

    fn into_parts(self) -> (InLines, Phased<K::Words>) {
        (self.scheme, (self.words, None))
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.get())
    }

    fn word_count(&self) -> u64 {
        self.scheme.law.bits() / 64
    }
}

impl<K: Backing> PartialEq for Lines<K> {
    fn eq(&self, other: &Lines<K>) -> bool {
        (self.scheme, self.salt) == (other.scheme, other.salt) && self.words[..] == other.words[..]
    }
}

fn design(scheme: &InLines, policy: &Policy<f64>) -> Result<BlockedDesign, BuildError> {
    Ok(BlockedDesign::new(scheme.law.bits(), LINE_BITS, scheme.probes(), policy.sigma)?)
}

#[inline]
fn ones<W: Word>(line: &Line<W>) -> usize {
    count_ones(line) as usize
}
