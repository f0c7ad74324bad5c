//! Tests filters that grow: their rate, keys, layers, files and merges.

mod common;

use common::seal_all;
use truebloom::truebloom_math::law::Layered;
use truebloom::truebloom_math::{Growth, Rate, binomial};
use truebloom::verify::ExpectedVerdict;
use truebloom::{
    AnyFilter, AtomicScalableFilter, BloomFilter, BuildError, FileHeader, Filter, MergeError, PortableHasher, ScalableFilter, Seed,
};

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

fn seeded(growth: Growth, seed: u128) -> ScalableFilter {
    ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(seed))).expect("small")
}

fn small(text: &str, seed: u128) -> ScalableFilter {
    seeded(Growth::new(rate(text), 64).expect("in range"), seed)
}

/// Inserts keys until this many layers are closed and the next layer is half full.
fn grown(growth: Growth, closed: usize, seed: u128) -> ScalableFilter {
    let mut filter = seeded(growth, seed);
    let mut key = 0u64;
    while filter.layers().len() <= closed {
        filter.extend(key..key + 16);
        key += 16;
    }
    let half = growth.layer(closed as u32).expect("in range").items / 2;
    filter.extend(key..key + half);
    filter
}

#[test]
fn keys_are_kept_and_the_rate_is_never_above() {
    for text in ["50%", "10%", "0.1%", "1e-9"] {
        let (asked, mut filter) = (rate(text), small(text, 7));
        for key in 0..20_000u64 {
            filter.insert(&key);
            assert!(filter.contains(&key));
            if key.is_power_of_two() || key % 2_503 == 0 {
                assert!(filter.fpr().upper <= asked.to_f64() && filter.bound().upper <= asked.to_f64(), "{text} at {key}");
                let verified = filter.verified().expect("a law");
                assert!(verified.holds() && verified.expected_verdict() == ExpectedVerdict::Met, "{text} at {key}: {verified:?}");
            }
        }
        assert!((0..20_000u64).all(|key| filter.contains(&key)) && filter.layers().len() > 4);
        assert!(filter.contains_all(0..20_000u64).iter().all(|found| found));
        assert_eq!((filter.offered(), filter.inserted().iter().sum::<u64>()), (20_000, filter.changed()));
        assert!(filter.layer_ones().iter().zip(filter.layers()).all(|(ones, layer)| *ones <= layer.limit()));
    }
}

/// Compares the number of hits of random keys with the exact product over the layers, for three
/// growths, with 1, 2, 5 and 12 closed layers and one that is half full. These are twelve exact
/// two-sided tests at 1e-6 each. Power: at a rate of 5% and with 200,000 queries, an error of 7% in
/// the rate is detected with probability 99%, and a law without the first layer has a larger error.
/// (The golden file tests that the salts are those of docs/FORMAT.md, because at such sizes the
/// rate hardly depends on them.)
#[test]
fn hits_follow_the_product_over_layers() {
    for (seed, ratio) in [(1, 4.8), (2, 5.2), (3, 6.0)] {
        let growth = Growth::with_ratio(rate("10%"), 64, ratio).expect("in range");
        for closed in [1, 2, 5, 12] {
            let filter = grown(growth, closed, seed);
            assert_eq!(filter.layers().len(), closed + 1);
            let law = Layered::new(filter.layers()[..closed].to_vec()).expect("layers");
            let (certain, own) = (law.closed().expect("a rate"), filter.fpr());
            assert!(own.upper > certain.lower && own.upper <= 0.1, "{ratio} {closed}");
            let mut measured = filter.measured(99 + closed as u64);
            measured.query(200_000);
            assert!(measured.holds(), "ratio {ratio}, {closed} layers: {measured:?}");
            assert!(binomial::two_sided(measured.hits(), measured.queries(), own.value) > 1e-6);
            assert!(filter.verified().expect("a law").holds());
        }
    }
}

