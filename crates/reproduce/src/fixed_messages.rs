//! The experiment of Dozier, Salamatian and Rubenstein as we read their description (V-A1). A
//! filter of one or two phases gets the same 1,000 messages, drawn uniformly, with one set of hash
//! functions.
//!
//! The model assumes that each new message has new random positions. In this experiment, a cycle
//! cannot have more than 1,000 new messages, and the same messages come again with the same
//! positions.

use truebloom_math::simulation::SplitMix64;

const MESSAGES: usize = 1_000;
const ARRIVALS: usize = 100_000;

/// The number of epochs for one phase and for two, each with the 99.5% quantile of Student's
/// distribution for this number of epochs.
const EPOCHS: [(usize, f64); 2] = [(7, 3.707), (10, 3.250)];

/// The results of all epochs of an experiment.
pub(super) struct Epochs {
    /// The mean of the epochs' rates.
    pub(super) mean: f64,
    /// The lower end of the 99% interval for the mean.
    pub(super) lower: f64,
    /// The upper end of the 99% interval for the mean.
    pub(super) upper: f64,
    /// The number of messages that were new to the filter, added up over all epochs.
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

/// One filter over one set of messages.
#[derive(Clone, Copy)]
pub(super) struct Experiment {
    /// The number of bits of each filter.
    pub(super) bits: u64,
    pub(super) probes: u32,
    pub(super) sigma: u64,
    /// Whether there are two filters that take turns.
    pub(super) two: bool,
    /// Whether every cycle has its own hash functions.
    pub(super) renewed: bool,
}

/// A filter that receives messages, together with the set of messages that it really holds.
struct Phase {
    set: Vec<bool>,
    ones: u64,
    holds: [bool; MESSAGES],
}

impl Phase {
    fn new(bits: u64) -> Phase {
        Phase { set: vec![false; bits as usize], ones: 0, holds: [false; MESSAGES] }
    }

    fn clear(&mut self) {
        self.set.fill(false);
        self.holds.fill(false);
        self.ones = 0;
    }

    fn passes(&self, positions: &[usize]) -> bool {
        positions.iter().all(|&position| self.set[position])
    }

    fn insert(&mut self, message: usize, positions: &[usize]) {
        for &position in positions {
            self.ones += u64::from(!std::mem::replace(&mut self.set[position], true));
        }
        self.holds[message] = true;
    }
}

impl Experiment {
    /// Measures the rate among messages that the filter does not hold. With one phase, the filter
    /// forgets the message that overflows it. With two phases, the bits of this message stay in the
    /// previous filter.
    pub(super) fn run(&self) -> Epochs {
        let probes = self.probes as usize;
        let mut random = SplitMix64::of(&[self.bits, self.probes.into(), self.sigma, 1_000]);
        let kept: Vec<usize> = (0..MESSAGES * probes).map(|_| random.below(self.bits) as usize).collect();
        // A message is hashed once per phase, so new random positions have the same effect as new
        // hash functions.
        let mut hashed = |message: usize| -> Vec<usize> {
            match self.renewed {
                true => (0..probes).map(|_| random.below(self.bits) as usize).collect(),
                false => kept[message * probes..(message + 1) * probes].to_vec(),
            }
        };
        let (epochs, student) = EPOCHS[usize::from(self.two)];
        let (mut rates, mut all_new) = (Vec::new(), 0.0);
        for epoch in 0..epochs {
            let mut arrivals = SplitMix64::of(&[self.bits, self.probes.into(), self.sigma, 1_001, epoch as u64]);
            let (mut active, mut frozen) = (Phase::new(self.bits), Phase::new(self.bits));
            let (mut new, mut passed) = (0u64, 0u64);
            // With two phases, an epoch is counted only after the first filter is full.
            let mut is_counted = !self.two;
            for _ in 0..ARRIVALS {
                let message = arrivals.below(MESSAGES as u64) as usize;
                if active.holds[message] {
                    continue;
                }
                let positions = hashed(message);
                if is_counted && !frozen.holds[message] {
                    new += 1;
                    passed += u64::from(active.passes(&positions) || self.two && frozen.passes(&hashed(message)));
                }
                active.insert(message, &positions);
                if active.ones > self.sigma {
                    if self.two {
                        std::mem::swap(&mut active, &mut frozen);
                        is_counted = true;
                    }
                    active.clear();
                }
            }
            rates.push(passed as f64 / new.max(1) as f64);
            all_new += new as f64;
        }
        let count = epochs as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
        let half = student * libm::sqrt(squares / (count - 1.0) / count);
        Epochs { mean, lower: mean - half, upper: mean + half, new: all_new }
    }
}
