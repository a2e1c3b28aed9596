//! The machine's answers to what a program asks the system for.
//!
//! The functions here have the names of the C library's. So the linker takes these for all calls in
//! the executable: those of `std`, the pool and the programs. A thread that no machine runs gets
//! the C library's own answer.
//!
//! Futexes (and with them `std`'s locks, condition variables, channels, `OnceLock`, `park`, and
//! the pool's parker), `sched_yield`, sleeping, the clock, thread start, thread end and join, and
//! the random bytes that hash tables start from are answered. `membarrier` is a point and nothing
//! more: threads that run one at a time see all that was written before.

use super::machine::{self, EPOCH, On};
use libc::{c_int, c_long, c_void, pthread_attr_t, pthread_t, size_t, ssize_t, timespec};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// The C library's own function of this name.
fn own(name: &CStr) -> usize {
    // SAFETY: a name that ends with zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!found.is_null(), "the C library has no {name:?}");
    found.addr()
}

/// The lookup takes no lock: threads come here that no machine runs yet, and must not wait for one
/// that it runs.
macro_rules! own {
    ($name:literal, $type:ty) => {{
        static OWN: AtomicUsize = AtomicUsize::new(0);
        let mut address = OWN.load(Ordering::Relaxed);
        if address == 0 {
            address = own($name);
            OWN.store(address, Ordering::Relaxed);
        }
        // SAFETY: the C library's function of this name has this type.
        unsafe {
            std::mem::transmute::<*const (), $type>(std::ptr::with_exposed_provenance(address))
        }
    }};
}

type Syscall = extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;

fn real_syscall() -> Syscall {
    own!(c"syscall", Syscall)
}

/// Sleeps in the kernel while `word` holds `value`.
pub(super) fn sleep_on(word: &AtomicU32, value: u32) {
    let op = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    real_syscall()(
        libc::SYS_futex,
        word.as_ptr().expose_provenance(),
        op,
        value as usize,
        0,
        0,
        0,
    );
}

/// Wakes a thread that sleeps there.
pub(super) fn rouse(word: &AtomicU32) {
    let op = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    real_syscall()(
        libc::SYS_futex,
        word.as_ptr().expose_provenance(),
        op,
        1,
        0,
        0,
        0,
    );
}

/// Writes to a descriptor, past all locks.
pub(super) fn say(text: &str) {
    let mut left = text.as_bytes();
    while !left.is_empty() {
        // SAFETY: the bytes are there.
        let done = unsafe { libc::write(2, left.as_ptr().cast(), left.len()) };
        if done <= 0 {
            return;
        }
        left = &left[done as usize..];
    }
}

/// Ends the process at once. `_fd` is where the report went.
pub(super) fn exit(code: i32, _fd: i32) -> ! {
    // SAFETY: no preconditions.
    unsafe { libc::_exit(code) }
}

fn fail(errno: c_int) -> c_long {
    // SAFETY: the place is this thread's own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *place = errno };
    -1
}

fn nanos(time: *const timespec) -> u64 {
    // SAFETY: callers hand in a time, as the system would have it.
    let time = unsafe { &*time };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `syscall`, for those calls that wait, wake or order; the C library's own for all others.
///
/// # Safety
/// As the system's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    if machine::is_running() {
        match number {
            libc::SYS_futex => return futex(a, b as c_int, c as u32, d),
            libc::SYS_membarrier => {
                machine::barrier();
                return 0;
            }
            libc::SYS_sched_yield => {
                machine::pause();
                return 0;
            }
            _ => {}
        }
    }
    real_syscall()(number, a, b, c, d, e, f)
}

fn futex(address: usize, op: c_int, value: u32, time: usize) -> c_long {
    let limit = || match std::ptr::with_exposed_provenance::<timespec>(time) {
        time if time.is_null() => None,
        time => Some(nanos(time)),
    };
    match op & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
        libc::FUTEX_WAIT => {
            let limit = limit().map(|after| machine::now().unwrap_or(0).saturating_add(after));
            futex_wait(address, value, limit)
        }
        // All clocks show the same time.
        libc::FUTEX_WAIT_BITSET => {
            let limit = limit();
            futex_wait(address, value, limit)
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            machine::point();
            machine::wake(address, u64::from(value)) as c_long
        }
        other => {
            say(&format!("a futex operation that is not known: {other}\n"));
            exit(3, 2);
        }
    }
}

fn futex_wait(address: usize, value: u32, until: Option<u64>) -> c_long {
    machine::point();
    let word = std::ptr::with_exposed_provenance::<AtomicU32>(address);
    // SAFETY: the caller hands in a word, as the system would have it.
    let now = unsafe { &*word }.load(Ordering::Relaxed);
    if now != value {
        return fail(libc::EAGAIN);
    }
    if machine::block(On::Futex(address), until.unwrap_or(u64::MAX)) {
        0
    } else {
        fail(libc::ETIMEDOUT)
    }
}

/// Lets others go on.
#[unsafe(no_mangle)]
pub extern "C" fn sched_yield() -> c_int {
    if machine::is_running() {
        machine::pause();
        return 0;
    }
    own!(c"sched_yield", extern "C" fn() -> c_int)()
}

