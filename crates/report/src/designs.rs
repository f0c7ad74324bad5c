//! Comparison of designs of filters that forget old items. The designs have one phase, one phase
//! with a blocked layout, or two phases. The usual design, which is chosen without a model of
//! recycling, is also compared.

use crate::show::{plural, significant};
use std::time::Duration;
use truebloom_math::recycling::{
    BlockedSized, Mode, SizedDesign, blocked_capacity, blocked_min_bits, capacity, min_bits, remember, usual_capacity, usual_min_bits,
    worst_capacity, worst_min_bits, worst_remember,
};
use truebloom_math::{BLOCK_BITS, Error, Layout, Plan, Rate, Result};

/// The usual design, which is chosen without a model of recycling: a filter that is emptied after a
/// fixed number of items. The expected rate after the last of these items is at most the requested
/// rate.
#[derive(Clone, Debug)]
pub struct Usual {
    /// The number of bits.
    pub bits: u64,
    /// The number of probes.
    pub probes: u32,
    /// The number of items after which the filter is emptied.
    pub items: u64,
}

impl Usual {
    fn of(plan: Plan) -> Usual {
        Usual { bits: plan.bits, probes: plan.probes, items: plan.items }
    }

    /// Returns the number of items per bit that the design `sized` holds, divided by the number of
    /// items per bit that the usual design holds.
    #[must_use]
    pub fn gain(&self, sized: &SizedDesign) -> f64 {
        self.per_bit(held(sized), sized.design.total_bits())
    }

    /// Like [`gain`](Self::gain), but for a blocked design. The result is a guaranteed lower bound.
    #[must_use]
    pub fn blocked_gain(&self, sized: &BlockedSized) -> f64 {
        self.per_bit(blocked_held(sized), sized.design.bits())
    }

    fn per_bit(&self, held: f64, bits: u64) -> f64 {
        held / self.items as f64 * (self.bits as f64 / bits as f64)
    }
}

/// Returns the average number of items that a filter holds when it is emptied. With one phase, the
/// last item of a cycle is not counted, because the filter is emptied immediately after this item
/// (D3 in docs/ERRATA.md).
#[must_use]
pub fn held(sized: &SizedDesign) -> f64 {
    let forgotten = if sized.design.mode().filters() == 1 { 1.0 } else { 0.0 };
    sized.run.items_per_cycle.value - forgotten
}

/// Like [`held`], but for a blocked design. The result is a guaranteed lower bound.
#[must_use]
pub fn blocked_held(sized: &BlockedSized) -> f64 {
    sized.run.items_per_cycle.lower - 1.0
}

/// For designs with fewer items per cycle than this, one forgotten item changes the printed
/// numbers.
const FEW: f64 = 100.0;

/// Returns a remark on the number of items that a one-phase filter holds when it is emptied.
/// Returns `None` for 100 items or more: this number is then close to the number of items per
/// cycle.
#[must_use]
pub fn held_in_words(held: f64) -> Option<String> {
    if held < 1e-9 {
        Some("it remembers no item: every insertion empties it".to_owned())
    } else if held < FEW {
        Some(format!("it remembers {} items on average; the next new item empties it, and is forgotten too", significant(held, 4)))
    } else {
        None
    }
}

/// The designs that are compared.
#[derive(Clone, Debug)]
pub struct Designs {
    /// The usual design, which is chosen without a model of recycling.
    pub usual: Option<Usual>,
    /// One phase. The average rate is at most the requested rate.
    pub one: Option<SizedDesign>,
    /// One phase with the blocked layout.
    pub blocked: Option<BlockedSized>,
    /// Two phases. Even the rate of the filter at its fullest is at most the requested rate.
    pub two: Option<SizedDesign>,
    /// Two phases. Every item is certainly remembered for the requested number of new items. `None`
    /// if no such number was requested.
    pub certain: Option<SizedDesign>,
}

impl Designs {
    /// Returns the designs with the largest number of items for `bits` bits of memory.
    ///
    /// # Errors
    /// Fails if numbers are out of range, or the answer would take too long.
    pub fn of_bits(bits: u64, rate: &Rate, layout: Layout) -> Result<Designs> {
        // The blocked layout comes first, because it accepts the fewest rates: the error must not
        // name a rate that it refuses.
        let blocked = in_lines(layout, || if bits < BLOCK_BITS { Ok(None) } else { blocked_capacity(bits, rate) })?;
        let usual = usual_capacity(bits, rate)?.map(Usual::of);
        let two = if bits < 2 { Ok(None) } else { worst_capacity(bits, rate, Mode::two_phase()) };
        let [one, two, certain] = possible([capacity(bits, rate, Mode::default()), two, Ok(None)])?;
        Ok(Designs { usual, one, blocked, two, certain })
    }

