//! Compares compact filters with those of the library: they have the same answers and the same
//! bytes.

use crate::answer::Failure;
use crate::compact::Compact;
use crate::ffi;
use crate::file;
use crate::imported::Imported;
use crate::large::Large;
use crate::loading::{self, Loading};
use crate::plans;
use crate::redisbloom::{Chain, Plan};
use crate::sketch::Sketch;
use crate::state;
use crate::turning::{Turning, Window};
use crate::value::Value;
use std::time::Duration;
use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::{AnyFilter, BloomFilter, Filter as _, HasherId, PortableHasher, ScalableFilter, Seed};
use truebloom_math::Rate;

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

/// A growing filter for 100 items, and one with a fixed size for 1,000.
fn both(hasher: HasherId, seed: u128) -> [(Value, AnyFilter); 2] {
    let seed = Seed::from(seed);
    let theirs = PortableHasher::new(hasher, seed);
    let growth = plans::growth(rate("0.01"), 100, 2).expect("in range");
    let shape = plans::growing(growth, 2, hasher).expect("in range");
    let growing = Compact::new(&shape, seed).expect("memory").expect("small");
    let plan = plans::plan(rate("0.001"), 1_000, false).expect("in range");
    let shape = plans::fixed(plan.bits, plan.probes, plan.rate, Some(plan.items), hasher).expect("in range");
    let fixed = Compact::new(&shape, seed).expect("memory").expect("small");
    [
        (Value::Compact(growing), ScalableFilter::with_growth(growth, theirs).expect("memory").into()),
        (Value::Compact(fixed), BloomFilter::from_plan_with_hasher(&plan, theirs).expect("memory").into()),
    ]
}

/// The largest number of items that fit into the compact form of a growing filter with a rate of
/// 1e-4 whose first layer has 50,000 items.
const COMPACT_ITEMS: u32 = 572_268;

fn add(value: &mut Value, items: std::ops::Range<u32>) -> Vec<bool> {
    let keys: Vec<[u8; 4]> = items.map(u32::to_le_bytes).collect();
    value.add(keys.iter().map(|key| &key[..]), false).expect("a filter").into_iter().map(|answer| answer.expect("room")).collect()
}

/// After each item, compact filters give the same answers and bytes as the library's filters, which
/// are offered only items that they do not contain. The filters have several layers.
#[test]
fn compact_filters_are_those_of_the_library() {
    for hasher in [HasherId::Xxh3, HasherId::Sip13] {
        for (mut ours, mut theirs) in both(hasher, 0x1234_5678_9abc_def0_0fed_cba9_8765_4321) {
            let count: u32 = if matches!(theirs, AnyFilter::Scalable(_)) { 3_000 } else { 1_000 };
            for item in 0..count {
                let key = &item.to_le_bytes()[..];
                let new = !theirs.contains(key);
                if new {
                    theirs.insert(key);
                }
                assert_eq!(add(&mut ours, item..item + 1), [new], "{item}");
            }
            let Value::Compact(compact) = &ours else { panic!("it stays compact") };
            let bytes = file::to_bytes(compact).expect("memory");
            assert_eq!(bytes, theirs.to_bytes().expect("memory"));
            assert!(
                file::to_compact(&AnyFilter::from_bytes(&bytes).expect("a file"), 2).is_some_and(|again| again.words() == compact.words())
            );
            assert_eq!(ours.layers() as usize, if count == 3_000 { 5 } else { 1 });
        }
    }
}

/// A filter that outgrows the compact form continues as a large one, with the same bytes.
#[test]
fn compact_filters_become_large_ones() {
    let growth = plans::growth(rate("0.0001"), 50_000, 2).expect("in range");
    let shape = plans::growing(growth, 2, HasherId::Xxh3).expect("in range");
    let mut ours = Value::Compact(Compact::new(&shape, Seed::from(7)).expect("memory").expect("small"));
    let mut theirs = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(7))).expect("memory");
    add(&mut ours, 0..600_000);
    for item in (0..600_000u32).map(u32::to_le_bytes) {
        let hash = theirs.hash(&item[..]);
        if !theirs.contains_hash(hash) {
            theirs.insert_hash(hash);
        }
    }
    assert!(matches!(ours, Value::Large(_)));
    assert_eq!(ours.to_file().expect("memory"), theirs.to_bytes().expect("memory"));
    assert_eq!(ours.items(), theirs.changed());
}

