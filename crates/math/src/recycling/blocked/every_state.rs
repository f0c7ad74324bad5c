//! The exact joint distribution of the lines of a tiny filter, for tests.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Maps each state to its probability. A state lists the numbers of lines with 0, 1, .. set bits.
pub(super) type States = BTreeMap<Vec<u32>, f64>;

/// The empty filter.
pub(super) fn empty(blocks: u32, block_bits: u32) -> States {
    let mut lines = vec![0; block_bits as usize + 2];
    lines[0] = blocks;
    BTreeMap::from([(lines, 1.0)])
}

/// The states after one more item.
pub(super) fn one_more(states: &States, block_bits: u32, probes: u32) -> States {
    let mut next = BTreeMap::new();
    for (lines, chance) in states {
        let blocks: u32 = lines.iter().sum();
        for (ones, &count) in lines.iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut law = vec![0.0; block_bits as usize + 2];
            law[ones] = chance * f64::from(count) / f64::from(blocks);
            for _ in 0..probes {
                for d in (0..=block_bits as usize).rev() {
                    let go = law[d] * (f64::from(block_bits) - d as f64) / f64::from(block_bits);
                    law[d + 1] += go;
                    law[d] -= go;
                }
            }
            for (after, chance) in law.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                let mut lines = lines.clone();
                lines[ones] -= 1;
                lines[after] += 1;
                *next.entry(lines).or_insert(0.0) += chance;
            }
        }
    }
    next
}

/// The distribution of the filter's rate W, as pairs of a rate and its probability.
pub(super) fn own_rates(states: &States, block_bits: u32, probes: u32) -> Vec<(f64, f64)> {
    let rate = |lines: &Vec<u32>| {
        let line = |(d, &count): (usize, &u32)| libm::pow(d as f64 / f64::from(block_bits), f64::from(probes)) * f64::from(count);
        lines.iter().enumerate().map(line).sum::<f64>() / f64::from(lines.iter().sum::<u32>())
    };
    states.iter().map(|(lines, &chance)| (rate(lines), chance)).collect()
}
