//! Tests that inserting a key, looking up a key and opening a view do not allocate. These tests are
//! in a separate file, because they replace the allocator by one that counts.
#![allow(unsafe_code, reason = "an allocator that counts is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;
use truebloom::count_min::CountMin;
use truebloom::recycling::{BlockedRecyclingFilter, Policy, RecyclingFilter};
use truebloom::scheme::{AnyScheme, SchemeId};
use truebloom::{AnyFilter, BlockedBloomFilter, BloomFilter, FilterOf, Key, Pack, PortableHasher, Seed};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator. The counter uses only its
// own memory, which exists as long as its thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller meets the same requirements.
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
    // The counter counts allocations.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

/// Tests that opening a view allocates nothing, for all kinds except two, which make one small
/// allocation each.
#[test]
fn views_do_not_allocate() {
    fn bytes(encoded: Result<Vec<u8>, truebloom::BuildError>) -> Vec<u8> {
        encoded.expect("small")
    }
    let hasher = PortableHasher::xxh3(Seed::from(1));
    let mut table = BloomFilter::new(1_000, 0.01).expect("small");
    table.insert("key");
    let mut pack = Pack::of(&table);
    pack.push(&table).expect("of one plan");
    let standard = bytes(table.to_bytes());
    assert!(table.set_label("with a label"));
    let labelled = bytes(table.to_bytes());
    let other = FilterOf::with_scheme(AnyScheme::named(SchemeId::Classic, 1_000, 4).expect("in range"), hasher).expect("small");
    let other = bytes(AnyFilter::from(other).to_bytes());
    let blocked = bytes(BlockedBloomFilter::new(1_000, 0.01).and_then(|filter| filter.to_bytes()));
    let recycling = bytes(RecyclingFilter::new(1_000, 4, Policy::two_phases(500)).and_then(|filter| filter.to_bytes()));
    let lines = BlockedRecyclingFilter::with_hasher(1 << 12, 4, Policy::one_phase(0.02), hasher);
    let lines = bytes(lines.and_then(|filter| filter.to_bytes()));
    let rate = |text: &str| text.parse().expect("a rate");
    let sketch = bytes(CountMin::<u64>::new(rate("10%"), rate("1%")).and_then(|sketch| sketch.to_bytes()));
    let pack = bytes(pack.to_bytes());

    assert_eq!(allocations(|| assert!(BloomFilter::view(&standard).expect("whole").contains("key"))), 0);
    assert_eq!(allocations(|| assert!(!BlockedBloomFilter::view(&blocked).expect("whole").contains("key"))), 0);
    assert_eq!(allocations(|| assert!(AnyFilter::view(&standard).expect("whole").contains("key"))), 0);
    assert_eq!(allocations(|| assert!(!<RecyclingFilter>::view(&recycling).expect("whole").contains("key"))), 0);
    assert_eq!(allocations(|| assert!(!<BlockedRecyclingFilter>::view(&lines).expect("whole").contains("key"))), 0);
    assert_eq!(allocations(|| assert_eq!(CountMin::<u64>::view(&sketch).expect("whole").estimate("key").value, 0)), 0);
    let member = |pack: &[u8]| <Pack>::view(pack).expect("whole").get(0).expect("undamaged").expect("there").contains("key");
    assert_eq!(allocations(|| assert!(member(&pack))), 0);
    // Two values need an allocation: the text of a label, and a scheme that is only known at run
    // time.
    assert_eq!(allocations(|| assert_eq!(BloomFilter::view(&labelled).expect("whole").label(), Some("with a label"))), 1);
    assert_eq!(allocations(|| assert!(!AnyFilter::view(&other).expect("whole").contains("key"))), 1);
    // Reading all bits does not allocate either.
    assert_eq!(allocations(|| assert!(BloomFilter::view(&standard).expect("whole").verify_bytes().expect("undamaged").ones() > 0)), 0);
}
