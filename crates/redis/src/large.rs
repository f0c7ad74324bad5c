//! Filters of the library's own types: large ones, blocked ones, and all that come from files and
//! have no compact form.

use crate::answer::{FULL, Failure};
use crate::memory::{self, class};
use truebloom::{AnyFilter, Filter, KeyHash, ScalableFilter};
use truebloom_math::Growth;

/// A filter of the library.
#[derive(Clone)]
pub(crate) struct Large {
    filter: AnyFilter,
    /// The requested expansion; 0 for none.
    expansion: u32,
    /// For a filter that grows: how many items its newest layer certainly has room for.
    room: u64,
}

/// The approximate number of bytes in addition to a filter's bits.
const OWN_BYTES: usize = 512;

/// From this many bytes on, a layer of bits begins at a huge page.
const HUGE: usize = 2 << 20;

/// How many items are hashed and prefetched before any is inserted.
const TOGETHER: usize = 256;

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

    /// The number of bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        bytes(&self.filter)
    }

    /// The number of items that it has inserted.
    pub(crate) fn changed(&self) -> u64 {
        self.filter.changed()
    }

    /// The number of items that it was made for, or approximately the number that its layers can
    /// hold.
    pub(crate) fn capacity(&self) -> u64 {
        match &self.filter {
            AnyFilter::Scalable(grows) => capacity_of(grows.growth(), grows.layers().len()),
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
        self.filter.contains_all_hashes(hashes).iter().collect()
    }

    /// Adds items in order; returns true for those that were not contained. Items that are already
    /// contained change nothing.
    pub(crate) fn add(&mut self, hashes: &[KeyHash], is_limited: bool) -> Vec<Result<bool, Failure>> {
        let mut answers = Vec::with_capacity(hashes.len());
        for hashes in hashes.chunks(TOGETHER) {
            let known = self.contains_all(hashes);
            for (hash, known) in hashes.iter().zip(known) {
                // One that came just before may be the same.
                let known = known || self.filter.contains_hash(*hash);
                answers.push(if known { Ok(false) } else { self.insert(*hash, is_limited).map(|()| true) });
            }
        }
        answers
    }

    fn insert(&mut self, hash: KeyHash, is_limited: bool) -> Result<(), Failure> {
        let AnyFilter::Scalable(grows) = &mut self.filter else {
            if self.filter.capacity().is_some_and(|capacity| self.filter.changed() >= capacity) {
                return Err(FULL);
            }
            self.filter.insert_hash(hash);
            return Ok(());
        };
        if self.room == 0 {
            self.room = room_of(grows);
        }
        if self.room == 0 && is_limited {
            let next = next_bytes(grows)?;
            let now = self.bytes() as u64;
            memory::check(now.saturating_add(next), now)?;
        }
        let AnyFilter::Scalable(grows) = &mut self.filter else { return Ok(()) };
        let inserted = grows.try_insert_hash(hash).map(drop).map_err(Failure::of);
        self.room = if self.room == 0 { room_of(grows) } else { self.room - 1 };
        inserted
    }
}

/// Bytes that a filter takes.
pub(crate) fn bytes(filter: &AnyFilter) -> usize {
    let layers = match filter {
        AnyFilter::Scalable(grows) => grows.layers().iter().map(|layer| layer_bytes(layer.bits())).sum(),
        other => layer_bytes(other.bits()),
    };
    OWN_BYTES + layers
}

/// About the items that so many layers take.
pub(crate) fn capacity_of(growth: &Growth, layers: usize) -> u64 {
    (0..layers as u32).map(|number| growth.layer(number).map_or(0, |layer| layer.items)).sum()
}

/// The number of bytes for this many bits, in their own allocation.
pub(crate) fn layer_bytes(bits: u64) -> usize {
    let bytes = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    // The room to begin at a line, or at a huge page.
    class(bytes.saturating_add(if bytes >= HUGE { HUGE } else { 136 }))
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
    let number = u32::try_from(grows.layers().len()).unwrap_or(u32::MAX);
    Ok(layer_bytes(grows.growth().layer(number).map_err(Failure::of)?.layer.bits()) as u64)
}
