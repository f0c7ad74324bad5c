//! The classic filter: k distinct bits per item.

use super::inclusion::{Inclusion, Items, Query};
use super::ratios::Ratios;
use super::standard::single_count;
use super::{Law, Variant};
use crate::exact::work;
use crate::{Fill, Fpr, Rate, Result};

/// The law of k distinct positions, as proposed by Bloom in 1970. The formula for the expected rate
/// is (60) in Burns and (16) in Grandi (see docs/PAPERS.md). If k is close to the number that
/// minimizes the rate, the rate of a classic filter is slightly below the rate of a standard filter
/// of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classic {
    bits: u64,
    probes: u32,
}

impl Classic {
    /// Creates the law of filters of this size.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range, or if `probes` exceeds `bits`.
    pub fn new(bits: u64, probes: u32) -> Result<Classic> {
        Variant::Classic.check(bits, probes)?;
        Ok(Classic { bits, probes })
    }
}

impl Law for Classic {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        Variant::Classic.fpr(self.bits, items, self.probes)
    }

    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let _work = work::begin();
        Variant::Classic.meets(self.bits, items, self.probes, rate, Some(hash_bits))
    }

    /// Returns the rate `C(ones, k) / C(bits, k)`, computed exactly.
    fn fpr_at_fill(&self, ones: &[u64]) -> Result<Option<Fpr>> {
        let ones = single_count(ones, self.bits)?;
        let ratio = |i: u64| (ones.saturating_sub(i), self.bits - i);
        Ratios::new((0..u64::from(self.probes)).map(ratio)).rate().map(Some)
    }

    fn fill(&self, items: u64) -> Result<Option<Fill>> {
        let (bits, probes) = (self.bits, self.probes);
        Fill::of(Inclusion { query: Query::Distinct, placement: Items::Distinct, bits, items, probes }).map(Some)
    }
}
