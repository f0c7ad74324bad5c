//! Synchronization primitives of the standard library. In this crate's tests with
//! `--cfg truebloom_loom`, they are those of the model checker. The flag is not `--cfg loom`,
//! because a program may set `--cfg loom` for all its crates, and this crate must then work as
//! usual.

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
