//! Proven brackets of any width, and exact decisions that use them.

use crate::exact::dyadic::Dyadic;
use crate::exact::fixed;
use crate::{Fpr, Rate, Result};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A bracket with `lower <= truth <= upper`.
#[derive(Clone, Debug)]
pub(crate) struct Enclosure {
    pub(crate) lower: Dyadic,
    pub(crate) upper: Dyadic,
}

impl Enclosure {
    /// Makes a bracket from the integer `sum` in units of `2^exponent`. The true value is at most
    /// `below` units lower and `above` units higher.
    pub(crate) fn around(sum: Vec<u64>, below: u128, above: u128, exponent: i64) -> Enclosure {
        let (mut lower, mut upper) = (sum.clone(), sum);
        if fixed::subtract(&mut lower, &fixed::units(below)) {
            lower.fill(0);
        }
        if fixed::add(&mut upper, &fixed::units(above)) {
            upper.push(1);
        }
        Enclosure { lower: Dyadic { words: lower, exponent }, upper: Dyadic { words: upper, exponent } }
    }

    /// Makes a bracket from two ends, whose exponents can differ. The ends are rounded outward to a
    /// common exponent.
    pub(crate) fn between(lower: Dyadic, upper: Dyadic) -> Enclosure {
        let exponent = match (lower.is_zero(), upper.is_zero()) {
            (true, _) => upper.exponent,
            (_, true) => lower.exponent,
            _ => lower.exponent.max(upper.exponent),
        };
        Enclosure { lower: lower.aligned(exponent, false), upper: upper.aligned(exponent, true) }
    }

    /// The number b of leading bits in which the ends agree: the width is at most `lower * 2^-b`.
    /// It is negative if the lower end is 0.
    fn relative_bits(&self) -> i64 {
        let mut width = self.upper.clone();
        fixed::subtract(&mut width.words, &self.lower.words);
        if width.is_zero() {
            i64::MAX
        } else if self.lower.is_zero() {
            -1
        } else {
            self.lower.bit_length() - 1 - width.bit_length()
        }
    }

    /// The bracket with the bound on equal hashes added to both ends.
    fn with_floor(mut self, floor: Option<HashFloor>) -> Enclosure {
        if let Some(floor) = floor {
            self.add_floor(floor);
        }
        self
    }

    pub(crate) fn add_floor(&mut self, floor: HashFloor) {
        // The floor is items * 2^(-hash_bits), in units of the bracket. It is rounded down for the
        // lower end, and up for the upper end.
        for (end, up) in [(&mut self.lower, 0), (&mut self.upper, 1)] {
            let shift = -end.exponent - i64::from(floor.hash_bits);
            let addend = match shift {
                0.. => {
                    let mut words = vec![0; shift as usize / 64 + 2];
                    let wide = u128::from(floor.items) << (shift % 64);
                    words[shift as usize / 64] = wide as u64;
                    words[shift as usize / 64 + 1] = (wide >> 64) as u64;
                    words
                }
                _ => vec![floor.items.checked_shr(shift.unsigned_abs() as u32).unwrap_or(0) + up],
            };
            let words = end.words.len().max(addend.len()) + 1;
            end.words.resize(words, 0);
            fixed::add(&mut end.words, &addend);
        }
    }

    pub(crate) fn compare_rate(&self, rate: &Rate) -> Option<Ordering> {
        let exponent = self.lower.exponent;
        let below = Dyadic { words: rate.floor_shifted(exponent.unsigned_abs()), exponent };
        let mut above = below.clone();
        above.words.push(0);
        fixed::add(&mut above.words, &[1]);
        if self.upper.compare(&below).is_le() {
            Some(Ordering::Less)
        } else if self.lower.compare(&above).is_ge() {
            Some(Ordering::Greater)
        } else {
            None
        }
    }

    fn compare(&self, other: &Enclosure) -> Option<Ordering> {
        if self.upper.compare(&other.lower).is_lt() {
            Some(Ordering::Less)
        } else if self.lower.compare(&other.upper).is_gt() {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}

/// The bound on the probability that a new key has the same hash as one of the items:
/// `items / 2^hash_bits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashFloor {
    pub(crate) items: u64,
    pub(crate) hash_bits: u32,
}

/// A positive rational number for which brackets of any precision can be computed.
pub(crate) trait Enclose {
    /// Computes a bracket with fractions of `limbs` words.
    fn attempt(&self, limbs: usize) -> Result<Enclosure>;

    /// The estimated number of bits that a computation needs before the leading digits of its
    /// result are correct.
    fn bits_needed(&self) -> f64;

    /// A number of bits b such that the number is a fraction with a denominator below 2^b.
    fn denominator_bits(&self) -> f64;

    /// Returns an error if computing with fractions of this many bits takes too long.
    fn check_cost(&self, bits: f64) -> Result<()>;