/// The machine's time.
///
/// # Safety
/// `time` is a place for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut timespec) -> c_int {
    let Some(now) = machine::now() else {
        let own = own!(
            c"clock_gettime",
            extern "C" fn(c_int, *mut timespec) -> c_int
        );
        return own(clock, time);
    };
    let answer = timespec {
        tv_sec: (now / 1_000_000_000) as libc::time_t,
        tv_nsec: (now % 1_000_000_000) as c_long,
    };
    // SAFETY: a duty of the caller.
    unsafe { time.write(answer) };
    0
}

fn sleep_until(until: u64) {
    machine::block(On::Time, until);
}

/// Sleeps in the machine's time.
///
/// # Safety
/// `time` is a time, `left` null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    let Some(now) = machine::now() else {
        type Own = extern "C" fn(*const timespec, *mut timespec) -> c_int;
        return own!(c"nanosleep", Own)(time, left);
    };
    sleep_until(now.saturating_add(nanos(time)));
    0
}

/// Sleeps in the machine's time.
///
/// # Safety
/// As for [`nanosleep`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    let Some(now) = machine::now() else {
        type Own = extern "C" fn(c_int, c_int, *const timespec, *mut timespec) -> c_int;
        return own!(c"clock_nanosleep", Own)(clock, flags, time, left);
    };
    let begin = if flags & libc::TIMER_ABSTIME != 0 {
        0
    } else {
        now
    };
    debug_assert!(begin == 0 || now >= EPOCH);
    sleep_until(begin.saturating_add(nanos(time)));
    0
}

/// Bytes that follow from the seed.
///
/// # Safety
/// `buffer` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, len: size_t, flags: u32) -> ssize_t {
    if !machine::is_running() {
        type Own = extern "C" fn(*mut c_void, size_t, u32) -> ssize_t;
        return own!(c"getrandom", Own)(buffer, len, flags);
    }
    for i in 0..len {
        let byte = machine::random().unwrap_or(0) as u8;
        let place = buffer.cast::<u8>().wrapping_add(i);
        // SAFETY: a duty of the caller.
        unsafe { place.write(byte) };
    }
    len as ssize_t
}

// ---- threads --------------------------------------------------------------------------------

struct Birth {
    start: Start,
    argument: *mut c_void,
    task: usize,
}

extern "C" fn live(birth: *mut c_void) -> *mut c_void {
    // SAFETY: made by `pthread_create` below for this thread.
    let task = unsafe { (*birth.cast::<Birth>()).task };
    machine::begin(task);
    // SAFETY: as above; taken once.
    let birth = unsafe { Box::from_raw(birth.cast::<Birth>()) };
    // The first destructor of thread-locals that is registered is the last to run.
    type Register = extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
    unsafe extern "C" {
        static __dso_handle: u8;
    }
    let register = own!(c"__cxa_thread_atexit_impl", Register);
    register(
        leave,
        std::ptr::null_mut(),
        (&raw const __dso_handle).cast_mut().cast(),
    );
    let Birth {
        start, argument, ..
    } = *birth;
    start(argument)
}

extern "C" fn leave(_: *mut c_void) {
    machine::end();
}

/// How many more threads may be started.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// From now on the system starts this many threads more, and refuses the others.
pub(crate) fn refuse_after(more: usize) {
    LEFT.store(more, Ordering::Relaxed);
}

/// Starts a thread that the machine runs.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    type Own = extern "C" fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int;
    let own = own!(c"pthread_create", Own);
    if !machine::is_running() {
        return own(thread, attributes, start, argument);
    }
    // Threads run one at a time.
    match LEFT.load(Ordering::Relaxed) {
        usize::MAX => {}
        0 => return libc::EAGAIN,
        left => LEFT.store(left - 1, Ordering::Relaxed),
    }
    let task = machine::add();
    let birth = Box::into_raw(Box::new(Birth {
        start,
        argument,
        task,
    }));
    let failed = own(thread, attributes, live, birth.cast());
    if failed == 0 {
        // SAFETY: written by the C library.
        machine::started(task, Some(unsafe { *thread }));
    } else {
        // SAFETY: the thread that was to have it never came.
        drop(unsafe { Box::from_raw(birth) });
        machine::started(task, None);
    }
    failed
}

/// Waits for the end of a thread.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
    if let Some(task) = machine::find(thread)
        && machine::wait_for_end(task)
    {
        return 0;
    }
    own!(
        c"pthread_join",
        extern "C" fn(pthread_t, *mut *mut c_void) -> c_int
    )(thread, value)
}

/// Names a thread, for the machine's reports too.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setname_np(thread: pthread_t, name: *const libc::c_char) -> c_int {
    // SAFETY: a duty of the caller.
    machine::set_name(unsafe { CStr::from_ptr(name) }.to_bytes());
    type Own = extern "C" fn(pthread_t, *const libc::c_char) -> c_int;
    own!(c"pthread_setname_np", Own)(thread, name)
}
