//! Compares the correct formulas of the papers with an enumeration in exact fractions.
//! docs/PAPERS.md names the test of each formula; the tests in `tests/errata` cover the wrong
//! formulas.

mod common;

use common::committees::{
    backward, balls, batches, choose_of, chosen, classic_sum, exp_minus, expectation, factorial, falling, forward, hypergeometric,
    intersection_law, mean, raise, rising, sign, standard_sum, stirling_at, union_law, variance, ways, whole,
};
use common::{of_f64, oracle, ratio};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use truebloom_math::{Plan, Target, Variant, bounds, crossover, efficiency, max_efficiency, standard_limit};

fn one() -> BigRational {
    BigRational::one()
}

fn raw(law: &[BigRational], order: u64) -> BigRational {
    expectation(law, |x| raise(&whole(x), order))
}

fn binomial(law: &[BigRational], order: u64) -> BigRational {
    expectation(law, |x| chosen(x, order))
}

/// Test cases: numbers of bits and of single throws.
const THROWS: [(u64, u64); 4] = [(2, 3), (4, 3), (5, 6), (6, 4)];

/// Test cases: numbers of bits and of committees, and the size of the committees.
const BATCHES: [(u64, u64, u64); 4] = [(3, 2, 2), (5, 3, 2), (6, 2, 4), (6, 4, 1)];

#[test]
fn single_balls_have_stirlings_law() {
    for (m, n) in THROWS {
        let law = balls(m, n);
        for i in 0..=m {
            let probability = &law[i as usize];
            assert_eq!(*probability, stirling_at(n, i) * falling(&whole(m), i) / raise(&whole(m), n), "Burns (4)");
            let sum: BigRational = (0..=i).map(|j| sign(j) * chosen(i, j) * raise(&ratio(i - j, m), n)).sum();
            assert_eq!(*probability, chosen(m, i) * sum, "Grandi (6)");
        }
    }
}

#[test]
fn raw_moments_three_ways() {
    for (m, n) in THROWS {
        let law = balls(m, n);
        let scale = raise(&whole(m), n);
        for r in 1..=5 {
            let by_law: BigRational = (1..=m).map(|i| stirling_at(n, i) * falling(&whole(m), i) * raise(&whole(i), r)).sum();
            assert_eq!(by_law / &scale, raw(&law, r), "Burns (5)");
            let factorial_moment = |i| expectation(&law, |x| falling(&whole(x), i));
            assert_eq!((1..=r).map(|i| stirling_at(r, i) * factorial_moment(i)).sum::<BigRational>(), raw(&law, r), "Burns (6)");
            let difference = |i| if i > m { BigRational::zero() } else { backward(i, m, |x| raise(&whole(x), n)) };
            let by_difference: BigRational = (1..=r).map(|i| stirling_at(r, i) * falling(&whole(m), i) * difference(i)).sum();
            assert_eq!(by_difference / &scale, raw(&law, r), "Burns (9)");
            if m > 1 {
                let smaller = raise(&ratio(m - 1, m), n) * raw(&balls(m - 1, n), r);
                assert_eq!(raw(&law, r), raw(&law, r + 1) / whole(m) + smaller, "Burns (13)");
            }
        }
    }
}

#[test]
fn differences_of_powers_and_binomials() {
    for (x, k, i) in [(7, 3, 2), (6, 4, 4), (9, 5, 1)] {
        assert_eq!(backward(i, x, |x| chosen(x, k)), chosen(x - i, k - i), "Burns (7)");
    }
    // Burns (11) holds for any z, because the difference is that of a polynomial.
    for (z, n, r) in [(ratio(7, 2), 3, 2), (-ratio(4, 3), 4, 3), (whole(2), 5, 1), (ratio(1, 5), 2, 0)] {
        let difference = |j: u64| (0..=j).map(|l| sign(l) * chosen(j, l) * raise(&(&z - whole(l)), n)).sum::<BigRational>();
        let left: BigRational = (1..=n).map(|i| stirling_at(n, i) * raise(&whole(i), r) * falling(&z, i)).sum();
        let right: BigRational = (0..=r).map(|j| stirling_at(r, j) * difference(j) * falling(&z, j)).sum();
        assert_eq!(left, right, "Burns (11)");
    }
}

#[test]
fn binomial_moments_of_single_balls() {
    for (m, n) in THROWS {
        for r in 0..=m {
            let truth = binomial(&balls(m, n), r) / chosen(m, r);
            assert_eq!(truth, backward(r, m, |x| raise(&ratio(x, m), n)), "Burns (8), (10)");
        }
    }
}

