//! The answers for many keys, assembled from the answers for blocks.

use crate::arrow::Nulls;
use truebloom::Answers;

/// The answers, one bit per row.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) words: Vec<u64>,
    /// One bit per row, which is set unless the row is null; `None` if no row is null.
    pub(crate) valid: Option<Vec<u64>>,
    pub(crate) len: usize,
    pub(crate) nulls: usize,
    pub(crate) ones: u64,
    keep: bool,
}

impl Outcome {
    pub(super) fn new(keep: bool) -> Outcome {
        Outcome { keep, ..Outcome::default() }
    }

    /// Appends the answers for the keys of a block; null rows get none.
    pub(super) fn push(&mut self, answers: &Answers, nulls: &Nulls) {
        self.ones += answers.count_ones() as u64;
        if !self.keep {
            return;
        }
        if nulls.rows.is_empty() {
            self.append(answers.words(), None, answers.len());
            return;
        }
        let rows = answers.len() + nulls.rows.len();
        let (mut words, mut valid) = (vec![0; rows.div_ceil(64)], vec![0; rows.div_ceil(64)]);
        let (mut null, mut key) = (nulls.rows.iter().peekable(), 0);
        for row in 0..rows {
            if null.next_if(|null| **null == row).is_some() {
                continue;
            }
            words[row / 64] |= u64::from(answers[key]) << (row % 64);
            valid[row / 64] |= 1 << (row % 64);
            key += 1;
        }
        self.nulls += nulls.rows.len();
        self.append(&words, Some(&valid), rows);
    }

    fn append(&mut self, words: &[u64], valid: Option<&[u64]>, len: usize) {
        if let (None, Some(_)) = (&self.valid, valid) {
            let mut all = Vec::new();
            append_bits(&mut all, 0, &vec![u64::MAX; self.len.div_ceil(64)], self.len);
            self.valid = Some(all);
        }
        if let Some(all) = &mut self.valid {
            match valid {
                Some(valid) => append_bits(all, self.len, valid, len),
                None => append_bits(all, self.len, &vec![u64::MAX; len.div_ceil(64)], len),
            }
        }
        append_bits(&mut self.words, self.len, words, len);
        self.len += len;
    }

    pub(super) fn join(&mut self, other: Outcome) {
        self.ones += other.ones;
        self.nulls += other.nulls;
        self.append(&other.words, other.valid.as_deref(), other.len);
    }
}

/// Appends `len` bits to the `there` existing bits. The unused bits of the last word are 0.
fn append_bits(to: &mut Vec<u64>, there: usize, bits: &[u64], len: usize) {
    let shift = there % 64;
    for (number, word) in bits.iter().take(len.div_ceil(64)).enumerate() {
        let left = len - number * 64;
        let word = if left < 64 { word & ((1 << left) - 1) } else { *word };
        if shift == 0 {
            to.push(word);
            continue;
        }
        if let Some(last) = to.last_mut() {
            *last |= word << shift;
        }
        if left.min(64) + shift > 64 {
            to.push(word >> (64 - shift));
        }
    }
}
