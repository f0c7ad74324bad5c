//! Stores sketches as bytes, streams and files.

use super::{Counter, ListedSketch, RowHashes, Sketch};
use crate::backing::{Counted, View};
use crate::format::{reads_files, views_files, writes_files};

writes_files!([R: RowHashes, C: Counter, K: Counted] Sketch<R, C, K>);
writes_files!([R: RowHashes, C: Counter] ListedSketch<R, C>);

reads_files! {
    ///
    /// A sketch with 64-bit counters can also be read from a file with 32-bit counters. A sketch
    /// with 32-bit counters cannot be read from a file with 64-bit counters.
    [R: RowHashes, C: Counter] Sketch<R, C>
}

reads_files! {
    ///
    /// A sketch with 64-bit counters can also be read from a file with 32-bit counters. A sketch
    /// with 32-bit counters cannot be read from a file with 64-bit counters.
    [R: RowHashes, C: Counter] ListedSketch<R, C>
}

views_files! {
    ///
    /// The counters must have the same type as in the file, because a view does not convert
    /// counters.
    ///
    /// ```
    /// use truebloom::count_min::CountMin;
    /// let mut counts: CountMin = CountMin::new("0.001".parse()?, "1%".parse()?)?;
    /// counts.add("key", 3);
    /// let bytes = counts.to_bytes()?;
    /// let view = CountMin::<u64>::view(&bytes)?;
    /// assert_eq!(view.estimate("key"), counts.estimate("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [R: RowHashes, C: Counter] Sketch<R, C>, [AsRef<[u8]> + Send + Sync] Sketch<R, C, View<B>>, Sketch<R, C, View<crate::disk::Mapped>>
}

views_files! {
    ///
    /// The view contains only the sketch. To read the sketch and its list of keys, use
    /// [`from_bytes`](Self::from_bytes).
    [R: RowHashes, C: Counter] ListedSketch<R, C>, [AsRef<[u8]> + Send + Sync] Sketch<R, C, View<B>>, Sketch<R, C, View<crate::disk::Mapped>>
}
