//! What a filter remembers of the keys it was offered.

use crate::bulk::BatchAnswers;

/// What a filter remembers of the keys it was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) changed: u64,
    pub(crate) origin: Origin,
}

/// How a filter came to its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// By counted offers.
    #[default]
    Offered,
    /// By a union, so that its items are only bounds.
    Merged,
    /// By an intersection.
    Intersection {
        /// Offers that are certainly not its keys: those beyond its smallest input.
        excluded: u64,
    },
}

impl Counts {
    pub(crate) fn is_merged(self) -> bool {
        self.origin != Origin::Offered
    }

    /// For an intersection, offers that are certainly not its keys; `None` for other filters.
    pub(crate) fn excluded(self) -> Option<u64> {
        if let Origin::Intersection { excluded } = self.origin { Some(excluded) } else { None }
    }

    /// Upper bound on the distinct keys held.
    pub(crate) fn most_items(self) -> u64 {
        // A count at its end says nothing.
        if self.offered == u64::MAX { u64::MAX } else { self.offered.saturating_sub(self.excluded().unwrap_or(0)) }
    }

    /// A batch of keys was offered, of which these were new. Saturating, because a file may contain
    /// any count.
    pub(crate) fn add(&mut self, offered: usize, new: &BatchAnswers) {
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.offered = self.offered.saturating_add(offered as u64);
        self.changed = self.changed.saturating_add(changed.into());
    }
}

/// The methods of filters that report their `counts`.
macro_rules! count_methods {
    () => {
        /// Offers of keys, repeats included: at least the number of distinct keys. After a merge,
        /// the sum over both filters.
        pub fn offered(&self) -> u64 {
            self.counts.offered
        }

        /// Offers that set a bit: at most the number of distinct keys, and nearly as many while the
        /// rate is small. After a merge, only a lower bound.
        pub fn changed(&self) -> u64 {
            self.counts.changed
        }

        /// Whether the filter came out of a union or an intersection, so that only bounds on its
        /// number of keys are known, and its fill obeys the law of no particular number.
        pub fn is_merged(&self) -> bool {
            self.counts.is_merged()
        }

        /// Whether an intersection went into the filter. Its fill then gives no number of items,
        /// because bits that two sets share by chance stay set. Stays until the filter is cleared.
        /// Filters that grow have no intersection.
        pub fn is_intersection(&self) -> bool {
            self.counts.excluded().is_some()
        }

        /// The most distinct keys it can hold: the offers, and for an intersection those of its
        /// smallest input and what was inserted since.
        pub fn most_items(&self) -> u64 {
            self.counts.most_items()
        }
    };
}
pub(crate) use count_methods;
