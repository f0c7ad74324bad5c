//! A single recurrence of positive terms, which computes the laws of unions and intersections.
//!
//! Let `x` of `m` bits be marked. The number y of marked bits in a uniformly random set of `w` bits
//! is hypergeometric: `C(x,y) C(m-x,w-y) / C(m,w)`. *Thinning* by this set unmarks the bits outside
//! it. For an intersection, the marked bits are those that were hit in every department so far.
//! They are thinned by the set bits of the next department. For a union, the marked bits are the
//! empty bits. They are thinned by the complements of the committees (Burns, Lemma 8 with its
//! correction). A law is a chain of such steps; Burns (12), (18) and (24) are sums over its paths.
//! All terms are positive, so relative errors only add up, and they are counted.

use super::{Committees, Occupancy};
use crate::exact::double::DoubleDouble;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// Probabilities are multiplied by two to this power, so that the low halves of tiny probabilities
/// do not underflow.
const SCALE: i32 = 600;

/// The number type of a chain: `f64` or [`DoubleDouble`].
trait Real: Copy {
    const ZERO: Self;
    fn of(x: DoubleDouble) -> Self;
    fn to_double(self) -> DoubleDouble;
    /// The number `self + a b`.
    fn add_product(self, a: Self, b: Self) -> Self;
    /// An upper bound on the relative error of an operation.
    const UNIT: f64;
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const UNIT: f64 = f64::EPSILON / 2.0;
    fn of(x: DoubleDouble) -> f64 {
        x.to_f64()
    }
    fn to_double(self) -> DoubleDouble {
        DoubleDouble { high: self, low: 0.0 }
    }
    #[inline]
    fn add_product(self, a: f64, b: f64) -> f64 {
        self + a * b
    }
}

impl Real for DoubleDouble {
    const ZERO: DoubleDouble = DoubleDouble::ZERO;
    /// 2^-102, rounded up.
    const UNIT: f64 = 1.98e-31;
    fn of(x: DoubleDouble) -> DoubleDouble {
        x
    }
    fn to_double(self) -> DoubleDouble {
        self
    }
    #[inline]
    fn add_product(self, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        self.plus(a.times(b))
    }
}

/// The probabilities of consecutive numbers of set bits.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) first: u64,
    pub(crate) probabilities: Vec<f64>,
    /// An upper bound on the total probability that was dropped after the steps. The sum of the
    /// probabilities may be too low by this amount, and so may each single probability.
    pub(crate) left_out: f64,
    /// An upper bound on the relative error of each probability, apart from `left_out`.
    pub(crate) relative: f64,
}

/// The precision of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Single `f64`: the bound on the error grows with the number of steps.
    Single,
    /// Pairs of `f64`: the bound on the error is little more than the error of the final rounding.
    DoubleDouble,
}

/// Limits on the computation of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) precision: Precision,
    /// At both ends of the list of probabilities, those below this limit are dropped.
    pub(crate) floor: f64,
    /// The number of terms that the computation may add up. If more are needed, the result is
    /// [`Error::LawTooCostly`].
    pub(crate) terms: f64,
}

/// The distribution of the number of marked bits after a step.
#[derive(Clone, Debug)]
struct Chain<T> {
    bits: u64,
    first: u64,
    weights: Vec<T>,
    left_out: f64,
    relative: f64,
    floor: f64,
    spent: f64,
    allowed: f64,
}

/// The hypergeometric law of `y`, from `first` on.
struct Row<T> {
    first: u64,
    probabilities: Vec<T>,
    /// Approximately the total of the dropped values. This number is below the true total by at
    /// most rounding errors.
    left_out: f64,
}

/// Computes the row from the most likely `y` outwards by ratios, and then divides by the sum.
/// Values below 1e-280 times the largest value are dropped.
fn row<T: Real>(bits: u64, marked: u64, size: u64) -> Row<T> {
    let (low, high) = ((marked + size).saturating_sub(bits), marked.min(size));
    let mode = ((u128::from(marked) + 1) * (u128::from(size) + 1) / (u128::from(bits) + 2)) as u64;
    let mode = mode.clamp(low, high);
    // The numerator and the denominator of p(y + 1) / p(y).
    let ratio = |y: u64| {
        let top = u128::from(marked - y) * u128::from(size - y);
        let bottom = u128::from(y + 1) * u128::from(bits - marked + y + 1 - size);
        (DoubleDouble::of(top), DoubleDouble::of(bottom))
    };
    let (mut below, mut above) = (Vec::new(), vec![DoubleDouble::ONE]);
    // The ratios of neighbouring values fall with the distance from the mode, so a geometric series
    // bounds what is dropped.
    let mut left_out = 0.0;
    let mut value = DoubleDouble::ONE;
    for y in mode..high {
        let (top, bottom) = ratio(y);
        value = value.times(top.over(bottom));
        if value.high < 1e-280 {
            left_out += value.high / (1.0 - (top.high / bottom.high));
            break;
        }
        above.push(value);
    }
    let mut value = DoubleDouble::ONE;
    for y in (low..mode).rev() {
        let (top, bottom) = ratio(y);
        value = value.times(bottom.over(top));
        if value.high < 1e-280 {
            left_out += value.high / (1.0 - (bottom.high / top.high));
            break;
        }
        below.push(value);
    }
    let first = mode - below.len() as u64;
    below.reverse();
    below.extend(above);
    let sum = below.iter().fold(DoubleDouble::ZERO, |sum, p| sum.plus(*p));
    Row { first, probabilities: below.into_iter().map(|p| T::of(p.over(sum))).collect(), left_out }
}

