//! Filters as bytes, streams and files.

use super::FilterOf;
use crate::backing::{Counted, View};
use crate::format::{reads_files, views_files, writes_files};
use crate::hash::PortableHasher;
use crate::scheme::Scheme;

writes_files! {
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()?)?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Scheme, K: Counted] FilterOf<S, PortableHasher, K>
}

reads_files! {
    ///
    /// If the file's scheme is not the scheme `S`, the method returns an error. With `S` =
    /// [`AnyScheme`](crate::scheme::AnyScheme), it reads filters of every scheme except blocked
    /// filters. [`AnyFilter`](crate::AnyFilter) reads filters of every scheme, including blocked
    /// filters.
    ///
    /// ```
    /// use truebloom::scheme::{AnyScheme, Scheme};
    /// use truebloom::{BloomFilter, FilterOf};
    /// let bytes = BloomFilter::new(1_000, 0.01)?.to_bytes()?;
    /// let filter = FilterOf::<AnyScheme>::from_bytes(&bytes)?;
    /// assert_eq!(filter.scheme().id().name(), "standard");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Scheme] FilterOf<S>
}

views_files! {
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// let table = [b"some block of a larger file".to_vec(), filter.to_bytes()?, b"another one".to_vec()].concat();
    /// let view = BloomFilter::view_prefix(&table[27..])?;
    /// assert!(view.contains("key") && table.ends_with(&table[27 + view.encoded_bytes() as usize..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Scheme] FilterOf<S>, [AsRef<[u8]> + Send + Sync] FilterOf<S, PortableHasher, View<B>>, FilterOf<S, PortableHasher, View<crate::disk::Mapped>>
}
