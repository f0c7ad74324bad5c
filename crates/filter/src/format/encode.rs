//! From filters to bytes.

use super::{CHUNK_BYTES, HEADER_BYTES, Header};
use crate::bloom::BloomFilter;
use crate::error::BuildError;
use crate::hash::KeyHasher;
use crate::scheme::SchemeId;
use std::io::{self, Write};
use xxhash_rust::xxh3::Xxh3Default;

impl BloomFilter {
    /// The filter in the bytes of its file. An error if there is no memory for them.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()?)?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, BuildError> {
        let header = self.header();
        let refuse = || BuildError::Memory { bytes: header.total_bytes() };
        let length = usize::try_from(header.total_bytes()).map_err(|_| refuse())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| refuse())?;
        bytes.extend_from_slice(&header.encode());
        bytes.extend(self.words().iter().flat_map(|word| word.to_le_bytes()));
        Ok(bytes)
    }

    /// Writes the bytes of the filter's file. Unbuffered writers are fine: it writes in large pieces.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        writer.write_all(&self.header().encode())?;
        for_each_chunk(self.words(), |chunk| writer.write_all(chunk))?;
        writer.flush()
    }

    /// The number of bytes of the filter's file.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.bits().div_ceil(64) * 8
    }

    fn header(&self) -> Header {
        Header {
            scheme: SchemeId::Standard,
            hasher: self.hasher().hasher_id(),
            probes: self.probes(),
            bits: self.bits(),
            seed: self.hasher().seed(),
            counts: self.counts(),
            capacity: self.capacity(),
            rate: self.rate(),
            payload_checksum: checksum(self.words()),
        }
    }
}

fn checksum(words: &[u64]) -> u64 {
    let mut checksum = Xxh3Default::new();
    let updated: Result<(), std::convert::Infallible> = for_each_chunk(words, |chunk| {
        checksum.update(chunk);
        Ok(())
    });
    let Ok(()) = updated;
    checksum.digest()
}

/// The little-endian bytes of the words, piece by piece: a copy, as a view of words as bytes would need unsafe code and a little-endian machine.
fn for_each_chunk<E>(words: &[u64], mut use_chunk: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut buffer = Vec::with_capacity(CHUNK_BYTES);
    for words in words.chunks(CHUNK_BYTES / 8) {
        buffer.clear();
        buffer.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        use_chunk(&buffer)?;
    }
    Ok(())
}
