//! Compares the coefficients of 1/n with the reference vectors and with exact rates of large
//! filters.

mod common;

use common::{fraction, int, rows};
use num_traits::ToPrimitive;
use serde_json::Value;
use truebloom_math::Law;
use truebloom_math::convergence::{
    LARGE_POWER_OF_TWO, LARGE_PRIME, best_limit_rate, conditions, hits_normal, hits_of_one_filter, lemma_6_1_upper, limit_rate,
    odd_step_constant, partition_constant, rate_deviation, slices_constant, standard_constant, theorem_6_1_printed,
    theorem_6_2_lower_printed, theorem_6_2_upper, theorem_7_1, theorem_7_2,
};
use truebloom_math::law::{Double, Offsets, PartitionDouble, Step};

fn number(row: &Value, field: &str) -> f64 {
    fraction(row[field].as_str().expect("a number")).to_f64().expect("finite")
}

fn double(m: u64, k: u32, step: Step, offsets: Offsets) -> Double {
    Double::new(m, k, step, offsets).expect("in range")
}

#[test]
fn every_constant_of_the_vectors() {
    let all = rows("km_constants.json");
    let mut worst = 0f64;
    for row in all["rows"].as_array().expect("rows") {
        let (c, k) = (int(row, "c") as f64, int(row, "k") as u32);
        let of = |m, step, offsets| double(m, k, step, offsets).constant(c).expect("affordable");
        let prime = |offsets| of(LARGE_PRIME, Step::Any, offsets);
        let found = [
            ("f", limit_rate(c, k)),
            ("standard", standard_constant(c, k)),
            ("partition_prime", partition_constant(c, k)),
            ("partition_thm61_printed", theorem_6_1_printed(c, k)),
            ("thm62_lower", theorem_6_2_lower_printed(c, k)),
            ("thm62_upper", theorem_6_2_upper(c, k)),
            ("double_prime", prime(Offsets::Linear)),
            ("double_prime_nz", of(LARGE_PRIME, Step::NonZero, Offsets::Linear)),
            ("double_pow2", of(LARGE_POWER_OF_TWO, Step::Any, Offsets::Linear)),
            ("double_pow2_odd", odd_step_constant(c, k).expect("in range")),
            ("ext_sq", prime(Offsets::Square)),
            ("ext_cube", prime(Offsets::Cube)),
            ("ext_enh", prime(Offsets::Enhanced)),
        ];
        for (name, value) in found {
            let expected = number(row, name);
            let error = (value - expected).abs() / expected.abs().max(1e-3);
            assert!(error < 1e-10, "{name}: {value} for {expected} in {row}");
            worst = worst.max(error);
        }
    }
    println!("worst relative error {worst:e}");
}

/// A coefficient of 1/n as a function of the load.
type Coefficient<'a> = &'a dyn Fn(f64) -> f64;

/// Compares the exact rate for a million items with the limit and the coefficient, for all classes
/// of moduli.
#[test]
fn exact_rates_approach_their_constants() {
    let n = 1_000_000u64;
    let cases: [(Box<dyn Law>, Coefficient); 4] = [
        (Box::new(double(8_000_009, 6, Step::Any, Offsets::Linear)), &|c| {
            double(LARGE_PRIME, 6, Step::Any, Offsets::Linear).constant(c).expect("in range")
        }),
        (Box::new(double(8_000_009, 6, Step::NonZero, Offsets::Linear)), &|c| {
            double(LARGE_PRIME, 6, Step::NonZero, Offsets::Linear).constant(c).expect("in range")
        }),
        (Box::new(double(1 << 24, 6, Step::Any, Offsets::Linear)), &|c| {
            double(LARGE_POWER_OF_TWO, 6, Step::Any, Offsets::Linear).constant(c).expect("in range")
        }),
        (Box::new(PartitionDouble::new(1_333_337, 6).expect("in range")), &|c| partition_constant(c, 6)),
    ];
    for (law, constant) in cases {
        let c = law.bits() as f64 / n as f64;
        let found = (law.fpr(n).expect("affordable").value - limit_rate(c, 6)) * n as f64;
        assert!((found / constant(c) - 1.0).abs() < 1e-4, "{found} for {}", constant(c));
    }
    // Extended schemes, exactly, at sizes that can be averaged: the second order is still seen.
    for offsets in [Offsets::Square, Offsets::Cube, Offsets::Enhanced] {
        let (law, n) = (double(16_001, 5, Step::Any, offsets.clone()), 2_000u64);
        let c = law.bits() as f64 / n as f64;
        let found = (law.fpr(n).expect("affordable").value - limit_rate(c, 5)) * n as f64;
        let constant = double(LARGE_PRIME, 5, Step::Any, offsets.clone()).constant(c).expect("in range");
        assert!((found / constant - 1.0).abs() < 0.02, "{offsets:?}: {found} for {constant}");
    }
}

