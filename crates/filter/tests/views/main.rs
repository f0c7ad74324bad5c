//! Tests filters over borrowed bytes. They give the same answers as the filter that was saved,
//! whatever the alignment and the type of the bytes.

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

/// Calls `check` with copies of these bytes at every alignment, each followed by other bytes.
pub(crate) fn everywhere(bytes: &[u8], mut check: impl FnMut(&[u8])) {
    for shift in 0..9 {
        let held = [&vec![0xa5; 64 + shift][..], bytes, &[0x5a; 70]].concat();
        check(&held[64 + shift..]);
    }
}
