//! A limit on the work of one call of the public interface.
//!
//! A search computes many rates. The work of each rate can be within the limit even if the total
//! work is not. So a call that computes more than one rate starts a count of steps ([`begin`]), and
//! every computation that takes time adds its steps to the count ([`spend`]). Nested calls share
//! the count of the outermost call. If the count would exceed the limit, [`spend`] returns an error
//! before any work is done, so that a cheaper method (a bracket, a bound) can be used instead.
//!
//! The limit counts steps instead of time, so the same arguments give the same answer on every
//! machine.

use crate::{Error, Result};

/// The largest number of steps per call, in word operations or equivalent work. They take about a
/// second.
const MOST: u32 = 1_000_000_000;

/// Stores the count. Each thread has its own count.
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

    /// The depth of nested calls.
    pub(super) fn calls() -> u32 {
        CALLS.get()
    }

    /// Adds `by` to the depth of nested calls; `by` is -1 when a call ends.
    pub(super) fn add_call(by: i32) {
        CALLS.set(CALLS.get().wrapping_add_signed(by));
    }
}

/// Stores the count in builds without `std`, where all threads share one count. If several threads
/// compute at the same time, their calls count as nested. Then some calls can return errors or
/// wider brackets, but no answer is wrong.
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

    /// The depth of nested calls.
    pub(super) fn calls() -> u32 {
        CALLS.load(Relaxed)
    }

    /// Adds `by` to the depth of nested calls; `by` is -1 when a call ends.
    pub(super) fn add_call(by: i32) {
        #[cfg(target_has_atomic = "32")]
        CALLS.fetch_add(by.cast_unsigned(), Relaxed);
        // Processors without 32-bit atomic additions have only one core.
        #[cfg(not(target_has_atomic = "32"))]
        CALLS.store(CALLS.load(Relaxed).wrapping_add_signed(by), Relaxed);
    }
}

/// A running call. Dropping the guard ends the call.
pub(crate) struct Work(());

/// Begins a call. The outermost call sets the count to 0; nested calls share its count.
pub(crate) fn begin() -> Work {
    if account::calls() == 0 {
        account::set_spent(0);
    }
    account::add_call(1);
    Work(())
}

/// Runs the function `calls`. All calls that it makes to this crate share one limit on their total
/// work. The limit is a number of steps. These steps take about a second. Without `as_one_call`,
/// every call to this crate has a separate limit. If a computation would exceed the limit, a
/// cheaper method replaces it. If there is no cheaper method, the computation returns
/// [`Error::TooLong`].
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

/// Adds `steps` to the count. Returns an error if the count would exceed the limit; `what` names
/// the work in the error. Outside of a call ([`begin`]), there is no limit.
pub(crate) fn spend(what: &'static str, steps: f64) -> Result<()> {
    if account::calls() == 0 {
        return Ok(());
    }
    let total = f64::from(account::spent()) + steps;
    // This comparison also rejects NaN.
    if total <= f64::from(MOST) {
        account::set_spent(libm::ceil(total) as u32);
        return Ok(());
    }
    Err(Error::TooLong { what, steps: total, allowed: f64::from(MOST) })
}

/// Runs a computation with a separate limit of `steps`, so that its answer depends only on its
/// arguments and not on what the call has spent. These steps are not added to the call's count, so
/// a search must limit the number of such computations.
#[cfg(any(test, feature = "two-hash"))]
pub(crate) fn alone<T>(steps: u32, compute: impl FnOnce() -> T) -> T {
    let _work = begin();
    let spent = account::spent();
    account::set_spent(MOST - steps.min(MOST));
    let found = compute();
    account::set_spent(spent);
    found
}

/// Whether the call has spent more than a third of its limit. A search should then return the best
/// result so far, because computing the numbers of that result can take the rest of the limit.
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
        let apart = |share: f64| alone(MOST / 2, || spend("a test", share * f64::from(MOST)).is_ok());
        assert!(apart(0.4) && apart(0.4) && !apart(0.6), "an account of its own");
        assert!(spend("a test", 0.3 * f64::from(MOST)).is_ok(), "what was refused, or paid apart, was not paid");
        drop(outer);
        assert!(!is_third_spent() && spend("a test", 1e300).is_ok());
    }
}
