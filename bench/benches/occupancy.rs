//! The time to compute moments, quantiles, probabilities and intervals of the number of set bits,
//! from small filters to the largest.
//!
//! The promises: 50 microseconds for mean, variance and quantiles at any size; a second for all
//! probabilities at 2^20 bits and throws; 5 ms for an interval of the number of items at 2^40 bits.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Variant, items_by_likelihood, items_interval};

/// (name, bits, items, probes)
const SIZES: [(&str, u64, u64, u32); 4] =
    [("small", 64, 5, 4), ("1e4", 10_000, 1_000, 7), ("2^20", 1 << 20, 1 << 17, 8), ("2^40", 1 << 40, 1 << 37, 8)];

fn law(variant: Variant, bits: u64, items: u64, probes: u32) -> Occupancy {
    match variant {
        Variant::Classic => Occupancy::classic(bits, items, probes),
        _ => Occupancy::standard(bits, items, probes),
    }
    .expect("in range")
}

fn moments(criterion: &mut Criterion) {
    for variant in [Variant::Standard, Variant::Classic] {
        for (name, bits, items, probes) in SIZES {
            let law = law(variant, bits, items, probes);
            let mut group = criterion.benchmark_group(format!("occupancy/{variant}/{name}"));
            group.bench_function("mean", |bencher| bencher.iter(|| black_box(&law).mean()));
            group.bench_function("variance", |bencher| bencher.iter(|| black_box(&law).variance()));
            group.bench_function("quantile", |bencher| bencher.iter(|| black_box(&law).quantile(black_box(0.975))));
            group.finish();
        }
    }
}

fn probabilities(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("probabilities");
    group.sample_size(10);
    let law = Occupancy::standard(1 << 20, 1 << 17, 8).expect("in range");
    group.bench_function("one, standard 2^20", |bencher| bencher.iter(|| black_box(&law).probability(black_box(662_000))));
    group.bench_function("all, standard 2^20", |bencher| bencher.iter(|| black_box(&law).pmf()));
    group.bench_function("window, standard 2^20", |bencher| bencher.iter(|| black_box(&law).pmf_window()));
    group.bench_function("cdf, standard 2^20", |bencher| bencher.iter(|| black_box(&law).cdf(black_box(662_000))));
    group.bench_function("exact quantile, standard 2^20", |bencher| bencher.iter(|| black_box(&law).exact_quantile(black_box(0.975))));
    let law = Occupancy::classic(10_000, 1_000, 7).expect("in range");
    group.bench_function("all, classic 1e4", |bencher| bencher.iter(|| black_box(&law).pmf()));
    group.finish();
}

fn intervals(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("items");
    group.sample_size(10);
    for variant in [Variant::Standard, Variant::Classic] {
        for (name, bits, ones) in [("1e3", 1_024, 512), ("1e5", 100_000, 50_000), ("2^20", 1 << 20, 1 << 19), ("2^40", 1 << 40, 1 << 39)] {
            group.bench_function(BenchmarkId::new(format!("interval/{variant}"), name), |bencher| {
                bencher.iter(|| items_interval(variant, black_box(bits), 7, black_box(ones), 0.95))
            });
        }
    }
    group.bench_function("likelihood/standard/2^40", |bencher| {
        bencher.iter(|| items_by_likelihood(Variant::Standard, black_box(1 << 40), 7, black_box(1 << 39)))
    });
    group.finish();
}

criterion_group!(benches, moments, probabilities, intervals);
criterion_main!(benches);
