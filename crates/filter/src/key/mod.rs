//! What can be a key: anything with canonical bytes.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// A value with canonical bytes, the same in every process, on every platform and in every language that writes this crate's files.
///
/// | type | bytes |
/// |---|---|
/// | `[u8]`, `str`, `Vec<u8>`, `String`, `[u8; N]` | as they are |
/// | integers up to 64 bits | 8, little-endian, sign-extended |
/// | 128-bit integers | 16, little-endian |
/// | references, boxes, `Cow`, `Rc`, `Arc` | those of the value |
///
/// So `5u8`, `5u64` and `5i32` are one key, `"a"` and `b"a"` are one key, and `-1i64` and `u64::MAX` are one key, too.
///
/// `std::hash::Hash` is not used because it adds framing that depends on the type and that no version of the standard library promises to keep:
/// files made with it could not be read again.
///
/// ```
/// use truebloom::Key;
///
/// struct Point { x: i32, y: i32 }
///
/// impl Key for Point {
///     fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
///         let (x, y) = (self.x.to_le_bytes(), self.y.to_le_bytes());
///         use_bytes(&[x, y].concat())
///     }
/// }
/// ```
pub trait Key {
    /// Calls `use_bytes` once with the key's canonical bytes. A callback, so that an integer needs no allocation and a string no copy.
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R;

    /// The key as a number, if its canonical bytes are the eight of that number, little-endian: such keys are hashed without a detour through memory, and many at a time side by side. `None`, as provided, is
    /// always right.
    #[inline(always)]
    fn as_number(&self) -> Option<u64> {
        None
    }
}

macro_rules! key_from_byte_string {
    ($($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                use_bytes(self.as_ref())
            }
        }
    )*};
}

key_from_byte_string!([u8], str, Vec<u8>, String);

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        use_bytes(self)
    }
}

macro_rules! key_from_integer {
    ($wide:ty, $as_number:expr; $($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                // The cast widens: it extends the sign of a signed type and never loses a bit.
                use_bytes(&(*self as $wide).to_le_bytes())
            }

            #[inline(always)]
            fn as_number(&self) -> Option<u64> {
                $as_number(*self as $wide)
            }
        }
    )*};
}

key_from_integer!(u64, Some; u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
key_from_integer!(u128, |_| None; u128, i128);

macro_rules! key_from_pointer {
    ($([$($generics:tt)*] $type:ty),*) => {$(
        impl<$($generics)*> Key for $type {
            #[inline]
            fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
                (**self).with_bytes(use_bytes)
            }

            #[inline(always)]
            fn as_number(&self) -> Option<u64> {
                (**self).as_number()
            }
        }
    )*};
}

key_from_pointer!([K: Key + ?Sized] &K, [K: Key + ?Sized] Box<K>, [K: Key + ?Sized] Rc<K>, [K: Key + ?Sized] Arc<K>);
key_from_pointer!([K: Key + ToOwned + ?Sized] Cow<'_, K>);

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<K: Key + ?Sized>(key: &K) -> Vec<u8> {
        key.with_bytes(<[u8]>::to_vec)
    }

    #[test]
    fn integers_of_one_value_are_one_key() {
        let five = [5, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!([bytes(&5u8), bytes(&5u16), bytes(&5u32), bytes(&5u64), bytes(&5usize)], [five; 5].map(Vec::from));
        assert_eq!([bytes(&5i8), bytes(&5i16), bytes(&5i32), bytes(&5i64), bytes(&5isize)], [five; 5].map(Vec::from));
        assert_eq!([bytes(&-2i8), bytes(&-2i32), bytes(&-2i64)], [(u64::MAX - 1).to_le_bytes(); 3].map(Vec::from));
        assert_eq!(bytes(&-2i128), (u128::MAX - 1).to_le_bytes());
        assert_eq!(bytes(&5u128).len(), 16);
    }

    #[test]
    fn numbers_are_the_eight_bytes() {
        fn check<K: Key + ?Sized>(key: &K) {
            assert_eq!(key.as_number().map(|number| number.to_le_bytes().to_vec()), Some(bytes(key)));
        }
        check(&5u8);
        check(&-5i16);
        check(&i64::MIN);
        check(&Box::new(&-1i32));
        check(&Rc::new(usize::MAX));
        assert_eq!((5u128.as_number(), "12345678".as_number(), b"12345678".as_number()), (None, None, None));
    }

    #[test]
    fn byte_strings_are_their_bytes_whatever_holds_them() {
        let owned = String::from("key");
        let same = [
            bytes("key"),
            bytes(&owned),
            bytes(b"key"),
            bytes(&b"key"[..]),
            bytes(&b"key".to_vec()),
            bytes(&Box::<str>::from("key")),
            bytes(&&"key"),
        ];
        assert!(same.iter().all(|found| found == b"key"));
        assert_eq!(bytes(&Cow::Borrowed("key")), b"key");
        assert_eq!(bytes(&Cow::<str>::Owned(owned)), b"key");
        assert_eq!(bytes(&Rc::<str>::from("key")), bytes(&Arc::<[u8]>::from(&b"key"[..])));
    }
}