#[test]
fn committees_of_one_size() {
    for (m, n, k) in BATCHES {
        let law = batches(m, n, k);
        let share = |x| raise(&(chosen(x, k) / chosen(m, k)), n);
        for i in 0..=m {
            assert_eq!(law[i as usize], chosen(m, i) * forward(i, share), "Burns (14), Grandi (12)");
            assert_eq!(binomial(&law, i), chosen(m, i) * backward(i, m, share), "Burns (15)");
        }
        assert_eq!(mean(&law), whole(m) * (one() - raise(&ratio(m - k, m), n)), "Burns (16), (42), Grandi (13)");
    }
}

/// Test cases: numbers of bits, and the sizes of the committees.
fn unions() -> Vec<(u64, Vec<u64>)> {
    vec![(4, vec![1, 3]), (5, vec![2, 2, 3]), (6, vec![1, 1, 4, 4]), (6, vec![5])]
}

#[test]
fn committees_of_several_sizes() {
    for (m, sizes) in unions() {
        let law = union_law(m, &sizes);
        for i in 0..=m {
            let sum: BigRational = (0..=i).map(|j| sign(i - j) * chosen(i, j) * ways(j, &sizes)).sum();
            assert_eq!(law[i as usize], chosen(m, i) * sum / ways(m, &sizes), "Burns (17), (18), (20)");
            assert_eq!(binomial(&law, i), chosen(m, i) * backward(i, m, |x| ways(x, &sizes)) / ways(m, &sizes), "Burns (19), (21)");
        }
        // A factorial series. Its coefficients do not depend on m, and its sum is the function.
        let coefficient = |i| forward(i, |x| ways(x, &sizes)) / factorial(i);
        assert_eq!((0..=m).map(|i| falling(&whole(m), i) * coefficient(i)).sum::<BigRational>(), ways(m, &sizes), "Burns (27)");
        assert!((0..=m).all(|i| !coefficient(i).is_negative()));
    }
}

#[test]
fn hypergeometric_forms_of_a_union() {
    for (m, sizes) in unions() {
        let law = union_law(m, &sizes);
        let less = |from: u64| sizes.iter().map(|&k| k as i64 - from as i64).collect::<Vec<_>>();
        let lower = |from: u64, count| vec![-(from as i64); count];
        let most = *sizes.iter().max().expect("not empty");
        for i in 0..=m {
            if i >= most {
                let sum = hypergeometric(&less(i), &lower(i, sizes.len() - 1), &one(), i - most);
                assert_eq!(law[i as usize], chosen(m, i) * ways(i, &sizes) / ways(m, &sizes) * sum, "Burns (24)");
            } else {
                assert!(law[i as usize].is_zero());
            }
            let upper = [vec![-(i as i64)], less(m)].concat();
            assert_eq!(binomial(&law, i), chosen(m, i) * hypergeometric(&upper, &lower(m, sizes.len()), &one(), i), "Burns (25)");
        }
        for z in [ratio(1, 2), whole(3)] {
            let sum = hypergeometric(&less(m), &lower(m, sizes.len() - 1), &(one() - one() / &z), m - most);
            assert_eq!(raise(&z, m) * sum, expectation(&law, |x| raise(&z, x)), "Burns (26)");
        }
    }
}

#[test]
fn single_committees_in_common() {
    for (m, sizes) in [(5, vec![2, 3]), (6, vec![3, 4, 5]), (5, vec![1, 4, 4, 2]), (4, vec![4, 4])] {
        let c = sizes.len() as u64;
        let law = intersection_law(m, &sizes.iter().map(|&size| vec![size]).collect::<Vec<_>>());
        let least = *sizes.iter().min().expect("not empty");
        let outside: Vec<u64> = sizes.iter().map(|&size| m - size).collect();
        let moment = |r| ways_below(&sizes, r) / raise(&chosen(m, r), c - 1);
        for i in 0..=m {
            let probability = &law[i as usize];
            assert_eq!(*probability, chosen(m, i) * forward(m - i, |x| ways(x, &outside)) / ways(m, &outside), "Burns (30)");
            if i <= least {
                let upper: Vec<i64> = sizes.iter().map(|&k| i as i64 - k as i64).collect();
                let lower = vec![i as i64 - m as i64; sizes.len() - 1];
                assert_eq!(*probability, moment(i) * hypergeometric(&upper, &lower, &one(), least - i), "Burns (31)");
            }
            assert_eq!(binomial(&law, i), moment(i), "Burns (32)");
            if i > 0 {
                // The coefficients of t^i on both sides of the differential equation.
                let left = whole(i) * raise(&(whole(i) - whole(m + 1)), c - 1) * moment(i);
                let right: BigRational = sizes.iter().map(|&k| whole(i - 1) - whole(k)).product();
                assert_eq!(left, -right * moment(i - 1), "Burns (35)");
            }
        }
        for z in [ratio(1, 3), whole(2)] {
            let upper: Vec<i64> = sizes.iter().map(|&k| -(k as i64)).collect();
            let sum = hypergeometric(&upper, &vec![-(m as i64); sizes.len() - 1], &(one() - &z), least);
            assert_eq!(sum, expectation(&law, |x| raise(&z, x)), "Burns (33)");
        }
    }
}

