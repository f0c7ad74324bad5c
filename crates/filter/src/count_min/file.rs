//! Bytes, streams and files.

use super::{Counter, ListedSketch, RowHashes, Sketch};
use crate::format::{reads_files, writes_files};

writes_files!([R: RowHashes, C: Counter] Sketch<R, C>);
writes_files!([R: RowHashes, C: Counter] ListedSketch<R, C>);

reads_files! {
    ///
    /// Counters of 32 bits are read into 64, not the other way round.
    [R: RowHashes, C: Counter] Sketch<R, C>
}

reads_files! {
    ///
    /// Counters of 32 bits are read into 64, not the other way round.
    [R: RowHashes, C: Counter] ListedSketch<R, C>
}
