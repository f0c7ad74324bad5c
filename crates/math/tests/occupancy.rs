//! Compares the laws of the set bits with exact fractions, enumerations, the reference vectors, and
//! integrals to sixty digits.

mod common;

use common::{choose, fraction, int, of_f64, rows};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use serde_json::Value;
use truebloom_math::Method;
use truebloom_math::occupancy::Occupancy;

/// The relative error that laws promise for a probability.
const RELATIVE: f64 = 1e-12;

fn rational(x: impl Into<BigInt>) -> BigRational {
    BigRational::from(x.into())
}

/// The exact law of the number of bits that are set in all departments, by hypergeometric steps in
/// fractions.
fn exact(bits: u64, departments: &[Vec<(u64, u64)>]) -> Vec<BigRational> {
    let m = bits;
    let thinned = |law: &[BigRational], size: u64| -> Vec<BigRational> {
        let mut next = vec![BigRational::zero(); law.len()];
        for (x, p) in law.iter().enumerate().filter(|(_, p)| !p.is_zero()) {
            let x = x as u64;
            for y in (x + size).saturating_sub(m)..=x.min(size) {
                next[y as usize] += p * BigRational::new(choose(x, y) * choose(m - x, size - y), choose(m, size));
            }
        }
        next
    };
    let mut all = vec![BigRational::zero(); m as usize + 1];
    all[m as usize] = BigRational::one();
    for department in departments {
        let mut empty = vec![BigRational::zero(); m as usize + 1];
        empty[m as usize] = BigRational::one();
        for &(size, count) in department {
            for _ in 0..count {
                empty = thinned(&empty, m - size);
            }
        }
        let mut next = vec![BigRational::zero(); m as usize + 1];
        for (unset, share) in empty.iter().enumerate().filter(|(_, p)| !p.is_zero()) {
            for (y, p) in thinned(&all, m - unset as u64).into_iter().enumerate() {
                next[y] += p * share;
            }
        }
        all = next;
    }
    all
}

fn off(found: f64, truth: &BigRational) -> f64 {
    if truth.is_zero() {
        return found.abs();
    }
    ((of_f64(found) - truth) / truth).abs().to_f64().expect("finite")
}

/// `E[f(X)]`
fn expectation(law: &[BigRational], f: impl Fn(u64) -> BigRational) -> BigRational {
    law.iter().enumerate().map(|(x, p)| p * f(x as u64)).sum()
}

fn falling(x: u64, r: u64) -> BigRational {
    (0..r).map(|i| rational(x) - rational(i)).product()
}

