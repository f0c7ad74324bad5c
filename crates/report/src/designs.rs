//! Filters that forget, compared: one phase, one phase in cache lines, two phases, and the way
//! without a model.

use truebloom_math::recycling::{
    BlockedSized, Mode, SizedDesign, blocked_capacity, blocked_min_bits, capacity, min_bits, remember, worst_capacity, worst_min_bits,
    worst_remember,
};
use truebloom_math::{BLOCK_BITS, Layout, Rate, Result, Variant, max_items};

/// A filter that is emptied after a fixed number of items and has a worst rate: the way without a
/// model.
#[derive(Clone, Debug)]
pub struct Today {
    /// The number of bits.
    pub bits: u64,
    /// The number of probes.
    pub probes: u32,
    /// The number of items after which it is emptied.
    pub items: u64,
}

impl Today {
    /// The items per bit, divided by those of the way without a model.
    #[must_use]
    pub fn gain(&self, items: f64, bits: u64) -> f64 {
        items / self.items as f64 * (self.bits as f64 / bits as f64)
    }
}

/// The designs that are compared.
#[derive(Clone, Debug)]
pub struct Designs {
    /// The way without a model.
    pub today: Option<Today>,
    /// One phase, which keeps the rate on average.
    pub one: Option<SizedDesign>,
    /// One phase in cache lines.
    pub blocked: Option<BlockedSized>,
    /// Two phases, which keep the rate even at their worst.
    pub two: Option<SizedDesign>,
    /// Two phases that certainly forget nothing earlier, if a time to remember is given.
    pub certain: Option<SizedDesign>,
}

impl Designs {
    /// The designs with the most items for a memory.
    ///
    /// # Errors
    /// Numbers are out of range, or the answer would take too long.
    pub fn of_bits(bits: u64, rate: &Rate, layout: Layout) -> Result<Designs> {
        let today = max_items(Variant::Standard, bits, rate)?.filter(|best| best.items > 0);
        Ok(Designs {
            today: today.map(|best| Today { bits, probes: best.probes, items: best.items }),
            one: capacity(bits, rate, Mode::default())?,
            blocked: in_lines(layout, || if bits < BLOCK_BITS { Ok(None) } else { blocked_capacity(bits, rate) })?,
            two: if bits < 2 { None } else { worst_capacity(bits, rate, Mode::two_phase())? },
            certain: None,
        })
    }

    /// The designs with the smallest memory for this many items per cycle.
    ///
    /// # Errors
    /// Numbers are out of range, or the answer would take too long.
    pub fn of_items(items: u64, rate: &Rate, layout: Layout) -> Result<Designs> {
        let number = items as f64;
        let (one, two) = (min_bits(number, rate, Mode::default())?, worst_min_bits(number, rate, Mode::two_phase())?);
        let blocked = in_lines(layout, || blocked_min_bits(number, rate))?;
        Ok(Designs { today: today(items, rate)?, one, blocked, two, certain: None })
    }

    /// The designs with the smallest memory that remember this long.
    ///
    /// # Errors
    /// Numbers are out of range, or the answer would take too long.
    pub fn of_gap(gap: u64, forget: f64, rate: &Rate, layout: Layout) -> Result<Designs> {
        let one = remember(gap, forget, rate, Mode::default())?;
        let two = worst_remember(gap, forget, rate, Mode::two_phase())?;
        let certain = worst_remember(gap, 0.0, rate, Mode::two_phase())?;
        // A cycle of N items forgets E[min(N, gap + 1)] / E[N] of them.
        let items = (gap as f64 + 1.0) / forget;
        let blocked = in_lines(layout, || if items > MOST_ITEMS { Ok(None) } else { blocked_min_bits(items, rate) })?;
        Ok(Designs { today: today((gap as f64 / forget).ceil() as u64, rate)?, one, blocked, two, certain })
    }
}

/// The largest number of new items over which a design can remember.
pub const MOST_REMEMBERED: u64 = 1_000_000_000_000_000;

/// The largest number of items per cycle that is searched for.
const MOST_ITEMS: f64 = 1e18;

/// The blocked design, or `None` if it is not requested. With an open layout, a question that has
/// no blocked answer is not an error.
fn in_lines(layout: Layout, find: impl FnOnce() -> Result<Option<BlockedSized>>) -> Result<Option<BlockedSized>> {
    match layout {
        Layout::Lines => find(),
        Layout::Auto => Ok(find().unwrap_or(None)),
        _ => Ok(None),
    }
}

fn today(items: u64, rate: &Rate) -> Result<Option<Today>> {
    let best = truebloom_math::min_bits(Variant::Standard, items, rate)?;
    Ok(best.map(|best| Today { bits: best.bits, probes: best.probes, items }))
}
