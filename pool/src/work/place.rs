//! Where a woken thread is to run: not on the waker's processor, if both threads would otherwise
//! wait for it. See [`crate::base::sys::elsewhere`].
//!
//! Only a thread that has slept for long is moved, and it puts its mask back before it runs anything or sleeps on.
//! A mask that was changed meanwhile, by the program or the system, is left as it is, unless it is the very mask that
//! the thread was given.
//!
//! A thread that looks for work notes its processor. If an ordinary thread posts a job on that same
//! processor and goes on, the searcher does not run. It may have to wait some milliseconds for the
//! system's next tick, so no thread may rely on it.
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
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// How long a thread must have slept before its old processor is thought to be asleep too.
    const DEEP: u64 = 1_000_000;

    /// Nowhere, as far as is known.
    const NOWHERE: i32 = -1;
    /// Whether places are noted: not where schedules are decided.
    const WATCHED: bool = !cfg!(tine_sched);

    /// The sleeping thread as the system knows it.
    #[derive(Debug)]
    pub(crate) struct Place {
        bed: Mutex<Bed>,
        /// Where the thread was when it last looked for work, or lay down: a guess, so all accesses are Relaxed.
        at: AtomicI32,
    }

    #[derive(Debug, Default)]
    struct Bed {
        thread: Option<i32>,
        since: u64,
        moved: Option<Moved>,
    }

    impl Place {
        pub(crate) fn new() -> Self {
            Self {
                bed: Mutex::default(),
                at: AtomicI32::new(NOWHERE),
            }
        }

        /// The thread looks for work, or is about to sleep.
        #[inline]
        pub(crate) fn note(&self) {
            let at = if WATCHED {
                elsewhere::processor()
            } else {
                NOWHERE
            };
            if self.at.load(Ordering::Relaxed) != at {
                self.at.store(at, Ordering::Relaxed);
            }
        }

        /// Whether the system tells where the calling thread is.
        #[cfg(all(test, not(loom)))]
        pub(crate) fn is_told(&self) -> bool {
            self.note();
            self.at.load(Ordering::Relaxed) != NOWHERE
        }

        /// Whether the thread was last seen on the processor of the caller.
        pub(crate) fn is_here(&self) -> bool {
            let at = self.at.load(Ordering::Relaxed);
            at >= 0 && at == elsewhere::processor()
        }

        /// The thread is about to sleep.
        pub(crate) fn lie_down(&self) {
            self.note();
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
                Self::come_back(&mut bed);
            }
        }

        /// It sleeps on, whether it was woken in vain or not: a thread that woke it late may have moved it first.
        pub(crate) fn sleep_on(&self) {
            if config::wakes_elsewhere() {
                Self::come_back(&mut self.bed());
            }
        }

        fn come_back(bed: &mut Bed) {
            if let Some(moved) = bed.moved.take() {
                elsewhere::restore(moved);
            }
        }

        /// It is about to be woken by the calling thread.
        pub(crate) fn push_away(&self) {
            if !config::wakes_elsewhere() {
                return;
            }
            let mut bed = self.bed();
            if bed.since != 0
                && bed.moved.is_none()
                && clock::since(bed.since) > clock::ticks(DEEP)
                && let Some(thread) = bed.thread
            {
                bed.moved = elsewhere::push_away(thread);
                if bed.moved.is_some() {
                    self.at.store(NOWHERE, Ordering::Relaxed);
                }
            }
        }

        fn bed(&self) -> MutexGuard<'_, Bed> {
            self.bed.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[cfg(all(test, not(loom), not(tine_sched)))]
    mod tests {
        use super::Place;
        use crate::base::clock;
        use crate::base::config;
        use crate::base::sys::elsewhere::tests::allowed;
        use crate::base::sys::elsewhere::{me, push_away, restore};

        /// The system may move the thread between two steps, but hardly each time.
        const TRIES: usize = 100;

        /// Whether threads can be moved here: there must be a second processor.
        fn can_move() -> bool {
            push_away(me()).map(restore).is_some()
        }

        /// Does what a thread that wakes another one does, for this one. Says whether that has changed where it may run.
        fn is_moved(wake: impl FnOnce()) -> bool {
            let before = allowed();
            wake();
            allowed() != before
        }

        fn sleep_deeply() {
            let begun = clock::now();
            while clock::since(begun) <= 2 * clock::ticks(super::DEEP) {
                std::thread::yield_now();
            }
        }

        #[test]
        fn a_thread_that_was_moved_comes_back() {
            if !(config::wakes_elsewhere() && can_move()) {
                return;
            }
            let (place, before) = (Place::new(), allowed());
            let is_moved = (0..TRIES).any(|_| {
                place.lie_down();
                sleep_deeply();
                let is = is_moved(|| place.push_away());
                if !is {
                    place.get_up();
                }
                is
            });
            assert!(is_moved);
            // The thread is woken again before it is up.
            sleep_deeply();
            assert!(!self::is_moved(|| place.push_away()));
            place.get_up();
            assert_eq!(allowed(), before);
            // It is moved in vain, sleeps on, and can be moved again.
            for _ in 0..2 {
                let is_moved = (0..TRIES).any(|_| {
                    place.lie_down();
                    sleep_deeply();
                    self::is_moved(|| place.push_away())
                });
                assert!(is_moved);
                place.sleep_on();
                assert_eq!(allowed(), before);
            }
            place.get_up();
        }

        #[test]
        fn a_thread_that_is_up_or_was_not_long_asleep_stays() {
            let place = Place::new();
            for _ in 0..2 {
                for _ in 0..TRIES {
                    place.note();
                    assert!(!is_moved(|| place.push_away()));
                }
                sleep_deeply();
                assert!(!is_moved(|| place.push_away()));
                place.lie_down();
                place.get_up();
            }
            let stays = (0..TRIES).any(|_| {
                place.lie_down();
                let stays = !is_moved(|| place.push_away());
                place.get_up();
                stays
            });
            assert!(stays);
        }

        #[test]
        fn a_thread_is_where_it_was_last_seen() {
            let place = Place::new();
            assert!(!place.is_here(), "nothing is known");
            let is_told = place.is_told();
            let note = |_| {
                place.note();
                place.is_here()
            };
            assert_eq!((0..TRIES).any(note), is_told);
            let leave = |_| {
                place.note();
                let moved = push_away(me());
                let left = moved.is_some() && !place.is_here();
                if let Some(moved) = moved {
                    restore(moved);
                }
                left
            };
            assert_eq!((0..TRIES).any(leave), is_told && can_move());
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
        pub(crate) fn sleep_on(&self) {}
        pub(crate) fn push_away(&self) {}
        pub(crate) fn note(&self) {}
        #[cfg(all(test, not(loom)))]
        pub(crate) fn is_told(&self) -> bool {
            false
        }
        pub(crate) fn is_here(&self) -> bool {
            false
        }
    }
}
