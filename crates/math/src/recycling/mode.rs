//! How a recycling filter places its items, and what happens at a recycle.

/// The number of filters that are used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Phases {
    /// One filter. When its number of set bits exceeds the recycle threshold, it is emptied, and
    /// all items are forgotten at once.
    #[default]
    One,
    /// Two filters. The active filter stores every item that it does not contain. The frozen filter
    /// is the active filter of the previous phase. Both are queried. An item is forgotten at the
    /// second recycle after it was stored.
    Two(Trigger),
}

/// Whether the item that ends a phase (the trigger) stays in the full filter, which then becomes
/// the frozen filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Trigger {
    /// The trigger stays in the filter. So the frozen filter may have more than sigma set bits.
    #[default]
    Included,
    /// The bits that the trigger has set are cleared. So the frozen filter has at most sigma set
    /// bits, as in equation (24) of Dozier, Salamatian and Rubenstein. The rate is lower, but the
    /// trigger is forgotten immediately.
    Excluded,
}

/// The seeds of the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Seeds {
    /// Every phase has a new seed. So what an observer learns in one phase does not help to predict
    /// the false positives of the next phase. An item that is a false positive in one phase is no
    /// more likely than other items to be a false positive in a later phase. Bounds hold for every
    /// stream that was chosen without knowledge of the seeds. With two phases, the false positives
    /// of the two filters are independent. With [`Mode::retaining`], the item that ended a cycle
    /// gets new positions.
    #[default]
    Renewed,
    /// All phases have the same seed. So if a stream repeats, its false positives repeat. With two
    /// phases, both filters are queried at the same positions. With [`Mode::retaining`], the item
    /// that ended a cycle keeps its positions.
    Kept,
}

/// How items are placed, and what happens at a recycle. The default is one phase and a new seed for
/// each phase. Probes may collide, and no item is retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// One filter or two.
    pub phases: Phases,
    /// Whether several probes of an item may hit the same bit, as in the standard filter. If false,
    /// they are distinct, as in the classic filter.
    pub colliding: bool,
    /// Whether the item that ended a cycle is *retained*: inserted into the emptied filter.
    /// Retaining is possible only with one phase.
    pub retaining: bool,
    /// Whether each phase has its own seed. Long-run rates depend on this setting only with two
    /// phases or with `retaining`.
    pub seeds: Seeds,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { phases: Phases::One, colliding: true, retaining: false, seeds: Seeds::Renewed }
    }
}

impl Mode {
    /// Creates a mode with two phases and [`Trigger::Included`]. All other settings are the
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