/// Compares all values of a law with the exact law, and returns the largest relative error.
fn hold(law: &Occupancy, truth: &[BigRational]) -> f64 {
    let mut worst: f64 = 0.0;
    let mut check = |what: &str, found: f64, truth: &BigRational, tolerance: f64| {
        let error = off(found, truth);
        assert!(error <= tolerance, "{what} of {law:?} is {found:e}, {error:e} off {truth}");
        worst = worst.max(error);
    };
    let pmf = law.pmf().expect("a small law");
    assert_eq!(pmf.len(), truth.len());
    for (x, (p, truth)) in pmf.iter().zip(truth).enumerate() {
        check("a probability", *p, truth, RELATIVE);
        check("one probability", law.probability(x as u64).expect("a small law"), truth, RELATIVE);
    }
    let mean = expectation(truth, rational);
    let variance = expectation(truth, |x| rational(x) * rational(x)) - &mean * &mean;
    check("the mean", law.mean().expect("moments"), &mean, 1e-15);
    check("the variance", law.variance().expect("moments"), &variance, 1e-15);
    for r in 1..=5u32 {
        let tolerance = 1e-15 * f64::from(r + 2);
        check("a raw moment", law.raw_moment(r).expect("moments"), &expectation(truth, |x| rational(x).pow(r as i32)), tolerance);
        let factorial = expectation(truth, |x| falling(x, r.into()));
        check("a factorial moment", law.factorial_moment(r).expect("moments"), &factorial, tolerance);
        let binomial = expectation(truth, |x| rational(choose(x, r.into())));
        check("a binomial moment", law.binomial_moment(r).expect("moments"), &binomial, 2.0 * tolerance);
    }
    for z in [0.0, 0.25, 1.0, 1.5, 7.0] {
        let value = expectation(truth, |x| of_f64(z).pow(x as i32));
        check("the generating function", law.generating_function(z).expect("a value"), &value, 2e-12);
    }
    let negative = expectation(truth, |x| of_f64(-0.5).pow(x as i32));
    assert!((law.generating_function(-0.5).expect("a value") - negative.to_f64().expect("finite")).abs() < 1e-12);

    let (least, most) = law.support();
    let mut below = BigRational::zero();
    for x in 0..=law.bits() + 1 {
        let p = truth.get(x as usize).cloned().unwrap_or_default();
        assert_eq!(p.is_zero(), x < least || x > most, "the support of {law:?} at {x}");
        let above = BigRational::one() - &below;
        below += p;
        for (bracket, truth) in [(law.cdf(x), &below), (law.at_least(x), &above)] {
            let bracket = bracket.expect("a bracket");
            assert_eq!(bracket.method, Method::Exact);
            assert!(of_f64(bracket.lower) <= *truth && *truth <= of_f64(bracket.upper), "{bracket:?} misses {truth} at {x} in {law:?}");
            assert!(bracket.upper - bracket.lower <= 1e-9 * bracket.upper, "{bracket:?} at {x} in {law:?}");
        }
    }
    for p in [0.0, 1e-9, 0.025, 0.3, 0.5, 0.77, 0.999, 1.0 - 1e-12, 1.0] {
        let mut sum = BigRational::zero();
        let first = truth.iter().position(|q| {
            sum += q;
            sum >= of_f64(p)
        });
        // At p = 0 it is the least possible number.
        let first = (first.expect("the sum is 1") as u64).max(least);
        for quantile in [law.quantile(p), law.exact_quantile(p)] {
            let quantile = quantile.expect("a quantile");
            assert!(quantile.lower <= first && first <= quantile.upper, "{p}: {quantile:?} misses {first} in {law:?}");
            assert!(quantile.method == Method::Bound || quantile.upper - quantile.lower <= 1, "{p}: {quantile:?} in {law:?}");
        }
    }
    worst
}

#[test]
fn small_laws_are_exact() {
    let mut worst: f64 = 0.0;
    for m in [1u64, 2, 3, 5, 8, 13] {
        for n in 0..=4u64 {
            for k in 1..=4u64 {
                let standard = Occupancy::standard(m, n, k as u32).expect("in range");
                worst = worst.max(hold(&standard, &exact(m, &[vec![(1, n * k)]])));
                if k <= m {
                    let classic = Occupancy::classic(m, n, k as u32).expect("in range");
                    worst = worst.max(hold(&classic, &exact(m, &[vec![(k, n)]])));
                }
            }
        }
    }
    println!("worst relative error of small laws: {worst:e}");
}

#[test]
fn unions_and_intersections_are_exact() {
    type Departments = Vec<Vec<(u64, u64)>>;
    let cases: [(u64, Departments); 10] = [
        (9, vec![vec![(2, 1), (3, 2), (5, 1)]]),
        (12, vec![vec![(1, 3), (11, 1)]]),
        (30, vec![vec![(1, 3), (7, 4)]]),
        (6, vec![vec![(2, 1)], vec![(3, 1)], vec![(3, 1)]]),
        (10, vec![vec![(9, 1)], vec![(8, 1)]]),
        (10, vec![vec![(3, 3)], vec![(2, 4)]]),
        (10, vec![vec![(3, 1)], vec![(2, 4)], vec![(1, 20)]]),
        (14, vec![vec![(1, 9), (4, 1)], vec![(5, 2)], vec![(13, 1)]]),
        (7, vec![vec![(7, 1)], vec![(2, 2)]]),
        (7, vec![vec![], vec![(2, 2)]]),
    ];
    let mut worst: f64 = 0.0;
    for (m, departments) in &cases {
        let law = match departments.as_slice() {
            [one] => Occupancy::union(*m, one),
            more => Occupancy::intersection(*m, more),
        };
        worst = worst.max(hold(&law.expect("in range"), &exact(*m, departments)));
    }
    println!("worst relative error of unions and intersections: {worst:e}");
}

