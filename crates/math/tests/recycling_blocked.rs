//! Tests blocked recycling filters: proven brackets are compared with the enumeration of all states
//! of tiny filters, and with bit-by-bit simulations of filters with 512-bit blocks.

mod common;

use common::{of_f64, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero, pow};
use std::collections::BTreeMap;
use truebloom_math::recycling::{BlockedDesign, Design, LongRun, Mode, blocked_capacity, blocked_min_bits, capacity, min_bits};
use truebloom_math::{BLOCK_BITS, MAX_BLOCKED_PROBES, Rate};

/// Whether a cycle continues, given the total weight and the total number of set bits of all
/// blocks.
type GoesOn<'a> = &'a dyn Fn(u128, u64) -> bool;

/// The number of blocks that have 0, 1, .. set bits.
type Lines = Vec<u64>;

struct Chain {
    items: BigRational,
    average: BigRational,
    /// The highest rate that occurs during the cycle.
    worst: BigRational,
}

/// Visits all states of a cycle, starting with the empty filter. An item that sets a bit leaves the
/// state for good, so each state is visited `inflow / (1 - rate)` times on average. Exact
/// fractions.
fn chain(design: &BlockedDesign, goes_on: GoesOn) -> Chain {
    let (m, k, blocks) = (design.block_bits(), design.probes(), design.blocks());
    let weights = design.weights();
    let steps: Vec<Vec<BigRational>> = (0..=m).map(|ones| occupied(m, k, ones)).collect();
    let mut start = vec![0; m as usize + 1];
    start[0] = blocks;
    // The states are ordered by the total number of set bits, which never decreases.
    let mut inflow = BTreeMap::from([((0u64, start), BigRational::one())]);
    let (mut items, mut passed, mut worst) = (BigRational::zero(), BigRational::zero(), BigRational::zero());
    while let Some(((ones, lines), entered)) = inflow.pop_first() {
        let weight: u128 = lines.iter().enumerate().map(|(d, &count)| weights.of(d) * u128::from(count)).sum();
        if !goes_on(weight, ones) {
            continue;
        }
        let rate = own_rate(&lines, m, k, blocks);
        let visits = entered / (BigRational::one() - &rate);
        items += &visits;
        passed += &visits * &rate;
        for (d, &count) in lines.iter().enumerate().filter(|(_, count)| **count > 0) {
            for (more, chance) in steps[d].iter().enumerate().skip(1).filter(|(_, chance)| !chance.is_zero()) {
                let mut next: Lines = lines.clone();
                (next[d], next[d + more]) = (next[d] - 1, next[d + more] + 1);
                *inflow.entry((ones + more as u64, next)).or_insert_with(BigRational::zero) += &visits * ratio(count, blocks) * chance;
            }
        }
        worst = worst.max(rate);
    }
    Chain { average: passed / &items, items, worst }
}

/// The law of the number of newly set bits when k draws fall on m bits, of which `ones` are set.
fn occupied(m: u64, k: u32, ones: u64) -> Vec<BigRational> {
    let mut law = vec![BigRational::zero(); (m - ones) as usize + 1];
    law[0] = BigRational::one();
    for _ in 0..k {
        for more in (0..law.len()).rev() {
            let stay = &law[more] * ratio(ones + more as u64, m);
            let come = if more == 0 { BigRational::zero() } else { &law[more - 1] * ratio(m - ones - more as u64 + 1, m) };
            law[more] = stay + come;
        }
    }
    law
}

/// The mean of `(d/m)^k` over the blocks, where d is the number of set bits of a block.
fn own_rate(lines: &Lines, m: u64, k: u32, blocks: u64) -> BigRational {
    let line = |(d, &count): (usize, &u64)| pow(ratio(d as u64, m), k as usize) * ratio(count, blocks);
    lines.iter().enumerate().map(line).sum()
}

fn design(blocks: u64, block_bits: u64, probes: u32, limit: f64) -> BlockedDesign {
    BlockedDesign::new(blocks * block_bits, block_bits, probes, limit).expect("in range")
}

