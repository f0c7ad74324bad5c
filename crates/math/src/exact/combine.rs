//! Powers, products and differences of numbers that have proven brackets. The ends of the results
//! are rounded outward.

use crate::Result;
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::{Enclose, Enclosure};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

impl<T: Enclose + ?Sized> Enclose for Box<T> {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        (**self).attempt(limbs)
    }

    fn bits_needed(&self) -> f64 {
        (**self).bits_needed()
    }

    fn denominator_bits(&self) -> f64 {
        (**self).denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        (**self).check_cost(bits)
    }
}

/// A number raised to a power of at least 1. The ends of the bracket keep only their `limbs + 1`
/// leading words, so that a power far below 1 costs no more digits than its base.
pub(crate) struct Power<B> {
    pub(crate) base: B,
    pub(crate) exponent: u64,
}

impl<B: Enclose> Power<B> {
    fn end(&self, base: &Dyadic, limbs: usize, up: bool) -> Dyadic {
        let base = base.shortened(limbs + 1, up);
        let mut power = base.clone();
        for bit in (0..63 - self.exponent.max(1).leading_zeros()).rev() {
            power = power.multiply(&power).shortened(limbs + 1, up);
            if self.exponent >> bit & 1 == 1 {
                power = power.multiply(&base).shortened(limbs + 1, up);
            }
        }
        power
    }
}

impl<B: Enclose> Enclose for Power<B> {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let base = self.base.attempt(limbs)?;
        Ok(Enclosure::between(self.end(&base.lower, limbs, false), self.end(&base.upper, limbs, true)))
    }

    fn bits_needed(&self) -> f64 {
        self.base.bits_needed() + libm::log2(self.exponent as f64) + 2.0
    }

    fn denominator_bits(&self) -> f64 {
        self.base.denominator_bits() * self.exponent as f64
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        self.base.check_cost(bits)
    }
}

/// The product of one or more numbers.
pub(crate) struct ProductOf(pub(crate) Vec<Box<dyn Enclose>>);

impl Enclose for ProductOf {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let one = Dyadic { words: vec![1], exponent: 0 };
        let (mut lower, mut upper) = (one.clone(), one);
        for factor in &self.0 {
            let factor = factor.attempt(limbs)?;
            lower = lower.multiply(&factor.lower).shortened(limbs + 1, false);
            upper = upper.multiply(&factor.upper).shortened(limbs + 1, true);
        }
        Ok(Enclosure::between(lower, upper))
    }

    fn bits_needed(&self) -> f64 {
        self.0.iter().map(|factor| factor.bits_needed()).fold(0.0, f64::max) + 2.0 + libm::log2(self.0.len() as f64)
    }

    fn denominator_bits(&self) -> f64 {
        self.0.iter().map(|factor| factor.denominator_bits()).sum()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        self.0.iter().try_for_each(|factor| factor.check_cost(bits))
    }
}

/// The difference `whole - part`, which must be positive.
pub(crate) struct Difference<A, B> {
    pub(crate) whole: A,
    pub(crate) part: B,
}

impl<A: Enclose, B: Enclose> Enclose for Difference<A, B> {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let (whole, part) = (self.whole.attempt(limbs)?, self.part.attempt(limbs)?);
        Ok(Enclosure::between(whole.lower.minus(&part.upper), whole.upper.minus(&part.lower)))
    }

    fn bits_needed(&self) -> f64 {
        self.whole.bits_needed().max(self.part.bits_needed()) + 16.0
    }

    fn denominator_bits(&self) -> f64 {
        self.whole.denominator_bits() + self.part.denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        self.whole.check_cost(bits)?;
        self.part.check_cost(bits)
    }
}
