//! Values whose chunks are still arriving.

use crate::answer::Failure;
use crate::memory::class;

/// The chunks so far.
#[derive(Clone)]
pub(crate) struct Loading {
    pub(crate) bytes: Vec<u8>,
    pub(crate) total: u64,
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
        let total = header.strip_prefix(MAGIC).and_then(|total| <[u8; 8]>::try_from(total).ok()).map(u64::from_le_bytes);
        let total = total.filter(|total| *total > 0);
        let wrong = || Failure::text("ERR received bad data: the first chunk is none of BF.SCANDUMP of this module");
        total.map(|total| Loading { bytes: Vec::new(), total }).ok_or_else(wrong)
    }

    /// Takes the next chunk; returns true if it was the last.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> Result<bool, Failure> {
        let left = self.total - self.bytes.len() as u64;
        if chunk.is_empty() || chunk.len() as u64 > left {
            return Err(Failure::text(format!("ERR received bad data: a chunk of {} bytes, where {left} are left", chunk.len())));
        }
        self.bytes.try_reserve_exact(chunk.len()).map_err(|_| Failure::text("ERR cannot allocate the chunk"))?;
        self.bytes.extend_from_slice(chunk);
        Ok(self.bytes.len() as u64 == self.total)
    }

    pub(crate) fn size(&self) -> usize {
        64 + class(self.bytes.capacity())
    }
}
