//! Union and intersection.

use super::{Counts, FilterOf};
use crate::bits::Storage;
use crate::error::MergeError;
use crate::hash::{KeyHasher, check_alike};
use crate::scheme::Scheme;

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// Adds all keys of `other`: bit for bit the filter that both key sets inserted into one would have given.
    ///
    /// Capacity and rate stay those of `self`, so that [`is_over_capacity`](Self::is_over_capacity) tells whether both fit. Linear in the bits.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut here = BloomFilter::new(1_000, 0.01)?;
    /// let mut there = here.clone(); // same seed
    /// here.insert("a");
    /// there.insert("b");
    /// here.union_with(&there)?;
    /// assert!(here.contains("a") && here.contains("b"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The filters differ in bits, probes, scheme, hasher or seed.
    pub fn union_with(&mut self, other: &FilterOf<S, H>) -> Result<(), MergeError> {
        // Every key of either is in the union, so the union holds at least as many as either.
        let changed = self.counts.changed.max(other.counts.changed);
        let most = self.most_items().saturating_add(other.most_items());
        let is_intersection = self.is_intersection() || other.is_intersection();
        self.merge(other, changed, is_intersection.then_some(most), |ours, theirs| ours | theirs)
    }

    /// Keeps what both contain: every key that was inserted into both, and each other key at the rate [`fpr`](Self::fpr) if it was inserted
    /// into neither. Keys that were inserted into one of them pass at up to the other's rate, which may be higher.
    ///
    /// The filter is marked, in its file too, because its fill no longer tells how many keys it holds ([`is_intersection`](Self::is_intersection)): at most as many as the smaller of the two
    /// ([`most_items`](Self::most_items)).
    ///
    /// Linear in the bits.
    ///
    /// # Errors
    /// The filters differ in bits, probes, scheme, hasher or seed.
    pub fn intersect_with(&mut self, other: &FilterOf<S, H>) -> Result<(), MergeError> {
        // The two may have no key in common.
        self.merge(other, 0, Some(self.most_items().min(other.most_items())), |ours, theirs| ours & theirs)
    }

    /// `most` bounds the items where an intersection takes part.
    fn merge(
        &mut self,
        other: &FilterOf<S, H>,
        changed: u64,
        most: Option<u64>,
        combine: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        self.storage.combine(&other.storage, combine);
        // The sum for an intersection, too: a key whose hash equals that of any key of either may pass, and `fpr` counts that by `offered`.
        let offered = self.counts.offered.saturating_add(other.counts.offered);
        let label = self.counts.label.shared(other.counts.label);
        self.counts = Counts { offered, changed, merged: true, excluded: most.map(|most| offered.saturating_sub(most)), label };
        Ok(())
    }

    fn check_mergeable(&self, other: &FilterOf<S, H>) -> Result<(), MergeError> {
        if self.bits() != other.bits() {
            return Err(MergeError::Bits { ours: self.bits(), theirs: other.bits() });
        }
        if self.probes() != other.probes() {
            return Err(MergeError::Probes { ours: self.probes(), theirs: other.probes() });
        }
        let (ours, theirs) = (self.scheme.id(), other.scheme.id());
        if ours != theirs {
            return Err(MergeError::Scheme { ours: ours.name(), theirs: theirs.name() });
        }
        check_alike(&self.hasher, &other.hasher)
    }
}
