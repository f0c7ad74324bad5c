//! Tests that reading any bytes takes at most as much memory as the bytes, plus a constant. There
//! is only one test function, because the peak is measured for the whole process.
#![allow(unsafe_code, reason = "an allocator that counts is unsafe to write")]

mod common;

use common::{filter, seal};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use truebloom::count_min::{CountMin, HeavyHitters};
use truebloom::truebloom_math::Growth;
use truebloom::truebloom_math::count_min::{Rows, Shape};
use truebloom::{BloomFilter, FormatError, PortableHasher, ReadError, ScalableFilter, Seed};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The total size of all blocks that were reallocated, because each of them may have been copied.
static RESIZED: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    PEAK.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: every call is passed on unchanged to the system's allocator. The counters use no
// allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller meets the same requirements.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size.saturating_sub(layout.size()));
        NOW.fetch_sub(layout.size().saturating_sub(size), Relaxed);
        RESIZED.fetch_add(size, Relaxed);
        // SAFETY: the caller meets the same requirements.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak memory during a call, and the result of the call.
fn peak<R>(run: impl FnOnce() -> R) -> (usize, R) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = run();
    (PEAK.load(Relaxed) - before, result)
}

const SMALL: usize = 200 << 10;
const GROWTH: usize = 8 << 20;

#[test]
fn memory_is_bounded_by_what_is_there() {
    // A header that claims 2^46 bits, which are eight terabytes. The header is consistent.
    let mut hostile = filter(8 * (32 << 20), 3, 1).to_bytes().expect("32 MiB");
    hostile[24..32].copy_from_slice(&(1u64 << 46).to_le_bytes());
    hostile[104..112].copy_from_slice(&(1u64 << 43).to_le_bytes());
    seal(&mut hostile);
    for length in [256, 300, 1 << 20, 9 << 20, hostile.len()] {
        let (bytes, result) = peak(|| BloomFilter::from_bytes(&hostile[..length]));
        assert!(matches!(result, Err(FormatError::Truncated { .. })) && bytes < SMALL, "{bytes}");
        let (bytes, result) = peak(|| BloomFilter::read_from(&hostile[..length]));
        assert!(matches!(result, Err(ReadError::Format(FormatError::Truncated { .. }))));
        assert!(bytes <= length + GROWTH + SMALL, "{bytes} for {length}");
    }

    // A sketch with 2^40 counters in each row, and a list of heavy hitters with 2^40 bytes.
    let shape = Shape::new(Rows::Independent, 1_000, 4, 1).expect("a shape");
    let sketch = CountMin::<u32>::with_shape(shape, PortableHasher::xxh3(Seed::from(1))).expect("small");
    let list = HeavyHitters::new(sketch, 1 << 20).expect("a list").to_bytes().expect("small");
    for (offset, claimed, payload) in [(24, 1u64 << 40, 16u64 << 40), (152, 1 << 40, 16_000 + (1 << 40))] {
        let mut hostile = list.clone();
        hostile[offset..offset + 8].copy_from_slice(&claimed.to_le_bytes());
        hostile[104..112].copy_from_slice(&payload.to_le_bytes());
        seal(&mut hostile);
        let (bytes, result) = peak(|| HeavyHitters::<u32>::from_bytes(&hostile));
        assert!(matches!(result, Err(FormatError::Truncated { .. })) && bytes < SMALL, "{bytes} {result:?}");
        let (bytes, result) = peak(|| HeavyHitters::<u32>::read_from(&hostile[..]));
        assert!(result.is_err() && bytes <= GROWTH + SMALL, "{bytes}");
    }

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("hostile.tbl");
    std::fs::write(&path, &hostile[..1 << 20]).expect("a file");
    let (bytes, result) = peak(|| BloomFilter::open(&path));
    assert!(result.is_err() && bytes < SMALL, "{bytes}");

    // A correct file is read at once into memory of its own length, or piece by piece into no more
    // memory.
    let honest = filter(8 * (20 << 20) + 1, 3, 1);
    let (bytes, saved) = peak(|| honest.save(&path));
    assert!(saved.is_ok() && bytes < SMALL, "{bytes}");
    let encoded = honest.to_bytes().expect("20 MiB");
    let (opened, read, decoded) = (
        peak(|| BloomFilter::open(&path).ok()),
        peak(|| BloomFilter::read_from(&encoded[..]).ok()),
        peak(|| BloomFilter::from_bytes(&encoded).ok()),
    );
    for (bytes, filter) in [opened, read, decoded] {
        assert!(filter.as_ref() == Some(&honest) && bytes <= encoded.len() + SMALL, "{bytes}");
    }

    many_layers();
}

/// Reads a filter of many layers, which only merges can make, in time linear in the size of its
/// file. Copying the rest of the file for each layer would copy a hundred times as many bytes.
fn many_layers() {
    let growth = Growth::new("1%".parse().expect("a rate"), 64).expect("in range");
    let one = |number: u64| {
        let mut filter = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(1))).expect("small");
        filter.extend((0..60u64).map(|key| 60 * number + key));
        filter
    };
    let mut all = one(0);
    (1..400).for_each(|number| all.union_with(&one(number)).expect("alike"));
    assert_eq!(all.layers().len(), 400);
    let bytes = all.to_bytes().expect("small");
    let before = RESIZED.load(Relaxed);
    assert!(ScalableFilter::from_bytes(&bytes).is_ok_and(|read| read == all));
    let resized = RESIZED.load(Relaxed) - before;
    assert!(resized <= 6 * bytes.len(), "{resized} of {}", bytes.len());
}
