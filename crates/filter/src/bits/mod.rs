//! Vectors of bits.

mod owned;

pub(crate) use owned::{Bits, words_for};
