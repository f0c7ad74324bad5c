//! A short text in the header, for programs.

use super::FilterOf;
use crate::backing::Backing;
use crate::error::FormatError;
use crate::format::{Fields, at};
use crate::hash::KeyHasher;
use crate::scheme::Scheme;
use alloc::boxed::Box;

/// UTF-8 without NUL, filled up with 0 in a file; all 0 is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label(Option<Box<str>>);

/// Bytes that a label has room for: what the header leaves of its parameters.
const MOST: usize = at::HEADER_CHECKSUM - at::LABEL;

impl Label {
    pub(crate) fn new(text: &str) -> Option<Label> {
        let fits = text.len() <= MOST && !text.contains('\0');
        fits.then(|| Label((!text.is_empty()).then(|| text.into())))
    }

    pub(crate) fn read(fields: &Fields) -> Result<Label, FormatError> {
        let bytes: [u8; MOST] = fields.get(at::LABEL);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(MOST);
        let (text, rest) = bytes.split_at(end);
        // One way to write each, so that equal filters have equal bytes.
        let label = core::str::from_utf8(text).ok().filter(|_| rest.iter().all(|byte| *byte == 0)).and_then(Label::new);
        label.ok_or(FormatError::Reserved { offset: at::LABEL })
    }

    /// The text, if there is one.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn put(&self, fields: &mut Fields) {
        let mut bytes = [0; MOST];
        bytes.iter_mut().zip(self.0.iter().flat_map(|text| text.bytes())).for_each(|(to, from)| *to = from);
        fields.put(at::LABEL, bytes);
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// The label, if it has one: [`set_label`](FilterOf::set_label).
    pub fn label(&self) -> Option<&str> {
        self.head().label.text()
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
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
        label.map(|label| self.head.0.label = label).is_some()
    }
}
