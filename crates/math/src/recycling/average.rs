//! Averages of the pass probability over states, divided by the pass probability in the fullest
//! state. A state is a number of set bits.

use super::number::Positive;

/// How the positions of a query are drawn. The kind of draw determines the probability that all of
/// them are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// The query makes `k` independent draws: with b of m bits set, it passes with probability
    /// `(b/m)^k`.
    Repeats(u32),
    /// The query has `r` distinct positions, and passes with probability `C(b, r) / C(m, r)`.
    Distinct(u32),
}

impl Query {
    /// The pass probability at `ones - 1` set bits, divided by the pass probability at `ones` set
    /// bits. The latter must not be 0.
    #[inline]
    fn ratio<T: Positive>(self, ones: u64) -> T {
        match self {
            Query::Repeats(probes) => power(T::whole(ones - 1).over(T::whole(ones)), probes),
            Query::Distinct(positions) => T::whole(ones.saturating_sub(u64::from(positions))).over(T::whole(ones)),
        }
    }

    /// Whether the pass probability at this many set bits is above 0.
    pub(crate) fn passes(self, ones: u64) -> bool {
        match self {
            Query::Repeats(_) => ones > 0,
            Query::Distinct(positions) => ones >= u64::from(positions),
        }
    }
}

/// The sum over b of `weight(b) rho(b)`, divided by `rho` of the last b, where `rho(b)` is the pass
/// probability at b set bits. States are added in ascending order, and each step multiplies the sum
/// by one ratio. So nothing underflows, even if the rate is far below the range of `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average<T> {
    pub(crate) query: Query,
    pub(crate) sum: T,
}

impl<T: Positive> Average<T> {
    pub(crate) fn new(query: Query) -> Average<T> {
        Average { query, sum: T::ZERO }
    }

    #[inline]
    pub(crate) fn add(&mut self, ones: u64, weight: T) {
        if self.query.passes(ones) {
            self.sum = self.sum.times(self.query.ratio(ones)).plus(weight);
        }
    }
}

/// Raises a number to a power. If the base has at most three roundings, each factor adds at most
/// four roundings.
#[inline]
fn power<T: Positive>(base: T, exponent: u32) -> T {
    let mut power = base;
    for bit in (0..31 - exponent.leading_zeros()).rev() {
        power = power.times(power);
        if exponent >> bit & 1 == 1 {
            power = power.times(base);
        }
    }
    power
}
