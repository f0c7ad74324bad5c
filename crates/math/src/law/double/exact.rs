//! Exact rates, by the inclusion-exclusion formula over sets of query positions that remain empty.
//!
//! Let `W(T)` be the number of hash pairs that hit at least one position of the set T. After n
//! items, all positions in T are still empty with probability `(1 - W(T)/pairs)^n`, where `pairs`
//! is the number of all hash pairs. The sets T are grouped by `W(T)`, which has few different
//! values because few pairs hit several positions. If w pairs hit each position, and `mu(S)` pairs
//! hit exactly the set S, then `W(T) = |T| w - sum_S mu(S) (|S and T| - 1)^+`. Here `x^+` is the
//! larger of x and 0. A single sum over subsets gives the right-hand side for all sets T.

use super::collisions::{Class, from_overlaps, listed, long_orders, of_order, offsets, short_orders};
use super::powers::Powers;
use super::{Double, Offsets, Step};
use crate::Result;
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of positions for which all subsets are enumerated. This takes at most a
/// quarter of a second per class.
const MOST_POSITIONS: u32 = 22;

/// The largest number of steps for one answer. This many steps take about a second. With offsets,
/// where every query is its own class, the limit is half of this number.
const MAX_STEPS: f64 = 8e8;

/// The description of this computation in error messages.
const RATE: &str = "the exact rate of a two-hash scheme";

/// The rate as a sum that can be enclosed in brackets, or `None` if that takes too long.
pub(super) fn rate(law: &Double, items: u64) -> Result<Option<Powers>> {
    let Some(powers) = sum(law, items) else { return Ok(None) };
    Ok(powers.check_cost(powers.bits_needed() + 64.0).is_ok().then_some(powers))
}

/// The rate as a sum of terms that do not depend on the number of items, or `None` if listing the
/// terms takes too long.
pub(super) fn sum(law: &Double, items: u64) -> Option<Powers> {
    let classes = classes(law)?;
    let one = super::collisions::hits_of_one(law);
    let mut terms: BTreeMap<u128, i128> = BTreeMap::new();
    for class in &classes {
        add_class(class, one, &mut terms);
    }
    Some(Powers::new(law.pairs(), items, law.probes, law.pairs().second, terms))
}

/// All classes of queries, or `None` if that takes too long.
fn classes(law: &Double) -> Option<Vec<Class>> {
    let (k, m) = (f64::from(law.probes), law.bits as f64);
    if law.probes > MOST_POSITIONS && u64::from(law.probes) <= law.bits || law.probes > 64 {
        return None;
    }
    // A query has at most m positions.
    let positions = k.min(m);
    let subsets = libm::exp2(positions) * (2.0 + 0.5 * positions);
    let listing = 20.0 * positions * positions * k * k;
    let merged = if law.offsets == Offsets::Linear {
        let short = short_orders(law).count() as f64;
        if short * (listing + subsets) > MAX_STEPS {
            return None;
        }
        work::spend(RATE, short * listing).ok()?;
        let long = long_orders(law);
        if (long.len() as f64 + short) * subsets + short * listing > MAX_STEPS {
            return None;
        }
        work::spend(RATE, (long.len() as f64 + short) * subsets).ok()?;
        let long = long.iter().map(|(weight, overlaps)| from_overlaps(law.probes, *weight, overlaps));
        merge(short_orders(law).map(|order| of_order(law, order)).chain(long))
    } else {
        if m * (listing + subsets) > MAX_STEPS / 2.0 {
            return None;
        }
        work::spend(RATE, 2.0 * m * (listing + subsets)).ok()?;
        let (f, first) = (offsets(law), u64::from(law.step == Step::NonZero));
        merge((first..law.bits).map(|step| listed(law, step, 1, &f)))
    };
    Some(merged)
}

/// Merges classes that are equal.
fn merge(classes: impl Iterator<Item = Class>) -> Vec<Class> {
    let mut merged: BTreeMap<(u32, Vec<(u64, u64)>), u64> = BTreeMap::new();
    for class in classes {
        *merged.entry((class.positions, class.multiple)).or_insert(0) += class.weight;
    }
    merged.into_iter().map(|((positions, multiple), weight)| Class { weight, positions, multiple }).collect()
}

/// Adds `(W(T), weight (-1)^|T|)` for every set T of positions.
fn add_class(class: &Class, one: u128, terms: &mut BTreeMap<u128, i128>) {
    let all = (1usize << class.positions) - 1;
    let total: u64 = class.multiple.iter().map(|set| set.1).sum();
    let mut of_position = vec![0; class.positions as usize];
    // Holds mu at first, and then the sums of mu over all subsets.
    let mut within = vec![0u64; all + 1];
    for &(set, count) in &class.multiple {
        within[set as usize] += count;
        (0..class.positions).filter(|i| set >> i & 1 == 1).for_each(|i| of_position[i as usize] += count);
    }
    for i in 0..class.positions {
        let bit = 1 << i;
        for pair in within.chunks_exact_mut(2 * bit) {
            let (without, with) = pair.split_at_mut(bit);
            with.iter_mut().zip(without).for_each(|(with, without)| *with += *without);
        }
    }
    // The number of sets T for each size, and for each amount by which W(T) is below |T| w. This
    // amount is the sum of mu(S) (|S and T| - 1)^+.
    let most: u64 = class.multiple.iter().map(|&(set, count)| count * (u64::from(set.count_ones()) - 1)).sum();
    let mut counts = Counts::new(class.positions, most);
    let mut hits = vec![0u64; 1];
    for &of_one in &of_position {
        hits.extend_from_within(..);
        let half = hits.len() / 2;
        hits[half..].iter_mut().for_each(|sum| *sum += of_one);
    }
    for (set, hits) in hits.into_iter().enumerate() {
        counts.add(set.count_ones(), hits - (total - within[all ^ set]));
    }
    counts.for_each(|size, short, count| {
        let sign = if size % 2 == 0 { 1 } else { -1 };
        *terms.entry(u128::from(size) * one - u128::from(short)).or_insert(0) += sign * i128::from(count) * i128::from(class.weight);
    });
}

/// Counts with two indices, stored in a table if the table is small, and otherwise in a tree.
enum Counts {
    Table { width: usize, cells: Vec<u32> },
    Tree(BTreeMap<(u32, u64), u32>),
}

impl Counts {
    fn new(sizes: u32, most: u64) -> Counts {
        match usize::try_from(most) {
            Ok(most) if most < 1 << 20 => Counts::Table { width: most + 1, cells: vec![0; (sizes as usize + 1) * (most + 1)] },
            _ => Counts::Tree(BTreeMap::new()),
        }
    }

    fn add(&mut self, size: u32, short: u64) {
        match self {
            Counts::Table { width, cells } => cells[size as usize * *width + short as usize] += 1,
            Counts::Tree(tree) => *tree.entry((size, short)).or_insert(0) += 1,
        }
    }

    fn for_each(&self, mut visit: impl FnMut(u32, u64, u32)) {
        match self {
            Counts::Table { width, cells } => {
                let used = cells.iter().enumerate().filter(|cell| *cell.1 > 0);
                used.for_each(|(i, &count)| visit((i / width) as u32, (i % width) as u64, count));
            }
            Counts::Tree(tree) => tree.iter().for_each(|(&(size, short), &count)| visit(size, short, count)),
        }
    }
}
