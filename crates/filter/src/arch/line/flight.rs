//! The keys of a batch between being hashed and being looked up.

use crate::arch::{Level, Streams};
use crate::bulk::BATCH;
use crate::hash::KeyHash;
use crate::scheme::{InLines, MAX_BLOCKED_PROBES, PROBES_A_WORD, Words};

/// Words of the stream after the first that the most probes take.
const MAX_WORDS: usize = MAX_BLOCKED_PROBES.div_ceil(PROBES_A_WORD) as usize;

/// Keys whose lines are asked for at a time. More at once would wait for each other's lines with nothing else to do.
const GROUP: usize = 32;

/// The lines of a batch of keys and the words of their positions. One is used again for batch after batch: clearing it would cost as much as a lookup.
pub(crate) struct Flight {
    lines: [u64; BATCH],
    words: [[u64; BATCH]; MAX_WORDS],
    count: usize,
}

impl Flight {
    pub(crate) fn new() -> Flight {
        Flight { lines: [0; BATCH], words: [[0; BATCH]; MAX_WORDS], count: 0 }
    }

    /// Takes at most [`BATCH`] keys on board, and calls `ask` for each line as soon as it is known: the words are worked out while the lines are on their way.
    #[inline(always)]
    pub(crate) fn board(&mut self, level: Level, scheme: &InLines, hashes: &[KeyHash], ask: impl Fn(u64)) {
        self.count = hashes.len().min(BATCH);
        let words = scheme.probes().div_ceil(PROBES_A_WORD) as usize;
        let (range, threshold) = scheme.lines_and_threshold();
        for (group, (hashes, lines)) in hashes.chunks(GROUP).zip(self.lines.as_chunks_mut::<GROUP>().0).enumerate() {
            let mut streams = Streams::<GROUP>::new(hashes);
            let words = self.words.iter_mut().take(words).filter_map(|words| words.as_chunks_mut::<GROUP>().0.get_mut(group));
            if streams.draw(level, range, threshold, lines) {
                lines.iter().take(hashes.len()).for_each(|line| ask(*line));
                words.for_each(|words| streams.words(level, words));
                continue;
            }
            // A key that skips a word is ahead of the others by one; rare unless there are 2^50 lines.
            let mut alone = [Words::default(); GROUP];
            for ((stream, line), hash) in alone.iter_mut().zip(lines).zip(hashes) {
                (*line, *stream) = scheme.line(*hash);
                ask(*line);
            }
            words.for_each(|words| words.iter_mut().zip(&mut alone).for_each(|(word, stream)| *word = stream.next()));
        }
    }

    /// The lines of the keys on board.
    #[inline(always)]
    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines[..self.count]
    }

    /// The words of a key, one after the other.
    #[inline(always)]
    pub(crate) fn words_of(&self, key: usize) -> impl FnMut() -> u64 {
        let mut words = self.words.iter();
        // No scheme has more probes than there are words for.
        move || words.next().map_or(0, |words| words[key % BATCH])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With as many lines as to make skips common, and with few: each key's line and words are those that it has alone.
    #[test]
    fn keys_in_company_are_as_alone() {
        let hashes: Vec<KeyHash> = (0..100u128).map(|i| KeyHash::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))).collect();
        for bits in [512, 512 * 1000, (512 * 3) << 51, 1 << 62] {
            for probes in [1, 7, 8, 64] {
                let scheme = InLines::new(bits, probes).expect("in range");
                for level in crate::arch::line::levels() {
                    let mut flight = Flight::new();
                    flight.board(level, &scheme, &hashes[1..], |_| ());
                    flight.board(level, &scheme, &hashes, |_| ());
                    assert_eq!(flight.lines().len(), 100);
                    for (key, hash) in hashes.iter().enumerate() {
                        let (line, mut stream) = scheme.line(*hash);
                        let mut words = flight.words_of(key);
                        assert_eq!(flight.lines()[key], line, "{level:?} {bits} key {key}");
                        assert!((0..probes.div_ceil(7)).all(|_| words() == stream.next()), "{level:?} {bits} key {key}");
                    }
                }
            }
        }
    }
}
