//! Jobs under a token that start their successor under the same token, or under a child of it: however many
//! there have been, each looks at as few tokens as the first, and they leave nothing behind.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::Watch;
use counting::BYTES;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tine_pool::{
    AbortOnDrop, Bounded, StopToken, join, scope_with, spawn, spawn_async, spawn_async_with,
    spawn_join, spawn_join_with, stop, with_token,
};

/// Tests count the memory of the whole process, so they run in turn. A panic elsewhere would count too: with
/// backtraces on, the first panic reads megabytes of names.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The length of a line of successors.
fn generations() -> u64 {
    match std::env::var_os("TINE_LONG") {
        _ if cfg!(miri) => 300,
        Some(long) if long != "0" => 1_000_000,
        _ => 30_000,
    }
}

/// Far less than a word for each generation.
const LEAST: usize = 64 << 10;

/// What a job reports at its end: the number of bytes.
type Told = mpsc::Sender<usize>;

/// Starts a line of jobs by `start`, and returns how many bytes it added.
fn grows(threads: usize, start: impl FnOnce(u64, Told) + Send) -> usize {
    let watch = Watch::new("successors");
    let pool = watch.pool(threads);
    // What is set up once is not counted.
    pool.install(|| drop(spawn_async_with(&StopToken::new(), || ()).join()));
    let before = BYTES.load(Relaxed);
    let (tell, told) = mpsc::channel();
    pool.install(|| start(generations(), tell));
    told.recv().unwrap().saturating_sub(before)
}

fn end(told: &Told) {
    told.send(BYTES.load(Relaxed)).unwrap();
}

fn by_join(n: u64, token: StopToken, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let next = token.clone();
    spawn_join_with(&token, move || by_join(n - 1, next, told)).detach();
}

fn by_async(n: u64, token: StopToken, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let next = token.clone();
    spawn_async_with(&token, move || by_async(n - 1, next, told))
        .keep()
        .detach();
}

fn by_async_alone(n: u64, told: Told) {
    if n == 0 {
        return end(&told);
    }
    spawn_async(move || by_async_alone(n - 1, told))
        .keep()
        .detach();
}

fn by_scope(n: u64, token: StopToken, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let next = token.clone();
    scope_with(&token, |_| spawn(move || by_scope(n - 1, next, told))).unwrap();
}

fn by_bound(n: u64, token: StopToken, jobs: Bounded, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let (next, more) = (token.clone(), jobs.clone());
    let job = jobs.try_spawn_async(&token, move || by_bound(n - 1, next, more, told));
    job.unwrap_or_else(|_| unreachable!("two at once"))
        .keep()
        .detach();
}

/// Each job has its own time limit, and is under the limits of all before it.
fn by_limits(n: u64, token: StopToken, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let next = token.clone();
    let limit = token.with_timeout(Duration::from_secs(3600));
    spawn_join_with(&limit, move || by_limits(n - 1, next, told)).detach();
}

/// In turn under two tokens.
fn by_turns(n: u64, token: StopToken, other: StopToken, told: Told) {
    if n == 0 {
        return end(&told);
    }
    let next = token.clone();
    spawn_join_with(&token, move || by_turns(n - 1, other, next, told)).detach();
}

#[test]
fn a_line_of_successors_takes_no_more_than_one() {
    let _alone = alone();
    for threads in [1, 2] {
        let token = StopToken::new;
        let grown = [
            grows(threads, |n, told| by_join(n, token(), told)),
            grows(threads, |n, told| by_async(n, token(), told)),
            grows(threads, by_async_alone),
            grows(threads, |n, told| by_scope(n, token(), told)),
            grows(threads, |n, told| {
                by_bound(n, token(), Bounded::new(1 << 20), told);
            }),
            grows(threads, |n, told| by_limits(n, token(), told)),
            grows(threads, |n, told| by_turns(n, token(), token(), told)),
        ];
        assert!(grown.iter().all(|&bytes| bytes < LEAST), "{grown:?}");
    }
}

/// Calls inside one another, each under a token that may stop alone.
#[test]
fn a_line_of_tokens_that_are_held_is_dropped_without_a_stack() {
    fn line(n: usize, held: Vec<StopToken>, told: mpsc::Sender<Vec<StopToken>>) {
        if n == 0 {
            return told.send(held).unwrap();
        }
        let token = StopToken::new();
        let mut held = held;
        held.push(token.clone());
        spawn_join_with(&token, move || line(n - 1, held, told)).detach();
    }
    let _alone = alone();
    let watch = Watch::new("successors");
    // A job looks at each of them, so a line is not long; its threads have small stacks.
    let pool = tine_pool::ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(64 << 10)
        .build()
        .unwrap();
    let (tell, told) = mpsc::channel();
    let n = if cfg!(miri) { 100 } else { 5_000 };
    pool.install(|| line(n, Vec::new(), tell));
    assert_eq!(told.recv().unwrap().len(), n);
    drop(pool);
    drop(watch);
}

