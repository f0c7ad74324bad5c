//! Filters of the library's own types: large ones, blocked ones, and filters from files that have
//! no compact form.

use crate::answer::{FULL, Failure};
use crate::memory::{self, class};
use truebloom::{AnyFilter, FileHeader, Filter, KeyHash, ScalableFilter};
use truebloom_math::Growth;
use truebloom_math::law::Layer;

/// A filter of the library.
#[derive(Clone)]
pub(crate) struct Large {
    filter: AnyFilter,
    /// The requested expansion; 0 for none.
    expansion: u32,
    /// A lower bound on the number of items that the newest layer of a filter that grows can still
    /// take. For other filters, this is 0.
    room: u64,
}

/// The approximate number of bytes besides the bits, for a filter and for each of its layers.
/// Vectors of layers have room for up to twice as many layers.
const OWN_BYTES: usize = 512;
const LAYER_BYTES: usize = 640;

/// The largest number of bytes that are added to an allocation, so that its bits can begin at a
/// cache line.
const ALIGNED: usize = 136;

/// The largest number of layers of a filter that grows. More layers would take too long: each query
/// searches all layers, and computing the rate of a merged filter considers all pairs of layers. A
/// filter that only grows has fewer than a hundred layers, but merging can produce any number of
/// layers.
const MOST_LAYERS: u64 = 1_024;

/// The smallest number of bytes of a layer that is aligned to a huge page.
const HUGE: usize = 2 << 20;

/// The distance, in items, from the current item to the item whose bits are prefetched.
const AHEAD: usize = 16;

/// The largest number of items for which the bits of all items are prefetched before the first item
/// is looked up.
const FEW: usize = 32;

impl Large {
    pub(crate) fn new(filter: AnyFilter, expansion: u32) -> Large {
        Large { room: room(&filter), filter, expansion }
    }

    pub(crate) fn filter(&self) -> &AnyFilter {
        &self.filter
    }

    pub(crate) fn expansion(&self) -> u32 {
        self.expansion
    }

    /// The number of bytes that the filter takes.
    pub(crate) fn bytes(&self) -> usize {
        bytes(&self.filter)
    }

    /// The number of items that the filter has inserted.
    pub(crate) fn changed(&self) -> u64 {
        self.filter.changed()
    }

    /// Returns the number of items for which the filter was made. For a filter that grows, returns
    /// approximately the number of items that its layers can hold.
    pub(crate) fn capacity(&self) -> u64 {
        match &self.filter {
            AnyFilter::Scalable(grows) => {
                let numbers = grows.layer_numbers();
                // A plan takes a tenth of a millisecond, so it is computed once for all layers with
                // the same number.
                let items = |alike: &[u64]| Some(planned(grows.growth(), *alike.first()?)?.1.saturating_mul(alike.len() as u64));
                numbers.chunk_by(|one, other| one == other).filter_map(items).fold(0, u64::saturating_add)
            }
            other => other.capacity().unwrap_or(0),
        }
    }

    pub(crate) fn layers(&self) -> usize {
        if let AnyFilter::Scalable(grows) = &self.filter { grows.layers().len() } else { 1 }
    }

    pub(crate) fn hash(&self, item: &[u8]) -> KeyHash {
        self.filter.hasher().hash_key(item)
    }

    pub(crate) fn contains_all(&self, hashes: &[KeyHash]) -> Vec<bool> {
        if hashes.len() > FEW {
            return self.filter.contains_all_hashes(hashes).iter().collect();
        }
        hashes.iter().for_each(|hash| self.filter.prefetch(*hash));
        hashes.iter().map(|hash| self.filter.contains_hash(*hash)).collect()
    }

    /// Adds items in order; returns true for those that were not contained. Items that are already
    /// contained change nothing.
    pub(crate) fn add(&mut self, hashes: &[KeyHash], is_limited: bool) -> Vec<Result<bool, Failure>> {
        let (first, rest) = hashes.split_at(hashes.len().min(AHEAD));
        first.iter().for_each(|hash| self.filter.prefetch(*hash));
        let ahead = rest.iter().map(Some).chain(std::iter::repeat(None));
        let mut answers = Vec::with_capacity(hashes.len());
        for (hash, ahead) in hashes.iter().zip(ahead) {
            if let Some(ahead) = ahead {
                self.filter.prefetch(*ahead);
            }
            answers.push(self.insert(*hash, is_limited));
        }
        answers
    }

