//! The most frequent keys of a stream.

use super::{CountMin, Counter, ErrorBound};
use crate::error::{BuildError, MergeError};
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed};
use crate::key::Key;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use truebloom_math::{Error, Rate};

/// A key that came often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeavyHitter {
    /// Its canonical bytes.
    pub key: Vec<u8>,
    /// At least its count, unless saturated: its estimate when it came last.
    pub count: u64,
    /// Its counter reached its highest value, and the count may be higher.
    pub saturated: bool,
}

/// A sketch that also remembers the keys with the highest estimates, at least `capacity` of them once so many came.
///
/// # What is certain
/// **Every key whose count exceeds [`missed_at_most`](Self::missed_at_most) is in the list**, whatever the stream and the hashes. Proof: take a key that is not, and when it came last. Its estimate then was at least
/// its whole count, and it was offered to the list with it; it was refused or dropped, then or later, with that estimate, and `missed_at_most` is the highest estimate ever refused or dropped. (Unless a counter saturates.)
///
/// So [`above`](Self::above) a threshold, and [`top`](Self::top), say whether their answers are complete. How far down that reaches depends on the stream: among more than
/// `capacity` keys the least of the highest estimates is at most `N / capacity` plus the error of the sketch, which is what [`for_share`](Self::for_share) sizes both for.
///
/// ```
/// use truebloom::count_min::HeavyHitters;
/// // All words that make up a tenth of the text.
/// let mut words: HeavyHitters = HeavyHitters::for_share("10%".parse()?, "0.001".parse()?)?;
/// "the cat and the dog and the bird".split(' ').for_each(|word| words.add(word, 1));
/// let often = words.above(words.sketch().total().div_ceil(10)).expect("complete");
/// assert_eq!(often[0].key, b"the");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeavyHitters<C: Counter = u64> {
    pub(super) sketch: CountMin<C>,
    pub(super) capacity: u64,
    pub(super) missed: u64,
    pub(super) listed: HashMap<u128, Listed, BuildHasherDefault<Hashed>>,
}

/// A key of the list, under its hash, and its estimate when it came last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: Vec<u8>,
    pub(super) count: u64,
}

/// The keys of the map are hashes already, seeded ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The longest list: its keys are kept as they are, so more than that is a job for a hash map.
pub(super) const MAX_CAPACITY: u64 = 1 << 32;

impl<C: Counter> HeavyHitters<C> {
    /// For all keys that make up at least the `share` of the sum of all counts: a sketch with an error of half of it, but for a probability of `delta`, and a list for `2 / share` keys. Random seed.
    ///
    /// Keys of that share are missed only if the sketch errs by more than half of it for those in the list together; then [`above`](Self::above) says so. Errors: as of
    /// [`CountMin::new`]; a share below 2^-31.
    pub fn for_share(share: Rate, delta: Rate) -> Result<HeavyHitters<C>, BuildError> {
        let capacity = (2.0 / share.to_f64()).ceil();
        if capacity > MAX_CAPACITY as f64 {
            return Err(Error::OutOfRange { name: "share", found: share.to_string(), expected: "at least 2^-31".to_owned() }.into());
        }
        let half = Rate::try_from(share.to_f64() / 2.0)?;
        HeavyHitters::new(CountMin::with_hasher(half, delta, PortableHasher::xxh3(Seed::random()?))?, capacity as u64)
    }

