//! Where a woken thread is to run: not on the processor of the thread that wakes it, if both would
//! else wait for it. See [`crate::base::sys::elsewhere`].
//!
//! Only a thread that has slept for long is moved, and it puts its mask back before it runs anything.
//! A mask that was changed meanwhile, by the program or the system, is left as it is.
#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", not(any(miri, loom))))]
pub(crate) use self::moving::Place;
#[cfg(not(all(target_os = "linux", not(any(miri, loom)))))]
pub(crate) use self::staying::Place;

#[cfg(all(target_os = "linux", not(any(miri, loom))))]
mod moving {
    use crate::base::clock;
    use crate::base::config;
    use crate::base::sys::elsewhere::{self, Moved};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// How long a thread must have slept before its old processor is thought to be asleep too.
    const DEEP: u64 = 1_000_000;

    /// The sleeping thread as the system knows it.
    #[derive(Debug)]
    pub(crate) struct Place(Mutex<Bed>);

    #[derive(Debug, Default)]
    struct Bed {
        thread: Option<i32>,
        since: u64,
        moved: Option<Moved>,
    }

    impl Place {
        pub(crate) fn new() -> Self {
            Self(Mutex::default())
        }

        /// The thread is about to sleep.
        pub(crate) fn lie_down(&self) {
            if config::wakes_elsewhere() {
                let mut bed = self.bed();
                bed.thread.get_or_insert_with(elsewhere::me);
                bed.since = clock::now();
            }
        }

        /// It is awake, and has run nothing yet.
        pub(crate) fn get_up(&self) {
            if config::wakes_elsewhere() {
                let mut bed = self.bed();
                bed.since = 0;
                if let Some(moved) = bed.moved.take() {
                    elsewhere::restore(moved);
                }
            }
        }

        /// It is about to be woken by the calling thread.
        pub(crate) fn push_away(&self) {
            if !config::wakes_elsewhere() {
                return;
            }
            let mut bed = self.bed();
            let deep = bed.since != 0 && clock::since(bed.since) > clock::ticks(DEEP);
            if deep
                && bed.moved.is_none()
                && let Some(thread) = bed.thread
            {
                bed.moved = elsewhere::push_away(thread);
            }
        }

        fn bed(&self) -> MutexGuard<'_, Bed> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(miri, loom)))))]
mod staying {
    /// Nothing is known of places.
    #[derive(Debug)]
    pub(crate) struct Place;

    impl Place {
        pub(crate) fn new() -> Self {
            Self
        }
        pub(crate) fn lie_down(&self) {}
        pub(crate) fn get_up(&self) {}
        pub(crate) fn push_away(&self) {}
    }
}