fn run(design: &BlockedDesign) -> LongRun {
    design.long_run().expect("in range")
}

/// Whether both values are within their brackets.
fn holds(run: &LongRun, items: &BigRational, average: &BigRational) -> bool {
    let between = |lower: f64, x: &BigRational, upper: f64| of_f64(lower) <= *x && *x <= of_f64(upper);
    between(run.items_per_cycle.lower, items, run.items_per_cycle.upper) && between(run.fpr.lower, average, run.fpr.upper)
}

#[test]
fn every_state_of_tiny_filters() {
    let mut narrow = 0;
    let cases = [(1, 8, 2), (1, 3, 5), (2, 4, 1), (2, 8, 3), (3, 4, 2), (5, 2, 3), (9, 3, 2), (24, 2, 2), (40, 2, 1), (90, 1, 1)];
    for (blocks, block_bits, probes) in cases {
        for limit in [0.01, 0.125, 0.25, 0.43, 0.75] {
            let design = design(blocks, block_bits, probes, limit);
            let (run, exact) = (run(&design), chain(&design, &|weight, _| weight <= design.most_weight()));
            assert!(holds(&run, &exact.items, &exact.average), "{design:?} {run:?} {} {}", exact.items, exact.average);
            assert!(of_f64(run.worst.lower) <= exact.worst && exact.worst <= of_f64(run.worst.upper), "{design:?} {run:?}");
            narrow += usize::from(run.items_per_cycle.upper < 1.4 * run.items_per_cycle.lower);
        }
    }
    assert!(narrow > 8, "the brackets say nothing: {narrow}");
}

/// Tests that the model distinguishes a filter that recycles by its mean fill from one that
/// recycles by the mean rate over its blocks.
#[test]
fn the_shortcut_of_the_mean_fill_is_caught() {
    let design = design(40, 2, 2, 0.3);
    let mean_fill = |_, ones: u64| (ones as f64 / 80.0).powi(2) <= 0.3;
    let run = run(&design);
    let (right, wrong) = (chain(&design, &|weight, _| weight <= design.most_weight()), chain(&design, &mean_fill));
    assert!(holds(&run, &right.items, &right.average));
    assert!(!holds(&run, &wrong.items, &wrong.average), "{run:?} {} {}", wrong.items, wrong.average);
}

/// Tests that one block behaves like the unblocked filter, which has exact results. A cycle
/// continues at the limit itself; the test rejects a filter that does not.
#[test]
fn one_line_is_the_standard_design() {
    for (bits, probes, sigma) in [(16u64, 2u32, 7u64), (32, 1, 20), (64, 3, 32), (8, 2, 1)] {
        // The number of bits is a power of two, so the limit and the weights are not rounded.
        let limit = (sigma as f64 / bits as f64).powi(probes as i32);
        let blocked = design(1, bits, probes, limit);
        let exact = Design::new(bits, probes, sigma, Mode::default()).and_then(|design| design.long_run()).expect("in range");
        let near = |x: &BigRational, value: f64| (x.to_f64().expect("finite") / value - 1.0).abs() < 1e-12;
        let same = |chain: &Chain| near(&chain.items, exact.items_per_cycle.value) && near(&chain.average, exact.fpr.value);
        let most = blocked.most_weight();
        assert!(same(&chain(&blocked, &|weight, _| weight <= most)), "{blocked:?}");
        assert!(!same(&chain(&blocked, &|weight, _| weight < most)), "{blocked:?}");
        assert!(holds(&run(&blocked), &of_f64(exact.items_per_cycle.value), &of_f64(exact.fpr.value)));
    }
}

/// A filter of 512-bit blocks, simulated bit by bit. Every cycle has new random numbers.
struct Simulated {
    lines: Vec<[u64; 8]>,
    state: u64,
}

/// The mean over cycles with its standard error.
struct Estimate {
    mean: f64,
    error: f64,
}

