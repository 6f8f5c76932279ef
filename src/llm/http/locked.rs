//! State that threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is replaced whole, so it stays valid if a thread panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
