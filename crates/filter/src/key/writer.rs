//! The writer that assembles the bytes of a key.

/// A function that takes a key piece by piece.
pub(crate) type Take<'a> = dyn FnMut(&[u8]) + 'a;

/// A function that writes a key piece by piece.
pub(crate) type Write<'a> = dyn FnMut(&mut Take<'_>) + 'a;

/// The size in bytes of the buffer in which a key is assembled before it is hashed. The buffer is
/// large enough for nearly all keys.
const SHORT: usize = 128;

/// Receives the parts of a key: see [`Key::write_key`](crate::Key::write_key).
///
/// A key of up to 128 bytes is assembled in a buffer and hashed in one step. A longer key is hashed
/// piece by piece. No memory is allocated in either case.
pub struct KeyWriter<'a> {
    bytes: [u8; SHORT],
    /// The number of bytes in the buffer, or the length of the whole key if `take` is `None`.
    len: usize,
    /// The function that receives each full piece. If it is `None`, bytes that do not fit into the
    /// buffer are only counted.
    take: Option<&'a mut Take<'a>>,
}

impl KeyWriter<'static> {
    /// A writer for short keys.
    #[inline]
    pub(crate) fn new() -> KeyWriter<'static> {
        KeyWriter { bytes: [0; SHORT], len: 0, take: None }
    }
}

impl<'a> KeyWriter<'a> {
    /// A writer for keys of any length.
    pub(crate) fn in_pieces(take: &'a mut Take<'a>) -> KeyWriter<'a> {
        KeyWriter { bytes: [0; SHORT], len: 0, take: Some(take) }
    }

    /// The bytes of the key, if it is short.
    #[inline]
    pub(crate) fn short(&self) -> Option<&[u8]> {
        self.bytes.get(..self.len)
    }

    /// Passes the last piece to `take`.
    pub(crate) fn flush(&mut self) {
        if let Some(take) = &mut self.take {
            take(self.bytes.get(..self.len).unwrap_or_default());
            self.len = 0;
        }
    }

    /// Writes a number as 8 bytes.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.push(&number.to_le_bytes());
    }

    /// Writes a number of up to 128 bits as 16 bytes.
    #[inline]
    pub fn wide_number(&mut self, number: u128) {
        self.push(&number.to_le_bytes());
    }

    /// Writes the length of a byte string as a number, and then its bytes.
    #[inline]
    pub fn byte_string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.push(bytes);
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        // The sum may saturate, because a key of that length does not fit into the buffer either.
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
