//! Many filters with the same plan and seed, stored one after the other.

mod record;
mod stored;

pub use crate::backing::{CheckedMember, Packed};

use crate::FilterOf;
use crate::backing::{Backing, Counted, Owned, View};
use crate::bloom::Head;
use crate::error::{FormatError, MergeError};
use crate::format::Label;
use crate::hash::PortableHasher;
use crate::scheme::{Scheme, Standard};
use alloc::vec::Vec;
use core::fmt;
use record::record_words;

/// Many small filters in one piece of memory, or in one file. The filters in a pack are its
/// *members*. All members have the same bit count, probe count, scheme, hasher, seed, capacity and
/// planned rate. The pack stores these values once. Each member has a *record* of 64 bytes, which
/// contains its counts and two checksums. The bits of the member follow its record.
///
/// [`get`](Self::get) returns a view of a member in a few nanoseconds. The view takes 64 bytes. A
/// key needs to be hashed only once for all members, because they have the same seed. For example,
/// take 10,000 filters with 5,000 keys each and a rate of 1%. Their pack takes 1.1% more memory
/// than their bits alone.
///
/// ```
/// use truebloom::{BloomFilter, Pack};
/// let mut table = BloomFilter::new(5_000, 0.01)?;
/// let mut pack = Pack::of(&table);
/// for number in 0..10u64 {
///     table.clear();
///     table.extend(5_000 * number..5_000 * (number + 1));
///     pack.push(&table)?;
/// }
/// // Later, view the bytes, which can be a mapped file.
/// let bytes = pack.to_bytes()?;
/// let pack = <Pack>::view(&bytes)?;
/// let hash = pack.hash(&12_345u64);
/// let tables: Vec<usize> = pack.iter().enumerate().filter(|(_, table)| table.as_ref().is_ok_and(|table| table.contains_hash(hash))).map(|(i, _)| i).collect();
/// assert!(tables.contains(&2) && tables.len() < 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pack<S: Scheme = Standard, K: Backing = Owned> {
    head: Head<S, PortableHasher>,
    /// A fingerprint of the plan and the seed. It is used to detect a record that belongs to
    /// another pack.
    family: u64,
    /// The records, one after the other.
    words: K::List,
}

/// One of the filters in a [`Pack`], which stores many filters with the same plan and seed.
pub type Member<'a, S = Standard, W = [u8; 8]> = FilterOf<S, PortableHasher, Packed<'a, W>>;

/// A read-only [`Pack`] that uses existing bytes without copying them. `B` is the type of the
/// bytes, for example `&[u8]` or `Vec<u8>`. The method `view` of `Pack` makes such a pack.
pub type PackView<B, S = Standard> = Pack<S, View<B>>;

impl<S: Scheme> Pack<S> {
    /// An empty pack for filters that have the same plan and seed as `filter`. The keys and the
    /// label of `filter` are not copied.
    pub fn of<K: Counted>(filter: &FilterOf<S, PortableHasher, K>) -> Pack<S> {
        let head = Head { label: Label::default(), ..filter.head().clone() };
        Pack::with_words(head, Vec::new())
    }

    /// Adds a filter to the pack. The filter's bits and counts are copied. The filter's label and
    /// plan are not copied. In the pack, the filter gets the plan of the pack.
    ///
    /// # Errors
    /// Returns an error if the filter and the pack differ in the number of bits, the number of
    /// probes, the scheme, the hasher or the seed.
    pub fn push<K: Counted>(&mut self, filter: &FilterOf<S, PortableHasher, K>) -> Result<(), MergeError> {
        self.check_alike(filter)?;
        let start = self.words.len();
        self.words.resize(start + record_words(&self.head.scheme), 0);
        record::write(filter, self.family, &mut self.words[start..]);
        Ok(())
    }
}

impl<S: Scheme, K: Backing> Pack<S, K> {
    fn with_words(head: Head<S, PortableHasher>, words: K::List) -> Pack<S, K> {
        Pack { family: stored::family(&head), head, words }
    }

    /// The number of filters.
    pub fn len(&self) -> usize {
        self.words.len() / record_words(&self.head.scheme)
    }

