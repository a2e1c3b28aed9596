//! What the computed machine reports about itself: how many processors it has, and which one this is.

use super::machine;
use libc::{c_int, cpu_set_t, pid_t, size_t};

/// All processors of the machine.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_getaffinity(_: pid_t, size: size_t, set: *mut cpu_set_t) -> c_int {
    let cores = machine::cores().unwrap_or(1);
    let bytes = set.cast::<u8>();
    for i in 0..size {
        let left = cores.saturating_sub(i * 8).min(8);
        let byte = ((1_u32 << left) - 1) as u8;
        // SAFETY: a duty of the caller.
        unsafe { bytes.wrapping_add(i).write(byte) };
    }
    0
}

/// Does nothing: threads run where the machine's scheduler puts them.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_setaffinity(_: pid_t, _: size_t, _: *const cpu_set_t) -> c_int {
    0
}

/// The core of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn sched_getcpu() -> c_int {
    machine::core().unwrap_or(0) as c_int
}
