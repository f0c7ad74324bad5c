//! Stores filters that grow as bytes, streams and files.

use super::ScalableFilter;
use crate::backing::{Counted, View};
use crate::format::{reads_files, views_files, writes_files};

writes_files! {
    ///
    /// ```
    /// use truebloom::ScalableFilter;
    /// let mut filter = ScalableFilter::new(0.01)?;
    /// filter.extend(0..10_000);
    /// assert_eq!(ScalableFilter::from_bytes(&filter.to_bytes()?)?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [K: Counted] ScalableFilter<K>
}

reads_files!([] ScalableFilter);

views_files! {
    ///
    /// For a filter that grows, this call also reads a record of 64 bytes for each layer, and
    /// verifies the checksum of the record.
    [] ScalableFilter, [AsRef<[u8]> + Send + Sync] ScalableFilter<View<B>>, ScalableFilter<View<crate::disk::Mapped>>
}
