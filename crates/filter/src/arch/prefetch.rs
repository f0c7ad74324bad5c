//! Prefetching a cache line before it is needed.

/// Starts loading the cache line of `words[index]`. A prefetch is a hint without effect on any
/// result; indices beyond the end do no harm.
#[inline(always)]
pub(crate) fn prefetch<W>(words: &[W], index: u64) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing as far as the program can tell and never faults; the
        // address is made by wrapping arithmetic, so it need not lie within the slice. SSE is part
        // of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(index as usize).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (words, index);
}
