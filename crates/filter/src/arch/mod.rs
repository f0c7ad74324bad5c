//! What depends on the machine: memory, prefetch, and kernels for instructions that not every
//! processor has.
//!
//! The only unsafe code of this crate. Every function here has a portable form with the same
//! results, which is all that other processors get.
#![allow(unsafe_code, reason = "processor instructions and memory that is not zeroed twice cannot be had without")]

mod lanes;
mod line;
mod memory;
mod prefetch;
mod wide;

pub(crate) use lanes::{LANES, Lanes, Xxh3OfEight, digits, first_digits, word, words, xxh3_of_eight};
#[cfg(test)]
pub(crate) use line::levels;
pub(crate) use line::{Asked, LINE_BITS, Level, Line, all_set, contains, contains_group, insert, insert_group, set};
pub(crate) use memory::{AlignedWords, PAGE_BYTES, Zeroes, advise_huge_pages, decline_huge_pages, zeroed_vec};
pub(crate) use prefetch::prefetch;
