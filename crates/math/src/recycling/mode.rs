//! How a recycling filter places its items, and what happens at a recycle.

/// The number of filters that are used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Phases {
    /// One filter. When the filter is full enough, it is emptied, and all items are forgotten at
    /// once.
    #[default]
    One,
    /// Two filters: an active one, which stores every item that it does not contain, and a frozen
    /// one, which was the active filter of the previous phase. An item is remembered as long as one
    /// of the filters contains it, and is forgotten at the second recycle after it was stored.
    Two(Trigger),
}

/// Whether the item that ends a phase (the trigger) stays in the filter that becomes the frozen
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Trigger {
    /// The item is inserted before the number of set bits is checked, and stays. So the frozen
    /// filter may have more than sigma set bits.
    #[default]
    Included,
    /// The bits that the item has set are cleared, as if the check came before the insertion. The
    /// frozen filter then has at most sigma set bits, as in Dozier, Salamatian and Rubenstein (24).
    /// The rate is lower, but the trigger is forgotten immediately.
    Excluded,
}

/// The seeds of the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Seeds {
    /// Every recycle starts with a new seed. So observations of one phase do not help to predict
    /// the next, and errors do not repeat. Bounds hold for every stream that was chosen without
    /// knowledge of the seeds. With two phases, the two filters pass an item independently of each
    /// other. With [`Mode::retaining`], the item that ended a cycle gets new positions.
    #[default]
    Renewed,
    /// All phases have the same seed, so if a stream repeats, its errors repeat. With two phases,
    /// both filters are queried at the same positions. With [`Mode::retaining`], the item that
    /// ended a cycle keeps the positions that made the filter overflow.
    Kept,
}

/// How items are placed, and what happens at a recycle. The default is one phase with probes that
/// may collide, without retaining, and with renewed seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// One filter or two.
    pub phases: Phases,
    /// Whether an item's probes may coincide (as in the standard filter) or are distinct (as in the
    /// classic filter).
    pub colliding: bool,
    /// Whether the item that ended a cycle is inserted into the emptied filter (is *retained*).
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

    /// Returns the number of filters in use: 1 or 2.
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
