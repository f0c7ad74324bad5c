//! A short text of a filter, for programs.

use super::FilterOf;
use crate::backing::Backing;
use crate::hash::KeyHasher;
use crate::scheme::Scheme;

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// The label, if it has one: [`set_label`](FilterOf::set_label).
    pub fn label(&self) -> Option<&str> {
        self.head().label.text()
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// Keeps a text with the filter, in its file too, for programs that open the file: how keys are
    /// made from records, for example. It changes no answer, and filters that differ in it alone
    /// are equal. A merge keeps it if both have the same. The command of this crate keeps an object
    /// there that says how keys are cut from lines (docs/FORMAT.md).
    ///
    /// At most 104 bytes without NUL; false, and nothing changes, for any other. An empty text
    /// means no label.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(100, 0.01)?;
    /// assert!(seen.set_label("e-mail addresses, in lower case"));
    /// let found = BloomFilter::from_bytes(&seen.to_bytes()?)?;
    /// assert_eq!(found.label(), Some("e-mail addresses, in lower case"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn set_label(&mut self, text: &str) -> bool {
        self.head.0.label.set(text)
    }
}
