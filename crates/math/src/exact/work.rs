//! How much one call of the public interface may work.
//!
//! A search asks for many rates, and each of them may be affordable alone. So a call that asks for more than one opens an account ([`begin`]), and whatever takes time pays from it ([`spend`]). Calls within
//! calls share the account of the outermost. What cannot be paid is refused and costs nothing, so that a cheaper route (a bracket, a bound) can still be taken.
//!
//! Steps are counted, not time: the same arguments have the same answer on every machine.

use crate::{Error, Result};
use std::cell::Cell;

/// Steps of one call: word operations, or as much as one takes. About a second.
const MOST: f64 = 1e9;

thread_local! {
    /// Steps left, and the number of calls within one another.
    static ACCOUNT: Cell<(f64, u32)> = const { Cell::new((f64::INFINITY, 0)) };
}

/// An account, until it is dropped.
pub(crate) struct Work(());

/// Opens an account, or shares the one that is open.
pub(crate) fn begin() -> Work {
    let (left, calls) = ACCOUNT.get();
    ACCOUNT.set((if calls == 0 { MOST } else { left }, calls + 1));
    Work(())
}

/// Counts the work of several calls as that of one, so that together they take about a second at most. What cannot be paid any more is an error,
/// [`Error::TooLong`]; calls with cheaper routes take those.
///
/// ```
/// use truebloom_math::{Variant, as_one_call};
/// let rates = as_one_call(|| [7, 8].map(|probes| Variant::Standard.fpr(9_585, 1_000, probes)));
/// assert!(rates.iter().all(|rate| rate.is_ok()));
/// ```
pub fn as_one_call<T>(calls: impl FnOnce() -> T) -> T {
    let _work = begin();
    calls()
}

impl Drop for Work {
    fn drop(&mut self) {
        let (left, calls) = ACCOUNT.get();
        ACCOUNT.set((if calls == 1 { f64::INFINITY } else { left }, calls - 1));
    }
}

/// Pays so many steps for `what`. An error if there are not so many left; without an account anything is paid.
pub(crate) fn spend(what: &'static str, steps: f64) -> Result<()> {
    let (left, calls) = ACCOUNT.get();
    // Not a number is too much, too.
    if steps <= left {
        ACCOUNT.set((left - steps, calls));
        return Ok(());
    }
    Err(Error::TooLong { what, steps: MOST - left + steps, allowed: MOST })
}

/// Whether more than a third of the account is spent: time for a search to end with what it has found, whose own numbers take up to the rest.
pub(crate) fn is_third_spent() -> bool {
    ACCOUNT.get().0 < MOST * 2.0 / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_within_a_call_share_its_account() {
        assert!(spend("a test", 1e300).is_ok(), "without an account");
        let outer = begin();
        assert!(spend("a test", 0.6 * MOST).is_ok() && is_third_spent());
        let inner = begin();
        assert!(matches!(spend("a test", 0.6 * MOST), Err(Error::TooLong { what: "a test", .. })));
        assert!(spend("a test", f64::NAN).is_err());
        drop(inner);
        assert!(spend("a test", 0.3 * MOST).is_ok(), "what was refused was not paid");
        drop(outer);
        assert!(!is_third_spent() && spend("a test", 1e300).is_ok());
    }
}
