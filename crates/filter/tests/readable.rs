//! Tests that everything that serde writes can be read again, and that everything it reads is
//! checked.

use serde::de::value::{BytesDeserializer, Error, SeqDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;
use truebloom::count_min::{CountMin, HeavyHitters};
use truebloom::recycling::{BlockedRecyclingFilter, Policy, RecyclingFilter};
use truebloom::truebloom_math::recycling::Design;
use truebloom::{AnyFilter, BlockedBloomFilter, BloomFilter, HasherId, Plan, PortableHasher, Rate, ScalableFilter, Seed, Target};

const HASHER: fn() -> PortableHasher = || PortableHasher::xxh3(Seed::from(42));

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("writable")
}

/// Writes a value as text, checks that reading the text gives the same value, and returns the text.
fn round<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = text(value);
    assert_eq!(&serde_json::from_str::<T>(&text).expect("readable"), value, "{text}");
    text
}

#[test]
fn numbers_are_readable() {
    let rate: Rate = "0.1%".parse().expect("a rate");
    assert_eq!(round(&rate), r#""0.001""#);
    assert_eq!(round(&Seed::from(42)), r#""0000000000000000000000000000002a""#);
    assert_eq!(round(&HASHER()), r#"{"hasher":"xxh3","seed":"0000000000000000000000000000002a"}"#);
    round(&PortableHasher::sip13(Seed::from(42 << 64 | 7)));
    assert_eq!(round(&HasherId::Sip13), r#""siphash""#);
    let policy = Policy { age: Some(Duration::from_millis(1_500)), ..Policy::two_phases(500) };
    let expected = r#"{"phases":{"two":"included"},"sigma":500,"insertions":null,"age":{"secs":1,"nanos":500000000},"retaining":false,"seeds":"renewed"}"#;
    assert_eq!(round(&policy), expected);
    round(&Policy::one_phase(0.02));
}

#[test]
fn plans_are_read_with_their_size_and_their_rates_proven_anew() {
    let rate = "1%".parse().expect("a rate");
    for target in [
        Target::new().items(1_000).rate(rate),
        Target::new().items(1_000).rate(rate).mean(),
        Target::new().bits(10_000).rate(rate).confidence(0.9),
        Target::new().items(1_000).rate(rate).scheme(truebloom::scheme::SchemeId::Blocked),
    ] {
        let plan = Plan::new(&target).expect("in reach");
        let text = text(&plan);
        let read: Plan = serde_json::from_str(&text).expect("readable");
        assert_eq!((read.bits, read.probes, read.items, read.scheme), (plan.bits, plan.probes, plan.items, plan.scheme), "{text}");
        assert!(read.fpr == plan.fpr && read.guarantee.is_some() == plan.guarantee.is_some(), "{text}");
        assert_eq!(BloomFilter::from_plan(&read).is_ok(), BloomFilter::from_plan(&plan).is_ok());
    }
    let plan = Plan::new(&Target::new().items(100).rate(rate)).expect("in reach");
    let size = format!(r#"{{"scheme":"standard","bits":{},"probes":{},"items":100,"#, plan.bits, plan.probes);
    assert_eq!(
        text(&plan).strip_prefix(&size),
        Some(
            r#""target":{"items":100,"rate":"0.01","bits":null,"probes":null,"max_bits":null,"hash_bits":128,"scheme":"standard","layout":"spread","promise":{"one_filter":{"confidence":0.999}}}}"#
        )
    );
}

#[test]
fn what_does_not_hold_is_refused() {
    fn refused<T: DeserializeOwned + Debug>(text: &str, why: &str) {
        let error = serde_json::from_str::<T>(text).expect_err(text).to_string();
        assert!(error.contains(why), "{error}");
    }
    refused::<Rate>(r#""2""#, "strictly between 0 and 1");
    refused::<Rate>("0.5", "a rate as text");
    refused::<Seed>(r#""xyz""#, "hexadecimal");
    refused::<HasherId>(r#""md5""#, "xxh3 or siphash");
    // A plan with too few bits.
    refused::<Plan>(r#"{"scheme":"standard","bits":500,"probes":7,"items":100,"target":{"rate":"1%"}}"#, "is impossible with 500 bits");
    refused::<Design>(
        r#"{"bits":100,"probes":3,"sigma":100,"mode":{"phases":"one","colliding":true,"retaining":false,"seeds":"renewed"}}"#,
        "sigma",
    );
    refused::<BloomFilter>(r#""89zz""#, "hexadecimal");
    refused::<BloomFilter>(r#""0123""#, "not a truebloom file");
    let mut damaged = text(&filter());
    damaged.replace_range(700..701, if &damaged[700..701] == "0" { "1" } else { "0" });
    refused::<BloomFilter>(&damaged, "damaged");
    // The text is half a byte longer than a complete file.
    let whole = text(&filter());
    refused::<BloomFilter>(&format!("{}0\"", whole.trim_end_matches('"')), "hexadecimal");
}

fn filter() -> BloomFilter {
    let mut filter = BloomFilter::with_hasher(100, 0.01, HASHER()).expect("small");
    filter.extend(["a", "b"]);
    filter
}

#[test]
fn filters_are_the_bytes_of_their_files() {
    let filter = filter();
    let bytes = filter.to_bytes().expect("small");
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(round(&filter), format!("\"{digits}\""));
    round(&AnyFilter::from(filter.clone()));
    round(&BlockedBloomFilter::with_hasher(100, 0.01, HASHER()).expect("small"));
    let mut seen = RecyclingFilter::with_hasher(1_000, 4, Policy::two_phases(500), HASHER()).expect("small");
    assert!((0..300).filter(|key| seen.check_and_insert(key).is_new()).count() > 200);
    round::<RecyclingFilter>(&seen);
    round(&BlockedRecyclingFilter::with_hasher(1 << 12, 6, Policy::one_phase(0.02), HASHER()).expect("small"));
    let rate = |text: &str| text.parse::<Rate>().expect("a rate");
    let mut counts: CountMin = CountMin::with_hasher(rate("10%"), rate("1%"), HASHER()).expect("small");
    counts.add("a", 3);
    round(&counts);
    let mut listed: HeavyHitters = HeavyHitters::for_share_with_hasher(rate("10%"), rate("1%"), HASHER()).expect("small");
    listed.add("a", 3);
    round(&listed);
}

/// Tests formats with a type for bytes, and formats that store bytes as a sequence.
#[test]
fn bytes_and_sequences_of_them_are_read() {
    let filter = filter();
    let bytes = filter.to_bytes().expect("small");
    let sequence = SeqDeserializer::<_, Error>::new(bytes.iter().copied());
    assert_eq!(BloomFilter::deserialize(sequence), Ok(filter.clone()));
    let whole: BytesDeserializer<'_, Error> = bytes.as_slice().into_deserializer();
    assert_eq!(BloomFilter::deserialize(whole), Ok(filter));
}

#[test]
fn filters_that_grow_are_their_files() {
    let growth = truebloom::truebloom_math::Growth::new("1%".parse().expect("a rate"), 64).expect("in range");
    let mut filter = ScalableFilter::with_growth(growth, HASHER()).expect("small");
    filter.extend(0..1_000u64);
    let written = round(&filter);
    assert_eq!(round(&AnyFilter::from(filter)), written);
}
