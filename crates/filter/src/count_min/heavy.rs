//! The most frequent keys of a stream.

use super::{CountMin, Counter, Estimate, FullRows, RowHashes, Sketch};
use crate::error::{BuildError, MergeError};
use crate::format::Label;
use crate::hash::{KeyHash, KeyHasher, PortableHasher};
use crate::key::{Key, with_bytes};
use alloc::borrow::ToOwned;
#[cfg(not(any(test, feature = "std")))]
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
#[cfg(any(test, feature = "std"))]
use core::hash::BuildHasherDefault;
#[cfg(any(test, feature = "std"))]
use core::hash::Hasher;
#[cfg(any(test, feature = "std"))]
use std::collections::HashMap;
use truebloom_math::{Error, Rate};

/// A frequent key with guaranteed bounds on its count. The bounds hold for every stream of keys,
/// unless two keys have the same 128-bit hash.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeavyHitter {
    /// The canonical bytes of the key.
    pub key: Vec<u8>,
    /// A lower bound on the key's count. If the key is in the sketch's list of frequent keys, the
    /// bound is the number of times that the key was counted since it was last added to the list.
    /// Otherwise, the bound is 0.
    pub at_least: u64,
    /// An upper bound on the key's count, unless [`saturated`](Self::saturated) is true. This is
    /// the smaller of two bounds. The first bound is the estimate of the sketch. The second bound
    /// is `at_least` plus an upper bound on the part of the key's count that `at_least` does not
    /// include.
    pub at_most: u64,
    /// True if there is no upper bound on the key's count. In this case, `at_most` is 2^64 - 1.
    pub saturated: bool,
}

/// A sketch with a list of the keys that seem to be the most frequent.
///
/// # What is guaranteed
/// **Every key whose count exceeds [`missed_at_most`](Self::missed_at_most) is in the list.** This
/// is true for every stream of keys, unless two keys have the same 128-bit hash.
///
/// Proof: consider a key that is not in the list. When the key last occurred, the sketch's estimate
/// was at least the key's count. The count has not changed since then. The list either refused the
/// key at that time, or dropped it later. The value `missed_at_most` is at least as high as the
/// bound of every key that the list refused or dropped.
///
/// The method [`above`](Self::above) returns all keys whose count reaches a threshold. The method
/// returns `None` if such a key may be missing from the list. The lowest threshold for which no key
/// is missing depends on the stream, because a rare key can have a higher estimate than a frequent
/// key. This threshold is typically `N / capacity` plus the error of an estimate, where N is the
/// sum of all counts.
///
/// For a key in the list, the bounds `at_least` and `at_most` are guaranteed, too. Do not use
/// [`Sketch::error_bound`](super::Sketch::error_bound) for a key from the list. That bound holds
/// for a key that was chosen in advance. A key from the list was selected because its estimate is
/// high. For such a key, the bound can fail with a probability much higher than `delta`.
///
/// # Memory
/// The list has at most `2 * capacity` keys. Together, these keys take at most `256 * capacity`
/// bytes plus 64 KiB. If the keys are too long for this limit, the list keeps fewer keys, and
/// `missed_at_most` can become higher.
///
/// ```
/// use truebloom::count_min::HeavyHitters;
/// // Finds every word that makes up at least a tenth of the text.
/// let mut words: HeavyHitters = HeavyHitters::for_share("10%".parse()?, "0.001".parse()?)?;
/// "the cat and the dog and the bird".split(' ').for_each(|word| words.add(word, 1));
/// let often = words.above(words.sketch().total().div_ceil(10)).expect("complete");
/// assert_eq!(often[0].key, b"the");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ListedSketch<R: RowHashes, C: Counter = u64> {
    pub(super) sketch: Sketch<R, C>,
    pub(super) capacity: u64,
    pub(super) missed: u64,
    pub(super) listed: List,
    /// The total length of all keys in the list.
    pub(super) key_bytes: usize,
    pub(super) label: Label,
}

impl<R: RowHashes, C: Counter> fmt::Debug for ListedSketch<R, C> {
    /// Shows the sizes and the number of listed keys, but not the keys, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ListedSketch");
        shown.field("sketch", &self.sketch).field("capacity", &self.capacity).field("missed_at_most", &self.missed);
        shown.field("keys", &self.listed.len()).finish_non_exhaustive()
    }
}

impl<R: RowHashes, C: Counter> PartialEq for ListedSketch<R, C> {
    fn eq(&self, other: &ListedSketch<R, C>) -> bool {
        self.sketch == other.sketch && (self.capacity, self.missed) == (other.capacity, other.missed) && self.listed == other.listed
    }
}

