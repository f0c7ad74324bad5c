//! The coefficient of 1/n with which the rate of double hashing approaches its limit.

use super::bracket::Hits;
use super::collisions::{Overlap, from_overlaps, listed, long_orders, offsets, repeating};
use super::{Double, Offsets, Step};
use crate::Result;
use crate::error::out_of_range;
use crate::exact::modular::{divisors_up_to, multiply, totient};
use crate::exact::work;
use crate::law::convergence::{Hit, constant, limit_rate};
use alloc::vec::Vec;
use alloc::{format, vec};

/// The largest number of probes that is supported. With more probes, enumerating the pairs of one
/// query takes too long.
const MOST_PROBES: u32 = 64;

/// The largest number of probes for which the pairs of four queries are enumerated and averaged.
/// With this many probes, that takes half a second.
const MOST_AVERAGED: u32 = 36;

/// The largest number of probes for which enumerating the pairs takes almost no time.
const FEW_PROBES: u32 = 10;

/// The properties of a scheme that determine its coefficients for any number of bits per item.
pub(crate) struct Shape {
    /// The steps (values of h2) of queries with fewer than k positions:
    /// `(positions, number of steps)`.
    pub(crate) fewer: Vec<(u32, f64)>,
    /// The number of positions that items lose to coincidences, over all steps.
    pub(crate) lost: f64,
    /// The numbers of pairs that hit several positions of a query, by the number of positions.
    pub(crate) several: Vec<Hit>,
}

impl Double {
    /// Returns the coefficient of 1/n in the rate, where n is the number of items. With k probes
    /// and c bits per item, the coefficient is the limit of `n (rate - (1 - e^(-k/c))^k)` as n
    /// grows.
    ///
    /// Of the number of bits m, only its divisors below `2 k^2` affect the coefficient. For large
    /// primes or powers of two, create the law with
    /// [`LARGE_PRIME`](crate::law::convergence::LARGE_PRIME) or
    /// [`LARGE_POWER_OF_TWO`](crate::law::convergence::LARGE_POWER_OF_TWO) bits. For n items, the
    /// rate is about `(1 - e^(-k/c))^k` plus the coefficient divided by n. The error of this
    /// approximation has no proven bound.
    ///
    /// For plain double hashing, the formula for the coefficient is exact. With offsets, the
    /// function chooses sample queries, and counts the positions that items share with them. The
    /// function assumes that m is so large that these counts are the same for nearly all queries.
    /// For [`LARGE_PRIME`](crate::law::convergence::LARGE_PRIME), one sample query is enough. For
    /// other m, the result is an estimate: the mean over four sample queries, or the value of a
    /// single sample query if there are more than 36 probes. The computation takes about `k^4`
    /// steps. Theorem 6.1 of Kirsch and Mitzenmacher gives a different number, which is wrong
    /// (errata K1, K2).
    ///
    /// # Errors
    /// Fails if `bits_per_item` is not a positive number, or if there are more than 64 probes.
    pub fn constant(&self, bits_per_item: f64) -> Result<f64> {
        let _work = work::begin();
        check_load(bits_per_item)?;
        let shape = self.shape()?;
        Ok(constant(bits_per_item, self.probes, &shape.fewer, shape.lost, &shape.several))
    }

    fn shape(&self) -> Result<Shape> {
        self.shape_of(|| self.several())
    }

    /// Like [`Self::shape`], but takes only about a millisecond, even with offsets. With offsets
    /// and many probes, the result uses the approximation [`Self::several_at_sight`].
    pub(crate) fn rough_shape(&self) -> Result<Shape> {
        self.shape_of(
            || if self.offsets == Offsets::Linear || self.probes <= FEW_PROBES { self.several() } else { self.several_at_sight() },
        )
    }

    fn shape_of(&self, several: impl FnOnce() -> Vec<Hit>) -> Result<Shape> {
        if self.probes > MOST_PROBES {
            return out_of_range("probes", self.probes, format!("at most {MOST_PROBES} for the coefficient of 1/n"));
        }
        let fewer: Vec<(u32, f64)> = if self.offsets == Offsets::Linear {
            // The steps with an order below k.
            let orders = divisors_up_to(self.bits, u64::from(self.probes) - 1).filter(|&order| order > 1 || self.step == Step::Any);
            orders.map(|order| (order as u32, totient(order) as f64)).collect()
        } else {
            let steps = repeating(self).into_iter().filter(|&(b, _)| self.step == Step::Any || b > 0);
            steps.map(|(_, fewer)| (self.probes - fewer as u32, 1.0)).collect()
        };
        let lost = fewer.iter().map(|&(positions, steps)| f64::from(self.probes - positions) * steps).sum();
        Ok(Shape { fewer, lost, several: several() })
    }

    /// An approximation of [`Self::several`] for large primes: the sets of positions that items
    /// share with any query, derived instead of enumerated. The first set belongs to the query's
    /// own hash pair. For squares, shifted and reversed sets are added. For any two positions and
    /// any two probes, exactly one hash pair makes these probes hit these positions. Unless that
    /// pair belongs to one of the sets above, it counts as a set of two positions. Other sets of
    /// three or more positions make almost no difference and are left out.
    fn several_at_sight(&self) -> Vec<Hit> {
        let k = self.probes;
        let mut several = vec![(k, 1.0)];
        if matches!(self.offsets, Offsets::Linear | Offsets::Square) {
            several.push((k, 1.0));
            several.extend((3..k).map(|length| (length, 4.0)));
        }
        let k = f64::from(k);
        let in_larger: f64 = several.iter().map(|&(size, count)| count * f64::from(size) * (f64::from(size) - 1.0) / 2.0).sum();
        several.push((2, (k * (k - 1.0) * k * (k - 1.0) / 2.0 - in_larger).max(0.0)));
        several.retain(|&(size, _)| size >= 2);
        several
    }

