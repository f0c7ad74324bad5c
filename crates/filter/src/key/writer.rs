//! Where keys of several parts are assembled.

use crate::hash::Take;

/// Bytes that are assembled before they are hashed: enough for nearly all keys.
const SHORT: usize = 128;

/// Takes the parts of a key: see [`Key::write_key`](crate::Key::write_key).
///
/// Bytes up to a length are assembled here and hashed at once; longer keys are hashed piece by
/// piece. Either way nothing is allocated, and the hash is that of all bytes.
pub struct KeyWriter<'a> {
    bytes: [u8; SHORT],
    /// Those that are there, all told if `take` is none.
    len: usize,
    /// Where full pieces go; without it, what does not fit is only counted.
    take: Option<&'a mut Take<'a>>,
}

impl KeyWriter<'static> {
    /// For short keys.
    #[inline]
    pub(crate) fn new() -> KeyWriter<'static> {
        KeyWriter { bytes: [0; SHORT], len: 0, take: None }
    }
}

impl<'a> KeyWriter<'a> {
    /// For keys of any length.
    pub(crate) fn in_pieces(take: &'a mut Take<'a>) -> KeyWriter<'a> {
        KeyWriter { bytes: [0; SHORT], len: 0, take: Some(take) }
    }

    /// What was written, if it is short.
    #[inline]
    pub(crate) fn short(&self) -> Option<&[u8]> {
        self.bytes.get(..self.len)
    }

    /// Hands on the last piece.
    pub(crate) fn flush(&mut self) {
        if let Some(take) = &mut self.take {
            take(self.bytes.get(..self.len).unwrap_or_default());
            self.len = 0;
        }
    }

    /// Writes a number: 8 bytes.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.push(&number.to_le_bytes());
    }

    /// Writes a number of up to 128 bits: 16 bytes.
    #[inline]
    pub fn wide_number(&mut self, number: u128) {
        self.push(&number.to_le_bytes());
    }

    /// Writes a string of bytes after its length.
    #[inline]
    pub fn byte_string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.push(bytes);
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        // Saturating: beyond the end of memory, it is no short key either.
        let end = self.len.saturating_add(bytes.len());
        match self.bytes.get_mut(self.len..end) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len = end;
            }
            None => self.push_long(bytes, end),
        }
    }

    #[cold]
    fn push_long(&mut self, bytes: &[u8], end: usize) {
        self.flush();
        match &mut self.take {
            Some(take) => take(bytes),
            None => self.len = end,
        }
    }
}

impl core::fmt::Debug for KeyWriter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyWriter").finish_non_exhaustive()
    }
}
