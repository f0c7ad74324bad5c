//! Memory of which a key takes one cache line: one phase.

use super::Policy;
use super::memory::{Entered, Layout, Memory, Recorded};
use super::salt::Salt;
use super::stored::parameter;
use crate::arch::{AlignedWords, LINE_BITS, Level, Line, prefetch};
use crate::bits::Placed as _;
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, at, check_field};
use crate::hash::KeyHash;
use crate::scheme::{InLines, Scheme, SchemeId};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use truebloom_math::recycling::{BlockedDesign, Weights};
use truebloom_math::{Law, MAX_BLOCKED_PROBES};

/// All probes of a key in one block of 512 bits, a cache line, as in a [`BlockedBloomFilter`](crate::BlockedBloomFilter): one access to memory a key, for a few more bits.
///
/// The number of set bits does not tell the rate of such a filter, as some lines get more items than others. The filter's own rate is the mean over its lines of `(ones / 512)^probes`; it is kept
/// while items come, in whole numbers ([`Weights`]), and is what says when to recycle: as soon as it exceeds [`sigma`](Policy::sigma), from 1e-15 to 0.999.
///
/// Up to 32 probes, and one phase only, which retains nothing: of anything else no law is known. [`BlockedDesign`] has the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {}

impl Layout for Blocked {
    type Limit = f64;
    type Memory = Lines;
}

/// The lines, and the sum of their weights.
#[derive(Clone, PartialEq)]
pub struct Lines {
    scheme: InLines,
    /// Eight a line.
    words: AlignedWords,
    level: Level,
    salt: Salt,
    weights: Weights,
    /// Of all lines together.
    weight: u128,
    /// With more than this a cycle ends.
    most_weight: u128,
}

impl Lines {
    /// With words that are all 0: looking would have the system hand out every page.
    fn empty(scheme: InLines, words: AlignedWords, policy: &Policy<f64>, salt: Salt) -> Result<Lines, BuildError> {
        let design = design(&scheme, policy)?;
        let (weights, most_weight) = (design.weights(), design.most_weight());
        Ok(Lines { scheme, words, level: Level::detect(), salt, weights, weight: 0, most_weight })
    }

    fn lines(&self) -> &[Line] {
        self.words.as_chunks().0
    }

    fn line_count(&self) -> u64 {
        self.scheme.lines()
    }
}

impl Memory for Lines {
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

    fn new(scheme: InLines, policy: &Policy<f64>, salt: Salt) -> Result<Lines, BuildError> {
        let bits = scheme.law.bits();
        let words = usize::try_from(bits / 64).ok().and_then(AlignedWords::zeroed).ok_or(BuildError::Memory { bytes: bits / 8 })?;
        Lines::empty(scheme, words, policy, salt)
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

    /// Linear in the bits: only the weights of lines are kept.
    fn ones(&self) -> u64 {
        self.lines().iter().map(|line| ones(line) as u64).sum()
    }

    fn frozen_ones(&self) -> u64 {
        0
    }

    #[inline]
    fn rate(&self) -> f64 {
        Weights::rate(self.weight, self.line_count())
    }

    fn worst_rate(&self, policy: &Policy<f64>) -> f64 {
        policy.sigma
    }

    #[inline]
    fn is_over_limit(&self, _: &Policy<f64>) -> bool {
        self.weight > self.most_weight
    }

    fn would_exceed(&self, hash: KeyHash, _: &Policy<f64>) -> bool {
        let hash = self.salt.apply(hash);
        let (line, word) = self.scheme.line_and_word(hash);
        let Some(line) = self.lines().get(line as usize) else { return false };
        let mut with = *line;
        self.scheme.set_in(self.level, &mut with, word, hash);
        self.weight - self.weights.of(ones(line)) + self.weights.of(ones(&with)) > self.most_weight
    }

    #[inline]
    fn enter(&mut self, hash: KeyHash) -> Entered {
        let hash = self.salt.apply(hash);
        let (line, word) = self.scheme.line_and_word(hash);
        // The scheme draws no line beyond the end.
        let Some(line) = self.words.as_chunks_mut().0.get_mut(line as usize) else { return Entered::Known };
        if self.scheme.is_in(self.level, line, word, hash) {
            return Entered::Known;
        }
        let before = (self.weight, self.weights.of(ones(line)));
        self.scheme.set_in(self.level, line, word, hash);
        self.weight += self.weights.of(ones(line)) - before.1;
        Entered::New { rate: Weights::rate(before.0, self.line_count()) }
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        self.scheme.contains(self.level, self.lines(), self.salt.apply(hash))
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        let (line, _) = self.scheme.line_and_word(self.salt.apply(hash));
        prefetch(&self.words, 8 * line);
    }

    fn turn(&mut self, salt: Salt) {
        self.words.fill(0);
        (self.salt, self.weight) = (salt, 0);
    }

    fn read_scheme(fields: &Fields) -> Result<InLines, FormatError> {
        fields.scheme(FileKind::RecyclingBlocked)?;
        InLines::check_fields(fields, parameter::BLOCK_BITS)?;
        fields.check_zero(parameter::BLOCK_BITS + InLines::PARAMETER_BYTES, at::HEADER_CHECKSUM)?;
        let bits = fields.u64(at::BITS);
        let probes = fields.u32(at::PROBES);
        check_field("probes", probes.into(), Expected::Within(1, MAX_BLOCKED_PROBES.into()))?;
        // Bits and probes are checked, so this is not refused.
        InLines::new(bits, probes).map_err(|error| FormatError::Parameters { why: error.to_string() })
    }

    fn header(&self) -> Fields {
        let mut fields = Fields::new(FileKind::RecyclingBlocked);
        fields.put_scheme(SchemeId::Blocked, self.bits(), self.probes());
        InLines::put_parameters(&mut fields, parameter::BLOCK_BITS);
        fields
    }

    fn count_words(scheme: &InLines, _: &Policy<f64>) -> u64 {
        scheme.law.bits() / 64
    }

    fn from_words(scheme: InLines, words: Vec<u64>, policy: &Policy<f64>, recorded: Recorded) -> Result<Lines, FormatError> {
        let words = AlignedWords::from_vec(words).ok_or(FormatError::Memory { bytes: scheme.law.bits() / 8 })?;
        // Was checked with the header.
        let lines = Lines::empty(scheme, words, policy, recorded.salt);
        let mut lines = lines.map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        lines.weight = lines.lines().iter().map(|line| lines.weights.of(ones(line))).sum();
        let most = recorded.items.saturating_mul(scheme.probes().into());
        check_field("set bits", lines.ones(), Expected::Within(recorded.items, most))?;
        if lines.is_over_limit(policy) {
            let (rate, limit) = (lines.rate(), policy.sigma);
            return Err(FormatError::Parameters { why: format!("the rate of its lines is {rate:e}, above the limit of {limit:e}") });
        }
        Ok(lines)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }

    fn word_count(&self) -> u64 {
        self.bits() / 64
    }
}

fn design(scheme: &InLines, policy: &Policy<f64>) -> Result<BlockedDesign, BuildError> {
    Ok(BlockedDesign::new(scheme.law.bits(), LINE_BITS, scheme.probes(), policy.sigma)?)
}

#[inline]
fn ones(line: &Line) -> usize {
    line.iter().map(|word| word.count_ones() as usize).sum()
}
