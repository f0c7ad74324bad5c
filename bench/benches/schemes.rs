//! The time of each scheme, compared with the standard scheme: insertions, hits and misses.
//!
//! Hashes are computed beforehand, so the times are those of the scheme and the bits, without a
//! hash function. The small filter fits into the cache, the large one does not.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use truebloom::scheme::{
    AnyScheme, Classic, Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Partitioned, Scheme, SchemeId, Square, Standard,
};
use truebloom::{FilterOf, KeyHash, KeyHasher, PortableHasher, Seed};

/// Keys, bits and probes: 1% at 20,000 and at 4 million keys. The bits are multiples of the probes.
const SIZES: [(u64, u64, u32); 2] = [(20_000, 192_500, 7), (4_000_000, 38_500_000, 7)];

/// The number of keys of one round.
const ROUND: u64 = 10_000;

fn hashes(start: u64) -> Vec<KeyHash> {
    let hasher = PortableHasher::xxh3(Seed::from(1));
    (start..start + ROUND).map(|key| hasher.hash(&key.to_le_bytes())).collect()
}

fn scheme<S: Scheme>(criterion: &mut Criterion, name: &str, make: impl Fn(u64, u32) -> S) {
    for (items, bits, probes) in SIZES {
        let mut filter = FilterOf::with_scheme(make(bits, probes), PortableHasher::xxh3(Seed::from(1))).expect("room");
        filter.extend(0..items);
        let (members, strangers) = (hashes(0), hashes(1 << 40));
        let mut group = criterion.benchmark_group(format!("schemes/{items}"));
        group.throughput(Throughput::Elements(ROUND));
        group.bench_function(BenchmarkId::new("insert", name), |bencher| {
            bencher.iter(|| members.iter().filter(|hash| filter.insert_hash(**black_box(hash))).count())
        });
        group.bench_function(BenchmarkId::new("contains, in", name), |bencher| {
            bencher.iter(|| members.iter().filter(|hash| filter.contains_hash(**black_box(hash))).count())
        });
        group.bench_function(BenchmarkId::new("contains, not in", name), |bencher| {
            bencher.iter(|| strangers.iter().filter(|hash| filter.contains_hash(**black_box(hash))).count())
        });
        group.finish();
    }
}

fn own<S: Scheme>(criterion: &mut Criterion, name: &str) {
    scheme(criterion, name, |bits, probes| S::new(bits, probes).expect("in range"));
}

fn schemes(criterion: &mut Criterion) {
    own::<Standard>(criterion, "standard");
    own::<Classic>(criterion, "classic");
    own::<Partitioned>(criterion, "partitioned");
    own::<Double>(criterion, "double");
    own::<DoubleNonzero>(criterion, "double-nonzero");
    own::<Square>(criterion, "square");
    own::<Cube>(criterion, "cube");
    own::<Enhanced>(criterion, "enhanced");
    own::<PartitionDouble>(criterion, "partition-double");
    for id in [SchemeId::Standard, SchemeId::Double] {
        scheme(criterion, &format!("any: {id}"), |bits, probes| AnyScheme::named(id, bits, probes).expect("in range"));
    }
}

criterion_group!(benches, schemes);
criterion_main!(benches);
