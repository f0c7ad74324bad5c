//! Stores recycling filters as bytes, streams and files. The file of a recycling filter contains
//! its whole state, even in the middle of a cycle.

use super::RecyclingFilter;
use super::memory::Layout;
use crate::backing::{Counted, View};
use crate::format::{reads_files, views_files, writes_files};
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
    [S: Layout, K: Counted] RecyclingFilter<PortableHasher, S, K>
}

reads_files! {
    ///
    /// The declared type of the result determines the scheme. For example, `let seen:
    /// RecyclingFilter = RecyclingFilter::from_bytes(&bytes)?` reads a filter with the standard
    /// scheme. If the file has another scheme, this call returns an error.
    [S: Layout] RecyclingFilter<PortableHasher, S>
}

views_files! {
    ///
    /// If the filter has two phases, the view clones `bytes`. A clone of a `Vec` copies all bytes.
    /// Pass a slice or an `Arc` instead: a clone of a slice or of an `Arc` copies no bytes.
    ///
    /// ```
    /// use truebloom::recycling::{Policy, RecyclingFilter};
    /// let mut seen = RecyclingFilter::new(1_000, 4, Policy::two_phases(500))?;
    /// seen.check_and_insert("key");
    /// let bytes = seen.to_bytes()?;
    /// let view = <RecyclingFilter>::view(&bytes)?;
    /// assert!(view.contains("key"));
    /// assert_eq!(view.verify_bytes()?.fpr(), seen.fpr());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Layout] RecyclingFilter<PortableHasher, S>, [AsRef<[u8]> + Clone + Send + Sync] RecyclingFilter<PortableHasher, S, View<B>>, RecyclingFilter<PortableHasher, S, View<crate::disk::Mapped>>
}
