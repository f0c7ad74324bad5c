//! The search for a size with one number of probes. It reuses the tilt of one size for similar
//! sizes (see [`Sure`]).

use super::MAX_BLOCKS;
use super::sure::{FAR, Sure};
use crate::Rate;

impl Sure<'_> {
    /// Approximately the size at which the rate is reached, by the secant method from a first
    /// guess. `sign` is positive if a larger size lowers the rate.
    pub(super) fn about_size(&mut self, rate: &Rate, first: f64, range: (f64, f64), sign: f64, at: impl Fn(f64) -> (u64, u64)) -> f64 {
        // A rate falls by about four percent with each percent of bits.
        let (mut guess, mut slope, mut before) = (first, 4.0, None);
        for _ in 0..6 {
            let (blocks, items) = at(guess);
            let missed = self.ln_about(blocks, items) - rate.ln();
            if let Some((last, was)) = before {
                let found: f64 = (was - missed) / (sign * libm::log(guess / last));
                slope = if found.is_finite() { found.clamp(1.5, 40.0) } else { slope };
            }
            let step = (missed / slope).clamp(-0.3, 0.5);
            before = Some((guess, missed));
            guess = (guess * libm::exp(sign * step)).clamp(range.0, range.1);
            if step.abs() > FAR {
                let (blocks, items) = at(guess);
                self.tilt_at(blocks, items);
            }
            if step.abs() * guess < 0.3 || step.abs() < 2e-6 {
                break;
            }
        }
        guess
    }

    /// The smallest number of blocks that is found, at least `mean`. The search begins near
    /// `start`. Its result may be too large by a share of 1/200,000.
    pub(super) fn fewest(&mut self, items: u64, rate: &Rate, start: u64, mean: u64) -> Option<u64> {
        let range = (mean as f64, MAX_BLOCKS as f64);
        let guess = self.about_size(rate, start as f64, range, 1.0, |blocks| (blocks as u64, items));
        self.fewest_from((libm::ceil(guess) as u64).clamp(mean, MAX_BLOCKS), items, rate, mean)
    }

    pub(super) fn fewest_from(&mut self, guess: u64, items: u64, rate: &Rate, mean: u64) -> Option<u64> {
        let (grain, mut blocks, mut failed) = (guess / 200_000, guess, guess);
        let mut step = grain.max(1);
        if self.keeps(blocks, items, rate) {
            // Goes down in growing steps. Sizes below that of the mean are known to fail.
            loop {
                failed = blocks.saturating_sub(step).max(mean - 1);
                if failed < mean || !self.keeps_anywhere(failed, items, rate) {
                    break;
                }
                (blocks, step) = (failed, step.saturating_mul(2));
            }
        } else {
            loop {
                blocks = blocks.saturating_add(step).min(MAX_BLOCKS);
                if self.keeps_anywhere(blocks, items, rate) {
                    break;
                }
                if blocks == MAX_BLOCKS {
                    return None;
                }
                (failed, step) = (blocks, step.saturating_mul(2));
            }
        }
        while blocks - failed > grain.max(1) {
            let middle = failed + (blocks - failed) / 2;
            if self.keeps_anywhere(middle, items, rate) { blocks = middle } else { failed = middle }
        }
        Some(blocks)
    }

    /// The largest number of items that is found, at most `mean`. The search begins near `start`.
    pub(super) fn most(&mut self, blocks: u64, rate: &Rate, start: u64, mean: u64) -> u64 {
        let guess = self.about_size(rate, start as f64, (1.0, mean as f64), -1.0, |items| (blocks, items as u64));
        let grain = (guess / 2e5) as u64;
        let (mut items, mut step, mut failed) = ((guess as u64).min(mean), grain.max(1), mean + 1);
        while items > 0 && !self.keeps(blocks, items, rate) {
            (failed, items, step) = (items, items.saturating_sub(step), step.saturating_mul(2));
        }
        // The guess may have been too low as well.
        let mut step = grain.max(1);
        while failed > mean && items < mean {
            let more = items.saturating_add(step).min(mean);
            if self.keeps(blocks, more, rate) {
                (items, step) = (more, step.saturating_mul(2));
            } else {
                failed = more;
            }
        }
        while failed - items > grain.max(1) {
            let middle = items + (failed - items) / 2;
            if self.keeps(blocks, middle, rate) { items = middle } else { failed = middle }
        }
        items
    }
}
