//! Compares the rates and sizes of unions and intersections, and the moments of one filter's rate,
//! with an enumeration of all outcomes.

mod common;

use common::oracle::{self, hold, occupancy};
use common::{choose, of_f64, power, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use truebloom_math::sets::{self, Interval, SetOp};
use truebloom_math::{Variant, false_positives, rate_moments};

/// The probability of every filter, computed by counting.
fn filters(variant: Variant, bits: u64, probes: u32, items: u64) -> Vec<BigRational> {
    let hashes = oracle::hashes(variant, bits, probes);
    let mut ways = vec![BigInt::zero(); 1 << bits];
    ways[0] = BigInt::one();
    for _ in 0..items {
        let mut next = vec![BigInt::zero(); ways.len()];
        for (filter, count) in ways.iter().enumerate().filter(|(_, count)| !count.is_zero()) {
            hashes.iter().for_each(|hash| next[filter | *hash as usize] += count);
        }
        ways = next;
    }
    let outcomes = BigInt::from(hashes.len()).pow(items as u32);
    ways.into_iter().map(|count| BigRational::new(count, outcomes.clone())).collect()
}

/// The rate of each filter, which is the share of all hashes that it contains.
fn own_rates(variant: Variant, bits: u64, probes: u32) -> Vec<BigRational> {
    let hashes = oracle::hashes(variant, bits, probes);
    (0..1u32 << bits).map(|filter| ratio(hashes.iter().filter(|&hash| hash & !filter == 0).count() as u64, hashes.len() as u64)).collect()
}

#[test]
fn unions_and_intersections_counted() {
    let mut cases = 0;
    for variant in Variant::ALL {
        for bits in 1..=5u64 {
            for probes in (1..=6u32).filter(|&k| variant == Variant::Standard || u64::from(k) <= bits) {
                let own = own_rates(variant, bits, probes);
                for items in [vec![1u64], vec![1, 1], vec![2, 1], vec![3, 2], vec![1, 2, 2]] {
                    let context = format!("{variant} m={bits} k={probes} {items:?}");
                    let laws: Vec<_> = items.iter().map(|&n| filters(variant, bits, probes, n)).collect();
                    for (op, name) in [(SetOp::Union, "union"), (SetOp::Intersection, "intersection")] {
                        let combined = laws[1..].iter().fold(laws[0].clone(), |law, other| {
                            let mut next = vec![BigRational::zero(); law.len()];
                            for (x, p) in law.iter().enumerate().filter(|(_, p)| !p.is_zero()) {
                                for (y, q) in other.iter().enumerate().filter(|(_, q)| !q.is_zero()) {
                                    next[if op == SetOp::Union { x | y } else { x & y }] += p * q;
                                }
                            }
                            next
                        });
                        let truth = combined.iter().zip(&own).map(|(p, rate)| p * rate).sum();
                        assert_eq!(name.parse(), Ok(op));
                        hold(&sets::set_fpr(op, variant, bits, probes, &items).expect("in range"), &truth, &format!("{name} {context}"));
                        cases += 1;
                    }
                }
            }
        }
    }
    println!("{cases} combined filters counted");
    assert!(cases > 300);
}

/// Tests sizes that are too large for an enumeration. The reference is the mixture over distinct
/// positions, whose parts come from the occupancy chain.
#[test]
fn intersections_by_the_chain() {
    for (bits, probes, items) in [(40u64, 5u32, [3u64, 6]), (64, 20, [2, 3]), (30, 40, [1, 2]), (100, 8, [9, 1])] {
        let k = u64::from(probes);
        let positions = occupancy(bits, k, 1);
        let laws = items.map(|n| occupancy(bits, n * k, 1));
        let truth: BigRational = (1..=k.min(bits))
            .map(|d| {
                let weight = BigRational::new(positions.ways[d as usize].clone(), positions.outcomes.clone());
                laws.iter().fold(weight, |product, law| product * law.mean(|ones| choose(ones, d), choose(bits, d)))
            })
            .sum();
        let found = sets::set_fpr(SetOp::Intersection, Variant::Standard, bits, probes, &items).expect("in range");
        hold(&found, &truth, &format!("m={bits} k={probes} {items:?}"));
    }
    // At a real size, the rate of the intersection is slightly above the product of the rates.
    let found = sets::set_fpr(SetOp::Intersection, Variant::Standard, 1 << 30, 10, &[70_000_000, 60_000_000]).expect("in range");
    let product: f64 = [70_000_000, 60_000_000].map(|n| Variant::Standard.fpr(1 << 30, n, 10).expect("in range").value).iter().product();
    assert!(found.value > product && found.value < product * 1.000_001 && found.upper.to_bits() - found.lower.to_bits() <= 2);
}

/// Asserts that the relative error `(found - truth) / truth` is at most `allowed`, and returns it.
fn close(found: f64, truth: &BigRational, allowed: f64, context: &str) -> f64 {
    if truth.is_zero() {
        assert_eq!(found, 0.0, "{context}");
        return 0.0;
    }
    let error = ((of_f64(found) - truth) / truth).abs().to_f64().expect("finite");
    assert!(error <= allowed, "{context}: {found} is {error:e} off");
    error
}

#[test]
fn moments_of_the_own_rate_and_of_hits_counted() {
    let mut worst = [0f64; 3];
    for variant in Variant::ALL {
        for bits in 1..=6u64 {
            for probes in (1..=6u32).filter(|&k| variant == Variant::Standard && (bits as f64).powi(k as i32) < 5e3 || u64::from(k) <= bits)
            {
                let own = own_rates(variant, bits, probes);
                for items in 0..=3 {
                    let context = format!("{variant} m={bits} n={items} k={probes}");
                    let law = filters(variant, bits, probes, items);
                    let moment = |r: u32| law.iter().zip(&own).map(|(p, rate)| p * power(rate, r)).sum::<BigRational>();
                    let (mean, second) = (moment(1), moment(2));
                    let found = rate_moments(variant, bits, items, probes).expect("in range");
                    hold(&found.mean, &mean, &context);
                    hold(&found.second, &second, &context);
                    worst[0] = worst[0].max(close(found.variance, &(&second - &mean * &mean), 1e-15, &context));
                    worst[1] = worst[1].max(close(found.mixed, &(&mean - &second), 1e-15, &context));
                    for queries in [0u64, 1, 7, 1_000_000] {
                        let hits = false_positives(variant, bits, items, probes, queries).expect("in range");
                        let q = BigRational::from(BigInt::from(queries));
                        close(hits.mean, &(&q * &mean), 1e-15, &context);
                        // E[H (H-1)] = Q E[R^2].
                        let factorial = &q * (&q - BigRational::one()) * &second;
                        let variance = factorial + &q * &mean - &q * &q * &mean * &mean;
                        worst[2] = worst[2].max(close(hits.variance, &variance, 2e-15, &context));
                    }
                }
            }
        }
    }
    println!("worst relative errors of Var R, E[R (1-R)], Var hits: {worst:?}");
}

/// Tests sizes that are too large for an enumeration, with the occupancy chain. Also tests the
/// digits that remain at real sizes, where the variance is a difference of nearly equal numbers.
#[test]
fn second_moments_by_the_chain() {
    for (bits, items, probes) in [(30u64, 4u64, 5u32), (40, 3, 9), (20, 2, 13), (64, 12, 4)] {
        let k = u64::from(probes);
        let standard = occupancy(bits, items * k, 1).mean(|ones| BigInt::from(ones).pow(2 * probes), BigInt::from(bits).pow(2 * probes));
        let classic = occupancy(bits, items, k).mean(|ones| choose(ones, k).pow(2), choose(bits, k).pow(2));
        let partitioned = oracle::slices(bits, probes)
            .into_iter()
            .map(|size| occupancy(size, items, 1).mean(|ones| BigInt::from(ones).pow(2), BigInt::from(size).pow(2)))
            .product();
        for (variant, second) in Variant::ALL.into_iter().zip([standard, classic, partitioned]) {
            let context = format!("{variant} m={bits} n={items} k={probes}");
            let found = rate_moments(variant, bits, items, probes).expect("in range");
            hold(&found.second, &second, &context);
            let mean = oracle::rate(variant, bits, items, probes);
            close(found.variance, &(second - &mean * &mean), 1e-15, &context);
        }
    }
    // By the delta method, the relative variance is k^2 Var[X] / E[X]^2, to first order in 1/n.
    for variant in Variant::ALL {
        let (bits, items, probes) = (1 << 30, 112_000_000, 7);
        let found = rate_moments(variant, bits, items, probes).expect("in range");
        let fill = variant.law(bits, probes).and_then(|law| law.fill(items)).expect("in range").expect("known");
        let expected = 49.0 * fill.variance / (fill.mean * fill.mean);
        let relative = found.variance / (found.mean.value * found.mean.value);
        assert!((relative / expected - 1.0).abs() < 1e-6, "{variant}: {relative:e} {expected:e}");
    }
}

#[test]
fn sizes_from_counts() {
    // The mean counts of 300, 200 and 400 items give these sizes again.
    for (variant, bits, probes) in [(Variant::Standard, 1 << 16, 6), (Variant::Classic, 1 << 16, 6), (Variant::Partitioned, 6 << 13, 6)] {
        let law = variant.law(bits, probes).expect("in range");
        let ones = |items| law.fill(items).expect("in range").expect("known").mean.round() as u64;
        let found = sets::sizes(variant, bits, probes, ones(300), ones(200), ones(400)).expect("possible");
        let expected = [300.0, 200.0, 400.0, 100.0, 200.0, 100.0, 0.25];
        let found = [found.a, found.b, found.union, found.intersection, found.only_a, found.only_b, found.jaccard];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found.expect("not full") - expected).abs() < 0.35, "{variant} {found:?} {expected}");
        }
    }
    let full = sets::sizes(Variant::Standard, 8, 2, 8, 3, 8).expect("possible");
    assert_eq!((full.a, full.union, full.jaccard), (None, None, None));
    assert!(full.b.is_some());
    let empty = sets::sizes(Variant::Standard, 8, 2, 0, 0, 0).expect("possible");
    assert_eq!((empty.intersection, empty.jaccard), (Some(0.0), Some(1.0)));
    for (a, b, union, name) in
        [(9, 1, 9, "ones_a"), (1, 9, 9, "ones_b"), (3, 4, 8, "ones_union"), (3, 4, 3, "ones_union"), (7, 7, 9, "ones_union")]
    {
        let error = sets::sizes(Variant::Standard, 8, 2, a, b, union).expect_err("impossible").to_string();
        assert!(error.starts_with(name), "{error}");
    }
    assert!(sets::sizes(Variant::Partitioned, 7, 2, 1, 1, 1).is_err());
}

