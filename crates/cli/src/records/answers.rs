//! Results for the keys of a batch, such as their hashes. Results are computed by the thread that
//! uses them, or ahead of time by other threads.

use super::HASHED;
use super::found::Batch;
use truebloom::{KeyHash, KeyHasher, PortableHasher};

/// The results for the keys of a batch. The results depend only on the keys, so it does not matter
/// when and where they are computed.
#[derive(Default)]
pub(crate) struct Answers {
    /// The hash of every key, in order.
    pub(crate) hashes: Vec<KeyHash>,
    /// One bit for each key, which says whether a filter contains the key. The order of the bits is
    /// that of [`truebloom::Filter::contains_all_hashes`].
    pub(crate) contained: Vec<u64>,
    /// Like `contained`, for each of several filters.
    pub(crate) each: Vec<Vec<u64>>,
}

/// Something in which keys can be looked up.
pub(crate) trait Lookup {
    /// Appends one bit for each key, which says whether it is contained, in the order of
    /// [`truebloom::Filter::contains_all_hashes`].
    fn look_up(&self, hashes: &[KeyHash], answers: &mut Vec<u64>);
}

/// A function that computes the results for the keys of a batch.
pub(super) type Work = dyn Fn(Batch<'_>, &mut Answers) + Send + Sync;

impl Answers {
    /// Hashes every key.
    pub(crate) fn hash(&mut self, batch: Batch<'_>, hasher: PortableHasher) {
        self.hashes.clear();
        self.hashes.extend(batch.iter().map(|(_, key)| hasher.hash(key)));
    }

    /// Looks up every key in filters that share a hasher; each filter comes with the index of its
    /// words in `each`, to which the answers are appended.
    pub(crate) fn look_up_all<'a, L: Lookup + 'a>(
        &mut self,
        batch: Batch<'_>,
        hasher: PortableHasher,
        filters: impl Iterator<Item = (usize, &'a L)> + Clone,
    ) {
        hashed(&mut self.hashes, batch, hasher, |hashes| {
            for (index, filter) in filters.clone() {
                filter.look_up(hashes, &mut self.each[index]);
            }
        });
    }

    /// Looks up every key; its hash is not stored.
    pub(crate) fn look_up(&mut self, batch: Batch<'_>, hasher: PortableHasher, filter: &impl Lookup) {
        self.contained.clear();
        hashed(&mut self.hashes, batch, hasher, |hashes| filter.look_up(hashes, &mut self.contained));
    }
}

/// Hashes the keys, one part of the batch at a time, and discards the hashes of a part before the
/// next.
fn hashed(hashes: &mut Vec<KeyHash>, batch: Batch<'_>, hasher: PortableHasher, mut ask: impl FnMut(&[KeyHash])) {
    let mut keys = batch.iter();
    loop {
        hashes.clear();
        hashes.extend(keys.by_ref().take(HASHED).map(|(_, key)| hasher.hash(key)));
        if hashes.is_empty() {
            return;
        }
        ask(hashes);
    }
}
