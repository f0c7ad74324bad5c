//! How each library computes the positions of a key from base words. Here, the base words are ideal
//! hashes of the key.

use crate::Size;

/// How a library computes the positions of a key from hashes of the key. Positions are numbered
/// from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arithmetic {
    /// Position i is `h1 + i h2` modulo 2^64 with the top bit cleared, then modulo the number of
    /// bits (Guava). Here, `h1` and `h2` are two hashes of the key.
    ProgressionOf63Bits,
    /// Position i is `h1 + i h2` modulo 2^64, then modulo the number of bits (RedisBloom). Here,
    /// `h1` and `h2` are two hashes of the key.
    ProgressionOf64Bits,
    /// Position i is computed from `h1 + i h2`, taken as a signed number of 64 bits. The position
    /// is the absolute value of the remainder of this number modulo the number of bits (Cassandra).
    /// Here, `h1` and `h2` are two hashes of the key.
    SignedProgression,
    /// Hash 0 is `h1`, and hash 1 is `h2`. Each later hash i is `h1 + i h2` modulo 2^64, then
    /// modulo the prime 2^64 - 59. Position i is hash i modulo the number of bits (bloomfilter).
    ProgressionModuloPrime,
    /// Position i is `h[i mod 2] + i h[j]` modulo 2^64, then modulo the number of bits
    /// (bits-and-blooms). Here, `h[0]` to `h[3]` are four hashes of the key, and j is 2 or 3,
    /// depending on i.
    FourHashes,
    /// Each hash is the previous hash times a fixed multiplier, modulo 2^64, then modulo the prime
    /// 2^64 - 59. The computation starts with one hash of the key. A position is a hash modulo the
    /// number of bits (DCSO).
    Powers,
    /// The first hash is a uniform word. Each later hash is the previous hash rotated left by 5
    /// bits, plus a fixed multiple of the first hash. A position is the high half of the 128-bit
    /// product of a hash and the number of bits (fastbloom).
    Rotation,
    /// Each position is an output of a 128-bit linear congruential generator, modulo the number of
    /// bits. The generator starts from one hash of the key (rbloom).
    Congruential,
    /// Each position is a separate 32-bit word modulo the number of bits (BIP37).
    Words32,
    /// Each probe has its own slice of the filter. The position in the slice is a chunk of a digest
    /// of the key, modulo the number of bits of the slice. A chunk has 2, 4 or 8 bytes
    /// (pybloom-live).
    SlicesByChunks,
    /// The high half of a hash selects a block of 256 bits, which has 8 words. In each of these
    /// words, the product of the low half of the hash and an odd constant selects one bit
    /// (Parquet).
    SplitBlock,
    /// Independent positions, computed from a hash of 128 bits (truebloom). Tests compare the
    /// positions of truebloom's standard scheme with independent positions.
    Independent,
}

/// The number 2^64 - 59, the largest prime below 2^64.
const PRIME: u64 = 0xffff_ffff_ffff_ffc5;

