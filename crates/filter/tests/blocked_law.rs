//! Tests the blocked layout against its law, in two ways.
//!
//! (a) *Hits given the fills of the blocks*: a query's block is uniform, so the number of hits of Q
//! queries of one filter is distributed as Binomial(Q, mean of the rates in the blocks). Over
//! several filters, the number of hits is a sum of independent Bernoulli variables, whose tails
//! beyond the mean are below those of the binomial variable with the same mean (Hoeffding 1956).
//! (b) *Unconditional*: many small filters with fresh keys are queried once each, so the number of
//! hits is distributed as Binomial(filters, exact rate of the law). This also tests the mixture
//! over the loads of blocks. The positions are also tested directly, block by block and bit by bit.
//! Layouts with a planted fault must be rejected.
//!
//! For a correct layout, each test fails with probability at most [`ALPHA`]; the seeds are fixed.
//! `cargo test --test blocked_law -- --nocapture` shows the p-values and the power.
#![allow(unreachable_pub, dead_code, reason = "a test has no public interface, and not all that is shared is used here")]

mod common;
#[path = "acceptance/keys.rs"]
mod keys;

use common::SplitMix64;
use keys::Keys;
use truebloom::{BlockedBloomFilter, HasherId, KeyHasher, PortableHasher, Seed, Target};
use truebloom_math::binomial::noticed_factor;
use truebloom_math::law::{Blocked, InBlock};
use truebloom_math::{Law, Plan, SchemeId, binomial};

const ALPHA: f64 = 1e-6;

/// A blocked layout under test.
trait Layout {
    fn new(bits: u64, probes: u32, seed: u128) -> Self;
    fn insert(&mut self, key: &[u8]);
    fn contains(&self, key: &[u8]) -> bool;
    fn clear(&mut self);
    /// The rate that follows from the fills of the blocks.
    fn rate(&self) -> f64;
}

struct Real<const HASHER: u16>(BlockedBloomFilter);

impl<const HASHER: u16> Layout for Real<HASHER> {
    fn new(bits: u64, probes: u32, seed: u128) -> Self {
        let id = HasherId::ALL.into_iter().find(|id| *id as u16 == HASHER).expect("a hasher's number");
        let hasher = PortableHasher::new(id, Seed::from(seed));
        Real(BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().expect("in range"))
    }
    fn insert(&mut self, key: &[u8]) {
        self.0.insert(key);
    }
    fn contains(&self, key: &[u8]) -> bool {
        self.0.contains(key)
    }
    fn clear(&mut self) {
        self.0.clear();
    }
    fn rate(&self) -> f64 {
        self.0.fpr().value
    }
}

/// What is wrong with a planted layout.
const SOUND: u8 = 0;
/// Only every second block is ever used.
const HALF_THE_BLOCKS: u8 = 1;
/// All probes of a key have the same position.
const ONE_POSITION: u8 = 2;
/// The second half of the probes repeats the first.
const HALF_THE_PROBES: u8 = 3;

/// A layout implemented in this file, whose positions come directly from the fixed generator.
struct Planted<const FAULT: u8> {
    hasher: PortableHasher,
    blocks: Vec<[u64; 8]>,
    probes: u32,
}

impl<const FAULT: u8> Planted<FAULT> {
    fn positions(&self, key: &[u8]) -> (usize, Vec<usize>) {
        let mut stream = SplitMix64(u128::from(self.hasher.hash(key)) as u64);
        let mut below = |range: usize| ((u128::from(stream.next()) * range as u128) >> 64) as usize;
        let count = self.blocks.len();
        let block = if FAULT == HALF_THE_BLOCKS { 2 * below(count / 2) } else { below(count) };
        let mut positions: Vec<usize> = (0..self.probes).map(|_| below(512)).collect();
        let kept = match FAULT {
            ONE_POSITION => 1,
            HALF_THE_PROBES => positions.len().div_ceil(2),
            _ => positions.len(),
        };
        positions.truncate(kept);
        (block, positions)
    }
}