/// Counts all outcomes one by one, independently of the recurrences.
/// Two items of a classic filter have y positions in common with a hypergeometric probability, and
/// then set 2k - y bits. Probabilities below 1e-280 of the largest are not computed, but tails that
/// consist of them must still be within their brackets.
#[test]
fn brackets_contain_tails_of_probabilities_that_are_not_computed() {
    let (bits, probes) = (100_000u64, 200u64);
    let law = Occupancy::classic(bits, 2, probes as u32).expect("a law");
    let all = choose(bits, probes);
    let at = |ones: u64| BigRational::new(choose(probes, 2 * probes - ones) * choose(bits - probes, ones - probes), all.clone());
    let mut below = BigRational::zero();
    let mut checked = 0;
    for ones in 270..300 {
        // The smaller terms are below a thousandth of these.
        below += at(ones) + if ones == 270 { (260..270).map(at).sum() } else { BigRational::zero() };
        let found = law.cdf(ones).expect("a bracket");
        assert!(of_f64(found.lower) <= below && below <= of_f64(found.upper), "{ones}: {found:?} {:e}", below.to_f64().unwrap_or(0.0));
        checked += u64::from(found.lower == 0.0);
    }
    assert!(checked > 5, "{checked} of these tails consist of probabilities that are not computed");
}

#[test]
fn enumeration_agrees() {
    // Three throws at four bits; two committees of two of four; one of one and one of three.
    let masks = |size: u32| (0u32..16).filter(move |mask| mask.count_ones() == size);
    let mut standard = [0u32; 5];
    let mut pairs = [0u32; 5];
    let mut mixed = [0u32; 5];
    let mut both = [0u32; 5];
    for a in masks(1) {
        for b in masks(1) {
            for c in masks(1) {
                standard[(a | b | c).count_ones() as usize] += 1;
            }
        }
        for b in masks(3) {
            mixed[(a | b).count_ones() as usize] += 1;
        }
    }
    for a in masks(2) {
        for b in masks(2) {
            pairs[(a | b).count_ones() as usize] += 1;
            for c in masks(3) {
                both[((a | b) & c).count_ones() as usize] += 1;
            }
        }
    }
    let laws = [
        (Occupancy::standard(4, 3, 1), standard),
        (Occupancy::classic(4, 2, 2), pairs),
        (Occupancy::union(4, &[(3, 1), (1, 1)]), mixed),
        (Occupancy::intersection(4, &[vec![(2, 2)], vec![(3, 1)]]), both),
    ];
    for (law, counts) in laws {
        let total: u32 = counts.iter().sum();
        for (p, count) in law.expect("in range").pmf().expect("small").iter().zip(counts) {
            assert!((p - f64::from(count) / f64::from(total)).abs() < 1e-15);
        }
    }
}

