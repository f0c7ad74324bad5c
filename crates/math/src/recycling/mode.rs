//! How a recycling filter places its items, and what happens at a recycle.

/// The number of filters that are used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Phases {
    /// There is one filter. When it is full enough, it is emptied, and everything is forgotten at
    /// once.
    #[default]
    One,
    /// There are two filters: an active one, which takes every item that it does not contain, and a
    /// frozen one, which was the active filter of the previous phase. An item is remembered if
    /// either filter contains it, and it is forgotten at the second recycle after it.
    Two(Trigger),
}

/// Whether the item that ends a phase (the trigger) stays in the filter that is then frozen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Trigger {
    /// The item is inserted before the check and stays, so the frozen filter may have more than
    /// sigma set bits.
    #[default]
    Included,
    /// The bits of the item are removed again, as if the check came before the insertion. The
    /// frozen filter then has at most sigma set bits, as in Dozier, Salamatian and Rubenstein (24).
    /// The rate is lower, but the trigger is forgotten at once.
    Excluded,
}

/// The seeds of the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Seeds {
    /// Every recycle starts with a new seed. Then observations of one phase do not help to predict
    /// the next, and errors do not repeat. Bounds hold for every stream that was chosen without
    /// knowing the seeds. The two filters of two phases pass an item independently of each other,
    /// and a retained item gets new positions.
    #[default]
    Renewed,
    /// All phases have the same seed, so a stream that repeats also repeats its errors. The two
    /// filters of two phases are probed at the same positions, and a retained item keeps the
    /// positions that made the filter overflow.
    Kept,
}

/// How items are placed, and what happens at a recycle. The default is one phase with colliding
/// probes, no retaining, and renewed seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// One filter or two.
    pub phases: Phases,
    /// Whether an item's probes may coincide (the standard filter) or are distinct (the classic
    /// one).
    pub colliding: bool,
    /// Whether the item that ended a cycle is inserted into the emptied filter. Retaining is
    /// possible for one phase only.
    pub retaining: bool,
    /// Whether every phase has its own seed. The choice matters for two phases, and for one phase
    /// that retains.
    pub seeds: Seeds,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { phases: Phases::One, colliding: true, retaining: false, seeds: Seeds::Renewed }
    }
}

impl Mode {
    /// Creates a mode of two phases that keep their triggers. The other settings are the defaults.
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

    /// Whether both filters of two phases are probed at the same positions.
    pub(super) fn shares_positions(&self) -> bool {
        self.has_two_phases() && self.seeds == Seeds::Kept
    }

    /// Whether a cycle begins with the positions of the item that ended the previous cycle. The
    /// number of distinct positions of such an item has a different distribution than for a random
    /// item.
    pub(super) fn keeps_overflow(&self) -> bool {
        self.retaining && self.colliding && self.seeds == Seeds::Kept
    }
}
