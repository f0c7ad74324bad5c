//! What threads share, from the standard library; in this crate's own tests under
//! `--cfg truebloom_loom`, from the model checker. The name is this crate's alone: `--cfg loom` is
//! what the checker's other users set for a whole program, which must go on working.

#[cfg(all(feature = "std", not(all(test, truebloom_loom))))]
pub(crate) use core::sync::atomic::AtomicUsize;
#[cfg(not(all(test, truebloom_loom)))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(all(test, truebloom_loom))]
pub(crate) use loom::sync::{
    Mutex, RwLock, RwLockReadGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(all(feature = "std", not(all(test, truebloom_loom))))]
pub(crate) use std::sync::{Mutex, RwLock, RwLockReadGuard};