    /// Returns true if the pack has no filters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The filter with the index `number`, or `None` if the index is too large. Indices start at 0,
    /// in the order in which the filters were added. This method checks the record that is stored
    /// before the filter's bits, but does not read the bits. To check the bits as well, call
    /// `verify_bytes` of the filter.
    ///
    /// # Errors
    /// Returns an error if the record of the filter is damaged.
    pub fn get(&self, number: usize) -> Result<Option<Member<'_, S, K::Word>>, FormatError> {
        let length = record_words(&self.head.scheme);
        let words = number.checked_mul(length).and_then(|start| self.words.get(start..start.checked_add(length)?));
        words.map(|words| record::member(&self.head, self.family, words)).transpose()
    }

    /// The filters, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Result<Member<'_, S, K::Word>, FormatError>> {
        (0..self.len()).filter_map(|number| self.get(number).transpose())
    }

    /// The key's hash, which is the same for all filters of the pack.
    pub fn hash<Q: crate::Key + ?Sized>(&self, key: &Q) -> crate::KeyHash {
        crate::hash::hash_key(&self.head.hasher, key)
    }

    /// The length of a member in bytes. A member consists of a record of 64 bytes, followed by the
    /// bits of a filter in whole words of 64 bits. The record contains the counts and the checksums
    /// of the filter.
    pub fn member_bytes(&self) -> usize {
        record_words(&self.head.scheme).saturating_mul(8)
    }

    /// Writes a filter to the beginning of these bytes, in the format of a member of a pack. Use
    /// this method to store members separately. For example, a database can store each member in
    /// the file of the table that it belongs to. The database then stores only one copy of the
    /// values that all members share.
    ///
    /// ```
    /// use truebloom::{BloomFilter, Pack};
    /// let mut table = BloomFilter::new(5_000, 0.01)?;
    /// let pack = Pack::of(&table);
    /// table.insert("key");
    /// let mut block = vec![0; pack.member_bytes()];
    /// pack.write_member(&table, &mut block)?;
    /// assert!(pack.view_member(&block)?.contains("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the filter and the pack differ in the number of bits, the number of
    /// probes, the scheme, the hasher or the seed. Returns an error if `bytes` is shorter than
    /// [`member_bytes`](Self::member_bytes).
    pub fn write_member<V: Counted>(&self, filter: &FilterOf<S, PortableHasher, V>, bytes: &mut [u8]) -> Result<(), MergeError> {
        self.check_alike(filter)?;
        let (needed, found) = (self.member_bytes(), bytes.len());
        let place = bytes.get_mut(..needed).ok_or(MergeError::Room { needed, found })?;
        record::write::<S, V, [u8; 8]>(filter, self.family, place.as_chunks_mut().0);
        Ok(())
    }

    /// The member that [`write_member`](Self::write_member) wrote to the beginning of these bytes.
    ///
    /// # Errors
    /// Returns an error if there are too few bytes, if the member's record is damaged, or if the
    /// member belongs to a pack with another plan or seed.
    pub fn view_member<'a>(&'a self, bytes: &'a [u8]) -> Result<Member<'a, S>, FormatError> {
        let (expected, found) = (self.member_bytes() as u64, bytes.len() as u64);
        let words = bytes.as_chunks().0.get(..record_words(&self.head.scheme)).ok_or(FormatError::Truncated { expected, found })?;
        record::member(&self.head, self.family, words)
    }

    fn check_alike<V: Backing>(&self, filter: &FilterOf<S, PortableHasher, V>) -> Result<(), MergeError> {
        crate::bloom::check_mergeable(&self.head, filter.head())
    }
}

impl<S: Scheme, K: Backing> fmt::Debug for Pack<S, K> {
    /// Formats the number of members, and the number of bits and of probes of one member.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = &self.head.scheme;
        let (bits, probes) = (scheme.bits(), scheme.probes());
        f.debug_struct("Pack").field("len", &self.len()).field("bits", &bits).field("probes", &probes).finish_non_exhaustive()
    }
}

impl<S: Scheme, K: Backing> Clone for Pack<S, K>
where
    K::List: Clone,
{
    fn clone(&self) -> Pack<S, K> {
        Pack { head: self.head.clone(), family: self.family, words: self.words.clone() }
    }
}

impl<S: Scheme, K: Backing> PartialEq for Pack<S, K> {
    /// Returns true if both packs have the same plan and seed, and the same members in the same
    /// order.
    fn eq(&self, other: &Pack<S, K>) -> bool {
        self.family == other.family && self.words[..] == other.words[..]
    }
}
