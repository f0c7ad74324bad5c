//! What the filter says of itself: rates, and whether it keeps its promise.

use super::ScalableFilter;
use super::part::{Part, next_number};
use crate::backing::{Backing, Counted};
use crate::bloom::bracket;
use crate::hash::{KeyHasher, PortableHasher};
use crate::verify::{Measurement, Verification};
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, Fpr, Growth, Law, items_from_ones};

impl<K: Backing> ScalableFilter<K> {
    /// What its rate is at most, certainly: that of all its layers at their limits. At most the rate asked for; after a merge that kept layers of both, at most that much for each of the two.
    pub fn bound(&self) -> Fpr {
        let mut bound = self.layered().bound().unwrap_or(Fpr::ONE);
        bound.add_above(hash_floor(self.offered(), PortableHasher::HASH_BITS));
        bound
    }

    /// `None`: it was planned for no number of items.
    ///
    /// # Errors
    /// Never.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        Ok(None)
    }

    /// The expected rate of a filter that grew to so many distinct items: between 0 and what its layers and all that may follow allow.
    ///
    /// # Errors
    /// Never.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        if items == 0 {
            return Ok(Fpr::ZERO);
        }
        let later = self.growth.rate().to_f64() * Growth::share_from(next_number(&self.parts));
        // Four roundings, each by half a unit at most.
        let mut rate = bracket(0.0, (self.bound().upper + later * (1.0 + 4.0 * f64::EPSILON)).next_up());
        rate.add_above(hash_floor(items, PortableHasher::HASH_BITS));
        Ok(rate)
    }

    /// Whether two layers have one number, and so positions in common.
    pub(super) fn has_twins(&self) -> bool {
        // Without a merge the numbers rise.
        self.parts.windows(2).any(|pair| pair[0].number >= pair[1].number)
    }
}

impl<K: Counted> ScalableFilter<K> {
    /// This filter's rate right now: the chance that a key which was not inserted, chosen independently of the seed, passes. That is `1 - prod (1 - (ones / bits)^probes)` over the layers, exactly, as the positions of a
    /// key in different layers are independent; only bounded after a merge that kept layers of both. The upper end counts equal hashes, at most `offered / 2^128`.
    pub fn fpr(&self) -> Fpr {
        let mut rate = self.layered().fpr_at_fill(&self.layer_ones()).ok().flatten().unwrap_or(Fpr::ONE);
        rate.add_above(hash_floor(self.offered(), PortableHasher::HASH_BITS));
        rate
    }

    /// Whether the fill determines the rate: unless a merge kept layers of both filters.
    pub fn fill_tells_rate(&self) -> bool {
        !self.has_twins()
    }

    /// Distinct items by the fill of each layer. `None` after a merge that kept layers of both filters, which may have keys in common.
    pub fn estimated_items(&self) -> Option<f64> {
        let items = |part: &Part<K>| items_from_ones(part.layer.bits(), part.layer.probes(), part.ones());
        if self.has_twins() { None } else { self.parts.iter().map(items).sum() }
    }

    /// False: it grows.
    pub fn is_over_capacity(&self) -> bool {
        false
    }

    /// What its own counters and bits say: [`Verification`]. Each layer's fill is held to the law of its keys.
    ///
    /// # Errors
    /// As of [`Verification::of`].
    pub fn verified(&self) -> Result<Verification, Error> {
        Verification::of_layers(self)
    }

    /// A measurement by random keys: [`Measurement`].
    pub fn measured(&self, seed: u64) -> Measurement<'_> {
        let (own, tells) = (self.fpr(), self.fill_tells_rate());
        let rates = if tells { (own.value, own.value) } else { (own.lower, own.upper) };
        Measurement::of_counter(|keys| self.contains_all(keys).count_ones(), rates, seed)
    }
}
