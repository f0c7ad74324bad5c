//! Tests heavy hitters: the list has every key above the bound that it reports for missing keys.
//! Also compares the words of a text with an exact count.

use crate::common::SplitMix64;
use crate::streams::{KINDS, counts};
use crate::{hasher, rate};
use std::collections::HashMap;
use truebloom::count_min::{CountMin, HeavyHitter, HeavyHitters};
use truebloom_math::count_min::{Rows, Shape};

fn list(width: u64, depth: u32, capacity: u64, seed: u64) -> HeavyHitters {
    let shape = Shape::new(Rows::Independent, width, depth, 1).expect("a shape");
    HeavyHitters::new(CountMin::with_shape(shape, hasher(seed)).expect("small"), capacity).expect("a list")
}

/// The guarantee is certain, so no statistics are needed. It holds for sketches of any size, for
/// streams in any order, and after merging and halving.
#[test]
fn no_key_above_what_was_missed_is_missing() {
    for (kind, seed) in KINDS.into_iter().flat_map(|kind| (0..6).map(move |seed| (kind, seed))) {
        for (width, depth, capacity) in [(3, 1, 1), (10, 2, 5), (200, 3, 20), (1_000, 4, 5_000)] {
            let exact = counts(kind, 3_000, seed);
            let mut stream: Vec<u64> = exact.iter().flat_map(|(key, count)| vec![*key; *count as usize]).collect();
            stream.sort_unstable();
            let mut random = SplitMix64(seed);
            for i in (1..stream.len()).rev() {
                stream.swap(i, (random.next() % (i as u64 + 1)) as usize);
            }
            let (first, second) = stream.split_at(1_000);
            let (mut one, mut two) = (list(width, depth, capacity, seed), list(width, depth, capacity, seed));
            first.iter().for_each(|key| one.add(key, 1));
            second.iter().for_each(|key| two.add(key, 1));
            let complete = |list: &HeavyHitters, exact: &HashMap<u64, u64>| {
                let listed: HashMap<Vec<u8>, HeavyHitter> =
                    list.top(usize::MAX).into_iter().map(|hitter| (hitter.key.clone(), hitter)).collect();
                assert!(listed.iter().all(|(key, hitter)| list.bounds(&key[..]) == *hitter));
                for (key, count) in exact {
                    match listed.get(&key.to_le_bytes()[..]) {
                        Some(hitter) => {
                            assert!(hitter.at_least <= *count && *count <= hitter.at_most, "{kind:?} {key}: {count} and {hitter:?}")
                        }
                        None => assert!(
                            *count <= list.bounds(key).at_most && *count <= list.missed_at_most(),
                            "{kind:?} {key} came {count} times, missed at most {}",
                            list.missed_at_most()
                        ),
                    }
                }
                assert!(list.above(list.missed_at_most()).is_none() && list.above(list.missed_at_most() + 1).is_some());
            };
            one.merge(&two).expect("the same seed");
            complete(&one, &exact);
            one.halve();
            let mut faded: HashMap<u64, u64> = exact.iter().map(|(key, count)| (*key, count / 2)).collect();
            complete(&one, &faded);
            first.iter().for_each(|key| one.add(key, 1));
            first.iter().for_each(|key| *faded.entry(*key).or_default() += 1);
            complete(&one, &faded);
        }
    }
}

/// Compares the list with an exact count of the words in an old version of a text of this project.
#[test]
fn the_words_of_a_text() {
    let text = include_str!("text.md");
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut exact: HashMap<&str, u64> = HashMap::new();
    words().for_each(|word| *exact.entry(word).or_default() += 1);
    let mut found =
        HeavyHitters::<u32>::new(CountMin::with_hasher(rate("0.0005"), rate("1e-6"), hasher(1)).expect("small"), 200).expect("a list");
    words().for_each(|word| found.add(word, 1));
    let mut ranked: Vec<(&str, u64)> = exact.into_iter().collect();
    ranked.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    // At this size, the sketch has no errors for the most frequent keys, so the whole list is
    // right.
    let top: Vec<(String, u64)> =
        found.top(20).into_iter().map(|hitter| (String::from_utf8(hitter.key).expect("words"), hitter.at_most)).collect();
    let expected: Vec<(String, u64)> = ranked[..20].iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
    assert_eq!(top, expected);
    // Every word whose count is at least 1/200 of the total.
    let threshold = found.sketch().total() / 200;
    let often = found.above(threshold).expect("complete");
    let truth = ranked.iter().filter(|(_, count)| *count >= threshold).count();
    assert!(truth > 5 && often.len() >= truth);
}

