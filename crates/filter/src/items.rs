//! Numbers of items, as arguments of any integer type.

use crate::error::BuildError;
use alloc::string::ToString;
use core::num::NonZero;
use truebloom_math::Error;

mod sealed {
    pub trait Sealed {}
}

/// A number of items, as an integer of any type up to 64 bits. A literal therefore needs no suffix,
/// and `keys.len()` needs no cast. If the number is 0 or negative, the function that makes the
/// filter returns an error.
///
/// ```
/// use truebloom::BloomFilter;
/// let keys = ["a", "b", "c"];
/// let filter = BloomFilter::new(keys.len(), 0.01)?;
/// assert_eq!(filter.capacity(), Some(3));
/// let error = BloomFilter::new(-3, 0.01).unwrap_err();
/// assert_eq!(error.to_string(), "items is -3, but must be at least 1");
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of items",
    label = "not an integer of up to 64 bits",
    note = "for a floating-point number, say how it is rounded: `items.ceil() as u64`"
)]
pub trait ItemCount: sealed::Sealed {
    /// The number, if it is not negative.
    #[doc(hidden)]
    fn item_count(self) -> Result<u64, BuildError>;
}

macro_rules! item_count {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}

        impl ItemCount for $type {
            fn item_count(self) -> Result<u64, BuildError> {
                let negative = || Error::out_of_range("items", self.to_string(), "at least 1");
                u64::try_from(self).map_err(|_| negative().into())
            }
        }

        impl sealed::Sealed for NonZero<$type> {}

        impl ItemCount for NonZero<$type> {
            fn item_count(self) -> Result<u64, BuildError> {
                self.get().item_count()
            }
        }
    )*};
}

item_count!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
