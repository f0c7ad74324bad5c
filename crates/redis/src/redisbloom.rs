//! The format of RedisBloom: the first chunk of its BF.SCANDUMP, and the hash that determines which
//! bits are set.
//!
//! RedisBloom's documentation prints all chunks of a small filter, and `tests` below compares this
//! file with them. docs/design/redis.md lists where the other facts are published.

use crate::answer::Failure;

/// The parameters of a layer, without its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) bits: u64,
    pub(crate) probes: u32,
    /// The number of items for which the layer was made.
    pub(crate) capacity: u64,
    /// The number of items that were inserted.
    pub(crate) items: u64,
    /// The rate for which the layer was made.
    pub(crate) rate: f64,
}

/// The parameters of a chain of layers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    /// The layers, oldest first; there is at least one.
    pub(crate) layers: Vec<Plan>,
    /// The number of items of a layer, divided by that of the previous layer.
    pub(crate) growth: u32,
    pub(crate) is_fixed: bool,
}

/// The bits of a filter's options.
mod option {
    /// The hash has 64 bits (and not 32).
    pub(super) const WIDE: u64 = 4;
    pub(super) const FIXED: u64 = 8;
    /// All known options. The two options without a name here say that the number of bits is not
    /// rounded up, and that the size was given as a number of bits.
    pub(super) const ALL: u64 = 15;
}

/// The number of bytes before the layers in the first chunk, and the number of bytes of a layer.
const HEADER: usize = 20;
const LAYER: usize = 53;

/// The largest number of layers. No chain has more layers, because each layer has half the rate of
/// the layer before, and the lowest rate is about 1e-15.
pub(crate) const MOST_LAYERS: usize = 64;

/// The number of bytes of the longest first chunk.
pub(crate) const MOST_HEADER: usize = HEADER + LAYER * MOST_LAYERS;

/// The largest number of probes; no rate needs more probes.
const MOST_PROBES: u64 = 128;

fn wrong(what: &str) -> Failure {
    Failure::text(format!("ERR received bad data: {what}"))
}

/// Reads numbers one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().map_or(([0; N], &[][..]), |(field, rest)| (*field, rest));
        self.0 = rest;
        field
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u64 {
        u32::from_le_bytes(self.take()).into()
    }
}

impl Plan {
    /// Returns a layer with these parameters, or an error if they are impossible. `power` is the
    /// binary logarithm of the number of bits, or 0 if that number is not a power of two.
    pub(crate) fn checked([bits, probes, capacity, items]: [u64; 4], rate: f64, power: u64) -> Result<Plan, Failure> {
        let is_power = power == 0 || (power < 63 && bits == 1 << power);
        let is_sound = (1..1 << 62).contains(&bits) && (1..=MOST_PROBES).contains(&probes) && capacity > 0 && rate > 0.0 && rate < 1.0;
        let probes = u32::try_from(probes).ok().filter(|_| is_power && is_sound);
        probes
            .map(|probes| Plan { bits, probes, capacity, items, rate })
            .ok_or_else(|| wrong("the numbers of a layer contradict each other"))
    }

    /// The number of bytes of the layer's bits, in whole words.
    pub(crate) fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }
}

impl Chain {
    /// A chain of these layers.
    pub(crate) fn checked(layers: Vec<Plan>, options: u64, growth: u64) -> Result<Chain, Failure> {
        if !(1..=MOST_LAYERS).contains(&layers.len()) {
            return Err(wrong("the filter has no layers, or too many"));
        }
        if options & option::WIDE == 0 || options & !option::ALL != 0 {
            return Err(wrong("the filter has the 32-bit hashes of RedisBloom 1, or is from a newer version than this module supports"));
        }
        let growth = u32::try_from(growth).unwrap_or(u32::MAX).min(crate::settings::MOST_EXPANSION);
        let chain = Chain { layers, growth, is_fixed: options & option::FIXED != 0 };
        if chain.bytes().is_some() { Ok(chain) } else { Err(wrong("the filter has an impossible size in bytes")) }
    }

    /// Reads the first chunk; `None` if it is not one of RedisBloom.
    pub(crate) fn of_header(chunk: &[u8]) -> Option<Result<Chain, Failure>> {
        let mut fields = Fields(chunk);
        let [_, count, options, growth] = [fields.u64(), fields.u32(), fields.u32(), fields.u32()];
        let count = usize::try_from(count).ok().filter(|count| (1..=MOST_LAYERS).contains(count))?;
        if chunk.len() != HEADER + LAYER * count {
            return None;
        }
        let layers = (0..count).map(|_| {
            let [bytes, bits, items, rate, _bits_an_item] = [(); 5].map(|()| fields.u64());
            let [probes, capacity, power] = [fields.u32(), fields.u64(), u64::from(u8::from_le_bytes(fields.take()))];
            let plan = Plan::checked([bits, probes, capacity, items], f64::from_bits(rate), power)?;
            if plan.bytes() == bytes { Ok(plan) } else { Err(wrong("the bits and bytes of a layer contradict each other")) }
        });
        Some(layers.collect::<Result<_, _>>().and_then(|layers| Chain::checked(layers, options, growth)))
    }

    /// The options and the growth in RedisBloom's form.
    pub(crate) fn options(&self) -> [u64; 2] {
        [option::WIDE | if self.is_fixed { option::FIXED } else { 0 }, self.growth.into()]
    }

