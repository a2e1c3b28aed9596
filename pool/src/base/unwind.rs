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

/// Drops a payload whose own drop may panic, and what that panic carries. A payload that never comes to an end is
/// leaked after `ROUNDS`.
pub(crate) fn discard(payload: Payload) {
    const ROUNDS: usize = 16;
    let mut left = payload;
    for _ in 0..ROUNDS {
        match catch(|| drop(left)) {
            Ok(()) => return,
            Err(again) => left = again,
        }
    }
    std::mem::forget(left);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{discard, resume};
    use std::sync::Arc;

    /// Panics when it is dropped, with one that panics `.0` - 1 times.
    struct Again(usize, Arc<()>);

    impl Drop for Again {
        fn drop(&mut self) {
            if self.0 > 0 {
                resume(Box::new(Again(self.0 - 1, self.1.clone())));
            }
        }
    }

    #[test]
    fn what_payloads_panic_with_is_dropped_too() {
        let alive = Arc::new(());
        discard(Box::new(Again(5, alive.clone())));
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn payloads_without_end_are_given_up() {
        struct Endless;
        impl Drop for Endless {
            fn drop(&mut self) {
                resume(Box::new(Endless));
            }
        }
        discard(Box::new(Endless));
    }
}
