//! Blocked recycling filters, in which all probes of an item are in one line (block). A blocked
//! filter is emptied when its current rate exceeds a limit.
//!
//! The number of set bits of a blocked filter does not determine its rate. The rate is the mean
//! over its lines of `(d/m)^k`, where d of a line's m bits are set ([`Weights`]). So the filter's
//! current rate, and not the number of set bits, decides when the filter is emptied. On any stream,
//! a new item is wrongly reported as seen with a probability of at most the limit, apart from equal
//! hashes, which add at most `bits / 2^128`.

mod capacity;
mod cycle;
#[cfg(test)]
mod every_state;
mod moments;
mod weights;

use alloc::format;
pub use capacity::{BlockedSized, blocked_capacity, blocked_min_bits};
pub use weights::Weights;

use super::{LongRun, Result};
use crate::error::{check_probes, out_of_range};
use crate::exact::work;
use crate::law::{Blocked, InBlock};
use crate::{Fpr, MAX_BLOCKED_PROBES, Method};

/// The design of a blocked recycling filter, in which all probes of an item are in one line. The
/// design has one phase, so there is no second, frozen filter. The current rate of the filter is
/// computed from its set bits. A cycle ends when the current rate exceeds a limit. The filter is
/// then emptied. Positions within a line are independent, as in [`InBlock::Independent`].
///
/// ```
/// use truebloom_math::{BLOCK_BITS, recycling::BlockedDesign};
/// let design = BlockedDesign::new(1 << 20, BLOCK_BITS, 6, 0.04)?;
/// let run = design.long_run()?;
/// assert!(run.fpr.upper < 0.01 && run.worst.upper == 0.04);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedDesign {
    law: Blocked,
    limit: f64,
}

/// The smallest limit. At much smaller limits, the rounding of the weights would matter.
const LEAST_LIMIT: f64 = 1e-15;

/// The largest limit. With a higher limit, a filter becomes practically full, and the brackets of
/// its cycle are useless.
const MOST_LIMIT: f64 = 0.999;

/// The largest number of bits in a line. A table contains the weight for each number of set bits.
const MOST_BLOCK_BITS: u64 = 65_536;

impl BlockedDesign {
    /// Creates the design of a filter with `bits` bits, divided into lines of `block_bits` bits
    /// (512 in the filters of the crate `truebloom`). The filter is emptied when its current rate
    /// exceeds `limit` after an insertion.
    ///
    /// Blocked designs do not support [`Phases::Two`](super::Phases::Two), because no bracket is
    /// known for the rate of two filters together. They do not support
    /// [`Mode::retaining`](super::Mode::retaining), because no bracket is known for cycles that
    /// begin with one item in the filter.
    ///
    /// # Errors
    /// Fails if `bits` is out of range or not a multiple of `block_bits`, or if lines have more
    /// than 65,536 bits. Also fails if `probes` is not from 1 to [`MAX_BLOCKED_PROBES`], or if
    /// `limit` is not from 1e-15 to 0.999.
    pub fn new(bits: u64, block_bits: u64, probes: u32, limit: f64) -> Result<BlockedDesign> {
        check_probes(probes)?;
        if probes > MAX_BLOCKED_PROBES {
            return out_of_range("probes", probes, format!("at most {MAX_BLOCKED_PROBES} in a block"));
        }
        if block_bits > MOST_BLOCK_BITS {
            return out_of_range("block_bits", block_bits, format!("at most {MOST_BLOCK_BITS}"));
        }
        if !(LEAST_LIMIT..=MOST_LIMIT).contains(&limit) {
            return out_of_range("limit", limit, format!("a rate from {LEAST_LIMIT:e} to {MOST_LIMIT}"));
        }
        Ok(BlockedDesign { law: Blocked::new(bits, block_bits, InBlock::Independent, probes)?, limit })
    }

    /// Returns the number of bits of the filter.
    #[must_use]
    pub fn bits(&self) -> u64 {
        crate::Law::bits(&self.law)
    }

    /// Returns the number of bits in a line (block).
    #[must_use]
    pub fn block_bits(&self) -> u64 {
        self.law.block_bits()
    }

    /// Returns the number of lines (blocks).
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.bits() / self.block_bits()
    }

    /// Returns the number of probes per item.
    #[must_use]
    pub fn probes(&self) -> u32 {
        crate::Law::probes(&self.law)
    }

    /// Returns the limit, the highest rate at which a cycle continues. If equal hashes are ignored,
    /// the probability that a new item is wrongly reported as seen is at most the limit. The worst
    /// rate that [`long_run`](Self::long_run) returns also counts equal hashes, so its upper bound
    /// is the limit plus `bits / 2^128`. This term is left out if it is negligible.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Returns the weight of a line for each possible number of set bits. A filter computes its
    /// current rate from the weights of its lines. The weight of a line expresses the probability
    /// that a new item with all probes in this line is reported as seen.
    #[must_use]
    pub fn weights(&self) -> Weights {
        Weights::new(self.block_bits(), self.probes())
    }

    /// Returns the threshold for the sum of the weights of all lines. The filter is emptied when
    /// the sum exceeds this threshold. The threshold is `limit` times the number of lines, in units
    /// of 2^-64 and rounded down.
    #[must_use]
    pub fn most_weight(&self) -> u128 {
        weights::at_most(self.limit, self.blocks())
    }

    /// Returns the long-run average rate, the worst rate and the expected number of items in a
    /// cycle.
    ///
    /// All brackets are proven ([`Method::Bound`]); the proof is in `recycling/blocked/cycle.rs`.
    /// Apart from the probability of equal hashes, the worst rate is at most the limit. The
    /// difference between the limit and the worst rate is at most the amount that one item adds to
    /// the rate, plus rounding errors. The widths of the other two brackets are about proportional
    /// to `1/sqrt(lines)`, where `lines` is the number of lines. Only the brackets are proven; the
    /// value inside each bracket is an approximation. The approximation assumes that, after any
    /// number of items, the current rate is exactly the expected rate. In simulations, the relative
    /// error of this approximation is less than `1/lines`.
    ///
    /// The computation takes a few milliseconds at any size, and up to a second with 32 probes.
    ///
    /// The rates include the probability that a new item has the same hash as an item in the
    /// filter, as in [`Design::long_run`](super::Design::long_run).
    ///
    /// # Errors
    /// Fails if a cycle can have more than 2^61 items, which can happen with sizes near 2^62 bits.
    pub fn long_run(&self) -> Result<LongRun> {
        let _work = work::begin();
        let (fpr, items_per_cycle) = cycle::bracket(self)?;
        Ok(LongRun { fpr, worst: self.worst(), items_per_cycle }.with_equal_hashes(self.bits()))
    }

    /// The worst rate, which is the limit: no filter exceeds the limit when it is queried. In every
    /// cycle, the rate comes close to the limit. The remaining difference is at most the rounding
    /// of the weights plus the amount that one item adds: `(1 - (1 - k/m)^k) / lines`, which is
    /// less than `k^2 / bits`.
    fn worst(&self) -> Fpr {
        let k = f64::from(self.probes());
        let step = (k * k / self.bits() as f64).next_up() + 2.0 * self.weights().most_rounded();
        let mut fpr = Fpr::bound((self.limit - step).next_down().max(0.0), self.limit);
        fpr.place(self.limit);
        debug_assert!(fpr.method == Method::Bound);
        fpr
    }
}
