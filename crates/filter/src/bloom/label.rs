//! A short text that programs can attach to a filter.

use super::FilterOf;
use crate::backing::Backing;
use crate::hash::KeyHasher;
use crate::scheme::Scheme;

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// The text that [`set_label`](FilterOf::set_label) attached to the filter. Returns `None` if
    /// the filter has no label.
    pub fn label(&self) -> Option<&str> {
        self.head().label.text()
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// Attaches a text to the filter and its file, for programs that open the file. For example,
    /// the text can say how keys are made from records. The label does not affect the answers of
    /// the filter, and filters that differ only in their label are equal. The command `truebloom`
    /// stores a JSON object as the label. The object says which part of each input line is the key
    /// (docs/FORMAT.md).
    ///
    /// A merge keeps the label if both filters have the same label. If exactly one of the two
    /// filters has no keys, the merged filter gets the label of the other filter. Otherwise, the
    /// merged filter has no label.
    ///
    /// A label has at most 104 bytes and no NUL. For any other text, the method returns false and
    /// changes nothing. An empty text removes the label.
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
