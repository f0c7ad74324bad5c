//! The smallest number of bits with a guaranteed rate.

use super::super::look::ln_miss;
use super::{Sure, promising};
use crate::exact::bisect::bisect_sizes;
use crate::one_filter::quantile::MANY_ITEMS;
use crate::search::{self, Fit};
use crate::{MAX_BITS, Result, Variant};

/// The number of sizes below the first guess that are tried. The guarantee may hold for one of them
/// although it does not hold for a larger size. The reason is that the probability of meeting the
/// rate is not monotone in the number of bits (see [`super::followed`]).
const DOWN: u64 = 48;

/// The number of proofs that may fail before the search continues with larger steps.
const PROOFS: u64 = 64;

/// Because of rounding to whole bits, a proven size can differ from its guess by up to this many
/// bits.
pub(super) const WHOLE_BITS: f64 = 16.0;

/// An upper bound on the relative difference between a size found by bounds and the smaller size
/// found by the exact distribution, for at least a hundred items.
pub(super) const LAW_SAVES: f64 = 1.0 / 64.0;

impl Sure<'_> {
    /// Returns the smallest number of bits for which the search proves the guarantee. The result is
    /// at least the number of bits that the average rate needs.
    pub(in super::super) fn fewest_bits(&self, items: u64, mean: Fit) -> Result<Option<Fit>> {
        let mut best: Option<Fit> = None;
        let cost = |probes: u32| self.about_bits(items, probes);
        let always = |probes: u32| items < MANY_ITEMS && self.is_followed(items, probes);
        let by_law = if self.is_followed(items, mean.probes / 2) { LAW_SAVES * mean.size as f64 } else { 0.0 };
        let last = self.most_probes(items).max(mean.probes);
        for (probes, guess) in promising(self.target, mean.probes, last, WHOLE_BITS + by_law, cost, always) {
            let known = best.map(|best| best.size);
            if let Some(size) = self.fewest_bits_at(items, probes, guess, mean.size, known)? {
                best = Some(Fit { size, probes });
            }
        }
        Ok(best)
    }

    /// Returns the fewest bits for a given number of probes. If `known` is given, that size is
    /// already proven, and only smaller sizes are searched.
    fn fewest_bits_at(&self, items: u64, probes: u32, guess: f64, mean: u64, known: Option<u64>) -> Result<Option<u64>> {
        if known.is_some_and(|known| known == mean || self.is_excluded(known - 1, items, probes)) {
            return Ok(None);
        }
        if !self.is_followed(items, probes) {
            let is_near = known.is_none_or(|known| guess < known as f64 + WHOLE_BITS);
            return if is_near { self.fewest_by_bounds(items, probes, guess, known) } else { Ok(None) };
        }
        let limit = match known {
            Some(known) => known,
            // If the bounds prove a size, then so does the exact distribution.
            None => match self.fewest_by_bounds(items, probes, guess, None)? {
                Some(limit) => limit + 1,
                None => return Ok(None),
            },
        };
        self.fewest_by_law(items, probes, mean, limit)
    }

    /// Estimates the number of bits, as a real number, at which the bound on the probability of a
    /// miss falls below the allowed probability. A miss means that a filter exceeds the requested
    /// rate.
    fn about_bits(&self, items: u64, probes: u32) -> f64 {
        let ln_rate = self.question().ln_target(items);
        let variant = self.target.variant();
        let (n, k) = (items as f64, f64::from(probes));
        let least = k.max(2.0);
        // For the partitioned scheme, only sizes with equal slices are considered, because unequal
        // slices change the result irregularly.
        let whole = if variant == Variant::Partitioned { k } else { 1.0 };
        let miss = |bits: f64| ln_miss(variant, libm::floor(bits / whole) * whole, n, k, ln_rate);
        // The search starts from the textbook's size, so that it finds the same size whether the
        // probes are given or not.
        let mut high = (n * k / -libm::log1p(-libm::exp(ln_rate / k))).clamp(least, MAX_BITS as f64);
        while miss(high) > self.ln_allowed && high < MAX_BITS as f64 {
            high *= 1.2;
        }
        let mut low = high / 1.2;
        while low > least && miss(low) <= self.ln_allowed {
            (low, high) = (low / 1.2, low);
        }
        bisect_sizes(low, high, |bits| miss(bits) <= self.ln_allowed).1
    }

    /// Returns the first size near a guess that is proven. If `known` is given, that size is
    /// already proven, and only smaller sizes are tried.
    fn fewest_by_bounds(&self, items: u64, probes: u32, guess: f64, known: Option<u64>) -> Result<Option<u64>> {
        let least = self.target.variant().least_bits(probes);
        let guess = (guess.min(MAX_BITS as f64) as u64).max(least);
        let last = guess.saturating_add(DOWN).min(known.map_or(MAX_BITS, |known| known - 1));
        let mut tried = 0;
        for bits in guess.saturating_sub(DOWN).max(least)..=last {
            if tried < PROOFS && self.about(bits, items, probes) <= self.ln_allowed + 1e-6 {
                tried += 1;
                if self.holds(bits, items, probes)? {
                    return Ok(Some(bits));
                }
            }
        }
        if known.is_some() { Ok(None) } else { self.fewest_beyond(items, probes, guess) }
    }

    /// Returns the fewest bits that a search well above a guess finds.
    fn fewest_beyond(&self, items: u64, probes: u32, guess: u64) -> Result<Option<u64>> {
        let first = guess.saturating_add(DOWN);
        let found = search::boundary(first as f64, guess + 1, MAX_BITS + 1, |bits| Ok(!self.holds(bits, items, probes)?))?;
        Ok((found <= MAX_BITS).then_some(found))
    }
}
