//! Claims: when several threads claim the same key, exactly one of them learns that the key was
//! new.

use super::AtomicFilterOf;
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::Scheme;
use crate::sync::{Mutex, MutexGuard};
use std::sync::PoisonError;
use truebloom_math::mix;

/// The number of locks. There are more locks than programs usually have threads, so that two
/// threads seldom wait for the same lock.
const STRIPES: usize = if cfg!(all(test, truebloom_loom)) { 1 } else { 64 };

/// Locks; the hash of a key selects one of them.
pub(super) struct Claims(Box<[Mutex<()>]>);

impl Default for Claims {
    fn default() -> Claims {
        Claims((0..STRIPES).map(|_| Mutex::new(())).collect())
    }
}

impl Claims {
    fn lock(&self, hash: KeyHash) -> MutexGuard<'_, ()> {
        // A poisoned lock is harmless, because it protects no data that a panic could leave
        // inconsistent.
        self.0[mix(hash.h1 ^ hash.h2) as usize % STRIPES].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    /// Inserts a key. If several threads claim the same new key, the call returns true in exactly
    /// one of them. If the key is a false positive, the call returns false in every thread.
    ///
    /// If the filter does not contain the key yet, the call takes one of 64 locks, selected by the
    /// key's hash. If the filter already contains the key, the call takes no lock.
    /// [`insert`](Self::insert) never takes a lock. If one thread claims a key while another thread
    /// inserts it, both calls may return true.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use truebloom::AtomicBloomFilter;
    /// let pages = AtomicBloomFilter::new(1_000, 1e-6)?;
    /// let fetched = AtomicU32::new(0);
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| (0..100u64).filter(|page| pages.claim(page)).for_each(|_| { fetched.fetch_add(1, Ordering::Relaxed); }));
    ///     }
    /// });
    /// assert_eq!(fetched.into_inner(), 100);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn claim<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.claim_hash(self.hash(key))
    }

    /// Like [`claim`](Self::claim), for a key that is already hashed.
    pub fn claim_hash(&self, hash: KeyHash) -> bool {
        if self.contains_hash(hash) {
            self.offered.add(1);
            return false;
        }
        let _held = self.claims.lock(hash);
        self.insert_hash(hash)
    }
}

/// `RUSTFLAGS="--cfg truebloom_loom" cargo test -p truebloom --release --lib loom` tries every
/// order in which the threads can run.
#[cfg(all(test, truebloom_loom))]
mod loom_tests {
    use crate::{AtomicBloomFilter, BloomFilter, PortableHasher, Seed};
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn loom_exactly_one_of_two_claims_a_key() {
        loom::model(|| {
            let filter = BloomFilter::builder().bits(128).probes(2).hasher(PortableHasher::xxh3(Seed::from(1))).build().expect("small");
            let shared = Arc::new(AtomicBloomFilter::from(filter));
            let other = Arc::clone(&shared);
            let there = thread::spawn(move || other.claim(&7u64));
            let here = shared.claim(&7u64);
            assert_ne!(there.join().expect("joined"), here);
            assert!(shared.contains(&7u64) && shared.offered() == 2);
        });
    }
}
