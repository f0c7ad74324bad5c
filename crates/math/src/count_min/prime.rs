//! Primes of a word: the widths of two-hash sketches.

/// The strong test to these bases is right for every number below 3.3 10^24 (Sorenson and Webster, 2015), so for every word.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply(power, base, modulus);
        }
        base = multiply(base, base, modulus);
        exponent >>= 1;
    }
    power
}

/// Whether the number is a prime: certain, by the strong test of Miller and Rabin to twelve bases. Some microseconds at most.
pub fn is_prime(number: u64) -> bool {
    if number < 2 {
        return false;
    }
    if let Some(base) = BASES.into_iter().find(|base| number.is_multiple_of(*base)) {
        return number == base;
    }
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    BASES.into_iter().all(|base| {
        let mut root = power(base, odd, number);
        // A square root of one other than one and minus one shows a composite.
        root == 1
            || (0..twos).any(|_| {
                let found = root == number - 1;
                root = multiply(root, root, number);
                found
            })
    })
}

/// The least prime that is at least `number`; `None` above the last prime of a word, `2^64 - 59`.
///
/// ```
/// use truebloom_math::count_min::next_prime;
/// assert_eq!((next_prime(0), next_prime(544), next_prime(547)), (Some(2), Some(547), Some(547)));
/// assert_eq!((next_prime(u64::MAX - 58), next_prime(u64::MAX - 57)), (Some(u64::MAX - 58), None));
/// ```
pub fn next_prime(number: u64) -> Option<u64> {
    (number..=u64::MAX).find(|candidate| is_prime(*candidate))
}