impl Simulated {
    fn below(&mut self, range: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(range)) >> 64) as u64
    }

    /// Runs one cycle. Returns the number of items, the sum of the rates at which they arrived, and
    /// the highest of these rates.
    fn cycle(&mut self, design: &BlockedDesign, goes_on: GoesOn) -> (f64, f64, f64) {
        let weights = design.weights();
        self.lines = vec![[0; 8]; design.blocks() as usize];
        let (mut weight, mut ones) = (0u128, 0u64);
        let (mut items, mut passed, mut worst) = (0.0, 0.0, 0.0f64);
        while goes_on(weight, ones) {
            let rate = weight as f64 / (design.blocks() as f64 * 18_446_744_073_709_551_616.0);
            (items, passed, worst) = (items + 1.0, passed + rate, worst.max(rate));
            let line = self.below(design.blocks()) as usize;
            let count = |line: &[u64; 8]| line.iter().map(|word| word.count_ones()).sum::<u32>() as usize;
            let before = count(&self.lines[line]);
            for _ in 0..design.probes() {
                let bit = self.below(512) as usize;
                self.lines[line][bit / 64] |= 1 << (bit % 64);
            }
            let after = count(&self.lines[line]);
            weight += weights.of(after) - weights.of(before);
            ones += (after - before) as u64;
        }
        (items, passed, worst)
    }

    /// Runs cycles. Returns the items per cycle, the average rate, and the highest rate that
    /// occurred. The average is a ratio of means; its standard error is that of
    /// `passed - average items`.
    fn cycles(&mut self, design: &BlockedDesign, cycles: usize, goes_on: GoesOn) -> (Estimate, Estimate, f64) {
        let seen: Vec<(f64, f64, f64)> = (0..cycles).map(|_| self.cycle(design, goes_on)).collect();
        let n = cycles as f64;
        let items = seen.iter().map(|seen| seen.0).sum::<f64>() / n;
        let average = seen.iter().map(|seen| seen.1).sum::<f64>() / n / items;
        let deviation = |of: &dyn Fn(&(f64, f64, f64)) -> f64| (seen.iter().map(|seen| of(seen).powi(2)).sum::<f64>() / n).sqrt();
        let (scatter, rest) = (deviation(&|seen| seen.0 - items), deviation(&|seen| seen.1 - average * seen.0));
        let worst = seen.iter().map(|seen| seen.2).fold(0.0, f64::max);
        (Estimate { mean: items, error: scatter / n.sqrt() }, Estimate { mean: average, error: rest / n.sqrt() / items }, worst)
    }
}

/// Whether an estimate is consistent with a bracket, up to 5.5 standard errors on either side. Even
/// if the true value is an end of the bracket, one of eight comparisons fails for only one in three
/// million seeds.
fn agrees(estimate: &Estimate, lower: f64, upper: f64) -> bool {
    estimate.mean + 5.5 * estimate.error >= lower && estimate.mean - 5.5 * estimate.error <= upper
}

