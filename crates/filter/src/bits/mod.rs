//! Vectors of bits.

mod atomic;
mod owned;

pub(crate) use atomic::AtomicBits;
pub(crate) use owned::{Bits, words_for};
