//! Compares filters of ten keys to a hundred million keys with fastbloom: their sizes in bytes, and
//! the times to plan, build, open and query them.
//!
//! `cargo run --release -p truebloom-bench --bin sizes` measures filters of up to 1e6 keys. With
//! `-- --large`, it also measures 1e8 keys, which needs 400 MB. With `-- --open`, it measures only
//! the times to open mapped files of up to 10 GB, which are sparse and take almost no disk space.

mod open;

use std::hint::black_box;
use std::time::Instant;
use truebloom::scheme::Scheme;
use truebloom::{FilterOf, Pack, PortableHasher, Seed, Shared};
use truebloom_math::{Plan, Target};

const RATE: f64 = 0.01;
const SIZES: [u64; 5] = [10, 100, 1_000, 5_000, 1_000_000];
const LARGE: u64 = 100_000_000;
/// The number of keys that are inserted or queried in one measurement. Small filters are filled one
/// after another until this many keys are inserted.
const KEYS: u64 = 1 << 20;
const ROUNDS: u32 = 7;

fn main() {
    if std::env::args().any(|argument| argument == "--open") {
        return open::report();
    }
    let is_large = std::env::args().any(|argument| argument == "--large");
    println!("| keys | filter | bytes in a file | bytes in memory | plan µs | build ns per key | open ns | hit ns | miss ns |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for items in SIZES.into_iter().chain(is_large.then_some(LARGE)) {
        ours::<truebloom::scheme::Standard>("standard", items);
        ours::<truebloom::scheme::InLines>("blocked", items);
        fastbloom(items);
    }
}

/// Returns the time per operation in nanoseconds, for `things` operations; this is the smallest of
/// several rounds.
fn least(things: u64, mut run: impl FnMut()) -> f64 {
    let rounds = if things >= LARGE { 1 } else { ROUNDS };
    let time = (0..rounds).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64
    });
    time.fold(f64::INFINITY, f64::min) / things as f64
}

/// The type of a small filter. Many such filters share a plan.
type Small<S> = FilterOf<S, PortableHasher, Shared>;

struct Row {
    file: u64,
    memory: u64,
    plan: f64,
    build: f64,
    open: f64,
    hit: f64,
    miss: f64,
}

fn print(items: u64, name: &str, row: &Row) {
    let Row { file, memory, plan, build, open, hit, miss } = row;
    println!("| {items} | {name} | {file} | {memory} | {:.0} | {build:.1} | {open:.0} | {hit:.1} | {miss:.1} |", plan / 1e3);
}

fn ours<S: Scheme>(name: &str, items: u64) {
    let rate = RATE.try_into().expect("a rate");
    let target = Target::new().items(items).rate(rate).scheme(S::ID);
    let plan = least(1, || drop(black_box(Plan::new(&target))));
    let filter = FilterOf::<S>::with_hasher(items, RATE, PortableHasher::xxh3(Seed::from(1))).expect("a plan");
    let empty: Small<S> = filter.into_shared();
    let filters = (KEYS / items).max(1);
    let build = |fill: &dyn Fn(&mut Small<S>, u64)| {
        least(filters * items, || {
            for number in 0..filters {
                let mut filter = empty.clone();
                fill(&mut filter, number * items);
                black_box(&filter);
            }
        })
    };
    let one_by_one = build(&|filter, first| (first..first + items).for_each(|key| _ = filter.insert(&key)));
    let bulk = build(&|filter, first| drop(filter.insert_all(first..first + items)));
    let mut full = empty.clone();
    full.extend(0..items);
    let bytes = full.to_bytes().expect("memory");
    let opened = KEYS.min(100_000);
    let open = least(opened, || (0..opened).for_each(|_| drop(black_box(FilterOf::<S>::view(black_box(&bytes[..]))))));
    let view = FilterOf::<S>::view(&bytes[..]).expect("whole");
    let ask = |first: u64, modulus: u64| least(KEYS, || (0..KEYS).for_each(|key| _ = black_box(full.contains(&(first + key % modulus)))));
    let look = |first: u64, modulus: u64| least(KEYS, || (0..KEYS).for_each(|key| _ = black_box(view.contains(&(first + key % modulus)))));
    let words = 8 * full.bits().div_ceil(64);
    let memory = words + size_of_val(&full) as u64;
    let row = Row { file: bytes.len() as u64, memory, plan, build: one_by_one, open, hit: ask(0, items), miss: ask(1 << 40, KEYS) };
    print(items, name, &row);
    let batched = |first: u64, modulus: u64| least(KEYS, || drop(black_box(full.contains_all((0..KEYS).map(|key| first + key % modulus)))));
    print(items, &format!("{name}, in bulk"), &Row { build: bulk, hit: batched(0, items), miss: batched(1 << 40, KEYS), ..row });
    let mut pack = Pack::of(&full);
    pack.push(&full).expect("of one plan");
    let member = least(opened, || (0..opened).for_each(|_| drop(black_box(black_box(&pack).get(0)))));
    let viewed = size_of_val(&view) as u64;
    let row = Row { memory: viewed, hit: look(0, items), miss: look(1 << 40, KEYS), ..row };
    print(items, &format!("{name}, a view"), &row);
    print(items, &format!("{name}, in a pack"), &Row { file: pack.member_bytes() as u64, memory: 64, open: member, ..row });
}

/// The data of a fastbloom filter that a program has to store to read the filter again: its words,
/// the number of hashes and the seed.
const KEPT_BYTES: u64 = 4 + 16;

fn fastbloom(items: u64) {
    let seed = 1u128;
    let make = || fastbloom::BloomFilter::with_false_pos(RATE).seed(&seed).expected_items(items as usize);
    let plan = least(1, || drop(black_box(make())));
    let empty = make();
    let filters = (KEYS / items).max(1);
    let build = least(filters * items, || {
        for number in 0..filters {
            let mut filter = empty.clone();
            (number * items..(number + 1) * items).for_each(|key| _ = filter.insert(&key));
            black_box(&filter);
        }
    });
    let mut full = empty;
    (0..items).for_each(|key| _ = full.insert(&key));
    let bytes: Vec<u8> = full.as_slice().iter().flat_map(|word| word.to_le_bytes()).collect();
    let hashes = full.num_hashes();
    let opened = (KEYS / items).clamp(1, 100_000);
    let read = || {
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        fastbloom::BloomFilter::from_vec(words).seed(&seed).hashes(hashes)
    };
    let open = least(opened, || (0..opened).for_each(|_| drop(black_box(read()))));
    let ask = |first: u64, modulus: u64| least(KEYS, || (0..KEYS).for_each(|key| _ = black_box(full.contains(&(first + key % modulus)))));
    let memory = 8 * full.as_slice().len() as u64 + size_of_val(&full) as u64;
    print(
        items,
        "fastbloom (SipHash)",
        &Row { file: bytes.len() as u64 + KEPT_BYTES, memory, plan, build, open, hit: ask(0, items), miss: ask(1 << 40, KEYS) },
    );
}
