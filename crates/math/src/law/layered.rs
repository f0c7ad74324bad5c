//! The law of a filter that grows. Such a filter consists of several standard filters, its
//! *layers*, and a key passes if it passes any layer.

use super::{Law, Standard};
use crate::error::{check_bits, out_of_range};
use crate::{Fill, Fpr, Method, Result};
use alloc::format;
use alloc::vec::Vec;

/// A layer of a filter that grows: a standard filter that never has more than `limit` set bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    bits: u64,
    probes: u32,
    limit: u64,
}

impl Layer {
    /// Creates a layer with this number of bits and probes. At most `limit` bits of the layer can
    /// be set. The limit must be at least the number of probes, so that at least one item fits. The
    /// limit must also be below the number of bits.
    ///
    /// # Errors
    /// Fails if `bits`, `probes` or `limit` is out of range.
    pub fn new(bits: u64, probes: u32, limit: u64) -> Result<Layer> {
        Standard::new(bits, probes)?;
        if limit < probes.into() || limit >= bits {
            return out_of_range("limit", limit, format!("from the probes ({probes}) to below the bits ({bits})"));
        }
        Ok(Layer { bits, probes, limit })
    }

    /// Returns the number of bits, m.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Returns the number of probes per item, k.
    #[must_use]
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// Returns the limit: the largest number of set bits that the layer can have.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// If `ones` bits are set, returns the rate of the layer, which is `(ones / bits)^probes`.
    ///
    /// # Errors
    /// Fails if `ones` exceeds the number of bits.
    pub fn fpr_at_fill(&self, ones: u64) -> Result<Fpr> {
        let rate = Standard::new(self.bits, self.probes)?.fpr_at_fill(&[ones])?;
        Ok(rate.unwrap_or(Fpr::ONE))
    }

    /// Returns a guaranteed upper bound on the rate of the layer.
    ///
    /// # Errors
    /// Does not fail for a valid layer.
    pub fn bound(&self) -> Result<Fpr> {
        self.fpr_at_fill(self.limit)
    }

    /// Returns bounds on the rate of a closed layer that a single thread filled. The bounds do not
    /// depend on the keys in the layer. A layer is closed when the next item could set more bits
    /// than the limit allows. At that time, the layer has more than `limit - probes` and at most
    /// `limit` set bits.
    ///
    /// In two cases, only the upper bound is guaranteed:
    ///
    /// - Several threads filled the layer. Every insertion in progress reserves `probes` bits but
    ///   can set fewer, so the layer can be closed early.
    /// - The filter is the result of a merge. A merge can keep layers that were not closed.
    ///
    /// # Errors
    /// Does not fail for a valid layer.
    pub fn closed(&self) -> Result<Fpr> {
        let (least, most) = (self.fpr_at_fill(self.limit + 1 - u64::from(self.probes))?, self.bound()?);
        Ok(Fpr::bound(least.lower, most.upper))
    }
}

/// The law of a filter that consists of [layers](Layer) with independent positions.
///
/// A new key passes the filter if it passes at least one layer. Let layer i have `k_i` probes and
/// `m_i` bits, of which `ones_i` are set. Then the rate is `1 - prod (1 - (ones_i / m_i)^k_i)`.
///
/// Every layer has a number. If filters are merged, the result can have several layers with the
/// same number. The positions of a key in layers with the same number depend on each other. So for
/// such a group of layers, the probability that a new key passes at least one layer is known only
/// as a range. The probability is at least the largest rate of a layer in the group. The
/// probability is at most the sum of the rates of the layers in the group.
///
/// The number of items that fill a layer is random. So for a given number of items, only bounds on
/// the rate are known. If the number of set bits of each layer is given, and no two layers have the
/// same layer number, the rate is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layered {
    layers: Vec<Layer>,
    /// The number of each layer, in ascending order. The positions in neighbouring layers with the
    /// same number depend on each other. The list is empty if no two layers have the same number.
    numbers: Vec<u64>,
}

impl Layered {
    /// Creates the law of these layers.
    ///
    /// # Errors
    /// Fails if there are no layers, or if all layers together have more bits than
    /// [`MAX_BITS`](crate::MAX_BITS).
    pub fn new(layers: Vec<Layer>) -> Result<Layered> {
        let bits = layers.iter().try_fold(0u64, |bits, layer| bits.checked_add(layer.bits));
        check_bits(bits.unwrap_or(u64::MAX))?;
        Ok(Layered { layers, numbers: Vec::new() })
    }

