//! Memory for bits: words that start at a cache line, on huge pages where there are many.

use alloc::alloc::{Layout, alloc_zeroed};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// A cache line, in words.
const LINE_WORDS: usize = 8;
/// A huge page, in words. The system can use one only where its whole range belongs to us.
const HUGE_PAGE_WORDS: usize = (2 << 20) / 8;
/// From so many words on the memory starts at a huge page: below, the few megabytes at the ends would be most of it.
const MANY_WORDS: usize = HUGE_PAGE_WORDS;

/// A fixed number of words, the first of them at the start of a 64-byte line.
///
/// A vector with a little room before the words rather than an aligned allocation: the system's zeroed pages come only with ordinary alignment (an aligned one is
/// zeroed by hand, all of it, at once), and a vector read from a file can become one in place.
pub(crate) struct AlignedWords {
    memory: Vec<u64>,
    /// `start + count <= memory.len()`, always.
    start: usize,
    count: usize,
}

impl AlignedWords {
    /// All 0, and not touched yet: pages cost memory when they are first written. `None` if the memory is not to be had.
    pub(crate) fn zeroed(count: usize) -> Option<AlignedWords> {
        let alignment = if count >= MANY_WORDS { HUGE_PAGE_WORDS } else { LINE_WORDS };
        let memory: Vec<u64> = zeroed_vec(count.checked_add(alignment - 1)?)?;
        let words = AlignedWords { start: misalignment(&memory, alignment), memory, count };
        advise_huge_pages(&words[..]);
        Some(words)
    }

    /// These words, moved by less than a line if they do not start at one. `None` if there is no memory for the few bytes more.
    pub(crate) fn from_vec(mut memory: Vec<u64>) -> Option<AlignedWords> {
        let count = memory.len();
        if misalignment(&memory, LINE_WORDS) > 0 {
            memory.try_reserve_exact(LINE_WORDS - 1).ok()?;
            memory.resize(count + LINE_WORDS - 1, 0);
        }
        // After growing, as that may have moved it.
        let start = misalignment(&memory, LINE_WORDS).min(memory.len() - count);
        memory.copy_within(..count, start);
        Some(AlignedWords { memory, start, count })
    }
}

/// AlignedWords from the start of the memory to the next multiple of the alignment, a power of two.
fn misalignment(memory: &[u64], alignment: usize) -> usize {
    ((memory.as_ptr() as usize / 8).wrapping_neg()) & (alignment - 1)
}

/// Numbers of which zero is all bytes 0.
///
/// # Safety
/// Bytes that are all 0 must be a value of the type.
pub unsafe trait Zeroes: Copy {}

// SAFETY: zero is all bytes 0, as of every integer.
unsafe impl Zeroes for u32 {}
// SAFETY: as above.
unsafe impl Zeroes for u64 {}

/// A vector of zeros whose pages the system has not handed out yet; `vec![0; n]` does the same, but aborts where there is no memory.
pub(crate) fn zeroed_vec<T: Zeroes>(count: usize) -> Option<Vec<T>> {
    let layout = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout's size is not 0.
    let start = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if start.is_null() {
        return None;
    }
    // SAFETY: allocated just now by the global allocator with the layout of an array of `count` numbers, all of which are initialised: their bytes are 0, which `Zeroes` allows.
    Some(unsafe { Vec::from_raw_parts(start, count, count) })
}

/// Asks the system for huge pages under large memory, before it is touched. With pages of 4 KiB a random access waits for the page walk more than for the line:
/// two to three times as long in memory, 1.4 times in the third cache. Only advice: without it everything still works.
pub(crate) fn advise_huge_pages<T>(memory: &[T]) {
    #[cfg(all(target_os = "linux", feature = "std"))]
    if size_of_val(memory) >= 8 * MANY_WORDS {
        use rustix::mm::{Advice, madvise};
        // Whole pages only, so that the advice is for nobody else's memory.
        const PAGE: usize = 4096;
        let skipped = (memory.as_ptr() as usize).wrapping_neg() % PAGE;
        let bytes = (size_of_val(memory) - skipped) / PAGE * PAGE;
        let start = memory.as_ptr().wrapping_byte_add(skipped).cast_mut().cast();
        // SAFETY: the pages lie within the slice, and this advice changes no byte of them. A refusal changes nothing, so it is ignored.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
    }
    #[cfg(not(all(target_os = "linux", feature = "std")))]
    let _ = memory;
}

impl Deref for AlignedWords {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        // SAFETY: `start + count <= memory.len()` since construction, and the vector never changes its length afterwards. Checking it at every access would cost
        // as much as the access.
        unsafe { core::slice::from_raw_parts(self.memory.as_ptr().add(self.start), self.count) }
    }
}

impl DerefMut for AlignedWords {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and the vector is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.start), self.count) }
    }
}

impl Clone for AlignedWords {
    /// A copy at a line of its own.
    fn clone(&self) -> AlignedWords {
        // Out of memory, the vector's own way is taken: as every clone, it aborts.
        let mut copy = AlignedWords::zeroed(self.count).unwrap_or_else(|| AlignedWords {
            memory: vec![0; self.count + LINE_WORDS - 1],
            start: 0,
            count: self.count,
        });
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for AlignedWords {
    fn eq(&self, other: &AlignedWords) -> bool {
        self[..] == other[..]
    }
}

impl Eq for AlignedWords {}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts_at(words: &AlignedWords, bytes: usize) -> bool {
        (words.as_ptr() as usize).is_multiple_of(bytes)
    }

    #[test]
    fn words_start_at_a_line_and_many_at_a_huge_page() {
        for count in [1, 7, 8, 9, 1000, 4096, MANY_WORDS - 1] {
            let words = AlignedWords::zeroed(count).expect("small");
            assert!(words.len() == count && starts_at(&words, 64) && words.iter().all(|word| *word == 0));
        }
        let mut words = AlignedWords::zeroed(MANY_WORDS + 5).expect("2 MiB");
        assert!(starts_at(&words, 2 << 20) && words.len() == MANY_WORDS + 5);
        words[MANY_WORDS + 4] = 9;
        let copy = words.clone();
        assert!(copy == words && copy[MANY_WORDS + 4] == 9 && copy.as_ptr() != words.as_ptr());
    }

    #[test]
    fn a_vector_keeps_its_words() {
        for count in 0..100u64 {
            let words = AlignedWords::from_vec((0..count).collect()).expect("small");
            assert!(words.iter().copied().eq(0..count) && (count == 0 || starts_at(&words, 64)), "{count}");
            assert!(words.clone() == words);
        }
    }

    #[test]
    fn vectors_of_zeros() {
        assert_eq!(zeroed_vec::<u32>(3).as_deref(), Some(&[0; 3][..]));
        assert_eq!(zeroed_vec::<u64>(1000), Some(vec![0; 1000]));
        assert!(zeroed_vec::<u32>(0).is_none() && zeroed_vec::<u32>(usize::MAX / 4).is_none());
    }

    #[test]
    fn memory_that_is_not_there_is_none() {
        assert!(AlignedWords::zeroed(usize::MAX).is_none() && AlignedWords::zeroed(1 << 56).is_none());
    }
}
