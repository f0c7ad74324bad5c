//! Laws by the names of their schemes.

use super::{Classic, Double, Law, Offsets, PartitionDouble, Partitioned, Standard, Step};
use crate::error::out_of_range;
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A way from hashes to positions that has a law, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hashing {
    /// k independent positions.
    Standard,
    /// k distinct positions.
    Classic,
    /// One independent position in each of k slices.
    Partitioned,
    /// `h1 + i h2`, h2 may be 0.
    Double,
    /// `h1 + i h2`, h2 not 0.
    DoubleNonzero,
    /// `h1 + i h2 + i^2`.
    Square,
    /// `h1 + i h2 + i^3`.
    Cube,
    /// `h1 + i h2 + (i^3 - i) / 6`.
    Enhanced,
    /// `h1 + i h2` in slice i.
    PartitionDouble,
}

impl Hashing {
    /// All of them.
    pub const ALL: [Hashing; 9] = [
        Hashing::Standard,
        Hashing::Classic,
        Hashing::Partitioned,
        Hashing::Double,
        Hashing::DoubleNonzero,
        Hashing::Square,
        Hashing::Cube,
        Hashing::Enhanced,
        Hashing::PartitionDouble,
    ];

    /// Its name on the command line and in `eval`.
    pub fn name(self) -> &'static str {
        match self {
            Hashing::Standard => "standard",
            Hashing::Classic => "classic",
            Hashing::Partitioned => "partitioned",
            Hashing::Double => "double",
            Hashing::DoubleNonzero => "double-nonzero",
            Hashing::Square => "square",
            Hashing::Cube => "cube",
            Hashing::Enhanced => "enhanced",
            Hashing::PartitionDouble => "partition-double",
        }
    }

    /// Its law for so many bits in all. Errors when bits or probes are out of range, or when `partition-double` cannot share the bits equally among its slices.
    ///
    /// ```
    /// use truebloom_math::law::Hashing;
    /// let law = "cube".parse::<Hashing>()?.law(487, 5)?;
    /// assert_eq!(format!("{:.9}", law.fpr(60)?.value), "0.020964506");
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    pub fn law(self, bits: u64, probes: u32) -> Result<Box<dyn Law>> {
        if let Some(law) = self.double(bits, probes)? {
            return Ok(Box::new(law));
        }
        match self {
            Hashing::Classic => Ok(Box::new(Classic::new(bits, probes)?)),
            Hashing::Partitioned => Ok(Box::new(Partitioned::new(bits, probes)?)),
            Hashing::PartitionDouble => {
                let slices = u64::from(probes.max(1));
                if !bits.is_multiple_of(slices) {
                    return out_of_range("bits", bits, format!("a multiple of probes ({probes}), so that all slices are equal"));
                }
                Ok(Box::new(PartitionDouble::new(bits / slices, probes)?))
            }
            _ => Ok(Box::new(Standard::new(bits, probes)?)),
        }
    }

    /// The law, for those that are double hashing on one array.
    pub(crate) fn double(self, bits: u64, probes: u32) -> Result<Option<Double>> {
        let (step, offsets) = match self {
            Hashing::Double => (Step::Any, Offsets::Linear),
            Hashing::DoubleNonzero => (Step::NonZero, Offsets::Linear),
            Hashing::Square => (Step::Any, Offsets::Square),
            Hashing::Cube => (Step::Any, Offsets::Cube),
            Hashing::Enhanced => (Step::Any, Offsets::Enhanced),
            _ => return Ok(None),
        };
        Double::new(bits, probes, step, offsets).map(Some)
    }
}

impl fmt::Display for Hashing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Hashing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Hashing> {
        let found = Hashing::ALL.into_iter().find(|hashing| hashing.name() == text);
        found.map_or_else(|| out_of_range("scheme", text, format!("one of {}", Hashing::ALL.map(Hashing::name).join(", "))), Ok)
    }
}