/// If there is not enough memory for the large form, the filter keeps all earlier items and reports
/// an error for each refused item. The next attempt with enough memory continues as if nothing had
/// happened. The test refuses blocks of every size.
#[test]
fn no_memory_for_the_large_form_loses_nothing() {
    let growth = plans::growth(rate("0.0001"), 50_000, 2).expect("in range");
    let shape = plans::growing(growth, 2, HasherId::Xxh3).expect("in range");
    let mut ours = Value::Compact(Compact::new(&shape, Seed::from(7)).expect("memory").expect("small"));
    // All items but the last ones for which the compact form has room.
    add(&mut ours, 0..COMPACT_ITEMS - 100);
    let keys: Vec<[u8; 4]> = (COMPACT_ITEMS - 100..COMPACT_ITEMS + 1_000).map(u32::to_le_bytes).collect();
    let items = keys.iter().map(|key| &key[..]);
    let mut whole = ours.clone();
    assert!(whole.add(items.clone(), false).expect("a filter").iter().all(Result::is_ok) && matches!(whole, Value::Large(_)));
    for most in [100_000, 1_500_000, 1_800_000, 2_100_000] {
        let (mut ours, before) = (ours.clone(), ours.items());
        let answers = ffi::with_blocks_up_to(most, || ours.add(items.clone(), false)).expect("a filter");
        let taken: Vec<&[u8]> = items.clone().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(item, _)| item).collect();
        assert!(answers.len() == keys.len() && !taken.is_empty() && taken.len() < keys.len(), "{most}: {}", taken.len());
        assert!(ours.contains(taken.iter().copied()).expect("a filter").iter().all(|found| *found), "{most}");
        assert!(matches!(ours, Value::Compact(_)) && ours.items() == before + added(&answers), "{most}");
        ours.add(items.clone(), false).expect("a filter");
        assert_eq!(ours.to_file().expect("memory"), whole.to_file().expect("memory"), "{most}");
    }
}

/// How many items were new.
fn added(answers: &[Result<bool, Failure>]) -> u64 {
    answers.iter().filter(|answer| **answer == Ok(true)).count() as u64
}

/// A value that is written can be read again and has the announced length. If any byte of a written
/// value is changed, the value is either refused or read with this change.
#[test]
fn states_are_read_as_they_were_written() {
    for (mut value, _) in both(HasherId::Xxh3, 5) {
        add(&mut value, 0..250);
        let mut bytes = Vec::new();
        state::write(&value, &mut bytes).expect("a vector");
        assert_eq!(bytes.len() as u64, state::length(&value));
        let again = state::read(&mut &bytes[..], None).expect("what was written");
        let mut copy = Vec::new();
        state::write(&again, &mut copy).expect("a vector");
        assert_eq!(bytes, copy);
        for at in 0..bytes.len() {
            assert!(state::read(&mut &bytes[..at], None).is_err(), "cut at {at}");
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            if let Ok(read) = state::read(&mut &altered[..], None) {
                let mut copy = Vec::new();
                state::write(&read, &mut copy).expect("a vector");
                assert_eq!(altered, copy, "changed at {at}");
            }
        }
        assert!(state::read(&mut &bytes[..], Some(100)).is_err(), "above the limit");
    }
}

