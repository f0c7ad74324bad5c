//! The difference between two states of a filter.

use super::envelope::{self, What, number};
use super::{MOST_EXPANSION, coder, header, is_compressed, reserved, split};
use crate::error::{Expected, FormatError};
use crate::format::{FileHeader, HEADER_BYTES, check_payload, put_words};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::iter;

/// Computes the difference that turns `old` into `new`. Both files must contain the same filter at
/// two different times. Each file may be compressed. A filter that grows consists of layers, and
/// `new` may have more layers than `old`.
///
/// The difference encodes which bits were set and which bits were cleared between the two states.
/// Its length is about the entropy of these changes. If the filter was cleared in between, the
/// difference is large.
///
/// # Errors
/// Returns an error if a file is truncated or damaged, or is being updated in place. Returns an
/// error if the files differ in kind, scheme, hasher or seed. Also returns an error if the numbers
/// of bits or of probes differ, unless the files hold a filter that grows.
pub fn difference(old: &[u8], new: &[u8]) -> Result<Vec<u8>, FormatError> {
    let (old, new) = (plain(old)?, plain(new)?);
    let ((old_header, old_payload), (new_header, new_payload)) = (split(&old)?, split(&new)?);
    for file in [&old, &new] {
        FileHeader::plain(file)?.check_finished()?;
        check_payload(file)?;
    }
    FileHeader::check_states(old_header, new_header)?;
    [old_payload, new_payload].into_iter().try_for_each(check_words)?;
    let mut body = Vec::new();
    body.extend_from_slice(base_of(old_header));
    let mut changed = *new_header;
    changed.iter_mut().zip(old_header).for_each(|(new, old)| *new ^= old);
    header::pack(&changed, &mut body);
    let words = || new_payload.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).zip(padded(old_payload));
    coder::encode(&gathered(words().map(|(new, old)| (new, !old))), &mut body);
    let taken_back = words().any(|(new, old)| old & !new != 0);
    body.push(u8::from(taken_back));
    if taken_back {
        coder::encode(&gathered(words().map(|(new, old)| (!new, old))), &mut body);
    }
    let more = (new.len() as u64).saturating_sub(old.len() as u64);
    let least = more.div_ceil(MOST_EXPANSION) as usize;
    if body.len() < least {
        body.resize(least, 0);
    }
    Ok(envelope::seal(What::Difference, &body))
}

/// Computes the later file from the earlier file `old` and the difference. Both arguments can come
/// from an untrusted source, because the function uses a limited amount of memory. The limit is
/// three times the uncompressed length of `old`, plus 2,048 times the length of `difference` (2,048
/// is twice [`MOST_EXPANSION`]).
///
/// # Errors
/// Returns an error if `difference` is damaged, or is not a difference. Returns an error if `old`
/// is damaged. Returns [`FormatError::WrongBase`] if `difference` was not made from `old`.
pub fn apply(old: &[u8], difference: &[u8]) -> Result<Vec<u8>, FormatError> {
    let old = plain(old)?;
    let (old_header, old_payload) = split(&old)?;
    let body = envelope::open(What::Difference, difference)?;
    let (base, rest) = body.split_at_checked(8).ok_or(FormatError::Code)?;
    if base != base_of(old_header) {
        return Err(FormatError::WrongBase { expected: number(base), found: number(base_of(old_header)) });
    }
    let (new_header, mut coded) = header::unpack(rest, old_header)?;
    FileHeader::check_states(old_header, &new_header)?;
    check_words(old_payload)?;
    let length = FileHeader::plain(&new_header)?.file_bytes().saturating_sub(HEADER_BYTES as u64);
    let most = (body.len() as u64).saturating_mul(MOST_EXPANSION).saturating_add(old_payload.len() as u64);
    let mut file = reserved(length, most, HEADER_BYTES)?;
    file.extend_from_slice(&new_header);
    let old_words = || padded(old_payload).take((length / 8) as usize);
    let ones: u64 = old_words().map(|word| u64::from(word.count_ones())).sum();
    let set = decoded(&mut coded, 8 * length - ones)?;
    let (marker, after) = coded.split_first().ok_or(FormatError::Code)?;
    coded = after;
    let unset = if *marker == 0 { Vec::new() } else { decoded(&mut coded, ones)? };
    if *marker > 1 || coded.iter().any(|byte| *byte != 0) {
        return Err(FormatError::Code);
    }
    let (mut set, mut unset) = (Spread::of(&set), Spread::of(&unset));
    put_words(&mut file, old_words().map(|old| (old | set.over(!old)) & !unset.over(old)));
    check_payload(&file)?;
    Ok(file)
}

/// The bytes of a file, expanded if they are compressed.
fn plain(file: &[u8]) -> Result<Cow<'_, [u8]>, FormatError> {
    if is_compressed(file) { super::expand(file).map(Cow::Owned) } else { Ok(Cow::Borrowed(file)) }
}