/// The probability of a false alarm is 1e-6 for all comparisons together. The test has the power to
/// reject the approximation by the mean fill in 1,024 blocks, which changes the average by a fifth
/// and the items by 3%. It also rejects one more probe, and a limit that is a tenth higher.
#[test]
fn simulated_filters() {
    for (lines, probes, limit, cycles) in
        [(64u64, 5u32, 0.04, 1_500usize), (64, 8, 0.005, 1_500), (1_024, 5, 0.044, 120), (1_024, 8, 0.006, 120)]
    {
        let design = design(lines, BLOCK_BITS, probes, limit);
        let most = design.most_weight();
        let mut filter = Simulated { lines: Vec::new(), state: lines + u64::from(probes) };
        let (items, average, worst) = filter.cycles(&design, cycles, &|weight, _| weight <= most);
        let accepted = |design: &BlockedDesign, items: &Estimate, average: &Estimate| {
            let run = run(design);
            let (n, p) = (run.items_per_cycle, run.fpr);
            agrees(items, n.lower, n.upper) && agrees(average, p.lower, p.upper)
        };
        let context = format!("{lines} {probes}: {:?} {} {} {}", run(&design), items.mean, average.mean, worst);
        assert!(accepted(&design, &items, &average), "{context}");
        let (run, few) = (run(&design), 1.0 / lines as f64);
        let near = |seen: &Estimate, value: f64| (seen.mean - value).abs() < few * value + 5.5 * seen.error;
        assert!(near(&items, run.items_per_cycle.value) && near(&average, run.fpr.value), "{context}");
        let known = run.worst;
        assert!(known.lower <= worst && worst <= known.upper, "{context}");
        if lines == 1_024 {
            let other = |probes, limit| BlockedDesign::new(lines * BLOCK_BITS, BLOCK_BITS, probes, limit).expect("in range");
            for wrong in [other(probes + 1, limit), other(probes - 1, limit), other(probes, 1.1 * limit), other(probes, 0.9 * limit)] {
                assert!(!accepted(&wrong, &items, &average), "{wrong:?} is not rejected: {context}");
            }
            let bits = (lines * BLOCK_BITS) as f64;
            let mean_fill = |_, ones: u64| (ones as f64 / bits).powi(probes as i32) <= limit;
            let (items, average, _) = filter.cycles(&design, cycles / 2, &mean_fill);
            assert!(!accepted(&design, &items, &average), "mean fill is not rejected: {} {}", items.mean, average.mean);
        }
    }
}

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

#[test]
fn capacities_keep_to_the_rate_and_waste_little() {
    for (blocks, asked) in [(64u64, "0.01"), (1_024, "1e-3"), (1_024, "0.2"), (1 << 21, "1e-3")] {
        let p = rate(asked);
        let found = blocked_capacity(blocks * BLOCK_BITS, &p).expect("in range").expect("a design");
        assert!(found.run.fpr.upper <= p.to_f64(), "{found:?}");
        let run = |probes, limit| run(&design(blocks, BLOCK_BITS, probes, limit));
        // A limit that is 0.3% higher is not proven to keep the rate.
        assert!(run(found.design.probes(), found.design.limit() * 1.003).fpr.upper > p.to_f64(), "{found:?}");
        // No number of probes is proven to keep the rate with 1% more items.
        let items = 1.01 * found.run.items_per_cycle.lower;
        let near = found.design.probes().saturating_sub(5).max(1)..=found.design.probes() + 5;
        for probes in near {
            let keeps = |limit: f64| run(probes, limit).items_per_cycle.lower >= items;
            let limit = found.design.limit();
            let (mut low, mut high) = (limit / 16.0, (limit * 16.0).min(0.999));
            for _ in 0..10 {
                let middle = f64::sqrt(low * high);
                if keeps(middle) { high = middle } else { low = middle }
            }
            assert!(run(probes, low).fpr.upper > p.to_f64(), "{probes} probes: {found:?}");
        }
    }
}

#[test]
fn memory_for_so_many_items() {
    for (items, asked) in [(1.0, "0.01"), (700.0, "1e-3"), (1e5, "1%"), (3e6, "1e-6"), (1e15, "0.5")] {
        let p = rate(asked);
        let found = blocked_min_bits(items, &p).expect("in range").expect("a design");
        assert!(found.run.items_per_cycle.lower >= items && found.run.fpr.upper <= p.to_f64(), "{found:?}");
        let fewer = found.design.blocks() - found.design.blocks() / 400 - 2.min(found.design.blocks());
        if fewer > 0 {
            let less = blocked_capacity(fewer * BLOCK_BITS, &p).expect("in range");
            assert!(less.is_none_or(|less| less.run.items_per_cycle.lower < items), "{found:?} {less:?}");
        }
    }
    assert_eq!(blocked_min_bits(1e18, &rate("1e-6")).expect("in range"), None);
}