#[test]
fn reference_vectors() {
    let file = rows("occupancy_pmf.json");
    let list = |row: &Value| row.as_array().expect("a list").iter().map(|k| (k.as_u64().expect("a size"), 1)).collect::<Vec<_>>();
    let mut worst: f64 = 0.0;
    for kind in ["standard", "classic", "union", "intersection"] {
        for row in file[kind].as_array().expect("rows") {
            let m = int(row, "m");
            let law = match kind {
                "standard" => Occupancy::standard(m, int(row, "n"), int(row, "k") as u32),
                "classic" => Occupancy::classic(m, int(row, "n"), int(row, "k") as u32),
                "union" => Occupancy::union(m, &list(&row["ks"])),
                _ => Occupancy::intersection(m, &row["depts"].as_array().expect("departments").iter().map(list).collect::<Vec<_>>()),
            };
            let law = law.expect("in range");
            let pmf = law.pmf().expect("small");
            for (p, truth) in pmf.iter().zip(row["pmf"].as_array().expect("a pmf")) {
                worst = worst.max(off(*p, &fraction(truth.as_str().expect("digits"))));
            }
            let moments = [
                ("mean", law.mean()),
                ("var", law.variance()),
                ("raw3", law.raw_moment(3)),
                ("binom2", law.binomial_moment(2)),
                ("binom3", law.binomial_moment(3)),
            ];
            for (name, found) in moments {
                if let Some(truth) = row[name].as_str() {
                    worst = worst.max(off(found.expect("moments"), &fraction(truth)));
                }
            }
        }
    }
    println!("worst relative error against the vectors: {worst:e}");
    assert!(worst <= 1e-15);
}

/// Stirling numbers of the second kind, in whole numbers.
#[test]
fn the_contour_is_exact_to_1e12() {
    let mut worst: f64 = 0.0;
    for (m, throws) in [(1_000u64, 700u64), (300, 257), (2_000, 300), (40, 400), (100_000, 260), (150, 900), (7, 300)] {
        let mut stirling = vec![BigInt::zero(); throws as usize + 1];
        stirling[0] = BigInt::one();
        for n in 1..=throws as usize {
            for x in (1..=n).rev() {
                stirling[x] = &stirling[x] * x + &stirling[x - 1];
            }
            stirling[0] = BigInt::zero();
        }
        let total = BigInt::from(m).pow(throws as u32);
        let law = Occupancy::standard(m, throws, 1).expect("in range");
        let mut falling = BigInt::one();
        for x in 1..=throws.min(m) {
            falling *= m - (x - 1);
            let truth = BigRational::new_raw(&falling * &stirling[x as usize], total.clone());
            let bits = truth.numer().bits() as i64 - total.bits() as i64;
            if bits < -930 {
                continue;
            }
            // To 100 digits, so that fractions stay small.
            let scaled: BigInt = (truth.numer() << 1300) / &total;
            let truth = BigRational::new(scaled, BigInt::one() << 1300);
            let error = off(law.probability(x).expect("one probability"), &truth);
            assert!(error < RELATIVE, "{m} {throws} {x}: {error:e}");
            worst = worst.max(error);
        }
    }
    println!("worst relative error of the contour against Stirling numbers: {worst:e}");
}

