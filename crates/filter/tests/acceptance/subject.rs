//! The objects under test: the filter itself, correct schemes, and deliberately bad ones.

use truebloom::scheme::{Classic, Scheme, Standard};
use truebloom::{BloomFilter, HasherId, KeyHash, KeyHasher, PortableHasher, Seed};
use truebloom_math::Variant;

/// A filter under test.
pub trait Subject {
    /// The name in the printed table.
    const NAME: &'static str;

    /// The law that is used to plan the object and to test it.
    const VARIANT: Variant = Variant::Standard;

    fn new(bits: u64, probes: u32, seed: u128) -> Self;
    fn insert(&mut self, key: &[u8]);
    fn contains(&self, key: &[u8]) -> bool;
    fn ones(&self) -> u64;
}

/// The real filter, with the hasher that has this number.
pub struct Filter<const HASHER: u16>(BloomFilter);

fn hasher(number: u16, seed: u128) -> PortableHasher {
    let id = HasherId::ALL.into_iter().find(|id| *id as u16 == number).expect("a hasher's number");
    PortableHasher::new(id, Seed::from(seed))
}

impl<const HASHER: u16> Subject for Filter<HASHER> {
    const NAME: &'static str = if HASHER == HasherId::Xxh3 as u16 { "filter, xxh3" } else { "filter, siphash" };

    fn new(bits: u64, probes: u32, seed: u128) -> Self {
        Filter(BloomFilter::builder().bits(bits).probes(probes).hasher(hasher(HASHER, seed)).build().expect("in range"))
    }

    fn insert(&mut self, key: &[u8]) {
        self.0.insert(key);
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.0.contains(key)
    }

    fn ones(&self) -> u64 {
        self.0.ones()
    }
}

/// Positions with a name for the printed table, from a scheme of the library or a bad scheme of
/// this file.
pub trait Named: Sized {
    const NAME: &'static str;
    const VARIANT: Variant = Variant::Standard;

    fn new(bits: u64, probes: u32) -> Self;
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64>;
}

macro_rules! named {
    ($scheme:ident, $label:literal, $variant:ident) => {
        impl Named for $scheme {
            const NAME: &'static str = $label;
            const VARIANT: Variant = Variant::$variant;

            fn new(bits: u64, probes: u32) -> Self {
                Scheme::new(bits, probes).expect("in range")
            }

            fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
                Scheme::positions(self, hash)
            }
        }
    };
}

named!(Standard, "standard scheme", Standard);
named!(Classic, "classic scheme", Classic);

/// A plain bit vector whose positions come from a scheme.
pub struct Positions<S> {
    scheme: S,
    hasher: PortableHasher,
    words: Vec<u64>,
}

impl<S: Named> Subject for Positions<S> {
    const NAME: &'static str = S::NAME;
    const VARIANT: Variant = S::VARIANT;

    fn new(bits: u64, probes: u32, seed: u128) -> Self {
        let scheme = S::new(bits, probes);
        Positions { scheme, hasher: hasher(HasherId::Xxh3 as u16, seed), words: vec![0; bits.div_ceil(64) as usize] }
    }

    fn insert(&mut self, key: &[u8]) {
        let words = &mut self.words;
        self.scheme.positions(self.hasher.hash(key)).for_each(|p| words[(p / 64) as usize] |= 1 << (p % 64));
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.scheme.positions(self.hasher.hash(key)).all(|p| self.words[(p / 64) as usize] >> (p % 64) & 1 == 1)
    }

    fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Defines deliberately bad positions, which are tested against the law of the standard filter.
macro_rules! bad_scheme {
    ($(#[$doc:meta])* $name:ident, $label:literal, $second:expr) => {
        $(#[$doc])*
        pub struct $name {
            bits: u64,
            probes: u32,
        }

        impl Named for $name {
            const NAME: &'static str = $label;

            fn new(bits: u64, probes: u32) -> Self {
                $name { bits, probes }
            }

            fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
                let (bits, hash) = (u128::from(self.bits), u128::from(hash));
                let (first, second): (u128, u128) = (hash % (1 << 64) % bits, $second(hash >> 64) % bits);
                (0..u128::from(self.probes)).map(move |i| ((first + i * second) % bits) as u64)
            }
        }
    };
}

bad_scheme!(
    /// `h1 + i h2 mod m`, as in most libraries: the rate cannot fall below about 6n/m^2.
    DoubleHashing,
    "BAD: double hashing",
    |second: u128| second
);

bad_scheme!(
    /// Double hashing with h2 = 0, so that all probes of an item have one position.
    OneProbe,
    "BAD: h2 = 0",
    |_: u128| 0u128
);