/// Tests for small ranges of sizes that the answer contains every consistent triple of sizes, and
/// that no answer means that there is no such triple.
#[test]
fn intervals_cover_every_consistent_triple() {
    let mut random = oracle::SplitMix64(7);
    let (mut consistent, mut tight) = (0, 0);
    for _ in 0..20_000 {
        let mut interval = || {
            let lower = random.between(0, 9);
            Interval { lower, upper: Some(lower + random.between(0, 5)) }
        };
        let (a, b, union) = (interval(), interval(), interval());
        let found = sets::intervals(a, b, union);
        let within = |interval: Interval| interval.lower..=interval.upper.expect("bounded");
        let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 7];
        for x in within(a) {
            for y in within(b) {
                for u in within(union).filter(|&u| x.max(y) <= u && u <= x + y) {
                    let [x, y, u] = [x, y, u].map(|size| size as f64);
                    let jaccard = if u > 0.0 { (x + y - u) / u } else { 1.0 };
                    for (end, value) in ends.iter_mut().zip([x, y, u, x + y - u, u - y, u - x, jaccard]) {
                        *end = [end[0].min(value), end[1].max(value)];
                    }
                }
            }
        }
        let Some(found) = found else {
            assert_eq!(ends[0][0], f64::INFINITY, "{a:?} {b:?} {union:?}");
            continue;
        };
        let ranges = [found.a, found.b, found.union, found.intersection, found.only_a, found.only_b, found.jaccard];
        for (range, [low, high]) in ranges.into_iter().zip(ends) {
            assert!(range.lower <= low && high <= range.upper, "{found:?} {a:?} {b:?} {union:?}");
            tight += usize::from(range.upper - high < 1e-9 && low - range.lower < 1e-9);
        }
        consistent += 1;
    }
    println!("{consistent} boxes, {tight} of {} ranges attained", 7 * consistent);
    assert!(consistent > 5_000 && tight > 6 * consistent);
    // For full filters, there is no upper bound.
    let open = Interval { lower: 100, upper: None };
    let found = sets::intervals(open, Interval { lower: 5, upper: Some(9) }, open).expect("consistent");
    assert_eq!((found.union.upper, found.intersection.upper, found.only_a.upper), (f64::INFINITY, 9.0, f64::INFINITY));
    assert!(found.only_a.lower == 91.0 && found.jaccard.upper <= 1.0 && found.jaccard.lower == 0.0);
}