/// The product of `C(k, r)` over the committees.
fn ways_below(sizes: &[u64], r: u64) -> BigRational {
    sizes.iter().map(|&size| chosen(size, r)).product()
}

#[test]
fn departments_in_common() {
    for (m, departments) in [
        (4, vec![vec![1, 1], vec![1, 1, 1]]),
        (5, vec![vec![2, 2], vec![3]]),
        (5, vec![vec![1, 3], vec![2, 2], vec![4, 1]]),
        (3, vec![vec![1, 2]]),
    ] {
        let law = intersection_law(m, &departments);
        let share =
            |order| departments.iter().map(|sizes| backward(order, m, |x| ways(x, sizes)) / ways(m, sizes)).product::<BigRational>();
        for i in 0..=m {
            assert_eq!(law[i as usize], chosen(m, i) * forward(m - i, |y| share(m - y)), "Burns (37), (40)");
            assert_eq!(binomial(&law, i), chosen(m, i) * share(i), "Burns (39), (41)");
        }
    }
    let (m, n) = (5, [3, 4]);
    let law = intersection_law(m, &n.map(|n| vec![1; n as usize]));
    for r in 0..=m {
        let differences: BigRational = n.iter().map(|&n| backward(r, m, |x| raise(&whole(x), n))).product();
        let factorial_moment = expectation(&law, |x| falling(&whole(x), r));
        assert_eq!(factorial_moment, falling(&whole(m), r) * differences / raise(&whole(m), n[0] + n[1]), "Burns (36)");
    }
}

#[test]
fn mean_and_variance_of_single_balls() {
    for (m, n) in THROWS {
        let kept = |away, power| raise(&ratio(m - away, m), power);
        assert_eq!(mean(&balls(m, n)), whole(m) * (one() - kept(1, n)), "Burns (44), Grandi (1), (7), Lehr");
        let (first, second) = (kept(1, n) - kept(2, n), kept(1, 2 * n) - kept(2, n));
        assert_eq!(variance(&balls(m, n)), whole(m) * first - whole(m * m) * second, "Burns (45)");
        let sum: BigRational = (0..n).map(|i| kept(1, i)).sum();
        assert_eq!(mean(&balls(m, n)), sum, "Lehr, as a sum");
        let step = ratio(m - 1, m) * mean(&balls(m, n)) + one();
        assert_eq!(mean(&balls(m, n + 1)), step, "Lehr, as a recursion");
    }
}

#[test]
fn standard_rate_every_way() {
    for (m, n, k) in [(4u64, 2u64, 2u64), (5, 1, 3), (6, 2, 3), (3, 3, 2)] {
        let law = balls(m, n * k);
        let truth = oracle::rate(Variant::Standard, m, n, k as u32);
        assert_eq!(expectation(&law, |x| raise(&ratio(x, m), k)), truth, "Burns (52), (53), Grandi (2), (3)");
        let by_law: BigRational = (1..=m).map(|i| stirling_at(n * k, i) * falling(&whole(m), i) * raise(&whole(i), k)).sum();
        assert_eq!(by_law / raise(&whole(m), (n + 1) * k), truth, "Burns (54)");
        let inner = |x: u64| (0..=x).map(|j| sign(j) * chosen(x, j) * raise(&ratio(x - j, m), n * k)).sum::<BigRational>();
        let double: BigRational = (0..=m).map(|x| raise(&ratio(x, m), k) * chosen(m, x) * inner(x)).sum();
        assert_eq!(double, truth, "Grandi (9)");
    }
    for (m, n, k) in (1..=7).flat_map(|m| (1..=3).flat_map(move |n| (1..=9).map(move |k| (m, n, k)))) {
        assert_eq!(standard_sum(m, n, k), oracle::rate(Variant::Standard, m, n, k as u32), "Burns (56)");
    }
}

