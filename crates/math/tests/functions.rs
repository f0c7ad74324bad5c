//! Compares the functions that docs/PAPERS.md names for laws with the same enumeration as the
//! formulas. So the formula and the function of each row agree with the same reference.

mod common;

use common::committees::{balls, batches, chosen, expectation, falling, intersection_law, mean, raise, union_law, variance, whole};
use common::{of_f64, ratio};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{best_probes_approximation, half_full_items, peak_items_approximation, standard_limit};

fn near(found: f64, truth: &BigRational, what: &str) {
    let error = (of_f64(found) - truth).abs();
    assert!(error <= truth.abs() * ratio(1, 1 << 39) + ratio(1, 1 << 50), "{what} is {found}, the truth {truth}");
}

/// Compares all values that a law provides with the exact law.
fn hold(law: &Occupancy, truth: &[BigRational]) {
    let pmf = law.pmf().expect("small");
    assert_eq!(pmf.len(), truth.len());
    for (ones, exact) in truth.iter().enumerate() {
        near(pmf[ones], exact, "the law");
        near(law.probability(ones as u64).expect("small"), exact, "a probability");
    }
    near(law.mean().expect("small"), &mean(truth), "the mean");
    near(law.variance().expect("small"), &variance(truth), "the variance");
    for order in 1..=4u32 {
        let of = |value: &dyn Fn(u64) -> BigRational| expectation(truth, value);
        near(law.raw_moment(order).expect("small"), &of(&|x| raise(&whole(x), order.into())), "a raw moment");
        near(law.factorial_moment(order).expect("small"), &of(&|x| falling(&whole(x), order.into())), "a factorial moment");
        near(law.binomial_moment(order).expect("small"), &of(&|x| chosen(x, order.into())), "a binomial moment");
    }
    for z in [ratio(1, 2), ratio(3, 1)] {
        let float = num_traits::ToPrimitive::to_f64(&z).expect("finite");
        near(law.generating_function(float).expect("small"), &expectation(truth, |x| raise(&z, x)), "the generating function");
    }
}

#[test]
fn laws_of_single_balls() {
    for (m, n, k) in [(2u64, 3u64, 1u32), (4, 3, 1), (5, 2, 3), (6, 4, 1)] {
        hold(&Occupancy::standard(m, n, k).expect("in range"), &balls(m, n * u64::from(k)));
    }
}

#[test]
fn laws_of_batches() {
    for (m, n, k) in [(3u64, 2u64, 2u64), (5, 3, 2), (6, 2, 4), (6, 4, 1)] {
        hold(&Occupancy::classic(m, n, k as u32).expect("in range"), &batches(m, n, k));
    }
}

#[test]
fn laws_of_unions() {
    for (m, sizes) in [(4, vec![1, 3]), (5, vec![2, 2, 3]), (6, vec![1, 1, 4, 4]), (6, vec![5])] {
        let committees: Vec<(u64, u64)> = sizes.iter().map(|&size| (size, 1)).collect();
        hold(&Occupancy::union(m, &committees).expect("in range"), &union_law(m, &sizes));
    }
}

#[test]
fn laws_of_intersections() {
    for (m, departments) in [
        (5, vec![vec![2], vec![3]]),
        (6, vec![vec![3], vec![4], vec![5]]),
        (4, vec![vec![1, 1], vec![1, 1, 1]]),
        (5, vec![vec![1, 3], vec![2, 2], vec![4, 1]]),
    ] {
        let committees: Vec<Vec<(u64, u64)>> = departments.iter().map(|sizes| sizes.iter().map(|&size| (size, 1)).collect()).collect();
        hold(&Occupancy::intersection(m, &committees).expect("in range"), &intersection_law(m, &departments));
    }
}

/// Tests that half of the bits are set on average. If the number of items is whole, the mean of the
/// law itself is used.
#[test]
fn half_full_filters() {
    assert_eq!(half_full_items(1, 1), Ok(0.0));
    for (m, k) in [(2u64, 1u32), (100, 1), (100, 7), (1 << 40, 20)] {
        let items = half_full_items(m, k).expect("in range");
        let empty = (items * f64::from(k) * (-1.0 / m as f64).ln_1p()).exp();
        assert!((empty - 0.5).abs() < 1e-13, "{m} {k}: {items}");
    }
    // With two bits and one ball, exactly half of the bits are set.
    assert_eq!(half_full_items(2, 1), Ok(1.0));
    assert_eq!(mean(&balls(2, 1)), BigRational::one());
    // (74) for this filter: 1 / (m log2(m/(m-1))) at a rate of one half.
    let (items, value) = standard_limit(2).expect("in range");
    assert!(items == 1.0 && value == 0.5 && BigRational::zero() < of_f64(value));
}

/// Tests that large classic filters are most efficient when half full: (76) is the half-full number
/// of items with m/k smaller by one half, and (77) is the inverse of (76).
#[test]
fn approximations_of_remark_29_at_size() {
    for (m, k) in [(1_000_000u64, 1u32), (1_000_000, 7), (1 << 40, 30)] {
        let items = peak_items_approximation(m, k).expect("in range");
        let empty = (items * (-f64::from(k) / m as f64).ln_1p()).exp();
        assert!((empty - 0.5).abs() < f64::from(k) / m as f64, "{m} {k}: {empty}");
        let n = 1_000u64;
        let probes = best_probes_approximation(m, n).expect("in range");
        let back = (m as f64 / probes - 1.0) * std::f64::consts::LN_2;
        assert!((back / n as f64 - 1.0).abs() < 1e-9, "{m}: {back}");
    }
}
