//! Memory for bits: words that begin at a cache line. If there are many words, they are on huge
//! pages.

use alloc::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use alloc::vec::Vec;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// The number of words in a cache line.
const LINE_WORDS: usize = 8;
/// The number of words in a huge page. The system uses a huge page only if all of its addresses
/// belong to this program.
const HUGE_PAGE_WORDS: usize = (2 << 20) / 8;
/// The number of bytes in a page.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Memory for this many words or more begins at a huge page. With fewer words, most of the memory
/// would be unused space before and after the words.
const MANY_WORDS: usize = HUGE_PAGE_WORDS;

/// A fixed number of words, which begin at the start of a 64-byte line. A program can have many
/// small filters, so the struct itself takes only two words of memory.
///
/// If there are only a few words, they are stored in an aligned allocation of exactly their size.
/// Otherwise, they are stored in a larger vector, which also has unused space before and after the
/// words. There are two reasons for using a vector. First, the system provides zeroed pages only
/// for allocations with ordinary alignment. In an aligned allocation, the program would have to
/// write the zeros itself. Second, words that were read from a file into a vector can stay in this
/// vector.
pub struct AlignedWords {
    /// The first word. A small number of words has its own allocation. A large number is in a
    /// vector's memory, where [`Around`] follows the last word.
    words: NonNull<u64>,
    count: usize,
}

// SAFETY: only this value owns the memory, as a vector of words would.
unsafe impl Send for AlignedWords {}
// SAFETY: as above.
unsafe impl Sync for AlignedWords {}

/// The start and the capacity of the vector that contains many words.
type Around = (*mut u64, usize);

/// The number of words that [`Around`] takes.
const AROUND_WORDS: usize = size_of::<Around>().div_ceil(8);

/// A type with the alignment of a line, for the pointer of an empty allocation.
#[repr(align(64))]
struct AtLine;

impl AlignedWords {
    /// Allocates words that are all 0. If there are many words, their pages take memory only when
    /// they are first written. Returns `None` if the memory cannot be allocated.
    pub(crate) fn zeroed(count: usize) -> Option<AlignedWords> {
        if count >= MANY_WORDS {
            let memory = zeroed_vec(count.checked_add(HUGE_PAGE_WORDS - 1 + AROUND_WORDS)?)?;
            let start = misalignment(&memory, HUGE_PAGE_WORDS);
            let words = AlignedWords::within(memory, start, count);
            advise_huge_pages(&words[..]);
            return Some(words);
        }
        let words = match few(count)? {
            layout if layout.size() == 0 => NonNull::<AtLine>::dangling().cast(),
            // SAFETY: the layout's size is not 0.
            layout => NonNull::new(unsafe { alloc_zeroed(layout) })?.cast(),
        };
        Some(AlignedWords { words, count })
    }

    /// Takes over the words of a vector. A small number of words is copied. A large number of words
    /// stays in the vector. If the words do not begin at a line, they are moved by less than a
    /// line. Returns `None` if the additional memory cannot be allocated.
    pub(crate) fn from_vec(mut memory: Vec<u64>) -> Option<AlignedWords> {
        let count = memory.len();
        if count < MANY_WORDS {
            let mut words = AlignedWords::zeroed(count)?;
            words.copy_from_slice(&memory);
            return Some(words);
        }
        memory.try_reserve_exact(LINE_WORDS - 1 + AROUND_WORDS).ok()?;
        memory.resize(count + LINE_WORDS - 1 + AROUND_WORDS, 0);
        // This is computed after the vector has grown, because growing may move it.
        let start = misalignment(&memory, LINE_WORDS);
        memory.copy_within(..count, start);
        Some(AlignedWords::within(memory, start, count))
    }

    /// Makes the value from a vector that contains a large number of words, with room for
    /// [`Around`] after them.
    fn within(memory: Vec<u64>, start: usize, count: usize) -> AlignedWords {
        assert!(count >= MANY_WORDS && start + count + AROUND_WORDS <= memory.len(), "room around the words");
        let mut memory = ManuallyDrop::new(memory);
        let (base, capacity) = (memory.as_mut_ptr(), memory.capacity());
        // SAFETY: `start` and `start + count` lie within the vector's memory, with room for
        // `Around` after the latter, as was just checked. `Around` may begin at any word, so it is
        // written unaligned.
        unsafe {
            base.add(start + count).cast::<Around>().write_unaligned((base, capacity));
            AlignedWords { words: NonNull::new_unchecked(base.add(start)), count }
        }
    }
}

