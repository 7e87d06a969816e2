//! Values that several threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what every panic elsewhere leaves valid.
pub fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
