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
    /// Returns true if the filter holds more distinct items than it was planned for. The expected
    /// rate then exceeds the proven rate. Returns false if the filter has no capacity.
    ///
    /// For a filter that was not merged, true is always correct: more than `capacity` offers set a
    /// bit, or more bits are set than `capacity` items can set. The items of a merged filter cannot
    /// be counted, so the method tests the number of set bits. For a merged filter, true is wrong
    /// with probability at most [`ALPHA`](super::ALPHA). For an intersection, only keys that were
    /// inserted after the intersection are considered. For a filter that was not merged, the result
    /// is false if the filter holds exactly as many items as its capacity. For every filter, the
    /// result is false while `offered() <= capacity`.
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