    /// The mean numbers of hash pairs that hit two, three or more positions of a query, for large
    /// m.
    fn several(&self) -> Vec<Hit> {
        if self.offsets == Offsets::Linear {
            let classes = long_orders(self);
            let total: f64 = classes.iter().map(|class| class.0 as f64).sum();
            let hits = |(weight, overlaps): &(u64, Vec<Overlap>)| {
                let share = *weight as f64 / total;
                // Only the sizes of the sets matter, not the number of pairs that hit single
                // positions.
                let sizes = Hits::of_overlaps(self.probes, u128::MAX, overlaps).several;
                (0u32..).zip(sizes).filter(|size| size.1 > 0).map(move |(size, count)| (size, share * count as f64)).collect::<Vec<_>>()
            };
            return classes.iter().flat_map(hits).collect();
        }
        let f = offsets(self);
        // The steps of these queries are multiples of the golden section of m, which are not
        // related by small factors.
        let query = |i: u64| multiply((self.bits as f64 * 0.618_033_988_749_894_9) as u64 % self.bits, i, self.bits);
        // For a large prime, nearly all queries have the same counts. With many probes, one query
        // takes a second, and it has enough overlaps for an average.
        let queries = if self.bits == crate::law::convergence::LARGE_PRIME || self.probes > MOST_AVERAGED { 1 } else { 4 };
        let hits = |i: u64| {
            let sets = listed(self, query(i), 1, &f).multiple.into_iter();
            sets.map(move |(set, count)| (set.count_ones(), count as f64 / queries as f64))
        };
        (1..=queries).flat_map(hits).collect()
    }

    /// The rate to first order, `(1 - e^(-k n/m))^k + constant / n`. The approximation is good if
    /// the second term is small.
    pub(super) fn first_order(&self, items: u64) -> Result<f64> {
        let load = self.bits as f64 / items as f64;
        let shape = self.rough_shape()?;
        Ok(limit_rate(load, self.probes) + constant(load, self.probes, &shape.fewer, shape.lost, &shape.several) / items as f64)
    }
}

/// For plain double hashing with odd steps, returns the coefficient of 1/n in the rate (see
/// [`Double::constant`]). The number of bits is a large power of two. The step is the second hash
/// h2, which is uniform on the odd numbers. So all positions of a key differ.
///
/// # Errors
/// Fails if `bits_per_item` is not a positive number, or if `probes` is not from 1 to 64.
pub fn odd_step_constant(bits_per_item: f64, probes: u32) -> Result<f64> {
    check_load(bits_per_item)?;
    if probes == 0 || probes > MOST_PROBES {
        return out_of_range("probes", probes, "from 1 to 64");
    }
    // In f b = e d with odd b and d, the numbers e and f are divisible by the same powers of two.
    // Half of all numbers are odd, so each pair of hashes with an odd h2 is twice as likely as if
    // h2 were uniform on all numbers.
    let overlaps = super::collisions::overlaps(crate::law::convergence::LARGE_POWER_OF_TWO, probes, 1);
    let odd: Vec<_> = overlaps.into_iter().filter(|shared| shared.query.trailing_zeros() == shared.item.trailing_zeros()).collect();
    let hits: Vec<Hit> =
        from_overlaps(probes, 0, &odd).multiple.into_iter().map(|(set, count)| (set.count_ones(), 2.0 * count as f64)).collect();
    Ok(constant(bits_per_item, probes, &[], 0.0, &hits))
}

fn check_load(bits_per_item: f64) -> Result<()> {
    if bits_per_item > 0.0 && bits_per_item.is_finite() {
        return Ok(());
    }
    out_of_range("bits per item", bits_per_item, "a positive number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::convergence::LARGE_PRIME;

    /// Compares the derived sets with the enumerated ones. For cubes, an item can share three
    /// evenly spaced positions with a query, in reverse order. The derivation ignores such sets,
    /// whose contribution would be largest with three probes. The derived coefficient only provides
    /// starting points for searches, so an error of a fifth is acceptable.
    #[test]
    fn rough_shapes_are_nearly_right() {
        for offsets in [Offsets::Square, Offsets::Cube, Offsets::Enhanced] {
            for k in FEW_PROBES + 1..FEW_PROBES + 7 {
                let law = Double::new(LARGE_PRIME, k, Step::Any, offsets.clone()).expect("in range");
                for load in [5.0, 10.0, 20.0] {
                    let of = |shape: Shape| constant(load, k, &shape.fewer, shape.lost, &shape.several);
                    let (listed, rough) = (of(law.shape().expect("few probes")), of(law.rough_shape().expect("few probes")));
                    println!("{offsets:?} k={k} load={load}: {:.3}", rough / listed);
                    assert!((rough / listed - 1.0).abs() < 0.2, "{offsets:?} k={k} load={load}: {rough} for {listed}");
                }
            }
        }
    }
}
