//! Rows that mix features, and rows of features that no other file has: scopes in scopes and in loops, loops in
//! joins and in `flat_map`, tokens, handles, broadcasts, a pipeline.

use crate::machine::{AtomicUsize, work};
#[cfg(not(lab_rayon))]
use crate::rows::tree;
use crate::rows::{Padded, Setup, each, numbers, sum};
#[cfg(lab_rayon)]
use rayon::{broadcast, join, prelude::*, scope};
use std::sync::atomic::Ordering::Relaxed;
#[cfg(not(lab_rayon))]
use tine_iter::prelude::*;
#[cfg(not(lab_rayon))]
use tine_pool::{JoinHandle, StopToken, broadcast, join, scope, spawn_join, with_token};

/// A task: returns 1 after this many nanoseconds of work.
fn task(nanos: u64) -> u64 {
    work(nanos);
    1
}

/// The tree of `join-…`, each node a scope with one task.
fn scoped(leaves: usize, nanos: u64) -> u64 {
    if leaves == 1 {
        return task(nanos);
    }
    let (mut a, mut b) = (0, 0);
    scope(|s| {
        s.spawn(|_| a = scoped(leaves / 2, nanos));
        b = scoped(leaves / 2, nanos);
    });
    a + b
}

pub(crate) fn scopes(s: &Setup, name: &str) {
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(leaves as u64 * nanos);
    s.warm_and_cold(name, leaves as u64, ideal, || scoped(leaves, nanos));
}

/// A scope with this many tasks.
pub(crate) fn scope_of(tasks: usize, nanos: u64) -> u64 {
    let done: Vec<_> = (0..tasks).map(|_| Padded(AtomicUsize::new(0))).collect();
    scope(|s| {
        for done in &done {
            s.spawn(move |_| {
                work(nanos);
                done.0.store(1, Relaxed);
            });
        }
    });
    sum(&done)
}

/// 1,000 loops of items, each in an item of `flat_map`.
pub(crate) fn flat(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(1000 * items as u64 * nanos);
    let op = || {
        let inner = |_| (0..items).into_par_iter().map(move |_| task(nanos));
        (0..1000).into_par_iter().flat_map(inner).sum()
    };
    s.warm_and_cold(name, 1000 * items as u64, ideal, op);
}

/// A tree of joins whose leaves are loops of 100 items.
pub(crate) fn leaves(s: &Setup, name: &str) {
    fn tree(leaves: usize, nanos: u64) -> u64 {
        if leaves == 1 {
            return each(100, nanos);
        }
        let (a, b) = join(|| tree(leaves / 2, nanos), || tree(leaves / 2, nanos));
        a + b
    }
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(100 * leaves as u64 * nanos);
    s.warm_and_cold(name, 100 * leaves as u64, ideal, || tree(leaves, nanos));
}

#[cfg(not(lab_rayon))]
fn result(handle: JoinHandle<u64>) -> u64 {
    handle.join().expect("a task that does not panic")
}

/// Spawns tasks and waits for them, one after the other.
#[cfg(not(lab_rayon))]
pub(crate) fn tasks_of(tasks: usize, nanos: u64) -> u64 {
    let all: Vec<_> = (0..tasks)
        .map(|_| spawn_join(move || task(nanos)))
        .collect();
    all.into_iter().map(result).sum()
}

/// One ordinary thread does so.
#[cfg(not(lab_rayon))]
pub(crate) fn handles(s: &Setup, name: &str) {
    let (tasks, nanos) = numbers(name);
    s.warm_and_cold(name, tasks as u64, s.share(tasks as u64 * nanos), || {
        tasks_of(tasks, nanos)
    });
}

/// The tree of `join-…`, with a handle for one half of each node.
#[cfg(not(lab_rayon))]
pub(crate) fn handle_tree(s: &Setup, name: &str) {
    fn tree(leaves: usize, nanos: u64) -> u64 {
        if leaves == 1 {
            return task(nanos);
        }
        let a = spawn_join(move || tree(leaves / 2, nanos));
        let b = tree(leaves / 2, nanos);
        result(a) + b
    }
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(leaves as u64 * nanos);
    s.warm_and_cold(name, leaves as u64, ideal, || tree(leaves, nanos));
}

/// The tree of `join-…`, under a token.
#[cfg(not(lab_rayon))]
pub(crate) fn tokens(s: &Setup, name: &str) {
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(leaves as u64 * nanos);
    let token = StopToken::new();
    s.warm_and_cold(name, leaves as u64, ideal, || {
        with_token(&token, || tree(leaves, nanos)).expect("it is not stopped")
    });
}

/// A loop in which each item opens a scope with one task.
pub(crate) fn item_scopes(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(items as u64 * nanos);
    let op = || (0..items).into_par_iter().map(|_| scope_of(1, nanos)).sum();
    s.warm_and_cold(name, items as u64, ideal, op);
}

/// Broadcasts by the main thread, one after the other: the closure takes the same time on each thread.
pub(crate) fn broadcasts(s: &Setup, name: &str) {
    let (calls, nanos) = numbers(name);
    let tasks = (calls * s.cores) as u64;
    s.warm_and_cold(name, tasks, calls as u64 * nanos, || {
        let call = |_| broadcast(|_| task(nanos)).into_iter().sum::<u64>();
        (0..calls).map(call).sum()
    });
}

/// A loop under a token.
#[cfg(not(lab_rayon))]
pub(crate) fn token_loop(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let token = StopToken::new();
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        with_token(&token, || each(items, nanos)).expect("it is not stopped")
    });
}

/// A pipeline with one parallel stage, of which up to 8 items for each core are under way. The laboratory does
/// not see the pipeline's own lock.
#[cfg(not(lab_rayon))]
pub(crate) fn line(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let limit = 8 * s.cores;
    let done: Vec<_> = (0..items).map(|_| Padded(AtomicUsize::new(0))).collect();
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let one = |i: usize| {
            done[i].0.store(1, Relaxed);
            task(nanos)
        };
        tine_iter::pipeline(0..items, limit).map(one).sum()
    });
}