/// Every part equals the bytes from its position on, and all parts together equal all bytes.
#[test]
fn parts_are_what_is_written() {
    let growth = plans::growth(rate("0.01"), 1_000, 2).expect("in range");
    let large = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(3))).expect("memory");
    let window = Window { two: true, every: 1_000 };
    let design = Turning::design(&rate("0.01"), 500, window).expect("in range");
    let turning = Turning::new(&design, window, PortableHasher::xxh3(Seed::from(4)), 5).expect("memory");
    let sketch = Sketch::new(100, 3, PortableHasher::xxh3(Seed::from(5))).expect("memory");
    let mut values = vec![Value::Large(Box::new(Large::new(large.into(), 2))), Value::Turning(Box::new(turning)), imported(), imported()];
    values.extend(both(HasherId::Xxh3, 5).map(|(value, _)| value));
    // One of the two filters from RedisBloom has no items that were added here.
    for (number, value) in values.iter_mut().enumerate() {
        if number != 2 {
            add(value, 0..700);
        }
    }
    values.push(Value::Sketch(Box::new(sketch)));
    for value in &values {
        let mut whole = Vec::new();
        state::write(value, &mut whole).expect("a vector");
        assert_eq!(whole.len() as u64, state::length(value));
        for most in [16, 24, 250, 4096] {
            let mut parts = Vec::new();
            while parts.len() < whole.len() {
                let part = state::part(value, parts.len() as u64, most).expect("memory");
                assert_eq!(part.len(), most.min(whole.len() - parts.len()), "at {}", parts.len());
                parts.extend(part);
            }
            assert!(parts == whole, "parts of {most}");
            assert!(state::part(value, whole.len() as u64, most).expect("memory").is_empty());
        }
        let again = state::read(&mut &whole[..], None).expect("what was written");
        let mut copy = Vec::new();
        state::write(&again, &mut copy).expect("a vector");
        assert!(copy == whole);
    }
}

/// A filter is due exactly when its time is up, to the nanosecond. Starting its clock is a change,
/// too, and is replicated.
#[test]
fn a_filter_is_due_when_its_time_turns_it() {
    let policy = Policy { age: Some(Duration::from_nanos(1_500_000)), ..Policy::two_phases(500) };
    let filter: RecyclingFilter = RecyclingFilter::with_hasher(1_000, 4, policy, PortableHasher::xxh3(Seed::from(6))).expect("small");
    let mut turning = Turning::from_bytes(&filter.to_bytes().expect("memory")).expect("a file");
    assert!(turning.is_due(5) && turning.advance(5) && turning.stats().cycles == 0);
    let mut turns = Vec::new();
    for now in 5..30 {
        let mut other = turning.clone();
        other.advance(now);
        assert_eq!(turning.is_due(now), other.stats().cycles > turning.stats().cycles, "{now}");
        if turning.is_due(now) {
            assert!(turning.advance(now));
            turns.push(now);
        }
    }
    assert_eq!(turns[..4], [7, 8, 10, 11]);
}

/// A filter of RedisBloom with two layers, in which every other bit is set.
fn imported() -> Value {
    let layer = |bits, capacity, rate| Plan::checked([bits, 7, capacity, 10], rate, 0).expect("sound");
    let chain = Chain::checked(vec![layer(960, 100, 0.005), layer(2176, 200, 0.0025)], 5, 2).expect("sound");
    let bits = chain.layers.iter().map(|layer| vec![0x5555_5555_5555_5555; (layer.bytes() / 8) as usize].into_boxed_slice()).collect();
    Value::Imported(Box::new(Imported::new(chain, bits)))
}

/// A dump may be divided into chunks of any length; all chunks are accepted in order, and the
/// result is the same.
#[test]
fn chunks_come_in_order_and_to_the_end() {
    let mut loading = Loading::begin(&loading::header(10)).expect("a header");
    assert!(!loading.take(b"12345").expect("room"));
    assert!(loading.take(b"").is_err() && loading.take(b"678901").is_err());
    assert!(loading.take(b"67890").expect("room"));
    assert_eq!(loading.parts(), (&loading::header(10)[..], &b"1234567890"[..]));
    assert!(Loading::begin(&loading::header(0)).is_err() && Loading::begin(b"TBdump").is_err());
}
