//! The number of keys offered to a filter, and the number of these offers that set a bit.

use crate::bulk::BatchAnswers;

/// The number of keys offered to a filter, and the number of these offers that set a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) changed: u64,
    pub(crate) origin: Origin,
}

/// Where a filter's bits come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// All set bits come from counted offers.
    #[default]
    Offered,
    /// The bits come from a union, so there are only bounds on the number of items.
    Merged,
    /// The bits come from an intersection.
    Intersection {
        /// The number of offers that certainly do not belong to the filter's keys. At the time of
        /// the intersection, this is the sum of both filters' offers, minus the smaller of their
        /// upper bounds on the number of keys.
        excluded: u64,
    },
}

impl Counts {
    pub(crate) fn is_merged(self) -> bool {
        self.origin != Origin::Offered
    }

    /// For an intersection, the number of offers that certainly do not belong to its keys; `None`
    /// for other filters.
    pub(crate) fn excluded(self) -> Option<u64> {
        if let Origin::Intersection { excluded } = self.origin { Some(excluded) } else { None }
    }

    /// An upper bound on the number of distinct keys.
    pub(crate) fn most_items(self) -> u64 {
        // A saturated count is no upper bound.
        if self.offered == u64::MAX { u64::MAX } else { self.offered.saturating_sub(self.excluded().unwrap_or(0)) }
    }

    /// Counts a batch of offered keys; `new` says which of them were new. The sums saturate,
    /// because the counts in a file may be arbitrarily large.
    pub(crate) fn add(&mut self, offered: usize, new: &BatchAnswers) {
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.offered = self.offered.saturating_add(offered as u64);
        self.changed = self.changed.saturating_add(changed.into());
    }
}

/// The methods of filters that report their `counts`.
macro_rules! count_methods {
    () => {
        /// The number of insertions. An insertion counts even if the filter already contains the
        /// key, so this number is at least the number of distinct keys. After a merge, this number
        /// is the sum of the insertions into both filters. `u64::MAX` means that the number is not
        /// known.
        pub fn offered(&self) -> u64 {
            self.counts.offered
        }

        /// The number of insertions that set a bit. This number is at most the number of distinct
        /// keys, and nearly equal to it while the rate is small.
        ///
        /// If [`is_merged`](Self::is_merged) is true, this number is only a lower bound on the
        /// number of distinct keys, which may be much higher. After a union, the result is the
        /// larger of the values that the two filters had. After an intersection, this number is 0.
        /// Later insertions that set a bit increase this number.
        pub fn changed(&self) -> u64 {
            self.counts.changed
        }

        /// Returns true if the filter is the result of a union or an intersection, was converted
        /// from a filter shared by threads, or was recovered after a crash. For such a filter,
        /// [`changed`](Self::changed) is not the number of insertions that set a bit. Therefore,
        /// the number of set bits cannot be checked against the number of insertions.
        pub fn is_merged(&self) -> bool {
            self.counts.is_merged()
        }

        /// Returns true if the filter is an intersection, or was merged with an intersection. The
        /// number of items in an intersection cannot be estimated from the number of set bits,
        /// because bits that were set in both filters by chance stay set. The result stays true
        /// until the filter is cleared. A [`ScalableFilter`](crate::ScalableFilter) is never an
        /// intersection, because such filters cannot be intersected.
        pub fn is_intersection(&self) -> bool {
            self.counts.excluded().is_some()
        }

        /// An upper bound on the number of distinct keys in the filter. If the filter is not an
        /// intersection, the bound is [`offered`](Self::offered), the number of insertions. For an
        /// intersection of two filters, the bound is the smaller bound of the two filters, plus the
        /// number of later insertions.
        pub fn most_items(&self) -> u64 {
            self.counts.most_items()
        }
    };
}
pub(crate) use count_methods;