    fn insert(&mut self, hash: KeyHash, is_limited: bool) -> Result<bool, Failure> {
        // Only a new item needs room. If there is no room, first find out whether the item is new.
        if self.room == 0 {
            if self.filter.contains_hash(hash) {
                return Ok(false);
            }
            self.make_room(is_limited)?;
        }
        let AnyFilter::Scalable(grows) = &mut self.filter else {
            self.filter.insert_hash(hash);
            return Ok(true);
        };
        let is_new = grows.try_insert_absent_hash(hash).map_err(Failure::of)?;
        if is_new {
            self.room = if self.room == 0 { room_of(grows) } else { self.room - 1 };
        }
        Ok(is_new)
    }

    /// Checks that a filter may take one more item, which may need a new layer.
    fn make_room(&mut self, is_limited: bool) -> Result<(), Failure> {
        let AnyFilter::Scalable(grows) = &self.filter else {
            let is_full = self.filter.capacity().is_some_and(|capacity| self.filter.changed() >= capacity);
            return if is_full { Err(FULL) } else { Ok(()) };
        };
        self.room = room_of(grows);
        if self.room == 0 && is_limited {
            check_layers(grows.layers().len() as u64 + 1)?;
            let now = self.bytes() as u64;
            memory::check(now.saturating_add(next_bytes(grows)?), now)?;
        }
        Ok(())
    }
}

/// Refuses a filter with too many layers.
pub(crate) fn check_layers(layers: u64) -> Result<(), Failure> {
    if layers > MOST_LAYERS {
        return Err(Failure::text(format!(
            "ERR the filter would have {layers} layers, but at most {MOST_LAYERS} are allowed, because each query searches all layers"
        )));
    }
    Ok(())
}

/// Returns the number of bytes that the filter of a file takes in memory, or an error if the filter
/// has too many layers.
pub(crate) fn bytes_of_file(header: &FileHeader) -> Result<u64, Failure> {
    check_layers(header.layers())?;
    let own = OWN_BYTES + (LAYER_BYTES + class(ALIGNED)) * header.layers() as usize;
    Ok(header.file_bytes().saturating_add(own as u64))
}

/// The number of bytes that a filter takes.
pub(crate) fn bytes(filter: &AnyFilter) -> usize {
    let layers = match filter {
        AnyFilter::Scalable(grows) => grows.layers().iter().map(|layer| LAYER_BYTES + layer_bytes(layer.bits())).sum(),
        other => layer_bytes(other.bits()),
    };
    OWN_BYTES + layers
}

/// Returns the layer with this number of a growing filter, and the number of items for which it is
/// planned.
fn planned(growth: &Growth, number: u64) -> Option<(Layer, u64)> {
    growth.layer(u32::try_from(number).ok()?).ok().map(|planned| (planned.layer, planned.items))
}

/// Returns the number of bytes of a filter with one allocation for each of these numbers of bits.
pub(crate) fn bytes_with(parts: impl Iterator<Item = u64>) -> usize {
    parts.map(layer_bytes).fold(OWN_BYTES, usize::saturating_add)
}

/// Returns the number of bytes that the allocation for this many bits takes.
pub(crate) fn layer_bytes(bits: u64) -> usize {
    let bytes = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    // Additional space, so that the bits can begin at a cache line or a huge page.
    class(bytes.saturating_add(if bytes >= HUGE { HUGE } else { ALIGNED }))
}

/// How many items the newest layer has room for.
fn room(filter: &AnyFilter) -> u64 {
    if let AnyFilter::Scalable(grows) = filter { room_of(grows) } else { 0 }
}

fn room_of(grows: &ScalableFilter) -> u64 {
    let (Some(layer), Some(ones)) = (grows.layers().last().copied(), grows.layer_ones().last().copied()) else { return 0 };
    layer.limit().saturating_sub(ones) / u64::from(layer.probes())
}

/// The number of bytes in the next layer.
fn next_bytes(grows: &ScalableFilter) -> Result<u64, Failure> {
    // The number of the next layer is not the number of layers, because after a merge several
    // layers can have the same number.
    let number = grows.layer_numbers().last().map_or(0, |last| last.saturating_add(1));
    let (next, _) = planned(grows.growth(), number).ok_or_else(|| Failure::text("ERR the filter would have more than 2^62 bits"))?;
    Ok((LAYER_BYTES + layer_bytes(next.bits())) as u64)
}
