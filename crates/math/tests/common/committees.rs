//! The laws of the papers, computed by enumerating sets of bits in exact fractions, and the signs
//! and differences that the papers use in their formulas.

use super::{choose, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

pub fn whole(x: impl Into<BigInt>) -> BigRational {
    BigRational::from(x.into())
}

/// `(-1)^i`.
pub fn sign(i: u64) -> BigRational {
    if i.is_multiple_of(2) { BigRational::one() } else { -BigRational::one() }
}

pub fn raise(base: &BigRational, exponent: u64) -> BigRational {
    num_traits::pow(base.clone(), exponent as usize)
}

pub fn chosen(n: u64, k: u64) -> BigRational {
    whole(choose(n, k))
}

/// The probability of every set of bits (as a mask) after committees of these sizes. All committees
/// of every size are enumerated.
pub fn covered_sets(bits: u64, sizes: &[u64]) -> Vec<BigRational> {
    let mut sets = vec![BigRational::zero(); 1 << bits];
    sets[0] = BigRational::one();
    for &size in sizes {
        let committees: Vec<usize> = (0..sets.len()).filter(|set| u64::from(set.count_ones()) == size).collect();
        let share = ratio(1, committees.len() as u64);
        let mut next = vec![BigRational::zero(); sets.len()];
        for (set, weight) in sets.iter().enumerate().filter(|(_, weight)| !weight.is_zero()) {
            for committee in &committees {
                next[set | committee] += weight * &share;
            }
        }
        sets = next;
    }
    sets
}

/// The law of the size of a random set.
pub fn sizes_of(bits: u64, sets: &[BigRational]) -> Vec<BigRational> {
    let mut law = vec![BigRational::zero(); bits as usize + 1];
    for (set, weight) in sets.iter().enumerate() {
        law[set.count_ones() as usize] += weight;
    }
    law
}

/// The law of the number of bits set by committees of these sizes.
pub fn union_law(bits: u64, sizes: &[u64]) -> Vec<BigRational> {
    sizes_of(bits, &covered_sets(bits, sizes))
}

/// The law of the number of bits set by every department.
pub fn intersection_law(bits: u64, departments: &[Vec<u64>]) -> Vec<BigRational> {
    let mut common = vec![BigRational::zero(); 1 << bits];
    common[(1 << bits) - 1] = BigRational::one();
    for sizes in departments {
        let department = covered_sets(bits, sizes);
        let mut next = vec![BigRational::zero(); common.len()];
        for (left, a) in common.iter().enumerate().filter(|(_, a)| !a.is_zero()) {
            for (right, b) in department.iter().enumerate().filter(|(_, b)| !b.is_zero()) {
                next[left & right] += a * b;
            }
        }
        common = next;
    }
    sizes_of(bits, &common)
}

/// The law of `throws` single balls.
pub fn balls(bits: u64, throws: u64) -> Vec<BigRational> {
    union_law(bits, &vec![1; throws as usize])
}

/// The law of `items` committees of `size` bits.
pub fn batches(bits: u64, items: u64, size: u64) -> Vec<BigRational> {
    union_law(bits, &vec![size; items as usize])
}

pub fn expectation(law: &[BigRational], value: impl Fn(u64) -> BigRational) -> BigRational {
    law.iter().enumerate().map(|(ones, weight)| weight * value(ones as u64)).sum()
}

pub fn mean(law: &[BigRational]) -> BigRational {
    expectation(law, whole)
}

pub fn variance(law: &[BigRational]) -> BigRational {
    let mean = mean(law);
    expectation(law, |ones| raise(&(whole(ones) - &mean), 2))
}

/// The backward difference of this order, at `at`.
pub fn backward(order: u64, at: u64, f: impl Fn(u64) -> BigRational) -> BigRational {
    (0..=order).map(|j| sign(j) * chosen(order, j) * f(at - j)).sum()
}

/// The forward difference of this order, at 0.
pub fn forward(order: u64, f: impl Fn(u64) -> BigRational) -> BigRational {
    backward(order, order, f)
}

/// The product of `C(x, k)` over the committees.
pub fn ways(x: u64, sizes: &[u64]) -> BigRational {
    sizes.iter().map(|&size| chosen(x, size)).product()
}

/// `x (x-1) ... (x-r+1)`.
pub fn falling(x: &BigRational, r: u64) -> BigRational {
    (0..r).map(|i| x - whole(i)).product()
}

/// `x (x+1) ... (x+r-1)`.
pub fn rising(x: &BigRational, r: u64) -> BigRational {
    (0..r).map(|i| x + whole(i)).product()
}

pub fn factorial(r: u64) -> BigRational {
    whole((1..=r).map(BigInt::from).product::<BigInt>())
}

/// The binomial coefficient of any fraction `x`.
pub fn choose_of(x: &BigRational, r: u64) -> BigRational {
    falling(x, r) / factorial(r)
}

/// Stirling numbers of the second kind `S(n, 0..=n)`.
pub fn stirling(n: u64) -> Vec<BigInt> {
    let mut row = vec![BigInt::one()];
    for _ in 0..n {
        let mut next = vec![BigInt::zero(); row.len() + 1];
        for (i, count) in row.iter().enumerate() {
            next[i] += count * i;
            next[i + 1] += count;
        }
        row = next;
    }
    row
}

pub fn stirling_at(n: u64, i: u64) -> BigRational {
    stirling(n).get(i as usize).map_or_else(BigRational::zero, |count| whole(count.clone()))
}

/// The generalized hypergeometric sum, which ends at `last` because of its upper parameters.
pub fn hypergeometric(upper: &[i64], lower: &[i64], at: &BigRational, last: u64) -> BigRational {
    let product = |parameters: &[i64], j| parameters.iter().map(|&a| rising(&whole(a), j)).product::<BigRational>();
    (0..=last).map(|j| product(upper, j) / product(lower, j) * raise(at, j) / factorial(j)).sum()
}

/// The standard rate by the corrected sums of the papers (Burns 56), for sizes that are too large
/// for the chain. `tests/formulas.rs` compares this function with the chain.
pub fn standard_sum(bits: u64, items: u64, probes: u64) -> BigRational {
    let throws = (items * probes) as u32;
    let mut differences: Vec<BigInt> = (0..=probes).map(|j| BigInt::from(bits.saturating_sub(j)).pow(throws)).collect();
    let mut falling = BigInt::one();
    let mut sum = BigInt::zero();
    for (i, count) in stirling(probes).into_iter().enumerate() {
        if i as u64 > bits {
            break;
        }
        sum += count * &falling * &differences[0];
        falling *= bits - i as u64;
        differences = differences.windows(2).map(|pair| &pair[0] - &pair[1]).collect();
    }
    BigRational::new(sum, BigInt::from(bits).pow(throws + probes as u32))
}

/// The classic rate by Burns (60).
pub fn classic_sum(bits: u64, items: u64, probes: u64) -> BigRational {
    let term = |j| choose(probes, j) * choose(bits - j, probes).pow(items as u32);
    let sum: BigInt = (0..=probes).map(|j| if j % 2 == 0 { term(j) } else { -term(j) }).sum();
    BigRational::new(sum, choose(bits, probes).pow(items as u32))
}

/// The number of bits that are kept of fractions, which would otherwise grow too long. This number
/// is far more than any printed number needs.
const DIGITS: u64 = 400;

/// Rounded down to 2^-400.
pub fn shortened(x: &BigRational) -> BigRational {
    let units = BigRational::new_raw(x.numer() << DIGITS, x.denom().clone()).floor();
    BigRational::new_raw(units.to_integer(), BigInt::one() << DIGITS)
}

/// Computes `x^exponent`, with each product rounded down to 2^-400.
pub fn short_power(x: &BigRational, exponent: u64) -> BigRational {
    let (mut power, mut square, mut left) = (BigRational::one(), shortened(x), exponent);
    while left > 0 {
        if left % 2 == 1 {
            power = shortened(&(power * &square));
        }
        square = shortened(&(&square * &square));
        left /= 2;
    }
    power
}

/// Computes `e^-x` for x from 0 to 8, with an error below 2^-390.
pub fn exp_minus(x: &BigRational) -> BigRational {
    let (mut sum, mut term) = (BigRational::one(), BigRational::one());
    for i in 1..200u32 {
        term = shortened(&(-term * x / whole(i)));
        sum += &term;
    }
    sum
}

/// Whether `x` rounds to `printed`.
pub fn rounds_to(x: &BigRational, printed: &str) -> bool {
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i64);
    let unit = super::fraction(&format!("1e{}", exponent.parse::<i64>().expect("exponent") - decimals));
    (x - super::fraction(printed)).abs() * whole(2) <= unit
}
