//! Keys with equal hashes: the amount that they add to the rates of a filter that forgets.

use super::{Design, LongRun, Result, SizedDesign};
use crate::law::hash_floor;
use crate::{Error, Rate};

/// The width of a hash of the filters that this module sizes.
const HASH_BITS: u32 = 128;

/// An amount below this share of a rate is left out: it is far smaller than any digit of the rate.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// The room that is left for equal hashes, relative to their rate in the first design found. The
/// second design may hold slightly more items.
const ROOM: f64 = 1.01;

impl LongRun {
    /// Adds the probability that a new item has the same 128-bit hash as an item that one of the
    /// filters contains. `phases` is the number of filters, 1 or 2. A probability below 2^-60 times
    /// the rate is left out. Only [`Design::long_run`] and its relatives call this function, once
    /// for each result.
    ///
    /// At any time, the expected number of items in a phase is at most that of a complete phase. So
    /// the probability is at most 2^-128 times `phases` times the expected number of items in a
    /// complete phase.
    pub(super) fn with_equal_hashes(self, phases: u64) -> LongRun {
        let (mut found, floor) = (self, hash_floor(self.items_of(phases), HASH_BITS));
        for rate in [&mut found.fpr, &mut found.worst] {
            // At a rate of 0, the filter is empty when it is queried.
            if rate.upper > 0.0 && floor > NEGLIGIBLE * rate.upper {
                rate.add_above(floor);
            }
        }
        found
    }

    /// An upper bound on the expected number of items in this many phases.
    fn items_of(&self, phases: u64) -> u64 {
        // The items with equal hashes themselves make a cycle longer, by much less than one item.
        (libm::ceil(self.items_per_cycle.upper) as u64).saturating_add(1).saturating_mul(phases)
    }
}

impl Design {
    /// Returns the properties of [`long_run_of_bits`](Self::long_run_of_bits) with equal hashes.
    pub(super) fn adding_equal_hashes(&self, of_bits: LongRun) -> LongRun {
        of_bits.with_equal_hashes(self.mode.filters())
    }
}

/// The result of a search for a design whose rate, including that of equal hashes, is at most
/// `rate`. If about this many items are expected in all phases, room is left for them from the
/// start; otherwise, the search is repeated where equal hashes matter.
pub(super) fn leaving_room(
    rate: &Rate,
    expected: f64,
    search: impl Fn(&Rate) -> Result<Option<SizedDesign>>,
) -> Result<Option<SizedDesign>> {
    let asked = rate.to_f64();
    let matters = |room: &f64| *room > NEGLIGIBLE * asked;
    let mut room = ROOM * hash_floor(expected as u64, HASH_BITS);
    if !matters(&room) || room > asked / 2.0 {
        room = 0.0;
    }
    loop {
        let left = if room > 0.0 { Rate::try_from((asked - room).next_down().next_down())? } else { *rate };
        let Some(found) = search(&left)? else { return Ok(None) };
        let items = found.run.items_of(found.design.mode().filters());
        let floor = hash_floor(items, HASH_BITS);
        let needed = ROOM * floor;
        if floor <= room || !matters(&needed) {
            return Ok(Some(found));
        }
        if needed >= asked {
            return Err(Error::BelowHashFloor { asked: *rate, items, hash_bits: HASH_BITS, reachable: floor });
        }
        room = needed;
    }
}
