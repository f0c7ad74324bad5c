//! The standard filter: k independent positions, repeats allowed.

use super::inclusion::{Inclusion, Items, Query};
use super::ratios::Ratios;
use super::{Law, Variant};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Fill, Fpr, Rate, Result};
use alloc::format;

/// The law of filters in which items and queries have k independent uniform positions. A filter
/// with k independent hash functions follows this law.
///
/// The expected rate is `E[(X/m)^k]`. Here `m` is the number of bits, and `X` is the number of set
/// bits after n items. See Burns (56) and Grandi (9) in docs/PAPERS.md. The textbook formula
/// `(1 - (1 - 1/m)^(nk))^k` (Lehr) is the k-th power of the mean fill. By Jensen's inequality, the
/// textbook formula gives a lower bound on the expected rate. With one probe, the textbook formula
/// is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard {
    bits: u64,
    probes: u32,
}

impl Standard {
    /// Creates the law of filters of this size.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range. The number of probes may exceed the number of
    /// bits.
    pub fn new(bits: u64, probes: u32) -> Result<Standard> {
        Variant::Standard.check(bits, probes)?;
        Ok(Standard { bits, probes })
    }
}

impl Law for Standard {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        Variant::Standard.fpr(self.bits, items, self.probes)
    }

    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let _work = work::begin();
        Variant::Standard.meets(self.bits, items, self.probes, rate, Some(hash_bits))
    }

    /// Returns the rate `(ones / bits)^probes`. The result is exact, because the positions of a new
    /// key are independent of the set bits (Lehr; Dozier, Salamatian and Rubenstein).
    fn fpr_at_fill(&self, ones: &[u64]) -> Result<Option<Fpr>> {
        let ones = single_count(ones, self.bits)?;
        Ratios::power(ones, self.bits, self.probes).rate().map(Some)
    }

    fn fill(&self, items: u64) -> Result<Option<Fill>> {
        let (bits, probes) = (self.bits, self.probes);
        Fill::of(Inclusion { query: Query::Independent, placement: Items::Independent, bits, items, probes }).map(Some)
    }
}

/// Checks that there is one count, which is at most `bits`, and returns the count.
pub(super) fn single_count(ones: &[u64], bits: u64) -> Result<u64> {
    match ones {
        [ones] if *ones <= bits => Ok(*ones),
        [ones] => out_of_range("ones", ones, format!("at most the number of bits ({bits})")),
        _ => out_of_range("ones", format!("a list of {} counts", ones.len()), "one count for the whole filter"),
    }
}
