//! Every verb of the pool once, so small that an interpreter of Rust can run it: what Miri sees
//! of the memory model no other test can. See `tests/miri.sh`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tine_pool::{StopToken, ThreadPool, ThreadPoolBuilder, scope_with, with_token};

/// The number of threads of all pools.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(|_| add(&ALIVE))
        .exit_handler(|_| {
            ALIVE.fetch_sub(1, Relaxed);
        })
        .build()
        .expect("threads")
}

fn add(ran: &AtomicUsize) {
    ran.fetch_add(1, Relaxed);
}

fn tree(depth: usize) -> usize {
    if depth == 0 {
        return 1;
    }
    let here = Box::new(1);
    let (a, b) = tine_pool::join(|| tree(depth - 1), || tree(depth - 1) + *here);
    a + b
}

#[test]
fn join_from_outside() {
    assert_eq!(pool(2).join(|| 1, || 2), (1, 2));
}

#[test]
fn install_from_outside() {
    let pool = pool(2);
    for _ in 0..3 {
        assert_eq!(pool.install(|| tree(3)), 15);
    }
}

#[test]
fn scope_from_outside() {
    let mut parts = vec![Box::new(0); 8];
    pool(2).scope(|s| {
        for (i, part) in parts.iter_mut().enumerate() {
            s.spawn(move |s| s.spawn(move |_| **part = i));
        }
    });
    assert!(parts.iter().enumerate().all(|(i, part)| **part == i));
}

/// Threads other than the owner run several tasks of a scope in a row, and keep their counts.
#[test]
fn scope_whose_tasks_spawn() {
    fn grow<'s>(scope: &tine_pool::Scope<'s>, ran: &'s AtomicUsize, depth: usize) {
        add(ran);
        if depth > 0 {
            scope.spawn(move |scope| grow(scope, ran, depth - 1));
            scope.spawn(move |scope| grow(scope, ran, depth - 1));
            tine_pool::scope(|inner| inner.spawn(|_| scope.spawn(|_| add(ran))));
        }
    }
    let pool = pool(3);
    for _ in 0..2 {
        let ran = AtomicUsize::new(0);
        // Inside the pool: otherwise scopes within scopes would belong to the global pool.
        pool.in_place_scope(|scope| scope.spawn(|scope| grow(scope, &ran, 3)));
        assert_eq!(ran.into_inner(), 15 + 7);
    }
}

#[test]
fn scope_fifo_from_outside() {
    let mut parts = vec![Box::new(0); 8];
    pool(2).scope_fifo(|s| {
        for (i, part) in parts.iter_mut().enumerate() {
            s.spawn_fifo(move |s| s.spawn_fifo(move |_| **part = i));
        }
    });
    assert!(parts.iter().enumerate().all(|(i, part)| **part == i));
}

#[test]
fn scope_in_place() {
    let (ran, pool) = (AtomicUsize::new(0), pool(2));
    pool.in_place_scope(|s| (0..4).for_each(|_| s.spawn(|_| add(&ran))));
    pool.in_place_scope_fifo(|s| (0..4).for_each(|_| s.spawn_fifo(|_| add(&ran))));
    assert_eq!(ran.into_inner(), 8);
}

#[test]
fn scope_broadcast() {
    let (ran, pool) = (AtomicUsize::new(0), pool(2));
    pool.scope(|s| s.spawn_broadcast(|_, _| add(&ran)));
    pool.scope_fifo(|s| s.spawn_broadcast(|_, _| add(&ran)));
    assert_eq!(ran.into_inner(), 4);
}