/// Grows a thousand filters to five layers each. The rate of each filter is at most the requested
/// rate, and each layer takes the planned number of items on average, to within 2%. This number
/// varies by about 2% in a layer of 64 items, so its mean over a thousand filters varies by 0.1%.
#[test]
fn every_one_of_a_thousand_keeps_the_rate() {
    let growth = Growth::new(rate("2%"), 64).expect("in range");
    let mut taken = [0; 4];
    for seed in 0..1_000 {
        let filter = grown(growth, 4, seed);
        assert!(filter.fpr().upper <= 0.02, "seed {seed}");
        taken.iter_mut().zip(filter.inserted()).for_each(|(sum, inserted)| *sum += inserted);
    }
    for (number, taken) in (0..).zip(taken) {
        let planned = growth.layer(number).expect("in range").items as f64;
        let average = taken as f64 / 1_000.0;
        assert!((0.98..1.05).contains(&(average / planned)), "layer {number}: {average} of {planned}");
    }
}

/// Tests that repeated keys take no space, however late they are repeated.
#[test]
fn repeats_do_not_grow_it() {
    let mut filter = small("1%", 3);
    filter.extend(0..5_000u64);
    let before = filter.clone();
    assert_eq!(filter.insert_all((0..5_000u64).rev()).count_ones(), 0);
    (0..5_000u64).for_each(|key| assert!(!filter.insert(&key)));
    assert!(filter == before && filter.offered() == 15_000 && filter.changed() == before.changed());
}

#[test]
fn keys_that_are_contained_change_nothing_if_only_absent_ones_are_inserted() {
    let (mut one, mut other) = (small("1%", 3), small("1%", 3));
    for key in (0..4_000u64).chain(0..4_000) {
        let hash = one.hash(&key);
        let is_new = !one.contains_hash(hash);
        if is_new {
            one.insert_hash(hash);
        }
        assert_eq!(other.try_insert_absent_hash(hash), Ok(is_new));
    }
    assert!(other.layers().len() > 1 && other.offered() == other.changed());
    assert_eq!(one.to_bytes(), other.to_bytes());
}

#[test]
fn many_at_a_time_are_as_one_by_one() {
    let keys: Vec<u64> = (0..30_000u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50).collect();
    let (mut one, mut many, mut hashed) = (small("0.1%", 9), small("0.1%", 9), small("0.1%", 9));
    let alone: Vec<bool> = keys.iter().map(|key| one.insert(key)).collect();
    let hashes: Vec<_> = keys.iter().map(|key| hashed.hash(key)).collect();
    assert!(many.insert_all(&keys).iter().eq(alone.iter().copied()));
    assert!(hashed.insert_all_hashes(&hashes).iter().eq(alone.iter().copied()));
    assert_eq!(one.to_bytes(), many.to_bytes());
    assert_eq!(one.to_bytes(), hashed.to_bytes());
    let asked = many.contains_all(0..40_000u64);
    assert!(asked.iter().eq((0..40_000u64).map(|key| one.contains(&key))) && asked.len() == 40_000);
}

#[test]
fn files_and_views() {
    for keys in [0, 1, 100, 20_000u64] {
        let mut filter = small("0.5%", 11);
        filter.extend(0..keys);
        assert!(filter.set_label("numbers"));
        let bytes = filter.to_bytes().expect("small");
        assert_eq!(filter.encoded_bytes(), bytes.len() as u64);
        let read = ScalableFilter::from_bytes(&bytes).expect("its file");
        assert!(read == filter && read.label() == Some("numbers") && read.to_bytes().as_deref() == Ok(&bytes[..]));
        let shifted = [&[1, 2, 3], &bytes[..], b"behind"].concat();
        let view = ScalableFilter::view_prefix(&shifted[3..]).expect("its file");
        assert_eq!(view.encoded_bytes(), bytes.len() as u64);
        assert!(view.contains_all(0..30_000u64) == filter.contains_all(0..30_000u64) && view.changed() == filter.changed());
        let checked = ScalableFilter::view(&bytes).and_then(ScalableFilter::verify_bytes).expect("whole");
        assert!(checked.fpr() == filter.fpr() && checked.to_bytes().as_deref() == Ok(&bytes[..]) && checked.clone() == checked);
        let any = AnyFilter::from_bytes(&bytes).expect("its file");
        assert!(any == AnyFilter::from(filter.clone()) && any.to_bytes().as_deref() == Ok(&bytes[..]) && any.fpr() == filter.fpr());
        assert!(any.verification().expect("a law").holds() && any.capacity().is_none());
        let mut again = read;
        again.extend(0..25_000u64);
        filter.extend(0..25_000u64);
        assert!(again == filter, "it grows on as if it had not been saved");
    }
}

