//! Synchronization primitives: those of the standard library, or, in this crate's own tests under
//! `--cfg truebloom_loom`, those of the model checker. The crate has a flag of its own, because
//! other crates set `--cfg loom` for a whole program, and this crate must go on working there.

#[cfg(all(feature = "std", not(all(test, truebloom_loom))))]
pub(crate) use core::sync::atomic::AtomicUsize;
#[cfg(not(all(test, truebloom_loom)))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(all(test, truebloom_loom))]
pub(crate) use loom::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(all(feature = "std", not(all(test, truebloom_loom))))]
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
