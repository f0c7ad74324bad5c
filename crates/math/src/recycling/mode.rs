//! How a recycling filter places its items, and what happens at a recycle.

/// The number of phases of a recycling filter. With one phase, it consists of one Bloom filter.
/// With two phases, it consists of two Bloom filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Phases {
    /// One phase. When the number of set bits exceeds the recycle threshold, the filter recycles:
    /// it is emptied, and all items are forgotten at once.
    #[default]
    One,
    /// Two phases: an active filter and a frozen filter. Both are queried. Items are stored in the
    /// active filter, unless the active filter contains them already. The recycling filter recycles
    /// when the number of set bits in the active filter exceeds the recycle threshold. The frozen
    /// filter is then discarded, the active filter becomes the frozen filter, and a new active
    /// filter starts empty. So an item is forgotten at the second recycle after it was stored.
    Two(Trigger),
}

/// Says whether the *trigger* stays in the frozen filter of a recycling filter with two phases. The
/// trigger is the item that makes the active filter full. The active filter then becomes the frozen
/// filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Trigger {
    /// The *trigger* is the item that makes the active filter full. The trigger stays in the frozen
    /// filter. So the frozen filter may have more set bits than the recycle threshold.
    #[default]
    Included,
    /// The *trigger* is the item that makes the active filter full. The bits that the trigger has
    /// set are cleared before the active filter becomes the frozen filter. So the number of set
    /// bits in the frozen filter is at most the recycle threshold, as in equation (24) of Dozier,
    /// Salamatian and Rubenstein. The rate is lower than with [`Trigger::Included`], but the filter
    /// immediately forgets the item that triggered the recycle.
    Excluded,
}

/// Whether all phases of a recycling filter use the same seed. Here, a phase lasts from one recycle
/// to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Seeds {
    /// Every phase has a new seed. So observations of one phase do not help to predict the false
    /// positives of the next phase. An item that is a false positive in one phase is no more likely
    /// than other items to be a false positive in a later phase. The proven bounds hold for every
    /// stream of items that was chosen without knowing the seeds. With two phases, the false
    /// positives of the two filters are independent. With [`Mode::retaining`], the item that causes
    /// a recycle is inserted again, at new positions.
    #[default]
    Renewed,
    /// All phases have the same seed. So if a stream repeats, its false positives repeat. With two
    /// phases, both filters are queried at the same positions. With [`Mode::retaining`], the item
    /// that causes a recycle is inserted again, at the same positions.
    Kept,
}

/// How items are placed, and what happens at a recycle. The default is one phase, and a new seed
/// after every recycle. By default, several probes of an item may hit the same bit, and the item
/// that causes a recycle is not inserted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// One filter or two.
    pub phases: Phases,
    /// Whether several probes of an item may hit the same bit, as in the standard filter. If false,
    /// the probes of an item hit distinct bits, as in the classic filter.
    pub colliding: bool,
    /// Whether the item that causes a recycle is *retained*, which means that it is inserted into
    /// the emptied filter. This is possible only with one phase.
    pub retaining: bool,
    /// Whether the filter gets a new seed at every recycle. The long-run rates depend on this
    /// setting only if there are two phases, or if `retaining` is true.
    pub seeds: Seeds,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { phases: Phases::One, colliding: true, retaining: false, seeds: Seeds::Renewed }
    }
}

impl Mode {
    /// Creates a mode with two phases. The *trigger*, which is the item that makes the active
    /// filter full, stays in the frozen filter ([`Trigger::Included`]). All other settings are the
    /// defaults.
    #[must_use]
    pub fn two_phase() -> Mode {
        Mode { phases: Phases::Two(Trigger::Included), ..Mode::default() }
    }

    /// Returns the number of filters in use, which is 1 or 2.
    #[must_use]
    pub fn filters(&self) -> u64 {
        if self.has_two_phases() { 2 } else { 1 }
    }

    pub(super) fn has_two_phases(&self) -> bool {
        self.phases != Phases::One
    }

    pub(super) fn excludes_triggers(&self) -> bool {
        self.phases == Phases::Two(Trigger::Excluded)
    }

    /// Whether there are two filters that are queried at the same positions.
    pub(super) fn shares_positions(&self) -> bool {
        self.has_two_phases() && self.seeds == Seeds::Kept
    }

    /// Whether a cycle begins with an item that keeps its positions from the end of the previous
    /// cycle. The distribution of the number of distinct positions of such an item differs from
    /// that of a random item.
    pub(super) fn keeps_overflow(&self) -> bool {
        self.retaining && self.colliding && self.seeds == Seeds::Kept
    }
}
