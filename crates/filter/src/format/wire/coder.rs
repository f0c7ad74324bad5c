//! An entropy coder for bits with a known share of ones. The coder uses rANS (Duda 2013) on bytes.
//! The code is longer than the entropy by at most a thousandth, plus 16 bytes per section.
//!
//! Within a section, all arrangements of the set bits are assumed to be equally likely. So the
//! probability of a byte depends only on how many of its bits are set. There are nine such
//! probabilities, in units of 2^-31, computed in integers from the number of set bits. The
//! probabilities do not change within a section. docs/FORMAT.md describes every step.

use crate::error::FormatError;
use alloc::vec::Vec;
use truebloom_math::entropy_bits;

/// The longest section in bytes.
const SECTION: usize = 1 << 28;
const BLOCK: usize = 1 << 12;

/// The number of bits that a section takes besides its code: length, number of set bits, and state.
const AROUND: f64 = 8.0 * (4 + 4 + 8) as f64;

/// Probabilities are in units of 2^-31, the finest unit that states of 64 bits and words of 32 bits
/// allow. Every byte value has a probability of at least one unit. With a coarser unit, this lowest
/// probability would be too high for sparse bits, such as those of differences, and their code
/// would be much longer than their entropy.
const SCALE: u32 = 31;

/// The lowest state of the coder; every section begins and ends with it. The coder reads and writes
/// words of 32 bits.
const LOWEST: u64 = 1 << 32;

/// How many byte values have a given number of set bits.
const BYTES_OF: [u64; 9] = [1, 8, 28, 56, 70, 56, 28, 8, 1];

/// The byte values, ordered by their number of set bits and then by value; and the rank of each
/// value among the values with the same number of set bits.
const ORDER: ([u8; 256], [u8; 256]) = {
    let (mut sorted, mut place, mut at, mut ones) = ([0; 256], [0; 256], 0, 0);
    while ones <= 8 {
        let (mut byte, mut count) = (0, 0u8);
        while byte < 256 {
            if (byte as u8).count_ones() == ones {
                (sorted[at], place[byte]) = (byte as u8, count);
                (at, count) = (at + 1, count + 1);
            }
            byte += 1;
        }
        ones += 1;
    }
    (sorted, place)
};

/// The probabilities of bytes, for each number of set bits.
struct Model {
    /// The probability of one byte value with a given number of set bits.
    each: [u64; 9],
    /// The sum of the probabilities of all byte values with fewer set bits.
    below: [u64; 9],
}

impl Model {
    /// The model for a section with `ones` set bits among `bits`: at least one bit is set, and at
    /// least one is not.
    fn new(ones: u64, bits: u64) -> Model {
        let one = (ones << 32) / bits;
        let zero = (1 << 32) - one;
        let times = |product: u64, by: u64| ((u128::from(product) * u128::from(by)) >> 32) as u64;
        let mut each = [0; 9];
        for (set, each) in each.iter_mut().enumerate() {
            let ones = (0..set).fold(1 << 60, |product, _| times(product, one));
            let both = (set..8).fold(ones, |product, _| times(product, zero));
            *each = (both >> (60 - SCALE)).max(1);
        }
        // The likeliest byte gets the rest of the probability, so that the sum is exact.
        let likeliest = if 2 * ones <= bits { 0 } else { 8 };
        each[likeliest] = 0;
        let sum: u64 = each.iter().zip(BYTES_OF).map(|(each, count)| each * count).sum();
        each[likeliest] = (1 << SCALE) - sum;
        let mut below = [0; 9];
        for set in 1..9 {
            below[set] = below[set - 1] + each[set - 1] * BYTES_OF[set - 1];
        }
        Model { each, below }
    }
}

fn ones_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let whole: u64 = words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
    whole + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// Returns the next section and its number of set bits. A block begins a new section if this makes
/// the code shorter. This happens where the share of set bits changes, for example at the beginning
/// of a layer.
fn next_section(bytes: &[u8]) -> (&[u8], u64) {
    let (mut length, mut ones) = (0, 0);
    for block in bytes.chunks(BLOCK).take(SECTION / BLOCK) {
        let more = ones_of(block);
        let (bits, of_block) = (8 * length as u64, 8 * block.len() as u64);
        if length > 0 && entropy_bits(bits, ones) + entropy_bits(of_block, more) + AROUND < entropy_bits(bits + of_block, ones + more) {
            break;
        }
        (length, ones) = (length + block.len(), ones + more);
    }
    (bytes.get(..length).unwrap_or_default(), ones)
}

