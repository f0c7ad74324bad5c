//! Computes the rates of large filters by an independent method: the printed sums (Burns 56 and 60)
//! in whole numbers, with three times the digits that they cancel, and without regard to speed. The
//! crate regroups, halves and truncates during the computation. Here, coefficients are exact
//! integers, and each power is truncated once per squaring.

mod common;

use common::of_f64;
use common::oracle::{SplitMix64, hold_between, signed, units};
use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use truebloom_math::{Fpr, Variant};

/// Computes `x^exponent` in units of `2^-digits`. If `x` is too small by at most one unit, the
/// result is too small by at most `2 exponent` units, because each squaring doubles the error.
fn powered(x: &BigUint, mut exponent: u128, digits: u64) -> BigUint {
    let (mut result, mut square) = (BigUint::one() << digits, x.clone());
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = (&result * &square) >> digits;
        }
        square = (&square * &square) >> digits;
        exponent >>= 1;
    }
    result
}

/// Stirling numbers of the second kind S(k, 0..=k).
fn stirling(k: u64) -> Vec<BigUint> {
    let mut row = vec![BigUint::one()];
    for _ in 0..k {
        let mut next = vec![BigUint::zero(); row.len() + 1];
        for (d, count) in row.iter().enumerate() {
            next[d] += count * d;
            next[d + 1] += count;
        }
        row = next;
    }
    row
}

/// The exact probabilities that `k` draws hit `d` distinct positions, as counts out of `m^k`.
fn distinct_counts(m: u64, k: u64) -> Vec<BigUint> {
    let mut falling = BigUint::one();
    let mut counts = Vec::new();
    for (d, partitions) in stirling(k).into_iter().enumerate() {
        counts.push(partitions * &falling);
        falling *= m.saturating_sub(d as u64);
    }
    counts
}

/// The binomial coefficients of row `k`.
fn row(k: u64) -> Vec<BigUint> {
    (0..=k).scan(BigUint::one(), |c, j| Some(std::mem::replace(c, &*c * (k - j) / (j + 1)))).collect()
}

/// Encloses `sum over j of (-1)^j c_j g_j`, divided by `total`, in an interval. Each `c_j` is
/// exact, and each `g_j` is too low by at most `error` units.
fn alternating(c: &[BigUint], total: &BigUint, g: impl Fn(u64) -> BigUint, error: u128, digits: u64) -> (BigRational, BigRational) {
    let (mut sum, mut slack) = (BigInt::zero(), BigUint::zero());
    for (j, c) in c.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
        let term = signed(c * g(j as u64));
        sum += if j % 2 == 0 { term } else { -term };
        slack += c * error;
    }
    let slack = signed(slack);
    let total = signed(total << digits);
    (BigRational::new_raw(&sum - &slack, total.clone()), BigRational::new_raw(sum + slack, total))
}

fn standard(m: u64, n: u64, k: u64, digits: u64) -> (BigRational, BigRational) {
    let counts = distinct_counts(m, k);
    let mut c = vec![BigUint::zero(); k as usize + 1];
    for (d, count) in counts.iter().enumerate() {
        for (j, ways) in row(d as u64).into_iter().enumerate() {
            c[j] += ways * count;
        }
    }
    let throws = u128::from(n) * u128::from(k);
    let g = |j: u64| powered(&((BigUint::from(m.saturating_sub(j)) << digits) / m), throws, digits);
    alternating(&c, &BigUint::from(m).pow(k as u32), g, 2 * throws, digits)
}

fn classic(m: u64, n: u64, k: u64, digits: u64) -> (BigRational, BigRational) {
    let product = |from: u64, count: u64| (0..count).fold(BigUint::one(), |product, i| product * from.saturating_sub(i));
    let g = |j: u64| powered(&((product(m - k, j) << digits) / product(m, j)), n.into(), digits);
    alternating(&row(k), &BigUint::one(), g, 2 * u128::from(n), digits)
}

fn partitioned(m: u64, n: u64, k: u64, digits: u64) -> (BigRational, BigRational) {
    let one = BigUint::one() << digits;
    let (mut low, mut high) = (one.clone(), one.clone());
    for (size, count) in [(m / k + 1, m % k), (m / k, k - m % k)] {
        let empty = powered(&((BigUint::from(size - 1) << digits) / size), n.into(), digits);
        let full = &one - empty;
        let less = if full > BigUint::from(2 * u128::from(n)) { &full - 2 * u128::from(n) } else { BigUint::zero() };
        for _ in 0..count {
            low = (&low * &less) >> digits;
            high = ((&high * &full) >> digits) + 1u8;
        }
    }
    (units(signed(low), digits), units(signed(high), digits))
}

