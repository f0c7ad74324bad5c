//! Families of keys: random keys, and keys that a weak hash would not spread.

use crate::common::SplitMix64;

/// The structure of the keys. The keys inserted into a filter and the keys queried never coincide.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// 16 random bytes.
    Random,
    /// Consecutive 64-bit integers: first those that are inserted, then those that are queried.
    Sequential,
    /// Keys of 40 bytes that differ only in a few digits at the end.
    NearIdentical,
    /// Integers that differ only in their high bits.
    HighBits,
}

/// The output of the fixed generator for this state.
fn word(state: u64) -> u64 {
    SplitMix64(state).next()
}

impl Keys {
    /// The inserted key `index` of the filter with number `filter`.
    pub fn member(self, filter: u64, index: u64) -> Vec<u8> {
        self.key(filter, index)
    }

    /// A key that is not inserted.
    pub fn stranger(self, filter: u64, index: u64) -> Vec<u8> {
        self.key(filter, (1 << 32) + index)
    }

    fn key(self, filter: u64, index: u64) -> Vec<u8> {
        match self {
            Keys::Random => [word(word(filter) ^ index).to_le_bytes(), word(index ^ filter << 40).to_le_bytes()].concat(),
            Keys::Sequential => index.to_le_bytes().to_vec(),
            Keys::NearIdentical => format!("https://example.org/a/b/c/d?id={index:012}").into_bytes(),
            // A bijection: the low 40 bits of the index moved to the top.
            Keys::HighBits => index.rotate_right(40).to_le_bytes().to_vec(),
        }
    }
}