/// The layout for this small number of words.
fn few(count: usize) -> Option<Layout> {
    Layout::array::<u64>(count).and_then(|layout| layout.align_to(8 * LINE_WORDS)).ok()
}

impl Drop for AlignedWords {
    fn drop(&mut self) {
        if self.count >= MANY_WORDS {
            // SAFETY: `within` took the vector apart, and stored its start and its capacity after
            // the words. No word is read any more, so the vector's length may be 0.
            unsafe {
                let (base, capacity) = self.words.as_ptr().add(self.count).cast::<Around>().read_unaligned();
                drop(Vec::from_raw_parts(base, 0, capacity));
            }
        } else if let Some(layout) = few(self.count).filter(|layout| layout.size() > 0) {
            // SAFETY: allocated in `zeroed` with this layout.
            unsafe { dealloc(self.words.as_ptr().cast(), layout) };
        }
    }
}

/// The number of words from the start of the memory to the next multiple of `alignment`, which must
/// be a power of two.
fn misalignment(memory: &[u64], alignment: usize) -> usize {
    ((memory.as_ptr() as usize / 8).wrapping_neg()) & (alignment - 1)
}

/// Number types in which the value 0 is stored as zero bytes.
///
/// # Safety
/// Bytes that are all 0 must be a valid value of the type.
pub unsafe trait Zeroes: Copy {}

// SAFETY: all bytes of an integer 0 are 0.
unsafe impl Zeroes for u32 {}
// SAFETY: as above.
unsafe impl Zeroes for u64 {}

/// Allocates a vector of zeros. The system provides each page when it is first used. `vec![0; n]`
/// does the same, but aborts if the memory cannot be allocated.
pub(crate) fn zeroed_vec<T: Zeroes>(count: usize) -> Option<Vec<T>> {
    let layout = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout's size is not 0.
    let start = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if start.is_null() {
        return None;
    }
    // SAFETY: allocated just now by the global allocator with the layout of an array of `count`
    // numbers, all of which are initialised: their bytes are 0, which `Zeroes` allows.
    Some(unsafe { Vec::from_raw_parts(start, count, count) })
}

/// Asks the system to use huge pages for a large allocation that has not been accessed yet. With
/// pages of 4 KiB, a random access waits longer for the page table than for the cache line. If the
/// data is in memory, such an access takes two to three times as long as with huge pages. If the
/// data is in the L3 cache, it takes 1.4 times as long. The request is only advice: everything
/// works without it.
pub(crate) fn advise_huge_pages<T>(memory: &[T]) {
    #[cfg(all(target_os = "linux", feature = "std"))]
    advise(memory, rustix::mm::Advice::LinuxHugepage);
    #[cfg(not(all(target_os = "linux", feature = "std")))]
    let _ = memory;
}

/// Asks the system not to use huge pages for memory that has not been accessed yet. Each page that
/// is accessed later then takes 4 KiB instead of 2 MiB.
pub(crate) fn decline_huge_pages<T>(memory: &[T]) {
    #[cfg(all(target_os = "linux", feature = "std"))]
    advise(memory, rustix::mm::Advice::LinuxNoHugepage);
    #[cfg(not(all(target_os = "linux", feature = "std")))]
    let _ = memory;
}

/// Gives the system advice on the pages of large memory.
#[cfg(all(target_os = "linux", feature = "std"))]
fn advise<T>(memory: &[T], advice: rustix::mm::Advice) {
    if size_of_val(memory) >= 8 * MANY_WORDS {
        // The advice is given only for whole pages within the slice, so that it does not affect
        // other memory.
        let skipped = (memory.as_ptr() as usize).wrapping_neg() % PAGE_BYTES;
        let bytes = (size_of_val(memory) - skipped) / PAGE_BYTES * PAGE_BYTES;
        let start = memory.as_ptr().wrapping_byte_add(skipped).cast_mut().cast();
        // SAFETY: the pages lie within the slice, and advice on huge pages changes none of their
        // bytes. If the system refuses, nothing changes, so errors are ignored.
        let _ = unsafe { rustix::mm::madvise(start, bytes, advice) };
    }
}

