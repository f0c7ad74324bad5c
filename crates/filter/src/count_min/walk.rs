//! The stream of numbers from which the rows of a sketch draw their positions.

use crate::arch::Below;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::scheme::WordStream;
use truebloom_math::law;

/// The number that identifies this method of drawing in files. In a header, this number is stored
/// where filters have the number of their scheme.
pub(super) const WALK: u16 = 13;

/// Draws numbers below a width, one from each word of a key's stream. The numbers are exactly
/// uniform and independent if the words are. All words are mixed, so the numbers are well
/// distributed even if the input is not a hash. Pairwise independent rows rely on this: they draw
/// their coefficients from the seed and the number of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Walk {
    below_width: Below,
    count: u32,
}

impl Walk {
    /// Draws 1 to [`MAX_PROBES`](crate::MAX_PROBES) numbers per key, below a width of 1 to 2^62. A
    /// number of draws or a width outside these ranges is an error.
    pub(super) fn new(width: u64, count: u32) -> Result<Walk, BuildError> {
        crate::scheme::check_probes(count)?;
        // This checks the width, so that the remainder below does not divide by zero.
        law::Standard::new(width, count)?;
        Ok(Walk { below_width: Below::new(width), count })
    }

    #[inline]
    pub(super) fn width(&self) -> u64 {
        self.below_width.bound
    }

    /// The numbers for a key.
    #[inline]
    pub(super) fn numbers(&self, hash: KeyHash) -> impl Iterator<Item = u64> + use<> {
        let (Walk { below_width, count }, mut words) = (*self, WordStream::new(hash));
        (0..count).map(move |_| below_width.draw(&mut words))
    }
}
