//! Streams with their exact counts.

use crate::common::SplitMix64;
use std::collections::HashMap;

/// How the keys of a stream are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// All keys occur equally often.
    Uniform,
    /// The key of rank r occurs in proportion to 1/r.
    Zipf,
    /// One key makes up half of the stream, and each other key occurs once. This is the worst case
    /// of Markov's inequality for a row.
    OneHeavy,
    /// A few keys with equal and large counts, so one collision gives a large error. This is the
    /// worst case of the two-hash sketch.
    FewEqual,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Uniform, Kind::Zipf, Kind::OneHeavy, Kind::FewEqual];

/// The stream's counts by key, from a fixed seed.
pub(crate) fn counts(kind: Kind, length: u64, seed: u64) -> HashMap<u64, u64> {
    let mut random = SplitMix64(seed);
    let mut counts = HashMap::new();
    for i in 0..length {
        let key = match kind {
            Kind::Uniform => random.next() % 1_000,
            // The exponential of a uniform variable has the density 1/r.
            Kind::Zipf => ((random.next() as f64 / 2f64.powi(64)) * 10_000f64.ln()).exp() as u64,
            Kind::OneHeavy => {
                if i % 2 == 0 {
                    0
                } else {
                    i
                }
            }
            Kind::FewEqual => i % 40,
        };
        *counts.entry(key).or_default() += 1;
    }
    counts
}
