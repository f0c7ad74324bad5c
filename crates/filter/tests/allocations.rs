//! No key allocates when it is inserted or looked for. A test of its own, because it counts by its own allocator.
#![allow(unsafe_code, reason = "an allocator that counts is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;
use truebloom::{BloomFilter, Key};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it came; the counter touches no memory but its own, which is there as long as its thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

#[test]
fn keys_do_not_allocate() {
    let mut seen = BloomFilter::new(1_000, 0.01).expect("small");
    let long = "long ".repeat(100);
    let many: Vec<u64> = (0..1_000).collect();
    let address: SocketAddr = "[2001:db8::1]:443".parse().expect("an address");
    let keys: [&dyn Key; 10] = [
        &5u8,
        &-5i128,
        &"text",
        &long,
        &many,
        &(1, "two", (long.as_str(), Some('3'))),
        &[Some("a"), None],
        &address,
        &Duration::from_secs(1),
        &Box::new(std::rc::Rc::new([many.as_slice(), &many])),
    ];
    for (i, key) in keys.into_iter().enumerate() {
        let count = allocations(|| {
            seen.insert(key);
            assert!(seen.contains(key));
        });
        assert_eq!(count, 0, "key {i}");
    }
    // The counter counts.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}
