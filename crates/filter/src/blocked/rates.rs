//! What the filter says of itself.

use super::BlockedBloomFilter;
use crate::arch::LINE_BITS;
use crate::hash::KeyHasher;
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, Fpr, Law};

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// This filter's rate right now: the chance that a key which was not inserted, chosen independently of the seed, passes.
    ///
    /// That is the mean over the blocks of `(ones / 512)^probes`, proven, whatever was inserted and however often. The upper end counts that the key's hash
    /// may equal that of a key that was offered. Linear in the bits. An error is not to be expected: a filter's own fills are always in range.
    pub fn fpr(&self) -> Result<Fpr, Error> {
        let mut blocks_with = vec![0; LINE_BITS as usize + 1];
        for line in self.lines() {
            let ones: u32 = line.iter().map(|word| word.count_ones()).sum();
            blocks_with[ones as usize] += 1;
        }
        // The rate is determined by the fills for independent positions, which these are.
        let rate = self.scheme.law.fpr_at_block_fills(&blocks_with)?.unwrap_or(Fpr::ONE);
        Ok(self.with_hash_floor(rate, self.offered()))
    }

    /// The expected rate once the filter holds its capacity: a mean over seeds, proven to be at most the rate asked for. `None` without a capacity.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        self.capacity.map(|items| self.expected_fpr_at(items)).transpose()
    }

    /// The expected rate of a filter of this size that holds `items` distinct items; see [`expected_fpr`](Self::expected_fpr). Some microseconds.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        Ok(self.with_hash_floor(self.scheme.law.fpr(items)?, items))
    }

    fn with_hash_floor(&self, mut rate: Fpr, items: u64) -> Fpr {
        rate.add_above(hash_floor(items, H::HASH_BITS));
        rate
    }

    /// Whether the filter surely holds more distinct items than it was planned for: more than `capacity` offers set a bit. False without a capacity, and possibly
    /// false for a merged filter, whose items cannot be counted.
    pub fn is_over_capacity(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.changed() > capacity)
    }
}
