//! Computing the positions of many keys together.

use super::Scheme;
use crate::arch::{Lanes, Level};
use crate::bulk::Group;

/// How the positions of a group of keys are computed together. The trait is in a private module,
/// like [`Placed`](super::Placed).
pub trait SideBySide: Scheme {
    /// Computes the positions of one probe for all keys. They come from what the previous
    /// probe left unused of its words, or from new words. Returns false if the keys must be
    /// handled one by one.
    #[inline(always)]
    fn draw(&self, _: Level, _: Group<'_>, _probe: u32, _rest: &mut Lanes, _positions: &mut Lanes) -> bool {
        false
    }
}
