//! What rate other libraries really give: their arithmetic, restated, with the law it has or a
//! simulation of it.
//!
//! A [`Profile`] restates how one pinned version of a library computes bits, probes and positions,
//! and says where that was read. Everything else follows: the rate as a law gives it where one
//! fits, and a simulation of the arithmetic on ideal base hashes everywhere. Ideal means
//! independent uniform words in place of the library's hash function: what is audited is the
//! arithmetic, so a library with a weak hash may be worse than is said here, and none is better.
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

/// One pinned version of a library: how it computes sizes and positions, and where that was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in full.
    pub title: &'static str,
    /// The version that is restated.
    pub version: &'static str,
    /// Where the arithmetic was read: repository and file.
    pub source: &'static str,
    /// How bits and probes are computed.
    pub sizing: &'static str,
    /// How positions are computed.
    pub scheme: &'static str,
    /// Where the library is fine, and where not.
    pub remark: &'static str,
    /// The arithmetic of the positions.
    pub arithmetic: Arithmetic,
    pub(crate) sizes: fn(f64, f64) -> Result<Size>,
    /// Bits that a wish for bits is rounded up to.
    pub(crate) unit: u64,
}

/// Bits and probes as a library computes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of bits m that positions are taken from.
    pub bits: u64,
    /// Number of probes k; 0 where a library rounds it down to that, and then every key passes.
    pub probes: u32,
}

impl Profile {
    /// Bits and probes for this many items at this rate, in the library's own rounding.
    ///
    /// Errors: no items, or a rate not strictly between 0 and 1; what the library itself refuses;
    /// more bits or probes than are answered for.
    pub fn size(&self, items: u64, rate: f64) -> Result<Size> {
        if items == 0 {
            return out_of_range("items", items, "at least 1");
        }
        if !(rate > 0.0 && rate < 1.0) {
            return out_of_range("rate", rate, "above 0 and below 1");
        }
        checked((self.sizes)(items as f64, rate)?)
    }

    /// The size for given bits and probes: the bits rounded up to what the library can hold.
    ///
    /// Errors: bits or probes out of range, or ones that the arithmetic cannot have.
    pub fn size_of(&self, bits: u64, probes: u32) -> Result<Size> {
        // What is out of range for every filter is out of range here.
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
