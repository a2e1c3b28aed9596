//! Questions to the system: a tick counter, the stack that is left, a barrier for all threads of
//! the process, whether this is a child of `fork`, and where a thread may run. Each answer may be
//! "not here", and then the caller does without.

/// The processor's own counter, if any process may read it. A scheduler that makes the time only
/// answers for the system's clock.
pub(crate) fn ticks() -> Option<u64> {
    #[cfg(all(target_arch = "x86_64", not(any(miri, tine_sched))))]
    {
        // SAFETY: every x86-64 processor has the instruction.
        Some(unsafe { std::arch::x86_64::_rdtsc() })
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(miri, tine_sched)))))]
    None
}

/// Nanoseconds since some point in time, by a clock that is never set.
#[cfg(unix)]
pub(crate) fn nanos() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How often the system has taken the processor from the calling thread; `None` where it does not tell. A system call.
#[cfg(all(target_os = "linux", not(any(miri, tine_sched))))]
pub(crate) fn interruptions() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is a place for the answer.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0;
    // SAFETY: the call has filled it in.
    (!failed).then(|| unsafe { usage.assume_init() }.ru_nivcsw as u64)
}

#[cfg(not(all(target_os = "linux", not(any(miri, tine_sched)))))]
pub(crate) fn interruptions() -> Option<u64> {
    None
}

/// Bytes of stack below the caller's frame; `None` where the system does not tell.
pub(crate) fn stack_left() -> Option<usize> {
    let here = 0_u8;
    let low = stack::low_end()?;
    (&raw const here).addr().checked_sub(low)
}

#[cfg(all(target_os = "linux", not(miri)))]
mod stack {
    use std::cell::Cell;
    use std::mem::MaybeUninit;

    thread_local! {
        static LOW: Cell<usize> = const { Cell::new(0) };
    }

    /// Where this thread's stack ends, asked once for each thread.
    pub(super) fn low_end() -> Option<usize> {
        const UNKNOWN: usize = usize::MAX;
        let low = LOW.get();
        let low = if low == 0 {
            ask().unwrap_or(UNKNOWN)
        } else {
            low
        };
        LOW.set(low);
        (low != UNKNOWN).then_some(low)
    }