#[test]
fn classic_rate_every_way() {
    for (m, n, k) in BATCHES {
        let law = batches(m, n, k);
        let truth = oracle::rate(Variant::Classic, m, n, k as u32);
        assert_eq!(expectation(&law, |x| chosen(x, k) / chosen(m, k)), truth, "Burns (59), Grandi (15)");
        assert_eq!(expectation(&law, |x| falling(&whole(x), k)) / falling(&whole(m), k), truth, "Grandi (17)");
        let share = |x| raise(&(chosen(x, k) / chosen(m, k)), n);
        let inner = |x: u64| (0..=x).map(|j| sign(j) * chosen(x, j) * share(x - j)).sum::<BigRational>();
        assert_eq!((0..=m).map(|x| chosen(m, x) * chosen(x, k) / chosen(m, k) * inner(x)).sum::<BigRational>(), truth, "Grandi (16)");
        assert_eq!(backward(k, m, share), truth, "Burns (61)");
        let (upper, lower) = ([vec![-(k as i64)], vec![k as i64 - m as i64; n as usize]].concat(), vec![-(m as i64); n as usize]);
        assert_eq!(hypergeometric(&upper, &lower, &one(), k), truth, "Burns (62)");
    }
    for (m, n, k) in (1..=7).flat_map(|m| (1..=3).flat_map(move |n| (1..=m).map(move |k| (m, n, k)))) {
        assert_eq!(classic_sum(m, n, k), oracle::rate(Variant::Classic, m, n, k as u32), "Burns (60), Grandi (18)");
    }
}

/// Tests definition (51) by enumerating all queries for a given set of bits: a false positive is a
/// query all of whose probes hit set bits.
#[test]
fn a_false_positive_is_all_probes_set() {
    let (m, k, set) = (5u64, 3u32, 0b1_0110u64);
    let hit = |position: u64| set >> position & 1 == 1;
    let queries = (0..m.pow(k)).filter(|query| (0..k).all(|i| hit(query / m.pow(i) % m))).count() as u64;
    assert_eq!(ratio(queries, m.pow(k)), raise(&ratio(3, 5), 3), "Burns (51), (52)");
    let committees = (0..1u64 << m).filter(|query| query.count_ones() == 2 && query & set == *query).count() as u64;
    assert_eq!(ratio(committees, 10), chosen(3, 2) / chosen(5, 2), "the classic filter, above (59)");
}

#[test]
fn approximations_are_in_order_below_the_standard_rate() {
    for (m, n, k) in [(8, 3, 2), (20, 4, 3), (64, 4, 11), (100, 20, 3)] {
        let kept = raise(&ratio(m - 1, m), n * k);
        let power_of_mean = raise(&(one() - &kept), k);
        let textbook = raise(&(one() - exp_minus(&ratio(n * k, m))), k);
        assert!(textbook <= power_of_mean && power_of_mean < standard_sum(m, n, k), "Burns (57), (58), Grandi (4), (5), Lehr");
    }
    // (66) is a limit: for the same load and probes, both rates approach the textbook rate as the
    // filter grows.
    let misses = [64u64, 256, 1_024].map(|m| {
        let textbook = raise(&(one() - exp_minus(&ratio(5, 8))), 5);
        [standard_sum(m, m / 8, 5), classic_sum(m, m / 8, 5)].map(|rate| (&textbook / rate - one()).abs())
    });
    assert!((0..2).all(|filter| misses.windows(2).all(|pair| pair[1][filter] < pair[0][filter])), "Burns (66)");
    assert!(misses[2].iter().all(|miss| *miss < ratio(1, 100)), "Burns (66)");
}

/// Tests that half of the bits are set with (m/n) ln 2 probes, so that the textbook rate is 2^-k,
/// and that (68) solves this for m and n.
#[test]
fn textbook_sizes() {
    let ln2 = oracle::ln(&whole(2));
    assert!((exp_minus(&ln2) - ratio(1, 2)).abs() < ratio(1, 1 << 60));
    for (items, rate, text) in [(1_000u64, ratio(1, 100), "0.01"), (37, ratio(1, 1 << 20), "1/1048576")] {
        let asked = Target::new().items(items).rate(text.parse().expect("a rate")).mean();
        let textbook = Plan::new(&asked).expect("a plan").textbook().expect("cheap").bits;
        let formula = -whole(items) * oracle::ln(&rate) / (&ln2 * &ln2);
        assert_eq!(whole(textbook), formula.ceil(), "Burns (68)");
        assert!((-formula * &ln2 * &ln2 / whole(items) - oracle::ln(&rate)).abs() < ratio(1, 1 << 60));
    }
}

