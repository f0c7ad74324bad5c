//! What a filter counts of the keys that it was offered.

use crate::bulk::BatchAnswers;

/// What a filter counts of the keys that it was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) changed: u64,
    pub(crate) origin: Origin,
}

/// Where a filter's bits come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From offers, each of which was counted.
    #[default]
    Offered,
    /// From a union, so that the number of items has only bounds.
    Merged,
    /// From an intersection.
    Intersection {
        /// Offers that are certainly not of its keys: those beyond its smallest input.
        excluded: u64,
    },
}

impl Counts {
    pub(crate) fn is_merged(self) -> bool {
        self.origin != Origin::Offered
    }

    /// For an intersection, the offers that are certainly not of its keys; `None` for other
    /// filters.
    pub(crate) fn excluded(self) -> Option<u64> {
        if let Origin::Intersection { excluded } = self.origin { Some(excluded) } else { None }
    }

    /// Upper bound on the distinct keys held.
    pub(crate) fn most_items(self) -> u64 {
        // A saturated count bounds nothing.
        if self.offered == u64::MAX { u64::MAX } else { self.offered.saturating_sub(self.excluded().unwrap_or(0)) }
    }

    /// Counts a batch of offered keys; `new` says which of them were new. The sums saturate,
    /// because a file may contain any count.
    pub(crate) fn add(&mut self, offered: usize, new: &BatchAnswers) {
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.offered = self.offered.saturating_add(offered as u64);
        self.changed = self.changed.saturating_add(changed.into());
    }
}

/// The methods of filters that report their `counts`.
macro_rules! count_methods {
    () => {
        /// How often keys were offered, repeats included: at least the number of distinct keys.
        /// After a merge, it is the sum over both filters.
        pub fn offered(&self) -> u64 {
            self.counts.offered
        }

        /// How many offers set a bit: at most the number of distinct keys, and nearly as many while
        /// the rate is small. After a merge, it is only a lower bound.
        pub fn changed(&self) -> u64 {
            self.counts.changed
        }

        /// Whether the filter is the result of a union or an intersection. Then only bounds on its
        /// number of keys are known, and its fill cannot be tested against a prediction.
        pub fn is_merged(&self) -> bool {
            self.counts.is_merged()
        }

        /// Whether an intersection went into the filter. Its fill then says nothing about the
        /// number of items, because bits that two sets share by chance stay set. The mark stays
        /// until the filter is cleared. Filters that grow cannot be intersected.
        pub fn is_intersection(&self) -> bool {
            self.counts.excluded().is_some()
        }

        /// The largest number of distinct keys that it can hold: the offers; for an intersection,
        /// those of its smallest input and what was inserted since.
        pub fn most_items(&self) -> u64 {
            self.counts.most_items()
        }
    };
}
pub(crate) use count_methods;
