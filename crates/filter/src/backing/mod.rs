//! Where the bits of a filter are, and what is known about them: the one parameter that makes a
//! view of a filter.

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

/// Where a filter has its bits: [`Owned`], [`Shared`], [`View`], [`Checked`] or [`Packed`].
///
/// Sealed, because rates are computed from what it knows about the bits.
pub trait Backing: Sized + sealed::Sealed {
    /// A word of bits as it is stored.
    type Word: Word;
    /// The words.
    type Words: Deref<Target = [Self::Word]> + Send + Sync;
    /// The words of several filters, each after its record.
    type Layers: Layers<Self::Word>;
    /// Words whose number grows.
    type List: Deref<Target = [Self::Word]> + Send + Sync;
    /// A counter of a sketch as it is stored.
    type Cell<C: Counter>: Lies<C>;
    /// The counters.
    type Cells<C: Counter>: Deref<Target = [Self::Cell<C>]> + Send + Sync;
    /// What follows from the bits: the value, or nothing where they were not read.
    type Known<T: Clone + PartialEq + Send + Sync>: Clone + PartialEq + Send + Sync;
    /// What all filters of one plan and one seed share.
    type Head<T: 'static>: Deref<Target = T>;
}

/// What follows from the bits is known: they are the filter's own, or were read.
pub trait Counted: Backing {
    /// It is kept.
    fn keep<T: Clone + PartialEq + Send + Sync>(known: T) -> Self::Known<T>;

    /// What was kept.
    fn kept<T: Clone + PartialEq + Send + Sync>(known: &Self::Known<T>) -> &T;
}

/// A filter can be made: what filters share comes with it.
pub(crate) trait Headed: Counted {
    /// What filters share, of a new filter.
    fn head<T: 'static>(head: T) -> Self::Head<T>;
}

/// Bits can be set.
pub trait Writable: Counted<Words: DerefMut> {
    /// What is known, to be kept up.
    fn kept_mut<T: Clone + PartialEq + Send + Sync>(known: &mut Self::Known<T>) -> &mut T;

    /// What filters share, where it is this one's alone.
    fn own_head<T: 'static>(head: &mut Self::Head<T>) -> Option<&mut T>;
}

/// What follows from the bits is not known.
pub trait Uncounted: Backing {
    /// Nothing.
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

/// The filter's own memory. On 64-bit machines a filter takes 224 bytes beside its bits, in one
/// piece, because a query needs most of them; [`Shared`] is for many small ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owned {}

/// The filter's own memory, for many small filters: what they share is stored once, and each takes
/// 64 bytes beside its bits. One more memory access per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {}

/// What follows from the bits of this backing is kept as it is.
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

/// Two backings in the same place: one whose bits were not looked at, and one whose bits were.
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

/// Backings that are memory of their own.
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

/// A head that is the filter's own.
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
