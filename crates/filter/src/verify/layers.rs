//! Verifying filters that grow, layer by layer.

use super::{ALPHA, ExpectedVerdict, FillVerdict, Keys, Measurement, Verification};
use crate::ScalableFilter;
use crate::backing::Counted;
use truebloom_math::{Error, Growth, Law, Variant, distinct, law};

impl Verification {
    /// Examines a filter that grows. The number of set bits in each layer is compared with its law.
    /// The test of a layer gets a share of [`ALPHA`] as its error probability. The filter has no
    /// capacity, so its own rate is compared with the requested rate directly. Only a merge can
    /// raise its own rate above the requested rate.
    pub(crate) fn of_layers<K: Counted>(filter: &ScalableFilter<K>) -> Result<Verification, Error> {
        truebloom_math::as_one_call(|| {
            let (own, bound, asked) = (filter.fpr(), filter.bound(), filter.growth().rate());
            let keys = Keys::new(filter.changed(), filter.most_items(), filter.is_merged(), || {
                distinct::most_at_rate(own.upper, filter.changed(), ALPHA / 4.0)
            });
            let expected_verdict = if bound.upper <= asked.to_f64() { ExpectedVerdict::Met } else { ExpectedVerdict::Undetermined };
            let fill = if filter.is_merged() { FillVerdict::untested(filter.ones()) } else { layers_verdict(filter)? };
            let items = (keys.fewest, keys.offered);
            Ok(Verification {
                items,
                withheld: false,
                expected: bound,
                expected_verdict,
                fill,
                limit: Some(asked.to_f64()),
                is_overfull: filter.is_over_capacity(),
            })
        })
    }
}

impl<K: Counted> ScalableFilter<K> {
    /// Checks whether the filter's bits agree with its counts of insertions: see [`Verification`].
    /// A filter that grows consists of layers. The number of set bits in each layer is tested
    /// against its probability distribution.
    ///
    /// # Errors
    /// Returns the same errors as [`Verification::of`].
    pub fn verified(&self) -> Result<Verification, Error> {
        Verification::of_layers(self)
    }

    /// Starts a measurement of the filter's false-positive rate with random keys: see
    /// [`Measurement`].
    pub fn measured(&self, seed: u64) -> Measurement<'_> {
        let (own, tells) = (self.fpr(), self.fill_tells_rate());
        let rates = if tells { (own.value, own.value) } else { (self.least_rate().max(own.lower), own.upper) };
        Measurement::of_counter(|keys| self.contains_all(keys).count_ones(), rates, seed)
    }
}

/// Compares the numbers of set bits in all layers with their laws. If a layer was closed after `a`
/// insertions, it had room for another key after `a - 1` insertions, but not after `a`. So the
/// number of set bits was below a known limit before the last insertion, and not below it
/// afterwards.
fn layers_verdict<K: Counted>(filter: &ScalableFilter<K>) -> Result<FillVerdict, Error> {
    let (layers, inserted, ones) = (filter.layers(), filter.inserted(), filter.layer_ones());
    let (mut too_few, mut too_many) = (1.0f64, 1.0f64);
    for (number, ((layer, inserted), ones)) in (0u32..).zip(layers.iter().zip(inserted).zip(&ones)) {
        // The number of layers depends on the numbers of set bits, so the level is divided among
        // all layers that may exist, not only those that do.
        let share = Growth::share(number);
        let law = law::Standard::new(layer.bits(), layer.probes())?;
        let full = layer.limit() + 1 - u64::from(layer.probes());
        let is_closed = number as usize + 1 < layers.len();
        let (before, most_before, least) = if is_closed { (inserted.saturating_sub(1), full - 1, full) } else { (inserted, *ones, *ones) };
        if let Some(fill) = law.fill(before)? {
            too_few = too_few.min(fill.at_most(most_before) / share);
        }
        // `met` also counts new keys that were false positives. They set no bit.
        let met = distinct::most(Variant::Standard, layer.bits(), layer.probes(), inserted, ALPHA / 4.0 * share);
        if let Some(fill) = met.map(|met| law.fill(met)).transpose()?.flatten() {
            too_many = too_many.min(fill.at_least(least) / share);
        }
    }
    let (too_few, too_many) = (too_few.min(1.0), too_many.min(1.0));
    Ok(FillVerdict { ones: filter.ones(), tested: true, too_few, too_many, noticed: None })
}
