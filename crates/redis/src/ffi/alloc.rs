//! Memory from the server's allocator, so that its limits, INFO and MEMORY USAGE include filters.

use super::api::Api;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

type TryAlloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Calloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// The server's functions. These functions are set before any other code of this module runs. Unit
/// tests run without a server.
static SERVER: OnceLock<(TryAlloc, Calloc, Free)> = OnceLock::new();

/// Uses the server's allocator from now on. Memory that was allocated before must not be freed
/// afterwards.
pub(super) fn use_server(api: &Api) {
    let _ = SERVER.set((api.TryAlloc, api.Calloc, api.Free));
}

#[cfg(test)]
thread_local! {
    /// The largest block that the current test allows its thread to allocate.
    static LARGEST: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

/// Whether the current test forbids blocks of this size.
#[cfg(test)]
fn is_refused(layout: Layout) -> bool {
    LARGEST.with(|largest| layout.size() > largest.get())
}

/// Runs the code of a test, in which every allocation of more than `bytes` bytes fails.
#[cfg(test)]
pub(crate) fn with_blocks_up_to<R>(bytes: usize, run: impl FnOnce() -> R) -> R {
    let before = LARGEST.replace(bytes);
    let result = run();
    LARGEST.set(before);
    result
}

/// The server's allocator, or the system's if there is no server.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

/// The alignment of everything that the servers' allocators return.
const ALIGNED: usize = 8;

/// The smallest size for which the system is asked for free memory before zeroed memory is
/// requested. The server offers two functions: `calloc`, which returns zeroed memory, but ends the
/// process if it fails; and one that can fail without ending the process, but returns memory that
/// would have to be zeroed here.
const LARGE: usize = 1 << 20;

/// Returns the number of bytes to allocate for a block whose alignment exceeds that of the server's
/// allocator. The additional bytes are enough to move the beginning of the block, and to store the
/// address of the allocation in the word before the block.
fn padded(layout: Layout) -> Option<usize> {
    layout.size().checked_add(layout.align())?.checked_add(size_of::<usize>())
}

// SAFETY: every allocation has the requested length and alignment, and is freed by the allocator
// that made it: `SERVER` is set once, before anything is allocated that outlives the setting.
// Tested by `tests/test_memory.py` (filters of all sizes on both servers), and below without a
// server.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((alloc, _, _)) = SERVER.get() else {
            #[cfg(test)]
            if is_refused(layout) {
                return ptr::null_mut();
            }
            // SAFETY: as the caller promised.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: the function is the server's.
        unsafe { aligned(layout, |bytes| alloc(bytes)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some((_, calloc, _)) = SERVER.get() else {
            #[cfg(test)]
            if is_refused(layout) {
                return ptr::null_mut();
            }
            // SAFETY: as the caller promised.
            return unsafe { System.alloc_zeroed(layout) };
        };
        if !has_room(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: the function is the server's.
        unsafe { aligned(layout, |bytes| calloc(1, bytes)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some((_, _, free)) = SERVER.get() else {
            // SAFETY: as the caller promised.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: `aligned` made the block: it begins where the server's block does, or the word
        // before it contains the beginning of the server's block.
        unsafe {
            let start = if layout.align() <= ALIGNED { block } else { block.cast::<*mut u8>().sub(1).read_unaligned() };
            free(start.cast());
        }
    }
}

/// A block with this layout, from an allocator whose blocks are aligned to [`ALIGNED`]; null if the
/// allocation fails.
///
/// # Safety
/// `take` must return null or a block of this many bytes.
unsafe fn aligned(layout: Layout, take: impl Fn(usize) -> *mut c_void) -> *mut u8 {
    if layout.align() <= ALIGNED {
        return take(layout.size()).cast();
    }
    let Some(bytes) = padded(layout) else { return ptr::null_mut() };
    let start: *mut u8 = take(bytes).cast();
    if start.is_null() {
        return start;
    }
    // SAFETY: there is room for a word, then for less than the alignment, then for the block.
    unsafe {
        let first = start.add(size_of::<usize>());
        let block = first.add(first.align_offset(layout.align()));
        block.cast::<*mut u8>().sub(1).write_unaligned(start);
        block
    }
}

/// Whether the system would provide this many bytes now; for small numbers, the answer is always
/// yes.
pub(crate) fn has_room(bytes: usize) -> bool {
    if bytes < LARGE {
        return true;
    }
    // SAFETY: nothing reads or writes what is mapped, and it is unmapped at once.
    unsafe {
        let flags = rustix::mm::MapFlags::PRIVATE;
        rustix::mm::mmap_anonymous(ptr::null_mut(), bytes, rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE, flags)
            .is_ok_and(|block| rustix::mm::munmap(block, bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of any alignment begin at a multiple of it, keep the data that is written to them,
    /// and can be freed.
    #[test]
    fn blocks_are_aligned_and_lead_back() {
        for align in [1, 8, 16, 32, 64, 4096] {
            for size in [1, 7, 64, 4096, 100_000] {
                let layout = Layout::from_size_align(size, align).expect("a power of two");
                let taken = std::cell::Cell::new((ptr::null_mut::<u8>(), 0));
                // This block has only the alignment that the servers promise.
                let whole = |bytes: usize| Layout::from_size_align(bytes + ALIGNED, 64).expect("small");
                let take = |bytes: usize| {
                    // SAFETY: the block is not empty, and is longer than the part that is left out.
                    let start = unsafe { System.alloc(whole(bytes)).add(ALIGNED) };
                    taken.set((start, bytes));
                    start.cast()
                };
                // SAFETY: `take` returns blocks of this many bytes; the block is written and freed
                // with the same layout.
                unsafe {
                    let block = aligned(layout, take);
                    let (start, bytes) = taken.get();
                    assert_eq!(block as usize % align, 0);
                    assert!(block >= start && block.add(size) <= start.add(bytes), "{size} {align}");
                    block.write_bytes(0xff, size);
                    if align > ALIGNED {
                        assert_eq!(block.cast::<*mut u8>().sub(1).read_unaligned(), start);
                    }
                    System.dealloc(start.sub(ALIGNED), whole(bytes));
                }
            }
        }
    }

    #[test]
    fn the_system_has_some_room_but_not_all() {
        assert!(has_room(1) && has_room(LARGE) && !has_room(1 << 60));
    }

    #[test]
    fn a_size_beyond_all_memory_has_no_padding() {
        let most = Layout::from_size_align(isize::MAX as usize - 63, 64).expect("the largest");
        assert!(padded(most).is_some_and(|bytes| bytes > isize::MAX as usize));
    }
}
