//! Tests that the number of threads does not change the results. The filters and answers are those
//! of one thread, even with repeated keys and parts of unequal size.
#![cfg(feature = "rayon")]
#![allow(missing_docs, reason = "a test has no public interface")]

use truebloom::{BlockedBloomFilter, BloomFilter, PortableHasher, Seed};

/// A list of keys in which every third key repeats an earlier one, both within the parts for
/// threads and across them.
fn keys(count: u64) -> Vec<u64> {
    (0..count).map(|i| if i % 3 == 2 { i / 7 } else { i << 20 }).collect()
}

/// Numbers of keys near the sizes of words, of batches, and of the parts for threads.
const LENGTHS: [u64; 9] = [0, 1, 63, 256, 16_383, 16_385, 65_536, 65_537, 200_001];

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(5))
}

#[test]
fn standard_filters() {
    for length in LENGTHS {
        let members = keys(length);
        let mut alone = BloomFilter::with_hasher(100_000, 0.01, hasher()).expect("a filter");
        let mut together = alone.clone();
        assert_eq!(together.par_insert_all(&members), alone.insert_all(&members), "{length}");
        assert!(together == alone, "{length}");
        let asked: Vec<u64> = (0..length).collect();
        assert_eq!(together.par_contains_all(&asked), alone.contains_all(&asked), "{length}");
    }
}

#[test]
fn blocked_filters() {
    for length in LENGTHS {
        let members = keys(length);
        let mut alone = BlockedBloomFilter::with_hasher(100_000, 0.01, hasher()).expect("a filter");
        let mut together = alone.clone();
        assert_eq!(together.par_insert_all(&members), alone.insert_all(&members), "{length}");
        assert!(together == alone, "{length}");
        let asked: Vec<u64> = (0..length).collect();
        assert_eq!(together.par_contains_all(&asked), alone.contains_all(&asked), "{length}");
    }
}
