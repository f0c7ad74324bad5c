//! The last step of a search: finds the boundary with a separate decision for each size.

use super::sure::Sure;
use crate::{Rate, Result, search};
use core::cell::RefCell;

impl Sure<'_> {
    /// The smallest (`is_rising`) or largest size that keeps the rate, searched near a guess within
    /// a range. Each size is decided by its own guarantee ([`Sure::at`]). The result is `None` if
    /// no such size is found.
    pub(super) fn settled(
        &self,
        guess: u64,
        (least, most): (u64, u64),
        rate: &Rate,
        is_rising: bool,
        at: impl Fn(u64) -> (u64, u64),
        is_met: impl Fn(u64) -> Result<bool>,
    ) -> Result<Option<u64>> {
        let last = RefCell::new(self.clone());
        let known = |size: u64| {
            let (blocks, items) = at(size);
            let found = last.borrow().at(blocks, items)?;
            let kept = found.kept(blocks, items);
            last.replace(found);
            Some(kept)
        };
        let holds = |size: u64| Ok(known(size).is_some_and(|kept| kept <= rate.to_f64().next_down()) && is_met(size)?);
        let guess = closer(guess, (least, most), |size| Some(libm::log(known(size)?) - rate.ln()));
        if is_rising {
            let found = search::boundary(guess as f64, least, most, |size| Ok(!holds(size)?))?;
            return Ok((found < most || holds(most)?).then_some(found));
        }
        let found = search::boundary(guess as f64 + 1.0, least, most + 1, holds)? - 1;
        Ok((found >= least).then_some(found))
    }
}

/// Brings the guess of a large size, which may be off by one rounding step, nearer to the boundary.
/// It takes secant steps; `missed` is the logarithm of the ratio of kept and requested rate.
fn closer(guess: u64, range: (u64, u64), missed: impl Fn(u64) -> Option<f64>) -> u64 {
    let (mut size, mut other) = (guess, guess + guess / GRAINS);
    if guess < 2 * GRAINS {
        return guess;
    }
    let Some(mut before) = missed(other) else { return guess };
    for _ in 0..3 {
        let Some(now) = missed(size) else { break };
        let step = -now * (size as f64 - other as f64) / (now - before);
        if !step.is_finite() || step.abs() > 0.01 * guess as f64 || step.abs() < 1.0 {
            break;
        }
        (other, before) = (size, now);
        size = ((size as f64 + step) as u64).clamp(range.0, range.1);
    }
    size
}

/// Two sizes are treated as equal during a search if their relative difference is less than the
/// inverse of this number.
pub(super) const GRAINS: u64 = 200_000;
