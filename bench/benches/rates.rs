//! The time of exact answers: rates at usual parameters and at the worst, and whole plans.
//!
//! The promises: a few microseconds for usual rates, 1 ms for the worst, 50 ms for a plan.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use truebloom_math::{Plan, Rate, SchemeId, Target, Variant, optimal_probes};

/// (name, bits, items, probes)
const USUAL: [(&str, u64, u64, u32); 4] = [
    ("1e3 at 1%", 9_595, 1_000, 7),
    ("1e6 at 1%", 9_585_061, 1_000_000, 7),
    ("1e6 at 1e-6", 28_755_179, 1_000_000, 20),
    ("1e10 at 1e-15", 718_881_966_943, 10_000_000_000, 50),
];

/// Filters that are nearly empty for their number of probes, where the most digits cancel.
const WORST: [(&str, u64, u64, u32); 4] = [
    ("k=64 m=2^40 n=1", 1 << 40, 1, 64),
    ("k=64 m=2^40 n=33", 1 << 40, 33, 64),
    ("k=64 m=2^40 n=1e3", 1 << 40, 1_000, 64),
    ("k=64 m=2^40 n=1e6", 1 << 40, 1_000_000, 64),
];

fn rates(criterion: &mut Criterion) {
    for variant in Variant::ALL {
        let mut group = criterion.benchmark_group(format!("rate/{variant}"));
        for (name, bits, items, probes) in USUAL.into_iter().chain(WORST) {
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| variant.fpr(black_box(bits), black_box(items), black_box(probes)))
            });
        }
        group.finish();
    }
}

fn plans(criterion: &mut Criterion) {
    for variant in Variant::ALL {
        let mut group = criterion.benchmark_group(format!("plan/{variant}"));
        for (items, text) in [(100, "1e-6"), (1_000_000, "1%"), (10_000_000_000, "1e-15")] {
            let rate: Rate = text.parse().expect("a rate");
            let target = Target::new().items(items).rate(rate).scheme(variant.into()).mean();
            group.bench_function(BenchmarkId::from_parameter(format!("{items} items at {text}")), |bencher| {
                bencher.iter(|| Plan::new(black_box(&target)))
            });
        }
        group.bench_function("best probes of (1000, 100)", |bencher| {
            bencher.iter(|| optimal_probes(variant, black_box(1_000), black_box(100)))
        });
        group.finish();
    }
}

/// Plans with a guarantee for one filter, which is the default. The promises: 1 ms from 10,000
/// items on, and 10 ms below.
fn guarantees(criterion: &mut Criterion) {
    for scheme in SchemeId::ALL.into_iter().filter(|scheme| scheme.has_guarantee()) {
        let mut group = criterion.benchmark_group(format!("guarantee/{}", scheme.name()));
        for items in [1_000, 10_000, 1_000_000, 1_000_000_000] {
            for text in ["1%", "1e-6", "1e-9"] {
                let target = Target::new().items(items).rate(text.parse().expect("a rate")).scheme(scheme);
                group.bench_function(BenchmarkId::from_parameter(format!("{items} items at {text}")), |bencher| {
                    bencher.iter(|| Plan::new(black_box(&target)))
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, rates, plans, guarantees);
criterion_main!(benches);
