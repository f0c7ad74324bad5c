//! A layer without its bits.

use crate::backing::{Backing, Counted, Owned};
use crate::bloom::Head;
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Salt, SaltUse};
use crate::scheme::{Scheme, Standard};
use truebloom_math::Growth;
use truebloom_math::law::Layer;

/// A layer without its bits.
pub(super) struct Part<K: Backing> {
    /// The hasher, scheme, capacity and rate that a filter would have if it consisted of only this
    /// layer.
    pub(super) head: Head<Standard, PortableHasher>,
    pub(super) layer: Layer,
    /// The layer's number, counted from 0. The salt is derived from it.
    pub(super) number: u64,
    pub(super) salt: Salt,
    /// How many keys were inserted into this layer.
    pub(super) inserted: u64,
    /// The number of set bits.
    pub(super) ones: K::Known<u64>,
}

impl<K: Backing> Part<K> {
    /// Makes a layer from its number and its known values.
    pub(super) fn new(
        hasher: PortableHasher,
        number: u64,
        layer: Layer,
        inserted: u64,
        ones: K::Known<u64>,
    ) -> Result<Part<K>, BuildError> {
        let scheme = Standard::new(layer.bits(), layer.probes())?;
        let head = Head { hasher, scheme, capacity: None, rate: None, label: Label::default() };
        let salt = Salt::numbered(SaltUse::Layer, KeyHasher::seed(&hasher), number);
        Ok(Part { head, layer, number, salt, inserted, ones })
    }

    /// The key's hash in this layer.
    #[inline]
    pub(super) fn hash(&self, hash: KeyHash) -> KeyHash {
        self.salt.apply(hash)
    }
}

impl<K: Counted> Part<K> {
    pub(super) fn ones(&self) -> u64 {
        *K::kept(&self.ones)
    }

    /// Whether there is room for one more key.
    pub(super) fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// How many more keys certainly fit, even if each of them sets k new bits.
    pub(super) fn room(&self) -> u64 {
        self.layer.limit().saturating_sub(self.ones()) / u64::from(self.layer.probes())
    }
}

impl Part<Owned> {
    /// Plans an empty layer: layer `number` of the growth.
    pub(super) fn planned(growth: &Growth, hasher: PortableHasher, number: u64) -> Result<Part<Owned>, BuildError> {
        let layer = growth.layer(u32::try_from(number).unwrap_or(u32::MAX))?.layer;
        Part::new(hasher, number, layer, 0, 0)
    }

    pub(super) fn clear(&mut self) {
        (self.inserted, self.ones) = (0, 0);
    }
}

/// The number of the next layer after these.
pub(super) fn next_number<'a, K: Backing + 'a>(parts: impl IntoIterator<Item = &'a Part<K>>) -> u64 {
    parts.into_iter().map(|part| part.number + 1).max().unwrap_or(0)
}

impl<K: Backing> Clone for Part<K> {
    fn clone(&self) -> Part<K> {
        let Part { head, layer, number, salt, inserted, ones } = self;
        Part { head: head.clone(), layer: *layer, number: *number, salt: *salt, inserted: *inserted, ones: ones.clone() }
    }
}
