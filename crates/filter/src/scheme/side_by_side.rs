//! Positions of many keys side by side.

use super::Scheme;
use crate::arch::{Lanes, Level};
use crate::bulk::Group;

/// How the keys of a group get their positions. In a private module, as [`Placed`](super::Placed).
pub trait SideBySide: Scheme {
    /// The positions of this probe, from what is left of the words of the probe before, or from new
    /// ones. False where the keys go alone.
    #[inline(always)]
    fn draw(&self, _: Level, _: Group<'_>, _probe: u32, _rest: &mut Lanes, _positions: &mut Lanes) -> bool {
        false
    }
}