/// Tests that every changed byte and every wrong length is an error. Only a view does not detect
/// changed bits of the payload; it answers from the changed bits. [`forged_files_are_refused`]
/// tests changes with corrected checksums.
#[test]
fn damaged_bytes_are_refused() {
    let mut filter = small("10%", 5);
    filter.extend(0..200u64);
    let bytes = filter.to_bytes().expect("small");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(ScalableFilter::from_bytes(&damaged).is_err() && AnyFilter::from_bytes(&damaged).is_err(), "{at}");
        if let Ok(view) = ScalableFilter::view(&damaged) {
            view.contains(&7);
            assert!(view.verify_bytes().is_err(), "{at}");
        }
        assert!(ScalableFilter::from_bytes(&bytes[..at]).is_err());
    }
    assert!(BloomFilter::from_bytes(&bytes).is_err());
}

#[test]
fn merges() {
    let base = small("1%", 21);
    // The filters have few keys, so their layers are merged into one.
    let (mut here, mut there) = (base.clone(), base.clone());
    here.extend(0..20u64);
    there.extend(20..40u64);
    here.union_with(&there).expect("clones");
    assert!(
        here.layers().len() == 1 && here.is_merged() && here.fill_tells_rate() && here.contains_all(0..40u64).iter().all(|found| found)
    );
    // The filters have a common base. Its closed layers are merged, and both open layers are kept.
    let mut common = base.clone();
    common.extend(0..2_000u64);
    let (mut here, mut there) = (common.clone(), common.clone());
    here.extend(2_000..4_000u64);
    there.extend(4_000..9_000u64);
    let (ours, theirs) = (here.clone(), there.clone());
    here.union_with(&there).expect("clones");
    assert!(here.contains_all(0..9_000u64).iter().all(|found| found));
    assert!(here.layers().len() < ours.layers().len() + theirs.layers().len());
    // Each layer has the size that the growth plans for its number, and the header has the number
    // of layers.
    let numbers = here.layer_numbers();
    let plans = numbers.iter().map(|number| here.growth().layer(*number as u32).expect("in range").layer);
    assert!(plans.eq(here.layers()) && numbers.windows(2).any(|pair| pair[0] == pair[1]), "{numbers:?}");
    let header = FileHeader::from_bytes(&here.to_bytes().expect("small")).expect("its file");
    assert_eq!((header.layers(), header.growth(), header.rate()), (here.layers().len() as u64, Some(*here.growth()), here.rate()));
    assert!(here.bound().upper <= 0.02 && !here.fill_tells_rate() && here.fpr().upper <= ours.fpr().upper + theirs.fpr().upper);
    // If only a bound on the rate is known, the filter reports the bound.
    assert!(here.fpr().value == here.fpr().upper && here.bound().value == here.bound().upper);
    let verified = here.verified().expect("a law");
    assert!(verified.holds() && here.changed() == theirs.changed());
    let mut measured = here.measured(4);
    measured.query(100_000);
    assert!(measured.holds(), "{measured:?}");
    drop(measured);
    // The filter continues to grow, and its file can be read again.
    here.extend(9_000..30_000u64);
    let read = ScalableFilter::from_bytes(&here.to_bytes().expect("small")).expect("its file");
    assert!(read == here && read.contains_all(0..30_000u64).iter().all(|found| found) && read.bound().upper <= 0.02);
    // Both orders of the merge contain the same keys.
    there.union_with(&ours).expect("clones");
    assert!(there.contains_all(0..9_000u64).iter().all(|found| found));
    here.clear();
    assert!(here.is_empty() && !here.is_merged() && here.layers().len() == 1 && here == base);
    // Merges that are impossible.
    assert_eq!(base.clone().union_with(&small("1%", 22)), Err(MergeError::Seed));
    assert_eq!(base.clone().union_with(&small("2%", 21)), Err(MergeError::Growth));
    assert_eq!(base.clone().intersect_with(&base), Err(MergeError::Layers));
}