impl<const FAULT: u8> Layout for Planted<FAULT> {
    fn new(bits: u64, probes: u32, seed: u128) -> Self {
        Planted { hasher: PortableHasher::xxh3(Seed::from(seed)), blocks: vec![[0; 8]; (bits / 512) as usize], probes }
    }
    fn insert(&mut self, key: &[u8]) {
        let (block, positions) = self.positions(key);
        positions.iter().for_each(|position| self.blocks[block][position / 64] |= 1 << (position % 64));
    }
    fn contains(&self, key: &[u8]) -> bool {
        let (block, positions) = self.positions(key);
        positions.iter().all(|position| self.blocks[block][position / 64] >> (position % 64) & 1 == 1)
    }
    fn clear(&mut self) {
        self.blocks.fill([0; 8]);
    }
    fn rate(&self) -> f64 {
        let mut blocks_with = vec![0; 513];
        self.blocks.iter().for_each(|block| blocks_with[block.iter().map(|word| word.count_ones()).sum::<u32>() as usize] += 1);
        let law = Blocked::new(512 * self.blocks.len() as u64, 512, InBlock::Independent, self.probes).expect("in range");
        law.fpr_at_block_fills(&blocks_with).expect("in range").expect("determined").value
    }
}

/// A planned size: `filters` filters are made with different seeds, and each is queried for
/// `queries` keys that were not inserted.
#[derive(Clone, Copy)]
struct Case(u64, &'static str, Keys, u64, u64);

/// Test (a): the p-value of the hits given the fills.
fn given_the_fills<L: Layout>(Case(items, rate, keys, filters, queries): Case) -> f64 {
    let target = Target::new().items(items).rate(rate.parse().expect("a rate")).scheme(SchemeId::Blocked).mean();
    let plan = Plan::new(&target).expect("a plan");
    let (mut hits, mut expected) = (0, 0.0);
    for number in 0..filters {
        let mut layout = L::new(plan.bits, plan.probes, u128::from(items << 20 | number));
        (0..items).for_each(|i| layout.insert(&keys.member(number, i)));
        assert!((0..items).step_by(1 + items as usize / 500).all(|i| layout.contains(&keys.member(number, i))), "a false negative");
        hits += (0..queries).filter(|&i| layout.contains(&keys.stranger(number, i))).count() as u64;
        expected += layout.rate() / filters as f64;
    }
    let asked = filters * queries;
    let p = binomial::two_sided(hits, asked, expected);
    println!(
        "given the fills: {items:>7} items at {rate:<5} {keys:?}: measured {:.3e}, by the fills {expected:.3e}, proven {:.3e}; p {p:.0e}; notices {:.2}x",
        hits as f64 / asked as f64,
        plan.fpr.upper,
        noticed_factor(asked, expected, ALPHA)
    );
    p
}

/// Test (b): the p-value of the hits when each of many filters with fresh keys is queried once.
fn unconditional<L: Layout>(blocks: u64, probes: u32, items: u64, filters: u64) -> f64 {
    let law = Blocked::new(512 * blocks, 512, InBlock::Independent, probes).expect("in range");
    let rate = law.fpr(items).expect("in range").value;
    let mut layout = L::new(512 * blocks, probes, 11);
    let mut random = SplitMix64(blocks << 32 | u64::from(probes));
    let mut hits = 0;
    for _ in 0..filters {
        layout.clear();
        (0..items).for_each(|_| layout.insert(&random.next_wide().to_le_bytes()));
        hits += u64::from(layout.contains(&random.next_wide().to_le_bytes()));
    }
    let p = binomial::two_sided(hits, filters, rate);
    println!(
        "unconditional: {blocks} blocks, {probes} probes, {items} items: measured {:.4e}, exact {rate:.4e}; p {p:.0e}; notices {:.2}x",
        hits as f64 / filters as f64,
        noticed_factor(filters, rate, ALPHA)
    );
    p
}

const XXH3: u16 = HasherId::Xxh3 as u16;
const SIP13: u16 = HasherId::Sip13 as u16;

#[test]
fn hits_follow_the_fills_of_the_blocks() {
    for case in [
        Case(90, "0.1", Keys::Sequential, 2_000, 300),
        Case(100, "1e-2", Keys::NearIdentical, 500, 2_000),
        Case(1_000, "1e-3", Keys::HighBits, 60, 30_000),
        Case(10_000, "1e-2", Keys::Sequential, 10, 100_000),
        Case(100_000, "1e-3", Keys::Random, 2, 1_000_000),
        Case(1_000_000, "1e-2", Keys::Sequential, 1, 1_000_000),
    ] {
        assert!(given_the_fills::<Real<XXH3>>(case) >= ALPHA);
    }
    assert!(given_the_fills::<Real<SIP13>>(Case(1_000, "1e-2", Keys::NearIdentical, 10, 20_000)) >= ALPHA);
}

const SMALL: [(u64, u32, u64, u64); 5] =
    [(1, 7, 90, 20_000), (2, 3, 200, 20_000), (3, 9, 240, 10_000), (7, 6, 550, 5_000), (16, 15, 1_000, 3_000)];

#[test]
fn the_rate_over_all_filters_is_the_mixture() {
    for (blocks, probes, items, filters) in SMALL {
        assert!(unconditional::<Real<XXH3>>(blocks, probes, items, filters) >= ALPHA);
    }
}

/// Tests that all blocks, and all positions in a block, are equally likely. The position of a
/// single key is visible in an otherwise empty filter.
#[test]
fn blocks_and_positions_are_uniform() {
    let (keys, blocks) = (100_000, 5);
    let mut filter = Real::<XXH3>::new(512 * blocks, 1, 3).0;
    let mut counts = vec![0u64; 512 * blocks as usize];
    let mut random = SplitMix64(8);
    for _ in 0..keys {
        filter.clear();
        filter.insert(&random.next());
        let bytes = filter.to_bytes().expect("small");
        let place = (0..8 * (bytes.len() - 256)).find(|i| bytes[256 + i / 8] >> (i % 8) & 1 == 1).expect("one bit is set");
        counts[place] += 1;
    }
    let cells = counts.len() as f64;
    for count in &counts {
        assert!(binomial::two_sided(*count, keys, 1.0 / cells) * cells >= ALPHA, "{count}");
    }
    for block in counts.chunks(512) {
        assert!(binomial::two_sided(block.iter().sum(), keys, 1.0 / blocks as f64) * blocks as f64 >= ALPHA);
    }
}

#[test]
fn planted_faults_are_rejected() {
    let case = Case(1_000, "1e-2", Keys::Random, 20, 20_000);
    assert!(given_the_fills::<Planted<SOUND>>(case) >= ALPHA, "the planted layout without a fault passes");
    assert!(given_the_fills::<Planted<HALF_THE_BLOCKS>>(case) < ALPHA);
    assert!(given_the_fills::<Planted<ONE_POSITION>>(case) < ALPHA);
    assert!(given_the_fills::<Planted<HALF_THE_PROBES>>(case) < ALPHA);
    let (blocks, probes, items, filters) = (4, 6, 170, 20_000);
    assert!(unconditional::<Planted<SOUND>>(blocks, probes, items, filters) >= ALPHA);
    assert!(unconditional::<Planted<HALF_THE_BLOCKS>>(blocks, probes, items, filters) < ALPHA);
    assert!(unconditional::<Planted<ONE_POSITION>>(blocks, probes, items, filters) < ALPHA);
    assert!(unconditional::<Planted<HALF_THE_PROBES>>(blocks, probes, items, filters) < ALPHA);
}
