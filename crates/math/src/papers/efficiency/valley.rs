//! Crossovers: the numbers of items per bit at which k and k + 1 probes have the same rate, and the
//! efficiency at these points.

use crate::Result;
use crate::error::check_probes;
use crate::exact::work;
use core::f64::consts::LN_2;

/// Returns the number x of items per bit at which k probes and k + 1 probes have the same rate.
/// Here k is `probes`. The rate for k probes is Knuth's approximation, `(1 - e^(-k x))^k`. The
/// result is `x = ln z`, where z is the root above 1 of `z^(k+1) = z + 1` (Burns, theorem 31). For
/// k = 1, the root is the golden ratio. The relative error is below 1e-15. `probes` must be from 1
/// to 100,000.
///
/// ```
/// let x = truebloom_math::crossover(1)?;
/// assert!((x - 0.481_211_825_059_603_4).abs() < 1e-15);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn crossover(probes: u32) -> Result<f64> {
    let _work = work::begin();
    check_probes(probes)?;
    let order = f64::from(probes) + 1.0;
    // Iterates x = ln(1 + e^x) / (k + 1). The slope of the right side is at most 1 / (k + 1), so
    // rounding errors do not grow. For k = 1, 60 steps are enough.
    let mut x = LN_2 / order;
    for _ in 0..60 {
        let next = libm::log1p(libm::exp(x)) / order;
        if next == x {
            break;
        }
        x = next;
    }
    Ok(x)
}

/// Returns the efficiency at the crossover. There, the number x of items per bit is the result of
/// [`crossover`]. At x, filters with k = `probes` and with k + 1 probes have the same rate
/// according to Knuth's approximation. Their efficiencies have peaks at different numbers of items
/// per bit. Suppose that between these peaks, the better of the two numbers of probes is always
/// used. The lowest efficiency between the peaks is then at the crossover. This efficiency is
/// `k (k+1) x^2 / ln 2`, because the rate is `e^(-k (k+1) x)`. As k grows, this efficiency
/// increases towards ln 2.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn valley_efficiency(probes: u32) -> Result<f64> {
    let _work = work::begin();
    let (x, k) = (crossover(probes)?, f64::from(probes));
    Ok(k * (k + 1.0) * x * x / LN_2)
}