/// The listed keys, by their hashes. No answer depends on the order of the map.
#[cfg(any(test, feature = "std"))]
pub(super) type List = HashMap<u128, Listed, BuildHasherDefault<Hashed>>;

/// The listed keys, by their hashes. Without `std`, there is no hash map.
#[cfg(not(any(test, feature = "std")))]
pub(super) type List = BTreeMap<u128, Listed>;

/// An entry of the list, stored under the hash of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: Vec<u8>,
    /// The key's exact count since it entered the list.
    pub(super) since: u64,
    /// An upper bound on the key's count before it entered the list.
    pub(super) before: u64,
    /// An upper bound on the key's total count, computed when the key last occurred.
    pub(super) at_most: u64,
}

impl Listed {
    /// Sets the bound `at_most` to the smaller of this estimate of the sketch and the bound from
    /// the entry's own counts.
    fn bound_by(&mut self, estimate: u64) {
        self.at_most = estimate.min(self.since.saturating_add(self.before));
    }

    fn as_hitter(&self) -> HeavyHitter {
        HeavyHitter { key: self.key.clone(), at_least: self.since, at_most: self.at_most, saturated: self.at_most == u64::MAX }
    }
}

/// The upper bound that an estimate gives. If the estimate is saturated, the result is `u64::MAX`,
/// which means "no bound".
pub(super) fn upper(estimate: Estimate) -> u64 {
    if estimate.saturated { u64::MAX } else { estimate.value }
}

/// Half of a bound. `u64::MAX` means "no bound" and is not halved.
fn half(bound: u64, round: fn(u64) -> u64) -> u64 {
    if bound == u64::MAX { bound } else { round(bound) }
}

/// The hasher of the map. The keys of the map are already seeded hashes, so this hasher does not
/// hash them again.
#[cfg(any(test, feature = "std"))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hashed(u64);

#[cfg(any(test, feature = "std"))]
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

/// A sketch that remembers the most frequent keys, with an independent hash function for every row
/// of counters. In most cases, this is the right type of [`ListedSketch`].
pub type HeavyHitters<C = u64> = ListedSketch<FullRows, C>;

/// The largest capacity of a list. A list stores its keys in full, so for more keys, exact counts
/// in a hash map are better.
pub(super) const MAX_CAPACITY: u64 = 1 << 32;

impl<C: Counter> HeavyHitters<C> {
    /// A sketch with a list of frequent keys. Use it to find all keys whose count is at least
    /// `share` times the sum of all counts. With probability at least `1 - delta`, an estimate
    /// exceeds the true count by at most `share / 2` times this sum. The capacity of the list is
    /// `2 / share`, rounded up. The seed is random.
    ///
    /// The method [`above`](Self::above) returns all keys that reach a threshold, or `None` if such
    /// a key may be missing from the list.
    ///
    /// # Errors
    /// Returns the errors of [`CountMin::new`], and an error if `share` is below 2^-31.
    #[cfg(feature = "random")]
    pub fn for_share(share: Rate, delta: Rate) -> Result<HeavyHitters<C>, BuildError> {
        HeavyHitters::for_share_with_hasher(share, delta, PortableHasher::random()?)
    }

    /// Like [`for_share`](Self::for_share), with a hasher that you choose, such as one with a known
    /// seed or one for untrusted keys.
    ///
    /// # Errors
    /// Returns the same errors as [`for_share`](Self::for_share), but never fails for lack of
    /// random numbers.
    pub fn for_share_with_hasher(share: Rate, delta: Rate, hasher: PortableHasher) -> Result<HeavyHitters<C>, BuildError> {
        let capacity = libm::ceil(2.0 / share.to_f64());
        if capacity > MAX_CAPACITY as f64 {
            return Err(Error::OutOfRange { name: "share", found: share.to_string(), expected: "at least 2^-31".to_owned() }.into());
        }
        let half = Rate::try_from(share.to_f64() / 2.0)?;
        ListedSketch::new(CountMin::with_hasher(half, delta, hasher)?, capacity as u64)
    }
}

