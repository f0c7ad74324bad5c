//! What depends on the machine: memory, prefetch, and kernels for instructions that not every processor has.
//!
//! The only unsafe code of this crate. Every function here has a portable form with the same results, which is all that other processors get.
#![allow(unsafe_code, reason = "processor instructions and memory that is not zeroed twice cannot be had without")]

mod line;
mod prefetch;
mod streams;
mod words;

pub(crate) use line::{Flight, LINE_BITS, Level, Line, contains, contains_batch, insert};
pub(crate) use prefetch::prefetch;
pub(crate) use streams::Streams;
pub(crate) use words::{Words, advise_huge_pages};
