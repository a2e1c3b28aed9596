//! After `fork` the child has one thread and no pool: its calls work anew, or say why not.
// The thread sanitizer ends a child that starts threads, as not supported.
#![cfg(all(unix, not(miri), not(tine_tsan)))]

#[path = "common/child.rs"]
mod child;

use child::{forked, sum};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;
use tine_pool::{ThreadPoolBuilder, current_thread_index, join, scope, spawn, spawn_async};

/// Everything that a program may do with the global pool.
fn use_global() {
    assert_eq!(current_thread_index(), None);
    assert_eq!(sum(0, 10_000), 49_995_000);
    let count = AtomicUsize::new(0);
    scope(|s| (0..100).for_each(|_| s.spawn(|_| ignore(count.fetch_add(1, SeqCst)))));
    assert_eq!(count.load(SeqCst), 100);
    let (send, receive) = mpsc::channel();
    spawn(move || send.send(5).unwrap());
    assert_eq!(receive.recv(), Ok(5));
    tine_pool::broadcast(|_| ());
    let jobs = tine_pool::Bounded::new(1);
    scope(|s| (0..10).for_each(|_| s.spawn_bounded(1, |_| jobs.spawn(use_nothing))));
    let both = tine_pool::select(spawn_async(|| 1), spawn_async(|| tine_pool::blocking(|| 2)));
    ignore(both.join());
}

/// A single test: before there is any pool, a child that starts threads with std may wait for ever for a thread
/// of the parent that was just beginning, such as a thread of another test.
#[test]
fn a_child_has_pools_of_its_own() {
    pools_in_a_child();
    // A thread that ends takes a lock of the address sanitizer, which a fork does not lock before and
    // after: a child in which a thread ends may wait for it for ever, also without tine.
    if !cfg!(tine_asan) {
        a_child_of_a_process_that_is_at_work();
    }
}

fn pools_in_a_child() {
    // Before there is any pool.
    assert_eq!(forked(use_global), 0);
    use_global();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(use_nothing);
    for _ in 0..5 {
        // Threads are at work while the process forks.
        (0..50).for_each(|_| spawn(|| ignore(sum(0, 1000))));
        assert_eq!(forked(use_global), 0);
        // A child of a child.
        let again = || {
            use_global();
            assert_eq!(forked(use_global), 0);
        };
        assert_eq!(forked(again), 0);
    }
    // A pool that the program built is gone, and says so.
    let own = || {
        let panic = catch_unwind(AssertUnwindSafe(|| pool.install(use_nothing))).unwrap_err();
        assert!(panic.downcast_ref::<&str>().unwrap().contains("`fork`"));
        catch_unwind(AssertUnwindSafe(|| pool.spawn(use_nothing))).unwrap_err();
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(use_nothing);
        pool.shutdown();
    };
    assert_eq!(forked(own), 0);
    // So do handles of its jobs, unless the job has ended. It can be looked at.
    let (send, receive) = mpsc::channel::<()>();
    let (ended, mut going) = (
        pool.spawn_join(|| 5),
        pool.spawn_join(move || receive.recv()),
    );
    while !ended.is_finished() {
        thread::yield_now();
    }
    let handles = AssertUnwindSafe(|| {
        assert!(pool.picture().contains("seat   0"));
        assert_eq!(ended.join().unwrap(), 5);
        let mut context = Context::from_waker(Waker::noop());
        let poll = || ignore(Pin::new(&mut going).poll(&mut context));
        catch_unwind(AssertUnwindSafe(poll)).unwrap_err();
        catch_unwind(AssertUnwindSafe(|| going.join())).unwrap_err();
    });
    assert_eq!(forked(handles.0), 0);
    drop(send);
    assert_eq!(forked(|| pool.install(use_nothing)), 1 << 8);
    // From inside a parallel call; the child leaves that call.
    let inside = || forked(use_global);
    assert_eq!(join(inside, || ()).0, 0);
    assert_eq!(pool.install(inside), 0);
    // Here everything is as before.
    pool.install(use_nothing);
    use_global();
    // Dropped in the child first, where it has no threads.
    let mut pool = Some(pool);
    assert_eq!(forked(|| drop(pool.take())), 0);
    let pool = pool.unwrap();
    assert_eq!(
        forked(|| drop(catch_unwind(
            AssertUnwindSafe(|| pool.current_num_threads())
        ))),
        0
    );
    pool.shutdown();
}

fn use_nothing() {}

fn ignore<T>(_: T) {}

/// A fork comes at any moment: while other threads make pools and end them, and so hold any of the locks. Among
/// them is the lock of std that each of its threads takes when it begins.
fn a_child_of_a_process_that_is_at_work() {
    let over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while !over.load(SeqCst) {
                    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                    pool.install(|| ());
                    pool.shutdown();
                }
            });
        }
        let children = catch_unwind(|| {
            for _ in 0..20 {
                assert_eq!(forked(use_global), 0);
            }
        });
        over.store(true, SeqCst);
        children.unwrap();
    });
}
