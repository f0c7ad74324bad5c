//! Approximations and bounds from the papers, for comparison. No plan uses them.

use crate::exact::enclosure::Enclose;
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::law::{Law, Standard};
use crate::{Error, Result, Variant};
use alloc::format;
use core::str::FromStr;

/// A named approximation of the false-positive rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Approximation {
    /// `(1 - (1 - 1/m)^(nk))^k` for m bits, n items and k probes. This is the k-th power of the
    /// mean fill. Grandi calls the formula A1, and Burns calls it M. Lehr gives the same formula.
    /// It is a lower bound on the expected rate of the standard filter.
    SeveranceLohman,
    /// `(1 - e^(-nk/m))^k` for m bits, n items and k probes. Most calculators use this formula.
    /// Grandi calls it A2, and Burns calls it E.
    Knuth,
    /// Grandi's formula for the standard filter. With k probes, it is the k-th power of the mean
    /// fill, plus a term that is proportional to the variance of the fill. Grandi calls it A3.
    Grandi,
    /// `(1 - (1 - k/m)^n)^k` for m bits, n items and k probes. This is the formula that Bloom gave.
    /// Burns calls it U. It is exact for a partitioned filter with equal slices, and a proven upper
    /// bound for the classic filter. For the standard filter, the proof has a gap (see
    /// [`RateBounds::upper`](crate::bounds::RateBounds::upper)).
    Bloom,
    /// `E[C(X, k)] / C(m, k)` for m bits, n items and k probes. C is the binomial coefficient, and
    /// X is the number of set bits. This is the expected rate if the nk positions of the items are
    /// independent and uniform, and the k positions of a query are distinct. Burns calls the
    /// formula L (inequality 64). It is a lower bound on the rate of the standard filter, and on
    /// that of the classic filter.
    Lower,
}

impl Approximation {
    /// All approximations.
    pub const ALL: [Approximation; 5] =
        [Approximation::SeveranceLohman, Approximation::Knuth, Approximation::Grandi, Approximation::Bloom, Approximation::Lower];

    /// Returns the approximation's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Approximation::SeveranceLohman => "severance-lohman",
            Approximation::Knuth => "knuth",
            Approximation::Grandi => "grandi",
            Approximation::Bloom => "bloom",
            Approximation::Lower => "lower",
        }
    }

    /// Returns the approximation's value. Rounding causes a relative error of about 1e-15 times the
    /// number of probes. If the value underflows, the result is 0.
    ///
    /// # Errors
    /// Fails if a parameter is out of range. For [`Bloom`](Self::Bloom) and [`Lower`](Self::Lower),
    /// `probes` must be at most `bits`.
    pub fn value(self, bits: u64, items: u64, probes: u32) -> Result<f64> {
        let distinct = matches!(self, Approximation::Bloom | Approximation::Lower);
        if distinct { Variant::Classic } else { Variant::Standard }.check(bits, probes)?;
        if items == 0 {
            return Ok(0.0);
        }
        let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
        Ok(match self {
            Approximation::SeveranceLohman => power_of_mean(m, n, k),
            Approximation::Knuth => libm::pow(-libm::expm1(-n * k / m), k),
            Approximation::Bloom => libm::pow(-libm::expm1(n * libm::log1p(-k / m)), k),
            Approximation::Grandi => second_order(bits, items, probes)?,
            Approximation::Lower => {
                let (query, placement) = (Query::Distinct, Items::Independent);
                Inclusion { query, placement, bits, items, probes }.fpr()?.value
            }
        })
    }
}

fn power_of_mean(m: f64, n: f64, k: f64) -> f64 {
    libm::pow(-libm::expm1(n * k * libm::log1p(-1.0 / m)), k)
}

/// Grandi's A3 with the exact mean and variance:
/// `(E[X]/m)^k + k (k-1) / 2 (E[X]/m)^(k-2) Var[X] / m^2`.
fn second_order(bits: u64, items: u64, probes: u32) -> Result<f64> {
    let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
    let zeroth = power_of_mean(m, n, k);
    let Some(fill) = Standard::new(bits, probes)?.fill(items)? else { return Ok(zeroth) };
    let relative = fill.variance / (fill.mean * fill.mean);
    Ok(zeroth * (1.0 + k * (k - 1.0) / 2.0 * relative))
}

impl FromStr for Approximation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Approximation> {
        let found = Approximation::ALL.into_iter().find(|approximation| approximation.name() == text);
        let names = Approximation::ALL.map(Approximation::name).join(", ");
        found.map_or_else(|| crate::error::out_of_range("name", text, format!("one of {names}")), Ok)
    }
}
