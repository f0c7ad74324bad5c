//! The guaranteed rate of one blocked filter, for one number of probes and similar sizes.

use super::super::target::Target;
use super::mean::law;
use crate::law::hash_floor;
use crate::one_filter::blocks::{BlockLaw, Tilt};
use crate::one_filter::quantile::RateQuantile;
use crate::{Fpr, Law, Rate, Result};
use alloc::rc::Rc;

/// The guarantee of blocked filters with a fixed number of probes, at similar sizes. The guarantee
/// is a Chernoff bound; its parameters are called the *tilt*. Every tilt gives a valid bound at
/// every size, but the bound is sharper if the tilt was found for a similar size.
#[derive(Clone)]
pub(super) struct Sure<'a> {
    pub(super) target: &'a Target,
    pub(super) confidence: f64,
    pub(super) probes: u32,
    pub(super) law: Rc<BlockLaw>,
    pub(super) tilt: Option<Tilt>,
    /// The items per block for which the tilt was found.
    pub(super) load: f64,
    found: Found,
}

/// The kind of search that found the parameters of the bound (the tilt).
#[derive(Clone, Copy, PartialEq)]
enum Found {
    /// A search for another size.
    Carried,
    /// A single search, for sizes near this number of blocks and items.
    Once(u64, u64),
    /// A search for sizes near this number of blocks and items, refined by a second search.
    Alone(u64, u64),
}