#[test]
fn a_share_sizes_both() {
    let mut list: HeavyHitters = HeavyHitters::for_share(rate("1%"), rate("0.001")).expect("small");
    assert_eq!((list.capacity(), list.sketch().shape().width()), (200, 544));
    (0..100_000u64).for_each(|i| list.add(&if i % 50 == 0 { 7 } else { i }, 1));
    let often = list.above(1_000).expect("complete");
    assert_eq!(often[0].key, 7u64.to_le_bytes());
    assert!(often[0].at_least <= 2_001 && often[0].at_most >= 2_001, "{:?}", often[0]);
    assert!(HeavyHitters::<u64>::for_share(rate("1e-10"), rate("0.1")).is_err());
    let mut used: CountMin = CountMin::new(rate("0.1"), rate("0.1")).expect("small");
    used.add("key", 1);
    assert!(HeavyHitters::new(used.clone(), 0).is_err());
    // A list that was added later knows that it may have missed keys.
    let mut late = HeavyHitters::new(used, 10).expect("a list");
    late.add("key", 1);
    let key = late.bounds("key");
    assert_eq!((late.missed_at_most(), key.at_least, key.at_most), (1, 1, 2));
    assert_eq!(late.above(1), None);
}

/// Tests that a list has room for fewer long keys, and raises its bound for missing keys
/// accordingly.
#[test]
fn keys_take_bounded_memory() {
    let mut list = list(1_000, 3, 10, 1);
    let long = |i: u64| format!("{i}{}", "x".repeat(20_000));
    (0..50).for_each(|i| list.add(&long(i), i + 1));
    let bytes: usize = list.top(usize::MAX).iter().map(|hitter| hitter.key.len()).sum();
    assert!(bytes <= 256 * 10 + (64 << 10), "{bytes}");
    assert!(list.missed_at_most() >= 45 && list.above(list.missed_at_most() + 1).is_some());
    list.add(&"y".repeat(1 << 20), 1_000);
    assert!(list.missed_at_most() >= 1_000, "too long to be listed");
}

/// Tests that only the long keys that do not fit are refused; the keys that they would replace stay
/// in the list.
#[test]
fn long_keys_do_not_empty_the_list() {
    let mut list = list(10_000, 4, 100, 3);
    (0..20u64).for_each(|i| list.add(&i, 42));
    ["a", "b"].into_iter().for_each(|letter| list.add(&letter.repeat(60_000), 83));
    let found = list.top(usize::MAX);
    assert!((0..20u64).all(|i| found.iter().any(|hitter| hitter.key == i.to_le_bytes())), "{}", found.len());
    assert_eq!((found.len(), list.missed_at_most()), (21, 83), "one of the long ones has room");
}

/// Tests that saturated counters give no bounds, but the list's own counts stay exact.
#[test]
fn full_counters_leave_the_lists_own_counts() {
    let shape = Shape::new(Rows::Independent, 10, 2, 1).expect("a shape");
    let mut list = HeavyHitters::<u32>::new(CountMin::with_shape(shape, hasher(1)).expect("small"), 4).expect("a list");
    list.add("often", 1 << 40);
    let often = &list.top(1)[0];
    assert_eq!((often.at_least, often.at_most, often.saturated), (1 << 40, 1 << 40, false), "nothing was missed before");
    assert_eq!(HeavyHitters::from_bytes(&list.to_bytes().expect("small")).as_ref(), Ok(&list));
    list.halve();
    assert_eq!(list.top(1)[0].at_least, 1 << 39);
    // If a key is dropped while its counters are saturated, its count is still bounded by the
    // list's own count.
    (0..20u64).for_each(|key| list.add(&key, 1 << 41));
    assert!((1 << 41..u64::MAX).contains(&list.missed_at_most()), "{}", list.missed_at_most());
    assert!(list.top(100).iter().all(|hitter| hitter.at_least <= 1 << 41 && hitter.at_most >= 1 << 39));
}

/// Keys may be private, so a log must not show them.
#[test]
fn debugging_shows_no_keys() {
    let mut list = list(11, 2, 1, 1);
    list.add("secret", 1);
    let shown = format!("{list:?}");
    assert!(shown.contains("keys: 1") && !shown.contains("115, 101") && shown.len() < 500, "{shown}");
}

/// Counts near 2^64 saturate some bounds and not others. A list whose counts were halved can be
/// saved and opened again, and its bounds hold.
#[test]
fn lists_of_huge_counts_can_be_opened_after_halving() {
    for seed in 0..200 {
        let mut list = list(11, 2, 1, seed);
        [(9u64, 1 << 63), (2, u64::MAX), (9, 1 << 63)].into_iter().for_each(|(key, count)| list.add(&key, count));
        list.halve();
        let bytes = list.to_bytes().expect("small");
        assert!(HeavyHitters::from_bytes(&bytes).is_ok_and(|found| found == list), "{seed}");
        for (key, count) in [(9u64, 1u64 << 63), (2, u64::MAX / 2)] {
            let bounds = list.bounds(&key);
            assert!(bounds.at_least <= count && count <= bounds.at_most, "{seed} {key}: {bounds:?}");
        }
    }
}
