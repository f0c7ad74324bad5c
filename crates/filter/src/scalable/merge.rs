//! The union of two filters that grow.

use super::{Part, ScalableFilter};
use crate::arch::AlignedWords;
use crate::backing::{Backing, KEPT_WORDS, Layers};
use crate::bits::{count_ones, count_pairs};
use crate::bloom::{Counts, Origin};
use crate::error::{BuildError, MergeError};
use crate::hash::check_alike;
use crate::word::Lies;
use alloc::vec::Vec;

impl ScalableFilter {
    /// Adds all keys of `other`, which must have the same seed and grow in the same way. For
    /// example, `other` can be a clone of this filter, or a filter made by
    /// [`to_empty`](Self::to_empty).
    ///
    /// Every layer has a [number](Self::layer_numbers) and a limit on how many of its bits may be
    /// set. If both filters have a layer with the same number, the two layers are merged, unless
    /// the union of their bits exceeds the limit. For example, two layers that hold few keys are
    /// merged. Two full layers are merged if their bits are equal. For example, their bits are
    /// equal if one filter was cloned from the other after the layer was full.
    ///
    /// If the union would exceed the limit, the filter keeps both layers. The filter's rate is then
    /// at most the sum of the rate bounds ([`bound`](Self::bound)) of the two filters. If neither
    /// of the two filters was merged before, this sum is at most twice the requested rate. Later
    /// keys are inserted into the newest layer. The time is linear in the number of bits.
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
    /// Returns an error if the filters differ in seed, hasher or growth. Returns an error if a
    /// layer of `other` has more set bits than its limit, which is possible only for a view of
    /// damaged bytes. Returns an error if the memory for a layer cannot be allocated. In this case,
    /// some keys of `other` may already have been added.
    pub fn union_with<V: Backing>(&mut self, other: &ScalableFilter<V>) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        other.check_limits()?;
        let added = (0..other.parts.len()).try_for_each(|number| self.add_layer(other, number));
        // The sort is stable. If two layers have the same number, this filter's layer therefore
        // comes first.
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|at| self.parts.get(*at).map_or(0, |part| part.number));
        self.parts = order.iter().filter_map(|at| self.parts.get(*at).cloned()).collect();
        let mut words: Vec<_> = core::mem::take(&mut self.words).into_iter().map(Some).collect();
        self.words = order.iter().filter_map(|at| words.get_mut(*at).and_then(Option::take)).collect();
        self.label = self.label.of_merge(self.offered() > 0, &other.label, other.offered() > 0);
        let offered = self.counts.offered.saturating_add(other.counts.offered);
        self.counts = Counts { offered, changed: self.counts.changed.max(other.counts.changed), origin: Origin::Merged };
        added
    }

    /// Adds a layer of another filter. Merges it into a layer that has the same number, if that
    /// layer has room. Otherwise keeps both layers.
    fn add_layer<V: Backing>(&mut self, other: &ScalableFilter<V>, theirs: usize) -> Result<(), MergeError> {
        let Some(part) = other.parts.get(theirs) else { return Ok(()) };
        let twin = |(_, ours): &(usize, &Part<_>)| (ours.number, ours.layer) == (part.number, part.layer);
        let with = |at: usize| count_pairs(self.bits_of(at), other.bits_of(theirs), |ours, theirs| ours | theirs);
        let twins = self.parts.iter().enumerate().filter(twin);
        let room = twins.map(|(at, _)| (at, with(at))).find(|(_, ones)| *ones <= part.layer.limit());
        match room.and_then(|(at, ones)| Some((self.parts.get_mut(at)?, self.words.get_mut(at)?, ones))) {
            Some((ours, words, ones)) => {
                let bits = words.iter_mut().skip(KEPT_WORDS);
                bits.zip(other.bits_of(theirs)).for_each(|(ours, theirs)| *ours |= theirs.get());
                (ours.ones, ours.inserted) = (ones, ours.inserted.max(part.inserted));
            }
            None => {
                let found = other.words.layer(theirs);
                let memory = MergeError::Memory { bytes: 8 * found.len() as u64 };
                let mut words = AlignedWords::zeroed(found.len()).ok_or(memory)?;
                words.iter_mut().zip(found).for_each(|(copy, word)| *copy = word.get());
                let ones = count_ones(other.bits_of(theirs));
                let Part { head, layer, number, salt, inserted, .. } = part;
                self.parts.push(Part { head: head.clone(), layer: *layer, number: *number, salt: *salt, inserted: *inserted, ones });
                self.words.push(words);
            }
        }
        Ok(())
    }

    /// Always returns an error, because the same key can be in different layers of the two filters.
    /// To find out whether both filters contain a key, query each of them.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn intersect_with<V: Backing>(&mut self, _: &ScalableFilter<V>) -> Result<(), MergeError> {
        Err(MergeError::Layers)
    }
}

impl<K: Backing> ScalableFilter<K> {
    /// Returns an error unless the two filters can be merged.
    pub(crate) fn check_mergeable<V: Backing>(&self, other: &ScalableFilter<V>) -> Result<(), MergeError> {
        check_alike(&self.hasher, &other.hasher)?;
        if self.growth == other.growth { Ok(()) } else { Err(MergeError::Growth) }
    }

    /// Checks that no layer has more set bits than its limit, because the bound on the rate relies
    /// on this. The check is needed for views, whose set bits may never have been counted.
    fn check_limits(&self) -> Result<(), MergeError> {
        for (number, part) in self.parts.iter().enumerate() {
            let (ones, limit) = (count_ones(self.bits_of(number)), part.layer.limit());
            if ones > limit {
                return Err(MergeError::Limit { ones, limit });
            }
        }
        Ok(())
    }

    /// An empty filter with the growth, seed and label of this filter.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn to_empty(&self) -> Result<ScalableFilter, BuildError> {
        let empty = ScalableFilter::with_growth(self.growth, self.hasher)?;
        Ok(ScalableFilter { label: self.label.clone(), ..empty })
    }
}