impl<'a> Sure<'a> {
    /// Finds the parameters of the bound (the tilt) for this size. Returns `None` if no guarantee
    /// is known, because the blocks are too full.
    pub(super) fn new(target: &'a Target, confidence: f64, probes: u32, blocks: u64, items: u64) -> Option<Sure<'a>> {
        let (blocks, items) = (rough(blocks), rough(items));
        let load = items as f64 / blocks as f64;
        let law = Rc::new(BlockLaw::new(probes, rounded(load))?);
        let tilt = law.tilt(blocks, items, allowed(confidence), None);
        Some(Sure { target, confidence, probes, law, tilt, load, found: Found::Once(blocks, items) })
    }

    /// The guarantee of one size. It does not depend on earlier searches, because its tilt is found
    /// only for this size and sizes near it. Every final answer about a size uses this function.
    pub(super) fn at(&self, blocks: u64, items: u64) -> Option<Self> {
        let (near, many) = (rough(blocks), rough(items));
        if self.found == Found::Alone(near, many) {
            return Some(self.clone());
        }
        let mut fresh = if self.found == Found::Once(near, many) {
            self.clone()
        } else {
            Sure::new(self.target, self.confidence, self.probes, blocks, items)?
        };
        if fresh.tilt.as_ref().is_some_and(Tilt::is_steep) {
            fresh.kept_again(near, many);
        }
        fresh.found = Found::Alone(near, many);
        Some(fresh)
    }

    /// Finds the parameters of the bound (the tilt) for another size. The search starts from the
    /// known tilt, unless the load differs by more than [`MUCH`].
    pub(super) fn tilt_at(&mut self, blocks: u64, items: u64) {
        let load = items as f64 / blocks as f64;
        let near = self.tilt.as_ref().filter(|_| libm::log(load / self.load).abs() <= MUCH);
        let found = self.law.tilt(blocks.max(2), items, allowed(self.confidence), near);
        if found.is_some() {
            (self.tilt, self.load, self.found) = (found, load, Found::Carried);
        }
    }

    /// The upper end of the guaranteed rate of one filter, including the bound on equal hashes.
    pub(super) fn kept(&self, blocks: u64, items: u64) -> f64 {
        let kept = self.law.kept(self.tilt.as_ref(), blocks, items, allowed(self.confidence));
        (kept + hash_floor(items, self.target.hash_bits)).next_up().min(1.0)
    }

    /// Whether the guaranteed rate of one filter is at most `rate`.
    pub(super) fn keeps(&self, blocks: u64, items: u64, rate: &Rate) -> bool {
        self.kept(blocks, items) <= rate.to_f64().next_down()
    }

    /// Like [`keeps`](Self::keeps). If the known tilt does not prove the rate, and was found for a
    /// load that differs by more than [`FAR`], a new tilt is tried.
    pub(super) fn keeps_anywhere(&mut self, blocks: u64, items: u64, rate: &Rate) -> bool {
        if self.keeps(blocks, items, rate) {
            return true;
        }
        if libm::log(items as f64 / blocks as f64 / self.load).abs() <= FAR {
            return false;
        }
        self.tilt_at(blocks, items);
        self.keeps(blocks, items, rate)
    }

    /// The guaranteed rate of one filter after another search for a tilt, which starts from the
    /// known tilt. If the known tilt gives a lower rate, it stays.
    pub(super) fn kept_again(&mut self, blocks: u64, items: u64) -> f64 {
        let (known, kept) = (self.tilt.clone(), self.kept(blocks, items));
        self.tilt_at(blocks, items);
        let again = self.kept(blocks, items);
        if again < kept {
            return again;
        }
        self.tilt = known;
        kept
    }

    /// The upper end of the guaranteed rate of one filter. If it is slightly above `rate`, a second
    /// search tries to find a better tilt (the parameter of the tail bound).
    pub(super) fn kept_nearly(&mut self, blocks: u64, items: u64, rate: &Rate) -> f64 {
        let kept = self.kept(blocks, items);
        let is_near = kept > rate.to_f64() && kept < NEARLY * rate.to_f64();
        if is_near { self.kept_again(blocks, items) } else { kept }
    }

    /// The upper end of the average rate, including the bound on equal hashes.
    pub(super) fn average(&self, blocks: u64, items: u64) -> Result<f64> {
        let mut fpr = law(blocks, self.probes)?.fpr(items)?;
        fpr.add_above(hash_floor(items, self.target.hash_bits));
        Ok(fpr.upper)
    }

    /// Whether the average, including the bound on equal hashes, is at most `rate`.
    pub(super) fn meets(&self, blocks: u64, items: u64, rate: &Rate) -> Result<bool> {
        law(blocks, self.probes)?.meets(items, rate, self.target.hash_bits)
    }

    pub(super) fn holds(&self, blocks: u64, items: u64, rate: &Rate) -> Result<bool> {
        Ok(self.keeps(blocks, items, rate) && self.meets(blocks, items, rate)?)
    }

    /// Estimates the logarithm of the guaranteed rate of one filter.
    pub(super) fn ln_about(&self, blocks: u64, items: u64) -> f64 {
        let about = |tilt| self.law.about(tilt, blocks, items, allowed(self.confidence));
        libm::log(self.tilt.as_ref().map_or(1.0, about) + hash_floor(items, self.target.hash_bits))
    }

    pub(super) fn quantile(&self, blocks: u64, items: u64, met: Option<&Rate>) -> RateQuantile {
        let upper = self.kept(blocks, items);
        let mut fpr = Fpr::bound(0.0, met.map_or(upper, |rate| upper.min(rate.ceil())));
        (fpr.value, fpr.ln) = (fpr.upper, fpr.ln_upper);
        RateQuantile { confidence: self.confidence, fpr, ones: None }
    }
}

/// The allowed probability `1 - c` that a filter misses the rate, not rounded up. The difference is
/// exact for c >= 1/2; for smaller c, it is rounded by at most half an ulp of 1.
pub(super) fn allowed(confidence: f64) -> f64 {
    (1.0 - confidence) * (1.0 - 1e-15)
}

/// The largest difference between the logarithms of two loads for which the bound uses the same
/// parameters (tilt).
pub(super) const FAR: f64 = 0.03;

/// The approximate factor by which a guaranteed rate can exceed the best one, if the parameters of
/// its bound (the tilt) were found for another size or by a coarse search.
pub(super) const NEARLY: f64 = 1.1;

/// The largest difference between the logarithms of two loads for which the parameters of the bound
/// (the tilt) at one load are a useful starting point for the other.
pub(super) const MUCH: f64 = 0.7;

/// A load, rounded up by at most two hundredths, so that sizes with similar loads share the law of
/// a block.
fn rounded(load: f64) -> f64 {
    const STEPS: f64 = 50.0;
    libm::exp(libm::ceil(libm::log(load) * STEPS) / STEPS)
}

/// A number of blocks or items, rounded down to twelve binary digits. Sizes that round to the same
/// numbers share the parameters of the bound (the tilt).
fn rough(size: u64) -> u64 {
    let below = (64 - size.leading_zeros()).saturating_sub(12);
    size >> below << below
}
