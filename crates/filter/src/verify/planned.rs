//! Verifying filters that were planned for a number of items.

use super::{Measurement, Verification, shows_more_than};
use crate::FilterOf;
use crate::backing::Counted;
use crate::hash::KeyHasher;
use crate::scheme::Scheme;
use truebloom_math::Error;

impl<S: Scheme, H: KeyHasher + Sync, K: Counted> FilterOf<S, H, K> {
    pub(crate) fn verified(&self) -> Result<Verification, Error> {
        Verification::of(self)
    }

    pub(crate) fn measured(&self, seed: u64) -> Measurement<'_> {
        Measurement::new(self, seed)
    }
}

impl<S: Scheme, H: KeyHasher, K: Counted> FilterOf<S, H, K> {
    /// Returns true if the filter is known to hold more distinct items than it was planned for. In
    /// this case, the planned rate no longer applies. Returns false if the filter has no capacity.
    ///
    /// The number of distinct items for which the filter was planned is its
    /// [`capacity`](Self::capacity). The result is false while the number of insertions
    /// ([`offered`](Self::offered)) is at most the capacity. After more insertions, the result
    /// depends on how the filter was made:
    /// * For a filter that was never merged, the result is true if the number of insertions that
    ///   set a new bit is above the capacity. It is also true if more bits are set than the planned
    ///   number of items can set. For such a filter, a result of true is always correct.
    /// * For a [merged](Self::is_merged) filter that is not an intersection, the method also tests
    ///   the number of set bits. For such a filter, a result of true is wrong with a probability of
    ///   at most one in a million ([`ALPHA`](super::ALPHA)).
    /// * For an [intersection](Self::is_intersection), the method counts only insertions after the
    ///   intersection. The result is true if the number of these insertions that set a bit is above
    ///   the capacity.
    pub fn is_over_capacity(&self) -> bool {
        let Some(capacity) = self.capacity() else { return false };
        if self.most_items() <= capacity || self.is_intersection() {
            return self.changed() > capacity;
        }
        self.changed() > capacity
            || self.ones() > capacity.saturating_mul(self.probes().into())
            || (self.is_merged() && shows_more_than(self, capacity))
    }
}
