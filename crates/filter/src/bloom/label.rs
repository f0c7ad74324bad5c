//! A short text in the header, for programs.

use super::FilterOf;
use crate::error::FormatError;
use crate::format::{Fields, at};
use crate::hash::KeyHasher;
use crate::scheme::Scheme;

/// UTF-8 without NUL, filled up with 0; all 0 is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label([u8; MOST]);

/// Bytes that a label has room for: what the header leaves of its parameters.
const MOST: usize = at::HEADER_CHECKSUM - at::LABEL;

impl Default for Label {
    fn default() -> Label {
        Label([0; MOST])
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

impl Label {
    fn new(text: &str) -> Option<Label> {
        if text.len() > MOST || text.contains('\0') {
            return None;
        }
        let mut bytes = [0; MOST];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        Some(Label(bytes))
    }

    fn get(&self) -> Option<&str> {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(MOST);
        self.0.get(..end).and_then(|text| core::str::from_utf8(text).ok()).filter(|text| !text.is_empty())
    }

    /// Of two filters that are merged: the one that both have.
    pub(crate) fn shared(self, other: Label) -> Label {
        if self == other { self } else { Label::default() }
    }

    pub(crate) fn read(fields: &Fields) -> Result<Label, FormatError> {
        let found = Label(fields.get(at::LABEL));
        let text = found.get().unwrap_or_default();
        // One way to write each, so that equal filters have equal bytes.
        if Label::new(text) == Some(found) { Ok(found) } else { Err(FormatError::Reserved { offset: at::LABEL }) }
    }

    pub(crate) fn put(&self, fields: &mut Fields) {
        fields.put(at::LABEL, self.0);
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// The label, if it has one: [`set_label`](Self::set_label).
    pub fn label(&self) -> Option<&str> {
        self.counts.label.get()
    }

    /// Keeps a text with the filter, in its file too: what a program that opens the file has to know, as how keys are made of records. It changes no answer, and filters that differ in it alone are equal. A
    /// merge keeps it if both have the same. The command of this crate keeps an object there that says how keys are cut from lines (docs/FORMAT.md).
    ///
    /// At most 104 bytes without NUL; false, and nothing changes, for others. An empty text is no label.
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
        let label = Label::new(text);
        label.inspect(|label| self.counts.label = *label).is_some()
    }
}
