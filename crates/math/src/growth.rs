//! Filters that grow in layers, for an unknown number of items.
//!
//! [`Growth`] determines the size of each layer, and the layer's share of the requested rate.
//! docs/design/growth.md explains the design. docs/GROWTH.md shows the resulting memory and rates.

use crate::error::out_of_range;
use crate::exact::bisect::try_bisect;
use crate::exact::work;
use crate::law::Layer;
use crate::{Fpr, MAX_BITS, Plan, Rate, Result, Target};
use alloc::format;
use core::f64::consts::LN_2;
use core::iter;

/// A plan for a filter that grows in layers. Each layer is a separate filter. A new layer is opened
/// when the previous one is full.
///
/// Layer i, counted from 0, may use the share `8/((8+i)(9+i))` of the requested rate. The shares of
/// infinitely many layers add up to 1. Each layer has a limit on its number of set bits, and is
/// closed before it can exceed the limit. So the rate of a layer never exceeds its share. However
/// many layers the filter has, its rate never exceeds the requested rate.
///
/// The [`ratio`](Self::ratio) of the plan limits the memory of all layers together. Once there are
/// two layers, this memory is at most about `ratio` times the memory of a single filter for the
/// same number of items. Each layer is as large as this limit allows.
///
/// ```
/// use truebloom_math::Growth;
/// let growth = Growth::new("0.1%".parse()?, 1_000)?;
/// assert!((3.0..3.5).contains(&growth.ratio()));
/// let (first, second, third) = (growth.layer(0)?, growth.layer(1)?, growth.layer(2)?);
/// assert!(first.fpr.upper <= 0.001 / 9.0 && second.items > first.items && third.items > 2 * second.items);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    rate: Rate,
    first: u64,
    ratio: f64,
}

/// The plan of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedLayer {
    /// The approximate number of items that the layer holds when it is full. The exact number is
    /// random.
    pub items: u64,
    /// The layer's number of bits, number of probes and largest number of set bits.
    pub layer: Layer,
    /// A guaranteed upper bound on the layer's rate.
    pub fpr: Fpr,
}

/// A parameter that determines how slowly the shares fall from layer to layer. This value keeps the
/// memory within 1% of the smallest possible memory at rates from 10% to 1e-6.
const SLOWNESS: f64 = 8.0;

/// The part of each share that is reserved for equal hashes and for rounding the shares. (With 2^64
/// keys, equal hashes add 2^-64 = 5.4e-20 to the rate.)
const KEPT: f64 = 1.0 / (1 << 20) as f64;

/// The lowest rate for which [`KEPT`] is enough.
const LEAST_RATE: f64 = 1e-13;

/// The ratio is chosen so that 20 layers hold this many times the items of the first layer. If
/// every layer were twice as large as the previous one, this would also take 20 layers.
const REACH: f64 = 1e6;
const LAYERS: usize = 20;

/// The largest number of layers that a filter with a custom ratio may need to grow by [`REACH`].
const MOST_LAYERS: usize = 100;

/// The largest number of items in a layer.
const MOST_ITEMS: f64 = 1e18;

/// The smallest number of items in a first layer. For fewer items, rounding to whole bits would
/// dominate the plan.
const LEAST_FIRST: u64 = 64;

impl Growth {
    /// An upper limit on the number of layers. A filter reaches [`MAX_BITS`] bits before it has
    /// this many layers.
    pub const MOST_LAYERS: u32 = 1_000;

    /// The largest number of items in a first layer.
    pub const MOST_FIRST: u64 = 1_000_000_000_000;

    /// Creates the plan of a filter that grows, with about `first` items in the first layer.
    /// `first` must be from 64 to 10^12. With this plan, 20 layers hold at least 10^6 times the
    /// items of the first layer. The plan's memory [`ratio`](Self::ratio) is about the smallest
    /// ratio that allows this, rounded up to three decimals.
    ///
    /// # Errors
    /// Fails if the rate is below 1e-13, or if `first` is out of range.
    pub fn new(rate: Rate, first: u64) -> Result<Growth> {
        let reaches = |ratio: f64| Growth { rate, first, ratio }.reaches(LAYERS);
        let (mut low, mut high) = (1.0, 4.0);
        while !reaches(high) && high < 1e9 {
            (low, high) = (high, 2.0 * high);
        }
        // The ratio is rounded up to a thousandth, because it is printed and stored.
        while high - low > 5e-4 {
            let middle = low + (high - low) / 2.0;
            if reaches(middle) { high = middle } else { low = middle }
        }
        Growth::with_ratio(rate, first, libm::ceil(high * 1e3) / 1e3)
    }

    /// Like [`Growth::new`], but with a custom memory [`ratio`](Self::ratio). A lower ratio means
    /// more layers and slower queries.
    ///
    /// # Errors
    /// Fails if the rate is below 1e-13, if `first` is out of range, or if the ratio is above 10^9.
    /// Also fails if the ratio is too low, in either of two cases:
    ///
    /// - More than 100 layers would be needed to hold a million times as many items as the first
    ///   layer.
    /// - The third layer or a later one would hold fewer items than the layer before it. This would
    ///   happen before all layers together reach 2^62 bits. The reason is that each layer needs
    ///   more bits per item than the previous layer.
    pub fn with_ratio(rate: Rate, first: u64, ratio: f64) -> Result<Growth> {
        if rate.to_f64() < LEAST_RATE {
            return out_of_range(
                "rate",
                rate,
                format!("at least {LEAST_RATE:e} for a filter that grows, because hash collisions add to its rate"),
            );
        }
        if !(LEAST_FIRST..=Growth::MOST_FIRST).contains(&first) {
            return out_of_range("first", first, format!("{LEAST_FIRST} to {} items", Growth::MOST_FIRST));
        }
        let growth = Growth { rate, first, ratio };
        if !(1.0..=1e9).contains(&ratio) || !growth.reaches(MOST_LAYERS) {
            return out_of_range(
                "ratio",
                ratio,
                format!(
                    "from 1 to 1e9, and so large that {MOST_LAYERS} layers reach 10^6 times the first size, and no layer is smaller than the one before"
                ),
            );
        }
        Ok(growth)
    }

