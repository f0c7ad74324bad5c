//! Filters that forget, side by side: one phase, in cache lines, two phases, and as it is done
//! without a model.

use truebloom_math::recycling::{
    BlockedSized, Mode, SizedDesign, blocked_capacity, blocked_min_bits, capacity, min_bits, remember, worst_capacity, worst_min_bits,
    worst_remember,
};
use truebloom_math::{BLOCK_BITS, Layout, Rate, Result, Variant, max_items};

/// A filter emptied after a fixed number of items, with a worst rate: the way without a model.
#[derive(Clone, Debug)]
pub struct Today {
    /// Its bits.
    pub bits: u64,
    /// Its probes.
    pub probes: u32,
    /// The items after which it is emptied.
    pub items: u64,
}

impl Today {
    /// Items per bit over those of today's.
    #[must_use]
    pub fn gain(&self, items: f64, bits: u64) -> f64 {
        items / self.items as f64 * (self.bits as f64 / bits as f64)
    }
}

/// The three, or more, side by side.
#[derive(Clone, Debug)]
pub struct Designs {
    /// Without a model.
    pub today: Option<Today>,
    /// One phase, held to its average rate.
    pub one: Option<SizedDesign>,
    /// One phase in cache lines.
    pub blocked: Option<BlockedSized>,
    /// Two phases, held to their worst rate.
    pub two: Option<SizedDesign>,
    /// Two phases that certainly forget nothing before, where a time to remember is given.
    pub certain: Option<SizedDesign>,
}

impl Designs {
    /// The most items of a memory.
    ///
    /// # Errors
    /// Numbers out of range; an answer that would take too long.
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

    /// The least memory for this many items per cycle.
    ///
    /// # Errors
    /// Numbers out of range; an answer that would take too long.
    pub fn of_items(items: u64, rate: &Rate, layout: Layout) -> Result<Designs> {
        let number = items as f64;
        let (one, two) = (min_bits(number, rate, Mode::default())?, worst_min_bits(number, rate, Mode::two_phase())?);
        let blocked = in_lines(layout, || blocked_min_bits(number, rate))?;
        Ok(Designs { today: today(items, rate)?, one, blocked, two, certain: None })
    }

    /// The least memory that remembers.
    ///
    /// # Errors
    /// Numbers out of range; an answer that would take too long.
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

/// The most new items that can be remembered.
pub const MOST_REMEMBERED: u64 = 1_000_000_000_000_000;

/// Items of a cycle that are looked for.
const MOST_ITEMS: f64 = 1e18;

/// `None` unless it is asked for. What is wrong with a question is no fault where the layout is
/// left open.
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
