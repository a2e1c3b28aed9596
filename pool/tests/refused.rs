//! What becomes of a pool when the system refuses it threads. Each test runs again as a child process that may
//! have only a few: as a separate unprivileged user, under `RLIMIT_NPROC`, which does not bind privileged
//! users.
//!
//! Not under the thread sanitizer, which has its own thread and ends the process when a thread is refused.
#![cfg(all(target_os = "linux", not(tine_tsan)))]

mod common;

use common::{Watch, ignore};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::{StaticPool, ThreadPoolBuilder, join};

const CHILD: &str = "TINE_TEST_MAY_HAVE";

/// The frame of each of these tests: `body` runs in a child process that may start `more` threads.
fn with_threads(test: &str, more: u32, body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        let watch = Watch::new("a child that is refused threads");
        // The watchdog counts as well.
        restrict(more);
        body();
        drop(watch);
        return;
    }
    let child = child(test, more).output().unwrap();
    let said = [child.stdout, child.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(child.status.success(), "{}{}", said[0], said[1]);
    assert!(said[0].contains("1 passed"), "no such test: {test}");
}

/// The process in which the test runs again.
fn child(test: &str, more: u32) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, more.to_string())
        .env("TINE_NUM_THREADS", "4")
        // The address sanitizer's own look for leaks wants a thread.
        .env("ASAN_OPTIONS", "detect_leaks=0");
    child
}

/// From now on the process may start this many more threads.
fn restrict(more: u32) {
    // A user that runs nothing else on this machine, so that only these threads count. The raw call
    // affects only the calling thread, which starts the others.
    let user = 0x4000_0000 + std::process::id();
    // SAFETY: takes numbers and touches no memory.
    let privileged = unsafe { libc::geteuid() } == 0;
    if privileged {
        // SAFETY: as above.
        let failed = unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) };
        assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    }
    // Only this thread is of the new user; an ordinary user's other processes count.
    let most = if privileged { 1 } else { threads_of_user() } + more;
    let limit = libc::rlimit {
        rlim_cur: most.into(),
        rlim_max: most.into(),
    };
    // SAFETY: reads the limit.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &limit) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    let (hold, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    // Checks the limit: as many threads as allowed can be started, and no more.
    thread::scope(|s| {
        let start = || {
            let block = || ignore(held.lock().unwrap().recv());
            thread::Builder::new().spawn_scoped(s, block).is_ok()
        };
        let started = (0..=more).take_while(|_| start()).count();
        drop(hold);
        assert_eq!(started, more as usize, "the limit does not hold");
    });
    // The system counts a thread until it is completely gone.
    until_gone();
}

/// Waits until no thread is left but this one and the test's own two.
fn until_gone() {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    common::until(|| threads() <= 3);
    thread::sleep(Duration::from_millis(5));
}

/// The number of threads of the calling user in the whole system.
fn threads_of_user() -> u32 {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: takes nothing and touches no memory.
    let me = unsafe { libc::getuid() };
    let mut count = 0;
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let own = process.metadata().is_ok_and(|m| m.uid() == me);
        if let (true, Ok(tasks)) = (own, std::fs::read_dir(process.path().join("task"))) {
            count += tasks.count() as u32;
        }
    }
    count
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Every verb on the global pool.
fn all_free_verbs(seats: usize) {
    assert_eq!(tine_pool::current_num_threads(), seats);
    for _ in 0..20 {
        assert_eq!(fib(12), 144);
        let count = AtomicUsize::new(0);
        let one = || ignore(count.fetch_add(1, SeqCst));
        tine_pool::scope(|s| {
            (0..10).for_each(|_| s.spawn(|s| s.spawn(|_| one())));
            s.spawn_broadcast(|_, _| one());
        });
        tine_pool::scope_fifo(|s| (0..10).for_each(|_| s.spawn_fifo(|_| one())));
        tine_pool::in_place_scope(|s| {
            (0..10).for_each(|_| s.spawn(|_| one()));
            s.spawn_broadcast(|_, _| one());
        });
        assert_eq!(count.into_inner(), 30 + 2 * seats);
        assert!(tine_pool::broadcast(|c| c.index()).into_iter().eq(0..seats));
        let inside = || tine_pool::broadcast(|c| c.index()).len();
        assert_eq!(join(inside, inside), (seats, seats));
        let (send, receive) = mpsc::channel();
        let sender = || {
            let send = send.clone();
            move || send.send(()).unwrap()
        };
        tine_pool::spawn(sender());
        tine_pool::spawn_fifo(sender());
        tine_pool::spawn_many([sender(), sender()]);
        let (inner, other) = (sender(), sender());
        tine_pool::spawn(move || {
            tine_pool::spawn(inner);
            other();
        });
        let all = sender();
        tine_pool::spawn_broadcast(move |_| all());
        for _ in 0..6 + seats {
            receive.recv_timeout(Duration::from_secs(50)).unwrap();
        }
        assert!(receive.try_recv().is_err());
        assert_eq!(tine_pool::spawn_join(|| fib(8)).join().unwrap(), 21);
    }
}