    /// Creates the law of existing layers. `numbers` are the layers' numbers, which must not
    /// decrease. Without layers, the law is that of an empty filter.
    #[doc(hidden)]
    #[must_use]
    pub fn numbered(layers: Vec<Layer>, numbers: Vec<u64>) -> Layered {
        Layered { layers, numbers }
    }

    /// Returns the layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns a guaranteed upper bound on the rate: the rate if every layer has reached its limit
    /// on the number of set bits.
    ///
    /// # Errors
    /// Does not fail for valid layers.
    pub fn bound(&self) -> Result<Fpr> {
        self.any(Layer::bound)
    }

    /// Returns bounds on the rate when all layers are closed. The lower bound is guaranteed only if
    /// a single thread filled the layers and no filters were merged (see [`Layer::closed`]).
    ///
    /// # Errors
    /// Does not fail for valid layers.
    pub fn closed(&self) -> Result<Fpr> {
        self.any(Layer::closed)
    }

    /// The rate of the filter, computed from the rate of each layer.
    fn any(&self, rate: impl Fn(&Layer) -> Result<Fpr>) -> Result<Fpr> {
        Ok(self.join(&self.layers.iter().map(rate).collect::<Result<Vec<Fpr>>>()?))
    }

    fn join(&self, rates: &[Fpr]) -> Fpr {
        if self.numbers.len() != rates.len() {
            return any(rates.iter().copied());
        }
        let mut rest = rates;
        any(self.numbers.chunk_by(|one, next| one == next).map(|twins| {
            let (rates, after) = rest.split_at(twins.len());
            rest = after;
            of_twins(rates)
        }))
    }
}

/// The probability that at least one of several independent events happens. Adding an event with
/// probability p changes the probability q to `q + p (1 - q)`. All terms are positive, so each
/// rounding moves an end by at most one ulp. Each end is moved outward by that amount.
fn any(rates: impl Iterator<Item = Fpr>) -> Fpr {
    let (mut lower, mut upper, mut all_exact) = (0.0f64, 0.0f64, true);
    for rate in rates {
        lower = (lower + (rate.lower * (1.0 - lower)).next_down().next_down().max(0.0)).next_down().max(0.0);
        // The complement is rounded to nearest, so two ulps upwards cover its rounding and that of
        // the product.
        upper = (upper + (rate.upper * (1.0 - upper)).next_up().next_up()).next_up().min(1.0);
        all_exact &= rate.method == Method::Exact;
    }
    let mut both = Fpr::bound(lower, upper);
    if all_exact {
        both.method = Method::Exact;
    }
    both
}

/// Bounds the probability that at least one of several events happens, without assumptions on their
/// dependence. This probability is at least the largest of their probabilities, and at most the
/// sum.
fn of_twins(rates: &[Fpr]) -> Fpr {
    if let [one] = rates {
        return *one;
    }
    let lower = rates.iter().fold(0.0f64, |most, rate| most.max(rate.lower));
    let upper = rates.iter().fold(0.0f64, |sum, rate| (sum + rate.upper).next_up());
    Fpr::bound(lower, upper.min(1.0))
}

impl Law for Layered {
    /// The number of bits in all layers.
    fn bits(&self) -> u64 {
        self.layers.iter().map(|layer| layer.bits).sum()
    }

    /// Returns the sum of the layers' probes. A query checks at most this many positions.
    fn probes(&self) -> u32 {
        self.layers.iter().fold(0, |probes, layer| probes.saturating_add(layer.probes))
    }

    /// Returns a bracket for the rate. The lower end of the bracket is 0, and the upper end is the
    /// result of [`bound`](Self::bound). Without items, the rate is exactly 0.
    fn fpr(&self, items: u64) -> Result<Fpr> {
        if items == 0 { Ok(Fpr::ZERO) } else { Ok(Fpr::bound(0.0, self.bound()?.upper)) }
    }

    /// Returns the rate for given numbers of set bits. `ones` has one number for each layer.
    fn fpr_at_fill(&self, ones: &[u64]) -> Result<Option<Fpr>> {
        if ones.len() != self.layers.len() {
            return out_of_range(
                "ones",
                format!("a list of {} counts", ones.len()),
                format!("a list with one count for each of {} layers", self.layers.len()),
            );
        }
        if ones.iter().all(|ones| *ones == 0) {
            return Ok(Some(Fpr::ZERO));
        }
        let rates = self.layers.iter().zip(ones).map(|(layer, ones)| layer.fpr_at_fill(*ones));
        Ok(Some(self.join(&rates.collect::<Result<Vec<Fpr>>>()?)))
    }

    fn fill(&self, _: u64) -> Result<Option<Fill>> {
        Ok(None)
    }
}