    /// Returns the designs with the smallest memory for `items` items per cycle.
    ///
    /// # Errors
    /// Fails if numbers are out of range, or the answer would take too long.
    pub fn of_items(items: u64, rate: &Rate, layout: Layout) -> Result<Designs> {
        let number = items as f64;
        let blocked = in_lines(layout, || blocked_min_bits(number, rate))?;
        let found = [min_bits(number, rate, Mode::default()), worst_min_bits(number, rate, Mode::two_phase()), Ok(None)];
        let [one, two, certain] = possible(found)?;
        Ok(Designs { usual: usual_min_bits(items, rate)?.map(Usual::of), one, blocked, two, certain })
    }

    /// Returns the designs with the smallest memory that remember an item until `gap` more new
    /// items have come. At most the share `forget` of all items may be forgotten earlier than this.
    ///
    /// # Errors
    /// Fails if numbers are out of range, or the answer would take too long.
    pub fn of_gap(gap: u64, forget: f64, rate: &Rate, layout: Layout) -> Result<Designs> {
        // A cycle of N items forgets E[min(N, gap + 1)] / E[N] of them.
        let items = (gap as f64 + 1.0) / forget;
        let blocked = in_lines(layout, || if items > MOST_ITEMS { Ok(None) } else { blocked_min_bits(items, rate) })?;
        let two_phase = |forget| worst_remember(gap, forget, rate, Mode::two_phase());
        let [one, two, certain] = possible([remember(gap, forget, rate, Mode::default()), two_phase(forget), two_phase(0.0)])?;
        Ok(Designs { usual: usual_min_bits(items.ceil() as u64, rate)?.map(Usual::of), one, blocked, two, certain })
    }
}

/// Leaves out designs that equal hashes exclude, or whose search would take too long. Returns such
/// an error only if no design is left: the error that names the lowest rate.
fn possible(designs: [Result<Option<SizedDesign>>; 3]) -> Result<[Option<SizedDesign>; 3]> {
    let mut refused = Vec::new();
    let mut found = [const { None }; 3];
    for (found, design) in found.iter_mut().zip(designs) {
        match design {
            Err(error @ (Error::EqualHashes { .. } | Error::TooLong { .. })) => refused.push(error),
            design => *found = design?,
        }
    }
    let lowest = refused.into_iter().min_by(|one, other| least_rate(one).total_cmp(&least_rate(other)));
    match lowest {
        Some(error) if found.iter().all(Option::is_none) => Err(error),
        _ => Ok(found),
    }
}

/// The lowest rate that the error says is possible.
fn least_rate(error: &Error) -> f64 {
    if let Error::EqualHashes { least, .. } = error { *least } else { f64::INFINITY }
}

/// The largest number of new items for which a design can be required to remember an item.
const MOST_REMEMBERED: u64 = 1_000_000_000_000_000;

/// The default share of items that may be forgotten earlier than requested.
pub const FORGET: f64 = 0.01;

/// Checks a requested number of new items during which an item must be remembered.
///
/// # Errors
/// Fails if the number is 0 or above 10^15.
pub fn remembered(items: u64) -> core::result::Result<u64, String> {
    match items {
        1..=MOST_REMEMBERED => Ok(items),
        _ => Err(format!("{} cannot be remembered; choose a number from 1 to 10^15", plural(items, "item"))),
    }
}

