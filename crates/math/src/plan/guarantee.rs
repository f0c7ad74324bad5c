//! The guarantee for one filter, for the laws of independent positions.
//!
//! Sizes and probes are searched for in `f64` ([`super::look`]) and proven by [`miss_bound`]. If
//! the law of the fill can be summed within some milliseconds, it replaces the bounds on its tails,
//! which are slightly too high. Below a hundred items the law alone decides ([`few_items`]).

mod few_items;

use super::look::ln_miss;
use super::spread::question;
use super::target::Target;
use crate::exact::bisect::bisect_sizes;
use crate::law::hash_floor;
use crate::one_filter::quantile::{Evidence, RateQuantile, miss_bound, rate_quantile_bound};
use crate::search::{self, Fit, MAX_SEARCHED_PROBES, Question};
use crate::{MAX_BITS, Rate, Result};
use alloc::vec;
use alloc::vec::Vec;
use core::iter;

/// A search for a guarantee.
#[derive(Clone, Copy)]
pub(super) struct Sure<'a> {
    target: &'a Target,
    rate: &'a Rate,
    confidence: f64,
    /// The logarithm of the allowed probability of a miss.
    ln_allowed: f64,
}

/// How many sizes below the first guess are tried: the probability is not monotone in the bits,
/// because rounding to whole bits changes the rate.
const DOWN: u64 = 48;

/// How many proofs may fail before the search continues in larger steps.
const PROOFS: u64 = 64;

/// How many walks of the exact law one number of probes is worth, after the first; also, how many
/// walks another number of probes is worth.
const WALKS: usize = 6;
const OTHER_WALKS: usize = 1;

/// The bounds on the tails exceed the truth by at most this, in logarithms, when they are near the
/// allowed probability.
const LOOSE: f64 = 3.0;

/// With more balls than this, the law is not used.
const MANY_BALLS: u64 = 1_000_000;

/// Below some 3,000 balls (items times probes), a walk takes at most a millisecond. With more
/// balls, the bounds need at most 0.2% more bits than the law would.
const LAW: Evidence = Evidence::Law { terms: 8e5 };

/// With up to this many balls, a walk takes microseconds.
const FEW_BALLS: u64 = 1_000;

/// With up to this many bits, every size is tried.
const FEW_BITS: u64 = 512;

/// A smaller improvement is not worth a walk.
const WORTH: f64 = 0.999;

/// How far below a size smaller ones are searched for.
const FAR: u64 = 4_096;

