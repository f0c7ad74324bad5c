//! The rates of a filter that grows, and whether they exceed the requested rate.

use super::ScalableFilter;
use super::part::{Part, next_number};
use crate::backing::{Backing, Counted};
use crate::bits::count_pairs;
use crate::bloom::bracket;
use crate::hash::{KeyHasher, PortableHasher};
use alloc::vec::Vec;
use truebloom_math::law::{Layer, Layered, hash_floor};
use truebloom_math::{Error, Fpr, Growth, Law, Method, items_from_ones};

/// After merges, several layers can have the same number. At most this many of them are compared
/// pair by pair.
const MOST_TWINS: usize = 8;

impl<K: Backing> ScalableFilter<K> {
    /// A guaranteed upper bound on the filter's rate. Every layer has a limit on its number of set
    /// bits. The bound is the rate that the filter has if all layers have reached their limits.
    /// Without a merge, the bound is at most the requested rate. If a [merge](Self::union_with)
    /// kept two layers with the same [layer number](Self::layer_numbers), the bound is at most the
    /// sum of the bounds that the two filters had before the merge.
    pub fn bound(&self) -> Fpr {
        let mut bound = self.layered().bound().unwrap_or(Fpr::ONE);
        bound.add_above(hash_floor(self.offered(), PortableHasher::HASH_BITS));
        at_most(bound)
    }

    /// Always `None`, because the filter was not planned for a number of items.
    ///
    /// # Errors
    /// Never returns an error. The method returns a `Result` because the same method of other
    /// filters does.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        Ok(None)
    }

    /// An upper bound on the expected rate once the filter holds `items` distinct items. The bound
    /// assumes that the present layers and all later layers are full.
    ///
    /// # Errors
    /// Never returns an error. The method returns a `Result` because the same method of other
    /// filters does.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        if items == 0 {
            return Ok(Fpr::ZERO);
        }
        let later = self.growth.rate().to_f64() * Growth::share_from(next_number(&self.parts));
        // This includes four rounding errors, each of at most half a unit in the last place.
        let mut rate = bracket(0.0, (self.bound().upper + later * (1.0 + 4.0 * f64::EPSILON)).next_up());
        rate.add_above(hash_floor(items, PortableHasher::HASH_BITS));
        Ok(rate)
    }

    /// Whether two layers have the same number. If so, a key has the same positions in both.
    pub(super) fn has_twins(&self) -> bool {
        // Without a merge, the numbers increase.
        self.parts.windows(2).any(|pair| pair[0].number >= pair[1].number)
    }
}

impl<K: Counted> ScalableFilter<K> {
    /// The present rate of this filter: the probability that a lookup of a key that was not
    /// inserted returns true. The key must be chosen without knowing the seed. The positions of a
    /// key in different layers are independent. The rate is therefore
    /// `1 - prod (1 - (ones / bits)^probes)`, where the product is over all layers.
    ///
    /// This does not hold if a [merge](Self::union_with) kept two layers with the same [layer
    /// number](Self::layer_numbers). A key has the same positions in both layers, so only bounds on
    /// the rate are known.
    ///
    /// The upper bound of the result includes the probability that a key has the same 128-bit hash
    /// as an inserted key. After n insertions ([`offered`](Self::offered)), this probability is at
    /// most `n / 2^128`.
    pub fn fpr(&self) -> Fpr {
        rate_at(&self.layered(), &self.layer_ones(), self.offered())
    }

    /// Returns true if the rate can be computed from the number of set bits in each layer. Returns
    /// false only if a [merge](Self::union_with) kept two layers with the same [layer
    /// number](Self::layer_numbers).
    pub fn fill_tells_rate(&self) -> bool {
        !self.has_twins()
    }

