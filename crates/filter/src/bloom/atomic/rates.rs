//! The counts and rates of a shared filter, while threads go on inserting.

use super::AtomicFilterOf;
use crate::bits::count_ones;
use crate::bloom::rates::{above_hash_floor, estimated_items, expected_at, or_bounded};
use crate::hash::KeyHasher;
use crate::scheme::Scheme;
use crate::sync::{Ordering::Acquire, fence};
use alloc::boxed::Box;
use truebloom_math::{Error, Fpr, Law};

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    /// The present number of set bits. The time is linear in the number of bits.
    pub fn ones(&self) -> u64 {
        count_ones(self.bits.words())
    }

    /// The share of bits that are set, from 0 to 1. The time is linear in the number of bits.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits() as f64
    }

    /// Returns true if no bit is set. The method stops at the first set bit. For an empty filter,
    /// the time is linear in the number of bits.
    pub fn is_empty(&self) -> bool {
        self.bits.words().iter().all(|word| crate::word::Reads::read(word) == 0)
    }

    /// The present false-positive rate of this filter: see [`FilterOf::fpr`](crate::FilterOf::fpr).
    /// The result may include some of the bits that other threads set during the call. The time is
    /// linear in the number of bits, and no memory is allocated.
    ///
    /// ```
    /// use truebloom::AtomicBloomFilter;
    /// let shared = AtomicBloomFilter::new(1_000, 0.01)?;
    /// shared.insert_all(0..500);
    /// assert!(shared.fpr().upper < 0.001);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn fpr(&self) -> Fpr {
        let rate = self.scheme().rate_of(self.bits.words());
        fence(Acquire);
        // The count is read after the bits. An insertion is counted before it sets a bit, so the
        // count is an upper bound.
        above_hash_floor::<H>(or_bounded(rate, || self.fill(), self.probes()), self.offered())
    }

    /// The expected false-positive rate of the filter when it holds as many items as its capacity:
    /// see [`FilterOf::expected_fpr`](crate::FilterOf::expected_fpr).
    ///
    /// ```
    /// use truebloom::AtomicBloomFilter;
    /// let shared = AtomicBloomFilter::new(1_000, 0.01)?;
    /// assert!(shared.expected_fpr()?.is_some_and(|expected| expected.upper <= 0.01));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the exact rate would take too long to compute, which happens only with
    /// hundreds of probes.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        self.capacity().map(|items| self.expected_fpr_at(items)).transpose()
    }

    /// The expected false-positive rate of the filter when it holds a given number of distinct
    /// items, `items`: see [`FilterOf::expected_fpr_at`](crate::FilterOf::expected_fpr_at).
    ///
    /// # Errors
    /// Returns an error if the exact rate would take too long to compute, which happens only with
    /// hundreds of probes.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        expected_at::<S, H>(self.scheme(), items)
    }

    /// The probability law of the filter. For any number of items, the law gives the expected
    /// false-positive rate, or bounds on this rate: see [`FilterOf::law`](crate::FilterOf::law).
    pub fn law(&self) -> Box<dyn Law> {
        self.scheme().law()
    }

    /// An estimate of the number of distinct items, computed from the number of set bits: see
    /// [`FilterOf::estimated_items`](crate::FilterOf::estimated_items). The time is linear in the
    /// number of bits.
    pub fn estimated_items(&self) -> Option<f64> {
        let tells_rate = || matches!(self.scheme().rate_of(self.bits.words()), Ok(Some(_)));
        if self.excluded.is_some() { None } else { estimated_items(self.scheme(), self.ones(), tells_rate) }
    }
}
