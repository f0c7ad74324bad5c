//! Scheme 9: double hashing in slices, the partition scheme of Kirsch and Mitzenmacher.

use super::Progression;
use super::progression::residues;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::scheme::{Scheme, SchemeId, check_probes};
use alloc::boxed::Box;
use truebloom_math::{Law, law};

/// The filter is divided into one slice per probe. In slice i (from 0), a key's position is
/// `h1 + i h2`, modulo the number of bits in a slice (Kirsch and Mitzenmacher, section 3). Here, h1
/// and h2 are two hashes of the key, and h2 may be 0. A slice can have any number of bits. All
/// slices have the same size, so the number of bits of the filter must be a multiple of the number
/// of probes.
///
/// With this scheme, filters with equally many set bits can have different rates. Two keys with
/// equal h1 and equal h2 have equal positions. With n keys and m' bits per slice, the rate
/// therefore cannot fall below about `n / m'^2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionDouble {
    law: law::PartitionDouble,
    slice: u64,
    probes: u32,
}

impl PartitionDouble {
    /// The positions of a key with the given h1 and h2. Both numbers are first reduced modulo the
    /// number of bits in a slice.
    #[inline]
    pub fn of_residues(&self, h1: u64, h2: u64) -> impl Iterator<Item = u64> {
        self.in_slices((h1 % self.slice, h2 % self.slice))
    }

    /// The numbers h1 and h2 of a key, which determine its positions. The two numbers are
    /// independent. Each number is uniform from 0 to one less than the number of bits in a slice.
    #[inline]
    #[must_use]
    pub fn residues(&self, hash: KeyHash) -> (u64, u64) {
        residues(hash, self.slice, 0)
    }

    #[inline]
    fn in_slices(&self, residues: (u64, u64)) -> impl Iterator<Item = u64> {
        let starts = (0..).map(move |i: u64| i * self.slice);
        Progression::new(self.slice, self.probes, residues, [0, 0, 0]).zip(starts).map(|(position, start)| start + position)
    }
}

impl Scheme for PartitionDouble {
    const ID: SchemeId = SchemeId::PartitionDouble;

    /// Returns an error if `bits` or `probes` is out of range, or if `bits` is not a multiple of
    /// `probes`.
    fn new(bits: u64, probes: u32) -> Result<PartitionDouble, BuildError> {
        check_probes(probes)?;
        let (slice, rest) = (bits / u64::from(probes), bits % u64::from(probes));
        if rest > 0 {
            return Err(BuildError::Slices { bits, probes });
        }
        Ok(PartitionDouble { law: law::PartitionDouble::new(slice, probes)?, slice, probes })
    }

    #[inline]
    fn bits(&self) -> u64 {
        self.slice * u64::from(self.probes)
    }

    #[inline]
    fn probes(&self) -> u32 {
        self.probes
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        self.in_slices(self.residues(hash))
    }

    fn law(&self) -> Box<dyn Law> {
        Box::new(self.law)
    }
}
