//! The search for a size with one number of probes. The search computes the parameters of the bound
//! (the tilt) for one size, and reuses them for similar sizes (see [`Sure`]).

use super::sizes::{Question, Sizes};
use super::sure::{FAR, Sure};
use crate::Rate;

impl Sure<'_> {
    /// Estimates the size at which the guaranteed rate equals `rate`, by secant steps.
    pub(super) fn about_size(&mut self, rate: &Rate, sizes: Sizes, start: u64) -> f64 {
        let (first, sign, (least, most)) = (sizes.size(start) as f64, sizes.sign(), sizes.range());
        // A rate falls by about four percent for each additional percent of bits.
        let (mut guess, mut slope, mut before) = (first, 4.0, None);
        for _ in 0..6 {
            let (blocks, items) = sizes.with(guess as u64);
            let missed = self.ln_about(blocks, items) - rate.ln();
            if let Some((last, was)) = before {
                let found: f64 = (was - missed) / (sign * libm::log(guess / last));
                slope = if found.is_finite() { found.clamp(1.5, 40.0) } else { slope };
            }
            let step = (missed / slope).clamp(-0.3, 0.5);
            before = Some((guess, missed));
            guess = (guess * libm::exp(sign * step)).clamp(least as f64, most as f64);
            if step.abs() > FAR {
                let (blocks, items) = sizes.with(guess as u64);
                self.tilt_at(blocks, items);
            }
            if step.abs() * guess < 0.3 || step.abs() < 2e-6 {
                break;
            }
        }
        guess
    }

    /// Returns the smallest distance that the search finds. The search begins near `start`, and
    /// treats two sizes as equal if they differ by less than [`Sizes::grain`].
    pub(super) fn nearest(&mut self, question: &Question<'_>, start: u64) -> Option<u64> {
        let Question { sizes, rate, .. } = *question;
        let mut found = sizes.away(self.about_size(rate, sizes, start));
        let grain = sizes.grain(found);
        let (blocks, items) = sizes.at(found);
        let is_kept = self.keeps(blocks, items, rate);
        let mut keeps = |away: u64| {
            let (blocks, items) = sizes.at(away);
            self.keeps_anywhere(blocks, items, rate)
        };
        // The first distance that is not known to fail.
        let (mut open, mut step) = (0, grain);
        if is_kept {
            while found > 0 {
                let nearer = found.saturating_sub(step);
                if !keeps(nearer) {
                    open = nearer + 1;
                    break;
                }
                (found, step) = (nearer, step.saturating_mul(2));
            }
        } else {
            loop {
                if found == sizes.last() {
                    return None;
                }
                open = found + 1;
                found = found.saturating_add(step).min(sizes.last());
                if keeps(found) {
                    break;
                }
                step = step.saturating_mul(2);
            }
        }
        while found - open >= grain {
            let middle = open + (found - open) / 2;
            if keeps(middle) { found = middle } else { open = middle + 1 }
        }
        Some(found)
    }
}
