//! The trait of keys, which are values with canonical bytes.

mod atoms;
mod composite;
mod net;
mod writer;

pub use writer::KeyWriter;
pub(crate) use writer::{Take, Write};

use alloc::vec::Vec;

/// A value with canonical bytes, which are the bytes that are hashed. The canonical bytes of a
/// value are the same in every process, on every platform, and in every language that writes files
/// of this format.
///
/// | key | bytes |
/// |---|---|
/// | integers up to 64 bits, `usize`, `bool`, `char`, `NonZero`, `Ipv4Addr` | 8, little-endian, sign-extended |
/// | 128-bit integers, `Ipv6Addr` | 16, little-endian |
/// | byte strings: `str`, `String`, `[u8]`, `Vec<u8>`, `[u8; N]`, `Uuid` (feature `uuid`) | their bytes |
/// | sequences: `[K]`, `[K; N]`, `Vec<K>` | the number of keys, then each key |
/// | tuples, `Duration` (seconds, nanoseconds), structs by `#[derive(Key)]` | each field |
/// | `IpAddr`, `SocketAddr` | the version (4 or 6), then each part |
/// | `Option`, enums by `#[derive(Key)]` | the number of the variant (`None` is 0, `Some` is 1), then each field |
/// | references, `Box`, `Cow`, `Rc`, `Arc`; tuples and structs of one field | the bytes of the value |
///
/// Three numbers in this table take 8 bytes each: the number of keys in a sequence, the version of
/// an IP address, and the number of an enum variant. Within a sequence, a tuple, a struct or an
/// enum, a byte string begins with its length, which also takes 8 bytes. Different values of one
/// type therefore never have the same bytes, even inside a larger key. Values of the type `dyn Key`
/// are an exception, because they can contain values of different types.
///
/// Values of different types can be the same key:
///
/// * `5u8`, `5u64`, `5i32`, and the byte string of their 8 bytes
/// * `true` and `1`
/// * `-1i64` and `u64::MAX`
/// * `"a"` and `b"a"`
/// * a `struct Url(String)` and its text
/// * a `u128`, the pair of its two `u64` halves (lower half first), and the byte string of its 16
///   bytes
///
/// To mix types in one filter, add a tag to each key: `("id", 5u64)`.
///
/// Hashing a key never allocates memory. Floating-point numbers are not keys, because only your
/// program can decide which of them are the same key. For example, `x.to_bits()` distinguishes 0.0
/// from -0.0. `std::hash::Hash` is not used, because it adds lengths and terminators that depend on
/// the type. These additions can change with any version of the standard library, and saved filters
/// would then no longer find their keys. For filters in memory,
/// [`ForeignHasher::hash_one`](crate::ForeignHasher::hash_one) accepts values that implement
/// `std::hash::Hash`.
///
/// # Types of your own
/// Use `#[derive(Key)]`, with the feature `derive`, or write the implementation field by field:
///
/// ```
/// use truebloom::{BloomFilter, Key, KeyWriter};
///
/// struct Point { x: i32, y: i32 }
///
/// impl Key for Point {
///     fn write_key(&self, to: &mut KeyWriter<'_>) {
///         self.x.write_key(to);
///         self.y.write_key(to);
///     }
/// }
///
/// let mut seen = BloomFilter::new(1_000, 0.001)?;
/// seen.insert(&Point { x: 3, y: -4 });
/// assert!(seen.contains(&(3, -4)), "a struct is the tuple of its fields");
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key: it has no canonical bytes",
    label = "not a key",
    note = "for a type of your own: `#[derive(truebloom::Key)]`, with the feature `derive`, or `impl truebloom::Key` field by field",
    note = "for a floating-point number: `x.to_bits()`; for a path or an `OsStr`: its bytes or its text",
    note = "for any type with `std::hash::Hash`, in filters that are never saved: `truebloom::ForeignHasher::hash_one`"
)]
pub trait Key {
    /// Writes the key as a part of a larger key. A number is written as its bytes. A byte string is
    /// written as its length, followed by its bytes. Any other key is written part by part. For a
    /// key that is not part of a larger key, the hashed bytes are exactly those that this method
    /// writes. There is one exception: if [`key_bytes`](Self::key_bytes) returns a byte string, the
    /// byte string is hashed without its length.
    fn write_key(&self, to: &mut KeyWriter<'_>);

    /// Returns the key as a 64-bit number, or `None` if the key is not encoded as an integer of 8
    /// bytes. Methods that take many keys can hash such keys in parallel. If this method returns a
    /// number, [`write_key`](Self::write_key) must write exactly this number.
    #[inline(always)]
    fn key_number(&self) -> Option<u64> {
        None
    }

    /// Returns the bytes of the key, or `None` if the key is not a byte string. A byte string that
    /// is not part of a larger key is hashed without its length. If this method returns a byte
    /// string, [`write_key`](Self::write_key) must write exactly this string.
    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Returns the keys of a slice as one byte string, or `None` if the keys are not of type `u8`.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    fn slice_bytes(_: &[Self]) -> Option<&[u8]>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the bytes that are hashed for this key. Use this method in tests, and to find out
    /// which bytes other programs must produce for the same key.
    ///
    /// ```
    /// use truebloom::Key;
    /// assert_eq!(("a", 2u8).to_key_bytes(), b"\x01\0\0\0\0\0\0\0a\x02\0\0\0\0\0\0\0");
    /// ```
    fn to_key_bytes(&self) -> Vec<u8> {
        with_bytes(self, <[u8]>::to_vec)
    }
}

/// Calls `use_bytes` with the bytes that are hashed. Allocates memory only for long keys of several
/// parts.
pub(crate) fn with_bytes<K: Key + ?Sized, R>(key: &K, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
    if let Some(number) = key.key_number() {
        return use_bytes(&number.to_le_bytes());
    }
    if let Some(bytes) = key.key_bytes() {
        return use_bytes(bytes);
    }
    let mut short = KeyWriter::new();
    key.write_key(&mut short);
    match short.short() {
        Some(bytes) => use_bytes(bytes),
        None => {
            let mut bytes = Vec::new();
            write_pieces(key, &mut |piece| bytes.extend_from_slice(piece));
            use_bytes(&bytes)
        }
    }
}

/// Calls `take` with the bytes of a key that is not a byte string, piece by piece.
pub(crate) fn write_pieces<K: Key + ?Sized>(key: &K, take: &mut Take<'_>) {
    let mut writer = KeyWriter::in_pieces(take);
    key.write_key(&mut writer);
    writer.flush();
}