impl<T: Real> Chain<T> {
    /// Creates a chain in which all bits are marked.
    fn new(bits: u64, budget: &Budget) -> Chain<T> {
        Chain {
            bits,
            first: bits,
            weights: vec![T::of(DoubleDouble { high: libm::scalbn(1.0, SCALE), low: 0.0 })],
            left_out: 0.0,
            relative: 0.0,
            floor: libm::scalbn(budget.floor, SCALE),
            spent: 0.0,
            allowed: budget.terms,
        }
    }

    fn spend(&mut self, terms: f64) -> Result<()> {
        self.spent += terms;
        if self.spent > self.allowed {
            return Err(too_costly(self.bits));
        }
        Ok(())
    }

    /// Performs one step of thinning, by a random set of `size` bits. `rows` caches the rows of
    /// this size; the index is `top` minus the number of marked bits.
    fn thin(&mut self, size: u64, rows: &mut Vec<Option<Row<T>>>, top: u64) -> Result<()> {
        let last = self.first + self.weights.len() as u64 - 1;
        let (low, high) = ((self.first + size).saturating_sub(self.bits), last.min(size));
        let width = (high - low) as f64 + 1.0;
        // Rows are at most this long. Computing a row costs about as much as using it twenty times.
        self.spend(0.1 * width + 20.0)?;
        let mut next = vec![T::ZERO; width as usize];
        let (mut longest, mut left_out) = (0, 0.0f64);
        for (i, &weight) in self.weights.iter().enumerate() {
            let marked = self.first + i as u64;
            let at = (top - marked) as usize;
            if rows.len() <= at {
                rows.resize_with(at + 1, || None);
            }
            let length = match &rows[at] {
                Some(row) => row.probabilities.len(),
                None => {
                    let possible = (marked.min(size) - (marked + size).saturating_sub(self.bits)) as f64 + 1.0;
                    // A long row ends about forty standard deviations from its mode.
                    let spread = 80.0 * libm::sqrt(marked as f64 / 4.0).min(libm::sqrt((self.bits - size) as f64)) + 800.0;
                    if self.spent + 20.0 * possible.min(spread) > self.allowed {
                        return Err(too_costly(self.bits));
                    }
                    let made = row::<T>(self.bits, marked, size);
                    let length = made.probabilities.len();
                    self.spent += 20.0 * length as f64;
                    rows[at] = Some(made);
                    length
                }
            };
            self.spent += length as f64;
            longest = longest.max(length);
            if let Some(row) = &rows[at] {
                left_out = left_out.max(row.left_out);
                let start = (row.first - low) as usize;
                for (sum, &p) in next[start..].iter_mut().zip(&row.probabilities) {
                    *sum = sum.add_product(weight, p);
                }
            }
        }
        self.spend(0.0)?;
        // Drops the rows above the window, which are not needed again.
        for at in (0..(top - last) as usize).rev() {
            if rows[at].take().is_none() {
                break;
            }
        }
        // Rounding errors of a result: one from the row's probability, one from the product, and at
        // most one from an addition for each probability of the row.
        self.relative += (longest as f64 + 2.0) * 1.01 * T::UNIT;
        // The weights add up to at most 1, so together the rows drop at most what one of them
        // drops.
        self.left_out += left_out;
        self.first = low;
        self.weights = next;
        self.trim();
        Ok(())
    }

    /// Drops probabilities below `floor` from both ends of the window.
    fn trim(&mut self) {
        let small = |weight: &T| weight.to_double().high < self.floor;
        let keep = self.weights.iter().rposition(|weight| !small(weight)).map_or(1, |last| last + 1);
        let dropped = |weights: &[T]| weights.iter().map(|weight| libm::scalbn(weight.to_double().high, -SCALE)).sum::<f64>();
        self.left_out += dropped(&self.weights[keep..]);
        self.weights.truncate(keep);
        let skip = self.weights.iter().position(|weight| !small(weight)).unwrap_or(0);
        self.left_out += dropped(&self.weights[..skip]);
        self.weights.drain(..skip);
        self.first += skip as u64;
    }