    /// The number of bytes of all layers.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.layers.iter().try_fold(0u64, |sum, layer| sum.checked_add(layer.bytes()))
    }

    /// Returns the requested rate; the first layer of a chain that grows has half of this rate.
    pub(crate) fn asked(&self) -> f64 {
        let first = self.layers.first().map_or(0.5, |layer| layer.rate);
        if self.is_fixed { first } else { (2.0 * first).min(0.999) }
    }

    /// The number of items in all layers.
    pub(crate) fn items(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.items))
    }
}

/// The two hashes of an item: position i in a layer is `first + i second` modulo 2^64, and then
/// modulo the layer's bits.
#[derive(Clone, Copy)]
pub(crate) struct Hashes {
    pub(crate) first: u64,
    pub(crate) second: u64,
}

impl Hashes {
    pub(crate) fn of(item: &[u8]) -> Hashes {
        let first = murmur(item, MULTIPLIER);
        Hashes { first, second: murmur(item, first) }
    }

    /// Whether a layer with these bits has the item.
    pub(crate) fn are_in(self, plan: &Plan, bits: &[u64]) -> bool {
        let mut next = self.first;
        (0..plan.probes).all(|_| {
            let position = next % plan.bits;
            next = next.wrapping_add(self.second);
            bits.get((position >> 6) as usize).is_some_and(|word| word >> (position & 63) & 1 == 1)
        })
    }
}

const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;

/// `MurmurHash64A`, which Austin Appleby placed in the public domain.
fn murmur(bytes: &[u8], seed: u64) -> u64 {
    let mixed = |word: u64| {
        let word = word.wrapping_mul(MULTIPLIER);
        (word ^ word >> 47).wrapping_mul(MULTIPLIER)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let start = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let mut hash = words.iter().fold(start, |hash, word| (hash ^ mixed(u64::from_le_bytes(*word))).wrapping_mul(MULTIPLIER));
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |last, byte| last << 8 | u64::from(*byte));
        hash = (hash ^ last).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(MULTIPLIER);
    hash ^ hash >> 47
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks that the documentation of BF.SCANDUMP prints, for a filter made by
    /// `BF.RESERVE bf 0.1 10` with `item1` in it.
    const HEADER: &[u8] = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\x05\0\0\0\x02\0\0\0\x08\0\0\0\0\0\0\0@\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\
        \x9a\x99\x99\x99\x99\x99\xa9?J\xf7\xd4\x9e\xde\xf0\x18@\x05\0\0\0\n\0\0\0\0\0\0\0\0";
    const BITS: [u8; 8] = *b"\x01\x08\x00\x80\x00\x04 \x00";

    #[test]
    fn the_published_filter_is_read() {
        let chain = Chain::of_header(HEADER).expect("of RedisBloom").expect("sound");
        let layer = Plan { bits: 64, probes: 5, capacity: 10, items: 1, rate: 0.05 };
        assert_eq!(chain, Chain { layers: vec![layer], growth: 2, is_fixed: false });
        assert_eq!((chain.asked(), chain.bytes(), chain.items()), (0.1, Some(8), 1));
        let bits = [u64::from_le_bytes(BITS)];
        assert!(Hashes::of(b"item1").are_in(&layer, &bits));
        // Only these five bits are set, and none of them can be missing.
        for bit in 0..64 {
            let without = [bits[0] & !(1 << bit)];
            assert_eq!(Hashes::of(b"item1").are_in(&layer, &without), without == bits);
        }
        assert!((2..=7).all(|number| !Hashes::of(format!("item{number}").as_bytes()).are_in(&layer, &bits)));
    }

    /// Chunks with any length, and with any byte changed, are either refused or read as valid
    /// chunks.
    #[test]
    fn altered_headers_are_refused_or_sound() {
        for length in 0..HEADER.len() {
            assert!(Chain::of_header(&HEADER[..length]).is_none(), "{length}");
        }
        for at in 0..HEADER.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut altered = HEADER.to_vec();
                altered[at] = byte;
                if let Some(Ok(chain)) = Chain::of_header(&altered) {
                    assert!(chain.bytes() == Some(8) && chain.asked() < 1.0, "{at} {byte}");
                }
            }
        }
    }

    /// For texts with lengths around whole words, compares the hashes with those of a second
    /// implementation (`tests/test_redisbloom.py` has it in Python).
    #[test]
    fn hashes_are_those_of_a_second_implementation() {
        let expected = [HASHES_0, HASHES_7, HASHES_8, HASHES_20];
        for (item, expected) in [&b""[..], b"seven77", b"eight888", b"twenty bytes of item"].into_iter().zip(expected) {
            let Hashes { first, second } = Hashes::of(item);
            assert_eq!([first, second], expected, "{item:?}");
        }
    }

    const HASHES_0: [u64; 2] = [0x1ab1_1ea5_a7b2_c56e, 0xbbdd_cb5a_b56d_d547];
    const HASHES_7: [u64; 2] = [0xc200_f784_faed_97e6, 0xa065_e25e_0d14_84fb];
    const HASHES_8: [u64; 2] = [0xa9bf_f3f6_4af8_5bba, 0x7b39_dbd0_5302_e774];
    const HASHES_20: [u64; 2] = [0xe4a0_21df_73f0_3191, 0xf7c7_88b4_56f0_3909];
}
