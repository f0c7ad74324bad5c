//! Exact laws computed by the occupancy chain, and assertions that a bracket agrees with them. This
//! module shares no formula with the crate: rates are computed from the number of set bits, by sums
//! of positive terms, in whole numbers of any size.

use super::{choose, of_f64};
use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use truebloom_math::{Fpr, Method, Variant};

/// For each number of set bits, the number of equally likely hash outcomes that lead to it.
pub struct Occupancy {
    pub ways: Vec<BigInt>,
    pub outcomes: BigInt,
}

impl Occupancy {
    /// The mean `E[weight(X)]` of a weight that is given as a fraction of `out_of`.
    pub fn mean(&self, weight: impl Fn(u64) -> BigInt, out_of: BigInt) -> BigRational {
        let sum: BigInt = self.ways.iter().enumerate().map(|(ones, ways)| ways * weight(ones as u64)).sum();
        BigRational::new(sum, &self.outcomes * out_of)
    }

    pub fn moments(&self) -> (BigRational, BigRational) {
        let first = self.mean(BigInt::from, BigInt::one());
        let second = self.mean(|ones| BigInt::from(ones).pow(2), BigInt::one());
        (first.clone(), second - &first * &first)
    }
}

/// The occupancy after `steps` batches of `batch` distinct bits out of `bits`. Single throws are
/// batches of one.
pub fn occupancy(bits: u64, steps: u64, batch: u64) -> Occupancy {
    let mut ways = vec![BigInt::zero(); bits as usize + 1];
    ways[0] = BigInt::one();
    for _ in 0..steps {
        let mut next = vec![BigInt::zero(); ways.len()];
        for (ones, count) in ways.iter().enumerate().filter(|(_, count)| !count.is_zero()) {
            let ones = ones as u64;
            for new in 0..=batch.min(bits - ones) {
                next[(ones + new) as usize] += count * choose(bits - ones, new) * choose(ones, batch - new);
            }
        }
        ways = next;
    }
    Occupancy { ways, outcomes: choose(bits, batch).pow(steps as u32) }
}

/// The sizes of the slices: the first `bits mod probes` are one bit longer.
pub fn slices(bits: u64, probes: u32) -> Vec<u64> {
    let probes = u64::from(probes);
    (0..probes).map(|slice| bits / probes + u64::from(slice < bits % probes)).collect()
}

/// The bits, as masks, that one key sets under each of the equally likely hashes.
pub fn hashes(variant: Variant, bits: u64, probes: u32) -> Vec<u32> {
    let choices: Vec<Vec<u64>> = match variant {
        Variant::Standard => vec![(0..bits).collect(); probes as usize],
        Variant::Classic => return (0..1u32 << bits).filter(|mask| mask.count_ones() == probes).collect(),
        Variant::Partitioned => {
            let mut start = 0;
            slices(bits, probes)
                .into_iter()
                .map(|size| {
                    start += size;
                    (start - size..start).collect()
                })
                .collect()
        }
    };
    choices.iter().fold(vec![0], |masks, slice| masks.iter().flat_map(|mask| slice.iter().map(move |bit| mask | 1 << bit)).collect())
}

/// The expected rate as an exact fraction.
pub fn rate(variant: Variant, bits: u64, items: u64, probes: u32) -> BigRational {
    let k = u64::from(probes);
    match variant {
        Variant::Standard => occupancy(bits, items * k, 1).mean(|ones| BigInt::from(ones).pow(probes), BigInt::from(bits).pow(probes)),
        Variant::Classic => occupancy(bits, items, k).mean(|ones| choose(ones, k), choose(bits, k)),
        Variant::Partitioned => {
            slices(bits, probes).into_iter().map(|size| occupancy(size, items, 1).mean(BigInt::from, BigInt::from(size))).product()
        }
    }
}

