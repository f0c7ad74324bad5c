//! Union.

use super::BlockedBloomFilter;
use crate::bloom::Counts;
use crate::error::MergeError;
use crate::hash::{KeyHasher, check_alike};

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// Adds all keys of `other`: bit for bit the filter that both key sets inserted into one would have given. Capacity and rate stay those of `self`.
    ///
    /// An error if the filters differ in bits, probes, scheme (those of drafts have another), hasher or seed. Linear in the bits.
    ///
    /// ```
    /// use truebloom::BlockedBloomFilter;
    /// let mut here = BlockedBloomFilter::new(1_000, 0.01)?;
    /// let mut there = here.clone(); // same seed
    /// here.insert("a");
    /// there.insert("b");
    /// here.union_with(&there)?;
    /// assert!(here.contains("a") && here.contains("b"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn union_with(&mut self, other: &BlockedBloomFilter<H>) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        self.words.iter_mut().zip(other.words.iter()).for_each(|(word, other)| *word |= other);
        self.counts = Counts {
            offered: self.counts.offered.saturating_add(other.counts.offered),
            // Every key of either is in the union, so the union holds at least as many as either.
            changed: self.counts.changed.max(other.counts.changed),
            merged: true,
        };
        Ok(())
    }

    fn check_mergeable(&self, other: &BlockedBloomFilter<H>) -> Result<(), MergeError> {
        if self.bits() != other.bits() {
            return Err(MergeError::Bits { ours: self.bits(), theirs: other.bits() });
        }
        if self.probes() != other.probes() {
            return Err(MergeError::Probes { ours: self.probes(), theirs: other.probes() });
        }
        let (ours, theirs) = (self.scheme.id().name(), other.scheme.id().name());
        if ours != theirs {
            return Err(MergeError::Scheme { ours, theirs });
        }
        check_alike(&self.hasher, &other.hasher)
    }
}