#[test]
fn conditions_hold_for_any_offsets() {
    let random = Offsets::Custom(vec![17, 901, -44, 123_456, 7, 88]);
    for offsets in [Offsets::Linear, Offsets::Square, Offsets::Cube, Offsets::Enhanced, random] {
        let at = |n: u64| conditions(&double(8 * n + 1, 6, Step::Any, offsets.clone()), n);
        let (small, large) = (at(1_000), at(1_000_000));
        for (small, large) in [(small.single, large.single), (small.pair, large.pair), (small.repeat, large.repeat)] {
            assert!(large.abs() < 0.01 * small.abs().max(1e-3), "{offsets:?}: {small} then {large}");
        }
        assert!(large.single <= 0.0 && large.pair > 0.0 && large.repeat > 0.0);
    }
    // All pairs of hashes modulo a prime: the chance of two given positions is at most as said, and
    // for some two as large; that two probes meet at a given position likewise.
    for (m, k) in [(7u64, 2u64), (11, 3), (13, 4)] {
        let found = conditions(&double(m, k as u32, Step::Any, Offsets::Linear), 1);
        let items = || (0..m * m).map(|pair| (0..k).map(|i| (pair / m + i * (pair % m)) % m).collect::<Vec<u64>>());
        let share = |holds: &dyn Fn(&[u64]) -> bool| items().filter(|item| holds(item)).count() as f64 / (m * m) as f64;
        let both = (1..m).map(|other| share(&|item| item.contains(&0) && item.contains(&other))).fold(0.0, f64::max);
        let again = share(&|item| item.iter().filter(|position| **position == 0).count() > 1);
        // Ordered pairs of probes, each of which hits the two in one way.
        assert!(both <= found.pair && (found.pair * (m * m) as f64 - (k * (k - 1)) as f64).abs() < 1e-12, "{m} {k}: {found:?}");
        // If h2 is 0, all probes of an item coincide, so k - 1 positions are missing.
        assert!(again <= found.repeat && (found.repeat * (m * m) as f64 - (k - 1) as f64).abs() < 1e-9, "{m} {k}: {found:?}");
    }
}

#[test]
fn upper_ends_hold() {
    // The union over items of pairs of events, n times as likely as of one.
    assert!((lemma_6_1_upper(1_000, 2.5e-6) - 2.5e-3).abs() < 1e-17);
    for (m, k, n) in [(8_009, 6, 1_000), (401, 2, 100), (1_201, 8, 100), (16_001, 11, 1_000)] {
        let c = m as f64 / n as f64;
        let difference = |law: &dyn Law| (law.fpr(n).expect("affordable").upper - limit_rate(law.bits() as f64 / n as f64, k)) * n as f64;
        let law = double(m, k, Step::Any, Offsets::Linear);
        // Lemma 6.1 with the events that one position of the query is one of the item's: pairs as
        // conditions count them.
        let pairs = f64::from(k * (k - 1) / 2) * conditions(&law, 1).pair;
        assert!(difference(&law) < lemma_6_1_upper(n, pairs) * n as f64 && difference(&law) < theorem_6_2_upper(c, k));
        let slices = PartitionDouble::new(m / u64::from(k), k).expect("in range");
        assert!(difference(&slices) < theorem_6_2_upper(slices.bits() as f64 / n as f64, k));
    }
}

/// A SplitMix64 generator, whose numbers never change.
struct Stream(u64);

impl Stream {
    fn below(&mut self, m: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ z >> 31) * u128::from(m)) >> 64) as u64
    }
}

/// The rate R of a random filter with double hashing, over all m^2 queries.
fn rate_of_a_filter(m: u64, k: u64, n: u64, stream: &mut Stream) -> f64 {
    let mut bits = vec![false; m as usize];
    for _ in 0..n {
        let (a, b) = (stream.below(m), stream.below(m));
        (0..k).for_each(|i| bits[((a + i * b) % m) as usize] = true);
    }
    let passes = |a: u64, b: u64| (0..k).all(|i| bits[((a + i * b) % m) as usize]);
    let hits = (0..m).map(|a| (0..m).filter(|&b| passes(a, b)).count()).sum::<usize>();
    hits as f64 / (m * m) as f64
}

