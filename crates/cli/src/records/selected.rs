//! The selected records of a batch: one bit for each record, in words as in the answers of filters.

/// Whether the record with this index is selected.
pub(crate) fn is_selected(words: &[u64], index: usize) -> bool {
    words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// The number of selected records.
pub(crate) fn count_selected(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The selected records as runs of adjacent ones, each with its first and last index.
pub(crate) fn runs(words: &[u64]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = next(words, at, 0)?;
        at = next(words, first, u64::MAX).unwrap_or(64 * words.len());
        Some((first, at - 1))
    })
}

/// Returns the index of the first set bit at or after `from`, where every word is first XORed with
/// `flip`.
#[inline]
fn next(words: &[u64], from: usize, flip: u64) -> Option<usize> {
    let (mut number, mut mask) = (from / 64, u64::MAX << (from % 64));
    loop {
        let found = (words.get(number)? ^ flip) & mask;
        if found != 0 {
            return Some(64 * number + found.trailing_zeros() as usize);
        }
        (number, mask) = (number + 1, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_over_words() {
        let set = |bits: &[usize]| {
            let mut words = vec![0u64; 4];
            bits.iter().for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
            words
        };
        for (bits, expected) in [
            (vec![], vec![]),
            (vec![0], vec![(0, 0)]),
            (vec![255], vec![(255, 255)]),
            (vec![3, 4, 6], vec![(3, 4), (6, 6)]),
            ((60..=130).collect(), vec![(60, 130)]),
            ((0..256).collect(), vec![(0, 255)]),
            (vec![63, 64, 127, 129], vec![(63, 64), (127, 127), (129, 129)]),
        ] {
            let words = set(&bits);
            assert_eq!(runs(&words).collect::<Vec<_>>(), expected);
            assert_eq!(count_selected(&words), bits.len() as u64);
            assert!((0..300).all(|bit| is_selected(&words, bit) == bits.contains(&bit)));
        }
        assert_eq!(runs(&[]).next(), None);
    }
}
