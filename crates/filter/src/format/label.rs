//! A short text that programs can store in a file.

use super::{Fields, at};
use crate::error::FormatError;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

/// A label is UTF-8 text without NUL. In the file, the label is padded with zeros; if there is no
/// label, all of these bytes are 0.
///
/// Files of kinds 1 and 2 store the label in a free part of the header. The headers of recycling
/// filters and sketches have no room, so their label is at the end of the payload, and a flag says
/// that it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label(Option<Box<str>>);

/// The largest length of a label in bytes: the free space in the headers of kinds 1 and 2.
const MOST: usize = at::HEADER_CHECKSUM - at::LABEL;

/// The number of words that a label takes at the end of a payload.
const WORDS: usize = MOST / 8;

impl Label {
    /// The flag that says that a payload ends with a label.
    pub(crate) const FLAG: u32 = 1 << 7;

    pub(crate) fn new(text: &str) -> Option<Label> {
        let fits = text.len() <= MOST && !text.contains('\0');
        fits.then(|| Label((!text.is_empty()).then(|| text.into())))
    }

    /// Sets the text; returns false and changes nothing if the text is not valid.
    pub(crate) fn set(&mut self, text: &str) -> bool {
        Label::new(text).map(|label| *self = label).is_some()
    }

    /// The label of a merge. A label describes the keys of a filter or sketch, so a side without
    /// keys does not count if the other side has keys. Sides that count must share their label.
    pub(crate) fn of_merge(&self, has_keys: bool, other: &Label, other_has_keys: bool) -> Label {
        match (has_keys, other_has_keys) {
            (true, false) => self.clone(),
            (false, true) => other.clone(),
            _ if self == other => self.clone(),
            _ => Label::default(),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Reads the label of a header.
    pub(crate) fn read(fields: &Fields) -> Result<Label, FormatError> {
        Label::of_bytes(fields.get(at::LABEL)).ok_or(FormatError::Reserved { offset: at::LABEL })
    }

    pub(crate) fn put(&self, fields: &mut Fields) {
        fields.put(at::LABEL, self.bytes());
    }

    /// The flag for the file, or 0 if there is no label.
    pub(crate) fn flag(&self) -> u32 {
        if self.0.is_some() { Label::FLAG } else { 0 }
    }

    /// The number of bytes that the label takes at the end of a payload with these flags.
    pub(crate) fn payload_bytes(flags: u32) -> u64 {
        if flags & Label::FLAG == 0 { 0 } else { MOST as u64 }
    }

    pub(crate) fn word_count(&self) -> u64 {
        Label::payload_bytes(self.flag()) / 8
    }

    /// The words of the label at the end of the payload.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + use<> {
        let bytes = self.bytes();
        let words: [u64; WORDS] = core::array::from_fn(|i| u64::from_le_bytes(core::array::from_fn(|j| bytes[8 * i + j])));
        words.into_iter().take(self.word_count() as usize)
    }

    /// Removes the label from the end of a payload with these flags and returns it.
    pub(crate) fn split_off(words: &mut Vec<u64>, flags: u32) -> Result<Label, FormatError> {
        let length = (Label::payload_bytes(flags) / 8) as usize;
        let end = words.split_off(words.len().saturating_sub(length));
        Label::of_words(end.into_iter(), flags)
    }

    /// Reads the label at the end of a payload. `file` begins with the file and may have more bytes
    /// after it; `payload_bytes` is the length of the payload.
    pub(crate) fn at_end(file: &[u8], payload_bytes: u64, flags: u32) -> Result<Label, FormatError> {
        let end = super::HEADER_BYTES + payload_bytes as usize;
        let bytes = file.get(end - Label::payload_bytes(flags) as usize..end).unwrap_or_default();
        Label::of_words(super::words_of(bytes), flags)
    }

    fn of_words(words: impl Iterator<Item = u64>, flags: u32) -> Result<Label, FormatError> {
        if flags & Label::FLAG == 0 {
            return Ok(Label::default());
        }
        let mut bytes = [0; MOST];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
        let why = || FormatError::Parameters { why: "the label at the end is not text".to_string() };
        // A file without a label does not have the flag, so an empty label is an error.
        Label::of_bytes(bytes).filter(|label| label.0.is_some()).ok_or_else(why)
    }

    fn of_bytes(bytes: [u8; MOST]) -> Option<Label> {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(MOST);
        let (text, rest) = bytes.split_at(end);
        // The bytes after the text must be 0, so that equal values have equal bytes.
        core::str::from_utf8(text).ok().filter(|_| rest.iter().all(|byte| *byte == 0)).and_then(Label::new)
    }

    fn bytes(&self) -> [u8; MOST] {
        let mut bytes = [0; MOST];
        let text = self.0.as_deref().unwrap_or_default().as_bytes();
        bytes.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        bytes
    }
}
