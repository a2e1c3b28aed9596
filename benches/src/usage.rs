//! What this process has used, as the system reports it: CPU time, memory, threads' time.

use std::{fs, time::Duration};

fn clock(id: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of this frame, which the call fills.
    let failed = unsafe { libc::clock_gettime(id, &mut time) };
    assert_eq!(failed, 0, "this system does not count CPU time");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time of all threads of this process, user and system.
pub fn process_cpu() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of the calling thread.
pub fn thread_cpu() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The most memory this process ever held resident, in bytes.
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a Linux process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("VmHWM in kB") * 1024
}