/// A merge of several filters may exceed the requested rate. The filter then reports this, from
/// bits that show how many keys its layers share. A merge of eight filters with a third of the rate
/// each is certainly above the rate, but a merge of copies of one filter is not.
#[test]
fn a_merge_above_the_rate_asked_for_is_noticed() {
    let base = small("1%", 27);
    let filled = |from: u64| {
        let mut filter = base.clone();
        filter.extend(from..from + 3_000);
        filter
    };
    let mut merged = filled(0);
    for from in 1..8 {
        assert!(merged.verified().expect("a law").holds() || merged.is_over_capacity());
        merged.union_with(&filled(10_000 * from)).expect("clones");
    }
    let verified = merged.verified().expect("a law");
    assert!(merged.is_over_capacity() && verified.is_overfull() && !verified.holds() && verified.limit() == Some(0.01));
    // The measured rate is within the bracket: hits among 400,000 keys, with five standard errors.
    let mut measured = merged.measured(4);
    measured.query(400_000);
    let (rate, upper) = (measured.rate(), merged.fpr().upper);
    assert!(rate > 0.01 && rate - 5.0 * (rate / 400_000.0).sqrt() < upper && measured.agrees(), "{measured:?}");
    drop(measured);
    // The file of the filter, and a view of it, report the same.
    let bytes = merged.to_bytes().expect("small");
    assert!(ScalableFilter::from_bytes(&bytes).expect("its file").is_over_capacity());
    assert!(ScalableFilter::view(&bytes).and_then(ScalableFilter::verify_bytes).expect("its file").is_over_capacity());

    // The same keys were inserted in a different order, so the layers of both filters are kept. The
    // layers share most of the keys that pass.
    let mut order = base.clone();
    order.extend((0..3_000).rev());
    let mut twice = filled(0);
    twice.union_with(&order).expect("clones");
    let one = filled(0).fpr();
    assert!(!twice.fill_tells_rate() && !twice.is_over_capacity() && twice.verified().expect("a law").holds());
    assert!(one.upper < 0.01 && !filled(0).is_over_capacity());
}

#[test]
fn through_the_trait() {
    fn firsts(filter: &mut impl Filter, keys: std::ops::Range<u64>) -> usize {
        filter.insert_all(keys).count_ones()
    }
    let mut any = AnyFilter::from(small("1e-6", 2));
    assert_eq!((firsts(&mut any, 0..1_000), firsts(&mut any, 500..1_500)), (1_000, 500));
    assert!(any.expected_fpr_at(1_500).expect("a bound").upper <= 1.001e-6 && any.expected_fpr().expect("none").is_none());
    assert!((1_400.0..1_600.0).contains(&any.estimated_items().expect("by the fill")));
    assert!(matches!(ScalableFilter::new(1e-14), Err(BuildError::Math(_))));
}

