//! The rate of one blocked filter, computed from the fills of its blocks.

use super::{Blocked, Classic, InBlock, Law, Standard};
use crate::error::out_of_range;
use crate::{Fpr, Method, Result};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;

impl Blocked {
    /// Returns the rate of a filter whose blocks have known numbers of set bits. The rate is the
    /// mean of the rates of the blocks. `blocks_with[x]` is the number of blocks with x set bits,
    /// for x from 0 to [`block_bits`](Self::block_bits). The result is `None` for split blocks,
    /// because the number of set bits of a split block does not determine its rate.
    ///
    /// The result is exact, because a query chooses each block with the same probability. The
    /// result has a bracket (a lower and an upper bound). The lower bound is always rounded down,
    /// and the upper bound up, so the bracket is proven. The relative width of the bracket is below
    /// 1e-12. The computation takes a few hundred microseconds.
    ///
    /// # Errors
    /// Fails if the length of `blocks_with` is not `block_bits + 1`, or if the counts do not add up
    /// to the number of blocks.
    pub fn fpr_at_block_fills(&self, blocks_with: &[u64]) -> Result<Option<Fpr>> {
        let block_bits = self.block_bits();
        if blocks_with.len() as u64 != block_bits + 1 {
            return out_of_range("block fills", blocks_with.len(), format!("{} counts, one for each number of set bits", block_bits + 1));
        }
        let blocks = self.bits() / block_bits;
        let counted = blocks_with.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if counted != Some(blocks) {
            return out_of_range("block fills", counted.map_or("too many".to_owned(), |sum| sum.to_string()), format!("{blocks} blocks"));
        }
        let law: Box<dyn Law> = match self.in_block() {
            InBlock::Independent => Box::new(Standard::new(block_bits, self.probes())?),
            InBlock::Distinct => Box::new(Classic::new(block_bits, self.probes())?),
            InBlock::Split { .. } => return Ok(None),
        };
        let (mut lower, mut upper) = (0.0f64, 0.0f64);
        for (ones, count) in blocks_with.iter().enumerate().filter(|(_, count)| **count > 0) {
            let Some(fpr) = law.fpr_at_fill(&[ones as u64])? else { return Ok(None) };
            // Counts up to 2^53 are exact in f64. With blocks of 512 bits, MAX_BITS allows no
            // larger counts. With smaller blocks, larger counts are possible, and are rounded
            // outwards.
            let count = *count as f64;
            lower = (lower + (count.next_down() * fpr.lower).next_down().max(0.0)).next_down().max(0.0);
            upper = (upper + (count.next_up() * fpr.upper).next_up()).next_up();
        }
        let blocks = blocks as f64;
        Ok(Some(bracket((lower / blocks.next_up()).next_down().max(0.0), (upper / blocks.next_down()).next_up())))
    }
}

fn bracket(lower: f64, upper: f64) -> Fpr {
    if lower == 0.0 {
        // Every term is far above the smallest f64, so the sum is 0 only if all blocks are empty.
        return Fpr::ZERO;
    }
    let upper = upper.min(1.0);
    let value = (lower + (upper - lower) / 2.0).clamp(lower, upper);
    let (ln_lower, ln_upper) = (libm::log(lower).next_down().next_down(), libm::log(upper).next_up().next_up().min(0.0));
    Fpr { value, lower, upper, ln: ln_lower + (ln_upper - ln_lower) / 2.0, ln_lower, ln_upper, method: Method::Exact }
}
