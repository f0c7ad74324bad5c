//! The amount that items with equal hashes add to the rates of a recycling filter.
//!
//! A new item passes if it has the hash of an item that a phase holds. Every item that a phase
//! holds has set at least one bit. So on every stream, the phases never hold more items than they
//! have bits, and the number of bits gives an upper bound on the rate of equal hashes. (An item
//! that wrongly passed is not held. Nevertheless, a later item with the same hash passes, too. Such
//! items do not matter, because the bound is added only at low rates (see [`NEGLIGIBLE`]). At these
//! rates, fewer than one item passes wrongly on average between two items that are held, and the
//! phases hold far fewer items than bits.) The number of bits is far above the true number of
//! items. But at usual rates, even this bound is far below the rate.

use super::{Design, LongRun, Result, SizedDesign};
use crate::law::hash_floor;
use crate::{Error, Rate};

/// The width of a hash of the filters that this module sizes.
const HASH_BITS: u32 = 128;

/// An amount below this share of a rate is left out, because it is far smaller than the last digit
/// of the rate.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// If the search is repeated, the part of the rate that is reserved for equal hashes, divided by
/// the rate of equal hashes in the first design found. It is above 1 because the second design can
/// be slightly larger.
const ROOM: f64 = 1.01;

impl LongRun {
    /// Adds an upper bound on the probability that a new item has the 128-bit hash of another item.
    /// The filters have `total_bits` bits in total. If the bound is below 2^-60 of the rate, it is
    /// left out.
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

/// Searches for a design whose rate, including that of equal hashes, is at most `rate`. `bits` is
/// the number of bits of the design, or 0 if the search finds this number itself. If it is 0 and
/// equal hashes matter, the search is repeated.
pub(super) fn leaving_room(rate: &Rate, bits: u64, search: impl Fn(&Rate) -> Result<Option<SizedDesign>>) -> Result<Option<SizedDesign>> {
    let asked = rate.to_f64();
    let (mut bits, mut room) = (bits, hash_floor(bits, HASH_BITS));
    loop {
        // At least half of the rate must be left for the bits. Otherwise, the design would need
        // many more bits.
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
