//! Filters in bytes that somebody else holds: the answers of the filter that was saved, wherever
//! the bytes are and whatever they are.

#[path = "../common/mod.rs"]
mod common;

mod filters;
mod hostile;
#[cfg(feature = "mmap")]
mod in_place;
#[cfg(feature = "mmap")]
mod mapped;
mod recycling;
mod sketches;

/// These bytes at each alignment, in the middle of others: where they are, and where they end.
pub(crate) fn everywhere(bytes: &[u8], mut check: impl FnMut(&[u8])) {
    for shift in 0..9 {
        let held = [&vec![0xa5; 64 + shift][..], bytes, &[0x5a; 70]].concat();
        check(&held[64 + shift..]);
    }
}
