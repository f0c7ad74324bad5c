//! Small filters: a shared plan, a seed, counts, and the bits, in two blocks of memory.
//!
//! The answers of these filters and the bytes of their files equal those of the filter crate's
//! [`ScalableFilter`] and [`BloomFilter`](truebloom::BloomFilter) with the same plan and seed. This
//! is tested in `src/tests.rs`, and through the server in `tests/test_files.py`.

use crate::answer::{FULL, Failure};
use crate::memory::{self, class};
use crate::plans::{Kind, Layer, MOST_LAYERS, Shape};
use std::sync::Arc;
use truebloom::scheme::Scheme as _;
use truebloom::{KeyHash, PortableHasher, Seed};
use truebloom_math::mix;

/// The largest number of words of a compact filter; from 2 MiB on, looking up keys in batches is
/// worthwhile.
pub(crate) const MOST_WORDS: usize = 1 << 18;

/// The number of words before those of the layers. These words hold the seed, so that the filter
/// itself takes only 32 bytes.
pub(crate) const SEED_WORDS: usize = 2;

/// A small filter: 32 bytes, and a block of words.
#[derive(Clone)]
pub(crate) struct Compact {
    shape: Arc<Shape>,
    /// The seed, followed by the layers. A layer is a word with the number of set bits (low half)
    /// and of inserted items (high half), followed by its bits.
    words: Box<[u64]>,
    /// The number of items that were inserted.
    changed: u32,
    /// The number of offers beyond the inserted items, as stored in the file that the filter comes
    /// from.
    repeats: u16,
    /// A byte with a single valid value. The compiler uses the other values of this byte to mark
    /// the other kinds of [`Value`](crate::value::Value), so the mark takes no additional memory.
    _mark: Mark,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Mark {
    Compact,
}

/// The error for a compact filter that would have to grow beyond [`MOST_WORDS`].
pub(crate) struct Outgrown;

/// The values that a query of a compact filter needs: its hasher, and the salt of each layer. The
/// values are computed once per command.
pub(crate) struct Asker {
    hasher: PortableHasher,
    salts: [[u64; 2]; MOST_LAYERS],
    salted: usize,
    is_salted: bool,
}

impl Asker {
    #[inline]
    pub(crate) fn hash(&self, item: &[u8]) -> KeyHash {
        self.hasher.hash_key(item)
    }

    /// Computes the salts of the layers up to this number (see docs/FORMAT.md, kind 5).
    fn salt_up_to(&mut self, layers: usize) {
        let seed = u128::from(truebloom::KeyHasher::seed(&self.hasher));
        let word = u128::from(u64::from_le_bytes(*b"scalable"));
        let salter = PortableHasher::sip13(Seed::from(seed ^ (word | word << 64)));
        while self.is_salted && self.salted < layers.min(MOST_LAYERS) {
            let salt = u128::from(salter.hash_key(&(self.salted as u64)));
            self.salts[self.salted] = [salt as u64, (salt >> 64) as u64];
            self.salted += 1;
        }
    }

    #[inline]
    fn in_layer(&self, layer: usize, hash: KeyHash) -> KeyHash {
        if !self.is_salted {
            return hash;
        }
        let [first, second] = self.salts[layer];
        let hash = u128::from(hash);
        let (low, high) = (mix(hash as u64 ^ first), mix((hash >> 64) as u64 ^ second));
        KeyHash::from_uniform_bits(u128::from(low) | u128::from(high) << 64)
    }
}

/// A layer: its number, its plan, and the position of its words.
type Place<'a> = (usize, &'a Layer, usize);

impl Compact {
    /// An empty filter; `None` if it would be too large for a compact one.
    pub(crate) fn new(shape: &Arc<Shape>, seed: Seed) -> Result<Option<Compact>, Failure> {
        let Some(layer) = shape.layer(0).filter(|layer| layer.words() < MOST_WORDS) else { return Ok(None) };
        let words = zeroed(SEED_WORDS + 1 + layer.words())?;
        Ok(Some(Compact::of(shape.clone(), seed, words, 0, 0)))
    }

    fn of(shape: Arc<Shape>, seed: Seed, mut words: Box<[u64]>, changed: u32, repeats: u16) -> Compact {
        let seed = u128::from(seed);
        let halves = [seed as u64, (seed >> 64) as u64];
        words.iter_mut().zip(halves).for_each(|(word, half)| *word = half);
        Compact { shape, words, changed, repeats, _mark: Mark::Compact }
    }

    /// A filter with these words; the seed is written into the first two. Returns `None` if the
    /// words are not valid: every count is compared with the bits, and the bits with the plan.
    pub(crate) fn checked(shape: Arc<Shape>, seed: Seed, words: Box<[u64]>, changed: u32, repeats: u16) -> Option<Compact> {
        let filter = Compact::of(shape, seed, words, changed, repeats);
        let (mut end, mut sum) = (0, 0u64);
        let count = filter.layers().count();
        for (number, layer, start) in filter.layers() {
            end = start + 1 + layer.words();
            let bits = filter.words().get(start + 1..end)?;
            let (ones, inserted) = filter.counts(start);
            let probes = u64::from(layer.scheme.probes());
            let found: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
            // The next layer was opened because this one had no room for another item.
            let full = if number + 1 < count { (layer.limit + 1).saturating_sub(probes) } else { 0 };
            let after_last = layer.scheme.bits() % 64;
            let tail = if after_last == 0 { 0 } else { bits.last()? >> after_last };
            if found != ones || ones > layer.limit || ones < inserted.max(full) || ones > inserted * probes || tail != 0 {
                return None;
            }
            sum += inserted;
        }
        (end == filter.words().len() && end > 0 && sum == u64::from(changed)).then_some(filter)
    }