    fn thin_by(&mut self, size: u64, count: u128, mut after: impl FnMut(&Chain<T>) -> bool) -> Result<()> {
        let (mut rows, top) = (Vec::new(), self.first + self.weights.len() as u64 - 1);
        for _ in 0..count {
            self.thin(size, &mut rows, top)?;
            if !after(self) {
                break;
            }
        }
        Ok(())
    }

    /// Performs one step of thinning, by the set bits of a department, whose number is random.
    fn thin_by_mixture(&mut self, sizes: &Chain<T>) -> Result<()> {
        let top = self.first + self.weights.len() as u64 - 1;
        // Checks the cost before the memory is allocated.
        self.spend(2.0 * top as f64)?;
        let mut next = vec![T::ZERO; top as usize + 1];
        let (mut left_out, mut relative) = (0.0, 0.0f64);
        for (i, &share) in sizes.weights.iter().enumerate() {
            self.spend(self.weights.len() as f64)?;
            let mut part = self.clone();
            part.thin(sizes.first + i as u64, &mut Vec::new(), top)?;
            self.spent = part.spent;
            left_out += part.left_out - self.left_out;
            relative = relative.max(part.relative);
            // Both factors are scaled, so the scale of one is undone.
            let share = share.to_double();
            let share = T::of(DoubleDouble { high: libm::scalbn(share.high, -SCALE), low: libm::scalbn(share.low, -SCALE) });
            for (sum, &weight) in next[part.first as usize..].iter_mut().zip(&part.weights) {
                *sum = sum.add_product(weight, share);
            }
        }
        self.left_out += left_out + sizes.left_out;
        self.relative = relative + sizes.relative + (sizes.weights.len() as f64 + 2.0) * 1.01 * T::UNIT;
        self.first = 0;
        self.weights = next;
        self.trim();
        Ok(())
    }

    /// The law of the number of bits that are not marked.
    fn complement(mut self) -> Chain<T> {
        self.first = self.bits - (self.first + self.weights.len() as u64 - 1);
        self.weights.reverse();
        self
    }

    fn finish(&self) -> Stretch {
        let probability = |weight: &T| libm::scalbn(weight.to_double().to_f64(), -SCALE);
        Stretch {
            first: self.first,
            probabilities: self.weights.iter().map(probability).collect(),
            left_out: 2.0 * self.left_out,
            relative: self.relative + f64::EPSILON,
        }
    }
}

pub(crate) fn too_costly(bits: u64) -> Error {
    Error::LawTooCostly { bits }
}

/// The law of the set bits of one department.
fn department<T: Real>(bits: u64, committees: &[Committees], budget: &Budget) -> Result<Chain<T>> {
    let mut chain = Chain::new(bits, budget);
    for group in committees {
        // Each step costs at least one term.
        if group.count as f64 > budget.terms {
            return Err(too_costly(bits));
        }
        chain.thin_by(bits - group.size, group.count, |_| true)?;
    }
    Ok(chain.complement())
}

fn whole<T: Real>(law: &Occupancy, budget: &Budget) -> Result<Stretch> {
    let mut all: Option<Chain<T>> = None;
    for committees in &law.departments {
        all = Some(match (all, committees.as_slice()) {
            (None, _) => department(law.bits, committees, budget)?,
            (Some(mut chain), [Committees { size, count: 1 }]) => {
                chain.thin_by(*size, 1, |_| true)?;
                chain
            }
            (Some(mut chain), _) => {
                let sizes = department(law.bits, committees, &Budget { terms: budget.terms - chain.spent, ..*budget })?;
                chain.spent += sizes.spent;
                chain.thin_by_mixture(&sizes)?;
                chain
            }
        });
    }
    all.map_or_else(|| Err(too_costly(law.bits)), |chain| Ok(chain.finish()))
}

/// The approximate number of relevant terms of a row, for committees of this size.
pub(crate) fn row_length(size: u64) -> f64 {
    let size = size as f64;
    (size + 1.0).min(20.0 * libm::sqrt(size))
}

/// The law, computed committee by committee.
pub(crate) fn law(law: &Occupancy, budget: &Budget) -> Result<Stretch> {
    match budget.precision {
        Precision::Single => whole::<f64>(law, budget),
        Precision::DoubleDouble => whole::<DoubleDouble>(law, budget),
    }
}

/// Adds committees of one size, one after another. After each committee, `visit` is called with the
/// law of the set bits. The loop ends when `visit` returns false.
pub(crate) fn walk(
    bits: u64,
    before: u64,
    size: u64,
    budget: &Budget,
    mut visit: impl FnMut(u64, &dyn Fn() -> Stretch) -> bool,
) -> Result<()> {
    let mut chain = Chain::<f64>::new(bits, budget);
    // The marked bits are the empty ones: all except the `before` bits that are already hit.
    chain.first = bits - before;
    let mut count = 0;
    chain.thin_by(bits - size, u128::MAX, |chain| {
        count += 1;
        visit(count, &|| chain.clone().complement().finish())
    })
}