/// Checks that a payload consists of whole words, as every kind requires.
fn check_words(payload: &[u8]) -> Result<(), FormatError> {
    let found = payload.len() as u64;
    let whole = found / 8 * 8;
    if found == whole { Ok(()) } else { Err(FormatError::Field { field: "payload length", expected: Expected::Exactly(whole), found }) }
}

/// The bytes that identify a file: the checksum of its header, which includes the payload's
/// checksum.
fn base_of(header: &[u8; HEADER_BYTES]) -> &[u8] {
    &header[HEADER_BYTES - 8..]
}

/// The words of a payload, followed by endless zeros. The later payload of a filter that has grown
/// is longer, and the missing words of the earlier payload count as 0.
fn padded(payload: &[u8]) -> impl Iterator<Item = u64> {
    payload.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).chain(iter::repeat(0))
}

/// Collects the bits of each word at the positions where the word's mask has ones.
fn gathered(words: impl Iterator<Item = (u64, u64)>) -> Vec<u8> {
    let (mut bytes, mut held, mut count) = (Vec::new(), 0u128, 0);
    for (word, mask) in words {
        // In most words, no bit under the mask is set.
        let bits = if word & mask == 0 { 0 } else { compress(word, mask) };
        held |= u128::from(bits) << count;
        count += mask.count_ones();
        if count >= 64 {
            bytes.extend_from_slice(&(held as u64).to_le_bytes());
            (held, count) = (held >> 64, count - 64);
        }
    }
    bytes.extend_from_slice(&(held as u64).to_le_bytes()[..count.div_ceil(8) as usize]);
    bytes
}

/// Decodes this many collected bits.
fn decoded(coded: &mut &[u8], bits: u64) -> Result<Vec<u8>, FormatError> {
    let length = bits.div_ceil(8);
    let mut bytes = reserved(length, length, 0)?;
    coder::decode(coded, length as usize, &mut bytes)?;
    Ok(bytes)
}

/// Places collected bits at the positions where masks have ones.
struct Spread<'a> {
    left: core::slice::Iter<'a, u8>,
    held: u128,
    count: u32,
}

impl<'a> Spread<'a> {
    fn of(bytes: &'a [u8]) -> Spread<'a> {
        Spread { left: bytes.iter(), held: 0, count: 0 }
    }

    /// The next bits, placed at the positions where the mask has ones. After the last bit, zeros
    /// follow.
    fn over(&mut self, mask: u64) -> u64 {
        let wanted = mask.count_ones();
        while self.count < wanted {
            self.held |= u128::from(self.left.next().copied().unwrap_or(0)) << self.count;
            self.count += 8;
        }
        let bits = self.held as u64;
        (self.held, self.count) = (self.held >> wanted, self.count - wanted);
        let bits = if wanted == 64 { bits } else { bits & ((1 << wanted) - 1) };
        if bits == 0 { 0 } else { expand(bits, mask) }
    }
}

/// Masks for the steps that collect the bits under a mask: in step i, the bits in mask i move down
/// by `2^i` places (Warren, *Hacker's Delight*, 7-4).
fn moves(mut mask: u64) -> [u64; 6] {
    let mut zeros_below = !mask << 1;
    core::array::from_fn(|step| {
        let parity = (0..6).fold(zeros_below, |parity, by| parity ^ (parity << (1 << by)));
        let moved = parity & mask;
        mask = (mask ^ moved) | (moved >> (1 << step));
        zeros_below &= !parity;
        moved
    })
}

/// Moves the bits where the mask has ones to the lowest positions.
fn compress(word: u64, mask: u64) -> u64 {
    (0..).zip(moves(mask)).fold(word & mask, |word, (step, moved)| {
        let moving = word & moved;
        (word ^ moving) | (moving >> (1 << step))
    })
}

/// Moves the lowest bits to the positions where the mask has ones.
fn expand(bits: u64, mask: u64) -> u64 {
    let spread = (0..6).zip(moves(mask)).rev().fold(bits, |bits, (step, moved)| (bits & !moved) | ((bits << (1 << step)) & moved));
    spread & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares `compress` and `expand` with a computation bit by bit.
    #[test]
    fn bits_are_gathered_and_spread() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let masks = [0, u64::MAX, 1, 1 << 63, 0x5555_5555_5555_5555];
        for (word, mask) in masks.map(|mask| (u64::MAX, mask)).into_iter().chain((0..1_000).map(|_| (random(), random()))) {
            let mut expected = 0;
            (0..64).filter(|bit| mask >> bit & 1 == 1).enumerate().for_each(|(at, bit)| expected |= (word >> bit & 1) << at);
            assert_eq!(compress(word, mask), expected, "{word:x} {mask:x}");
            assert_eq!(expand(expected, mask), word & mask, "{word:x} {mask:x}");
        }
        let words: Vec<(u64, u64)> = (0..500).map(|_| (random(), random() & random())).collect();
        let bytes = gathered(words.iter().copied());
        let mut spread = Spread::of(&bytes);
        assert!(words.iter().all(|(word, mask)| spread.over(*mask) == word & mask));
    }
}
