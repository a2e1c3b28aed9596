//! Every peer computes what the sequential loop computes, on two threads and on
//! many: a benchmark of a wrong answer measures nothing.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::{thread, time::Duration};
use tine_bench::peers::{Chili, Forte, Peer, Rayon, Sequential, Spawns, Tine};
use tine_bench::workloads::{
    nested::nested,
    search::nodes,
    tree::{fib, tree},
};

fn agrees<P: Peer>() {
    assert!(P::start(2));
    for depth in 0..12 {
        assert_eq!(
            P::enter(|cx| tree::<P>(cx, depth)),
            1 << depth,
            "{}",
            P::NAME
        );
    }
    assert_eq!(P::enter(|cx| fib::<P>(cx, 20)), 6_765);
    assert_eq!(nodes::<P>(), nodes::<Sequential>());
    assert_eq!(nested::<P>(30), nested::<Sequential>(30));
    assert_eq!(P::call(|_| 1, |_| "two"), (1, "two"));
}

fn spawns_all<P: Spawns>() {
    assert!(P::start(2));
    let ran = AtomicUsize::new(0);
    P::spawn_each(10_000, || {
        ran.fetch_add(1, Relaxed);
    });
    assert_eq!(ran.into_inner(), 10_000);
}

/// Runs `test` on a thread of its own and fails if it is not through in time.
fn bounded(test: fn()) {
    let (done, wait) = channel();
    thread::spawn(move || {
        test();
        done.send(()).expect("the caller waits");
    });
    wait.recv_timeout(Duration::from_secs(60))
        .expect("the peer fails, or does not come back");
}

#[test]
fn tine_agrees() {
    bounded(agrees::<Tine>);
    bounded(spawns_all::<Tine>);
}

#[test]
fn rayon_agrees() {
    bounded(agrees::<Rayon>);
    bounded(spawns_all::<Rayon>);
}

#[test]
fn chili_agrees() {
    bounded(agrees::<Chili>);
}

#[test]
fn forte_agrees() {
    bounded(agrees::<Forte>);
    bounded(spawns_all::<Forte>);
}