/// Runs four threads that insert both common and different keys. No key is lost, and every layer
/// stays within its limit, so the rate does, too.
#[test]
fn threads_share_it() {
    let shared = AtomicScalableFilter::from(small("1%", 31));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let shared = &shared;
            scope.spawn(move || {
                for key in (0..20_000u64).map(|key| key + 10_000 * thread) {
                    shared.insert(&key);
                    assert!(shared.contains(&key));
                }
            });
        }
    });
    let (now, layers) = (shared.snapshot().expect("memory"), shared.layers());
    assert_eq!((shared.fpr(), shared.bits(), shared.probes(), shared.seed()), (now.fpr(), now.bits(), now.probes(), now.seed()));
    assert_eq!(shared.contains_all(0..200_000u64), now.contains_all(0..200_000u64));
    let mut filter = shared.into_filter().expect("memory");
    assert!(now == filter && filter.layers().len() == layers && layers > 5);
    assert!(filter.contains_all(0..50_000u64).iter().all(|found| found));
    assert!(filter.layer_ones().iter().zip(filter.layers()).all(|(ones, layer)| *ones <= layer.limit()));
    assert!(filter.fpr().upper <= 0.01 && filter.bound().upper <= 0.01 && filter.is_merged() && filter.offered() == 80_000);
    assert!(filter.verified().expect("a law").holds());
    filter.extend(50_000..60_000u64);
    let read = ScalableFilter::from_bytes(&filter.to_bytes().expect("small")).expect("its file");
    assert!(read == filter && AtomicScalableFilter::from(read).contains(&59_999u64));
}

/// Tests that batches give the same results as single keys, for layers that fit in the cache and
/// for larger ones. Of two equal keys in a batch, exactly one is reported as new.
#[test]
fn threads_insert_many_keys_at_a_time() {
    for keys in [3_000u64, 1_400_000] {
        let growth = Growth::new("1%".parse().expect("a rate"), keys).expect("in range");
        let hasher = PortableHasher::xxh3(Seed::from(8));
        let (shared, other) = [(); 2].map(|()| AtomicScalableFilter::with_growth(growth, hasher).expect("memory")).into();
        let stream: Vec<u64> = (0..4_000).map(|key| key * key % 3_000).collect();
        let new = shared.insert_all(&stream);
        assert!(new.iter().eq(stream.iter().map(|key| other.insert(key))), "{keys}");
        assert_eq!((shared.offered(), shared.layers()), (4_000, other.layers()));
        assert!(shared.snapshot().expect("memory") == other.snapshot().expect("memory"));
        assert!(shared.contains_all(0..9_000u64).iter().eq((0..9_000u64).map(|key| other.contains(&key))), "{keys}");
    }
}

/// The position of the payload in a file; after it, the indices of a record's words.
const PAYLOAD: usize = 256;
const NUMBER: usize = 0;
const BITS: usize = 1;
const PROBES: usize = 2;
const LIMIT: usize = 3;
const INSERTED: usize = 4;

/// Corrects all checksums of a file.
fn sealed(mut file: Vec<u8>, records: &[usize]) -> Vec<u8> {
    for start in records {
        let sum = xxhash_rust::xxh3::xxh3_64(&file[*start..start + 56]).to_le_bytes();
        file[start + 56..start + 64].copy_from_slice(&sum);
    }
    seal_all(&mut file);
    file
}

/// The positions at which the records begin.
fn records(filter: &ScalableFilter) -> Vec<usize> {
    let starts = filter.layers().into_iter().scan(PAYLOAD, |start, layer| {
        let now = *start;
        *start += 64 + layer.bits() as usize / 8;
        Some(now)
    });
    starts.collect()
}

fn put(file: &mut [u8], start: usize, word: usize, change: impl Fn(u64) -> u64) {
    let place = &mut file[start + 8 * word..start + 8 * word + 8];
    let found = u64::from_le_bytes(place.try_into().expect("eight bytes"));
    place.copy_from_slice(&change(found).to_le_bytes());
}

type Forgery<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;

