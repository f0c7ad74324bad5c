//! Positions derived from two hashes: `h1 + i h2 + f(i)` modulo the bits, by finite differences.

use crate::hash::KeyHash;
use crate::scheme::WordStream;

/// An iterator over the positions of one key, from two hashes h1 and h2. Position i (from 0) is
/// `h1 + i h2 + f(i)`, modulo the number of bits. The polynomial f depends on the scheme. The
/// degree of f is at most 3.
///
/// Each step updates the finite differences of the positions, which takes only three additions.
#[derive(Clone, Debug)]
pub struct Progression {
    position: u64,
    differences: [u64; 3],
    bits: u64,
    left: u32,
}

impl Progression {
    /// Starts from the residues h1 and h2, both below `bits`, and the first three differences of f
    /// at 0.
    #[inline]
    pub(super) fn new(bits: u64, probes: u32, (h1, h2): (u64, u64), offsets: [u64; 3]) -> Progression {
        let [first, second, third] = offsets.map(|difference| if difference < bits { difference } else { difference % bits });
        Progression { position: h1, differences: [add(h2, first, bits), second, third], bits, left: probes }
    }
}

impl Iterator for Progression {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let (position, [first, second, third]) = (self.position, self.differences);
        self.position = add(position, first, self.bits);
        self.differences = [add(first, second, self.bits), add(second, third, self.bits), third];
        Some(position)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Progression {}

/// The sum modulo m of two numbers below m, for m up to 2^62.
#[inline]
fn add(a: u64, b: u64, bits: u64) -> u64 {
    let sum = a + b;
    if sum < bits { sum } else { sum - bits }
}

/// The residues of a hash: h1 is uniform below `bits`, and h2 is uniform from `lowest` to
/// `bits - 1`. The residues are drawn separately from the stream of words, and are exactly uniform
/// and independent if the words are.
#[inline]
pub(super) fn residues(hash: KeyHash, bits: u64, lowest: u64) -> (u64, u64) {
    let mut words = WordStream::new(hash);
    let h1 = words.below(bits);
    (h1, lowest + words.below(bits - lowest))
}

/// Defines a scheme of this family: its type, its number, the smallest h2, the first three
/// differences of f at 0, and its law.
macro_rules! progression_scheme {
    ($(#[$doc:meta])* $name:ident, $lowest:literal, $differences:expr, $step:ident, $offsets:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            law: truebloom_math::law::Double,
            bits: u64,
            probes: u32,
        }

        impl $name {
            /// The positions of a key with the given h1 and h2. Both numbers are first reduced
            /// modulo the number of bits.
            #[inline]
            pub fn of_residues(&self, h1: u64, h2: u64) -> $crate::scheme::Progression {
                $crate::scheme::Progression::new(self.bits, self.probes, (h1 % self.bits, h2 % self.bits), $differences)
            }

            /// The positions of a key.
            #[inline]
            pub(crate) fn progression(&self, hash: $crate::KeyHash) -> $crate::scheme::Progression {
                $crate::scheme::Progression::new(self.bits, self.probes, self.residues(hash), $differences)
            }

            /// The numbers h1 and h2 of a key, which determine its positions. The two numbers are
            /// uniform and independent. Both numbers are below the number of bits. In the scheme
            /// `DoubleNonzero`, h2 is at least 1.
            #[inline]
            pub fn residues(&self, hash: $crate::KeyHash) -> (u64, u64) {
                $crate::scheme::two_hash::progression::residues(hash, self.bits, $lowest)
            }
        }

        impl $crate::scheme::Scheme for $name {
            const ID: $crate::scheme::SchemeId = $crate::scheme::SchemeId::$name;

            fn new(bits: u64, probes: u32) -> Result<Self, $crate::BuildError> {
                use truebloom_math::law;
                $crate::scheme::check_probes(probes)?;
                let law = law::Double::new(bits, probes, law::Step::$step, law::Offsets::$offsets)?;
                Ok($name { law, bits, probes })
            }

            #[inline]
            fn positions(&self, hash: $crate::KeyHash) -> impl Iterator<Item = u64> {
                self.progression(hash)
            }

            $crate::scheme::of_fields!();
        }
    };
}

pub(super) use progression_scheme;
