//! The experiment of Dozier, Salamatian and Rubenstein as they describe it (V-A1): a filter of one phase over the same 1,000 messages, drawn uniformly, with one set of hash functions.
//!
//! The model takes each new message's positions for fresh ones. Here a cycle can have no more than 1,000 new messages, and the same ones come back with the same positions.

use truebloom_math::simulation::SplitMix64;

const MESSAGES: usize = 1_000;
const EPOCHS: usize = 7;
const ARRIVALS: usize = 100_000;

/// The 99.5% point of Student's distribution with 6 degrees of freedom.
const STUDENT: f64 = 3.707;

/// What seven epochs gave.
pub(super) struct Epochs {
    /// Of the epochs' rates.
    pub(super) mean: f64,
    /// Lower end of the 99% interval of the mean.
    pub(super) lower: f64,
    /// Upper end.
    pub(super) upper: f64,
    /// Messages that were new to a cycle, in all epochs.
    pub(super) new: f64,
}

impl Epochs {
    pub(super) fn numbers(&self) -> Vec<f64> {
        vec![self.mean, self.lower, self.upper, self.new]
    }

    pub(super) fn of(numbers: &[f64]) -> Epochs {
        let at = |i: usize| numbers.get(i).copied().unwrap_or(f64::NAN);
        Epochs { mean: at(0), lower: at(1), upper: at(2), new: at(3) }
    }
}

/// The rate among messages that are new to a cycle; the one that overflows the filter is forgotten with it. With `renewed` every cycle has hash functions of its own.
pub(super) fn run(bits: u64, probes: u32, sigma: u64, renewed: bool) -> Epochs {
    let mut random = SplitMix64::of(&[bits, probes.into(), sigma, 1_000]);
    let mut all_new = 0.0;
    let positions: Vec<usize> = (0..MESSAGES * probes as usize).map(|_| random.below(bits) as usize).collect();
    let mut rates = [0.0; EPOCHS];
    for rate in &mut rates {
        let (mut set, mut ones, mut seen) = (vec![false; bits as usize], 0u64, [false; MESSAGES]);
        let (mut new, mut passed) = (0u64, 0u64);
        for _ in 0..ARRIVALS {
            let message = random.below(MESSAGES as u64) as usize;
            if seen[message] {
                continue;
            }
            let before = ones;
            for &kept in &positions[message * probes as usize..(message + 1) * probes as usize] {
                // A message is hashed once a cycle, so fresh positions are those of fresh hash functions.
                let position = if renewed { random.below(bits) as usize } else { kept };
                ones += u64::from(!std::mem::replace(&mut set[position], true));
            }
            new += 1;
            passed += u64::from(ones == before);
            seen[message] = true;
            if ones > sigma {
                set.fill(false);
                seen.fill(false);
                ones = 0;
            }
        }
        *rate = passed as f64 / new as f64;
        all_new += new as f64;
    }
    let mean = rates.iter().sum::<f64>() / EPOCHS as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    let half = STUDENT * libm::sqrt(squares / (EPOCHS - 1) as f64 / EPOCHS as f64);
    Epochs { mean, lower: mean - half, upper: mean + half, new: all_new }
}
