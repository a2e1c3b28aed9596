//! Every verb of the pool once, so small that an interpreter of Rust can run it: what Miri sees
//! of the memory model no other test can. See `tests/miri.sh`.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tine_pool::{ThreadPool, ThreadPoolBuilder};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
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
