//! The last step of a search: finds the boundary with a separate decision for each size.

use super::sizes::{GRAINS, Question};
use super::sure::Sure;
use crate::{Result, search};
use core::cell::RefCell;

impl Sure<'_> {
    /// Returns the smallest distance near a guess at which the guarantee holds, or `None` if none
    /// is found. Each size is decided separately.
    pub(super) fn settled(&self, question: &Question<'_>, near: u64) -> Result<Option<u64>> {
        let (sizes, rate) = (question.sizes, question.rate);
        let last = RefCell::new(self.clone());
        let known = |(blocks, items): (u64, u64)| {
            let found = last.borrow().at(blocks, items)?;
            let kept = found.kept(blocks, items);
            last.replace(found);
            Some(kept)
        };
        let is_met = |(blocks, items)| if self.probes == question.mean_probes { Ok(true) } else { self.meets(blocks, items, rate) };
        let holds = |away: u64| {
            let size = sizes.at(away);
            Ok(known(size).is_some_and(|kept| kept <= rate.to_f64().next_down()) && is_met(size)?)
        };
        let guess = closer(sizes.size(near), sizes.range(), |size| Some(libm::log(known(sizes.with(size))?) - rate.ln()));
        // The search counts from 1, so it uses the distance plus one. It never tests its limit.
        let (first, limit) = (sizes.away(guess as f64) + 1, sizes.last() + 2);
        let found = search::boundary(first as f64, 1, limit, |next| Ok(!holds(next - 1)?))? - 1;
        Ok((found <= sizes.last()).then_some(found))
    }
}

/// Moves the guess for a large size nearer to the boundary, by secant steps. The result can be off
/// by one rounding step. `missed` returns the logarithm of the guaranteed rate divided by the
/// requested rate.
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
