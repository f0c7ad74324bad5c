//! The words of several filters in one file.

use super::InBytes;
use crate::arch::AlignedWords;
use crate::word::Word;
use alloc::vec::Vec;
use core::ops::Range;

/// Access to layers, each of which is a record followed by its bits.
pub trait Layers<W>: Send + Sync {
    /// The record and the bits of the layer with this index. The slice is empty if there is no such
    /// layer.
    fn layer(&self, number: usize) -> &[W];
}

impl Layers<u64> for Vec<AlignedWords> {
    #[inline(always)]
    fn layer(&self, number: usize) -> &[u64] {
        self.get(number).map_or(&[], |words| &words[..])
    }
}

/// The implementation for packs, whose filters have no layers.
impl<W: Word> Layers<W> for () {
    fn layer(&self, _: usize) -> &[W] {
        &[]
    }
}

/// Layers that are stored one after the other in bytes that `B` holds.
pub struct InLayers<B> {
    pub(crate) words: InBytes<B, [u8; 8]>,
    /// Ranges of words.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl<B: AsRef<[u8]> + Send + Sync> Layers<[u8; 8]> for InLayers<B> {
    #[inline(always)]
    fn layer(&self, number: usize) -> &[[u8; 8]] {
        let range = self.ranges.get(number).cloned();
        range.and_then(|range| self.words.get(range)).unwrap_or_default()
    }
}

impl<B: Clone> Clone for InLayers<B> {
    fn clone(&self) -> InLayers<B> {
        InLayers { words: self.words.clone(), ranges: self.ranges.clone() }
    }
}
