//! The blocked layout: all bits of a key lie in one cache line.

use super::{Bits, Flights, IN_CACHE, combine, count_ones};
use crate::arch::{self, AlignedWords, LANES, LINE_BITS, Level, Line, all_set, contains_shared, prefetch};
use crate::backing::{Backing, Counted, Owned, Uncounted, Writable};
use crate::bulk::{BATCH, Batch, BatchAnswers};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, at, check_field};
use crate::hash::KeyHash;
use crate::ids::FileKind;
use crate::scheme::{Batches, Doing, InLines, Placed, Scheme, Storage};
use crate::word::{Lies, Reads, Word};
use alloc::vec;
use truebloom_math::{BLOCK_PROBES, Error, Fpr, MAX_BITS};

impl Placed for InLines {
    const KIND: FileKind = FileKind::Blocked;
    type Storage<K: Backing> = Lined<K>;
    type Batches = Flights;

    #[inline]
    fn for_each_ahead(&self, hash: KeyHash, _: usize, mut ask: impl FnMut(u64)) {
        ask(8 * self.line(hash).0);
    }

    #[inline]
    fn are_set<W: Reads>(&self, level: Level, hash: KeyHash, words: &[W]) -> bool {
        let (number, mut stream) = self.line(hash);
        let Some(line) = words.as_chunks::<8>().0.get(number as usize) else { return false };
        all_set(|word, now| contains_shared(level, line, word, now), || stream.next(), self.probes())
    }

    /// The rate as the mean of `(ones / 512)^probes` over the lines.
    fn rate_of<W: Reads>(&self, words: &[W]) -> Result<Option<Fpr>, Error> {
        let mut blocks_with = vec![0; LINE_BITS as usize + 1];
        for line in words.as_chunks::<8>().0 {
            blocks_with[count_ones(line) as usize] += 1;
        }
        self.law.fpr_at_block_fills(&blocks_with)
    }

    /// Checks that this version supports the number of bits per line in the header.
    fn check_fields(fields: &Fields, parameters: usize) -> Result<(), FormatError> {
        check_field("block bits", fields.u64(parameters), Expected::Exactly(LINE_BITS))?;
        let bits = fields.u64_within("bits", at::BITS, LINE_BITS, MAX_BITS)?;
        check_field("bits modulo 512", bits % LINE_BITS, Expected::Exactly(0))?;
        check_field("probes", fields.u32(at::PROBES).into(), Expected::Within(1, BLOCK_PROBES.into())).map(drop)
    }

    fn put_parameters(fields: &mut Fields, parameters: usize) {
        fields.put(parameters, LINE_BITS.to_le_bytes());
    }
}

/// Bits in blocks of 512, each of which is a cache line. The number of set bits is not kept up to
/// date, because this would slow down every insertion.
pub struct Lined<K: Backing = Owned> {
    /// Eight words per line.
    words: K::Words,
    level: Level,
}

impl<K: Backing> Lined<K> {
    #[inline(always)]
    fn lines(&self) -> &[Line<K::Word>] {
        self.words.as_chunks().0
    }
}

impl<K: Backing> Storage<InLines, K> for Lined<K> {
    fn zeroed(scheme: &InLines) -> Result<Lined<K>, BuildError>
    where
        K: Backing<Words = AlignedWords> + Counted,
    {
        Ok(Lined { words: Bits::<K>::zeroed(scheme.bits())?.into_words(), level: Level::detect() })
    }

    fn from_words(_: &InLines, words: K::Words) -> Result<Lined<K>, FormatError>
    where
        K: Counted,
    {
        Ok(Lined { words, level: Level::detect() })
    }

    fn unread(words: K::Words) -> Lined<K>
    where
        K: Uncounted,
    {
        Lined { words, level: Level::detect() }
    }

    fn into_known(self) -> (K::Words, u64)
    where
        K: Counted,
    {
        (self.words, 0)
    }

    fn with_known((words, _): (K::Words, u64)) -> Lined<K>
    where
        K: Counted,
    {
        Lined { words, level: Level::detect() }
    }

    fn copied(&self) -> Lined<K>
    where
        K::Words: Clone,
    {
        Lined { words: self.words.clone(), level: self.level }
    }

    fn words(&self) -> &K::Words {
        &self.words
    }

    fn into_words(self) -> K::Words {
        self.words
    }

    fn words_mut(&mut self) -> &mut K::Words {
        &mut self.words
    }

    fn ones(&self) -> u64
    where
        K: Counted,
    {
        count_ones(&self.words)
    }

    fn is_empty(&self) -> bool
    where
        K: Counted,
    {
        self.words.iter().all(|word| word.get() == 0)
    }

    fn clear(&mut self)
    where
        K: Writable,
    {
        self.words.fill(K::Word::of(0));
    }

    fn combine<W: Word>(&mut self, other: &[W], with: impl Fn(u64, u64) -> u64)
    where
        K: Writable,
    {
        combine(&mut self.words, other, with);
    }

    // Always inlined, so that a loop that inserts single keys keeps the hasher's and the scheme's
    // numbers in registers.
    #[inline(always)]
    fn insert(&mut self, scheme: &InLines, hash: KeyHash) -> bool
    where
        K: Writable,
    {
        scheme.set(self.level, self.words.as_chunks_mut().0, hash)
    }

    #[inline(always)]
    fn contains(&self, scheme: &InLines, hash: KeyHash) -> bool {
        scheme.contains(self.level, self.lines(), hash)
    }

    fn fpr(&self, scheme: &InLines) -> Result<Option<Fpr>, Error>
    where
        K: Counted,
    {
        scheme.rate_of(&self.words)
    }
}

impl Batches<InLines> for Flights {
    fn new(scheme: &InLines) -> Flights {
        Flights::of(Level::detect(), scheme)
    }

    /// These limits were measured with `bench/src/begin`. In a filter that fits in the cache,
    /// prefetching gains nothing, so a batch of insertions is never faster than single insertions.
    fn few(scheme: &InLines, doing: Doing) -> usize {
        match (scheme.bits() > IN_CACHE, doing) {
            (true, Doing { shared: false, .. }) => 32,
            (true, Doing { shared: true, .. }) => 12,
            (false, Doing { inserts: false, shared: false }) => 2 * BATCH,
            (false, _) => usize::MAX,
        }
    }

    fn contains<K: Backing>(&mut self, scheme: &InLines, storage: &Lined<K>, batch: Batch<'_>) -> BatchAnswers {
        let (level, lines, probes) = (storage.level, storage.lines(), scheme.probes());
        let mut answers = BatchAnswers::default();
        self.fly(batch, &mut &storage.words[..], ask, |_, number, asked| {
            let found = arch::contains_group(level, lines, asked, probes);
            answers[number * LANES / 64] |= u64::from(found) << (number * LANES % 64);
        });
        answers
    }

    /// Inserts the keys in order, because the same key may occur twice in the batch.
    fn insert<K: Writable>(&mut self, scheme: &InLines, storage: &mut Lined<K>, batch: Batch<'_>) -> BatchAnswers {
        let (level, mut new) = (storage.level, BatchAnswers::default());
        self.fly(
            batch,
            &mut &mut storage.words[..],
            |words, line| ask(&&words[..], line),
            |words, number, asked| {
                let inserted = arch::insert_group(level, words.as_chunks_mut().0, asked, scheme.probes());
                new[number * LANES / 64] |= u64::from(inserted) << (number * LANES % 64);
            },
        );
        new
    }
}

/// Prefetches a line.
#[inline(always)]
fn ask<W: Word>(words: &&[W], line: u64) {
    prefetch(words, 8 * line);
}
