//! Double hashing on one array of bits: position i of a key is `h1 + i h2 + f(i)` modulo m.

mod averaged;
mod bounded;
pub(crate) mod bracket;
mod collisions;
mod exact;
pub(crate) mod modular;
pub(crate) mod powers;

use super::Law;
use crate::enclosure::Enclose;
use crate::error::{check_bits, check_probes, out_of_range};
use crate::{Fill, Fpr, Result};
use powers::Pairs;

/// What `h2` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Uniform on `0..m`: with h2 = 0 all positions of plain double hashing are one.
    Any,
    /// Uniform on `1..m`.
    NonZero,
}

/// What is added to position i: the `f` of extended double hashing (Kirsch and Mitzenmacher, section 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Offsets {
    /// Nothing: plain double hashing.
    Linear,
    /// `i^2`.
    Square,
    /// `i^3`.
    Cube,
    /// `(i^3 - i) / 6`: enhanced double hashing.
    Enhanced,
    /// One's own, one for each probe; drawn at random, for example.
    Custom(Vec<i64>),
}

impl Offsets {
    /// `f(i)`; 0 beyond the end of one's own.
    pub fn at(&self, i: u32) -> i64 {
        let i = i64::from(i);
        match self {
            Offsets::Linear => 0,
            Offsets::Square => i * i,
            Offsets::Cube => i * i * i,
            Offsets::Enhanced => (i * i * i - i) / 6,
            Offsets::Custom(list) => list.get(i as usize).copied().unwrap_or(0),
        }
    }
}

/// The law of double hashing modulo any m, plain or extended, h1 and h2 uniform and independent for items and query alike. Positions that coincide count once.
///
/// Positions of different items are correlated, so the fill does not determine the rate, and the law of the fill is not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Double {
    bits: u64,
    probes: u32,
    step: Step,
    offsets: Offsets,
}

impl Double {
    /// Errors when bits or probes are out of range, when there is no `h2` but 0 to choose, or when there is not one offset of one's own for each probe.
    ///
    /// ```
    /// use truebloom_math::Law;
    /// use truebloom_math::law::{Double, Offsets, Step};
    /// let law = Double::new(401, 2, Step::Any, Offsets::Linear)?;
    /// assert_eq!(format!("{:.9}", law.fpr(100)?.value), "0.154656303");
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    pub fn new(bits: u64, probes: u32, step: Step, offsets: Offsets) -> Result<Double> {
        check_bits(bits)?;
        check_probes(probes)?;
        if step == Step::NonZero && bits == 1 {
            return out_of_range("bits", bits, "at least 2, so that h2 can be other than 0");
        }
        if let Offsets::Custom(list) = &offsets
            && list.len() != probes as usize
        {
            return out_of_range("offsets", format!("a list of {}", list.len()), format!("one number for each of the {probes} probes"));
        }
        // The same f is the same law.
        let offsets = if (0..probes).all(|i| offsets.at(i) == 0) { Offsets::Linear } else { offsets };
        Ok(Double { bits, probes, step, offsets })
    }

    /// What `h2` may be.
    pub fn step(&self) -> Step {
        self.step
    }

    /// What is added to the positions; [`Offsets::Linear`] whenever it is nothing.
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    fn pairs(&self) -> Pairs {
        Pairs { first: self.bits, second: self.bits - u64::from(self.step == Step::NonZero) }
    }
}

impl Law for Double {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        if items == 0 {
            return Ok(Fpr::ZERO);
        }
        if let Some(powers) = exact::rate(self, items)? {
            return powers.fpr();
        }
        if let Some(fpr) = bounded::rate(self, items)? {
            return Ok(fpr);
        }
        if let Some(fpr) = averaged::rate(self, items)? {
            return Ok(fpr);
        }
        Err(crate::Error::TooCostly { probes: self.probes, digits: 0 })
    }

    fn fpr_at_fill(&self, _: &[u64]) -> Result<Option<Fpr>> {
        Ok(None)
    }

    fn fill(&self, _: u64) -> Result<Option<Fill>> {
        Ok(None)
    }
}