#[test]
fn efficiency_by_moments() {
    let log2 = |x: &BigRational| oracle::ln(x) / oracle::ln(&whole(2));
    for (m, n, k) in [(5u64, 2u64, 2u64), (6, 2, 3), (6, 3, 1)] {
        let per_bit = ratio(n, m);
        let standard = &per_bit * whole(k) * log2(&whole(m)) - &per_bit * log2(&raw(&balls(m, n * k), k));
        let classic = &per_bit * log2(&chosen(m, k)) - &per_bit * log2(&binomial(&batches(m, n, k), k));
        for (variant, truth) in [(Variant::Standard, standard), (Variant::Classic, classic)] {
            let ours = of_f64(efficiency(variant, m, n, k as u32).expect("in range"));
            assert!((ours - &truth).abs() < ratio(1, 1 << 49), "Burns (69), (70): {variant}");
        }
    }
}

/// Tests that no filter with whole numbers of items and probes exceeds the efficiency (74). A
/// half-full filter with one probe reaches this limit, but its number of items is not whole.
#[test]
fn standard_filters_stay_below_their_limit() {
    for m in 2..=12u64 {
        // In units of 1/m ln 2: (74) is (ln 2)^2 / ln(m/(m-1)), the efficiency is -n ln f.
        let limit = raise(&oracle::ln(&whole(2)), 2) / oracle::ln(&ratio(m, m - 1));
        let (items, value) = standard_limit(m).expect("in range");
        assert!((of_f64(value * m as f64) * oracle::ln(&whole(2)) - &limit).abs() < ratio(1, 1 << 45), "m={m}");
        assert!((of_f64(items) - oracle::ln(&whole(2)) / oracle::ln(&ratio(m, m - 1))).abs() < ratio(1, 1 << 45), "m={m}");
        assert!(max_efficiency(Variant::Standard, m).expect("in range").value <= value * (1.0 + 1e-12), "m={m}");
        for (n, k) in (1..=3 * m).flat_map(|n| (1..=6).map(move |k| (n, k))) {
            let reached = -oracle::ln(&standard_sum(m, n, k)) * whole(n);
            // With two bits and one item, the filter is half full, and both sides are equal except
            // for the last digits of the logarithms.
            assert!(reached < &limit + ratio(1, 1 << 60) && (reached < limit || (m, n, k) == (2, 1, 1)), "m={m} n={n} k={k}");
        }
    }
}

/// Tests that the textbook rates of k and k + 1 probes are equal where z = e^x solves z^(k+1) = z +
/// 1, and that their order changes at this root.
#[test]
fn valleys_lie_at_the_trinomial_root() {
    for k in 1..=6u64 {
        let above = |z: &BigRational| raise(z, k + 1) > z + one();
        let (mut low, mut high) = (one(), whole(2));
        for _ in 0..60 {
            let middle = (&low + &high) / whole(2);
            if above(&middle) { high = middle } else { low = middle }
        }
        let gap = |z: &BigRational| raise(&(one() - raise(z, k).recip()), k) - raise(&(one() - raise(z, k + 1).recip()), k + 1);
        assert!(gap(&low).is_negative() != gap(&high).is_negative(), "Burns (78)");
        // The approximations of (79), which start at 1, rise to the root and not above it.
        let mut nested = vec![1.0f64];
        for _ in 0..80 {
            nested.push((1.0 + nested[nested.len() - 1]).powf(1.0 / (k + 1) as f64));
        }
        assert!(nested.windows(2).all(|pair| pair[1] >= pair[0] * (1.0 - 1e-15)), "Burns (79)");
        let (deep, root) = (nested[80], of_f64(crossover(k as u32).expect("in range").exp()));
        assert!((of_f64(deep) - &low).abs() < ratio(1, 1 << 48) && (root - &low).abs() < ratio(1, 1 << 48), "Burns (79): k={k}");
        if k == 1 {
            assert!((low * whole(2) - one()).pow(2) < whole(5) && (high * whole(2) - one()).pow(2) > whole(5), "the golden ratio");
        }
    }
}

/// Tests the probability from section 3 that k throws into m bits hit different bits.
#[test]
fn collision_free_code_words() {
    for (m, k) in [(4u64, 2u64), (5, 3), (6, 6)] {
        let free = falling(&whole(m), k) / raise(&whole(m), k);
        assert_eq!(balls(m, k)[k as usize], free);
        oracle::hold(&bounds::collision_free(m, k as u32).expect("in range"), &free, &format!("m={m} k={k}"));
        assert_eq!(rising(&whole(m - k + 1), k), falling(&whole(m), k));
        assert_eq!(choose_of(&whole(m), k) * factorial(k) / raise(&whole(m), k), free);
    }
}
