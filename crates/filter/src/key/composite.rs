//! Keys that consist of several parts.

use super::{Key, KeyWriter};
use alloc::vec::Vec;
use core::time::Duration;

impl<K: Key> Key for [K] {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        if let Some(bytes) = K::slice_bytes(self) {
            return to.byte_string(bytes);
        }
        to.number(self.len() as u64);
        self.iter().for_each(|key| key.write_key(to));
    }

    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        K::slice_bytes(self)
    }
}

macro_rules! key_from_sequence {
    ($([$($generics:tt)*] $type:ty),*) => {$(
        impl<K: Key, $($generics)*> Key for $type {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                self[..].write_key(to);
            }

            #[inline(always)]
            fn key_bytes(&self) -> Option<&[u8]> {
                K::slice_bytes(self)
            }
        }
    )*};
}

key_from_sequence!([] Vec<K>, [const N: usize] [K; N]);

impl<K: Key> Key for Option<K> {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        to.number(self.is_some().into());
        self.iter().for_each(|key| key.write_key(to));
    }
}

/// A tuple of one field is the same key as that field.
impl<K: Key> Key for (K,) {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        self.0.write_key(to);
    }

    #[inline(always)]
    fn key_number(&self) -> Option<u64> {
        self.0.key_number()
    }

    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        self.0.key_bytes()
    }
}

macro_rules! key_from_tuple {
    ($($name:ident $number:tt),*) => {
        impl<$($name: Key),*> Key for ($($name,)*) {
            #[inline]
            fn write_key(&self, to: &mut KeyWriter<'_>) {
                $(self.$number.write_key(to);)*
            }
        }
    };
}

key_from_tuple!(A 0, B 1);
key_from_tuple!(A 0, B 1, C 2);
key_from_tuple!(A 0, B 1, C 2, D 3);
key_from_tuple!(A 0, B 1, C 2, D 3, E 4);
key_from_tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
key_from_tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
key_from_tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

impl Key for Duration {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        (self.as_secs(), self.subsec_nanos()).write_key(to);
    }
}
