//! Items between being offered and being looked up, in three groups.

use crate::bits::Ahead;
use crate::hash::{KeyHash, Salt};
use crate::scheme::SideBySide;
use alloc::vec::Vec;
use core::mem::swap;

/// Groups of items of one phase.
pub(super) struct Flight {
    /// Those that are added now,
    pub(super) added: Ahead,
    /// those whose bits are asked for meanwhile,
    pub(super) asked: Ahead,
    /// and those that are looked up.
    pub(super) present: Ahead,
    pub(super) salt: Salt,
}

impl Flight {
    /// No items yet.
    pub(super) fn new(scheme: &impl SideBySide, salt: Salt) -> Flight {
        let [added, asked, present] = core::array::from_fn(|_| Ahead::new(scheme));
        Flight { added, asked, present, salt }
    }

    /// Every group goes one stage on, and the present one is done with; false if there is none any
    /// more.
    #[inline(always)]
    pub(super) fn advance(&mut self, scheme: &impl SideBySide) -> bool {
        swap(&mut self.present, &mut self.asked);
        swap(&mut self.asked, &mut self.added);
        self.added.clear();
        self.asked.draw(scheme, self.salt);
        self.present.count() + self.asked.count() > 0
    }

    /// Gives back the items that were added and not looked up, in order.
    pub(super) fn land(self, left: &mut Vec<KeyHash>) {
        [self.present, self.asked, self.added].iter().for_each(|group| left.extend(group.hashes()));
    }
}
