//! Panics: caught where user code ends, carried to the thread that waits, and stopped where a frame
//! must not be left.
#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Runs user code and catches its panic. The payload travels on to the thread that waits. So the
/// caller sees the panic before it can look at anything that the panic left half done.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Goes on with a panic that was caught elsewhere.
pub(crate) fn resume(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Aborts the process if dropped: for frames that other threads point into.
#[derive(Debug)]
pub(crate) struct AbortOnUnwind;

impl AbortOnUnwind {
    /// The frame may be left again.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("tine: a panic where other threads still use this frame; aborting");
        std::process::abort();
    }
}

/// Drops a payload whose own drop may panic.
pub(crate) fn discard(payload: Payload) {
    if let Err(again) = catch(|| drop(payload)) {
        std::mem::forget(again);
    }
}
