//! Bits of which a key takes one cache line.

use super::{Batch, Batches, Flights, Placed, Storage};
use crate::arch::{self, AlignedWords, LANES, LINE_BITS, Level, Line, insert, prefetch, set};
use crate::bulk::BatchAnswers;
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, at, check_field};
use crate::hash::KeyHash;
use crate::scheme::{InLines, MAX_BLOCKED_PROBES, Scheme};
use alloc::vec;
use alloc::vec::Vec;
use truebloom_math::{Error, Fpr, MAX_BITS};

impl Placed for InLines {
    const KIND: FileKind = FileKind::Blocked;
    type Storage = Lined;
    type Batches = Flights;

    #[inline]
    fn all_words(&self, hash: KeyHash, mut has: impl FnMut(usize, u64) -> bool) -> bool {
        let (line, mut words) = self.line(hash);
        let mut masks: Line = [0; 8];
        insert(|line, word, now| set(Level::Scalar, line, word, now), &mut masks, || words.next(), self.probes());
        (8 * line as usize..).zip(masks).filter(|(_, mask)| *mask != 0).all(|(word, mask)| has(word, mask))
    }

    const PARAMETER_BYTES: usize = 8;

    /// The bits of a line.
    fn check_fields(fields: &Fields, parameters: usize) -> Result<(), FormatError> {
        check_field("block bits", fields.u64(parameters), Expected::Exactly(LINE_BITS))?;
        let bits = fields.u64_within("bits", at::BITS, LINE_BITS, MAX_BITS)?;
        check_field("bits modulo 512", bits % LINE_BITS, Expected::Exactly(0))?;
        check_field("probes", fields.u32(at::PROBES).into(), Expected::Within(1, MAX_BLOCKED_PROBES.into())).map(drop)
    }

    fn put_parameters(fields: &mut Fields, parameters: usize) {
        fields.put(parameters, LINE_BITS.to_le_bytes());
    }
}

/// Lines of bits. Those that are set are not counted along: it would slow every insertion down.
#[derive(Clone, PartialEq)]
pub struct Lined {
    /// Eight a line.
    words: AlignedWords,
    level: Level,
}

impl Lined {
    #[inline(always)]
    fn lines(&self) -> &[Line] {
        self.words.as_chunks().0
    }
}

impl Storage<InLines> for Lined {
    fn zeroed(scheme: &InLines) -> Result<Lined, BuildError> {
        let words = usize::try_from(scheme.bits() / 64).ok().and_then(AlignedWords::zeroed);
        Ok(Lined { words: words.ok_or(BuildError::Memory { bytes: scheme.bits() / 8 })?, level: Level::detect() })
    }

    fn from_words(scheme: &InLines, words: Vec<u64>) -> Result<Lined, FormatError> {
        let words = AlignedWords::from_vec(words).ok_or(FormatError::Memory { bytes: scheme.bits() / 8 })?;
        Ok(Lined { words, level: Level::detect() })
    }

    fn words(&self) -> &[u64] {
        &self.words
    }

    fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    fn clear(&mut self) {
        self.words.fill(0);
    }

    fn combine(&mut self, other: &Lined, combine: impl Fn(u64, u64) -> u64) {
        self.words.iter_mut().zip(other.words.iter()).for_each(|(word, other)| *word = combine(*word, *other));
    }

    // Always: a loop over single keys keeps the hasher's and the scheme's numbers in registers.
    #[inline(always)]
    fn insert(&mut self, scheme: &InLines, hash: KeyHash) -> bool {
        scheme.set(self.level, self.words.as_chunks_mut().0, hash)
    }

    #[inline(always)]
    fn contains(&self, scheme: &InLines, hash: KeyHash) -> bool {
        scheme.contains(self.level, self.lines(), hash)
    }

    /// The mean over the lines of `(ones / 512)^probes`.
    fn fpr(&self, scheme: &InLines) -> Result<Option<Fpr>, Error> {
        let mut blocks_with = vec![0; LINE_BITS as usize + 1];
        for line in self.lines() {
            let ones: u32 = line.iter().map(|word| word.count_ones()).sum();
            blocks_with[ones as usize] += 1;
        }
        scheme.law.fpr_at_block_fills(&blocks_with)
    }
}

impl Batches<InLines, Lined> for Flights {
    fn new(scheme: &InLines) -> Flights {
        Flights::of(Level::detect(), scheme)
    }

    fn contains(&mut self, scheme: &InLines, storage: &Lined, batch: Batch<'_>) -> BatchAnswers {
        let (level, lines, probes) = (storage.level, storage.lines(), scheme.probes());
        let mut answers = BatchAnswers::default();
        self.fly(batch, &mut &storage.words, ask, |_, number, asked| {
            let found = arch::contains_group(level, lines, asked, probes);
            answers[number * LANES / 64] |= u64::from(found) << (number * LANES % 64);
        });
        answers
    }

    /// In order, as a key may repeat within the batch.
    fn insert(&mut self, scheme: &InLines, storage: &mut Lined, batch: Batch<'_>) -> BatchAnswers {
        let (level, mut new) = (storage.level, BatchAnswers::default());
        self.fly(
            batch,
            &mut storage.words,
            |words, line| ask(&words, line),
            |words, number, asked| {
                let inserted = arch::insert_group(level, words.as_chunks_mut().0, asked, scheme.probes());
                new[number * LANES / 64] |= u64::from(inserted) << (number * LANES % 64);
            },
        );
        new
    }
}

/// Asks for a line.
#[inline(always)]
fn ask(words: &&AlignedWords, line: u64) {
    prefetch(words, 8 * line);
}