/// Tests files that this crate never writes, with correct checksums. Decoding them and verifying a
/// view of them are errors, but not checksum errors.
#[test]
fn forged_files_are_refused() {
    let mut filter = small("10%", 5);
    filter.extend(0..400u64);
    let (bytes, starts) = (filter.to_bytes().expect("small"), records(&filter));
    assert!(starts.len() > 2 && sealed(bytes.clone(), &starts) == bytes);
    let (first, second, last) = (starts[0], starts[1], starts[starts.len() - 1]);
    let limit = filter.layers()[0].limit();
    let empty = |file: &mut Vec<u8>| {
        // Keeps only half of the first layer's bits. So the layer is not full, but has enough set
        // bits for its count of keys.
        file[first + 64..second].iter_mut().for_each(|byte| *byte &= 0x55);
        put(file, first, INSERTED, |_| 1);
        let before = filter.inserted()[0];
        put(file, 56, 0, |changed| changed - before + 1);
    };
    let forged: Vec<(&str, Forgery)> = vec![
        ("probes of the header", Box::new(|file| file[20] += 1)),
        ("probes of a layer", Box::new(|file| put(file, second, PROBES, |probes| probes + 1))),
        ("first number", Box::new(|file| starts.iter().for_each(|start| put(file, *start, NUMBER, |number| number + 5)))),
        ("a number left out", Box::new(|file| put(file, starts[starts.len() - 1], NUMBER, |number| number + 1))),
        ("a number twice", Box::new(|file| put(file, second, NUMBER, |_| 0))),
        ("limit of all bits", Box::new(|file| put(file, first, LIMIT, |_| filter.layers()[0].bits()))),
        ("more bits than the limit", Box::new(|file| put(file, first, LIMIT, |_| limit / 2))),
        ("bits", Box::new(|file| put(file, starts[starts.len() - 1], BITS, |bits| bits + 64))),
        ("keys", Box::new(|file| put(file, first, INSERTED, |keys| keys - 1))),
        ("reserved", Box::new(|file| put(file, first, 5, |_| 1))),
        ("reserved", Box::new(|file| put(file, first, 6, |_| 1))),
        ("a closed layer that is not full", Box::new(empty)),
        ("ratio", Box::new(|file| put(file, 128, 0, |_| 1.5f64.to_bits()))),
        // The next layer would take gigabytes.
        ("first layer", Box::new(|file| put(file, 120, 0, |_| 100_000_000))),
        ("a rate above the one asked for", Box::new(|file| put(file, last, LIMIT, |_| filter.layers()[starts.len() - 1].bits() - 1))),
    ];
    for (what, forge) in forged {
        let mut file = bytes.clone();
        forge(&mut file);
        let file = sealed(file, &starts);
        let error = ScalableFilter::from_bytes(&file).expect_err(what);
        assert!(!error.to_string().contains("checksum"), "{what}: {error}");
        assert!(ScalableFilter::view(&file).and_then(ScalableFilter::verify_bytes).is_err(), "{what}");
    }
}

/// Tests batches in filters larger than the caches, where keys are looked up and inserted together.
/// The answers, the counts and the bits are those of single keys, even with repeats within a batch.
#[test]
fn many_at_a_time_beyond_the_caches() {
    let mut one_by_one = seeded(Growth::new(rate("10%"), 300_000).expect("in range"), 24);
    let mut together = one_by_one.clone();
    let key = |i: u64| i.saturating_sub(i % 7 * (i % 3));
    let told: Vec<bool> = (0..1_400_000).map(|i| one_by_one.insert(&key(i))).collect();
    assert!(together.insert_all((0..1_400_000).map(key)).iter().eq(told));
    assert!(together == one_by_one && together.bits() > 1 << 24 && together.layers().len() > 1);
    assert_eq!((together.offered(), together.changed()), (one_by_one.offered(), one_by_one.changed()));
    let asked = 1_300_000..1_500_000u64;
    assert!(together.contains_all(asked.clone()).iter().eq(asked.map(|i| one_by_one.contains(&i))));
}