impl<'a> Sure<'a> {
    pub(super) fn new(target: &'a Target, rate: &'a Rate, confidence: f64) -> Sure<'a> {
        Sure { target, rate, confidence, ln_allowed: libm::log(1.0 - confidence) }
    }

    /// An upper bound on the probability that a filter of this size exceeds the rate asked for.
    fn miss(&self, bits: u64, items: u64, probes: u32, evidence: Evidence) -> Result<f64> {
        miss_bound(self.target.variant(), bits, items, probes, self.rate, Some(self.target.hash_bits), evidence)
    }

    /// Whether it is proven that the rate is kept on average and with the confidence.
    pub(super) fn holds(&self, bits: u64, items: u64, probes: u32, evidence: Evidence) -> Result<bool> {
        if !self.target.variant().meets(bits, items, probes, self.rate, Some(self.target.hash_bits))? {
            return Ok(false);
        }
        // 1 - c is exact from a half on, and rounded by less than the slack of the bound below.
        Ok(self.miss(bits, items, probes, evidence)? <= 1.0 - self.confidence)
    }

    fn question(&self) -> Question<'_> {
        question(self.target, self.rate)
    }

    /// Approximately the logarithm of [`Self::miss`], from bounds alone.
    fn about(&self, bits: u64, items: u64, probes: u32) -> f64 {
        let ln_rate = self.question().ln_target(items);
        ln_miss(self.target.variant(), bits as f64, items as f64, f64::from(probes), ln_rate)
    }

    /// The smallest number of bits found that keeps the guarantee; at least the number that the
    /// average needs.
    pub(super) fn fewest_bits(&self, items: u64, mean: Fit) -> Result<Option<Fit>> {
        let about = |probes: u32| self.about_bits(items, probes, mean.size);
        let probes = self.best_probes(mean.probes, None, about, false);
        if self.is_followed(items, probes)
            && let Some(size) = self.fewest_bits_at(items, probes, about(probes))?
            && let Some(best) = self.fewest_bits_of_few(items, mean.size, Fit { size, probes })?
        {
            return Ok(Some(best));
        }
        let mut best: Option<Fit> = None;
        for probes in self.near(probes, items) {
            let Some(size) = self.fewest_bits_at(items, probes, about(probes))? else { continue };
            // The law takes a bit or two in a hundred off a size: what is further from the best is
            // not worth its walks. Of few bits every size is tried.
            if best.is_some_and(|best| best.size > FEW_BITS && size > best.size + best.size / 64 + 2) {
                continue;
            }
            let found = self.fewer_bits_at(items, Fit { size, probes }, mean.size, best)?;
            if best.is_none_or(|best| found.size < best.size) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The numbers of probes to try: the best, and in small filters, for which bounds and whole
    /// bits say little, also its neighbours.
    fn near(&self, probes: u32, items: u64) -> Vec<u32> {
        let few = self.target.probes.is_none() && items.saturating_mul(probes.into()) <= FEW_BALLS;
        if !few {
            return vec![probes];
        }
        iter::once(probes).chain(search::outwards(probes, probes.saturating_sub(2).max(1), probes + 2)).collect()
    }

    /// The number of probes with the best size, searched from a first number in both directions
    /// until two in a row are no better; the given number, if there is one.
    fn best_probes(&self, first: u32, bits: Option<u64>, size: impl Fn(u32) -> f64, most: bool) -> u32 {
        let Some(last) = self
            .target
            .probes
            .is_none()
            .then(|| bits.map_or(MAX_SEARCHED_PROBES, |bits| self.target.variant().max_probes(bits).min(MAX_SEARCHED_PROBES)))
        else {
            return first;
        };
        let (mut best, mut least) = (first, size(first));
        for up in [false, true] {
            let (mut probes, mut misses) = (first, 0);
            while misses < 2 && (if up { probes < last } else { probes > 1 }) {
                probes = if up { probes + 1 } else { probes - 1 };
                let found = size(probes);
                let gains = if most { found > least } else { found < least };
                (best, least, misses) = if gains { (probes, found, 0) } else { (best, least, misses + 1) };
            }
        }
        best
    }

    /// Approximately the (real) number of bits at which the bound on a miss falls below what is
    /// allowed.
    fn about_bits(&self, items: u64, probes: u32, start: u64) -> f64 {
        let ln_rate = self.question().ln_target(items);
        let variant = self.target.variant();
        let least = f64::from(probes).max(2.0);
        let miss = |bits: f64| ln_miss(variant, libm::floor(bits), items as f64, f64::from(probes), ln_rate);
        let mut high = (start as f64).max(least);
        while miss(high) > self.ln_allowed && high < MAX_BITS as f64 {
            high *= 1.2;
        }
        let mut low = high / 1.2;
        while low > least && miss(low) <= self.ln_allowed {
            (low, high) = (low / 1.2, low);
        }
        bisect_sizes(low, high, |bits| miss(bits) <= self.ln_allowed).1
    }

    /// The first size around a guess that is proven.
    fn fewest_bits_at(&self, items: u64, probes: u32, guess: f64) -> Result<Option<u64>> {
        let least = self.target.variant().least_bits(probes);
        let guess = (guess.min(MAX_BITS as f64) as u64).max(least);
        let mut tried = 0;
        for bits in guess.saturating_sub(DOWN).max(least)..=guess.saturating_add(DOWN).min(MAX_BITS) {
            if tried < PROOFS && self.about(bits, items, probes) <= self.ln_allowed + 1e-6 {
                tried += 1;
                if self.holds(bits, items, probes, Evidence::Bounds)? {
                    return Ok(Some(bits));
                }
            }
        }
        let holds = |bits: u64| self.holds(bits, items, probes, Evidence::Bounds);
        let mut step = DOWN.max(guess >> 50);
        let (mut failed, mut bits) = (guess, guess.saturating_add(step));
        while bits < MAX_BITS && !holds(bits)? {
            (failed, step) = (bits, step.saturating_mul(2));
            bits = bits.saturating_add(step);
        }
        if bits >= MAX_BITS && !holds(MAX_BITS)? {
            return Ok(None);
        }
        search::boundary(bits as f64, failed + 1, bits.min(MAX_BITS), |bits| Ok(!holds(bits)?)).map(Some)
    }

    /// Looks for a smaller size with the law itself, if it can be summed, because the bounds on the
    /// tails need slightly too many bits.
    fn fewer_bits_at(&self, items: u64, found: Fit, mean: u64, best: Option<Fit>) -> Result<Fit> {
        let Fit { mut size, probes } = found;
        let least = self.target.variant().least_bits(probes);
        // The law is not summed so far out, and what the bounds give away is below a
        // hundred-thousandth of the bits.
        if items.saturating_mul(probes.into()) > MANY_BALLS {
            return Ok(found);
        }
        if size <= FEW_BITS || best.is_some_and(|best| best.size <= FEW_BITS) {
            let most = best.map_or(size, |best| best.size.min(size));
            let is_cheap = items.saturating_mul(probes.into()) <= FEW_BALLS;
            for bits in mean.max(least)..most {
                if (is_cheap || self.about(bits, items, probes) <= self.ln_allowed + LOOSE) && self.holds(bits, items, probes, LAW)? {
                    return Ok(Fit { size: bits, probes });
                }
            }
            return Ok(found);
        }
        let by_bound = self.miss(size, items, probes, Evidence::Bounds)?;
        let by_law = self.miss(size, items, probes, LAW)?;
        if by_law >= WORTH * by_bound {
            return Ok(found);
        }
        // What the bound is too high here it is about too high nearby.
        let allowed = self.ln_allowed + libm::log(by_bound / by_law);
        // Other probes need only be better than the best.
        let most_walks = if best.is_some() { OTHER_WALKS } else { WALKS };
        size = best.map_or(size, |best| best.size.min(size));
        let (mut failed, mut walks) = (None, 0);
        let candidate = |from: u64, failed: Option<u64>| {
            let last = failed.map_or(least, |failed| failed + 1);
            (last.max(from.saturating_sub((from / 8).min(FAR) + DOWN))..from)
                .find(|&bits| self.about(bits, items, probes) <= allowed + 1e-9)
        };
        while walks < most_walks
            && let Some(bits) = candidate(size, failed)
        {
            walks += 1;
            if self.holds(bits, items, probes, LAW)? { size = bits } else { failed = Some(bits) }
        }
        // The guess was a little too high or too low: bit by bit.
        while walks < most_walks && size > least && failed.is_none_or(|failed| failed < size - 1) {
            walks += 1;
            if self.holds(size - 1, items, probes, LAW)? { size -= 1 } else { failed = Some(size - 1) }
        }
        Ok(Fit { size, probes })
    }

    /// The largest number of items found that these bits hold with the guarantee; at most the
    /// number for the average. With given probes, a miss becomes more likely with more items, so
    /// this is a boundary.
    pub(super) fn most_items(&self, bits: u64, mean: Fit) -> Result<Option<Fit>> {
        let about = |probes: u32| self.about_items(bits, probes, mean.size);
        let likely = self.best_probes(mean.probes, Some(bits), about, true);
        let (mut best, few) = self.most_items_of_few(bits, likely, mean.size + 1)?;
        if best.is_some_and(|best| best.size + 1 < few) {
            return Ok(best);
        }
        for probes in self.near(likely, mean.size) {
            if probes > self.target.variant().max_probes(bits) {
                continue;
            }
            let size = self.most_items_at(bits, probes, about(probes), mean.size + 1)?;
            if size > best.map_or(0, |best| best.size) {
                best = Some(Fit { size, probes });
            }
        }
        Ok(best)
    }

    /// The same with given probes, below a number of items that is too large.
    fn most_items_at(&self, bits: u64, probes: u32, guess: f64, limit: u64) -> Result<u64> {
        let holds = |items: u64, evidence| self.holds(bits, items, probes, evidence);
        if bits <= FEW_BITS {
            return Ok(search::boundary(guess + 1.0, 1, limit, |items| holds(items, LAW))? - 1);
        }
        let most = search::boundary(guess + 1.0, 1, limit, |items| holds(items, Evidence::Bounds))? - 1;
        let closer = most.max(1);
        let by_bound = self.miss(bits, closer, probes, Evidence::Bounds)?;
        let by_law = self.miss(bits, closer, probes, LAW)?;
        if by_law >= WORTH * by_bound || limit <= most + 1 {
            return Ok(most);
        }
        // One question of the law is a walk: from a close guess.
        let allowed = self.ln_allowed + libm::log(by_bound / by_law);
        let guess = search::boundary(most as f64 + 1.0, most + 1, limit, |items| Ok(self.about(bits, items, probes) <= allowed))?;
        Ok(search::boundary(guess as f64, most + 1, limit, |items| holds(items, LAW))? - 1)
    }

    fn about_items(&self, bits: u64, probes: u32, limit: u64) -> f64 {
        let too_many = |items: f64| self.about(bits, items.max(1.0) as u64, probes) > self.ln_allowed;
        bisect_sizes(0.0, limit as f64 + 1.0, too_many).0
    }

    /// A number of probes with which this size keeps the guarantee, searched from the best on
    /// average outwards.
    pub(super) fn probes_for(&self, bits: u64, items: u64, first: u32) -> Result<Option<u32>> {
        let probes = self.best_probes(first, Some(bits), |probes| self.about(bits, items, probes), false);
        for probes in [probes, first] {
            if self.holds(bits, items, probes, self.evidence(items, probes))? {
                return Ok(Some(probes));
            }
        }
        self.probes_for_few(bits, items, first)
    }
}

/// The rate that one filter keeps with this probability, including equal hashes; `met` is a rate
/// that is already proven to be kept.
pub(super) fn quantile(target: &Target, bits: u64, items: u64, probes: u32, confidence: f64, met: Option<&Rate>) -> Result<RateQuantile> {
    let mut quantile = rate_quantile_bound(target.variant(), bits, items, probes, confidence)?;
    quantile.fpr.add_above(hash_floor(items, target.hash_bits));
    if let Some(rate) = met {
        // The upper end comes down to the rate, and so do the numbers shown for it.
        (quantile.fpr.value, quantile.fpr.ln) = (quantile.fpr.lower, quantile.fpr.ln_lower);
        quantile.fpr.cap(rate);
    }
    (quantile.fpr.value, quantile.fpr.ln) = (quantile.fpr.upper, quantile.fpr.ln_upper);
    Ok(quantile)
}
