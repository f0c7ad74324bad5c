//! Integer arithmetic that counts its rounding errors, and the brackets, rates and searches that
//! use this arithmetic.

pub(crate) mod bisect;
pub(crate) mod combine;
pub(crate) mod double;
pub(crate) mod dyadic;
pub(crate) mod enclosure;
pub(crate) mod fixed;
pub(crate) mod fpr;
pub(crate) mod modular;
pub(crate) mod power;
pub(crate) mod random;
pub(crate) mod rate;
pub(crate) mod work;