    /// The number of distinct items, estimated from the fill of each layer. Returns `None` if a
    /// [merge](Self::union_with) kept two layers with the same [layer number](Self::layer_numbers),
    /// because the two layers may have keys in common.
    pub fn estimated_items(&self) -> Option<f64> {
        let items = |part: &Part<K>| items_from_ones(part.layer.bits(), part.layer.probes(), part.ones());
        if self.has_twins() { None } else { self.parts.iter().map(items).sum() }
    }

    /// Returns true if the filter's rate is known to be above the requested rate. The rate can
    /// exceed the requested rate only if a [merge](Self::union_with) kept two layers with the same
    /// [layer number](Self::layer_numbers). Without such a merge, this method takes constant time.
    /// After such a merge, the method compares the bits of the two layers, which can take time
    /// linear in the number of bits.
    pub fn is_over_capacity(&self) -> bool {
        let asked = self.growth.rate().to_f64();
        self.fpr().upper > asked && self.least_rate() > asked * (1.0 + f64::EPSILON)
    }

    /// A lower bound on the filter's rate. A key has the same positions in layers with the same
    /// number. The bits that are set in both of two such layers therefore determine the share of
    /// keys that are false positives of both.
    pub(crate) fn least_rate(&self) -> f64 {
        let mut least = 0.0f64;
        let mut start = 0;
        for twins in self.parts.chunk_by(|one, next| one.number == next.number) {
            let rate = self.least_of(start, twins);
            start += twins.len();
            least = (least + (rate * (1.0 - least)).next_down().next_down().max(0.0)).next_down().max(0.0);
        }
        least
    }

    /// A lower bound on the rate of the layers `twins`, which all have the same number. The first
    /// of them is at index `start`. Starting with the fullest layer, each layer adds its own rate,
    /// minus an upper bound on the share of keys that are also false positives of a layer before
    /// it.
    fn least_of(&self, start: usize, twins: &[Part<K>]) -> f64 {
        let mut fullest: Vec<usize> = (start..start + twins.len()).collect();
        fullest.sort_by_key(|at| core::cmp::Reverse(self.parts.get(*at).map_or(0, Part::ones)));
        // Every pair of layers is compared, which would take too long for many layers, so only the
        // fullest are used. Leaving out layers can only lower the result.
        fullest.truncate(MOST_TWINS);
        let mut least = 0.0f64;
        for (index, at) in fullest.iter().enumerate() {
            let shared = fullest.iter().take(index).fold(0.0f64, |sum, other| (sum + self.shared(*at, *other)).next_up());
            let own = self.parts.get(*at).and_then(|part| part.layer.fpr_at_fill(part.ones()).ok()).map_or(0.0, |rate| rate.lower);
            least = (least + (own - shared).next_down().max(0.0)).next_down().max(0.0);
        }
        least
    }

    /// An upper bound on the probability that a key is a false positive of both of two layers with
    /// the same number.
    fn shared(&self, one: usize, other: usize) -> f64 {
        let layer = |at: usize| self.parts.get(at).map(|part| part.layer);
        let alike = |one: &Layer, other: &Layer| (one.bits(), one.probes()) == (other.bits(), other.probes());
        let (Some(ours), Some(theirs)) = (layer(one), layer(other)) else { return 1.0 };
        if !alike(&ours, &theirs) {
            return 1.0;
        }
        let ones = count_pairs(self.bits_of(one), self.bits_of(other), |one, other| one & other);
        ours.fpr_at_fill(ones).map_or(1.0, |rate| rate.upper)
    }
}

/// The rate of layers with `ones` set bits, after `offered` offers.
pub(super) fn rate_at(layers: &Layered, ones: &[u64], offered: u64) -> Fpr {
    let mut rate = layers.fpr_at_fill(ones).ok().flatten().unwrap_or(Fpr::ONE);
    rate.add_above(hash_floor(offered, PortableHasher::HASH_BITS));
    at_most(rate)
}

/// If only bounds on a rate are known, reports the upper bound as its value. Other filters do the
/// same.
fn at_most(rate: Fpr) -> Fpr {
    if rate.method == Method::Bound { bracket(rate.lower, rate.upper) } else { rate }
}
