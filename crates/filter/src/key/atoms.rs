//! Keys that consist of one part: numbers, byte strings, and pointers to keys.

use super::{Key, KeyWriter};
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc;
use core::num::NonZero;

macro_rules! key_from_number {
    ($($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                // The cast extends the sign of a signed type. It never loses a bit.
                to.number(*self as u64);
            }

            #[inline(always)]
            fn key_number(&self) -> Option<u64> {
                Some(*self as u64)
            }
        }
    )*};
}

key_from_number!(u16, u32, u64, usize, i8, i16, i32, i64, isize, bool, char);

impl Key for u8 {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        to.number(u64::from(*self));
    }

    #[inline(always)]
    fn key_number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }

    /// A slice of `u8` is a byte string.
    #[inline(always)]
    fn slice_bytes(bytes: &[u8]) -> Option<&[u8]> {
        Some(bytes)
    }
}

macro_rules! key_from_wide_integer {
    ($($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                to.wide_number(*self as u128);
            }
        }
    )*};
}

key_from_wide_integer!(u128, i128);

macro_rules! key_from_nonzero {
    ($($type:ty),*) => {$(
        impl Key for NonZero<$type> {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                self.get().write_key(to);
            }

            #[inline(always)]
            fn key_number(&self) -> Option<u64> {
                self.get().key_number()
            }
        }
    )*};
}

key_from_nonzero!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! key_from_text {
    ($($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                to.byte_string(self.as_bytes());
            }

            #[inline(always)]
            fn key_bytes(&self) -> Option<&[u8]> {
                Some(self.as_bytes())
            }
        }
    )*};
}

key_from_text!(str, String);

macro_rules! key_from_pointer {
    ($($(#[$when:meta])? [$($generics:tt)*] $type:ty),*) => {$(
        $(#[$when])?
        impl<$($generics)*> Key for $type {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                (**self).write_key(to);
            }

            #[inline(always)]
            fn key_number(&self) -> Option<u64> {
                (**self).key_number()
            }

            #[inline(always)]
            fn key_bytes(&self) -> Option<&[u8]> {
                (**self).key_bytes()
            }
        }
    )*};
}

key_from_pointer!([K: Key + ?Sized] &K, [K: Key + ?Sized] &mut K, [K: Key + ?Sized] Box<K>, [K: Key + ?Sized] Rc<K>);
key_from_pointer!(#[cfg(target_has_atomic = "ptr")] [K: Key + ?Sized] Arc<K>);
key_from_pointer!([K: Key + ToOwned + ?Sized] Cow<'_, K>);

#[cfg(feature = "uuid")]
impl Key for uuid::Uuid {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        to.byte_string(self.as_bytes());
    }

    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_one_value_are_one_key() {
        let five = 5u64.to_le_bytes();
        let all: [&dyn Key; 12] = [
            &5u8,
            &5u16,
            &5u32,
            &5u64,
            &5usize,
            &5i8,
            &5i16,
            &5i32,
            &5i64,
            &5isize,
            &NonZero::new(5u8).expect("not 0"),
            &NonZero::new(5isize).expect("not 0"),
        ];
        assert!(all.iter().all(|key| key.to_key_bytes() == five && key.key_number() == Some(5)));
        let minus_two: [&dyn Key; 5] = [&-2i8, &-2i32, &-2i64, &-2isize, &NonZero::new(-2i16).expect("not 0")];
        assert!(minus_two.iter().all(|key| key.to_key_bytes() == (u64::MAX - 1).to_le_bytes()));
        assert_eq!((true.key_number(), false.key_number(), 'é'.key_number()), (Some(1), Some(0), Some(233)));
        assert_eq!((-2i128).to_key_bytes(), (u128::MAX - 1).to_le_bytes());
        assert_eq!(NonZero::new(5u128).expect("not 0").to_key_bytes(), 5u128.to_le_bytes());
    }

    #[test]
    fn numbers_are_the_eight_bytes() {
        fn check(key: &dyn Key) {
            let mut writer = KeyWriter::new();
            key.write_key(&mut writer);
            assert_eq!(key.key_number().map(|number| number.to_le_bytes().to_vec()).as_deref(), writer.short());
        }
        check(&5u8);
        check(&-5i16);
        check(&i64::MIN);
        check(&Box::new(&-1i32));
        check(&Rc::new(usize::MAX));
        check(&char::MAX);
        assert_eq!((5u128.key_number(), "12345678".key_number(), b"12345678".key_number()), (None, None, None));
    }

    #[test]
    fn byte_strings_are_their_bytes_whatever_holds_them() {
        let owned = String::from("key");
        let same: [&dyn Key; 11] = [
            &"key",
            &owned,
            b"key",
            &&b"key"[..],
            &b"key".to_vec(),
            &Box::<str>::from("key"),
            &&&"key",
            &Cow::Borrowed("key"),
            &Cow::<str>::Owned(owned.clone()),
            &Rc::<str>::from("key"),
            &Arc::<[u8]>::from(&b"key"[..]),
        ];
        for key in same {
            assert_eq!((key.to_key_bytes().as_slice(), key.key_bytes()), (&b"key"[..], Some(&b"key"[..])));
            // Within a larger key, the length of a byte string is written before its bytes.
            assert_eq!((key, 1u8).to_key_bytes(), b"\x03\0\0\0\0\0\0\0key\x01\0\0\0\0\0\0\0");
        }
    }
}
