//! How a recycling filter places its items, and what happens at a recycle.

/// How many filters share the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Phases {
    /// One filter, emptied when full enough: everything is forgotten at once.
    #[default]
    One,
    /// An active filter that takes every item it does not know, and a frozen one, the active one of
    /// the phase before. An item is known if either knows it, and forgotten by the second recycle
    /// after it.
    Two(Trigger),
}

/// Whether the item that ends a phase stays in the filter that is frozen by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Trigger {
    /// Insert, then check: the item stays, and the frozen filter holds more than sigma set bits.
    #[default]
    Included,
    /// The item's bits are taken out again, as if checked before it was inserted: the frozen filter
    /// holds at most sigma set bits, as Dozier, Salamatian and Rubenstein (24) has it. A lower
    /// rate, but the item itself is forgotten at once.
    Excluded,
}

/// Seeds of the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Seeds {
    /// A new one at every recycle. What was learnt about one phase says nothing of the next, so
    /// errors do not repeat, and bounds hold for every stream that was chosen independently of the
    /// seeds. The two filters of two phases pass an item independently of each other, and a
    /// retained item gets new positions.
    #[default]
    Renewed,
    /// One for ever: a stream that repeats repeats its errors. The two filters of two phases are
    /// probed at the same positions, and a retained item keeps those that made the filter overflow.
    Kept,
}

/// How items are placed and what happens at a recycle. The default is one phase, colliding, not
/// retaining, with seeds renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// One filter or two.
    pub phases: Phases,
    /// Whether an item's probes may fall on one bit (the standard filter), or are distinct (the
    /// classic one).
    pub colliding: bool,
    /// Whether the item that ended a cycle is put into the emptied filter. One phase only.
    pub retaining: bool,
    /// Whether every phase has a seed of its own. It matters for two phases and for one that
    /// retains.
    pub seeds: Seeds,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { phases: Phases::One, colliding: true, retaining: false, seeds: Seeds::Renewed }
    }
}

impl Mode {
    /// Two phases that keep their triggers, otherwise as by default.
    #[must_use]
    pub fn two_phase() -> Mode {
        Mode { phases: Phases::Two(Trigger::Included), ..Mode::default() }
    }

    /// Filters in use: 1 or 2.
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

    /// Whether a cycle begins with the positions that ended the one before, whose number of
    /// distinct ones is not that of any item.
    pub(super) fn keeps_overflow(&self) -> bool {
        self.retaining && self.colliding && self.seeds == Seeds::Kept
    }
}
