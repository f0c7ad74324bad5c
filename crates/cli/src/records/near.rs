//! Searches that mostly find a byte near the start: they examine eight bytes first, and then
//! sixteen at a time. `memchr` is faster only over longer distances, because starting it takes as
//! long as searching some dozens of bytes.

/// The position of the first byte, at or after `from`, that equals any of these.
#[inline(always)]
pub(super) fn any_of<const N: usize>(text: &[u8], from: usize, needles: [u8; N]) -> Option<usize> {
    search(text, from, Set::<N, 0>(needles))
}

/// The position of the first byte, at or after `from`, that is not an ordinary part of a JSON
/// string: a quote, a backslash or a control character.
#[inline(always)]
pub(super) fn special(text: &[u8], from: usize) -> Option<usize> {
    search(text, from, Set::<2, b' '>(*b"\"\\"))
}

/// The number of digits at the beginning of the text.
#[inline(always)]
pub(super) fn digits(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(bytes) = text[at..].first_chunk() {
        // This turns digits into 0 to 9, and the addition has no carry from byte to byte.
        let word = u64::from_le_bytes(*bytes) ^ each(b'0');
        let others = (((word & each(0x7f)) + each(0x80 - 10)) | word) & each(0x80);
        if others != 0 {
            return at + place(others);
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether the whole text is ASCII. For short texts, this is faster than the standard library's
/// function, which examines too many of their bytes one by one.
#[inline]
pub(super) fn is_ascii(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<16>() else { return text.is_ascii() };
    // The last sixteen bytes overlap with the chunks before.
    let all = text.as_chunks::<16>().0.iter().chain([last]).fold(0, |all, bytes| all | u128::from_ne_bytes(*bytes));
    all & u128::from_ne_bytes([0x80; 16]) == 0
}

/// The bytes that are searched for: the needles, and all bytes below a limit of at most 128.
#[derive(Clone, Copy)]
struct Set<const N: usize, const BELOW: u8>([u8; N]);

impl<const N: usize, const BELOW: u8> Set<N, BELOW> {
    #[inline(always)]
    fn has(self, byte: u8) -> bool {
        self.0.iter().fold(byte < BELOW, |any, needle| any | (byte == *needle))
    }

    /// Marks the bytes of the word that are in the set. The marks are correct up to and including
    /// the first marked byte.
    #[inline(always)]
    fn marks(self, word: u64) -> u64 {
        self.0.iter().fold(below(word, BELOW), |marks, needle| marks | zeros(word ^ each(*needle)))
    }
}

/// The position of the first byte, at or after `from`, that is in the set.
#[inline(always)]
fn search<const N: usize, const BELOW: u8>(text: &[u8], from: usize, set: Set<N, BELOW>) -> Option<usize> {
    let first = text.get(from..)?.first_chunk().map_or(0, |bytes| set.marks(u64::from_le_bytes(*bytes)));
    if first != 0 { Some(from + place(first)) } else { search_on(text, from, set) }
}

/// Continues a [`search`]. The function is not inlined, because many callers have only short texts.
#[inline(never)]
fn search_on<const N: usize, const BELOW: u8>(text: &[u8], from: usize, set: Set<N, BELOW>) -> Option<usize> {
    // There is no branch for each byte, so the compiler can use vector instructions.
    let has_any = |bytes: &[u8; 16]| bytes.iter().fold(false, |any, byte| any | set.has(*byte));
    let chunks = text.get(from..)?.as_chunks().0;
    let mut at = from + 16 * chunks.iter().position(has_any).unwrap_or(chunks.len());
    while let Some(bytes) = text.get(at..)?.first_chunk() {
        let found = set.marks(u64::from_le_bytes(*bytes));
        if found != 0 {
            return Some(at + place(found));
        }
        at += 8;
    }
    text[at..].iter().position(|byte| set.has(*byte)).map(|more| at + more)
}

/// The index of the byte with the first mark.
#[inline(always)]
const fn place(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// A word that contains this byte eight times.
#[inline(always)]
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Sets the high bit of each byte that is 0. As in [`below`], the result is correct only up to and
/// including the first such byte.
#[inline(always)]
const fn zeros(word: u64) -> u64 {
    below(word, 1)
}

/// Sets the high bit of each byte that is below the limit, which is at most 128. The result is
/// correct up to and including the first such byte, counted from the low end; the bytes after it
/// may be marked wrongly, because the subtraction borrows from them.
#[inline(always)]
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(each(limit)) & !word & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places the byte at every position, among bytes that differ from it in few bits.
    #[test]
    fn what_is_near_and_what_is_far() {
        let lengths = [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 50];
        for (length, plain) in lengths.into_iter().flat_map(|length| [0x21, 0x0b, 0xa2, 0, 0xff].map(|plain| (length, plain))) {
            for (from, at) in (0..=length).flat_map(|from| (0..=length).map(move |at| (from, at))) {
                for byte in *b"\"\n," {
                    let mut text = vec![plain; length];
                    text.iter_mut().skip(at).step_by(9).for_each(|place| *place = byte);
                    let expected = (from..length).find(|place| text[*place] == byte);
                    assert_eq!(any_of(&text, from, [byte]), expected, "{text:?} from {from}");
                    assert_eq!(any_of(&text, from, [b'\r', byte]), expected, "{text:?} from {from}");
                    assert_eq!(any_of(&text, from, [byte, b';']), expected, "{text:?} from {from}");
                    for three in [[byte, b'\r', b';'], [b'\r', byte, b';'], [b'\r', b';', byte]] {
                        assert_eq!(any_of(&text, from, three), expected, "{text:?} from {from}");
                    }
                }
            }
        }
        assert_eq!(any_of(b"a", 2, [b'a']), None);
    }

    /// Places a quote, a backslash or a control character at every position, among other bytes of
    /// all kinds.
    #[test]
    fn strings_end_where_they_end() {
        for length in 0..40 {
            for plain in [b'a', 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                let text = vec![plain; length];
                assert_eq!(special(&text, 0), None);
                for (at, byte) in (0..length).flat_map(|at| [b'"', b'\\', 0, 0x1f, b'\n'].map(|byte| (at, byte))) {
                    let mut text = text.clone();
                    text[at] = byte;
                    text[length - 1] = if at + 1 < length { b'"' } else { byte };
                    assert!((0..=at).all(|from| special(&text, from) == Some(at)), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn digits_end_at_the_first_other_byte() {
        for (length, at) in (0..30).flat_map(|length| (0..=length).map(move |at| (length, at))) {
            for other in [b'/', b':', 0, 0x70, 0x80, 0xb0, 0xb9, 0xff] {
                let mut text: Vec<u8> = (0..length).map(|place| b'0' + (place % 10) as u8).collect();
                text.iter_mut().skip(at).step_by(3).for_each(|place| *place = other);
                assert_eq!(digits(&text), at, "{text:?}");
            }
        }
    }

    #[test]
    fn one_byte_beyond_ascii_is_seen_at_any_place() {
        for length in 0..50 {
            let text = vec![0x7f; length];
            assert!(is_ascii(&text));
            for at in 0..length {
                let mut text = text.clone();
                text[at] = 0x80;
                assert!(!is_ascii(&text), "{length} {at}");
            }
        }
    }
}
