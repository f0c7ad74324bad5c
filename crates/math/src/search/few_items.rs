//! Lower bounds on the rate for a handful of items. For so few items, the bound from the mean fill
//! ([`super::ln_lower_bound`]) is too weak to exclude other numbers of probes.
//!
//! All sums here have positive terms, so `f64` loses no digits to cancellation. An operation has a
//! relative error of at most 2^-53. A number passes through at most 32,000 steps of four operations
//! each. The final sum, and the power with an exponent of up to 1,000, add at most 2^16 roundings.
//! Together these errors are below 4e-11 of the result. The slack of [`crate::search`] is 25 times
//! as large. Numbers below the normal range of `f64` have fewer digits. Such numbers could matter
//! for rates below 1e-290, or if an intermediate factor starts below 1e-290 and grows later. In
//! these cases, [`ln_rates`] gives no bound.

use crate::Variant;
use alloc::vec;
use alloc::vec::Vec;

/// Logarithms of lower bounds on the rates, one for each number of probes in `wanted`, which is in
/// ascending order. The bounds can be too high by the slack of [`crate::search`]. A logarithm is
/// minus infinity if there is no bound.
pub(crate) fn ln_rates(variant: Variant, bits: u64, items: u64, wanted: &[u32]) -> Vec<f64> {
    match variant {
        Variant::Standard => standard(bits, items, wanted),
        _ => wanted.iter().map(|&probes| classic(bits, items, probes)).collect(),
    }
}

/// Estimates the number of steps of [`ln_rates`].
pub(crate) fn steps(variant: Variant, bits: u64, items: u64, wanted: &[u32]) -> f64 {
    let n = items as f64;
    let throws = n * wanted.last().map_or(0.0, |&probes| f64::from(probes));
    match variant {
        Variant::Standard => 2.0 * throws * throws.min(bits as f64),
        _ => wanted.iter().map(|&probes| 5.0 * n * f64::from(probes) * f64::from(probes)).sum(),
    }
}

/// The rates `E[(X/m)^k]`, from the law of the number of set bits X. This law is computed ball by
/// ball, where a ball is one position of one item. So the law for k probes is an intermediate
/// result of the law for more probes.
fn standard(bits: u64, items: u64, wanted: &[u32]) -> Vec<f64> {
    let m = bits as f64;
    let mut law = vec![1.0];
    let mut thrown = 0;
    let mut rates = Vec::with_capacity(wanted.len());
    for &probes in wanted {
        while thrown < items * u64::from(probes) {
            if (law.len() as u64) <= bits {
                law.push(0.0);
            }
            for x in (1..law.len()).rev() {
                law[x] = law[x] * (x as f64 / m) + law[x - 1] * ((bits - (x as u64 - 1)) as f64 / m);
            }
            law[0] = 0.0;
            thrown += 1;
        }
        let rate: f64 = law.iter().enumerate().map(|(x, p)| p * libm::pow(x as f64 / m, f64::from(probes))).sum();
        rates.push(ln(rate));
    }
    rates
}

/// The probability that the items cover all positions of a query. It is computed item by item, from
/// the number of positions that are not covered yet. An item covers j of u such positions with the
/// hypergeometric probability `C(u, j) C(m-u, k-j) / C(m, k)`.
fn classic(bits: u64, items: u64, probes: u32) -> f64 {
    let k = probes as usize;
    // With fewer bits, an item would always cover some of the positions, and the recurrence would
    // have no starting point.
    if bits < 2 * u64::from(probes) {
        return f64::NEG_INFINITY;
    }
    let (m, drawn) = (bits as f64, f64::from(probes));
    let mut left = vec![0.0; k + 1];
    left[k] = 1.0;
    for _ in 0..items {
        let mut next = vec![0.0; k + 1];
        // The probability that none of u positions is covered.
        let mut none = 1.0;
        for u in 0..=k {
            // `share` starts at this value and can grow, so digits that are lost here would stay
            // lost.
            if none < LEAST {
                return f64::NEG_INFINITY;
            }
            let mut share = none;
            for covered in 0..=u {
                next[u - covered] += left[u] * share;
                let j = covered as f64;
                share *= (u as f64 - j) * (drawn - j) / ((j + 1.0) * (m - u as f64 - drawn + j + 1.0));
            }
            none *= (m - drawn - u as f64) / (m - u as f64);
        }
        left = next;
    }
    ln(left[0])
}

/// The smallest rate for which a bound is given. Below this limit, a sum of at most 1e9 numbers,
/// each with an error of up to 5e-324, could have a relative error above 1e-13.
const LEAST: f64 = 1e-290;

fn ln(rate: f64) -> f64 {
    if rate < LEAST { f64::NEG_INFINITY } else { libm::log(rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the bounds with exact brackets. The bounds must equal the rates to the claimed
    /// accuracy.
    #[test]
    fn rates_of_few_items_are_the_exact_ones() {
        for variant in [Variant::Standard, Variant::Classic] {
            for (bits, items) in [(2, 1), (9, 2), (26, 12), (100, 1), (300, 5), (1_000, 32), (4_001, 3), (1 << 60, 2)] {
                let wanted: Vec<u32> = (1..=variant.max_probes(bits).min(90)).step_by(3).collect();
                for (ln, probes) in ln_rates(variant, bits, items, &wanted).into_iter().zip(wanted) {
                    let exact = variant.fpr(bits, items, probes).expect("in range");
                    let what = format!("{variant} m={bits} n={items} k={probes}: {ln} {}", exact.ln);
                    if ln == f64::NEG_INFINITY {
                        assert!(exact.ln < -667.0 || variant == Variant::Classic && bits < 2 * u64::from(probes), "{what}");
                    } else {
                        assert!(ln <= exact.ln_upper + 1e-10 && ln >= exact.ln_lower - 1e-10, "{what}");
                    }
                }
            }
        }
    }
}