    /// Returns the requested rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the approximate number of items in the first layer.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the memory ratio of this plan: the memory of all layers together, divided by the
    /// memory of a single filter for the same number of items. The actual ratio is highest just
    /// after a new layer is opened. From the second layer on, this function returns approximately
    /// the ratio at this moment.
    ///
    /// The plan assumes that memory is proportional to `items log2(1/rate)`. Small layers need more
    /// memory than this, because their sizes are rounded up to whole 64-bit words. So the actual
    /// ratio can be up to 10% higher if the first layer holds 64 items. If the first layer holds
    /// 1,000 items or more, the actual ratio is at most 0.6% higher.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns the share of the requested rate that is assigned to a layer. The shares of the first
    /// n layers add up to n/(8 + n).
    #[must_use]
    pub fn share(layer: u32) -> f64 {
        let above = SLOWNESS + f64::from(layer);
        SLOWNESS / (above * (above + 1.0))
    }

    /// Returns the sum of the shares of this layer and all later layers.
    #[must_use]
    pub fn share_from(layer: u64) -> f64 {
        SLOWNESS / (SLOWNESS + layer as f64)
    }

    /// The bits per item of a layer, divided by the bits per item of a single filter with the
    /// requested rate.
    fn cost(&self, layer: u32) -> f64 {
        1.0 - libm::log(Growth::share(layer)) / -self.rate.ln()
    }

    /// The item counts of the layers, in multiples of the first layer's. Each layer is as large as
    /// the ratio allows at the moment at which the previous layer is full.
    fn sizes(&self) -> impl Iterator<Item = f64> {
        let growth = *self;
        let second = (growth.ratio - growth.cost(0)) / growth.cost(1);
        let after = (2..).scan(second, move |size, layer| {
            *size *= growth.ratio / growth.cost(layer);
            Some(*size)
        });
        iter::once(1.0).chain(iter::once(second)).chain(after)
    }

    /// Whether the first `most` layers hold at least [`REACH`] times the items of the first layer,
    /// and layers keep growing until memory runs out.
    fn reaches(&self, most: usize) -> bool {
        let mut items = 0.0;
        let reached = self.sizes().take(most).take_while(|size| *size > 0.0).any(|size| {
            items += size;
            items >= REACH
        });
        reached && self.is_endless()
    }

    /// Whether layers keep growing until memory runs out. The bits per item rise with each layer.
    /// Once a layer needs more bits per item than the ratio allows, layers shrink, and the filter
    /// cannot grow beyond some number of items.
    fn is_endless(&self) -> bool {
        let per_item = -self.rate.ln() / (LN_2 * LN_2);
        let mut bits = 0.0;
        for (layer, size) in (0..Growth::MOST_LAYERS).zip(self.sizes()) {
            let items = size * self.first as f64;
            bits += items * per_item * self.cost(layer);
            if items > MOST_ITEMS || bits > MAX_BITS as f64 {
                return true;
            }
            if layer > 1 && self.cost(layer) >= self.ratio {
                return false;
            }
        }
        false
    }

    /// The approximate number of items that a layer holds.
    fn items(&self, layer: u32) -> f64 {
        self.sizes().nth(layer as usize).unwrap_or(0.0) * self.first as f64
    }

    /// Returns the plan of the layer with this number, counted from 0. The layer consists of whole
    /// 64-bit words. It is the smallest layer whose expected rate, with the layer's planned number
    /// of items, is at most the layer's share of the requested rate. About a millionth of the share
    /// is reserved for false positives that are caused by equal hashes, and for rounding errors.
    /// This takes about 100 microseconds.
    ///
    /// # Errors
    /// Fails if the layer would have more than [`MAX_BITS`] bits.
    pub fn layer(&self, layer: u32) -> Result<PlannedLayer> {
        let _work = work::begin();
        let items = if layer < Growth::MOST_LAYERS { self.items(layer) } else { f64::INFINITY };
        if items > MOST_ITEMS {
            return out_of_range("items", format!("{items:e}"), "at most 1e18 in a layer");
        }
        let items = (items as u64).max(LEAST_FIRST);
        let most = self.rate.to_f64() * (1.0 - KEPT) * Growth::share(layer);
        let plan = Plan::new(&Target::new().items(items).rate(Rate::try_from(most)?).mean())?;
        let bits = plan.bits.next_multiple_of(64);
        let limit = limit(bits, plan.probes, most)?;
        let layer = Layer::new(bits, plan.probes, limit)?;
        Ok(PlannedLayer { items, layer, fpr: layer.bound()? })
    }
}

/// The largest number of set bits, below `bits`, whose rate is proven to be at most `most`.
fn limit(bits: u64, probes: u32, most: f64) -> Result<u64> {
    let at = |ones| Layer::new(bits, probes, bits - 1).and_then(|layer| layer.fpr_at_fill(ones));
    Ok(try_bisect(1..=bits, |ones| Ok::<bool, crate::Error>(at(ones)?.upper > most))? - 1)
}
