//! Bytes, streams and files.

use super::BlockedBloomFilter;
use crate::format::{reads_files, writes_files};

writes_files! {
    ///
    /// ```
    /// use truebloom::BlockedBloomFilter;
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// assert_eq!(BlockedBloomFilter::from_bytes(&filter.to_bytes()?)?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] BlockedBloomFilter
}

reads_files!([] BlockedBloomFilter);
