//! Count-Min sketches with counters of 32 bits, as clients expect. A counter that reaches its
//! highest value stays there.

use crate::answer::Failure;
use crate::memory::class;
use truebloom::PortableHasher;
use truebloom::count_min::CountMin;
use truebloom_math::count_min::{Rows, Shape};

/// A sketch.
#[derive(Clone)]
pub(crate) struct Sketch(pub(crate) CountMin<u32>);

/// The approximate number of bytes in addition to a sketch's counters.
const OWN_BYTES: usize = 192;

impl Sketch {
    /// An empty sketch with this many counters per row, and this many rows.
    pub(crate) fn new(width: u64, depth: u32, hasher: PortableHasher) -> Result<Sketch, Failure> {
        let shape = Shape::new(Rows::Independent, width, depth, 1).map_err(Failure::of)?;
        Ok(Sketch(CountMin::with_shape(shape, hasher).map_err(Failure::of)?))
    }

    pub(crate) fn size(&self) -> (u64, u32) {
        (self.0.shape().width(), self.0.shape().depth())
    }

    pub(crate) fn bytes(&self) -> usize {
        bytes_of(self.size().0, self.size().1)
    }

    /// Counts an item; returns its estimate afterwards, or `None` if its counters are at their
    /// highest value.
    pub(crate) fn add(&mut self, item: &[u8], count: u64) -> Option<u64> {
        self.0.add(item, count);
        let estimate = self.0.estimate(item);
        (!estimate.saturated).then_some(estimate.value)
    }

    pub(crate) fn estimate(&self, item: &[u8]) -> u64 {
        self.0.estimate(item).value
    }

    /// Adds the counts of another sketch `weight` times.
    pub(crate) fn add_times(&mut self, other: &Sketch, weight: u64) -> Result<(), Failure> {
        self.0.merge_times(&other.0, weight).map_err(Failure::of)
    }
}

/// The number of bytes of a sketch of this size, in addition to the value that contains it.
pub(crate) fn bytes_of(width: u64, depth: u32) -> usize {
    let cells = u128::from(width) * u128::from(depth) * 4;
    class(usize::try_from(cells).unwrap_or(usize::MAX)).saturating_add(OWN_BYTES)
}