/// Tuples (bits, throws, ones, probability), computed from the same integral to sixty digits.
#[allow(clippy::excessive_precision, reason = "digits as computed")]
const LARGE: &[(u64, u64, u64, f64)] = &[
    (1099511627776, 481036337152, 389606788722, 6.55627975430615563e-202),
    (1099511627776, 481036337152, 389611758368, 2.23676012717244067e-20),
    (1099511627776, 481036337152, 389613113726, 2.39010822280302292e-7),
    (1099511627776, 481036337152, 389613565512, 1.7660675115648452e-6),
    (1099511627776, 481036337152, 389614017298, 2.39011633215800872e-7),
    (1099511627776, 481036337152, 389615372656, 2.23638841774204401e-20),
    (1099511627776, 481036337152, 389620342302, 6.4909393026072208e-202),
    (1099511627776, 1048576, 1048554, 1.28579361725404419e-28),
    (1099511627776, 1048576, 1048570, 0.0000131620597998449548),
    (1099511627776, 1048576, 1048574, 0.0758161637543312327),
    (1048576, 1048576, 653249, 8.14021255143164394e-199),
    (1048576, 1048576, 660273, 1.61874859612195372e-17),
    (1048576, 1048576, 662188, 0.000169012327841922884),
    (1048576, 1048576, 662827, 0.00124955907681835583),
    (1048576, 1048576, 663465, 0.00016927564560461552),
    (1048576, 1048576, 665381, 1.55652509597373173e-17),
    (1048576, 1048576, 672405, 2.42293390779715547e-199),
    (1000000, 300, 294, 9.46436765655735979e-12),
    (1000000, 300, 298, 0.000953673600857078124),
    (1000000, 10000, 9740, 3.38814613673704933e-100),
    (1000000, 10000, 9894, 1.13356174323486139e-12),
    (1000000, 10000, 9936, 0.0077076692031989758),
    (1000000, 10000, 9950, 0.0566861517960712647),
    (1000000, 10000, 9964, 0.0077499895895081269),
    (1048576, 10000000, 1048240, 4.98399898233630132e-107),
    (1048576, 10000000, 1048431, 4.56469926046639009e-13),
    (1048576, 10000000, 1048483, 0.00648249792369759356),
    (1048576, 10000000, 1048500, 0.0456933974770514766),
    (1048576, 10000000, 1048518, 0.0055489819712296551),
    (1048576, 10000000, 1048570, 3.53336559938628218e-25),
    (1000, 6000, 951, 1.06112197859343648e-48),
    (1000, 6000, 985, 3.03714359230301394e-8),
    (1000, 6000, 994, 0.026112241297432449),
    (1000, 6000, 998, 0.259582314342828626),
    (1099511627776, 8796093022208, 1099142207426, 9.69149909930325558e-201),
    (1099511627776, 8796093022208, 1099142629305, 2.64539841446045778e-19),
    (1099511627776, 8796093022208, 1099142744363, 2.81546541418170276e-6),
    (1099511627776, 8796093022208, 1099142782716, 0.0000208038960377638475),
    (1099511627776, 8796093022208, 1099142821069, 2.81533184700872971e-6),
    (1099511627776, 8796093022208, 1099142936127, 2.62305209124082382e-19),
    (1099511627776, 8796093022208, 1099143358006, 6.0867349877061607e-201),
    (1000000000, 1000000, 998830, 5.06435363737760948e-144),
    (1000000000, 1000000, 999321, 4.3699332588446445e-15),
    (1000000000, 1000000, 999455, 0.00234986734350402716),
    (1000000000, 1000000, 999500, 0.0178496686473647403),
    (1000000000, 1000000, 999545, 0.00234616970869505895),
    (1000000000, 1000000, 999679, 2.49870290872365308e-18),
    (1073741824, 4194304, 4183416, 3.95842237592008296e-180),
    (1073741824, 4194304, 4185401, 1.32396630662799615e-16),
    (1073741824, 4194304, 4185942, 0.000597634774621963783),
    (1073741824, 4194304, 4186123, 0.00442211728026550625),
    (1073741824, 4194304, 4186303, 0.000597442632515531034),
    (1073741824, 4194304, 4186844, 2.28078498073084644e-17),
    (1073741824, 4194304, 4188829, 2.68879425620434215e-224),
];

#[test]
fn large_laws_agree_with_sixty_digits() {
    let mut worst: f64 = 0.0;
    for &(m, throws, x, truth) in LARGE {
        let found = Occupancy::standard(m, throws, 1).expect("in range").probability(x).expect("one probability");
        let error = (found / truth - 1.0).abs();
        println!("{m} {throws} {x}: {error:e}");
        worst = worst.max(error);
    }
    println!("worst relative error at large sizes: {worst:e}");
    assert!(worst < RELATIVE);
}

