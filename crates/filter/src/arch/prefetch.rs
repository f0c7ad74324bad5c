//! Prefetching a cache line before it is needed.

/// Starts loading the cache line of `words[index]`. A prefetch is a hint, so it changes no result,
/// even if the index is beyond the end.
#[inline(always)]
pub(crate) fn prefetch<W>(words: &[W], index: u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect that the program can observe, and never faults. The
        // address is computed by wrapping arithmetic, so it need not lie within the slice. SSE is
        // part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(index as usize).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (words, index);
}
