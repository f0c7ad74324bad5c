//! The union of two filters that grew.

use super::ScalableFilter;
use crate::backing::{KEPT_WORDS, Lies};
use crate::bloom::{Counts, Label, Origin};
use crate::error::MergeError;
use crate::hash::check_alike;
use alloc::vec::Vec;

impl ScalableFilter {
    /// Adds all keys of `other`, which must have the same seed and grow in the same way: a clone, or a copy that was emptied.
    ///
    /// A layer of each with the same number becomes one if their bits together stay within its limit; so filters with a common base, or few keys, stay as they were made. Otherwise both are kept, and the rate is at most the sum of both filters'
    /// ([`bound`](Self::bound)): up to twice the rate asked for. The newest layer takes the keys to come. Linear in the bits.
    ///
    /// ```
    /// use truebloom::ScalableFilter;
    /// let mut here = ScalableFilter::new(0.01)?;
    /// let mut there = here.clone(); // same seed
    /// here.insert("a");
    /// there.insert("b");
    /// here.union_with(&there)?;
    /// assert!(here.contains("a") && here.contains("b") && here.layers().len() == 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The filters differ in seed, hasher or growth.
    pub fn union_with(&mut self, other: &ScalableFilter) -> Result<(), MergeError> {
        check_alike(&self.hasher, &other.hasher)?;
        if self.growth != other.growth {
            return Err(MergeError::Growth);
        }
        (0..other.parts.len()).for_each(|number| self.add_layer(other, number));
        // The sort is stable: of two, the one that was here is the earlier.
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|at| self.parts.get(*at).map_or(0, |part| part.number));
        self.parts = order.iter().filter_map(|at| self.parts.get(*at).cloned()).collect();
        let mut words: Vec<_> = core::mem::take(&mut self.words).into_iter().map(Some).collect();
        self.words = order.iter().filter_map(|at| words.get_mut(*at).and_then(Option::take)).collect();
        let offered = self.counts.offered.saturating_add(other.counts.offered);
        self.counts = Counts { offered, changed: self.counts.changed.max(other.counts.changed), origin: Origin::Merged };
        if self.label != other.label {
            self.label = Label::default();
        }
        Ok(())
    }

    /// A layer of another filter, into its twin if that has room.
    fn add_layer(&mut self, other: &ScalableFilter, theirs: usize) {
        let Some(part) = other.parts.get(theirs) else { return };
        let twin = |(_, ours): &(usize, &super::Part<_>)| (ours.number, ours.layer) == (part.number, part.layer);
        let with = |at: usize| {
            let either = self.bits_of(at).iter().zip(other.bits_of(theirs)).map(|(ours, theirs)| ours.get() | theirs.get());
            either.map(|word| u64::from(word.count_ones())).sum::<u64>()
        };
        let twins = self.parts.iter().enumerate().filter(twin);
        let room = twins.map(|(at, _)| (at, with(at))).find(|(_, ones)| *ones <= part.layer.limit());
        match room.and_then(|(at, ones)| Some((self.parts.get_mut(at)?, self.words.get_mut(at)?, ones))) {
            Some((ours, words, ones)) => {
                let bits = words.iter_mut().skip(KEPT_WORDS);
                bits.zip(other.bits_of(theirs)).for_each(|(ours, theirs)| *ours |= theirs);
                (ours.ones, ours.inserted) = (ones, ours.inserted.max(part.inserted));
            }
            None => {
                self.parts.push(part.clone());
                self.words.extend(other.words.get(theirs).cloned());
            }
        }
    }

    /// Always an error: a key may be in different layers of the two. Ask both.
    ///
    /// # Errors
    /// Always.
    pub fn intersect_with(&mut self, _: &ScalableFilter) -> Result<(), MergeError> {
        Err(MergeError::Layers)
    }
}
