//! Compares Burns' theorem 15 and corollary 23 with exact fractions.

mod common;

use common::oracle::{self, hold, occupancy};
use common::{choose, power, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use truebloom_math::{Error, Variant, bounds};

/// `mu (mu-1) .. (mu-r+1) / (m (m-1) .. (m-r+1))`.
fn falling_ratio(mean: &BigRational, bits: u64, order: u32) -> BigRational {
    let factor = |i: u32| (mean - BigRational::from(BigInt::from(i))) / BigRational::from(BigInt::from(bits - u64::from(i)));
    (0..order).map(factor).product()
}

#[test]
fn the_chain_is_enclosed_and_ordered() {
    let mut cases = 0;
    for bits in 1..=13u64 {
        for items in [1u64, 2, 3, 6] {
            for probes in 1..=bits as u32 {
                let k = u64::from(probes);
                let (classic, single) = (occupancy(bits, items, k), occupancy(bits, items * k, 1));
                let mean = classic.moments().0;
                for order in 0..=k.min(bits - k) as u32 {
                    let context = format!("m={bits} n={items} k={probes} r={order}");
                    let r = u64::from(order);
                    let chain = bounds::chain(bits, items, probes, order).unwrap_or_else(|error| panic!("{context}: {error}"));
                    let truth = [
                        power(&(&mean / BigRational::from(BigInt::from(bits))), order),
                        classic.mean(|ones| choose(ones, r), choose(bits, r)),
                        falling_ratio(&mean, bits, order),
                        single.mean(|ones| choose(ones, r), choose(bits, r)),
                    ];
                    for (found, truth) in [chain.mean_power, chain.distinct, chain.mean_binomial, chain.single].iter().zip(&truth) {
                        hold(found, truth, &context);
                    }
                    assert!(truth.windows(2).all(|pair| pair[0] >= pair[1]), "the theorem fails at {context}");
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} chains enclosed and in order");
    assert!(cases > 500);
}

#[test]
fn the_rate_bounds_are_enclosed_and_bound() {
    let mut vacuous = 0;
    for bits in 3..=15u64 {
        for items in [1u64, 2, 4, 7] {
            for probes in 1..=((bits - 1) / 2) as u32 {
                let context = format!("m={bits} n={items} k={probes}");
                let k = u64::from(probes);
                let found = bounds::rates(bits, items, probes).unwrap_or_else(|error| panic!("{context}: {error}"));
                let single = occupancy(bits, items * k, 1);
                let lower = single.mean(|ones| choose(ones, k), choose(bits, k));
                let mean = single.moments().0;
                let by_mean = if (&mean - BigRational::from(BigInt::from(k - 1))).is_positive() {
                    falling_ratio(&mean, bits, probes)
                } else {
                    vacuous += 1;
                    BigRational::zero()
                };
                let upper = power(&(BigRational::one() - power(&ratio(bits - k, bits), items as u32)), probes);
                for (bound, truth) in [(found.lower_by_mean, &by_mean), (found.lower, &lower), (found.upper, &upper)] {
                    hold(&bound, truth, &context);
                }
                assert!(by_mean <= lower, "{context}");
                for variant in [Variant::Standard, Variant::Classic] {
                    let rate = oracle::rate(variant, bits, items, probes);
                    assert!(lower <= rate && rate <= upper, "{variant} {context}");
                }
                // U is the rate of a partitioned filter with equal slices.
                if bits % k == 0 {
                    assert_eq!(oracle::rate(Variant::Partitioned, bits, items, probes), upper, "{context}");
                }
            }
        }
    }
    assert!(vacuous >= 2, "the clamp at 0 was not tried: {vacuous}");
}

/// Burns' figure 7: Tests that U > S > M > C > L for 1,000 bits and 20 items, with 25 and 34
/// probes.
#[test]
fn the_order_of_figure_7() {
    for probes in [25, 34] {
        let bounds = bounds::rates(1_000, 20, probes).expect("in range");
        let rate = |variant: Variant| variant.fpr(1_000, 20, probes).expect("in range");
        let (standard, classic) = (rate(Variant::Standard), rate(Variant::Classic));
        assert!(bounds.upper.lower > standard.upper && standard.lower > classic.upper && classic.lower > bounds.lower.upper);
        assert!(bounds.lower.lower > bounds.lower_by_mean.upper);
    }
}

#[test]
fn collision_free_words() {
    for (bits, probes) in [(1u64, 1u32), (1, 2), (5, 3), (5, 5), (5, 6), (1024, 10), (365, 23)] {
        let truth = (0..u64::from(probes)).map(|i| ratio(bits.saturating_sub(i), bits)).product();
        hold(&bounds::collision_free(bits, probes).expect("in range"), &truth, &format!("m={bits} k={probes}"));
    }
}

#[test]
fn large_sizes_and_corners() {
    // At the size of a real filter, and for nearly full filters.
    for (bits, items, probes) in [(1 << 40, 1 << 33, 60), (1 << 20, 1 << 20, 30), (1 << 30, 1, 20)] {
        let rates = bounds::rates(bits, items, probes).expect("in range");
        let chain = bounds::chain(bits, items, probes, probes).expect("in range");
        assert!(rates.lower.upper <= rates.upper.lower.next_up(), "{rates:?}");
        // The classic rate is the second member at r = k, U is the first, and L is the last. Each
        // is computed in two ways.
        let classic = Variant::Classic.fpr(bits, items, probes).expect("in range");
        for (one, other) in [(chain.distinct, classic), (chain.mean_power, rates.upper), (chain.single, rates.lower)] {
            assert!(one.lower <= other.upper && other.lower <= one.upper, "{one:?} {other:?}");
        }
    }
    let fails = |name: &str, error: Error| assert!(error.to_string().starts_with(name), "{error}");
    fails("bits", bounds::chain(0, 1, 1, 1).expect_err("no bits"));
    fails("items", bounds::chain(10, 0, 1, 1).expect_err("no items"));
    fails("probes", bounds::chain(10, 1, 11, 1).expect_err("too many probes"));
    fails("order", bounds::chain(10, 1, 6, 5).expect_err("above m - k"));
    fails("probes", bounds::rates(10, 1, 5).expect_err("above (m - 1) / 2"));
    fails("probes", bounds::rates(1, 1, 1).expect_err("above (m - 1) / 2"));
    fails("probes", bounds::collision_free(10, 0).expect_err("no probes"));
}
