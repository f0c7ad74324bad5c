//! Support for serde, with the feature `serde`: filters, seeds and policies.
//!
//! A filter is serialized as the bytes of its file, including the checksums. In human-readable
//! formats (JSON), the bytes are written as hexadecimal digits. Policies, hashers and seeds are
//! serialized field by field. The seed of a filter for untrusted keys is a secret, but it is
//! written like any other seed.

#[cfg(feature = "any")]
use crate::AnyFilter;
#[cfg(feature = "growth")]
use crate::ScalableFilter;
#[cfg(feature = "sketches")]
use crate::count_min::{Counter, ListedSketch, RowHashes, Sketch};
use crate::format::{Stored, from_bytes, to_bytes};
use crate::hash::{PortableHasher, Seed};
use crate::ids::HasherId;
#[cfg(feature = "recycling")]
use crate::recycling::{Layout, RecyclingFilter};
use crate::scheme::Scheme;
use crate::{FilterOf, FormatError};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::marker::PhantomData;
use core::str::FromStr;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! as_its_file {
    ($([$($generics:tt)*] $type:ty),*) => {$(
        impl<$($generics)*> Serialize for $type {
            /// Serializes the value as the bytes of its file.
            fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                serialize_stored(self, serializer)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type {
            /// Deserializes the value from the bytes of its file. The bytes may be damaged or
            /// malicious. For invalid bytes, the method returns an error.
            fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                deserialize_stored(deserializer)
            }
        }
    )*};
}

as_its_file! {
    [S: Scheme] FilterOf<S>
}
#[cfg(feature = "growth")]
as_its_file! {
    [] ScalableFilter
}
#[cfg(feature = "any")]
as_its_file! {
    [] AnyFilter
}
#[cfg(feature = "recycling")]
as_its_file! {
    [S: Layout] RecyclingFilter<PortableHasher, S>
}
#[cfg(feature = "sketches")]
as_its_file! {
    [R: RowHashes, C: Counter] Sketch<R, C>,
    [R: RowHashes, C: Counter] ListedSketch<R, C>
}

fn serialize_stored<T: Stored, Z: Serializer>(value: &T, serializer: Z) -> Result<Z::Ok, Z::Error> {
    use serde::ser::Error;
    let bytes = to_bytes(value).map_err(Z::Error::custom)?;
    if serializer.is_human_readable() { serializer.collect_str(&Hexadecimal(&bytes)) } else { serializer.serialize_bytes(&bytes) }
}

fn deserialize_stored<'de, T: Stored, Z: Deserializer<'de>>(deserializer: Z) -> Result<T, Z::Error> {
    let file = File(PhantomData);
    if deserializer.is_human_readable() { deserializer.deserialize_str(file) } else { deserializer.deserialize_byte_buf(file) }
}

struct Hexadecimal<'a>(&'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        self.0.iter().try_for_each(|byte| {
            f.write_char(DIGITS[usize::from(byte >> 4)])?;
            f.write_char(DIGITS[usize::from(byte & 15)])
        })
    }
}

/// Deserializes a value from the bytes of its file.
struct File<T>(PhantomData<T>);

impl<'de, T: Stored> Visitor<'de> for File<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a truebloom file")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        from_bytes(bytes).map_err(|error: FormatError| E::custom(error))
    }

    fn visit_str<E: Error>(self, digits: &str) -> Result<T, E> {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = digits.as_bytes().as_chunks();
        let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        match bytes.filter(|_| rest.is_empty()) {
            Some(bytes) => self.visit_bytes(&bytes),
            None => Err(E::custom("the bytes of a truebloom file must be hexadecimal digits, two for each")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<T, A::Error> {
        // The length that the format states is not trusted, so no memory is reserved for it.
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

impl Serialize for Seed {
    /// Writes the seed as 32 hexadecimal digits.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Seed, Z::Error> {
        Seed::from_str(&String::deserialize(deserializer)?).map_err(Z::Error::custom)
    }
}

impl Serialize for HasherId {
    /// Writes the name of the hash function.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for HasherId {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<HasherId, Z::Error> {
        let name = String::deserialize(deserializer)?;
        let known = HasherId::ALL.into_iter().find(|hasher| hasher.name() == name);
        known.ok_or_else(|| Z::Error::custom("the hasher must be xxh3 or siphash"))
    }
}

/// A hasher's name and seed, without the values that are derived from the seed.
#[derive(Serialize, Deserialize)]
#[serde(rename = "PortableHasher")]
struct HasherData {
    hasher: HasherId,
    seed: Seed,
}

impl Serialize for PortableHasher {
    /// Writes the hasher's name and its seed.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        use crate::KeyHasher;
        HasherData { hasher: self.hasher_id(), seed: self.seed() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PortableHasher {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<PortableHasher, Z::Error> {
        let HasherData { hasher, seed } = HasherData::deserialize(deserializer)?;
        Ok(PortableHasher::new(hasher, seed))
    }
}
