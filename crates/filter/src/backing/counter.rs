//! Counters that saturate instead of wrapping around.

use crate::backing::Chunk;
use crate::word::Lies;
use core::fmt::Debug;

mod sealed {
    pub trait Sealed: crate::arch::Zeroes {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The type of a sketch's counters: `u64` or `u32`. Counters of type `u32` take half the memory.
/// Use `u32` for streams whose counts add up to less than 4 billion.
pub trait Counter: sealed::Sealed + Lies<Self> + Copy + Default + Ord + Debug + Send + Sync + 'static {
    /// The type of a counter's bytes in a file, such as `[u8; 8]`.
    type Bytes: Lies<Self> + Chunk + Send + Sync;
    /// The highest value of a counter. A counter that reaches this value keeps this value.
    const HIGHEST: Self;
    /// The size of a counter in bytes.
    const BYTES: u32;

    /// Adds `count` to the counter. If the sum is above [`HIGHEST`](Self::HIGHEST), the result is
    /// `HIGHEST`.
    #[must_use]
    fn plus(self, count: u64) -> Self;

    /// Halves the counter, rounding down. A counter at [`HIGHEST`](Self::HIGHEST) is unchanged.
    #[must_use]
    fn half(self) -> Self;

    /// The counter's value as a `u64`.
    fn into_u64(self) -> u64;

    /// Converts a count to a counter. If the count is above [`HIGHEST`](Self::HIGHEST), the result
    /// is `HIGHEST`.
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
