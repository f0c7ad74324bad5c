//! Union and intersection.

use super::{Counts, FilterOf, Head, Origin};
use crate::backing::{Backing, Counted, Writable};
use crate::bits::count_pairs;
use crate::error::MergeError;
use crate::hash::{KeyHasher, check_alike};
use crate::scheme::{Scheme, Storage};

impl<S: Scheme, H: KeyHasher, K: Writable> FilterOf<S, H, K> {
    /// Adds all keys of `other`. The result has the same bits as a single filter into which the
    /// keys of both filters were inserted.
    ///
    /// The filter keeps its own capacity and its own requested rate. After the union,
    /// [`is_over_capacity`](Self::is_over_capacity) returns true if the filter is known to hold
    /// more distinct items than its capacity. The time is linear in the number of bits.
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
    /// Returns an error if the filters differ in bits, probes, scheme, hasher or seed. Then the
    /// filter is unchanged.
    pub fn union_with<V: Backing>(&mut self, other: &FilterOf<S, H, V>) -> Result<(), MergeError> {
        // The union contains all keys of each filter, so it holds at least as many keys as the
        // larger filter.
        let changed = self.counts.changed.max(other.counts.changed);
        let most = self.most_items().saturating_add(other.most_items());
        let is_intersection = self.is_intersection() || other.is_intersection();
        self.merge(other, changed, is_intersection.then_some(most), |ours, theirs| ours | theirs)
    }

    /// Keeps only the bits that are set in both filters. The filter then contains every key that
    /// was inserted into both filters. For keys that were inserted into neither filter, the
    /// false-positive rate is [`fpr`](Self::fpr). For keys that were inserted into only one of the
    /// filters, the false-positive rate can be higher than [`fpr`](Self::fpr). The rate for these
    /// keys is at most the rate that the other filter had before the intersection.
    ///
    /// After an intersection, the number of keys cannot be estimated from the number of set bits.
    /// From then on, [`is_intersection`](Self::is_intersection) returns true until the filter is
    /// cleared, even after the filter is saved and opened. Before the intersection, each filter has
    /// its own value of [`most_items`](Self::most_items). After the intersection, the value is the
    /// smaller of the two.
    ///
    /// The time is linear in the number of bits.
    ///
    /// # Errors
    /// Returns an error if the filters differ in bits, probes, scheme, hasher or seed.
    pub fn intersect_with<V: Backing>(&mut self, other: &FilterOf<S, H, V>) -> Result<(), MergeError> {
        // The two filters may have no key in common, so the lower bound on the number of keys is 0.
        self.merge(other, 0, Some(self.most_items().min(other.most_items())), |ours, theirs| ours & theirs)
    }

    /// Merges the filters. For an intersection, `most` is an upper bound on the number of items.
    fn merge<V: Backing>(
        &mut self,
        other: &FilterOf<S, H, V>,
        changed: u64,
        most: Option<u64>,
        combine: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        let label = self.head().label.of_merge(self.offered() > 0, &other.head().label, other.offered() > 0);
        self.storage.combine(other.words(), combine);
        // This sum is used for an intersection, too. A key can be a false positive because it has
        // the same hash as a key of either filter. To bound the probability of this, `fpr` needs an
        // upper bound on the number of keys in both filters together.
        let offered = self.counts.offered.saturating_add(other.counts.offered);
        let origin = most.map_or(Origin::Merged, |most| Origin::Intersection { excluded: offered.saturating_sub(most) });
        self.counts = Counts { offered, changed, origin };
        if self.head().label != label
            && let Some(head) = K::own_head(&mut self.head)
        {
            head.label = label;
        }
        Ok(())
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// Counts the set bits of the union with `other`, without changing either filter. The time is
    /// linear in the number of bits.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut here = BloomFilter::new(1_000, 0.01)?;
    /// let mut there = here.clone();
    /// here.insert("a");
    /// there.insert("b");
    /// let ones = here.ones_of_union(&there)?;
    /// here.union_with(&there)?;
    /// assert_eq!(ones, here.ones());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the filters differ in bits, probes, scheme, hasher or seed.
    pub fn ones_of_union<V: Counted>(&self, other: &FilterOf<S, H, V>) -> Result<u64, MergeError>
    where
        K: Counted,
    {
        self.check_mergeable(other)?;
        Ok(count_pairs(self.words(), other.words(), |ours, theirs| ours | theirs))
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// Returns an error unless the two filters can be merged.
    pub(crate) fn check_mergeable<V: Backing>(&self, other: &FilterOf<S, H, V>) -> Result<(), MergeError> {
        check_mergeable(self.head(), other.head())
    }
}

/// Returns an error unless two filters with these parameters give every key the same positions.
pub(crate) fn check_mergeable<S: Scheme, H: KeyHasher>(ours: &Head<S, H>, theirs: &Head<S, H>) -> Result<(), MergeError> {
    let (our_scheme, their_scheme) = (&ours.scheme, &theirs.scheme);
    if our_scheme.bits() != their_scheme.bits() {
        return Err(MergeError::Bits { ours: our_scheme.bits(), theirs: their_scheme.bits() });
    }
    if our_scheme.probes() != their_scheme.probes() {
        return Err(MergeError::Probes { ours: our_scheme.probes(), theirs: their_scheme.probes() });
    }
    if our_scheme.id() != their_scheme.id() {
        return Err(MergeError::Scheme { ours: our_scheme.id().name(), theirs: their_scheme.id().name() });
    }
    check_alike(&ours.hasher, &theirs.hasher)
}