/// Tests that the blocked design needs at most a tenth more bits than the standard design for the
/// same items.
#[test]
fn worth_it() {
    for (items, asked, worth) in [(1e7, "1%", true), (1e7, "1e-3", true), (1e7, "1e-6", false), (700.0, "1e-3", false)] {
        let p = rate(asked);
        let blocked = blocked_min_bits(items, &p).expect("in range").expect("a design");
        let standard = min_bits(items, &p, Mode::default()).expect("in range").expect("a design");
        assert_eq!(blocked.is_worth_it(&standard), worth, "{items} {asked}");
        let (bits, others) = (blocked.design.bits(), standard.design.total_bits());
        assert_eq!(10 * bits <= 11 * others, worth, "{items} {asked}: {bits} {others}");
        let same = capacity(bits, &p, Mode::default()).expect("in range").expect("a design");
        assert_eq!(blocked.is_worth_it(&same), worth, "{items} {asked}");
    }
}

#[test]
fn what_is_refused() {
    let error = |bits, block_bits, probes, limit| BlockedDesign::new(bits, block_bits, probes, limit).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error(513, 512, 5, 0.1), "bits is 513, but must be a multiple of 512, so that blocks are whole");
    assert_eq!(error(512, 512, 33, 0.1), "probes is 33, but must be at most 32 in a block");
    assert_eq!(error(1 << 20, 1 << 20, 3, 0.1), "block_bits is 1048576, but must be at most 65536");
    for limit in [0.0, 1.0, -1.0, f64::NAN, 1e-16] {
        assert!(error(512, 512, 3, limit).ends_with("but must be a rate from 1e-15 to 0.999"), "{limit}");
    }
    assert!(blocked_capacity(512, &rate("50%")).expect("in range").is_some());
    assert_eq!(blocked_capacity(511, &rate("1%")).unwrap_err().to_string(), "bits is 511, but must be at least 512, the size of a block");
    let least = "fpr is 1e-14, but must be at least 1e-9 for the blocked layout; at lower rates, it needs more than 1.7 times the bits of the standard layout";
    assert_eq!(blocked_capacity(1 << 20, &rate("1e-14")).unwrap_err().to_string(), least);
    assert_eq!(blocked_min_bits(1e6, &rate("1e-14")).unwrap_err().to_string(), least);
    for (high, limit) in [("0.8", 0.98..0.999), ("0.98", 0.999..1.0), ("0.9999999999999999", 0.999..1.0)] {
        let full = blocked_capacity(1 << 20, &rate(high)).expect("in range").expect("a design");
        assert!(limit.contains(&full.design.limit()) && full.run.fpr.upper <= 0.9999999999999999, "{full:?}");
    }
    assert!(blocked_min_bits(0.0, &rate("1%")).is_err() && blocked_min_bits(f64::NAN, &rate("1%")).is_err());
}

/// Tests that there is a proven bracket for any size and any limit: no call panics, takes long or
/// returns an empty bracket.
#[test]
fn ends_of_the_ranges() {
    for blocks in [1u64, 2, 1 << 47] {
        for probes in [1, MAX_BLOCKED_PROBES] {
            for limit in [1e-15, 0.5, 0.999] {
                let run = run(&design(blocks, BLOCK_BITS, probes, limit));
                let (n, p) = (run.items_per_cycle, run.fpr);
                assert!(1.0 <= n.lower && n.lower <= n.value && n.value <= n.upper && n.upper.is_finite(), "{run:?}");
                assert!(0.0 <= p.lower && p.lower <= p.value && p.value <= p.upper && p.upper <= limit, "{run:?}");
            }
        }
    }
    let endless = design(1 << 53, BLOCK_BITS, 1, 0.999).long_run().unwrap_err().to_string();
    assert_eq!(endless, "limit is 0.999, but must be a rate that fewer than 2^61 items reach");
    let whole = BigInt::from(design(1 << 53, BLOCK_BITS, 3, 0.999).most_weight());
    assert_eq!(BigRational::from(whole) / BigInt::from(1u128 << 117), of_f64(0.999));
}
