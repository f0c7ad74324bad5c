//! How the positions of the standard scheme are drawn from words.

/// The constants with which positions are drawn from words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draws {
    /// Positions are below this number: the number of bits, m, or of lines or counters.
    pub(crate) bits: u64,
    /// The number of positions per key, k.
    pub(crate) probes: u32,
    /// The number of positions per word.
    pub(crate) a_word: u32,
    /// The number of tuples of positions: `bits^a_word`.
    pub(crate) tuples: u64,
    /// 2^64 modulo the number of tuples. A word is skipped if its product with the number of
    /// tuples, modulo 2^64, is below this threshold. The threshold is computed only once, because
    /// this takes a division.
    pub(crate) threshold: u64,
}

/// The largest number of tuples. With more tuples, too many words would be skipped.
const MOST_TUPLES: u64 = 1 << 52;

impl Draws {
    /// The constants for this number of bits (at least 1) and probes.
    pub(crate) fn new(bits: u64, probes: u32) -> Draws {
        let (mut a_word, mut tuples) = (1, bits);
        while a_word < probes
            && let Some(more) = tuples.checked_mul(bits).filter(|more| *more <= MOST_TUPLES)
        {
            (a_word, tuples) = (a_word + 1, more);
        }
        Draws { bits, probes, a_word, tuples, threshold: tuples.wrapping_neg() % tuples }
    }

    /// Whether a word must be skipped, because otherwise some tuples would be more likely than
    /// others.
    #[inline(always)]
    pub(crate) fn skips(&self, word: u64) -> bool {
        word.wrapping_mul(self.tuples) < self.threshold
    }
}
