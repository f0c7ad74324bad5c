//! Simulations of a library's arithmetic with ideal base hashes.

use crate::{Arithmetic, Profile, Size, out_of_range};
use truebloom_math::simulation::{Positions, Simulation};
use truebloom_math::{Error, Result};

/// Simulates filters with `items` keys each, and queries at least `queries` other keys. The
/// positions are computed as the profile describes, but independent uniform words replace the
/// hashes.
///
/// The interval of the result is for the expected rate over all filters. The words come from the
/// generator SplitMix64, which starts with `seed`, so that a result can be repeated. The simulation
/// takes some ten nanoseconds per query, and `items * probes` steps per filter.
///
/// Fails if `queries` is 0, if the filter has more than 2^33 bits (a gigabyte), or if the
/// simulation would take more than 10^12 steps.
pub fn simulate(profile: &Profile, size: Size, items: u64, queries: u64, seed: u64) -> Result<Simulation> {
    if queries == 0 {
        return out_of_range("queries", queries, "at least 1");
    }
    if size.bits > 1 << 33 {
        return out_of_range("bits", size.bits, "at most 2^33 to be simulated");
    }
    let filling = items.saturating_mul(u64::from(size.probes.max(1)));
    // The number of filters is chosen so that filling them takes about as long as querying them.
    let filters = (queries.saturating_mul(4) / filling.max(1)).clamp(FEWEST, MOST);
    let each = queries.div_ceil(filters);
    let steps = filling.saturating_add(size.bits / 64).saturating_add(each.saturating_mul(2)).saturating_mul(filters);
    if steps > MOST_STEPS {
        return Err(Error::TooLong { what: "the simulation", steps: steps as f64, allowed: MOST_STEPS as f64 });
    }
    Ok(Simulation::run(&Sized { arithmetic: profile.arithmetic, size }, size.bits, items, filters, each, seed))
}

/// The smallest number of filters in a simulation.
const FEWEST: u64 = 16;
const MOST: u64 = 1_000;

const MOST_STEPS: u64 = 1_000_000_000_000;

struct Sized {
    arithmetic: Arithmetic,
    size: Size,
}

impl Positions for Sized {
    fn every(&self, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool {
        self.arithmetic.every(self.size, word, all)
    }
}