impl Deref for AlignedWords {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        // SAFETY: `words` are `count` initialised words of this value's memory, or, if there are
        // none, the pointer is dangling and aligned.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }
}

impl DerefMut for AlignedWords {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and the value is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.words.as_ptr(), self.count) }
    }
}

impl Clone for AlignedWords {
    /// A copy that also begins at a line.
    fn clone(&self) -> AlignedWords {
        // If the memory cannot be allocated, this aborts, as every clone does.
        let mut copy = AlignedWords::zeroed(self.count).unwrap_or_else(|| handle_alloc_error(Layout::for_value(&self[..])));
        copy.copy_from_slice(self);
        copy
    }
}

/// The words of [`AlignedWords`] as atomics that threads share.
#[cfg(target_has_atomic = "64")]
pub(crate) struct SharedWords {
    words: AlignedWords,
}

#[cfg(target_has_atomic = "64")]
impl SharedWords {
    /// Shares these words without moving them.
    pub(crate) fn of(words: AlignedWords) -> SharedWords {
        // On 32-bit x86, the alignment of `u64` is only four bytes, but allocators still align to
        // eight.
        assert!(words.as_ptr().cast::<core::sync::atomic::AtomicU64>().is_aligned(), "words begin at eight bytes");
        SharedWords { words }
    }

    /// Returns the words once no other thread uses them.
    pub(crate) fn into_words(self) -> AlignedWords {
        self.words
    }
}

#[cfg(target_has_atomic = "64")]
impl Deref for SharedWords {
    type Target = [core::sync::atomic::AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: an `AtomicU64` has the size and the representation of a `u64`. The words begin at
        // a line, or the pointer is dangling and aligned to a line, so the alignment suffices. The
        // words are initialised and owned by this value. The pointer is that of the allocation.
        // While this value exists, only these atomics read or write the words, and there is no
        // reference to them as plain words.
        unsafe { core::slice::from_raw_parts(self.words.words.as_ptr().cast(), self.words.count) }
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
        for count in (0..100).chain([MANY_WORDS as u64 - 1, MANY_WORDS as u64, MANY_WORDS as u64 + 3]) {
            let words = AlignedWords::from_vec((0..count).collect()).expect("small");
            assert!(words.iter().copied().eq(0..count) && starts_at(&words, 64), "{count}");
            assert!(words.clone() == words);
        }
    }

    #[test]
    fn vectors_of_zeros() {
        assert_eq!(zeroed_vec::<u32>(3).as_deref(), Some(&[0; 3][..]));
        assert_eq!(zeroed_vec::<u64>(1000), Some(vec![0; 1000]));
        assert!(zeroed_vec::<u32>(0).is_none() && zeroed_vec::<u32>(usize::MAX / 4).is_none());
    }

    /// Numbers that are stored through the shared words appear in the plain words, at the same
    /// address. The test covers small and large allocations.
    #[cfg(target_has_atomic = "64")]
    #[test]
    fn shared_words_are_the_same_words() {
        use core::sync::atomic::Ordering::Relaxed;
        for count in [0, 1, 9, 1000, MANY_WORDS + 5] {
            let words = AlignedWords::zeroed(count).expect("small");
            let place = words.as_ptr();
            let shared = SharedWords::of(words);
            assert!(shared.len() == count && shared.as_ptr().addr() == place.addr());
            for (word, number) in shared.iter().zip(1..) {
                assert_eq!(word.swap(number, Relaxed), 0);
            }
            let words = shared.into_words();
            assert!(words.as_ptr() == place && words.iter().copied().eq(1..=count as u64));
        }
    }

    #[test]
    fn memory_that_is_not_there_is_none() {
        assert!(AlignedWords::zeroed(usize::MAX).is_none() && AlignedWords::zeroed(1 << 56).is_none());
    }
}
