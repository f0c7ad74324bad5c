//! Filters that come from RedisBloom. The imported layers are kept unchanged and queried by
//! RedisBloom's arithmetic; items that are added here go into a separate filter.

use crate::answer::{FULL, Failure};
use crate::commands::Request;
use crate::memory::class;
use crate::redisbloom::{Chain, Hashes, Plan};
use crate::settings::MOST_ITEMS;
use crate::value::Value;
use truebloom::Seed;
use truebloom_math::{Rate, binomial, mix};
use xxhash_rust::xxh3::Xxh3Default;

/// A filter of RedisBloom.
#[derive(Clone)]
pub(crate) struct Imported {
    chain: Chain,
    /// The bits of each layer.
    bits: Vec<Box<[u64]>>,
    /// The items that were added here: a compact filter or a large one. The filter is made when the
    /// first item comes.
    own: Option<Box<Value>>,
}

/// The approximate number of bytes that a filter takes beside its bits.
const OWN_BYTES: usize = 256;

/// The smallest number of items and the lowest rate for which the filter for added items is
/// planned.
const LEAST_ITEMS: u64 = 100;
const LOWEST_RATE: f64 = 1e-12;

/// The step of SplitMix64, an odd number. The function `mix` is the finalizer of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of random keys with which the current rate is measured; they take some milliseconds.
const SAMPLE: u64 = 100_000;

impl Imported {
    /// Makes the filter from the parameters of a chain of layers and the words of each layer.
    pub(crate) fn new(chain: Chain, mut bits: Vec<Box<[u64]>>) -> Imported {
        for (layer, words) in chain.layers.iter().zip(&mut bits) {
            // Bits beyond the last one are never queried, but would count as set.
            if let (Some(last), tail @ 1..) = (words.last_mut(), layer.bits % 64) {
                *last &= (1 << tail) - 1;
            }
        }
        Imported { chain, bits, own: None }
    }

    pub(crate) fn with_own(mut self, own: Option<Value>) -> Imported {
        self.own = own.map(Box::new);
        self
    }

    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }

    pub(crate) fn bits(&self) -> impl Iterator<Item = &[u64]> {
        self.bits.iter().map(|words| &words[..])
    }

    pub(crate) fn own(&self) -> Option<&Value> {
        self.own.as_deref()
    }

    /// The imported layers, each with its bits.
    fn layers(&self) -> impl Iterator<Item = (&Plan, &[u64])> {
        self.chain.layers.iter().zip(self.bits())
    }

    fn has(&self, hashes: Hashes) -> bool {
        self.layers().any(|(plan, bits)| hashes.are_in(plan, bits))
    }

    pub(crate) fn contains<'a>(&self, items: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Vec<bool>, Failure> {
        let mut found: Vec<bool> = items.clone().map(|item| self.has(Hashes::of(item))).collect();
        if let Some(own) = &self.own {
            found.iter_mut().zip(own.contains(items)?).for_each(|(found, here)| *found |= here);
        }
        Ok(found)
    }

    /// Adds items in order; returns true for those that were not contained.
    pub(crate) fn add<'a>(
        &mut self,
        items: impl Iterator<Item = &'a [u8]>,
        is_limited: bool,
    ) -> Result<Vec<Result<bool, Failure>>, Failure> {
        items
            .map(|item| {
                if self.has(Hashes::of(item)) {
                    return Ok(Ok(false));
                }
                let own = match self.own.take() {
                    Some(own) => own,
                    None => match self.new_own(is_limited) {
                        Ok(own) => Box::new(own),
                        Err(failure) => return Ok(Err(failure)),
                    },
                };
                let own = self.own.insert(own);
                Ok(own.add(std::iter::once(item), is_limited)?.pop().unwrap_or(Ok(false)))
            })
            .collect()
    }

    /// The empty filter for items that are added here. The filter's parameters and seed depend only
    /// on the data that came from RedisBloom, so that replicas agree. Nobody can compute the seed
    /// without knowing all the bits.
    fn new_own(&self, is_limited: bool) -> Result<Value, Failure> {
        let capacity = self.chain.layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.capacity));
        let items = self.chain.items();
        let made_for = if self.chain.is_fixed { capacity.saturating_sub(items) } else { (items / 4).max(LEAST_ITEMS) };
        if made_for == 0 {
            return Err(FULL);
        }
        let rate = Rate::try_from(self.chain.asked().max(LOWEST_RATE)).map_err(Failure::of)?;
        let expansion = if self.chain.is_fixed { 0 } else { self.chain.growth.max(1) };
        Request::growing_or_fixed(rate, made_for.min(MOST_ITEMS), expansion, self.seed()).make(is_limited)
    }

    fn seed(&self) -> Seed {
        let mut hash = Xxh3Default::new();
        for (plan, bits) in self.layers() {
            hash.update(&plan.bits.to_le_bytes());
            let mut buffer = [[0; 8]; 64];
            for words in bits.chunks(buffer.len()) {
                buffer.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
                hash.update(buffer[..words.len()].as_flattened());
            }
        }
        Seed::from(hash.digest128())
    }

    /// The number of items in the imported layers, plus those that were added here.
    pub(crate) fn items(&self) -> u64 {
        self.chain.items().saturating_add(self.own().map_or(0, Value::items))
    }

    pub(crate) fn capacity(&self) -> u64 {
        let layers = self.chain.layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.capacity));
        // If the imported filter is fixed, our own filter adds no capacity.
        if self.chain.is_fixed { layers } else { layers.saturating_add(self.own().map_or(0, Value::capacity)) }
    }

    pub(crate) fn bytes(&self) -> usize {
        let layers: usize = self.bits.iter().map(|words| class(8 * words.len()) + class(size_of::<Plan>())).sum();
        OWN_BYTES + layers + self.own().map_or(0, Value::bytes)
    }

    /// The bits, probes, set bits and items of each imported layer.
    pub(crate) fn counts(&self) -> Vec<[u64; 4]> {
        let ones = |bits: &[u64]| bits.iter().map(|word| u64::from(word.count_ones())).sum();
        self.layers().map(|(plan, bits)| [plan.bits, plan.probes.into(), ones(bits), plan.items]).collect()
    }

    /// The number of hits in the imported layers among `queries` random keys. The rate must be
    /// measured, because the positions of a key are not independent, so the rate does not follow
    /// from the number of set bits.
    pub(crate) fn hits(&self, queries: u64, seed: u64) -> u64 {
        let word = |number: u64| mix(seed.wrapping_add((number + 1).wrapping_mul(STEP)));
        let keys = (0..queries).map(|number| Hashes { first: word(2 * number), second: word(2 * number + 1) });
        keys.filter(|hashes| self.has(*hashes)).count() as u64
    }

    /// An upper bound on the rate of the imported layers, with a confidence of 99%.
    pub(crate) fn most_now(&self) -> f64 {
        // A 98% interval leaves 1% on each side.
        binomial::interval(self.hits(SAMPLE, 0), SAMPLE, 0.98).1
    }
}
