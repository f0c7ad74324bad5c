//! Grandi, On the analysis of Bloom filters. Grandi's settings are S1 (128 bits, 16 items) and S2
//! (128 bits, 8 items).

use crate::common::committees::{
    batches, chosen, classic_sum, exp_minus, raise, rounds_to, short_power, shortened, sign, standard_sum, variance, whole,
};
use crate::common::{oracle, ratio};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::collections::BTreeMap;
use truebloom_math::{Variant, optimal_probes};

const S1: (u64, u64) = (128, 16);
const S2: (u64, u64) = (128, 8);

fn one() -> BigRational {
    BigRational::one()
}

#[test]
fn section_1_partitioned_is_not_classic() {
    for (m, n, k) in [(6, 2, 2), (9, 2, 3), (12, 3, 4)] {
        let [partitioned, classic] = [Variant::Partitioned, Variant::Classic].map(|variant| oracle::rate(variant, m, n, k));
        assert!(partitioned > classic, "m={m} n={n} k={k}");
        assert_ne!(
            oracle::moments(Variant::Partitioned, m, n, k).1,
            oracle::moments(Variant::Classic, m, n, k).1,
            "(14) is of distinct bits only"
        );
        assert_eq!(classic, classic_sum(m, n, u64::from(k)), "and so is (18)");
    }
}

#[test]
fn section_1_1_classic_is_lower_near_the_optimum() {
    for ((m, n), first_higher, standard_best) in [(S1, 8, 5), (S2, 16, 11), ((100, 20), 5, 3)] {
        for k in 1..=40 {
            let (standard, classic) = (standard_sum(m, n, k), classic_sum(m, n, k));
            match k {
                1 => assert_eq!(classic, standard),
                _ => assert_eq!(classic > standard, k >= first_higher, "m={m} n={n} k={k}"),
            }
        }
        assert_eq!(optimal_probes(Variant::Standard, m, n).expect("in range").ties, [standard_best]);
        assert!(u64::from(standard_best) < first_higher);
    }
    // For the partitioned filter with equal slices (k divides m), the claim is right.
    for (m, n, k) in [(6, 2, 2), (12, 3, 4), (15, 2, 3)] {
        assert!(oracle::rate(Variant::Partitioned, m, n, k) > oracle::rate(Variant::Standard, m, n, k));
    }
}

/// `psi_S(h, m)` with a given exponent in the law of the set bits.
fn psi_definition(h: u64, m: u64, exponent: u64) -> BigRational {
    let law = |x: u64| (0..=x).map(|j| sign(j) * chosen(x, j) * raise(&ratio(x - j, m), exponent)).sum::<BigRational>();
    (0..=m).map(|x| raise(&ratio(x, m), h) * chosen(m, x) * law(x)).sum()
}

#[test]
fn psi_s_is_defined_with_the_wrong_exponent() {
    for (m, n, k) in [(4, 2, 2), (5, 3, 2), (6, 2, 3)] {
        let truth = oracle::rate(Variant::Standard, m, n, k as u32);
        assert_ne!(psi_definition(k, m, k * m), truth, "km");
        assert_eq!(psi_definition(k, m, k * n), truth, "kn");
        let step = psi_definition(k - 1, m, k * n) - raise(&ratio(m - 1, m), k * n + k - 1) * psi_definition(k - 1, m - 1, k * n);
        assert_eq!(step, truth, "(10)");
    }
}

/// A recursion whose values are computed once, when they are first needed.
struct Cells<Factor> {
    known: BTreeMap<(u64, u64), BigRational>,
    factor: Factor,
}

impl<Factor: Fn(u64, u64) -> BigRational> Cells<Factor> {
    fn psi(&mut self, h: u64, m: u64) -> BigRational {
        if h == 0 {
            return one();
        }
        if let Some(known) = self.known.get(&(h, m)) {
            return known.clone();
        }
        let factor = (self.factor)(h, m);
        let mut value = self.psi(h - 1, m);
        if !factor.is_zero() {
            value -= factor * self.psi(h - 1, m - 1);
        }
        self.known.insert((h, m), value.clone());
        value
    }
}

#[test]
fn recursions_cost_k_squared_not_km() {
    let (m, n, k) = (40, 3, 6);
    let mut standard = Cells { known: BTreeMap::new(), factor: |h, m| raise(&ratio(m - 1, m), k * n + h - 1) };
    let mut classic = Cells { known: BTreeMap::new(), factor: |_, m| raise(&ratio(m - k, m), n) };
    assert_eq!(standard.psi(k, m), oracle::rate(Variant::Standard, m, n, k as u32));
    assert_eq!(classic.psi(k, m), oracle::rate(Variant::Classic, m, n, k as u32));
    let cells = [standard.known.len() as u64, classic.known.len() as u64];
    assert_eq!(cells, [k * (k + 1) / 2; 2], "whatever m");
    // So the printed O(km) is an upper bound if k is at most m.
    assert!((1..=m).all(|k| k * (k + 1) / 2 <= k * m));
}

#[test]
fn variances_8_and_14_need_a_convention_at_the_edge() {
    let form = |m: u64, n: u64, k: u64, last: BigRational| {
        let kept = raise(&(one() - ratio(k, m)), n);
        whole(m) * &kept * (one() - whole(m) * &kept + whole(m - 1) * last)
    };
    for (m, n, k) in (1..=6).flat_map(|m| (1..=3).flat_map(move |n| (1..=m).map(move |k| (m, n, k)))) {
        let truth = variance(&batches(m, n, k));
        // With one bit the last factor is 1 - k/0; with k >= m - 1 it is taken as 0.
        let last = if k + 1 >= m { BigRational::zero() } else { raise(&(one() - ratio(k, m - 1)), n) };
        assert_eq!(form(m, n, k, last), truth, "m={m} n={n} k={k}");
    }
    // Only for k = m is the printed factor defined and not zero, and then it is multiplied by zero.
    assert!(form(4, 2, 4, raise(&(one() - ratio(4, 3)), 2)).is_zero());
    // (8) with two bits: the factor itself is 0.
    assert_eq!(form(2, 3, 1, BigRational::zero()), variance(&batches(2, 3, 1)));
}

