//! Seeds: 128 bits that select a filter's hash function.

#[cfg(feature = "random")]
use crate::error::BuildError;
use crate::error::ParseSeedError;
use alloc::borrow::ToOwned;
#[cfg(feature = "random")]
use alloc::string::ToString;
use core::fmt;
use core::str::FromStr;

/// 128 bits that select a filter's hash function from many possible hash functions.
///
/// Proven rates hold for a random seed, and for keys that were chosen without knowing the seed.
/// Choose the seed yourself only if you want to merge or compare filters, or to make a result
/// reproducible. [`Display`](fmt::Display) writes the seed as hexadecimal digits. `{:?}` hides the
/// seed, to keep it out of logs. An attacker who knows the seed can choose keys that are all false
/// positives.
///
/// ```
/// use truebloom::Seed;
/// let seed: Seed = "2a".parse()?;
/// assert_eq!(seed, Seed::from(42));
/// assert_eq!(seed.to_string(), "0000000000000000000000000000002a");
/// assert_eq!(format!("{seed:?}"), "Seed(hidden)");
/// # Ok::<(), truebloom::ParseSeedError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u128);

impl Seed {
    /// A seed from the random numbers of the operating system.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn random() -> Result<Seed, BuildError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| BuildError::NoRandomSeed { reason: error.to_string() })?;
        Ok(Seed(u128::from_le_bytes(bytes)))
    }

    pub(crate) fn low(self) -> u64 {
        self.0 as u64
    }

    pub(crate) fn high(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl From<u128> for Seed {
    fn from(seed: u128) -> Seed {
        Seed(seed)
    }
}

impl From<Seed> for u128 {
    fn from(seed: Seed) -> u128 {
        seed.0
    }
}

impl FromStr for Seed {
    type Err = ParseSeedError;

    /// Accepts 1 to 32 hexadecimal digits, with or without a leading `0x`.
    fn from_str(text: &str) -> Result<Seed, ParseSeedError> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        // `from_str_radix` accepts a sign, but a seed has none.
        let signed = digits.starts_with(['+', '-']);
        let seed = u128::from_str_radix(digits, 16).ok().filter(|_| !signed);
        seed.map(Seed).ok_or_else(|| ParseSeedError { found: text.to_owned() })
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(hidden)")
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_as_they_are_shown() {
        for seed in [0, 1, u128::MAX, 1 << 127, 0x0123_4567_89ab_cdef] {
            assert_eq!(Seed(seed).to_string().parse(), Ok(Seed(seed)));
        }
        assert_eq!("0xFf".parse(), Ok(Seed(255)));
        for text in ["", "0x", "xyz", "-1", "+1", "1 ", "100000000000000000000000000000000"] {
            let error = text.parse::<Seed>().expect_err(text).to_string();
            assert!(error.contains("hexadecimal"), "{error}");
        }
    }

    #[test]
    fn random_seeds_differ() {
        assert_ne!(Seed::random(), Seed::random());
    }
}
