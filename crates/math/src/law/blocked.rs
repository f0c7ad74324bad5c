//! The blocked filter: all probes of an item are in one block, usually a cache line.

use super::inclusion::{InBlock as Placement, Inclusion, Items, Query, When};
use super::mixture::{Mixture, Positions};
use super::two_blocks::TwoBlocks;
use super::{Law, Variant};
use crate::error::{check_bits, out_of_range};
use crate::exact::enclosure::{Enclose, HashFloor};
use crate::exact::work;
use crate::{Fill, Fpr, Rate, Result};
use alloc::{format, vec};

/// How the probes of an item are distributed in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InBlock {
    /// The probes are k independent positions; repeats are allowed.
    Independent,
    /// The probes are k distinct positions. In a block of usual size and fill, distinct probes give
    /// a clearly lower rate than independent ones.
    Distinct,
    /// Each item has one position in each word of its block. So the number of probes is the number
    /// of words in a block.
    Split {
        /// The number of bits in a word. In the split blocks of Parquet and Impala, a word has 32
        /// bits.
        word_bits: u64,
    },
}

/// The law of blocked filters with `bits / block_bits` blocks. Each item chooses a block uniformly,
/// and all its k positions are in that block.
///
/// Let `L` be the number of items in the block of a query, and `f(L)` the expected rate of a block
/// with `L` items. `L` has a binomial distribution, and the rate of the filter is `E[f(L)]`. The
/// usual formula (Putze, Sanders and Singler) assumes that a block with `L` items always has the
/// mean number of set bits. The rate that this formula gives is too low.
///
/// The rate `f(L)` is a sum of k + 1 terms with alternating signs. For each j from 0 to k, term j
/// is a multiple of `a_j^L`. Here `a_j` is the probability that one item of the block sets none of
/// `j` given bits. With B blocks and n items, `E[a_j^L] = (1 - (1 - a_j)/B)^n`. So `E[f(L)]` is
/// also a sum of k + 1 terms, without a sum over `L`. This sum is computed in integer arithmetic.
/// The bracket of the result (a lower and an upper bound) includes all rounding errors.
///
/// The total number of set bits does not determine the rate, so [`fpr_at_fill`](Law::fpr_at_fill)
/// returns `None`. In general, the total number of set bits does not have the distribution of a sum
/// of independent Bernoulli variables. So [`fill`](Law::fill) returns `None`, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    bits: u64,
    block_bits: u64,
    in_block: InBlock,
    probes: u32,
}

impl Blocked {
    /// Creates the law of filters with `bits / block_bits` blocks.
    ///
    /// ```
    /// use truebloom_math::{Law, law::{Blocked, InBlock}};
    /// let law = Blocked::new(9_933_312, 512, InBlock::Distinct, 7)?;
    /// assert!(law.fpr(1_000_000)?.upper < 0.01);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range, or if `bits` is not a multiple of `block_bits`.
    /// Distinct probes must not outnumber the bits of a block. For a split block, `word_bits` must
    /// divide `block_bits`, and there must be exactly one probe per word.
    pub fn new(bits: u64, block_bits: u64, in_block: InBlock, probes: u32) -> Result<Blocked> {
        check_bits(bits)?;
        if block_bits == 0 {
            return out_of_range("block_bits", block_bits, "at least 1");
        }
        if !bits.is_multiple_of(block_bits) {
            return out_of_range("bits", bits, format!("a multiple of {block_bits}, so that blocks are whole"));
        }
        match in_block {
            InBlock::Independent => Variant::Standard.check(block_bits, probes)?,
            InBlock::Distinct => Variant::Classic.check(block_bits, probes)?,
            InBlock::Split { word_bits } => check_words(block_bits, word_bits, probes)?,
        }
        Ok(Blocked { bits, block_bits, in_block, probes })
    }

    /// Returns the number of bits in a block.
    #[must_use]
    pub fn block_bits(&self) -> u64 {
        self.block_bits
    }

    /// Returns how the probes are distributed in a block.
    #[must_use]
    pub fn in_block(&self) -> InBlock {
        self.in_block
    }

    /// The expected rate, in a form that can be compared exactly with another number.
    pub(crate) fn expected(&self, items: u64) -> Inclusion {
        self.inclusion(items, When::After)
    }

    /// The mean of the expected rates that the filter has before each of the first `items`
    /// insertions. `items` is at least 1.
    pub(crate) fn expected_before(&self, items: u64) -> Inclusion {
        self.inclusion(items, When::Before)
    }

    /// The mean square of the rate in one block, for independent positions: the probability that
    /// two queries of the same block both pass. `items` is at least 1.
    pub(crate) fn same_block(&self, items: u64) -> Mixture {
        Mixture { positions: Positions::Draws(2 * self.probes), filters: vec![self.inclusion(items, When::After)] }
    }

    /// The mean product of the rates in two different blocks. The filter must have at least 2
    /// blocks, and `items` must be at least 1.
    pub(crate) fn two_blocks(&self, items: u64) -> TwoBlocks {
        TwoBlocks(self.inclusion(items, When::After))
    }

    fn inclusion(&self, items: u64, when: When) -> Inclusion {
        let (query, in_block) = match self.in_block {
            InBlock::Independent => (Query::Independent, Placement::Independent),
            InBlock::Distinct => (Query::Distinct, Placement::Distinct),
            InBlock::Split { word_bits } => (Query::Distinct, Placement::Split { word_bits }),
        };
        let placement = Items::Blocked { blocks: self.bits / self.block_bits, in_block, when };
        Inclusion { query, placement, bits: self.block_bits, items, probes: self.probes }
    }

    /// Whether one item sets all bits of its block.
    fn block_is_filled_by_one(&self) -> bool {
        match self.in_block {
            InBlock::Independent => self.block_bits == 1,
            InBlock::Distinct => u64::from(self.probes) == self.block_bits,
            InBlock::Split { word_bits } => word_bits == 1,
        }
    }
}

fn check_words(block_bits: u64, word_bits: u64, probes: u32) -> Result<()> {
    if word_bits == 0 || !block_bits.is_multiple_of(word_bits) {
        return out_of_range("word_bits", word_bits, format!("a divisor of block_bits ({block_bits})"));
    }
    let words = block_bits / word_bits;
    if u64::from(probes) != words {
        return out_of_range("probes", probes, format!("{words}, one for each word of a split block"));
    }
    Ok(())
}

impl Law for Blocked {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        let _work = work::begin();
        if items == 0 {
            return Ok(Fpr::ZERO);
        }
        if self.bits == self.block_bits && self.block_is_filled_by_one() {
            return Ok(Fpr::ONE);
        }
        self.expected(items).fpr()
    }

    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let _work = work::begin();
        if items == 0 {
            return Ok(true);
        }
        self.expected(items).at_most(rate, Some(HashFloor { items, hash_bits }))
    }

    /// Always returns `None`, because the rate also depends on how the set bits are distributed
    /// over the blocks.
    fn fpr_at_fill(&self, _: &[u64]) -> Result<Option<Fpr>> {
        Ok(None)
    }

    /// Always returns `None`. In general, the number of set bits is not distributed like a sum of
    /// independent Bernoulli variables.
    fn fill(&self, _: u64) -> Result<Option<Fill>> {
        Ok(None)
    }
}
