//! Values that Python threads share under a lock. A thread that holds the interpreter never waits
//! for this lock.

use pyo3::prelude::*;
use std::ptr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) struct Shared<T>(RwLock<T>);

impl<T: Send + Sync> Shared<T> {
    pub(crate) fn new(value: T) -> Shared<T> {
        Shared(RwLock::new(value))
    }

    /// Locks the value for reading; must be called with the interpreter released.
    pub(crate) fn held(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the value for changes; must be called with the interpreter released.
    pub(crate) fn held_to_change(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, if no thread is changing it.
    #[inline]
    pub(crate) fn if_free(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.0.try_read().ok()
    }

    /// Reads the value by a function that takes little time. The interpreter is released only if
    /// the lock is not free.
    #[inline]
    pub(crate) fn look<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&T) -> R + Send) -> R {
        match self.0.try_read() {
            Ok(value) => look(&value),
            Err(_) => self.read(py, look),
        }
    }

    /// Reads the value by a function that can take long, with the interpreter released.
    pub(crate) fn read<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&T) -> R + Send) -> R {
        py.detach(|| look(&self.held()))
    }

    /// Changes the value by a function that takes little time. The interpreter is released only if
    /// the lock is not free.
    #[inline]
    pub(crate) fn change<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut T) -> R + Send) -> R {
        match self.0.try_write() {
            Ok(mut value) => change(&mut value),
            Err(_) => self.write(py, change),
        }
    }

    /// Changes the value by a function that can take long, with the interpreter released.
    pub(crate) fn write<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut T) -> R + Send) -> R {
        py.detach(|| change(&mut self.held_to_change()))
    }

    /// Reads two values at once. The locks are taken in the order of their addresses, so two
    /// threads never wait for each other.
    pub(crate) fn read_both<R: Send>(&self, py: Python<'_>, other: &Shared<T>, look: impl FnOnce(&T, &T) -> R + Send) -> R {
        py.detach(|| {
            if ptr::eq(self, other) {
                let value = self.held();
                return look(&value, &value);
            }
            let (ours, theirs) = if ptr::from_ref(self) < ptr::from_ref(other) {
                let ours = self.held();
                (ours, other.held())
            } else {
                let theirs = other.held();
                (self.held(), theirs)
            };
            look(&ours, &theirs)
        })
    }

    /// Changes this value by a function that reads the value `other`. A value cannot be read while
    /// it is changed, so if both are the same value, the function reads a `copy` of it.
    pub(crate) fn change_by<R: Send>(
        &self,
        py: Python<'_>,
        other: &Shared<T>,
        copy: impl FnOnce() -> PyResult<T>,
        change: impl FnOnce(&mut T, &T) -> R + Send,
    ) -> PyResult<R> {
        if ptr::eq(self, other) {
            let copy = copy()?;
            return Ok(self.write(py, |ours| change(ours, &copy)));
        }
        Ok(py.detach(|| {
            let (mut ours, theirs) = if ptr::from_ref(self) < ptr::from_ref(other) {
                let ours = self.held_to_change();
                (ours, other.held())
            } else {
                let theirs = other.held();
                (self.held_to_change(), theirs)
            };
            change(&mut ours, &theirs)
        }))
    }
}
