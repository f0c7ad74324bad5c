//! Bytes, streams and files: the whole state, in the middle of a cycle.

use super::RecyclingFilter;
use super::memory::Layout;
use crate::format::{reads_files, writes_files};
use crate::hash::PortableHasher;

writes_files! {
    ///
    /// ```
    /// use truebloom::recycling::{Policy, RecyclingFilter};
    /// let mut seen = RecyclingFilter::new(1_000, 4, Policy::two_phases(500))?;
    /// assert!((0..300).filter(|i| seen.check_and_insert(i).is_new()).count() > 200);
    /// let mut copy: RecyclingFilter = RecyclingFilter::from_bytes(&seen.to_bytes()?)?;
    /// // It goes on as if nothing had happened.
    /// assert!((250..600).all(|i| seen.check_and_insert(&i) == copy.check_and_insert(&i)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Layout] RecyclingFilter<PortableHasher, S>
}

reads_files! {
    ///
    /// The scheme or layout is that of the type: `let seen: RecyclingFilter = RecyclingFilter::from_bytes(&bytes)?` is one of the standard scheme. An error if the file has another.
    [S: Layout] RecyclingFilter<PortableHasher, S>
}
