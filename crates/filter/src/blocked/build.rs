//! Making blocked filters.

use super::BlockedBloomFilter;
use crate::arch::{Level, Words};
use crate::bloom::Counts;
use crate::error::BuildError;
use crate::hash::{KeyHasher, PortableHasher, Seed, check_hasher};
use crate::scheme::InLines;
use truebloom_math::law::hash_floor;
use truebloom_math::{BlockedPlan, Rate, Target};

impl BlockedBloomFilter {
    /// The smallest blocked filter that is proven to hold `items` distinct items (at least 1) at an expected false-positive rate of at most `rate`, with a random
    /// seed. Errors as those of [`BloomFilter::new`](crate::BloomFilter::new). Finding the size takes some milliseconds.
    pub fn new<R: TryInto<Rate>>(items: u64, rate: R) -> Result<BlockedBloomFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        BlockedBloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::random()?))
    }

    /// The filter of a plan, with a random seed. Errors: not enough memory; no random numbers.
    pub fn from_plan(plan: &BlockedPlan) -> Result<BlockedBloomFilter, BuildError> {
        BlockedBloomFilter::from_plan_with_hasher(plan, PortableHasher::xxh3(Seed::random()?))
    }
}

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// [`new`](BlockedBloomFilter::new) with a hasher of one's own.
    pub fn with_hasher<R: TryInto<Rate>>(items: u64, rate: R, hasher: H) -> Result<BlockedBloomFilter<H>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        let target = Target { items: Some(items), rate: Some(rate.try_into()?), hash_bits: H::HASH_BITS, ..Target::default() };
        BlockedBloomFilter::from_plan_with_hasher(&BlockedPlan::new(&target)?, hasher)
    }

    /// [`from_plan`](BlockedBloomFilter::from_plan) with a hasher of one's own. An error if the plan was made for a wider hash than the hasher's
    /// [`HASH_BITS`](KeyHasher::HASH_BITS): equal hashes could take the rate above the plan's.
    pub fn from_plan_with_hasher(plan: &BlockedPlan, hasher: H) -> Result<BlockedBloomFilter<H>, BuildError> {
        let floor = hash_floor(plan.items, H::HASH_BITS);
        if floor > plan.hash_floor {
            return Err(BuildError::HashBits { found: H::HASH_BITS, floor, planned: plan.hash_floor });
        }
        let filter = BlockedBloomFilter::with_bits_probes_and_hasher(plan.bits, plan.probes, hasher)?;
        Ok(BlockedBloomFilter { capacity: Some(plan.items), rate: plan.rate, ..filter })
    }

    /// A filter of a multiple of 512 bits up to 2^62 and 1 to 64 probes, with no capacity and no rate asked for.
    ///
    /// Errors: bits or probes out of range; not enough memory; a hasher for the files of drafts.
    pub fn with_bits_probes_and_hasher(bits: u64, probes: u32, hasher: H) -> Result<BlockedBloomFilter<H>, BuildError> {
        let scheme = InLines::new(bits, probes)?;
        check_hasher(&hasher, scheme.takes_halves())?;
        let words = usize::try_from(bits / 64).ok().and_then(Words::zeroed).ok_or(BuildError::Memory { bytes: bits / 8 })?;
        Ok(BlockedBloomFilter { hasher, scheme, words, level: Level::detect(), counts: Counts::default(), capacity: None, rate: None })
    }
}