    fn ask() -> Option<usize> {
        let mut attr = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: no preconditions.
        let me = unsafe { libc::pthread_self() };
        // SAFETY: `attr` is a place for the answer; the thread is this one.
        if unsafe { libc::pthread_getattr_np(me, attr.as_mut_ptr()) } != 0 {
            return None;
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: initialised by the call before; the other two are places for the answer.
        let ok = unsafe { libc::pthread_attr_getstack(attr.as_ptr(), &mut low, &mut size) } == 0;
        // SAFETY: initialised, and not used again.
        unsafe { libc::pthread_attr_destroy(attr.as_mut_ptr()) };
        ok.then_some(low.addr())
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod stack {
    pub(super) fn low_end() -> Option<usize> {
        None
    }
}

/// The system's barrier for all threads; `barrier.rs` knows when to ask for it.
#[cfg(all(target_os = "linux", not(miri)))]
mod membarrier {
    const REGISTER: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes only numbers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the system may grant them.
    pub(crate) const MAY_PASS_BARRIERS: bool = true;

    /// Registers the process for barriers; says whether it may pass them.
    pub(crate) fn register_for_barriers() -> bool {
        membarrier(REGISTER)
    }

    /// Makes every running thread of the process pass a full memory barrier, if the system grants it.
    pub(crate) fn pass_barrier_everywhere() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    /// Whether the caller is the only thread of the process, as far as the system tells.
    pub(crate) fn has_one_thread() -> bool {
        std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.take(2).count() == 1)
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod membarrier {
    pub(crate) const MAY_PASS_BARRIERS: bool = false;
    pub(crate) fn register_for_barriers() -> bool {
        false
    }
    pub(crate) fn pass_barrier_everywhere() -> bool {
        false
    }
    pub(crate) fn has_one_thread() -> bool {
        false
    }
}

pub(crate) use membarrier::{
    MAY_PASS_BARRIERS, has_one_thread, pass_barrier_everywhere, register_for_barriers,
};

/// Whether this process is the one in which something began. A child made by `fork` has only the
/// thread that called it.
///
/// Nothing here waits for another thread: in a child, a thread that was halfway through is gone.
pub(crate) mod fork {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The number of forks between the first process and this one, counted since [`watch`]. A
    /// fork counts twice if two threads were the first to call it.
    static GENERATION: AtomicUsize = AtomicUsize::new(0);

    /// The number of this process.
    #[inline]
    pub(crate) fn generation() -> usize {
        // Relaxed: written while the process has one thread.
        GENERATION.load(Ordering::Relaxed)
    }

    #[cfg(not(all(unix, not(miri))))]
    pub(crate) fn watch(_in_child: fn()) {}

    #[cfg(all(unix, not(miri)))]
    pub(crate) use handler::watch;

    #[cfg(all(unix, not(miri)))]
    pub(crate) use by_system::start;
    #[cfg(not(all(unix, not(miri))))]
    pub(crate) use std_alone::start;

    #[cfg(not(all(unix, not(miri))))]
    mod std_alone {
        use std::{io, thread};

        pub(crate) fn start(
            mut builder: thread::Builder,
            stack: Option<usize>,
            run: impl FnOnce() + Send + 'static,
        ) -> io::Result<()> {
            if let Some(size) = stack {
                builder = builder.stack_size(size);
            }
            builder.spawn(run).map(drop)
        }
    }

    #[cfg(all(unix, not(miri)))]
    mod by_system {
        use std::ffi::c_void;
        use std::mem::MaybeUninit;
        use std::{io, ptr, thread};

        type Run = Box<dyn FnOnce() + Send>;

        /// What std gives a thread.
        const STACK: usize = 2 << 20;

        /// Starts a thread with that size of its `stack`, or std's own: as `builder` says, or, in a child, by the system alone.
        ///
        /// Each thread of std takes a lock of std as it begins and as it ends. A child that was
        /// forked while a thread of its parent held that lock would wait for it in each thread
        /// that std starts. A thread of the system's own does not take it. It has no name, and
        /// a stack that overflows ends the process without a message.
        pub(crate) fn start(
            mut builder: thread::Builder,
            stack: Option<usize>,
            run: impl FnOnce() + Send + 'static,
        ) -> io::Result<()> {
            if super::generation() == 0 {
                if let Some(size) = stack {
                    builder = builder.stack_size(size);
                }
                return builder.spawn(run).map(drop);
            }
            let how = Attributes::new(stack.unwrap_or(STACK))?;
            let run: *mut Run = Box::into_raw(Box::new(Box::new(run)));
            let mut thread = MaybeUninit::uninit();
            // SAFETY: the attributes are made, and `thread` is a place for the answer. The new thread gets
            // `run`, and nothing else uses it unless there is no thread.
            let failed = unsafe {
                libc::pthread_create(thread.as_mut_ptr(), &raw const how.0, begin, run.cast())
            };
            if failed != 0 {
                // SAFETY: the pointer came from a box, and no thread has it.
                drop(unsafe { Box::from_raw(run) });
                return Err(io::Error::from_raw_os_error(failed));
            }
            Ok(())
        }

        /// The attributes of a thread: that no thread joins it, and how large its stack is.
        struct Attributes(libc::pthread_attr_t);

        impl Attributes {
            fn new(stack: usize) -> io::Result<Self> {
                let mut how = MaybeUninit::uninit();
                // SAFETY: `how` is a place for attributes.
                said(unsafe { libc::pthread_attr_init(how.as_mut_ptr()) })?;
                // SAFETY: they were made by the line above.
                let mut how = Self(unsafe { how.assume_init() });
                let stack = stack.max(libc::PTHREAD_STACK_MIN);
                // The system may want whole pages.
                let stack = stack.checked_next_multiple_of(1 << 16).unwrap_or(stack);
                let detached = libc::PTHREAD_CREATE_DETACHED;
                // SAFETY: the attributes have been made.
                said(unsafe { libc::pthread_attr_setstacksize(&raw mut how.0, stack) })?;
                // SAFETY: as above.
                said(unsafe { libc::pthread_attr_setdetachstate(&raw mut how.0, detached) })?;
                Ok(how)
            }
        }

        impl Drop for Attributes {
            fn drop(&mut self) {
                // SAFETY: they were made, and nothing uses them any more.
                unsafe { libc::pthread_attr_destroy(&raw mut self.0) };
            }
        }

        fn said(failed: i32) -> io::Result<()> {
            match failed {
                0 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(failed)),
            }
        }

        extern "C" fn begin(run: *mut c_void) -> *mut c_void {
            // SAFETY: `start` gave the box to this thread alone.
            let run = unsafe { Box::from_raw(run.cast::<Run>()) };
            run();
            ptr::null_mut()
        }
    }

    #[cfg(all(unix, not(miri)))]
    mod handler {
        use super::GENERATION;
        use std::mem::transmute;
        use std::ptr;
        use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

        static REGISTERED: AtomicBool = AtomicBool::new(false);
        static IN_CHILD: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
        /// The process that has counted last; 0: none.
        static PROCESS: AtomicI32 = AtomicI32::new(0);

        /// Counts forks from now on, and calls `in_child` after each, in the child. The call may
        /// do next to nothing: a lock may be held for ever there. To be called before a pool is
        /// made.
        pub(crate) fn watch(in_child: fn()) {
            // SAFETY: no preconditions.
            let me = unsafe { libc::getpid() };
            let before = PROCESS.swap(me, Ordering::Relaxed);
            if before != 0 && before != me {
                // The parent forked while one of its threads executed the lines below.
                GENERATION.fetch_add(1, Ordering::Relaxed);
            }
            // Relaxed, here and below: the system's own lock lies between this and the handler.
            IN_CHILD.store(in_child as *mut (), Ordering::Relaxed);
            if !REGISTERED.load(Ordering::Relaxed) {
                // SAFETY: the handler is a function that stays valid for ever, and it does nothing that is
                // forbidden between a fork and the next call: it stores numbers.
                unsafe { libc::pthread_atfork(None, None, Some(begun)) };
                REGISTERED.store(true, Ordering::Relaxed);
            }
        }

        extern "C" fn begun() {
            GENERATION.fetch_add(1, Ordering::Relaxed);
            // SAFETY: no preconditions.
            PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
            let in_child = IN_CHILD.load(Ordering::Relaxed);
            // SAFETY: the handler is registered after the store, and only such functions are stored there.
            let in_child = unsafe { transmute::<*mut (), fn()>(in_child) };
            in_child();
        }
    }
}

/// Keeps a thread that is about to be woken off the processor of the one that wakes it.
///
/// A thread that wakes another and stays busy may find it queued on its own processor for a whole
/// tick of the scheduler. So the waker takes its own processor out of the sleeper's mask before the
/// wake, and the sleeper puts its mask back when it runs.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod elsewhere {
    use std::mem::{MaybeUninit, size_of};

    const SIZE: usize = size_of::<libc::cpu_set_t>();

    /// The processors where a thread could run, those where it may run until it has its mask back,
    /// and the thread.
    #[derive(Clone, Copy)]
    pub(crate) struct Moved {
        thread: libc::pid_t,
        mask: libc::cpu_set_t,
        fewer: libc::cpu_set_t,
    }

    impl std::fmt::Debug for Moved {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Moved")
                .field("thread", &self.thread)
                .finish_non_exhaustive()
        }
    }

    /// The calling thread's name for the system.
    pub(crate) fn me() -> i32 {
        // SAFETY: no preconditions.
        unsafe { libc::gettid() }
    }

    /// The processor that the calling thread runs on; a negative number if the system does not tell.
    pub(crate) fn processor() -> i32 {
        // SAFETY: no preconditions.
        unsafe { libc::sched_getcpu() }
    }

    /// Moves `thread` off the processor of the caller. Returns what [`restore`] needs.
    pub(crate) fn push_away(thread: i32) -> Option<Moved> {
        let here = usize::try_from(processor()).ok()?;
        let mask = allowed(thread)?;
        let mut fewer = mask;
        if here >= libc::CPU_SETSIZE as usize {
            return None;
        }
        // SAFETY: the number is below the size of the set.
        unsafe { libc::CPU_CLR(here, &mut fewer) };
        // SAFETY: a valid set.
        if unsafe { libc::CPU_COUNT(&fewer) } == 0 {
            return None;
        }
        set(thread, &fewer).then_some(Moved {
            thread,
            mask,
            fewer,
        })
    }

    /// Puts a mask back, unless the program or the system has changed it meanwhile.
    ///
    /// The system remembers a mask that was set. So a thread that could run on all processors of its group is allowed all
    /// there are, not those of the mask: otherwise it would stay where it is when its group gets more.
    pub(crate) fn restore(moved: Moved) {
        if !is(moved.thread, &moved.fewer) {
            return;
        }
        let mut all = MaybeUninit::<libc::cpu_set_t>::uninit();
        // SAFETY: in bounds, and for a write.
        unsafe { all.as_mut_ptr().write_bytes(0xff, 1) };
        // SAFETY: filled; any bits are a valid set. The system takes those that there are.
        let all = unsafe { all.assume_init() };
        set(moved.thread, &all);
        if !is(moved.thread, &moved.mask) {
            set(moved.thread, &moved.mask);
        }
    }

    /// Whether that is the thread's mask now.
    fn is(thread: libc::pid_t, mask: &libc::cpu_set_t) -> bool {
        // SAFETY: two valid sets.
        allowed(thread).is_some_and(|now| unsafe { libc::CPU_EQUAL(&now, mask) })
    }

    /// The thread's mask, if the system tells.
    fn allowed(thread: libc::pid_t) -> Option<libc::cpu_set_t> {
        let mut mask = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: `mask` is a place for the answer of that size.
        let done = unsafe { libc::sched_getaffinity(thread, SIZE, mask.as_mut_ptr()) } == 0;
        // SAFETY: zeroed, then filled; any bits are a valid set.
        done.then(|| unsafe { mask.assume_init() })
    }

    /// Says whether the system has taken the mask.
    fn set(thread: libc::pid_t, mask: &libc::cpu_set_t) -> bool {
        // SAFETY: a valid set of that size. The thread of that number may have ended: then the call fails.
        unsafe { libc::sched_setaffinity(thread, SIZE, mask) == 0 }
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) mod tests {
        use super::{Moved, me, push_away, restore};

        /// The processors where the calling thread may run, as the system writes them.
        pub(crate) fn allowed() -> String {
            let status = std::fs::read_to_string(format!("/proc/self/task/{}/status", me()));
            let status = status.expect("the system tells");
            let line = status.lines().find(|l| l.starts_with("Cpus_allowed_list"));
            line.expect("a line about processors").to_owned()
        }

        #[test]
        fn a_mask_is_put_back_unless_it_was_changed() {
            let before = allowed();
            let Some(moved) = push_away(me()) else {
                return;
            };
            assert_ne!(allowed(), before);
            restore(moved);
            assert_eq!(allowed(), before);
            // Processors that the program does not allow are not added.
            let moved = push_away(me()).expect("as before");
            let fewer = allowed();
            restore(Moved {
                mask: moved.fewer,
                ..moved
            });
            assert_eq!(allowed(), fewer);
            restore(moved);
            assert_eq!(allowed(), before);
            // The mask is no longer what was set.
            restore(Moved {
                mask: moved.fewer,
                ..moved
            });
            assert_eq!(allowed(), before);
        }
    }
}
