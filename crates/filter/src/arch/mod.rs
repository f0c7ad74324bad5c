//! The code that depends on the machine: memory, prefetching, and kernels with instructions that
//! not every processor has.
//!
//! All unsafe code of this crate is here, except the mapping of files (`disk/mapped.rs`,
//! `in_place.rs` and the `map` of each kind in `format/methods.rs`). Every function here has a
//! portable form with the same results, which other processors use.
#![allow(unsafe_code, reason = "processor instructions and memory that is not zeroed twice cannot be had without")]

mod draws;
mod lanes;
mod line;
mod memory;
mod prefetch;
mod probes;
mod wide;

pub(crate) use draws::{Below, Draws};
pub(crate) use lanes::{Halves, LANES, Lanes, digits, first_digits, halves_of, word, words};
#[cfg(test)]
pub(crate) use line::levels;
pub(crate) use line::{
    Asked, LINE_BITS, Level, Line, PROBES_A_WORD, all_set, contains, contains_group, contains_shared, insert, insert_group, set,
};
#[cfg(all(target_has_atomic = "64", not(all(test, truebloom_loom))))]
pub(crate) use memory::SharedWords;
pub(crate) use memory::{AlignedWords, PAGE_BYTES, Zeroes, advise_huge_pages, decline_huge_pages, zeroed_vec};
pub(crate) use prefetch::prefetch;
pub(crate) use probes::{Chosen, Row, all_probes_set, all_set_at, gathers};
pub(crate) use wide::high_product;