#[test]
fn bad_questions() {
    let fails = |found: truebloom_math::Result<truebloom_math::Fpr>, name: &str| {
        let error = found.expect_err("out of range").to_string();
        assert!(error.starts_with(name), "{error}");
    };
    fails(sets::set_fpr(SetOp::Union, Variant::Standard, 8, 2, &[]), "items");
    fails(sets::set_fpr(SetOp::Union, Variant::Standard, 8, 2, &[u64::MAX, 1]), "items");
    fails(sets::set_fpr(SetOp::Union, Variant::Classic, 8, 9, &[1]), "probes");
    fails(sets::set_fpr(SetOp::Intersection, Variant::Standard, 0, 2, &[1]), "bits");
    assert_eq!(sets::set_fpr(SetOp::Intersection, Variant::Standard, 8, 2, &[1, 0]).map(|fpr| fpr.upper), Ok(0.0));
    assert_eq!(sets::set_fpr(SetOp::Union, Variant::Standard, 8, 2, &[0, 0]).map(|fpr| fpr.upper), Ok(0.0));
    assert!("both".parse::<SetOp>().is_err());
    assert!(false_positives(Variant::Standard, 8, 1, 2, u64::MAX).is_err() && rate_moments(Variant::Classic, 8, 1, 9).is_err());
    // Arguments far outside the range give an error or an answer quickly.
    let _ = rate_moments(Variant::Standard, 10, 1 << 62, 100_000);
    let _ = sets::set_fpr(SetOp::Intersection, Variant::Standard, 1 << 62, 100_000, &[1, u64::MAX]);
}