/// The odd constants of the split-block filter, from BloomFilter.md of parquet-format.
const SALTS: [u32; 8] = [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

impl Arithmetic {
    /// Returns the number of hash bits from which all positions of a key are computed.
    pub fn hash_bits(self, size: Size) -> u32 {
        match self {
            Arithmetic::ProgressionOf63Bits
            | Arithmetic::ProgressionOf64Bits
            | Arithmetic::SignedProgression
            | Arithmetic::ProgressionModuloPrime
            | Arithmetic::Independent => 128,
            Arithmetic::FourHashes => 256,
            Arithmetic::Powers | Arithmetic::Rotation | Arithmetic::Congruential | Arithmetic::SplitBlock => 64,
            Arithmetic::Words32 => size.probes.saturating_mul(32),
            Arithmetic::SlicesByChunks => size.probes.saturating_mul(chunk_bits(size.bits / u64::from(size.probes.max(1)))),
        }
    }

    /// Returns the probability that a key has the same hash, and therefore the same positions, as
    /// one of `items` items: `1 - (1 - 2^-bits)^items`. Here, `bits` is
    /// [`hash_bits`](Self::hash_bits). For most libraries, the number of hash bits is fixed, so a
    /// larger filter or more probes do not reduce the probability. A split-block filter is an
    /// exception: two keys in the same block have the same positions if 32 bits of their hashes are
    /// equal.
    pub fn hash_floor(self, size: Size, items: u64) -> f64 {
        if items == 0 {
            return 0.0;
        }
        let equal = match self {
            Arithmetic::SplitBlock => libm::scalbn(1.0 / (size.bits / 256).max(1) as f64, -32),
            _ => libm::scalbn(1.0, -(self.hash_bits(size).min(1_000) as i32)),
        };
        -libm::expm1(items as f64 * libm::log1p(-equal))
    }

    /// Calls `all` with each position of a key until `all` returns false. The base words of the key
    /// come from `word`. Returns true if `all` never returned false.
    pub(super) fn every(self, size: Size, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool {
        let (bits, probes) = (size.bits, u64::from(size.probes));
        match self {
            Arithmetic::ProgressionOf63Bits => {
                let (h1, h2) = (word(), word());
                (0..probes).map(|i| (h1.wrapping_add(i.wrapping_mul(h2)) & (u64::MAX >> 1)) % bits).all(all)
            }
            Arithmetic::ProgressionOf64Bits => {
                let (h1, h2) = (word(), word());
                (0..probes).map(|i| h1.wrapping_add(i.wrapping_mul(h2)) % bits).all(all)
            }
            Arithmetic::SignedProgression => {
                let (h1, h2) = (word(), word());
                (0..probes).map(|i| (h1.wrapping_add(i.wrapping_mul(h2)) as i64).wrapping_rem(bits as i64).unsigned_abs()).all(all)
            }
            Arithmetic::ProgressionModuloPrime => {
                let (h1, h2) = (word(), word());
                let of = |i: u64| match i {
                    0 => h1,
                    1 => h2,
                    _ => h1.wrapping_add(i.wrapping_mul(h2)) % PRIME,
                };
                (0..probes).map(|i| of(i) % bits).all(all)
            }
            Arithmetic::FourHashes => {
                let h = [word(), word(), word(), word()];
                let step = |i: u64| h[2 + ((i + i % 2) % 4 / 2) as usize];
                (0..probes).map(|i| h[(i % 2) as usize].wrapping_add(i.wrapping_mul(step(i))) % bits).all(all)
            }
            Arithmetic::Powers => {
                let mut h = word() % PRIME;
                (0..probes)
                    .map(|_| {
                        h = h.wrapping_mul(0xffff_ffff_ffff_fa43) % PRIME;
                        h % bits
                    })
                    .all(all)
            }
            Arithmetic::Rotation => {
                let first = word();
                let step = first.wrapping_mul(0x517c_c1b7_2722_0a95);
                let words = std::iter::successors(Some(first), |h| Some(h.rotate_left(5).wrapping_add(step)));
                words.take(size.probes as usize).map(|h| ((u128::from(h) * u128::from(bits)) >> 64) as u64).all(all)
            }
            Arithmetic::Congruential => {
                // A Python hash is a signed number of 64 bits.
                let mut state = i128::from(word() as i64) as u128;
                (0..probes)
                    .map(|_| {
                        state = state.wrapping_mul(47_026_247_687_942_121_848_144_207_491_837_418_733).wrapping_add(1);
                        (state >> 32) as u64 % bits
                    })
                    .all(all)
            }
            Arithmetic::Words32 => (0..probes).map(|_| (word() >> 32) % bits).all(all),
            Arithmetic::SlicesByChunks => {
                let slice = bits / probes.max(1);
                let shift = 64 - chunk_bits(slice);
                (0..probes).map(|i| i * slice + (word() >> shift) % slice).all(all)
            }
            Arithmetic::SplitBlock => {
                let hash = word();
                let block = ((hash >> 32) * (bits / 256)) >> 32;
                let bit = |(i, salt): (usize, &u32)| block * 256 + 32 * i as u64 + u64::from((hash as u32).wrapping_mul(*salt) >> 27);
                SALTS.iter().enumerate().map(bit).all(all)
            }
            Arithmetic::Independent => (0..probes).map(|_| ((u128::from(word()) * u128::from(bits)) >> 64) as u64).all(all),
        }
    }
}

/// The number of digest bits that pybloom-live reduces modulo a slice: 16 for slices below 2^15
/// bits, 32 below 2^31, otherwise 64.
pub(super) fn chunk_bits(slice: u64) -> u32 {
    match slice {
        0..=0x7fff => 16,
        0x8000..=0x7fff_ffff => 32,
        _ => 64,
    }
}