    /// A list of the `capacity` keys with the highest estimates in this sketch, which must be empty: what it has counted would not be in the list. Errors otherwise, and for a capacity of 0 or
    /// above 2^32.
    pub fn new(sketch: CountMin<C>, capacity: u64) -> Result<HeavyHitters<C>, BuildError> {
        let out_of_range = |name, found: u64, expected: &str| {
            Err(Error::OutOfRange { name, found: found.to_string(), expected: expected.to_owned() }.into())
        };
        if sketch.total() > 0 {
            return out_of_range("total", sketch.total(), "0 for a sketch whose heavy hitters are to be listed");
        }
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return out_of_range("capacity", capacity, "from 1 to 2^32");
        }
        Ok(HeavyHitters { sketch, capacity, missed: 0, listed: HashMap::default() })
    }

    /// Counts a key `count` times. Time: that of the sketch twice, a look into a hash map, and a share of sorting out the list.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, count: u64) {
        key.with_bytes(|bytes| self.add_hash(self.sketch.hasher().hash(bytes), bytes, count));
    }

    /// [`add`](Self::add) of a key whose hash is known: that of its bytes by the sketch's hasher, or else the list is of other keys than the counters.
    pub fn add_hash(&mut self, hash: KeyHash, key: &[u8], count: u64) {
        self.sketch.add_hash(hash, count);
        let count = self.sketch.estimate_hash(hash).value;
        match self.listed.get_mut(&u128::from(hash)) {
            Some(listed) => listed.count = count,
            None if count > self.missed => self.list(hash, Listed { key: key.to_vec(), count }),
            None => {}
        }
    }

    fn list(&mut self, hash: KeyHash, listed: Listed) {
        self.listed.insert(hash.into(), listed);
        // Twice the capacity before half is dropped: a constant time a key.
        if self.listed.len() as u64 >= self.capacity.saturating_mul(2) {
            self.drop_lowest();
        }
    }

    /// Drops all but the highest `capacity`.
    fn drop_lowest(&mut self) {
        let Ok(capacity) = usize::try_from(self.capacity) else { return };
        if self.listed.len() <= capacity {
            return;
        }
        let mut order: Vec<(Reverse<u64>, u128)> = self.listed.iter().map(|(hash, listed)| (Reverse(listed.count), *hash)).collect();
        let (_, highest_dropped, _) = order.select_nth_unstable(capacity);
        self.missed = self.missed.max(highest_dropped.0.0);
        for (_, hash) in &order[capacity..] {
            self.listed.remove(hash);
        }
    }

    /// No key that is missing from the list has a higher count (after halving: a higher whole part of its decayed count).
    pub fn missed_at_most(&self) -> u64 {
        self.missed
    }

    /// The keys whose estimates are at least `threshold`, highest first: among them all whose counts are. `None` if some may be missing, because `threshold` is not above
    /// [`missed_at_most`](Self::missed_at_most).
    pub fn above(&self, threshold: u64) -> Option<Vec<HeavyHitter>> {
        let complete = threshold > self.missed;
        complete.then(|| self.sorted().into_iter().take_while(|hitter| hitter.count >= threshold).collect())
    }

    /// The `number` keys with the highest estimates, highest first; fewer if there are no more in the list, which holds at least the capacity's highest.
    pub fn top(&self, number: usize) -> Vec<HeavyHitter> {
        let mut hitters = self.sorted();
        hitters.truncate(number);
        hitters
    }

    /// The error of each key's count, but for a probability of `delta` a key: [`Sketch::error_bound`](super::Sketch::error_bound). Of a key that was chosen for its high estimate this is only an
    /// average over all keys: give a `delta` divided by the number of keys that may come to hold it for all of them.
    pub fn error_bound(&self, delta: &Rate) -> ErrorBound {
        self.sketch.error_bound(delta)
    }

    /// The whole list, highest first, equal counts by key.
    pub(super) fn sorted(&self) -> Vec<HeavyHitter> {
        let hitter = |listed: &Listed| HeavyHitter {
            key: listed.key.clone(),
            count: listed.count,
            saturated: listed.count == C::HIGHEST.into_u64(),
        };
        let mut hitters: Vec<HeavyHitter> = self.listed.values().map(hitter).collect();
        hitters.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        hitters
    }

    /// The sketch with all counts.
    pub fn sketch(&self) -> &CountMin<C> {
        &self.sketch
    }

    /// The number of keys that the list keeps at least.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// [`Sketch::halve`](super::Sketch::halve), and the list with it.
    pub fn halve(&mut self) {
        self.sketch.halve();
        let highest = C::HIGHEST.into_u64();
        let half = |count: u64| if count == highest { count } else { count / 2 };
        self.missed = half(self.missed);
        self.listed.values_mut().for_each(|listed| listed.count = half(listed.count));
    }

    /// Adds the counts and the list of another: afterwards this is the list of both streams, of this one's capacity.
    ///
    /// A key in neither list is missed by at most what both missed together; a key of either is in the union, with its estimate in the merged sketch. Errors as of
    /// [`Sketch::merge`](super::Sketch::merge).
    pub fn merge(&mut self, other: &HeavyHitters<C>) -> Result<(), MergeError> {
        self.sketch.merge(&other.sketch)?;
        self.missed = self.missed.saturating_add(other.missed);
        for (hash, listed) in &other.listed {
            self.listed.entry(*hash).or_insert_with(|| listed.clone());
        }
        for (hash, listed) in &mut self.listed {
            listed.count = self.sketch.estimate_hash(KeyHash::from(*hash)).value;
        }
        self.drop_lowest();
        Ok(())
    }
}