/// Simulates a thousand filters from a fixed seed. If a bound of 0.05 is true, more than 80 filters
/// exceed it with probability below 1e-4 (binomial). The bounds are far from sharp, so a wrong sign
/// or exponent is noticed only if it makes a bound small.
#[test]
fn rates_of_filters_concentrate() {
    let (m, k, n) = (101u64, 2u64, 25u64);
    let mut stream = Stream(7);
    let rates: Vec<f64> = (0..1_000).map(|_| rate_of_a_filter(m, k, n, &mut stream)).collect();
    let mean = double(m, k as u32, Step::Any, Offsets::Linear).fpr(n).expect("small").value;
    // The exact mean, within five standard errors of the thousand.
    let sampled = rates.iter().sum::<f64>() / 1e3;
    let spread = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 1e3;
    assert!((sampled - mean).abs() < 5.0 * (spread / 1e3).sqrt(), "{sampled} for {mean}");
    for distance in (1..=20).map(|i| f64::from(i) / 50.0) {
        let far = rates.iter().filter(|&&rate| (rate - mean).abs() > distance).count() as f64 / 1e3;
        let bound = rate_deviation(m, n, k as u32, distance);
        assert!(far <= bound + 0.03, "{far} beyond {distance}, at most {bound}");
        // Around the limit, after the bias is subtracted.
        let limit = limit_rate(m as f64 / n as f64, k as u32);
        let lambda = (k * k) as f64 * n as f64 / m as f64;
        let far = rates.iter().filter(|&&rate| (rate - limit).abs() > distance).count() as f64 / 1e3;
        assert!(far <= theorem_7_1(n, k as u32, lambda, 0.0, (mean - limit).abs(), distance) + 0.03);
    }
    assert!(rate_deviation(m, n, k as u32, 0.3) < 0.05);
    // McDiarmid's inequality where an item changes the rate by 36 of a million bits, that is for
    // 100,000 items by a sum of squares of 1.296e-4.
    let found = rate_deviation(1_000_000, 100_000, 6, 0.02);
    assert!((found / (2.0 * (-8e-4f64 / 1.296e-4).exp()) - 1.0).abs() < 1e-12, "{found}");
}

#[test]
fn hits_of_one_filter_three_ways() {
    let (queries, rate) = (464, 0.021_577_141_463);
    let total: f64 = (0..=queries).map(|hits| hits_of_one_filter(queries, rate, hits)).sum();
    assert!((total - 1.0).abs() < 1e-12);
    // Theorem 7.2, 4: with Q growing the binomial becomes the normal law of mean Q p and variance Q
    // p (1-p). Next order: (1-2p)(z^3-3z)/(6 sigma), so that a variance wrong by a hundredth, as Q
    // p in its place at a small p, is far outside.
    for (queries, rate) in [(1_000_000_000u64, 0.01), (4_000_000, 0.3)] {
        let (mean, sigma) = (queries as f64 * rate, (queries as f64 * rate * (1.0 - rate)).sqrt());
        for z in [-2.0, -1.0, 0.0, 0.5, 2.0] {
            let hits = (mean + z * sigma).round() as u64;
            let z = (hits as f64 - mean) / sigma;
            let ratio = hits_of_one_filter(queries, rate, hits) / hits_normal(queries, rate, hits as f64) - 1.0;
            let next = (1.0 - 2.0 * rate) * (z * z * z - 3.0 * z) / (6.0 * sigma);
            assert!((ratio - next).abs() < 2e-6 + next * next, "{queries} {rate} {z}: {ratio} {next}");
        }
    }
    // At the paper's 464 queries, the difference is this large, and not smaller.
    let off = |hits: u64| hits_of_one_filter(queries, rate, hits) - hits_normal(queries, rate, hits as f64);
    let worst = (0..=40).map(|hits| off(hits).abs()).fold(0.0, f64::max);
    assert!((0.005..0.012).contains(&worst), "{worst}");
    // Hoeffding's inequality for the queries of a filter with a known rate.
    for distance in [0.02, 0.05, 0.1] {
        let near = (0..=queries).filter(|&hits| (hits as f64 / queries as f64 - rate).abs() <= distance);
        let far = 1.0 - near.map(|hits| hits_of_one_filter(queries, rate, hits)).sum::<f64>();
        assert!(far <= 2.0 * (-2.0 * queries as f64 * distance * distance).exp());
        assert!(far <= theorem_7_2(queries, 5_000, 6, 4.5, 0.0, 0.0, distance));
    }
    // Half of the distance for each: 2 exp(-Q d^2 / 2) of the queries, and of the filter 2 exp(-2 n
    // (d/2)^2 / lambda^2).
    let found = theorem_7_2(10_000, 1_000_000, 6, 4.5, 0.0, 0.0, 0.02);
    assert!((found - 2.0 * (-2.0f64).exp() - 2.0 * (-200.0f64 / 20.25).exp()).abs() < 1e-12, "{found}");
}

