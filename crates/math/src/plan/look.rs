//! Fast approximations that guide the search for a size. The approximations compute the guarantee
//! in plain `f64`, in a fraction of a microsecond. Every size that the search finds is proven
//! before it is used, so no guarantee depends on these approximations.

use crate::Variant;
use crate::exact::bisect::bisect_reals;
use crate::tails::bernoulli::BernoulliSum;

/// Approximations of the fields of [`crate::one_filter::quantile::OnesLaw`]. `mean` and `variance`
/// are those of the (weighted) number of set bits, and `capacity` is its largest possible value.
struct Moments {
    mean: f64,
    variance: f64,
    capacity: f64,
    lattice: (f64, f64),
    is_lattice: bool,
}

/// The mean and the variance of the number of set bits among `bits` after `throws` single balls.
fn occupied(bits: f64, throws: f64) -> (f64, f64) {
    let empty = libm::exp(throws * libm::log1p(-1.0 / bits));
    // g_2 / g_1^2 - 1 without cancellation, where g_j is the probability that j given bits stay
    // empty.
    let together = libm::expm1(throws * libm::log1p(-1.0 / ((bits - 1.0) * (bits - 1.0))));
    (bits * (1.0 - empty), bits * empty * (1.0 - empty) + bits * (bits - 1.0) * empty * empty * together)
}

impl Moments {
    fn new(variant: Variant, bits: f64, items: f64, probes: f64) -> Moments {
        let whole = |mean, variance| Moments { mean, variance, capacity: bits, lattice: (variance, 1.0), is_lattice: true };
        match variant {
            Variant::Standard => {
                let (mean, variance) = occupied(bits, items * probes);
                whole(mean, variance)
            }
            Variant::Classic => {
                let empty = libm::exp(items * libm::log1p(-probes / bits));
                let together = libm::expm1(items * libm::log1p(-probes / ((bits - probes) * (bits - 1.0))));
                whole(bits * (1.0 - empty), bits * empty * (1.0 - empty) + bits * (bits - 1.0) * empty * empty * together)
            }
            Variant::Partitioned => {
                let size = libm::floor(bits / probes);
                let longer = bits - size * probes;
                let (short, long) = (occupied(size, items), occupied(size + 1.0, items));
                let weight = size / (size + 1.0);
                let parts = ((probes - longer) * short.1, longer * weight * weight * long.1);
                Moments {
                    mean: (probes - longer) * short.0 + longer * weight * long.0,
                    variance: parts.0 + parts.1,
                    capacity: probes * size,
                    lattice: if parts.0 > parts.1 { (parts.0, 1.0) } else { (longer * long.1, weight) },
                    is_lattice: longer == 0.0,
                }
            }
        }
    }
}

/// Estimates the logarithm of the bound that [`crate::one_filter::quantile::miss_bound`] gives on
/// the probability that a filter exceeds the rate. `ln_rate` is the logarithm of the rate that
/// remains when the bound on equal hashes is subtracted from the requested rate.
pub(super) fn ln_miss(variant: Variant, bits: f64, items: f64, probes: f64, ln_rate: f64) -> f64 {
    let moments = Moments::new(variant, bits, items, probes);
    let most = match variant {
        Variant::Classic => most_distinct(bits, probes, ln_rate),
        _ => libm::exp(ln_rate / probes) * moments.capacity,
    };
    // Above 2^52 bits, `f64` cannot represent single bits, and they do not matter.
    let past = if moments.is_lattice && bits < 4e15 { libm::floor(most * (1.0 + 1e-13)) + 1.0 } else { most };
    let sum = BernoulliSum { variance: moments.variance, lattice: moments.lattice };
    libm::log(sum.tail(past - moments.mean))
}

/// Estimates the logarithm of the rate that [`crate::one_filter::quantile::kept`] gives.
pub(super) fn ln_kept(variant: Variant, bits: f64, items: f64, probes: f64, ln_allowed: f64) -> f64 {
    let moments = Moments::new(variant, bits, items, probes);
    let sum = BernoulliSum { variance: moments.variance, lattice: moments.lattice };
    let deviation = libm::sqrt(moments.variance);
    let is_rare = |distance: f64| libm::log(sum.tail(distance)) <= ln_allowed;
    // Bennett's bound falls to 0 with the distance, so this loop ends.
    let mut far = deviation * libm::sqrt(-2.0 * ln_allowed) + 1.0;
    while !is_rare(far) && far < moments.capacity {
        far *= 2.0;
    }
    let past = moments.mean + bisect_reals(0.0, far, 12, is_rare).1;
    let ones = if moments.is_lattice && bits < 4e15 { (libm::ceil(past) - 1.0).max(1.0) } else { past };
    let most = ones.min(moments.capacity);
    if variant == Variant::Classic {
        let ln = middle_term(probes);
        return (probes * (ln(most) - ln(bits))).min(0.0);
    }
    probes * libm::log(most / moments.capacity)
}

/// Estimates the number `x` of set bits, as a real number, for which `C(x, k) / C(m, k)` is equal
/// to the rate. The estimate takes two Newton steps from the solution of the same equation for
/// `x^k / m^k`.
fn most_distinct(bits: f64, probes: f64, ln_rate: f64) -> f64 {
    let mut ones = libm::exp(ln_rate / probes) * bits;
    let ln = middle_term(probes);
    for _ in 0..2 {
        let missed = ln_rate / probes - (ln(ones) - ln(bits));
        ones += missed * (ones - (probes - 1.0) / 2.0).max(1.0);
    }
    ones
}

/// Estimates the mean of `ln(x - i)` over the probes `i`. So `ln(C(x, k) / C(m, k))` is about k
/// times the difference of two such means. Each mean is estimated by its middle term, with a
/// second-order correction.
fn middle_term(probes: f64) -> impl Fn(f64) -> f64 {
    let (middle, spread) = ((probes - 1.0) / 2.0, (probes * probes - 1.0) / 24.0);
    move |x| libm::log((x - middle).max(0.5)) - spread / ((x - middle) * (x - middle)).max(0.25)
}
