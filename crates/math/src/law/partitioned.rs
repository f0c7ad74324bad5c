//! The partitioned filter: one position in each of k slices.

use super::inclusion::{Inclusion, Items, Query};
use super::ratios::Ratios;
use super::slices::Slices;
use super::{Law, Variant};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Fill, Fpr, Rate, Result};
use alloc::format;

/// The law of filters in which each key has one uniform position in each of k slices. A slice has
/// `bits / probes` bits. The first `bits mod probes` slices are one bit longer than the others.
///
/// The slices are independent. So the expected rate after n items is the product of
/// `1 - (1 - 1/size)^n` over all slices, where `size` is the number of bits of the slice. With
/// equal slices, the product is Bloom's formula `(1 - (1 - k/m)^n)^k`. For classic filters, this
/// formula is only an upper bound (called U in Burns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioned {
    bits: u64,
    probes: u32,
}

impl Partitioned {
    /// Creates the law of filters of this size.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range, or if `probes` exceeds `bits`.
    pub fn new(bits: u64, probes: u32) -> Result<Partitioned> {
        Variant::Partitioned.check(bits, probes)?;
        Ok(Partitioned { bits, probes })
    }
}

impl Law for Partitioned {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        Variant::Partitioned.fpr(self.bits, items, self.probes)
    }

    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let _work = work::begin();
        Variant::Partitioned.meets(self.bits, items, self.probes, rate, Some(hash_bits))
    }

    /// Returns the product of the fill ratios of the slices, which is the exact rate. `ones` has
    /// one count for each slice, in order.
    fn fpr_at_fill(&self, ones: &[u64]) -> Result<Option<Fpr>> {
        if ones.len() != self.probes as usize {
            return out_of_range(
                "ones",
                format!("a list of {} counts", ones.len()),
                format!("a list with one count for each of the {} slices", self.probes),
            );
        }
        let [(longer, count), (shorter, _)] = Slices { bits: self.bits, items: 1, probes: self.probes }.sizes();
        let size = |slice: usize| if slice < count as usize { longer } else { shorter };
        if let Some(slice) = (0..ones.len()).find(|&slice| ones[slice] > size(slice)) {
            return out_of_range("ones", ones[slice], format!("at most {} in slice {}", size(slice), slice + 1));
        }
        Ratios::new(ones.iter().enumerate().map(|(slice, &ones)| (ones, size(slice)))).rate().map(Some)
    }

    /// Returns the mean and the variance of the total number of set bits. The slices are
    /// independent, so their means and their variances add up.
    fn fill(&self, items: u64) -> Result<Option<Fill>> {
        let mut total = Fill::empty(self.bits);
        for (size, count) in (Slices { bits: self.bits, items, probes: self.probes }).sizes() {
            if count > 0 {
                let slice = Fill::of(Inclusion { query: Query::Independent, placement: Items::Independent, bits: size, items, probes: 1 })?;
                total = total.plus(&slice, f64::from(count));
            }
        }
        Ok(Some(total))
    }
}
