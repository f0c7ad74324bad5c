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
    /// By the offers that were counted.
    #[default]
    Offered,
    /// By a union, so that its items are only bounds.
    Merged,
    /// An intersection went into it.
    Intersection {
        /// Offers that are surely none of its keys, those beyond its smallest input.
        excluded: u64,
    },
}

impl Counts {
    pub(crate) fn is_merged(self) -> bool {
        self.origin != Origin::Offered
    }

    /// Of an intersection: offers that are surely none of its keys. `None` for other filters.
    pub(crate) fn excluded(self) -> Option<u64> {
        if let Origin::Intersection { excluded } = self.origin { Some(excluded) } else { None }
    }

    /// At most so many distinct keys are held.
    pub(crate) fn most_items(self) -> u64 {
        // A count at its end says nothing.
        if self.offered == u64::MAX { u64::MAX } else { self.offered.saturating_sub(self.excluded().unwrap_or(0)) }
    }

    /// A batch of keys was offered, of which these were new. Saturating, as a file may bring any count along.
    pub(crate) fn add(&mut self, offered: usize, new: &BatchAnswers) {
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.offered = self.offered.saturating_add(offered as u64);
        self.changed = self.changed.saturating_add(changed.into());
    }
}

/// What filters say of their `counts`.
macro_rules! count_methods {
    () => {
        /// Offers of keys, repeats included: at least the number of distinct keys. After a merge, the sum over both filters.
        pub fn offered(&self) -> u64 {
            self.counts.offered
        }

        /// Offers that set a bit: at most the number of distinct keys, and nearly as many while the rate is small. After a merge, only a lower bound.
        pub fn changed(&self) -> u64 {
            self.counts.changed
        }

        /// Whether the filter came out of a union or an intersection, so that its number of keys has only bounds and its fill no longer obeys the law of any number.
        pub fn is_merged(&self) -> bool {
            self.counts.is_merged()
        }

        /// Whether an intersection went into the filter. Its fill then tells no number of items: bits that two sets share by chance stay set. Stays until the filter is cleared. Filters that grow have no intersection.
        pub fn is_intersection(&self) -> bool {
            self.counts.excluded().is_some()
        }

        /// The most distinct keys it can hold: the offers, and for an intersection those of its smallest input and what was inserted since.
        pub fn most_items(&self) -> u64 {
            self.counts.most_items()
        }
    };
}
pub(crate) use count_methods;