/// Compares the sum, the mean and the variance of whole vectors with the moments in whole numbers.
/// Also compares the recurrence in pairs of `f64` with the contour integrals, which are independent
/// of it.
#[test]
fn vectors_have_the_moments_of_the_law() {
    let laws = [
        Occupancy::standard(1 << 18, 1 << 15, 8),
        Occupancy::standard(50, 2_000, 3),
        Occupancy::standard(1 << 20, 300, 1),
        Occupancy::classic(3_000, 300, 7),
        Occupancy::union(500, &[(1, 300), (20, 10), (480, 1)]),
        Occupancy::intersection(200, &[vec![(5, 30)], vec![(60, 1)], vec![(1, 150)]]),
    ];
    for law in laws {
        let law = law.expect("in range");
        let pmf = law.pmf().expect("affordable");
        let mean: f64 = pmf.iter().enumerate().map(|(x, p)| x as f64 * p).sum();
        let variance: f64 = pmf.iter().enumerate().map(|(x, p)| (x as f64 - mean).powi(2) * p).sum();
        assert!((pmf.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{law:?}");
        assert!((mean / law.mean().expect("moments") - 1.0).abs() < 1e-12, "{law:?}");
        assert!((variance / law.variance().expect("moments") - 1.0).abs() < 1e-11, "{law:?}");
        let window = law.pmf_window().expect("affordable");
        let last = window.first as usize + window.probabilities.len();
        assert_eq!(window.probabilities, pmf[window.first as usize..last]);
        let outside: f64 = pmf[..window.first as usize].iter().chain(&pmf[last..]).sum();
        assert!(outside <= window.left_out && window.left_out < 1e-16, "{outside:e} {:e}", window.left_out);
    }
    // The same law with and without throws that are walked: 256 throws and a committee of one are
    // 257 throws.
    let (by_contour, walked) = (Occupancy::standard(400, 257, 1), Occupancy::intersection(400, &[vec![(1, 257)], vec![(400, 1)]]));
    let (by_contour, walked) = (by_contour.expect("in range").pmf().expect("small"), walked.expect("in range").pmf().expect("small"));
    for (a, b) in by_contour.iter().zip(&walked).filter(|(a, _)| **a > 1e-279) {
        assert!((a / b - 1.0).abs() < RELATIVE, "{a:e} {b:e}");
    }
}

/// Tests that the fast quantiles enclose the summed ones, and that large laws have brackets.
#[test]
fn bounds_hold() {
    for (m, n, k) in [(100, 30, 5), (10_000, 1_000, 7), (1 << 20, 1 << 17, 8), (100_000, 3_000, 1)] {
        let law = Occupancy::standard(m, n, k).expect("in range");
        for p in [1e-12, 1e-3, 0.025, 0.5, 0.9, 0.999_999] {
            let (fast, exact) = (law.quantile(p).expect("a bracket"), law.exact_quantile(p).expect("affordable"));
            assert!(fast.lower <= exact.lower && exact.upper <= fast.upper, "{m} {n} {k} {p}: {fast:?} {exact:?}");
            assert!(exact.upper - exact.lower <= 1);
            let (at, before) = (law.cdf(exact.upper).expect("a bracket"), law.cdf(exact.lower - 1).expect("a bracket"));
            assert!(at.upper >= p && before.lower < p, "{p}: {at:?} {before:?}");
        }
    }
    let law = Occupancy::classic(1 << 40, 1 << 36, 7).expect("in range");
    let median = law.quantile(0.5).expect("a bracket");
    let cdf = law.cdf(median.lower).expect("a bracket");
    assert_eq!((median.method, cdf.method), (Method::Bound, Method::Bound));
    assert!(cdf.lower < 0.5 && cdf.upper < 0.501 && cdf.lower > 0.499, "{cdf:?}");
}

/// Tests, with a fixed seed, that the mean of 2,000 samples is within six standard deviations of
/// the law's mean.
#[test]
fn samples_follow_the_law() {
    let mut state = 7u64;
    let mut words = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let laws = [
        Occupancy::standard(40, 10, 3),
        Occupancy::classic(40, 10, 3),
        Occupancy::union(40, &[(30, 1), (2, 3)]),
        Occupancy::intersection(40, &[vec![(30, 1)], vec![(2, 12)]]),
    ];
    for law in laws {
        let law = law.expect("in range");
        let pmf = law.pmf().expect("small");
        let mut counts = [0u32; 41];
        for _ in 0..2_000 {
            counts[law.sample(&mut words).expect("small") as usize] += 1;
        }
        for (count, p) in counts.iter().zip(&pmf) {
            let expected = 2_000.0 * p;
            assert!((f64::from(*count) - expected).abs() <= 6.0 * (expected * (1.0 - p)).sqrt() + 3.0, "{law:?}: {count} {expected}");
        }
    }
}

#[test]
fn impossible_laws_are_errors_that_name_the_parameter() {
    use truebloom_math::Error;
    let named = |result: Result<Occupancy, Error>, expected: &str| match result {
        Err(Error::OutOfRange { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    named(Occupancy::standard(0, 1, 1), "bits");
    named(Occupancy::standard(1 << 63, 1, 1), "bits");
    named(Occupancy::standard(8, 1, 0), "probes");
    named(Occupancy::classic(8, 1, 9), "probes");
    named(Occupancy::union(8, &[(9, 1)]), "committee size");
    named(Occupancy::union(8, &[(0, 1)]), "committee size");
    named(Occupancy::intersection::<Vec<(u64, u64)>>(8, &[]), "departments");
    let law = Occupancy::standard(8, 2, 2).expect("in range");
    assert!(law.raw_moment(0).is_err() && law.factorial_moment(1_001).is_err());
    assert!(law.quantile(f64::NAN).is_err() && law.exact_quantile(1.5).is_err() && law.generating_function(f64::INFINITY).is_err());
    // The far corners answer without a panic, with bounds or an error.
    for (m, n, k) in [
        (1, u64::MAX, 100_000),
        (1 << 62, u64::MAX, 100_000),
        (1 << 62, 1, 1),
        (1 << 62, 1 << 62, 7),
        (1 << 53, 1 << 50, 8),
        (3, u64::MAX, 2),
    ] {
        for law in [Occupancy::standard(m, n, k), Occupancy::classic(m, n, k.min(m as u32))].into_iter().flatten() {
            let (low, high) = law.support();
            for x in [0, 1, low, high, m, u64::MAX] {
                for bracket in [law.cdf(x), law.at_least(x)].into_iter().flatten() {
                    assert!(0.0 <= bracket.lower && bracket.lower <= bracket.upper && bracket.upper <= 1.0, "{law:?} {x}: {bracket:?}");
                }
                let _ = law.probability(x);
            }
            let _ = (law.mean(), law.variance(), law.quantile(0.5), law.raw_moment(2), law.binomial_moment(3));
        }
    }
}

/// Tests numbers of throws so large that nearly all of a few bits are set. The law then has a
/// closed form, which takes no longer for more throws.
#[test]
fn few_bits_and_any_number_of_throws() {
    let law = Occupancy::standard(5, 17_592_186_044_416, 23).expect("in range");
    assert!((law.probability(5).expect("a number") - 1.0).abs() < 1e-12);
    assert_eq!(law.probability(4).expect("a number"), 0.0);
    assert_eq!(law.quantile(0.99).expect("a quantile").upper, 5);
    for (bits, throws) in [(40u64, 2_400u64), (101, 6_000)] {
        let law = Occupancy::standard(bits, throws, 1).expect("in range");
        for empty in 0..3u64 {
            // C(m, e) (1 - e/m)^N, less the share that leaves more bits empty, in fractions of no
            // more than e^-46 of it.
            let expected = choose(bits, empty).to_f64().expect("small") * (throws as f64 * (-(empty as f64) / bits as f64).ln_1p()).exp();
            let found = law.probability(bits - empty).expect("a number");
            assert!(found == expected || (found / expected - 1.0).abs() < 1e-9, "{bits} {throws} {empty}: {found} {expected}");
        }
    }
}