/// The mean and the variance of the number of set bits, as exact fractions.
pub fn moments(variant: Variant, bits: u64, items: u64, probes: u32) -> (BigRational, BigRational) {
    let k = u64::from(probes);
    match variant {
        Variant::Standard => occupancy(bits, items * k, 1).moments(),
        Variant::Classic => occupancy(bits, items, k).moments(),
        Variant::Partitioned => slices(bits, probes)
            .into_iter()
            .map(|size| occupancy(size, items, 1).moments())
            .fold((BigRational::zero(), BigRational::zero()), |(mean, variance), (m, v)| (mean + m, variance + v)),
    }
}

/// Asserts that the bracket encloses the fraction and is as narrow as promised: its ends are at
/// most two `f64` apart, and the logarithms within 1e-12.
pub fn hold(fpr: &Fpr, truth: &BigRational, context: &str) {
    hold_between(fpr, truth, truth, context);
}

/// Like [`hold`], for a true value that is known to lie between two fractions.
pub fn hold_between(fpr: &Fpr, low: &BigRational, high: &BigRational, context: &str) {
    assert_eq!(fpr.method, Method::Exact, "{context}");
    assert!(of_f64(fpr.lower) <= *high && *low <= of_f64(fpr.upper), "{fpr:?} misses the rate of {context}");
    assert!(fpr.upper.to_bits() - fpr.lower.to_bits() <= 2, "{fpr:?} is too wide for {context}");
    assert!(
        fpr.lower <= fpr.value && fpr.value <= fpr.upper && fpr.ln_lower <= fpr.ln && fpr.ln <= fpr.ln_upper,
        "{fpr:?} is out of order for {context}"
    );
    if low.is_zero() {
        assert_eq!(fpr.ln_lower, f64::NEG_INFINITY, "{context}");
        return;
    }
    // These logarithms are accurate to 2^-150, far below the last digit of an f64.
    let hair = BigRational::new(BigInt::one(), BigInt::one() << 150);
    assert!(of_f64(fpr.ln_lower) <= ln(high) + &hair, "{fpr:?} misses the logarithm of {context} from above");
    assert!(ln(low) - &hair <= of_f64(fpr.ln_upper), "{fpr:?} misses the logarithm of {context} from below");
    assert!(fpr.ln_upper - fpr.ln_lower <= 1e-12 * (fpr.ln.abs() / 1000.0).max(1.0), "{fpr:?} is too wide for {context}");
}

const LN_DIGITS: u64 = 256;

/// The natural logarithm of a positive fraction, with an error below 2^-150 for all fractions that
/// occur in these tests.
pub fn ln(x: &BigRational) -> BigRational {
    assert!(x.is_positive());
    // x = r 2^e with r in (1/2, 2); ln r = 2 artanh((r - 1) / (r + 1)).
    let e = x.numer().bits() as i64 - x.denom().bits() as i64;
    let (mut top, mut bottom) = (x.numer().clone(), x.denom().clone());
    if e >= 0 {
        bottom <<= e
    } else {
        top <<= -e
    };
    let twice_artanh = |top: BigInt, bottom: BigInt| {
        let z = ((&top - &bottom) << LN_DIGITS) / (top + bottom);
        let square = (&z * &z) >> LN_DIGITS;
        let (mut sum, mut term) = (BigInt::zero(), z);
        for odd in (1u32..).step_by(2).take_while(|odd| *odd < 400) {
            sum += &term / odd;
            term = (&term * &square) >> LN_DIGITS;
        }
        sum * 2
    };
    let sum = twice_artanh(top, bottom) + twice_artanh(2.into(), 1.into()) * e;
    BigRational::new_raw(sum, BigInt::one() << LN_DIGITS)
}

/// The fraction for an integer in units of `2^-digits`.
pub fn units(count: BigInt, digits: u64) -> BigRational {
    BigRational::new_raw(count, BigInt::one() << digits)
}

pub fn signed(x: BigUint) -> BigInt {
    BigInt::from_biguint(Sign::Plus, x)
}

/// Random numbers from a fixed algorithm: the same cases in every run on every machine (Steele, Lea
/// and Flood 2014).
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniformly distributed number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A number from 1 to `high` whose logarithm is uniformly distributed.
    pub fn size(&mut self, high: f64) -> u64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((high.ln() * share).exp() as u64).max(1)
    }
}
