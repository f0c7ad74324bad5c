//! Functions that the tests of this crate share.
#![allow(dead_code, reason = "no test uses all of it")]

use truebloom::{BloomFilter, PortableHasher, Seed};

/// The generator of all fixed streams: SplitMix64. It is implemented here, because other crates may
/// change their generators.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn next_wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// A filter with a known seed.
pub(crate) fn filter(bits: u64, probes: u32, seed: u128) -> BloomFilter {
    BloomFilter::builder().bits(bits).probes(probes).hasher(PortableHasher::xxh3(Seed::from(seed))).build().expect("small and in range")
}

/// Corrects the header's checksum after a change, as a forger would.
pub(crate) fn seal(bytes: &mut [u8]) {
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..248]);
    bytes[248..256].copy_from_slice(&checksum.to_le_bytes());
}

/// Corrects the checksum of the payload, and then the checksum of the header.
pub(crate) fn seal_all(bytes: &mut [u8]) {
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[256..]);
    bytes[112..120].copy_from_slice(&checksum.to_le_bytes());
    seal(bytes);
}