impl<R: RowHashes, C: Counter> ListedSketch<R, C> {
    /// Adds an empty list with this capacity to a sketch. If the sketch has already counted keys,
    /// these keys are not in the list. So at first, the value of
    /// [`missed_at_most`](Self::missed_at_most) is the sum of all counts.
    ///
    /// # Errors
    /// Returns an error if `capacity` is 0 or above 2^32.
    pub fn new(sketch: Sketch<R, C>, capacity: u64) -> Result<ListedSketch<R, C>, BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(Error::OutOfRange { name: "capacity", found: capacity.to_string(), expected: "from 1 to 2^32".to_owned() }.into());
        }
        Ok(ListedSketch { missed: sketch.total(), sketch, capacity, listed: List::default(), key_bytes: 0, label: Label::default() })
    }

    /// The label, if the sketch has one. See [`set_label`](Self::set_label).
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// Attaches a text to the sketch: a label, which is saved in the file of the sketch. A label
    /// has at most 104 bytes and no NUL. For any other text, the method returns false and changes
    /// nothing. An empty text removes the label. A merge keeps the label if both sketches have the
    /// same label. If exactly one of the two sketches is empty, the merged sketch gets the label of
    /// the other sketch. Otherwise, the merged sketch has no label.
    #[must_use]
    pub fn set_label(&mut self, text: &str) -> bool {
        self.label.set(text)
    }

    /// Adds `count` to the count of a key. This takes two operations on the sketch and one lookup
    /// in a map. If the list is full, the call also sorts the list and drops keys from it.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, count: u64) {
        with_bytes(key, |bytes| self.add_hash(self.sketch.hasher().hash(bytes), bytes, count));
    }

    /// Like [`add`](Self::add), for a key that is already hashed. The argument `key` contains the
    /// bytes of the key. The argument `hash` must be the hash that the sketch's hasher computes
    /// from these bytes. With any other hash, the counts of different keys are mixed up, and the
    /// bounds do not hold.
    pub fn add_hash(&mut self, hash: KeyHash, key: &[u8], count: u64) {
        self.sketch.add_hash(hash, count);
        let estimate = upper(self.sketch.estimate_hash(hash));
        match self.listed.get_mut(&u128::from(hash)) {
            Some(listed) => {
                listed.since = listed.since.saturating_add(count);
                listed.bound_by(estimate);
            }
            None if estimate > self.missed && count > 0 => {
                // Two upper bounds on the key's earlier count are known: one from the sketch and
                // one from the list. The smaller one is used.
                let before = self.missed.min(if estimate == u64::MAX { estimate } else { estimate.saturating_sub(count) });
                let mut listed = Listed { key: key.to_vec(), since: count, before, at_most: 0 };
                listed.bound_by(estimate);
                self.key_bytes += key.len();
                self.listed.insert(hash.into(), listed);
                // The list grows to twice the capacity before half of it is dropped, so that
                // sorting costs little per key.
                if self.listed.len() as u64 >= 2 * self.capacity || self.key_bytes > self.most_key_bytes() {
                    self.drop_lowest();
                }
            }
            None => {}
        }
    }

    pub(super) fn most_key_bytes(&self) -> usize {
        usize::try_from(256 * self.capacity + (64 << 10)).unwrap_or(usize::MAX)
    }

    /// If the list has more than `capacity` keys, or if its keys take more than the allowed bytes,
    /// drops all keys except the `capacity` keys with the highest bounds. Then goes through these
    /// keys in descending order of their bounds, and drops each key with which the kept keys would
    /// take more than three quarters of the allowed bytes. This leaves room for new keys, so
    /// dropping costs little per key.
    fn drop_lowest(&mut self) {
        if self.listed.len() as u64 <= self.capacity && self.key_bytes <= self.most_key_bytes() {
            return;
        }
        let entry = |(hash, listed): (&u128, &Listed)| (Reverse(listed.at_most), *hash, listed.key.len());
        let mut order: Vec<_> = self.listed.iter().map(entry).collect();
        order.sort_unstable();
        let (most_keys, most_bytes) = (usize::try_from(self.capacity).unwrap_or(usize::MAX), self.most_key_bytes() / 4 * 3);
        let mut bytes = 0;
        for (place, (Reverse(at_most), hash, length)) in order.iter().enumerate() {
            if place < most_keys && bytes + length <= most_bytes {
                bytes += length;
                continue;
            }
            self.missed = self.missed.max(*at_most);
            self.listed.remove(hash);
        }
        self.key_bytes = bytes;
    }

    /// An upper bound on the count of every key that is not in the list. After
    /// [`halve`](Self::halve), the result is a bound on the halved counts, which are rounded down.
    pub fn missed_at_most(&self) -> u64 {
        self.missed
    }

    /// All keys that may have occurred at least `threshold` times, in descending order of
    /// `at_most`. The result includes every key that occurred at least `threshold` times, and can
    /// include rarer keys. If `at_least >= threshold` for a key, the key certainly occurred at
    /// least `threshold` times.
    ///
    /// Returns `None` if `threshold <= missed_at_most`, because a key that occurred `threshold`
    /// times may then be missing from the list: see [`missed_at_most`](Self::missed_at_most).
    pub fn above(&self, threshold: u64) -> Option<Vec<HeavyHitter>> {
        let complete = threshold > self.missed;
        complete.then(|| self.sorted().into_iter().take_while(|hitter| hitter.at_most >= threshold).collect())
    }

    /// Guaranteed bounds on the count of any key. If the key is not in the list, the lower bound is
    /// 0, and the upper bound is at most [`missed_at_most`](Self::missed_at_most). This method
    /// takes as long as [`Sketch::estimate`].
    pub fn bounds<K: Key + ?Sized>(&self, key: &K) -> HeavyHitter {
        let hash = self.sketch.hash(key);
        if let Some(listed) = self.listed.get(&u128::from(hash)) {
            return listed.as_hitter();
        }
        let at_most = self.missed.min(upper(self.sketch.estimate_hash(hash)));
        HeavyHitter { key: key.to_key_bytes(), at_least: 0, at_most, saturated: at_most == u64::MAX }
    }

    /// The first `number` keys of the list, in descending order of `at_most`. If the list has fewer
    /// keys, the result contains all keys of the list.
    pub fn top(&self, number: usize) -> Vec<HeavyHitter> {
        let mut hitters = self.sorted();
        hitters.truncate(number);
        hitters
    }

    /// The whole list, in descending order of `at_most`. Entries with equal bounds are ordered by
    /// key.
    fn sorted(&self) -> Vec<HeavyHitter> {
        let mut hitters: Vec<HeavyHitter> = self.listed.values().map(Listed::as_hitter).collect();
        hitters.sort_unstable_by(|a, b| b.at_most.cmp(&a.at_most).then_with(|| a.key.cmp(&b.key)));
        hitters
    }

    /// The sketch that holds all counts.
    pub fn sketch(&self) -> &Sketch<R, C> {
        &self.sketch
    }

    /// The capacity of the list. The list can grow to `2 * capacity` keys. Each time keys are
    /// dropped from the list, at most `capacity` keys remain.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Halves the counts in the sketch and in the list: see
    /// [`Sketch::halve`](super::Sketch::halve). After this call, all bounds hold for the halved
    /// counts, rounded down.
    pub fn halve(&mut self) {
        self.sketch.halve();
        self.missed = half(self.missed, |bound| bound / 2);
        for listed in self.listed.values_mut() {
            // The true count may be higher than a full counter, so half of the counter is no upper
            // bound.
            if listed.since == u64::MAX {
                listed.before = u64::MAX;
            }
            // The lower bound `since` is rounded down, and the upper bound `before` is rounded up.
            // By rounding, `since` loses less than 1, as the counters do.
            listed.since /= 2;
            listed.before = half(listed.before, |bound| bound.div_ceil(2));
            listed.bound_by(half(listed.at_most, |bound| bound / 2));
        }
    }

    /// Adds the counts and the list of another sketch. After this call, this sketch and its list
    /// describe the streams of both sketches. The capacity of this list stays the same.
    ///
    /// If only one sketch lists a key, the key's count in the stream of the other sketch is at most
    /// `missed_at_most` of that other sketch. After the merge, the value of `missed_at_most` is at
    /// least the sum of the two values before the merge.
    ///
    /// # Errors
    /// Returns the same errors as [`Sketch::merge`](super::Sketch::merge).
    pub fn merge(&mut self, other: &ListedSketch<R, C>) -> Result<(), MergeError> {
        let label = self.label.of_merge(self.sketch.total() > 0, &other.label, other.sketch.total() > 0);
        self.sketch.merge(&other.sketch)?;
        self.label = label;
        for (hash, listed) in &mut self.listed {
            if !other.listed.contains_key(hash) {
                listed.before = listed.before.saturating_add(other.missed);
            }
        }
        for (hash, theirs) in &other.listed {
            match self.listed.get_mut(hash) {
                Some(ours) => {
                    ours.since = ours.since.saturating_add(theirs.since);
                    ours.before = ours.before.saturating_add(theirs.before);
                }
                None => {
                    self.key_bytes += theirs.key.len();
                    let before = theirs.before.saturating_add(self.missed);
                    self.listed.insert(*hash, Listed { before, ..theirs.clone() });
                }
            }
        }
        self.missed = self.missed.saturating_add(other.missed);
        for (hash, listed) in &mut self.listed {
            listed.bound_by(upper(self.sketch.estimate_hash(KeyHash::from_uniform_bits(*hash))));
        }
        self.drop_lowest();
        Ok(())
    }
}
