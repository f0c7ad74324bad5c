//! Keys with equal hashes: the amount that they add to the rates of a filter that forgets.
//!
//! A new item passes if it has the hash of an item that a phase holds. Every item that is kept sets
//! at least one bit, so on every stream, the phases never hold more items than they have bits. (An
//! item that passed wrongly is not held, although a later item with its hash passes, too. Between
//! two items that are kept, fewer than one passes wrongly on average where this bound is not left
//! out, and the phases hold far fewer items than bits.) The bound is far above the true number of
//! items, but at usual rates even the bound is far below the rate.

use super::{Design, LongRun, Result, SizedDesign};
use crate::law::hash_floor;
use crate::{Error, Rate};

/// The width of a hash of the filters that this module sizes.
const HASH_BITS: u32 = 128;

/// An amount below this share of a rate is left out: it is far smaller than any digit of the rate.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// The room that is left for equal hashes, relative to their rate in the first design found. The
/// second design may be slightly larger.
const ROOM: f64 = 1.01;

impl LongRun {
    /// Adds an upper bound on the probability that a new item has the 128-bit hash of another item,
    /// in filters with this many bits together. If the bound is below 2^-60 of the rate, it is left
    /// out.
    pub(super) fn with_equal_hashes(mut self, total_bits: u64) -> LongRun {
        let floor = hash_floor(total_bits, HASH_BITS);
        for rate in [&mut self.fpr, &mut self.worst] {
            // At a rate of 0, the filter is empty when it is queried.
            if rate.upper > 0.0 && floor > NEGLIGIBLE * rate.upper {
                rate.add_above(floor);
            }
        }
        self
    }
}

impl Design {
    /// Adds the rate of equal hashes to the rates of the bits alone.
    pub(super) fn adding_equal_hashes(&self, of_bits: LongRun) -> LongRun {
        of_bits.with_equal_hashes(self.total_bits())
    }
}

/// The result of a search for a design whose rate, including that of equal hashes, is at most
/// `rate`. `bits` is the number of bits of the design, or 0 if the search finds it; the search is
/// then repeated where equal hashes matter.
pub(super) fn leaving_room(rate: &Rate, bits: u64, search: impl Fn(&Rate) -> Result<Option<SizedDesign>>) -> Result<Option<SizedDesign>> {
    let asked = rate.to_f64();
    let (mut bits, mut room) = (bits, hash_floor(bits, HASH_BITS));
    loop {
        // Half of the rate is left for the bits, so that they do not become many more.
        if room > asked / 2.0 {
            return Err(Error::EqualHashes { asked: *rate, bits, least: 2.0 * room });
        }
        let left = if room > NEGLIGIBLE * asked { Rate::try_from((asked - room).next_down().next_down())? } else { *rate };
        let Some(found) = search(&left)? else { return Ok(None) };
        bits = found.design.total_bits();
        let floor = hash_floor(bits, HASH_BITS);
        if floor <= room || floor <= NEGLIGIBLE * asked {
            return Ok(Some(found));
        }
        room = ROOM * floor;
    }
}