/// Returns the number of new items that come in the time `time`, rounded up. `time` is the
/// requested time during which an item must be remembered. `per_second` is the number of new items
/// per second.
///
/// # Errors
/// Fails as [`remembered`] does.
pub fn remembered_for(time: Duration, per_second: f64) -> core::result::Result<u64, String> {
    // If the product exceeds a whole number only because of rounding errors, it is rounded to this
    // number.
    remembered((time.as_secs_f64() * per_second * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64)
}

/// The largest number of items per cycle that a search considers.
const MOST_ITEMS: f64 = 1e18;

/// The blocked design, or `None` if it is not requested. With the layout `auto`, the result is
/// `None` instead of an error if no blocked design meets the request.
fn in_lines(layout: Layout, find: impl FnOnce() -> Result<Option<BlockedSized>>) -> Result<Option<BlockedSized>> {
    match layout {
        Layout::Lines => find(),
        Layout::Auto => Ok(find().unwrap_or(None)),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of held items excludes the item that ends a cycle if there is one phase, and
    /// includes it if there are two.
    #[test]
    fn what_is_forgotten_is_not_held() {
        let designs = Designs::of_items(3, &"10%".parse().expect("a rate"), Layout::Lines).expect("designs");
        let usual = designs.usual.expect("the usual way");
        let [one, two] = [designs.one, designs.two].map(|sized| sized.expect("a design"));
        assert!((held(&one) - 2.153).abs() < 1e-3 && held(&two) == two.run.items_per_cycle.value);
        let by_hand = held(&one) * usual.bits as f64 / (usual.items * one.design.total_bits()) as f64;
        assert!((usual.gain(&one) - by_hand).abs() < 1e-12 && (by_hand - 1.64).abs() < 0.01, "{by_hand}");
        let blocked = designs.blocked.expect("a blocked design");
        assert!(blocked_held(&blocked) == blocked.run.items_per_cycle.lower - 1.0 && usual.blocked_gain(&blocked) > 0.0);
    }

    /// The usual design is the plan for the average rate, which includes equal hashes.
    #[test]
    fn the_usual_design_is_a_plan_for_the_mean() {
        let target = |text: &str| truebloom_math::Target::new().rate(text.parse().expect("a rate")).mean();
        for (items, text) in [(1, "1/2"), (2, "1/4"), (1, "10%"), (3, "10%"), (1_000, "1%"), (1_000, "1e-33")] {
            let plan = Plan::new(&target(text).items(items)).expect("a plan");
            let usual = Designs::of_items(items, &text.parse().expect("a rate"), Layout::Spread).expect("designs").usual.expect("in reach");
            assert_eq!((usual.bits, usual.probes, usual.items), (plan.bits, plan.probes, items), "{text}");
        }
        let designs = Designs::of_bits(2, &"1/2".parse().expect("a rate"), Layout::Spread).expect("designs");
        assert!(designs.usual.is_none(), "{designs:?}");
    }

    /// If all designs are refused because of equal hashes, the error names a rate that is accepted
    /// when it is asked for.
    #[test]
    fn the_rate_that_a_refusal_names_is_accepted() {
        let rate = |text: &str| -> Rate { text.parse().expect("a rate") };
        let mut refusals = 0;
        for (text, gap) in ["1e-30", "1e-32", "1e-33", "1e-34"].into_iter().flat_map(|text| [1_000, 1_000_000].map(|gap| (text, gap))) {
            for question in 0..3 {
                let ask = |rate: &Rate| match question {
                    0 => Designs::of_gap(gap, FORGET, rate, Layout::Spread),
                    1 => Designs::of_items(gap, rate, Layout::Spread),
                    _ => Designs::of_bits(128 * gap, rate, Layout::Spread),
                };
                let Err(Error::EqualHashes { least, .. }) = ask(&rate(text)) else { continue };
                refusals += 1;
                let found = ask(&rate(&crate::show::rate_up(least, 4)));
                assert!(found.is_ok(), "{text}, {gap} items: {:?}", found.err());
            }
        }
        assert!(refusals >= 8, "{refusals}");
        // A design with two phases is much smaller than one with a single phase.
        let refused = Designs::of_gap(1_000_000, FORGET, &rate("1e-30"), Layout::Spread);
        assert!(matches!(refused, Err(Error::EqualHashes { least, .. }) if least < 1e-29), "{refused:?}");
    }

    /// The blocked layout refuses rates below 1e-9 whatever equal hashes allow, so its own limit is
    /// named.
    #[test]
    fn the_limit_of_the_blocked_layout_is_named_first() {
        let rate: Rate = "1e-33".parse().expect("a rate");
        for found in [
            Designs::of_bits(1 << 23, &rate, Layout::Lines),
            Designs::of_items(1_000_000, &rate, Layout::Lines),
            Designs::of_gap(1_000_000, FORGET, &rate, Layout::Lines),
        ] {
            assert!(matches!(found, Err(Error::OutOfRange { name: "fpr", .. })), "{found:?}");
        }
        assert!(Designs::of_bits(1 << 23, &"1e-9".parse().expect("a rate"), Layout::Lines).is_ok());
    }

    /// 500 items per minute are exactly 30,000 per hour, and half an item is rounded up to one.
    #[test]
    fn no_item_is_made_of_rounding() {
        for (seconds, per_second, items) in [
            (3600.0, 500.0 / 60.0, 30_000),
            (86_400.0, 1.0 / 3.0, 28_800),
            (0.1, 5.0, 1),
            (1.0, 3.0, 3),
            (1.0, 3.000_001, 4),
            (604_800.0, 1e9, 604_800_000_000_000),
        ] {
            let time = Duration::from_secs_f64(seconds);
            assert_eq!(remembered_for(time, per_second), Ok(items), "{seconds} s of {per_second}");
        }
    }
}
