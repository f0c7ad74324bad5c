//! How uniform numbers are drawn from words.

/// Draws numbers below a bound, one from each word that is not skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    pub(crate) bound: u64,
    /// 2^64 modulo the bound. A word is skipped if its product with the bound, modulo 2^64, is
    /// below this threshold. The threshold is computed only once, because computing it takes a
    /// division.
    pub(crate) threshold: u64,
}

impl Below {
    /// The constants for a bound of at least 1.
    pub(crate) fn new(bound: u64) -> Below {
        Below { bound, threshold: bound.wrapping_neg() % bound }
    }

    /// Whether a word must be skipped, because otherwise some numbers would be more likely than
    /// others.
    #[inline(always)]
    pub(crate) fn skips(&self, word: u64) -> bool {
        self.skips_after(word.wrapping_mul(self.bound))
    }

    /// Like [`skips`](Self::skips), given the word's product with the bound, modulo 2^64. The
    /// product is what [`digit`](crate::scheme::digit) leaves of the word.
    #[inline(always)]
    pub(crate) fn skips_after(&self, product: u64) -> bool {
        product < self.threshold
    }
}

/// The constants with which the standard scheme draws positions, several from each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draws {
    /// The number of bits, m.
    pub(crate) bits: u64,
    /// The number of positions per key, k.
    pub(crate) probes: u32,
    /// The number of positions per word.
    pub(crate) a_word: u32,
    /// Draws all positions of a word at once, as a number below `bits^a_word`. The positions are
    /// the digits of this number in base `bits`.
    pub(crate) tuples: Below,
}

/// The upper limit on `bits` to the power of `a_word`, the number of possible results per word. The
/// limit applies only if a word gives several positions. With a higher limit, too many words would
/// be skipped.
const MOST_TUPLES: u64 = 1 << 52;

impl Draws {
    /// The constants for this number of bits (at least 1) and this number of probes.
    pub(crate) fn new(bits: u64, probes: u32) -> Draws {
        let (mut a_word, mut tuples) = (1, bits);
        while a_word < probes
            && let Some(more) = tuples.checked_mul(bits).filter(|more| *more <= MOST_TUPLES)
        {
            (a_word, tuples) = (a_word + 1, more);
        }
        Draws { bits, probes, a_word, tuples: Below::new(tuples) }
    }
}
