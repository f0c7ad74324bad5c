//! Where a filter keeps its bits, and whether values that are computed from all bits are known. The
//! type parameter `K` of a filter is its backing.

mod bytes;
mod counter;
mod layers;
mod packed;

pub use bytes::{Checked, View};
pub(crate) use bytes::{Chunk, InBytes};
pub use counter::Counter;
pub(crate) use layers::{InLayers, Layers};
pub use packed::{CheckedMember, Packed};
pub(crate) use packed::{KEPT_WORDS, Record};

use crate::arch::AlignedWords;
use crate::word::{Lies, Word};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Where a filter keeps its bits: [`Owned`], [`Shared`], [`View`], [`Checked`], [`Packed`] or
/// [`CheckedMember`].
///
/// Only this crate can implement the trait. A backing stores the number of set bits, from which the
/// rates of the filter are computed. If a foreign implementation stored a wrong number, the rates
/// would be wrong.
pub trait Backing: Sized + sealed::Sealed {
    /// The type of a stored word of 64 bits.
    type Word: Word;
    /// A slice of stored words.
    type Words: Deref<Target = [Self::Word]> + Send + Sync;
    /// The words of a filter that grows. Such a filter consists of several filters, its layers.
    /// Each layer begins with a record of its parameters and counts, followed by its words.
    type Layers: Layers<Self::Word>;
    /// A list of words that can grow.
    type List: Deref<Target = [Self::Word]> + Send + Sync;
    /// The type of a stored counter of a Count-Min sketch.
    type Cell<C: Counter>: Lies<C>;
    /// A list of stored counters.
    type Cells<C: Counter>: Deref<Target = [Self::Cell<C>]> + Send + Sync;
    /// A value computed from all bits, or `()` if the bits were not read.
    type Known<T: Clone + PartialEq + Send + Sync>: Clone + PartialEq + Send + Sync;
    /// The values that filters can share with each other, such as the hasher and the scheme.
    type Head<T: 'static>: Deref<Target = T>;
}

/// A backing that also stores values computed from all bits, such as the number of set bits. A
/// filter with such a backing either owns its bits or has read all of them.
pub trait Counted: Backing {
    /// Stores a value that was computed from all bits, such as the number of set bits.
    fn keep<T: Clone + PartialEq + Send + Sync>(known: T) -> Self::Known<T>;

    /// The stored value.
    fn kept<T: Clone + PartialEq + Send + Sync>(known: &Self::Known<T>) -> &T;
}

/// A backing in which a new filter can be made. It can hold a new [`Head`](Backing::Head).
pub(crate) trait Headed: Counted {
    /// Wraps the shared values for a new filter.
    fn head<T: 'static>(head: T) -> Self::Head<T>;
}

/// A backing in which bits can be set, as opposed to read-only bytes.
pub trait Writable: Counted<Words: DerefMut> {
    /// Returns a mutable reference to a value computed from the bits.
    fn kept_mut<T: Clone + PartialEq + Send + Sync>(known: &mut Self::Known<T>) -> &mut T;

    /// Returns a mutable reference to the values in `head`, or `None` if another filter shares
    /// them.
    fn own_head<T: 'static>(head: &mut Self::Head<T>) -> Option<&mut T>;
}

/// A backing that was opened without reading all of its bits. So it does not store the values that
/// are computed from all bits, such as the number of set bits.
pub trait Uncounted: Backing {
    /// Returns the placeholder for an unknown value.
    fn nothing<T: Clone + PartialEq + Send + Sync>() -> Self::Known<T>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Shared {}
    impl<B> Sealed for super::View<B> {}
    impl<B> Sealed for super::Checked<B> {}
    impl<W> Sealed for super::Packed<'_, W> {}
    impl<W> Sealed for super::CheckedMember<'_, W> {}
}

/// The filter has its own memory for its bits and its parameters. On 64-bit machines, a filter
/// takes 224 bytes in addition to its bits. For many small filters, [`Shared`] takes less memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owned {}

/// The filter has its own memory for its bits, and shares its parameters with its clones. Use this
/// type for many small filters. A filter and its clones share one copy of the hasher, the scheme,
/// the capacity and the rate. Each filter takes 64 bytes in addition to its bits. Inserting or
/// looking up a single key takes one more memory access than with [`Owned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {}

/// Implements the traits of backings that store the values computed from all bits.
macro_rules! counted {
    ([$($generics:tt)*] $backing:ty) => {
        impl<$($generics)*> Counted for $backing {
            #[inline(always)]
            fn keep<T: Clone + PartialEq + Send + Sync>(known: T) -> T {
                known
            }

            #[inline(always)]
            fn kept<T: Clone + PartialEq + Send + Sync>(known: &T) -> &T {
                known
            }
        }
    };
}

/// Implements the traits of two backings for the same bytes. With the first backing, the bits were
/// not read, so the number of set bits is unknown. With the second, the bits were read and counted.
macro_rules! unread_and_read {
    ([$($generics:tt)*] $unread:ty, $read:ty, {$($types:tt)*}) => {
        impl<$($generics)*> Backing for $unread {
            $($types)*
            type Known<T: Clone + PartialEq + Send + Sync> = ();
        }

        impl<$($generics)*> Uncounted for $unread {
            fn nothing<T: Clone + PartialEq + Send + Sync>() {}
        }

        impl<$($generics)*> Backing for $read {
            $($types)*
            type Known<T: Clone + PartialEq + Send + Sync> = T;
        }

        counted!([$($generics)*] $read);
    };
}

use {counted, unread_and_read};

/// Implements the traits of backings that own their memory.
macro_rules! own {
    ($($backing:ident: $head:ident by $new:expr, its own by $own:expr;)*) => {$(
        impl Backing for $backing {
            type Word = u64;
            type Words = AlignedWords;
            type Layers = Vec<AlignedWords>;
            type List = Vec<u64>;
            type Cell<C: Counter> = C;
            type Cells<C: Counter> = Vec<C>;
            type Known<T: Clone + PartialEq + Send + Sync> = T;
            type Head<T: 'static> = $head<T>;
        }

        impl Headed for $backing {
            fn head<T: 'static>(head: T) -> $head<T> {
                $new(head)
            }
        }

        counted!([] $backing);

        impl Writable for $backing {
            #[inline(always)]
            fn kept_mut<T: Clone + PartialEq + Send + Sync>(known: &mut T) -> &mut T {
                known
            }

            fn own_head<T: 'static>(head: &mut $head<T>) -> Option<&mut T> {
                $own(head)
            }
        }
    )*};
}

own! {
    Owned: Inline by Inline, its own by Inline::inner;
    Shared: Arc by Arc::new, its own by Arc::get_mut;
}

/// A copy of the hasher, the scheme and similar values that belongs to one filter only. A
/// [`Shared`] filter shares these values with its clones.
#[derive(Clone, Copy, Debug)]
pub struct Inline<T>(pub(crate) T);

impl<T> Inline<T> {
    pub(crate) fn inner(&mut self) -> Option<&mut T> {
        Some(&mut self.0)
    }
}

impl<T> Deref for Inline<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