/// Appends the code of these bytes, section by section. A section consists of its length, the
/// number of set bits, the state and the words.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (mut words, mut left) = (Vec::new(), bytes);
    while !left.is_empty() {
        let (section, ones) = next_section(left);
        left = left.get(section.len()..).unwrap_or_default();
        out.extend_from_slice(&(section.len() as u32).to_le_bytes());
        out.extend_from_slice(&(ones as u32).to_le_bytes());
        let bits = 8 * section.len() as u64;
        if ones == 0 || ones == bits {
            continue;
        }
        let model = Model::new(ones, bits);
        let mut state = LOWEST;
        words.clear();
        // Bytes are coded from the last to the first, because the decoder gets them in reverse
        // order.
        for byte in section.iter().rev() {
            let set = byte.count_ones() as usize;
            let each = model.each[set];
            if state >= each << (64 - SCALE) {
                words.push(state as u32);
                state >>= 32;
            }
            let start = model.below[set] + u64::from(ORDER.1[usize::from(*byte)]) * each;
            state = ((state / each) << SCALE) + state % each + start;
        }
        out.extend_from_slice(&state.to_le_bytes());
        words.iter().rev().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }
}

/// Decodes `length` bytes, appends them to `out`, and advances `coded` past their code. Returns an
/// error if `coded` does not begin with the code of that many bytes. The caller must have reserved
/// the memory.
pub(super) fn decode(coded: &mut &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), FormatError> {
    let mut left = length;
    while left > 0 {
        let now = u32::from_le_bytes(take(coded)?) as usize;
        if now == 0 || now > left.min(SECTION) {
            return Err(FormatError::Code);
        }
        section(coded, now, out)?;
        left -= now;
    }
    Ok(())
}

fn section(coded: &mut &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), FormatError> {
    let (ones, bits) = (u64::from(u32::from_le_bytes(take(coded)?)), 8 * length as u64);
    if ones == 0 || ones == bits {
        out.resize(out.len() + length, if ones == 0 { 0 } else { 255 });
        return Ok(());
    }
    if ones > bits {
        return Err(FormatError::Code);
    }
    let model = Model::new(ones, bits);
    // The index in `ORDER` of the first byte with this many set bits.
    let mut first = [0; 9];
    (1..9).for_each(|set| first[set] = first[set - 1] + BYTES_OF[set - 1]);
    let mut state = u64::from_le_bytes(take(coded)?);
    let (mut found, end) = (0, out.len() + length);
    while out.len() < end {
        let slot = state & ((1 << SCALE) - 1);
        let set = (1..9).fold(0, |set, next| set + usize::from(model.below[next] <= slot));
        let (each, within) = (model.each[set], slot - model.below[set]);
        let place = within / each;
        let byte = ORDER.0[(first[set] + place) as usize & 255];
        state = each * (state >> SCALE) + within % each;
        if state < LOWEST {
            state = state << 32 | u64::from(u32::from_le_bytes(take(coded)?));
        }
        found += set as u64;
        out.push(byte);
    }
    if state == LOWEST && found == ones { Ok(()) } else { Err(FormatError::Code) }
}

/// Takes the next bytes.
fn take<const N: usize>(coded: &mut &[u8]) -> Result<[u8; N], FormatError> {
    let (first, rest) = coded.split_first_chunk().ok_or(FormatError::Code)?;
    *coded = rest;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Parts with different shares of set bits are coded separately, and parts with the same share
    /// together.
    #[test]
    fn sections_follow_the_fill() {
        let mixed = [vec![0x11; 3 * BLOCK], vec![0x77; 5 * BLOCK], vec![0x77; 100]].concat();
        assert_eq!(next_section(&mixed).0.len(), 3 * BLOCK);
        assert_eq!(next_section(&mixed[3 * BLOCK..]).0.len(), 5 * BLOCK + 100);
    }

    #[test]
    fn every_model_adds_up_and_has_room_for_every_byte() {
        for bits in [8, 64, 4_096, 8 * SECTION as u64] {
            for ones in [1, 2, bits / 100, bits / 3, bits / 2, bits - 1].into_iter().filter(|ones| (1..bits).contains(ones)) {
                let model = Model::new(ones, bits);
                let sum: u64 = model.each.iter().zip(BYTES_OF).map(|(each, count)| each * count).sum();
                assert!(sum == 1 << SCALE && model.each.iter().all(|each| *each > 0), "{ones} of {bits}");
            }
        }
    }

    #[test]
    fn bytes_come_back() {
        for length in [0, 1, 7, 8, 100, BLOCK - 1, BLOCK, BLOCK + 1, 50 * BLOCK + 5] {
            for kind in 0..6u64 {
                let mut state = kind;
                let bytes: Vec<u8> = (0..length)
                    .map(|at| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let random = (state >> 33) as u8;
                        [
                            0,
                            255,
                            random,
                            random & (state >> 45) as u8 & (state >> 53) as u8,
                            u8::from(at % 997 == 0),
                            if at % (9 * BLOCK) < 4 * BLOCK { 0 } else { random },
                        ][kind as usize]
                    })
                    .collect();
                let mut coded = vec![];
                encode(&bytes, &mut coded);
                let (mut rest, mut found) = (&coded[..], vec![]);
                decode(&mut rest, length, &mut found).expect("its code");
                assert!(found == bytes && rest.is_empty(), "{length} {kind}");
                for cut in [1, 4, 9].into_iter().filter(|cut| *cut <= coded.len()) {
                    assert!(decode(&mut &coded[..coded.len() - cut], length, &mut vec![]).is_err());
                }
            }
        }
    }
}
