//! A pool without work uses no processor time. The bounds mean "far below one core": a thread that spins, or is
//! woken all the time without need, exceeds them by far.
#![cfg(unix)]

use std::thread;
use std::time::Duration;
use tine_pool::ThreadPoolBuilder;

/// Far below one core, in hundredths.
const LOW: u128 = 20;

/// The processor time that this process has used so far.
fn used() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a place for the answer.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(failed, 0);
    // SAFETY: zeroed, then filled.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Processor time in 200 ms in which `rest` leaves the pool alone, in hundredths. A few tries, until one of
/// them is low: other things go on in the process, such as threads that start.
fn share(rest: impl Fn(Duration)) -> u128 {
    const SPAN: Duration = Duration::from_millis(200);
    let one = |_| {
        let before = used();
        rest(SPAN);
        (used() - before).as_micros() * 100 / SPAN.as_micros()
    };
    let mut tries = (0..5).map(one);
    tries.find(|share| *share < LOW).unwrap_or(100)
}

// One test, as all the process is measured.
#[test]
fn a_pool_without_work_is_quiet() {
    for size in [1, 2, 16] {
        let pool = ThreadPoolBuilder::new().num_threads(size).build().unwrap();
        pool.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
        assert!(share(thread::sleep) < LOW, "{size} idle threads are busy");
        // One of them asleep in a job: the others have no work either.
        let asleep = share(|span| pool.install(|| thread::sleep(span)));
        assert!(
            asleep < LOW,
            "{size} threads are busy beside a sleeping job"
        );
        // A thread that waits for the other half of a join.
        let waiting = share(|span| {
            pool.join(|| (), || thread::sleep(span));
        });
        assert!(waiting < LOW, "{size} threads are busy while one waits");
    }
    // Guests, and the global pool after them.
    tine_pool::join(|| (), || ());
    assert!(share(thread::sleep) < LOW);
    assert!(share(|span| ignore(tine_pool::join(|| thread::sleep(span), || ()))) < LOW);
}

fn ignore<T>(_: T) {}