/// Every verb of a pool.
fn all_verbs_of(pool: &StaticPool, seats: usize) {
    assert_eq!(pool.current_num_threads(), seats);
    for _ in 0..20 {
        assert_eq!(pool.install(|| fib(12)), 144);
        assert_eq!(pool.join(|| fib(5), || fib(6)), (5, 8));
        let count = AtomicUsize::new(0);
        let one = || ignore(count.fetch_add(1, SeqCst));
        pool.scope(|s| (0..10).for_each(|_| s.spawn(|s| s.spawn(|_| one()))));
        pool.in_place_scope_fifo(|s| {
            (0..10).for_each(|_| s.spawn_fifo(|_| one()));
            s.spawn_broadcast(|_, _| one());
        });
        assert_eq!(count.into_inner(), 20 + seats);
        assert!(pool.broadcast(|c| c.index()).into_iter().eq(0..seats));
        assert_eq!(pool.install(|| tine_pool::broadcast(|_| ()).len()), seats);
        let (send, receive) = mpsc::channel();
        let (spawned, all) = (send.clone(), send);
        pool.spawn(move || spawned.send(()).unwrap());
        pool.spawn_broadcast(move |_| all.send(()).unwrap());
        for _ in 0..1 + seats {
            receive.recv_timeout(Duration::from_secs(50)).unwrap();
        }
        assert!(receive.recv().is_err(), "a closure was not dropped");
    }
}

/// As many ordinary threads as are allowed call it at the same time.
fn from_several_threads(threads: usize, run: impl Fn() + Sync) {
    thread::scope(|s| {
        (0..threads).for_each(|_| ignore(s.spawn(&run)));
        run();
    });
    until_gone();
}

#[test]
fn guests_alone_do_everything() {
    with_threads("guests_alone_do_everything", 0, || {
        all_free_verbs(4);
        let stats = tine_pool::stats().unwrap();
        assert_eq!(stats.refused_threads, 4);
        assert!(stats.total().guests > 0);
        // A spawned job has been run when `spawn` returns: no other thread could.
        let (send, receive) = mpsc::channel();
        tine_pool::spawn(move || send.send(thread::current().id()).unwrap());
        assert_eq!(receive.try_recv(), Ok(thread::current().id()));
    });
}

#[test]
fn several_guests_alone_do_everything() {
    with_threads("several_guests_alone_do_everything", 3, || {
        let barrier = std::sync::Barrier::new(4);
        // The pool is made, and refused its threads, while all that are allowed are there.
        from_several_threads(3, || {
            barrier.wait();
            all_free_verbs(4);
            barrier.wait();
        });
        assert_eq!(tine_pool::stats().unwrap().refused_threads, 4);
    });
}

#[test]
fn a_smaller_global_pool_does_everything() {
    with_threads("a_smaller_global_pool_does_everything", 2, || {
        all_free_verbs(4);
        assert_eq!(tine_pool::stats().unwrap().refused_threads, 2);
    });
}

