//! Arithmetic modulo m, for the laws of schemes with two hashes.

/// Returns the greatest common divisor. The result for 0 and x is x.
#[doc(hidden)]
#[must_use]
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The product `a b mod m`.
pub(crate) fn multiply(a: u64, b: u64, m: u64) -> u64 {
    // 64 bits are used if they are enough, because divisions of 128 bits take many times longer.
    match a.checked_mul(b) {
        Some(product) => product % m,
        None => (u128::from(a) * u128::from(b) % u128::from(m)) as u64,
    }
}

/// The sum `a + b mod m`. Both terms must be below `m`, which is at most 2^62.
pub(crate) fn add(a: u64, b: u64, m: u64) -> u64 {
    let sum = a + b;
    if sum >= m { sum - m } else { sum }
}

/// The difference `a - b mod m`. Both terms must be below `m`.
pub(crate) fn subtract(a: u64, b: u64, m: u64) -> u64 {
    if a >= b { a - b } else { a + (m - b) }
}

/// The remainder of a signed number in `0..m`.
pub(crate) fn reduce(a: i64, m: u64) -> u64 {
    i128::from(a).rem_euclid(i128::from(m)) as u64
}

/// The inverse of `a` modulo `m`, for coprime numbers. Modulo 1, it is 0.
fn inverse(a: u64, m: u64) -> u64 {
    let (mut r, mut next_r) = (i128::from(m), i128::from(a % m.max(1)));
    let (mut t, mut next_t) = (0i128, 1i128);
    while next_r > 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (t, next_t) = (next_t, t - quotient * next_t);
    }
    t.rem_euclid(i128::from(m)) as u64
}

/// All `x` with `a x = c mod m`: there are none, or `gcd(a, m)` of them at equal distances.
pub(crate) fn solutions(a: u64, c: u64, m: u64) -> impl Iterator<Item = u64> {
    Solver::new(a, m).solutions(c)
}

/// Solves `a x = c mod m` for many values of c.
#[derive(Clone, Copy)]
pub(crate) struct Solver {
    common: u64,
    step: u64,
    inverse: u64,
}

impl Solver {
    pub(crate) fn new(a: u64, m: u64) -> Solver {
        let common = gcd(a, m);
        Solver { common, step: m / common, inverse: inverse(a / common, m / common) }
    }

    pub(crate) fn solutions(self, c: u64) -> impl Iterator<Item = u64> {
        let Solver { common, step, inverse } = self;
        let count = if common == 1 || c.is_multiple_of(common) { common } else { 0 };
        let first = if count == 0 { 0 } else { multiply(c / common % step, inverse, step) };
        (0..count).map(move |i| first + i * step)
    }
}

/// Euler's totient function, by trial division up to the square root. It is fast for small numbers
/// and for numbers without large prime factors.
pub(crate) fn totient(n: u64) -> u64 {
    let (mut rest, mut phi, mut p) = (n, n, 2);
    while p * p <= rest {
        if rest.is_multiple_of(p) {
            phi -= phi / p;
            while rest.is_multiple_of(p) {
                rest /= p;
            }
        }
        p += 1;
    }
    if rest > 1 { phi - phi / rest } else { phi }
}

/// The divisors of `n` up to `limit`, in ascending order.
pub(crate) fn divisors_up_to(n: u64, limit: u64) -> impl Iterator<Item = u64> {
    (1..=limit.min(n)).filter(move |&r| n.is_multiple_of(r))
}

/// Returns the smallest prime that is at least `n`. The result is `None` if `n` is above
/// `2^64 - 59`, the largest prime that fits in 64 bits.
///
/// ```
/// use truebloom_math::count_min::next_prime;
/// assert_eq!((next_prime(0), next_prime(544), next_prime(547)), (Some(2), Some(547), Some(547)));
/// assert_eq!((next_prime(u64::MAX - 58), next_prime(u64::MAX - 57)), (Some(u64::MAX - 58), None));
/// ```
#[must_use]
pub fn next_prime(n: u64) -> Option<u64> {
    (n..=u64::MAX).find(|&candidate| is_prime(candidate))
}

/// Returns whether the number is a prime. This is the Miller-Rabin test. With the first twelve
/// primes as bases, it is proven to be right for all numbers below 3.3e24 (Sorenson and Webster,
/// 2015). The test takes at most a few microseconds.
#[must_use]
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 || BASES.iter().any(|&p| n.is_multiple_of(p)) {
        return BASES.contains(&n);
    }
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut power = raise(base, (n - 1) >> twos, n);
        power == 1
            || power == n - 1
            || (1..twos).any(|_| {
                power = multiply(power, power, n);
                power == n - 1
            })
    })
}

fn raise(mut base: u64, mut exponent: u64, m: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply(power, base, m);
        }
        base = multiply(base, base, m);
        exponent >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_by_their_divisors() {
        for n in 0..3_000u64 {
            assert_eq!(is_prime(n), n > 1 && (2..n).all(|d| n % d > 0), "{n}");
        }
        // Strong pseudoprimes to the first bases, and a large prime.
        assert!(!is_prime(3_215_031_751) && !is_prime(3_825_123_056_546_413_051) && is_prime((1 << 61) - 1));
        assert_eq!((next_prime(9_586), next_prime(1 << 62)), (Some(9_587), Some((1 << 62) + 135)));
    }

    #[test]
    fn against_enumeration() {
        for m in 1..40u64 {
            assert_eq!(totient(m), (0..m).filter(|&x| gcd(x, m) == 1).count() as u64, "{m}");
            for (a, c) in (0..m).flat_map(|a| (0..m).map(move |c| (a, c))) {
                let mut found: Vec<u64> = solutions(a, c, m).collect();
                found.sort_unstable();
                assert_eq!(found, (0..m).filter(|&x| a * x % m == c).collect::<Vec<_>>(), "{a} x = {c} mod {m}");
                assert_eq!(add(subtract(a, c, m), c, m), a);
            }
        }
    }
}
