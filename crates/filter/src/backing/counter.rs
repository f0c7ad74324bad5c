//! Counters that stay at their highest value rather than wrap.

use crate::backing::{Chunk, Lies};
use core::fmt::Debug;

mod sealed {
    pub trait Sealed: crate::arch::Zeroes {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The type of a sketch's counters: `u32`, half the memory for streams of fewer than 4 billion, or
/// `u64`.
pub trait Counter: sealed::Sealed + Lies<Self> + Copy + Default + Ord + Debug + Send + Sync + 'static {
    /// Its bytes in a file.
    type Bytes: Lies<Self> + Chunk + Send + Sync;
    /// Where a counter stays once it is reached.
    const HIGHEST: Self;
    /// Its size in bytes.
    const BYTES: u32;

    /// The sum, or the highest value.
    #[must_use]
    fn plus(self, count: u64) -> Self;

    /// Half of it, rounded down; the highest value stays.
    #[must_use]
    fn half(self) -> Self;

    /// The counter as a number, the highest value included.
    fn into_u64(self) -> u64;

    /// The highest value for what does not fit.
    fn saturated_from(count: u64) -> Self;
}

macro_rules! counter {
    ($($type:ty),*) => {$(
        impl Counter for $type {
            type Bytes = [u8; size_of::<$type>()];
            const HIGHEST: Self = <$type>::MAX;
            const BYTES: u32 = <$type>::BITS / 8;

            #[inline]
            fn plus(self, count: u64) -> Self {
                Self::saturated_from(u64::from(self).saturating_add(count))
            }

            fn half(self) -> Self {
                if self == Self::HIGHEST { self } else { self / 2 }
            }

            #[inline]
            fn into_u64(self) -> u64 {
                self.into()
            }

            #[inline]
            fn saturated_from(count: u64) -> Self {
                Self::try_from(count).unwrap_or(Self::HIGHEST)
            }
        }
    )*};
}

counter!(u32, u64);