/// Tests Lemma 7.1: a law for hits given the rate also holds over all filters, up to the
/// probability that a filter's rate is far from the limit, plus the change of the law within this
/// distance. The test enumerates all filters of seven bits and two items.
#[test]
fn laws_given_the_rate_carry_over_to_all_filters() {
    let (m, k, n, queries) = (7u64, 2u32, 2u64, 12u64);
    let mut rates = Vec::new();
    for pairs in 0..m.pow(4) {
        let hash = |i: u32| pairs / m.pow(i) % m;
        let set: Vec<u64> = [(hash(0), hash(1)), (hash(2), hash(3))].iter().flat_map(|(a, b)| [*a, (a + b) % m]).collect();
        let hits = (0..m * m).filter(|query| [query / m, (query / m + query % m) % m].iter().all(|bit| set.contains(bit))).count();
        rates.push(hits as f64 / (m * m) as f64);
    }
    let law = double(m, k, Step::Any, Offsets::Linear);
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((mean / law.fpr(n).expect("small").value - 1.0).abs() < 1e-12);
    let below = |rate: f64, x: u64| (0..=x).map(|hits| hits_of_one_filter(queries, rate, hits)).sum::<f64>();
    let limit = limit_rate(m as f64 / n as f64, k);
    for epsilon in [0.05, 0.1, 0.2, 0.4] {
        let far = rates.iter().filter(|rate| (*rate - limit).abs() > epsilon).count() as f64 / rates.len() as f64;
        let lambda = f64::from(k * k) * n as f64 / m as f64;
        assert!(far <= theorem_7_1(n, k, lambda, 0.0, (mean - limit).abs(), epsilon));
        for x in 0..=queries {
            let over_filters = rates.iter().map(|&rate| below(rate, x)).sum::<f64>() / rates.len() as f64;
            // P(Q <= x) falls with the rate.
            let between = below((limit - epsilon).max(0.0), x) - below((limit + epsilon).min(1.0), x);
            assert!((over_filters - below(limit, x)).abs() <= far + between + 1e-12, "{epsilon} {x}");
        }
    }
}

/// Tests section 2: the limit with the best real number of probes k = c ln 2 is 2^-k, which is
/// 0.6185^c. No whole number of probes gives a lower limit, and some come close.
#[test]
fn the_best_limit_is_a_power_of_0_6185() {
    for c in [1.0, 4.0, 8.0, 12.0, 16.0, 100.0f64] {
        let best = best_limit_rate(c);
        assert!((best.powf(1.0 / c) - 0.6185).abs() < 5e-5);
        let least = (1..=200).map(|k| limit_rate(c, k)).fold(1.0, f64::min);
        assert!(best <= least * (1.0 + 1e-12) && least < best * 1.05, "{c}: {best} {least}");
        // At this number of probes, half of the bits are set.
        assert!((best.log2() / -c - std::f64::consts::LN_2).abs() < 1e-12);
    }
}

/// Compares slices of any number of bits with proven rates, for every divisor that is possible with
/// k = 6.
#[test]
fn slices_of_any_size_have_their_constants() {
    let n = 1_000_000;
    for slice_bits in [1_333_333, 1_333_334, 1_333_335, 1_333_336, 1_333_320, 1_333_345] {
        let law = PartitionDouble::new(slice_bits, 6).expect("in range");
        let c = law.bits() as f64 / n as f64;
        let found = (law.fpr(n).expect("affordable").value - limit_rate(c, 6)) * n as f64;
        let constant = slices_constant(c, 6, slice_bits);
        assert!((found / constant - 1.0).abs() < 1e-4, "{slice_bits}: {found} for {constant}");
    }
    for (c, k) in [(4.0, 1), (1.0, 2), (8.0, 6), (16.0, 11), (100.0, 2)] {
        assert!((slices_constant(c, k, LARGE_PRIME) - partition_constant(c, k)).abs() < 1e-12 * partition_constant(c, k).abs().max(1.0));
    }
}

/// Tests that the Monte Carlo results of the reference for figure 1 agree with our exact rates, for
/// both schemes that use plain progressions.
#[test]
fn figures_of_section_8() {
    let all = rows("km_fig1_mc.json");
    let (mut sum, mut count) = (0.0, 0);
    for row in all["rows"].as_array().expect("rows") {
        let k = int(row, "k") as u32;
        let n = int(row, "n");
        let law: Box<dyn Law> = match row["scheme"].as_str().expect("a name") {
            "partition" => Box::new(PartitionDouble::new(int(row, "mprime"), k).expect("in range")),
            "double" => Box::new(double(int(row, "m"), k, Step::Any, Offsets::Linear)),
            _ => continue,
        };
        let z = (law.fpr(n).expect("affordable").value - row["est"].as_f64().expect("a number")) / row["se"].as_f64().expect("a number");
        // The rates of small filters have heavy tails, so their standard errors are themselves
        // uncertain.
        assert!(z.abs() < 4.5, "{z} in {row}");
        (sum, count) = (sum + z * z, count + 1);
    }
    let rms = (sum / f64::from(count)).sqrt();
    println!("{count} runs, root mean square of z {rms}");
    assert!(count >= 28 && rms < 1.5);
}
