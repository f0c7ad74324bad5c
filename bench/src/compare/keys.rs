//! The keys of the measurements. Each key is computed from its number when it is needed, so even a
//! hundred million keys take no memory.

use truebloom::{Key, KeyWriter};

/// The type of the keys in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Random 64-bit numbers.
    Numbers,
    /// Random byte strings of 16 to 32 bytes.
    Texts,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Numbers => "u64",
            Kind::Texts => "16-32 bytes",
        }
    }
}

/// A short byte string.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    bytes: [u8; 32],
    length: u8,
}

impl Text {
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length.min(32))]
    }
}

impl Key for Text {
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        to.byte_string(self.bytes());
    }

    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        Some(self.bytes())
    }
}

/// Keys that are made before the measurement begins.
pub(crate) enum Chunk {
    Numbers(Vec<u64>),
    Texts(Vec<Text>),
}

/// The output of SplitMix64 for a state. The function is a bijection, so different numbers give
/// different keys.
pub(crate) fn scramble(number: u64) -> u64 {
    let word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Chunk {
    /// The keys of these numbers.
    pub(crate) fn new(kind: Kind, numbers: impl Iterator<Item = u64>) -> Chunk {
        match kind {
            Kind::Numbers => Chunk::Numbers(numbers.map(scramble).collect()),
            Kind::Texts => Chunk::Texts(numbers.map(text).collect()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Chunk::Numbers(keys) => keys.len(),
            Chunk::Texts(keys) => keys.len(),
        }
    }
}

fn text(number: u64) -> Text {
    let word = scramble(number);
    let mut bytes = [0; 32];
    for (i, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&scramble(word ^ ((i as u64) << 60)).to_le_bytes());
    }
    // The key contains its number, so no two keys are equal.
    bytes[..8].copy_from_slice(&word.to_le_bytes());
    Text { bytes, length: 16 + (word % 17) as u8 }
}