/// The rates of the standard and classic filters, and the approximations A1 to A3 by the equations
/// of the paper. Fractions are rounded to 2^-400.
struct Curves {
    standard: BigRational,
    classic: BigRational,
    approximations: [BigRational; 3],
}

impl Curves {
    fn new((m, n): (u64, u64), k: u64) -> Curves {
        let kept = |away| short_power(&ratio(m - away, m), n * k);
        let (empty, two) = (kept(1), kept(2));
        let variance = whole(m) * (&empty - &two) - whole(m * m) * (&empty * &empty - two);
        let mean = one() - empty;
        let first = short_power(&mean, k);
        let second = short_power(&(one() - exp_minus(&ratio(n * k, m))), k);
        let bend = if k < 2 { BigRational::zero() } else { variance * ratio(k * (k - 1), 2 * m * m) * short_power(&mean, k - 2) };
        let third = &first + shortened(&bend);
        let rate = |exact: BigRational| shortened(&exact);
        Curves { standard: rate(standard_sum(m, n, k)), classic: rate(classic_sum(m, n, k)), approximations: [first, second, third] }
    }

    /// The error of an approximation of the standard rate, in percent.
    fn error(&self, which: usize) -> BigRational {
        (&self.approximations[which - 1] / &self.standard - one()).abs() * whole(100)
    }

    /// The difference between the two filters, in percent of the standard rate.
    fn difference(&self) -> BigRational {
        (&self.classic / &self.standard - one()).abs() * whole(100)
    }
}

/// Asserts that the percentage rounds to `printed` at this number of probes, and is the largest for
/// all numbers of probes from 1 to 60.
fn assert_largest(setting: (u64, u64), percent: impl Fn(&Curves) -> BigRational, probes: u64, printed: &str) {
    let (k, largest) = (1..=60).map(|k| (k, percent(&Curves::new(setting, k)))).max_by(|a, b| a.1.cmp(&b.1)).expect("not empty");
    assert!(k == probes && rounds_to(&largest, printed), "k={k}, not {probes} with {printed}%");
}

#[test]
fn figure_1_has_another_order_of_curves() {
    for (setting, best) in [(S1, 5), (S2, 11)] {
        assert_eq!(optimal_probes(Variant::Standard, setting.0, setting.1).expect("in range").ties, [best]);
        let Curves { standard, classic, approximations: [first, second, third] } = Curves::new(setting, u64::from(best));
        let order = [&standard, &third, &first, &classic, &second];
        assert!(order.windows(2).all(|pair| pair[0] > pair[1]), "S, A3, A1, C, A2 from the top");
        for k in 1..=60 {
            let curves = Curves::new(setting, k);
            assert!(curves.approximations[0] > curves.approximations[1], "A1 above A2 at k={k}");
            assert!(k == 1 || curves.approximations[0] < curves.standard, "A1 below S at k={k}");
        }
    }
    let curves = Curves::new(S1, 25);
    assert!(curves.approximations[2] > curves.standard && curves.classic > curves.standard, "A3 is no lower bound");
}

#[test]
fn setting_1_labels_of_a1_and_a2_are_swapped() {
    assert_largest(S1, |curves| curves.error(1), 18, "9.5045");
    assert_largest(S1, |curves| curves.error(2), 18, "11.1761");
    let best = Curves::new(S1, 5);
    assert!(rounds_to(&best.error(1), "2.4495") && rounds_to(&best.error(2), "3.8150"));
    assert!(!rounds_to(&best.error(1), "3.82") && rounds_to(&best.error(2), "3.81"), "printed as A1 3.82, A2 2.45");
}

#[test]
fn setting_1_errors_of_a3_are_misplaced() {
    assert_largest(S1, |curves| curves.error(3), 38, "0.27502");
    assert!(rounds_to(&Curves::new(S1, 5).error(3), "0.004126") && !rounds_to(&Curves::new(S1, 5).error(3), "0.0044"));
}

#[test]
fn setting_2_labels_of_a1_and_a2_are_swapped() {
    assert_largest(S2, |curves| curves.error(1), 35, "32.8390");
    assert_largest(S2, |curves| curves.error(2), 35, "35.3309");
    let best = Curves::new(S2, 11);
    assert!(rounds_to(&best.error(1), "12.0416") && rounds_to(&best.error(2), "14.6372"), "printed as A1 14.52, A2 11.92");
}

#[test]
fn setting_2_errors_of_a3_are_misplaced() {
    assert_largest(S2, |curves| curves.error(3), 32, "4.5285");
    let [ten, eleven] = [10, 11].map(|k| Curves::new(S2, k).error(3));
    assert!(rounds_to(&ten, "0.299") && rounds_to(&eleven, "0.4514"), "0.37 is neither");
}

#[test]
fn differences_of_the_two_filters_are_rounded_off_the_mark() {
    let at_best =
        |setting, standard, classic| (one() - Curves::new(setting, classic).classic / Curves::new(setting, standard).standard) * whole(100);
    assert!(rounds_to(&at_best(S1, 5, 5), "3.28"), "as printed");
    assert!(rounds_to(&at_best(S2, 11, 10), "13.6094") && !rounds_to(&at_best(S2, 11, 10), "13.59"));
    assert_largest(S1, Curves::difference, 25, "25.617");
    assert_largest(S2, Curves::difference, 45, "151.297");
}