/// The bits of a view may not have been counted, so they may exceed a layer's limit, on which the
/// bound on the rate relies. A union refuses such a layer, and then adds no other layer either.
#[test]
fn a_union_with_damaged_bytes_is_refused() {
    let mut base = small("1%", 22);
    let mut there = base.clone();
    there.extend(0..3_000u64);
    let (bytes, starts) = (there.to_bytes().expect("small"), records(&there));
    let mut damaged = bytes.clone();
    damaged[starts[1] + 64..starts[2]].fill(0xff);
    let view = ScalableFilter::view(&damaged).expect("its header is whole");
    assert!(matches!(base.union_with(&view), Err(MergeError::Limit { .. })));
    assert!(base.is_empty() && !base.is_merged(), "nothing has changed");
    base.union_with(&ScalableFilter::view(&bytes).expect("whole")).expect("a copy");
    assert!(base == there && base.contains_all(0..3_000u64).iter().all(|found| found));
    base.extend(3_000..20_000u64);
    assert!(base.fpr().upper <= base.bound().upper);
}

/// Threads may insert one key into two layers, and layers that a merge kept may share keys. So a
/// lower bound on the number of distinct keys cannot add up the layers.
#[test]
fn threads_go_on_with_a_merged_filter() {
    let base = small("1%", 41);
    let (mut here, mut there) = (base.clone(), base);
    here.extend(0..3_000u64);
    there.extend((0..3_000u64).rev());
    here.union_with(&there).expect("clones");
    let shared = AtomicScalableFilter::from(here.clone());
    shared.insert(&7u64);
    let back = shared.into_filter().expect("memory");
    assert!(back == here && (here.changed()..=3_000).contains(&back.changed()), "{} {}", here.changed(), back.changed());
    assert_eq!((back.offered(), back.bound(), back.is_merged()), (6_001, here.bound(), true));
}

/// Tests that the law is only a bound for layers in which a key has the same positions, and that
/// the filter's rates are within this bound.
#[test]
fn the_law_after_a_merge_is_a_bound() {
    use truebloom::truebloom_math::Method;
    let base = small("10%", 43);
    let (mut here, mut there) = (base.clone(), base);
    here.extend(0..900u64);
    there.extend(5_000..5_900u64);
    here.union_with(&there).expect("clones");
    let (law, ones) = (here.law(), here.layer_ones());
    let sum: f64 = here.layers().iter().zip(&ones).map(|(layer, ones)| layer.fpr_at_fill(*ones).expect("a rate").upper).sum();
    let found = law.fpr_at_fill(&ones).expect("a rate").expect("known");
    // Every number occurs twice. So the rate is the product, over the numbers, of the sums over the
    // two layers. For small rates, this is close to the sum.
    assert!(
        found.method != Method::Exact && found.upper > 0.93 * sum && found.upper <= sum && found.lower < 0.6 * found.upper,
        "{found:?} {sum}"
    );
    assert!((here.fpr().upper - found.upper).abs() < 1e-9 && law.fpr(1).expect("a rate").upper <= here.bound().upper);
    let mut measured = here.measured(8);
    measured.query(100_000);
    let (low, high) = measured.possible_rates();
    assert!(low <= measured.rate() && measured.rate() <= high && measured.holds(), "{measured:?}");
}

/// Tests that an error is returned if a layer cannot be allocated, and that the filter keeps the
/// keys inserted before.
#[test]
fn no_memory_for_a_layer_is_an_error() {
    // The second layer would take 10^9 times the memory of a million keys, which is more than the
    // address space of a process.
    let mut filter = seeded(Growth::with_ratio(rate("10%"), 1_000_000, 1e9).expect("in range"), 1);
    let hashes: Vec<_> = (0..2_000_000u64).map(|key| filter.hash(&key)).collect();
    assert!(matches!(filter.try_insert_all_hashes(&hashes), Err(BuildError::Memory { .. })));
    assert!(filter.layers().len() == 1 && filter.contains_all(0..500_000u64).iter().all(|found| found));
}