    /// A bracket with a relative width of at most `2^-guard`.
    fn enclose(&self, guard: u32) -> Result<Enclosure> {
        narrowed(self.bits_needed(), guard, &|bits| {
            self.check_cost(bits)?;
            self.attempt((libm::ceil(bits / 64.0) as usize).max(2))
        })
    }

    /// The number as a bracket of `f64`.
    fn fpr(&self) -> Result<Fpr> {
        Ok(Fpr::from_enclosure(&self.enclose(GUARD)?))
    }

    /// Whether the number is at most `rate`. If a floor for equal hashes is given, it is added to
    /// the number first.
    ///
    /// The decision is exact if the product of the denominators is below 2^[`TIE_BITS`]. For larger
    /// products, the answer is false if no bracket of that precision separates the two numbers. So
    /// the answer is never true for a number above the rate.
    fn at_most(&self, rate: &Rate, floor: Option<HashFloor>) -> Result<bool> {
        let floor_bits = floor.map_or(0.0, |floor| f64::from(floor.hash_bits));
        let gap = self.denominator_bits() + rate.denominator_bits() as f64 + floor_bits;
        let order = decide(gap, &|guard| Ok(self.enclose(guard)?.with_floor(floor).compare_rate(rate)))?;
        Ok(order.is_some_and(Ordering::is_le))
    }

    /// Compares two numbers. Equality is decided exactly under the condition given in
    /// [`Enclose::at_most`]. Otherwise, numbers that cannot be separated count as equal.
    fn compare(&self, other: &dyn Enclose) -> Result<Ordering> {
        let gap = self.denominator_bits() + other.denominator_bits();
        let order = decide(gap, &|guard| Ok(self.enclose(guard)?.compare(&other.enclose(guard)?)))?;
        Ok(order.unwrap_or(Ordering::Equal))
    }
}

/// The relative precision, in bits, of brackets that are converted to `f64`, which has only 53
/// bits.
pub(crate) const GUARD: u32 = 60;

/// The largest number of bits in the product of two denominators for which equality is decided
/// exactly.
const TIE_BITS: f64 = 65_536.0;

/// A bracket with a relative width of at most `2^-guard`. The first attempt uses fractions of
/// `bits_needed + guard` bits. Like [`decide`], this function takes a trait object, so that it is
/// compiled only once.
fn narrowed(bits_needed: f64, guard: u32, attempt: &dyn Fn(f64) -> Result<Enclosure>) -> Result<Enclosure> {
    let mut bits = bits_needed + f64::from(guard);
    loop {
        let enclosure = attempt(bits)?;
        let agreed = enclosure.relative_bits();
        if agreed >= i64::from(guard) {
            return Ok(enclosure);
        }
        let short = i64::from(guard) - agreed;
        // If the lower end is 0, the number of missing bits is not known.
        bits = 64.0 * libm::ceil(bits / 64.0).max(2.0) + if agreed < 0 { 64.0 + 0.5 * bits } else { short as f64 };
    }
}

/// Calls `ask` with increasing precision until it decides. Two rational numbers whose denominators
/// have a product below 2^gap are equal or differ by more than 2^-gap. Both numbers are at most 1.
/// So if brackets narrower than 2^-gap overlap, the numbers are equal.
fn decide(gap: f64, ask: &dyn Fn(u32) -> Result<Option<Ordering>>) -> Result<Option<Ordering>> {
    let last = gap.min(TIE_BITS) as u32 + 3;
    let mut guard = GUARD;
    loop {
        if let Some(order) = ask(guard)? {
            return Ok(Some(order));
        }
        if guard >= last {
            return Ok((gap <= TIE_BITS).then_some(Ordering::Equal));
        }
        guard = (guard * 4).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number for tests. All brackets of this number contain one half, so they cannot decide
    /// whether the number equals one half.
    struct NearlyHalf {
        denominator_bits: f64,
    }

    impl Enclose for NearlyHalf {
        fn attempt(&self, limbs: usize) -> Result<Enclosure> {
            let mut half = vec![0; limbs];
            half[limbs - 1] = 1 << 63;
            Ok(Enclosure::around(half, 1, 1, -64 * limbs as i64))
        }

        fn bits_needed(&self) -> f64 {
            64.0
        }

        fn denominator_bits(&self) -> f64 {
            self.denominator_bits
        }

        fn check_cost(&self, _: f64) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_straddle_is_equality_only_where_the_denominators_prove_it() {
        let rate = "0.5".parse().expect("a rate");
        let (near, far) = (NearlyHalf { denominator_bits: 1_000.0 }, NearlyHalf { denominator_bits: TIE_BITS });
        assert_eq!(near.at_most(&rate, None), Ok(true));
        assert_eq!(far.at_most(&rate, None), Ok(false));
        assert_eq!(near.compare(&near), Ok(Ordering::Equal));
        // One half plus any floor is above the rate.
        assert_eq!(near.at_most(&rate, Some(HashFloor { items: 1, hash_bits: 128 })), Ok(false));
    }
}