#[test]
fn broadcasts() {
    let pool = pool(2);
    let here = Box::new(3);
    assert_eq!(pool.broadcast(|c| c.index() + *here), [3, 4]);
    let (send, receive) = std::sync::mpsc::channel();
    pool.spawn_broadcast(move |c| send.send(c.index()).unwrap());
    let mut indices: Vec<_> = receive.iter().collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn spawns_of_all_kinds() {
    let (send, receive) = mpsc::channel();
    let two = pool(2);
    let say = |n: usize| {
        let (send, n) = (send.clone(), Box::new(n));
        move || send.send(*n).unwrap()
    };
    two.spawn(say(0));
    two.spawn_fifo(say(1));
    two.spawn_many((2..5).map(say));
    let inner = say(5);
    two.spawn(move || tine_pool::spawn(inner));
    let (last, first) = (say(7), say(6));
    two.spawn(move || {
        tine_pool::spawn_fifo(first);
        tine_pool::spawn_many([last]);
    });
    drop(send);
    let mut seen: Vec<_> = receive.iter().collect();
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
    two.shutdown();
}

#[test]
fn handles() {
    let two = pool(2);
    // A task's result may have been part of the task.
    let kept: &'static mut [usize] = Box::leak(vec![1, 2, 3].into_boxed_slice());
    let given = two.spawn_join(move || kept).join().unwrap();
    given[1] = 7;
    // SAFETY: leaked above, and this is the only reference to it.
    drop(unsafe { Box::from_raw(given) });
    assert!(two.spawn_join(|| panic!("as planned")).join().is_err());
    let nested = two.spawn_join(|| tine_pool::spawn_join(|| tree(2)).join().unwrap());
    assert_eq!(nested.join().unwrap(), 7);
    two.spawn_join(|| ()).cancel();
    two.spawn_join(|| ()).detach();
}

/// Tokens around joins, scopes and handles: an ended job drops what it held, once.
#[test]
fn tokens() {
    let counter = Arc::new(());
    let two = pool(2);
    let token = StopToken::new();
    let child = token.child();
    let ended = two.install(|| {
        with_token(&child, || {
            let held = Box::new(Arc::clone(&counter));
            for round in 0.. {
                let (a, b) = (Arc::clone(&counter), Arc::clone(&held));
                tine_pool::join(|| drop(a), || tree(1) + Arc::strong_count(&b));
                if round == 2 {
                    token.stop();
                }
            }
        })
    });
    assert!(ended.is_err());
    assert_eq!(Arc::strong_count(&counter), 1);

    let token = StopToken::new();
    let ended = two.install(|| {
        scope_with(&token, |s| {
            for part in 0..6 {
                let (counter, token) = (Arc::clone(&counter), &token);
                s.spawn(move |_| {
                    if part == 2 {
                        token.stop();
                    }
                    drop(counter);
                });
            }
        })
    });
    assert!(ended.is_err() || token.is_stopped());
    assert_eq!(Arc::strong_count(&counter), 1);
    let late = StopToken::new().with_timeout(Duration::from_nanos(1));
    assert!(with_token(&late, || two.install(|| tree(1))).is_err());
}

#[test]
fn panics_pass() {
    let two = pool(2);
    let all = Arc::new(());
    let held = || Arc::clone(&all);
    let caught = |f: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
    caught(&|| {
        let (a, b) = (held(), held());
        two.join(
            move || drop(a),
            move || panic!("as planned {}", Arc::strong_count(&b)),
        );
    });
    caught(&|| {
        let (a, b) = (held(), held());
        two.join(
            move || panic!("as planned {}", Arc::strong_count(&a)),
            move || b,
        );
    });
    caught(&|| {
        two.scope(|s| {
            let a = held();
            s.spawn(|_| panic!("as planned"));
            s.spawn(move |_| drop(a));
        });
    });
    caught(&|| two.install(|| panic!("as planned")));
    caught(&|| drop(two.broadcast(|c| assert!(c.index() == 0, "as planned"))));
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn pools_in_pools() {
    let (outer, inner) = (pool(2), pool(1));
    let sum = outer.install(|| {
        let (a, b) = tine_pool::join(|| inner.install(|| tree(2)), || tree(2));
        let c = inner.join(|| outer.install(|| tree(1)), || 1);
        a + b + c.0 + c.1
    });
    assert_eq!(sum, 7 + 7 + 3 + 1);
}

#[test]
fn who_blocks_is_replaced() {
    let one = pool(1);
    let (send, receive) = mpsc::channel();
    let got = one.install(move || {
        tine_pool::spawn(move || send.send(Box::new(5)).unwrap());
        tine_pool::blocking(|| *receive.recv().unwrap())
    });
    assert_eq!(got, 5);
}

#[test]
fn several_guests_at_once() {
    let two = pool(2);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| assert_eq!(two.install(|| tree(2)), 7));
        }
    });
    assert_eq!(
        two.scope(|s| {
            s.spawn(|_| ());
            tree(2)
        }),
        7
    );
}

#[test]
fn many_tasks() {
    let (ran, two) = (AtomicUsize::new(0), pool(2));
    // More than the first buffer of a deque holds.
    two.scope(|s| (0..100).for_each(|_| s.spawn(|_| add(&ran))));
    assert_eq!(ran.into_inner(), 100);
}

/// A job lies where another job lay that a producer still takes for the newest in the queue.
#[test]
fn addresses_come_again() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    static PUSHED: AtomicUsize = AtomicUsize::new(0);
    static RAN: AtomicUsize = AtomicUsize::new(0);
    static BUSY: AtomicUsize = AtomicUsize::new(0);
    static FREED: AtomicUsize = AtomicUsize::new(0);

    fn wait(count: &AtomicUsize, order: std::sync::atomic::Ordering, least: usize) {
        while count.load(order) < least {
            thread::yield_now();
        }
    }

    let one = pool(1);
    let large = |n: usize| {
        let body = [n; 40];
        one.spawn(move || {
            std::hint::black_box(&body);
            RAN.fetch_add(1, SeqCst);
        });
    };
    let rounds = if cfg!(miri) { 40 } else { 500 };
    thread::scope(|s| {
        s.spawn(|| {
            for n in 1..=rounds {
                // Relaxed: nothing that the other thread has done is known here.
                wait(&ASKED, Relaxed, n);
                one.spawn(|| add(&RAN));
                PUSHED.store(n, Relaxed);
            }
        });
        for n in 1..=rounds {
            large(n);
            wait(&RAN, SeqCst, 3 * n - 2);
            one.spawn(move || {
                BUSY.store(n, SeqCst);
                wait(&FREED, SeqCst, n);
            });
            wait(&BUSY, SeqCst, n);
            // While the pool's thread is busy, this one stays in the queue. It may lie where the first one lay.
            large(n);
            ASKED.store(n, Relaxed);
            wait(&PUSHED, Relaxed, n);
            FREED.store(n, SeqCst);
            wait(&RAN, SeqCst, 3 * n);
        }
    });
}

/// Its name makes it the last. A pool that is dropped does not wait for its threads, but under Miri the program
/// must not end before them.
#[test]
fn z_threads_end() {
    // Without Miri, other tests of this file may run at the same time, and take their time.
    let (step, most) = if cfg!(miri) { (1000, 60) } else { (10, 6000) };
    let step = Duration::from_millis(step);
    let gone = |_: &usize| {
        thread::sleep(step);
        ALIVE.load(Relaxed) == 0
    };
    assert!((0..most).find(gone).is_some(), "threads are left");
    // What is left to do for a thread after its exit handler.
    thread::sleep(10 * step);
}
