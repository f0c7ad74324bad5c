//! Values whose chunks are still being loaded. The chunks come from this module's BF.SCANDUMP, or
//! from RedisBloom's.

use crate::answer::Failure;
use crate::compact::zeroed;
use crate::imported::Imported;
use crate::memory::class;
use crate::redisbloom::Chain;
use crate::state::{self, CHUNK};
use crate::value::Value;

/// The chunks that have come so far.
#[derive(Clone)]
pub(crate) struct Loading {
    /// The first chunk, unchanged.
    header: Vec<u8>,
    origin: Origin,
    /// The bytes of the later chunks.
    bytes: Vec<u8>,
    total: u64,
}

/// The module whose chunks these are.
#[derive(Clone)]
enum Origin {
    Own,
    RedisBloom(Chain),
}

/// The beginning of the first chunk.
const MAGIC: &[u8; 8] = b"TBdump\0\x01";

/// The first chunk for a dump of this many bytes.
pub(crate) fn header(total: u64) -> [u8; 16] {
    let mut header = [0; 16];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&total.to_le_bytes());
    header
}

impl Loading {
    /// Reads the first chunk.
    pub(crate) fn begin(header: &[u8]) -> Result<Loading, Failure> {
        let wrong = || Failure::text("ERR received bad data: the first chunk is not from BF.SCANDUMP");
        let (origin, total) = match header.strip_prefix(MAGIC) {
            Some(total) => (Origin::Own, <[u8; 8]>::try_from(total).ok().map(u64::from_le_bytes)),
            None => {
                let chain = Chain::of_header(header).ok_or_else(wrong)??;
                let total = chain.bytes();
                (Origin::RedisBloom(chain), total)
            }
        };
        let total = total.filter(|total| *total > 0).ok_or_else(wrong)?;
        Ok(Loading { header: header.to_vec(), origin, bytes: Vec::new(), total })
    }

    /// The first chunk, and the bytes that have come after it.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        (&self.header, &self.bytes)
    }

    /// The number of bytes of the value when all chunks have come.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the iterator that must come with the next chunk, which has `length` bytes. The
    /// iterator is the chunk's number, or, for chunks of RedisBloom, the position of the chunk's
    /// end.
    pub(crate) fn next(&self, length: usize) -> u64 {
        let taken = self.bytes.len() as u64;
        match self.origin {
            Origin::Own => 2 + taken / CHUNK as u64,
            Origin::RedisBloom(_) => 1 + taken + length as u64,
        }
    }

    /// All chunks that have come so far, with their iterators.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut before = 0;
        let rest = self.bytes.chunks(CHUNK).zip(2..).map(move |(chunk, number)| {
            before += chunk.len() as u64;
            (if matches!(self.origin, Origin::Own) { number } else { 1 + before }, chunk)
        });
        std::iter::once((1, &self.header[..])).chain(rest)
    }

    /// Takes the next chunk; returns true if it was the last.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> Result<bool, Failure> {
        let left = self.total - self.bytes.len() as u64;
        if chunk.is_empty() || chunk.len() as u64 > left {
            return Err(Failure::text(format!("ERR received bad data: the chunk has {} bytes, but only {left} are missing", chunk.len())));
        }
        // A quarter more memory than needed is reserved, so that many small chunks do not cause as
        // many copies.
        let spare = (self.bytes.len() / 4).min(usize::try_from(left).unwrap_or(usize::MAX));
        self.bytes.try_reserve_exact(spare.max(chunk.len())).map_err(|_| Failure::text("ERR cannot allocate the chunk"))?;
        self.bytes.extend_from_slice(chunk);
        Ok(self.bytes.len() as u64 == self.total)
    }

    /// Makes the value, when all chunks have come.
    pub(crate) fn value(&self, limit: Option<u64>) -> Result<Value, String> {
        let Origin::RedisBloom(chain) = &self.origin else {
            return state::read(&mut &self.bytes[..], limit).map_err(|why| why.to_string());
        };
        let mut words = self.bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut bits = Vec::with_capacity(chain.layers.len());
        for layer in &chain.layers {
            let mut own = zeroed(usize::try_from(layer.bytes() / 8).unwrap_or(usize::MAX)).map_err(|failure| format!("{failure:?}"))?;
            own.iter_mut().zip(&mut words).for_each(|(own, word)| *own = word);
            bits.push(own);
        }
        Ok(Value::Imported(Box::new(Imported::new(chain.clone(), bits))))
    }

    pub(crate) fn size(&self) -> usize {
        128 + class(self.header.len()) + class(self.bytes.capacity())
    }
}