    pub(crate) fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    pub(crate) fn seed(&self) -> Seed {
        let half = |at: usize| u128::from(self.words.get(at).copied().unwrap_or(0));
        Seed::from(half(0) | half(1) << 64)
    }

    pub(crate) fn hasher(&self) -> PortableHasher {
        PortableHasher::new(self.shape.hasher, self.seed())
    }

    /// The words of the filter's layers.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        self.words.get(SEED_WORDS..).unwrap_or_default()
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self.words.get_mut(SEED_WORDS..).unwrap_or_default()
    }

    pub(crate) fn changed(&self) -> u32 {
        self.changed
    }

    pub(crate) fn repeats(&self) -> u16 {
        self.repeats
    }

    /// The approximate number of items that the filter's layers can hold.
    pub(crate) fn capacity(&self) -> u64 {
        self.layers().map(|(_, layer, _)| layer.items).sum()
    }

    /// The number of bytes that the filter takes in addition to the value that contains it.
    pub(crate) fn bytes(&self) -> usize {
        class(8 * self.words.len())
    }

    /// The filter's layers, from the oldest to the newest.
    pub(crate) fn layers(&self) -> impl Iterator<Item = Place<'_>> {
        let mut start = 0;
        (0..MOST_LAYERS).map_while(move |number| {
            let layer = if start < self.words().len() { self.shape.layer(number)? } else { return None };
            let place = (number, layer, start);
            start += 1 + layer.words();
            Some(place)
        })
    }

    /// The number of set bits and of inserted items in the layer that begins at `start`.
    pub(crate) fn counts(&self, start: usize) -> (u64, u64) {
        let counts = self.words().get(start).copied().unwrap_or(0);
        (counts & u64::from(u32::MAX), counts >> 32)
    }

    /// Returns what a query needs: the hasher and the salts.
    pub(crate) fn asker(&self) -> Asker {
        let is_salted = matches!(self.shape.kind, Kind::Growing(_));
        let mut asker = Asker { hasher: self.hasher(), salts: [[0; 2]; MOST_LAYERS], salted: 0, is_salted };
        asker.salt_up_to(self.layers().count());
        asker
    }

    /// Whether any layer has the item.
    #[inline]
    pub(crate) fn contains(&self, asker: &Asker, hash: KeyHash) -> bool {
        self.layers().any(|(number, layer, start)| {
            let bits = self.words().get(start + 1..).unwrap_or_default();
            let has = |position: u64| bits.get((position >> 6) as usize).is_some_and(|word| word >> (position & 63) & 1 == 1);
            layer.scheme.all(asker.in_layer(number, hash), has)
        })
    }

    /// Inserts an item that no layer has. Returns [`Outgrown`] if the filter would exceed the
    /// largest size of a compact filter. If `is_limited` is set, also checks the limits on memory.
    pub(crate) fn insert(&mut self, asker: &mut Asker, hash: KeyHash, is_limited: bool) -> Result<Result<(), Outgrown>, Failure> {
        let shape = self.shape.clone();
        let last = self.layers().last().map(|(number, _, start)| (number, start));
        let Some((mut number, mut start)) = last else { return Ok(Err(Outgrown)) };
        let Some(mut layer) = shape.layer(number) else { return Ok(Err(Outgrown)) };
        match shape.kind {
            Kind::Fixed { capacity } if capacity.is_some_and(|capacity| u64::from(self.changed) >= capacity) => return Err(FULL),
            Kind::Growing(_) if self.counts(start).0 + u64::from(layer.scheme.probes()) > layer.limit => {
                let next = shape.layer(number + 1).filter(|next| self.words.len() + 1 + next.words() <= MOST_WORDS);
                let Some(next) = next else { return Ok(Err(Outgrown)) };
                (number, start, layer) = (number + 1, self.words().len(), next);
                self.extend(1 + next.words(), is_limited)?;
                asker.salt_up_to(number + 1);
            }
            _ => {}
        }
        let Some(changed) = self.changed.checked_add(1) else { return Ok(Err(Outgrown)) };
        let mut newly_set = 0;
        if let Some(bits) = self.words_mut().get_mut(start + 1..) {
            for position in layer.scheme.positions(asker.in_layer(number, hash)) {
                let Some(word) = bits.get_mut((position >> 6) as usize) else { continue };
                let mask = 1 << (position & 63);
                newly_set += u64::from(*word & mask == 0);
                *word |= mask;
            }
        }
        if let Some(counts) = self.words_mut().get_mut(start) {
            *counts += newly_set | 1 << 32;
        }
        self.changed = changed;
        Ok(Ok(()))
    }

    /// Allocates a layer of this many words.
    fn extend(&mut self, more: usize, is_limited: bool) -> Result<(), Failure> {
        let count = self.words.len() + more;
        if is_limited {
            memory::check(class(8 * count) as u64, self.bytes() as u64)?;
        }
        let mut words = zeroed(count)?;
        words[..self.words.len()].copy_from_slice(&self.words);
        self.words = words;
        Ok(())
    }
}

/// Allocates this many words, all of them 0, or returns an error.
pub(crate) fn zeroed(count: usize) -> Result<Box<[u64]>, Failure> {
    let mut words: Vec<u64> = Vec::new();
    words.try_reserve_exact(count).map_err(|_| Failure::text(format!("ERR cannot allocate {} bytes", 8 * count)))?;
    words.resize(count, 0);
    Ok(words.into_boxed_slice())
}
