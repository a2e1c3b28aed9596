//! What the system refuses. It grants the barrier to readers, and refuses it to the first writer, because of a filter that
//! the program has set up in between. And it grants part of the memory that a map asks for. In separate processes, since
//! filters and limits stay.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom, tine_tsan, tine_sched))
))]

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::thread;
use tine_collections::ParHashMap;

const CHILD: &str = "TINE_REFUSED_BARRIER";

/// From here on `membarrier` fails in all threads of the process. Returns `false` if the system has no such
/// filters.
fn refuse() -> bool {
    let jump = |code: u32, if_so, if_not, k| libc::sock_filter {
        code: code as u16,
        jt: if_so,
        jf: if_not,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equals = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut filter = [
        jump(load, 0, 0, 0),
        jump(equals, 0, 1, libc::SYS_membarrier as u32),
        jump(answer, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        jump(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the call takes numbers only.
    let bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let (mode, all) = (
        libc::SECCOMP_SET_MODE_FILTER,
        libc::SECCOMP_FILTER_FLAG_TSYNC,
    );
    // SAFETY: the program lives across the call, which only reads it.
    let set = unsafe { libc::syscall(libc::SYS_seccomp, mode, all, &raw const program) };
    (bound, set) == (0, 0)
}

/// Whether the system has the barrier.
fn is_there() -> bool {
    const REGISTER: i32 = 1 << 4;
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, REGISTER, 0, 0) == 0 }
}

fn child() {
    let map = ParHashMap::from([(1, 1), (2, 2)]);
    // Reads need no locks from here on, if the system has the barrier at all.
    (0..300).for_each(|_| assert!(map.contains_key(&1)));
    let is_there = is_there();
    if !refuse() {
        return eprintln!("no filters here");
    }
    let write = catch_unwind(AssertUnwindSafe(|| map.insert(1, 7)));
    assert_eq!(write.is_err(), is_there);
    if let Err(panic) = write {
        let said = panic.downcast_ref::<&str>().expect("a text");
        assert!(said.contains("membarrier"), "{said}");
        // Nothing has changed, no lock is held, and others meet the same.
        thread::scope(|scope| {
            let other = scope.spawn(|| map.get_cloned(&1));
            assert_eq!(other.join().unwrap(), Some(1));
            let other = scope.spawn(|| map.insert(2, 7));
            assert!(other.join().is_err());
        });
        // A writer that only tries gives up.
        assert!(map.try_lock(&1).is_err());
        assert!(map.try_lock_entry(3).is_err());
        assert_eq!(
            map.try_get(&1).map(|guard| guard.as_deref().copied()),
            Ok(Some(1))
        );
        assert_eq!(map.into_iter().map(|(_, value)| value).sum::<i32>(), 3);
    }
    // Maps that were not read so often, and new ones, do without.
    let map = ParHashMap::from([(1, 1)]);
    for round in 1..10 {
        (0..300).for_each(|_| assert_eq!(map.get_cloned(&1), Some(round)));
        map.insert(1, round + 1);
    }
}

#[test]
fn a_barrier_that_is_refused_is_said() {
    if env::var_os(CHILD).is_some() {
        return child();
    }
    run_again("a_barrier_that_is_refused_is_said");
}

/// Runs this test in a process of its own.
fn run_again(test: &str) {
    let me = env::current_exe().unwrap();
    let child = Command::new(me)
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(said.contains("1 passed"), "no such test: {test}");
}

/// The process may use this many more bytes.
fn allow(bytes: usize) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
    // SAFETY: the call takes a number only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let limit = libc::rlimit {
        rlim_cur: (pages * page + bytes) as libc::rlim_t,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: reads the limit, which lives across the call.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(failed, 0);
}

/// Room for 12 million entries takes 285 MB, of which the process gets a part. (The allocator of a thread has up to 64 MB beforehand.)
fn child_without_memory() {
    const MANY: usize = 12_000_000;
    let make = |len: u64| {
        let map = ParHashMap::<u64, u64>::new();
        (0..len).for_each(|n| _ = map.insert(n, n));
        map
    };
    let (mut few, mut many) = (make(1_500), make(10_000));
    let capacities = (few.capacity(), many.capacity());
    allow(150 << 20);
    for map in [&mut few, &mut many] {
        let refused = map.try_reserve(MANY).unwrap_err();
        assert_eq!(refused.to_string(), "the system refused the memory");
    }
    // Not even a part of it was taken.
    assert_eq!((few.capacity(), many.capacity()), capacities);
    let made = catch_unwind(|| ParHashMap::<u64, u64>::with_capacity(MANY));
    assert!(made.is_err());
    few.try_reserve(MANY / 10).unwrap();
    many.try_reserve(MANY / 10).unwrap();
}

#[test]
#[cfg(not(tine_asan))]
fn memory_that_is_refused_is_said() {
    if env::var_os(CHILD).is_some() {
        return child_without_memory();
    }
    run_again("memory_that_is_refused_is_said");
}
