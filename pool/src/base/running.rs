//! Whether another thread of this process runs, as the system sees it.
//!
//! Progress alone does not distinguish a blocked thread from a thread that works long on one item,
//! or that gets no processor on a busy machine. The system knows, where it can be asked.
#![forbid(unsafe_code)]

pub(crate) use self::asked::{ASKED, doing, me};

/// What a thread does, the least busy first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(
    dead_code,
    reason = "where no system is asked, nothing but `Unknown` is said"
)]
pub(crate) enum Doing {
    /// It waits, and not for a processor.
    Waits,
    /// The system does not tell.
    Unknown,
    /// It runs, or would if it had a processor.
    Runs,
}

#[cfg(all(target_os = "linux", not(any(miri, loom, tine_sched))))]
mod asked {
    use super::Doing;
    use crate::base::sys::elsewhere;
    use std::cell::Cell;
    use std::fs;

    /// Whether threads have names here.
    pub(crate) const ASKED: bool = true;

    thread_local! {
        static ME: Cell<u64> = const { Cell::new(0) };
    }

    /// The calling thread's name for the system, asked once for each thread; zero where it has none.
    #[inline]
    pub(crate) fn me() -> u64 {
        let known = ME.get();
        if known == 0 { ask() } else { known }
    }

    #[cold]
    #[inline(never)]
    fn ask() -> u64 {
        let me = u64::from(elsewhere::me().unsigned_abs());
        ME.set(me);
        me
    }

    /// What the thread of that name does. A child made by `fork` has none of the names it inherits: unknown.
    #[cold]
    pub(crate) fn doing(thread: u64) -> Doing {
        let line = fs::read(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
        // The thread's own name stands in brackets, and may hold any byte.
        let end = line.iter().rposition(|byte| *byte == b')');
        match end.and_then(|end| line.get(end + 2)) {
            Some(b'R') => Doing::Runs,
            Some(_) => Doing::Waits,
            None => Doing::Unknown,
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(miri, loom, tine_sched)))))]
mod asked {
    use super::Doing;

    pub(crate) const ASKED: bool = false;

    #[inline(always)]
    pub(crate) fn me() -> u64 {
        0
    }

    pub(crate) fn doing(_thread: u64) -> Doing {
        Doing::Unknown
    }
}

#[cfg(all(test, target_os = "linux", not(any(miri, loom, tine_sched))))]
mod tests {
    use super::{Doing, doing, me};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
    use std::sync::mpsc;
    use std::{hint, thread};

    #[test]
    fn a_thread_that_spins_runs_and_a_thread_that_waits_waits() {
        assert_eq!(doing(me()), Doing::Runs);
        assert_eq!(doing(0), Doing::Unknown);
        let (over, name) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                name.store(me(), SeqCst);
                while !over.load(SeqCst) {
                    hint::spin_loop();
                }
            });
            while name.load(SeqCst) == 0 {
                hint::spin_loop();
            }
            assert_eq!(doing(name.load(SeqCst)), Doing::Runs);
            over.store(true, SeqCst);
        });
        let (send, receive) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        thread::scope(|s| {
            // Brackets and blanks in its name.
            let builder = thread::Builder::new().name("a) R (b".into());
            let waiter = move || {
                tell.send(me()).unwrap();
                let _ = receive.recv();
            };
            builder.spawn_scoped(s, waiter).unwrap();
            let name = told.recv().unwrap();
            while doing(name) != Doing::Waits {}
            drop(send);
        });
    }
}
