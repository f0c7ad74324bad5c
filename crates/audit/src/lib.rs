//! Computes the real rates of other libraries' filters. The rates follow from the arithmetic of the
//! libraries, by a formula or by a simulation.
//!
//! A [`Profile`] describes how one pinned version of a library computes bits, probes and positions,
//! and cites the source. All results follow from the profile. For some profiles, a formula gives
//! the rate. For every profile, a simulation estimates the rate. The simulation uses ideal hashes:
//! independent uniform words replace the results of the library's hash function. The audit
//! therefore covers only the arithmetic. With a weak hash function, a library may be worse than
//! reported here, but never better.
//!
//! ```
//! use truebloom_audit::{find, simulate};
//! let guava = find("guava").expect("known");
//! let size = guava.size(1_000, 0.01)?;
//! assert_eq!((size.bits, size.probes), (9_600, 7));
//! let measured = simulate(guava, size, 1_000, 1_000_000, 1)?;
//! assert!(measured.lower < 0.0103 && measured.upper > 0.0099);
//! # Ok::<(), truebloom_math::Error>(())
//! ```

mod arithmetic;
mod profiles;
mod rate;
mod simulate;
mod size;

pub use arithmetic::Arithmetic;
pub use profiles::{PROFILES, find};
pub use rate::{ideal, rate, share};
pub use simulate::simulate;

pub use truebloom_math::simulation::Simulation;

use truebloom_math::law::Standard;
use truebloom_math::{Error, Result};

/// One pinned version of a library: how it computes sizes and positions, with a citation of the
/// source.
#[derive(Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The library's name on the command line.
    pub name: &'static str,
    /// The library's full name.
    pub title: &'static str,
    /// The version of the library that this profile describes.
    pub version: &'static str,
    /// The repository and file from which the arithmetic was taken.
    pub source: &'static str,
    /// How bits and probes are computed.
    pub sizing: &'static str,
    /// How positions are computed.
    pub scheme: &'static str,
    /// A remark on the sizes for which the library's filters have the requested rate.
    pub remark: &'static str,
    /// The arithmetic that computes the positions.
    pub arithmetic: Arithmetic,
    pub(crate) sizes: fn(f64, f64) -> Result<Size>,
    /// The unit to which a requested number of bits is rounded up.
    pub(crate) unit: u64,
}

/// The numbers of bits and probes that a library computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of bits, m, among which positions are chosen.
    pub bits: u64,
    /// The number of probes, k. Some libraries can round this number down to 0. Every key is then
    /// reported as present.
    pub probes: u32,
}

impl Profile {
    /// Returns the numbers of bits and probes that the library computes for `items` items and the
    /// rate `rate`. The numbers are rounded as in the library.
    ///
    /// Fails if there are no items, or if the rate is not strictly between 0 and 1. Also fails if
    /// the library itself refuses these arguments, or if the size has more bits or probes than the
    /// formulas support.
    pub fn size(&self, items: u64, rate: f64) -> Result<Size> {
        if items == 0 {
            return out_of_range("items", items, "at least 1");
        }
        if !(rate > 0.0 && rate < 1.0) {
            return out_of_range("rate", rate, "above 0 and below 1");
        }
        checked((self.sizes)(items as f64, rate)?)
    }

    /// Returns the size of a filter with `bits` bits and `probes` probes. The number of bits is
    /// rounded up to a number that the library can store.
    ///
    /// Fails if the number of bits or probes is out of range, or if the library's arithmetic does
    /// not support this number of probes.
    pub fn size_of(&self, bits: u64, probes: u32) -> Result<Size> {
        // Sizes that no filter can have are errors.
        Standard::new(bits, probes)?;
        let unit = match self.arithmetic {
            Arithmetic::SlicesByChunks => u64::from(probes),
            _ => self.unit,
        };
        match self.arithmetic {
            Arithmetic::SplitBlock if probes != 8 => out_of_range("probes", probes, "8 in a split-block filter"),
            Arithmetic::SplitBlock => checked(Size { bits: bits.div_ceil(256).next_power_of_two() * 256, probes }),
            _ => checked(Size { bits: bits.div_ceil(unit) * unit, probes }),
        }
    }
}

fn out_of_range<T>(name: &'static str, found: impl ToString, expected: impl ToString) -> Result<T> {
    Err(Error::out_of_range(name, found, expected))
}

fn checked(size: Size) -> Result<Size> {
    if !(1..=truebloom_math::MAX_BITS).contains(&size.bits) {
        return out_of_range("bits", size.bits, "from 1 to 2^62");
    }
    if size.probes > truebloom_math::MAX_PROBES {
        return out_of_range("probes", size.probes, format!("at most {}", truebloom_math::MAX_PROBES));
    }
    Ok(size)
}
