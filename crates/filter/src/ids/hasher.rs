//! The numbers of hash functions.

use core::fmt;

/// The hash functions of filters that can be saved. A file stores the hash function as the number
/// of the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum HasherId {
    /// XXH3-128, the default. XXH3 takes a few nanoseconds per key. Use XXH3 for keys that are
    /// chosen without knowing the seed.
    Xxh3 = 3,
    /// SipHash-1-3-128, for untrusted keys. SipHash is several times slower than XXH3. But an
    /// attacker who has neither the seed nor the file cannot compute keys that are false positives
    /// or that fill the filter faster.
    Sip13 = 2,
}

impl HasherId {
    /// All hash functions.
    pub const ALL: [HasherId; 2] = [HasherId::Xxh3, HasherId::Sip13];

    /// The name of the hash function: `xxh3` or `siphash`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HasherId::Xxh3 => "xxh3",
            HasherId::Sip13 => "siphash",
        }
    }
}

impl fmt::Display for HasherId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
