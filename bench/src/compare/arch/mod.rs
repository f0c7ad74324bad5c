//! Code for specific processors that measures the time to read a random cache line. The overhead of
//! a portable loop would distort this time.
#![allow(unsafe_code, reason = "a prefetch and a view of pages as words have no safe form")]

/// Starts loading the cache line of `words[index]`.
#[inline(always)]
pub(crate) fn prefetch(words: &[u64], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that the program can observe, and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (words, index);
}

/// Returns the whole words of these bytes, beginning with the first aligned word.
pub(crate) fn bytes_as_words(bytes: &[u8]) -> &[u64] {
    // SAFETY: every bit pattern is a valid word, and `align_to` respects the alignment.
    unsafe { bytes.align_to::<u64>().1 }
}