#[test]
fn a_static_pool_without_threads_does_everything() {
    static POOL: StaticPool = StaticPool::new(3);
    with_threads("a_static_pool_without_threads_does_everything", 0, || {
        all_verbs_of(&POOL, 3);
        assert_eq!(POOL.stats().refused_threads, 3);
    });
}

#[test]
fn a_smaller_static_pool_does_everything() {
    static POOL: StaticPool = StaticPool::new(3);
    with_threads("a_smaller_static_pool_does_everything", 1, || {
        all_verbs_of(&POOL, 3);
        assert_eq!(POOL.stats().refused_threads, 2);
    });
}

#[test]
fn several_threads_share_a_static_pool_without_threads() {
    static POOL: StaticPool = StaticPool::new(2);
    with_threads(
        "several_threads_share_a_static_pool_without_threads",
        3,
        || {
            let barrier = std::sync::Barrier::new(4);
            from_several_threads(3, || {
                barrier.wait();
                all_verbs_of(&POOL, 2);
                barrier.wait();
            });
            assert_eq!(POOL.stats().refused_threads, 2);
        },
    );
}

/// The caller reads the letters to threads that are not there. It does so when all other threads have theirs,
/// and are awake: its first closure waits for them. (Two threads, since the looker comes without a call.)
#[test]
fn a_broadcast_wakes_all_before_its_caller_reads() {
    static POOL: StaticPool = StaticPool::new(4);
    with_threads("a_broadcast_wakes_all_before_its_caller_reads", 2, || {
        let caller = thread::current().id();
        for _ in 0..20 {
            let (meet, read) = (std::sync::Barrier::new(3), AtomicUsize::new(0));
            let there = POOL.broadcast(|_| {
                let there = thread::current().id() != caller;
                if there || read.fetch_add(1, SeqCst) == 0 {
                    meet.wait();
                }
                there
            });
            assert_eq!(there.iter().filter(|there| **there).count(), 2);
            // The threads go to sleep.
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(POOL.stats().refused_threads, 2);
    });
}

/// The only thread of the pool waits for a lock. A caller that holds the lock gets a spare thread, though a
/// seat is free: no thread will ever sit there.
#[test]
fn a_smaller_pool_whose_threads_are_all_blocked_gets_a_spare_one() {
    static POOL: StaticPool = StaticPool::new(2);
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    with_threads(
        "a_smaller_pool_whose_threads_are_all_blocked_gets_a_spare_one",
        2,
        || {
            // While the pool starts its threads, only one may be started.
            let (leave, stay) = mpsc::channel::<()>();
            let other = thread::spawn(move || ignore(stay.recv()));
            assert_eq!(POOL.broadcast(|_| ()).len(), 2);
            assert_eq!(POOL.stats().refused_threads, 1);
            drop(leave);
            other.join().unwrap();
            thread::sleep(Duration::from_millis(50));
            for _ in 0..3 {
                let held = LOCK.lock().unwrap();
                let (tell, told) = mpsc::channel();
                let job = POOL.spawn_join(move || {
                    tell.send(()).unwrap();
                    drop(LOCK.lock().unwrap());
                });
                told.recv().unwrap();
                assert_eq!(POOL.install(|| fib(5)), 5);
                drop(held);
                // The thread is free again: a lock is not handed to the thread that has waited longest.
                job.join().unwrap();
            }
        },
    );
}

#[test]
fn a_pool_that_cannot_be_built_leaves_nothing_behind() {
    with_threads(
        "a_pool_that_cannot_be_built_leaves_nothing_behind",
        3,
        || {
            for _ in 0..20 {
                let (alive, count) = mpsc::channel::<()>();
                let build = ThreadPoolBuilder::new().num_threads(8);
                let result = build.start_handler(move |_| ignore(alive.clone())).build();
                let error = result.unwrap_err();
                assert!(std::error::Error::source(&error).is_some(), "{error}");
                // Disconnected: all that the pool had is dropped, so its threads are gone.
                assert_eq!(count.recv(), Err(mpsc::RecvError));
                until_gone();
            }
            let global = ThreadPoolBuilder::new().num_threads(8).build_global();
            assert!(global.is_err());
            until_gone();
            // Which leaves the global pool to be made, and the threads to be had.
            let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert_eq!(pool.broadcast(|c| c.index()), [0, 1, 2]);
            pool.shutdown();
            until_gone();
            ThreadPoolBuilder::new()
                .num_threads(2)
                .build_global()
                .unwrap();
            assert_eq!(fib(12), 144);
        },
    );
}

/// A guest has the only seat, so the sender, which is no worker there, reads its letter itself. The panic there
/// concerns the pool and not the sender: that thread may at the same time send what lies on its stack.
#[test]
fn a_letter_that_its_sender_reads_panics_into_the_pool() {
    static POOL: StaticPool = StaticPool::new(1);
    const TEST: &str = "a_letter_that_its_sender_reads_panics_into_the_pool";
    let body = || {
        let (sit, sits) = mpsc::channel();
        let (leave, stay) = mpsc::channel::<()>();
        thread::scope(|s| {
            s.spawn(move || {
                POOL.install(move || {
                    sit.send(()).unwrap();
                    ignore(stay.recv());
                });
            });
            sits.recv().unwrap();
            assert_eq!(POOL.stats().refused_threads, 1);
            let send = || POOL.spawn_broadcast(|_| std::panic::resume_unwind(Box::new(())));
            let sent = std::panic::catch_unwind(send);
            eprintln!("the sender goes on: {}", sent.is_ok());
            drop(leave);
        });
    };
    if std::env::var_os(CHILD).is_some() {
        return with_threads(TEST, 1, body);
    }
    // The pool has no handler, and so the process ends.
    let child = child(TEST, 1).output().unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(
        !child.status.success() && !said.contains("goes on"),
        "{said}"
    );
    assert!(said.contains("no panic handler was set"), "{said}");
}

/// From now on the system refuses this process the barrier for all threads, as some sandboxes do.
#[cfg(target_arch = "x86_64")]
fn refuse_barriers() {
    let code = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the call.
        code((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0, 0),
        code(
            (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            0,
            1,
            libc::SYS_membarrier as u32,
        ),
        code((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, refuse),
        code(
            (libc::BPF_RET | libc::BPF_K) as u16,
            0,
            0,
            libc::SECCOMP_RET_ALLOW,
        ),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: takes numbers.
    let failed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    let filter = libc::PR_SET_SECCOMP;
    // SAFETY: reads the program, which lives as long as this frame.
    let failed = unsafe { libc::prctl(filter, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
}

/// Without the barrier no thread can publish what a stuck owner has left private. So nothing is left private
/// that another thread may wait for, also at a site that is known to be short.
#[test]
#[cfg(target_arch = "x86_64")]
fn halves_may_wait_for_each_other_where_barriers_are_refused() {
    with_threads(
        "halves_may_wait_for_each_other_where_barriers_are_refused",
        8,
        || {
            refuse_barriers();
            // Asked once, it is known.
            assert!(!tine_pool::loops::barrier_everywhere());
            let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            // One site for both.
            let both = |wait: bool| {
                let (tell, told) = mpsc::channel();
                join(
                    move || ignore(!wait || told.recv().is_ok()),
                    move || ignore(tell.send(())),
                )
            };
            for _ in 0..200 {
                pool.install(|| (0..100).for_each(|_| ignore(both(false))));
                pool.install(|| both(true));
            }
            // Nor is a longer one kept to its thread, to see what it takes there.
            let work = || {
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_micros(5) {}
            };
            for call in 1..2_000 {
                let begun = AtomicUsize::new(0);
                let first = || {
                    while call % 7 == 0 && begun.load(SeqCst) == 0 {
                        thread::yield_now();
                    }
                    work();
                };
                let second = || {
                    begun.store(1, SeqCst);
                    work();
                };
                pool.install(|| join(first, second));
            }
        },
    );
}