/// Ended by any look, but not by itself.
fn endless() {
    loop {
        join(|| (), || ());
    }
}

#[test]
fn tokens_inside_of_themselves_and_of_their_children() {
    let _alone = alone();
    // Which call is told: the call whose own next look ends it passes that on to the call around it.
    let outcome = |stops: usize, by: usize| {
        let a = StopToken::new();
        let [b, child, grandchild] = [StopToken::new(), a.child(), a.child().child()];
        let (all, inner) = ([&a, &b, &child], [&a, &child, &grandchild][by]);
        let told = with_token(&a, || {
            let told = with_token(&b, || {
                let told = with_token(inner, || {
                    all[stops].stop();
                    endless();
                });
                join(|| (), || ());
                told
            });
            join(|| (), || ());
            told
        });
        match told {
            Err(_) => 0,
            Ok(Err(_)) => 1,
            Ok(Ok(Err(_))) => 2,
            Ok(Ok(Ok(()))) => unreachable!(),
        }
    };
    assert_eq!([0, 1, 2].map(|by| outcome(0, by)), [0, 0, 0]);
    assert_eq!([0, 1, 2].map(|by| outcome(1, by)), [1, 1, 1]);
    assert_eq!(outcome(2, 1), 2);
}

#[test]
fn a_panic_inside_of_the_same_token_twice_counts_for_more_than_the_end() {
    let _alone = alone();
    let token = StopToken::new();
    for inner in [token.clone(), token.child()] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            with_token(&token, || {
                with_token(&inner, || {
                    join(
                        || {
                            token.stop();
                            endless();
                        },
                        || panic!("on purpose"),
                    )
                })
            })
        }));
        // The second half may not have begun.
        match result {
            Ok(told) => assert!(!matches!(told, Ok(Ok(_)))),
            Err(payload) => assert_eq!(payload.downcast_ref(), Some(&"on purpose")),
        }
    }
}

/// A job is spawned under this token, which is dropped `before` the job also comes under another token. The job
/// is ended before that, or `after`.
fn ends(token: StopToken, before: impl FnOnce(&StopToken), after: impl FnOnce()) {
    let watch = Watch::new("successors");
    let pool = watch.pool(2);
    let (go, may_go) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let job = move || {
        let _ = (tell.send(()), may_go.recv());
        let ended = with_token(&StopToken::new(), || {
            let _ = tell.send(());
            endless();
        });
        unreachable!("that token is not stopped: {ended:?}");
    };
    let job = pool.install(|| with_token(&token, || spawn_join(job)).unwrap());
    told.recv().unwrap();
    before(&token);
    drop(token);
    drop(go);
    let _ = told.recv();
    after();
    assert!(stop::is_end(&*job.join().unwrap_err()));
}

#[test]
fn a_token_that_was_dropped_ends_its_jobs_all_the_same() {
    let _alone = alone();
    ends(StopToken::new(), StopToken::stop, || ());
    let parent = StopToken::new();
    ends(parent.child(), |_| parent.stop(), || ());
    for token in [StopToken::child, |token: &StopToken| token.child().child()] {
        let parent = StopToken::new();
        ends(token(&parent), |_| (), || parent.stop());
    }
    let soon = Duration::from_millis(20);
    ends(StopToken::new().with_timeout(soon), |_| (), || ());
    ends(StopToken::new().with_timeout(soon).child(), |_| (), || ());
}

/// The handle of a job ends it and what it has started, also once the job itself has ended.
#[test]
fn a_handle_that_is_held_ends_the_successors() {
    let _alone = alone();
    let watch = Watch::new("successors");
    let pool = watch.pool(2);
    let root = StopToken::new();
    let (tell, told) = mpsc::channel();
    let (send, ended) = mpsc::channel::<()>();
    let first: AbortOnDrop<Result<(), _>> = pool.spawn_async_with(&root, move || {
        let _tell = tell.clone();
        spawn_async(move || {
            let _send = send;
            tell.send(()).unwrap();
            endless();
        })
        .keep()
        .detach();
    });
    told.recv().unwrap();
    drop(first);
    assert!(ended.recv().is_err());
    assert!(!root.is_stopped());
}
