//! Items that were offered but not yet inserted, in three groups.

use crate::bits::Ahead;
use crate::hash::{KeyHash, Salt};
use crate::scheme::SideBySide;
use alloc::vec::Vec;
use core::mem::swap;

/// Three groups of items, for a filter with one phase. The groups are at different stages.
pub(super) struct Flight {
    /// The items that are being added now.
    pub(super) added: Ahead,
    /// The items whose bits are being prefetched.
    pub(super) asked: Ahead,
    /// The items that are being looked up and inserted.
    pub(super) present: Ahead,
    pub(super) salt: Salt,
}

impl Flight {
    /// Three empty groups.
    pub(super) fn new(scheme: &impl SideBySide, salt: Salt) -> Flight {
        let [added, asked, present] = core::array::from_fn(|_| Ahead::new(scheme));
        Flight { added, asked, present, salt }
    }

    /// Moves every group to its next stage, and clears the group that was inserted. Returns false
    /// if no items are left.
    #[inline(always)]
    pub(super) fn advance(&mut self, scheme: &impl SideBySide) -> bool {
        swap(&mut self.present, &mut self.asked);
        swap(&mut self.asked, &mut self.added);
        self.added.clear();
        self.asked.draw(scheme, self.salt);
        self.present.count() + self.asked.count() > 0
    }

    /// Appends the items that were not inserted to `left`, in the order in which they were offered.
    pub(super) fn land(self, left: &mut Vec<KeyHash>) {
        [self.present, self.asked, self.added].iter().for_each(|group| left.extend(group.hashes()));
    }
}