/// The number of binary digits to compute with: `times` the digits that are lost to cancellation
/// and to small results, estimated from the power of the mean.
fn digits(m: u64, n: u64, k: u64, times: f64) -> u64 {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    let small = -k * (-(-n * k / m).exp_m1()).log2();
    // For few items, the query's positions must all be among the few set bits.
    let few = if n < 4.0 { 2.0 * k } else { 0.0 };
    (times * (small + 2.0 * k + few + (n * k).log2() + 64.0)) as u64
}

#[derive(Default)]
struct Worst {
    width: f64,
    error: f64,
    count: u32,
}

impl Worst {
    fn hold(&mut self, variant: Variant, m: u64, n: u64, k: u64, times: f64) {
        let context = format!("{variant} m={m} n={n} k={k}");
        let digits = digits(m, n, k, times);
        let fpr: Fpr = variant.fpr(m, n, k as u32).unwrap_or_else(|error| panic!("{context}: {error}"));
        let (low, high) = match variant {
            Variant::Standard => standard(m, n, k, digits),
            Variant::Classic => classic(m, n, k, digits),
            Variant::Partitioned => partitioned(m, n, k, digits),
        };
        // The error of the second method must be far below the width of the bracket.
        assert!(low.is_positive() && (&high - &low) * (BigInt::one() << 90) < low, "the second route lacks digits for {context}");
        hold_between(&fpr, &low, &high, &context);
        self.count += 1;
        if fpr.lower >= f64::MIN_POSITIVE {
            self.width = self.width.max((fpr.upper - fpr.lower) / fpr.lower);
            self.error = self.error.max(((of_f64(fpr.value) - &low) / &low).abs().to_f64().expect("finite"));
        }
        // If the value underflows, only its logarithm is meaningful. `hold_between` has checked the
        // logarithm.
    }

    fn report(&self, name: &str) {
        println!(
            "{name}: {} rates enclosed, worst relative width {:e}, worst relative error of the value {:e}",
            self.count, self.width, self.error
        );
        assert!(self.count > 0 && self.width <= 1e-12 && self.error <= 1e-12);
    }
}

/// Tests random parameters in the whole promised range: up to 2^40 bits, 1e11 items and 64 probes.
#[test]
fn random_sizes() {
    for variant in Variant::ALL {
        let mut random = SplitMix64(2026);
        let mut worst = Worst::default();
        while worst.count < 250 {
            let (m, k) = (random.size(1e12).min(1 << 40), random.between(1, 64));
            // Half of the cases have ordinary loads. The loads of the other half range from nearly
            // empty to overfull.
            let load = (random.size(1e6) as f64).sqrt() / 200.0;
            let n = if random.next().is_multiple_of(2) {
                random.size(1e11)
            } else {
                ((m as f64 * load / k as f64) as u64).clamp(1, 100_000_000_000)
            };
            if variant == Variant::Standard || k <= m {
                worst.hold(variant, m, n, k, 3.0);
            }
        }
        worst.report(&format!("{variant}, random"));
    }
}

#[test]
fn few_items() {
    for variant in Variant::ALL {
        let mut random = SplitMix64(40);
        let mut worst = Worst::default();
        for n in 1..=40 {
            for _ in 0..2 {
                let k = random.between(1, 64);
                let m = random.size(1e12).clamp(k, 1 << 40);
                worst.hold(variant, m, n, k, 3.0);
            }
        }
        worst.report(&format!("{variant}, 1 to 40 items"));
    }
}

#[test]
fn corners() {
    let mut worst = Worst::default();
    for variant in Variant::ALL {
        for k in [1, 2, 63, 64] {
            for m in [64, 65, 127, 128, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 40) - 1, 1 << 40] {
                for n in [1, 2, 100_000_000_000] {
                    worst.hold(variant, m, n, k, 3.0);
                }
            }
        }
    }
    // More probes than bits.
    for (m, n, k) in [(2, 1, 64), (3, 7, 64), (7, 1, 8), (63, 2, 64), (30, 1_000_000, 64), (2, 100_000_000_000, 3)] {
        worst.hold(Variant::Standard, m, n, k, 3.0);
    }
    worst.report("corners");
}

/// Tests parameters beyond the promised range: the bracket must still be right and narrow.
#[test]
fn many_probes_and_bits() {
    let mut worst = Worst::default();
    for variant in Variant::ALL {
        for (m, n, k) in [
            (14_427, 100, 100),
            (1_443_000, 1_000, 1_000),
            (1_000, 1, 400),
            (1 << 50, 1 << 45, 300),
            (1 << 62, 1 << 57, 22),
            ((1 << 62) - 57, 1_000_003, 40),
            (1 << 62, 1, 3),
            (1 << 62, u64::MAX, 5),
            (2_000, 1_000_000, 1_000),
        ] {
            worst.hold(variant, m, n, k, 1.5);
        }
    }
    worst.report("many probes and bits");
}
