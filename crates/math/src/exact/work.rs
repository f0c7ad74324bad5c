//! How much one call of the public interface may work.
//!
//! A search asks for many rates, and each of them may be affordable alone. So a call that asks for
//! more than one opens an account ([`begin`]), and whatever takes time pays from it ([`spend`]).
//! Calls within calls share the account of the outermost. What cannot be paid is refused and costs
//! nothing, so that a cheaper route (a bracket, a bound) can still be taken.
//!
//! Steps are counted, not time: the same arguments have the same answer on every machine.

use crate::{Error, Result};

/// Steps of one call: word operations, or as much as one takes. About a second.
const MOST: u32 = 1_000_000_000;

/// Where the account is kept: one for each thread.
#[cfg(any(test, feature = "std"))]
mod account {
    use core::cell::Cell;

    std::thread_local! {
        static SPENT: Cell<u32> = const { Cell::new(0) };
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) fn spent() -> u32 {
        SPENT.get()
    }

    pub(super) fn set_spent(steps: u32) {
        SPENT.set(steps);
    }

    /// Calls within one another.
    pub(super) fn calls() -> u32 {
        CALLS.get()
    }

    /// One call more or one less (`by` of -1).
    pub(super) fn add_call(by: i32) {
        CALLS.set(CALLS.get().wrapping_add_signed(by));
    }
}

/// Where the account is kept without `std`, which alone knows threads: one for all. Where several
/// threads do ask at the same time, their calls count as calls within one another: some may be
/// refused or get a wider bracket, but no answer is wrong.
#[cfg(not(any(test, feature = "std")))]
mod account {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static SPENT: AtomicU32 = AtomicU32::new(0);
    static CALLS: AtomicU32 = AtomicU32::new(0);

    pub(super) fn spent() -> u32 {
        SPENT.load(Relaxed)
    }

    pub(super) fn set_spent(steps: u32) {
        SPENT.store(steps, Relaxed);
    }

    /// Calls within one another.
    pub(super) fn calls() -> u32 {
        CALLS.load(Relaxed)
    }

    /// One call more or one less (`by` of -1).
    pub(super) fn add_call(by: i32) {
        #[cfg(target_has_atomic = "32")]
        CALLS.fetch_add(by.cast_unsigned(), Relaxed);
        // Processors without such an instruction have one core.
        #[cfg(not(target_has_atomic = "32"))]
        CALLS.store(CALLS.load(Relaxed).wrapping_add_signed(by), Relaxed);
    }
}

/// An account, until it is dropped.
pub(crate) struct Work(());

/// Opens an account, or shares the one that is open.
pub(crate) fn begin() -> Work {
    if account::calls() == 0 {
        account::set_spent(0);
    }
    account::add_call(1);
    Work(())
}

/// Counts the work of several calls as one call, so that together they take about a second at most.
/// What cannot be paid any more is an error, [`Error::TooLong`]; calls with cheaper routes take
/// those.
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
        account::add_call(-1);
    }
}

/// Pays this many steps for `what`. An error if fewer are left; without an account every payment
/// succeeds.
pub(crate) fn spend(what: &'static str, steps: f64) -> Result<()> {
    if account::calls() == 0 {
        return Ok(());
    }
    let total = f64::from(account::spent()) + steps;
    // Not a number is too much, too.
    if total <= f64::from(MOST) {
        account::set_spent(libm::ceil(total) as u32);
        return Ok(());
    }
    Err(Error::TooLong { what, steps: total, allowed: f64::from(MOST) })
}

/// Whether more than a third of the account is spent: time for a search to end with what it has
/// found, whose own numbers may take the rest.
pub(crate) fn is_third_spent() -> bool {
    account::calls() > 0 && account::spent() > MOST / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_within_a_call_share_its_account() {
        assert!(spend("a test", 1e300).is_ok(), "without an account");
        let outer = begin();
        assert!(spend("a test", 0.6 * f64::from(MOST)).is_ok() && is_third_spent());
        let inner = begin();
        assert!(matches!(spend("a test", 0.6 * f64::from(MOST)), Err(Error::TooLong { what: "a test", .. })));
        assert!(spend("a test", f64::NAN).is_err());
        drop(inner);
        assert!(spend("a test", 0.3 * f64::from(MOST)).is_ok(), "what was refused was not paid");
        drop(outer);
        assert!(!is_third_spent() && spend("a test", 1e300).is_ok());
    }
}
