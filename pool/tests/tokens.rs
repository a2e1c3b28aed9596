//! Tokens where they meet user code of other kinds: wakers, quiet calls, destructors.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use tine_pool::{StopToken, Stopped, join, loops, spawn_async_with, stop, with_token};

mod common;
use common::{pool, within};

fn for_ever() {
    loop {
        join(|| (), || ());
    }
}

/// Two halves that meet, so that each runs on its own thread, and that make parallel calls there.
fn meet() {
    let both = Barrier::new(2);
    let half = || {
        both.wait();
        join(|| (), || ());
    };
    join(half, half);
}

/// Calls `op`, and counts how often it was called and how often it came to its end.
struct Calls<F>(F, AtomicUsize);

impl<F: Fn()> Calls<F> {
    fn new(op: F) -> Arc<Self> {
        Arc::new(Self(op, AtomicUsize::new(0)))
    }

    fn count(&self) -> usize {
        self.1.load(SeqCst)
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
        self.1.fetch_add(1, SeqCst);
    }
}

/// A waker is the user's code: its calls work as anywhere else, and leave the tokens of its thread as they
/// were.
#[test]
fn a_waker_may_call_whatever_it_likes() {
    let pool = pool(2);
    let other = Arc::new(self::pool(1));
    let ways: [Arc<dyn Fn() + Send + Sync>; 5] = [
        Arc::new(|| stop::sheltered(|| ())),
        Arc::new(|| assert_eq!(with_token(&StopToken::new(), || 1), Ok(1))),
        Arc::new(|| _ = tine_pool::yield_now()),
        Arc::new(move || other.install(|| ())),
        Arc::new(meet),
    ];
    for late in [true, false] {
        for (n, way) in ways.iter().enumerate() {
            let way = Arc::clone(way);
            let calls = Calls::new(move || way());
            let waker = Waker::from(Arc::clone(&calls));
            let mut context = Context::from_waker(&waker);
            let token = match late {
                true => StopToken::new().with_timeout(Duration::from_millis(5)),
                false => StopToken::new(),
            };
            let mut stopped = pin!(token.stopped());
            assert!(stopped.as_mut().poll(&mut context).is_pending());
            within(|| {
                pool.install(|| {
                    let ended = with_token(&token, || {
                        if !late {
                            token.stop();
                        }
                        for_ever();
                    });
                    assert_eq!(ended, Err(Stopped::default()));
                    assert_eq!(calls.count(), 1, "way {n}, late: {late}");
                    (0..5).for_each(|_| meet());
                });
            });
        }
    }
}

/// Work under a child finds that the parent's time is up: this must also reach the parent's own futures.
#[test]
fn a_deadline_that_passes_under_a_child_wakes_the_futures_of_its_token() {
    let soon = || StopToken::new().with_timeout(Duration::from_millis(10));
    let polled = |token: &StopToken, run: &dyn Fn()| {
        let calls = Calls::new(|| ());
        let waker = Waker::from(Arc::clone(&calls));
        let mut stopped = pin!(token.stopped());
        let poll = stopped.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_pending() {
            within(run);
            assert_eq!(calls.count(), 1);
        }
    };
    let token = soon();
    polled(&token, &|| {
        let ended = spawn_async_with(&token, for_ever).join();
        assert!(ended.unwrap().is_err());
    });
    let token = soon();
    polled(&token, &|| {
        let inner = token.child().with_timeout(Duration::from_secs(3600));
        assert!(with_token(&inner.child(), for_ever).is_err());
    });
    // No token is stopped whose own time is not up.
    let whole = StopToken::new();
    let hour = whole.with_timeout(Duration::from_secs(3600));
    let late = hour.with_timeout(Duration::ZERO);
    assert!(late.child().is_stopped() && late.is_stopped());
    assert!(!hour.is_stopped() && !whole.is_stopped());
}

/// A call that no look ends asks whether it must stop, wherever its parts run.
#[test]
fn a_quiet_call_takes_its_token_to_other_threads() {
    let (here, there) = (pool(2), pool(2));
    let asked = |ask: &(dyn Fn(&StopToken) -> bool + Sync)| {
        let token = StopToken::new();
        let told = Cell::new(None);
        let result = with_token(&token, || {
            loops::quietly(|| told.set(Some(ask(&token))));
        });
        assert_eq!(result, Err(Stopped::default()));
        told.get()
    };
    let stopped = |token: &StopToken| {
        token.stop();
        // It is not ended here.
        meet();
        loops::requested()
    };
    let ways: [&(dyn Fn(&StopToken) -> bool + Sync); 4] = [
        &|token| here.install(|| stopped(token)),
        &|token| here.install(|| there.install(|| stopped(token))),
        &|token| {
            let mut told = false;
            here.in_place_scope(|s| s.spawn(|_| told = stopped(token)));
            told
        },
        &|token| {
            token.stop();
            here.broadcast(|_| loops::requested()) == [true; 2]
        },
    ];
    within(|| {
        for (n, way) in ways.iter().enumerate() {
            assert_eq!(asked(way), Some(true), "way {n}");
            let told = here.install(|| with_token(&StopToken::new(), stop::requested));
            assert_eq!(told, Ok(false));
        }
    });
}

/// A computation that a destructor makes while its thread unwinds may have a time limit.
#[test]
fn a_destructor_may_set_itself_a_deadline_while_it_unwinds() {
    struct Flushes<'a>(&'a Cell<bool>);
    impl Drop for Flushes<'_> {
        fn drop(&mut self) {
            let soon = StopToken::new().with_timeout(Duration::from_millis(5));
            self.0.set(with_token(&soon, for_ever).is_err());
        }
    }
    let ended = Cell::new(false);
    let unwinds = || {
        let _flushes = Flushes(&ended);
        panic!("on purpose");
    };
    let result = within(|| catch_unwind(AssertUnwindSafe(unwinds)));
    let result: Result<(), _> = result;
    assert!(result.is_err() && ended.get());
}

/// A panic inside a destructor that runs while its thread unwinds, past a value that computes under the stopped
/// token: the thread cannot know of that panic, so the value says that it must not be ended.
#[test]
fn what_a_panic_inside_of_a_destructor_drops_may_compute_where_it_is_sheltered() {
    struct Computes<'a>(&'a Cell<bool>);
    impl Drop for Computes<'_> {
        fn drop(&mut self) {
            self.0.set(stop::sheltered(|| join(|| 1, || 2)) == (1, 2));
        }
    }
    struct Panics<'a>(&'a Cell<bool>);
    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            let token = StopToken::new();
            let panics = || {
                let _computes = Computes(self.0);
                token.stop();
                resume_unwind(Box::new("the new one"));
            };
            let result = catch_unwind(AssertUnwindSafe(|| with_token(&token, panics)));
            let result: Result<Result<(), _>, _> = result;
            assert_eq!(result.unwrap_err().downcast_ref(), Some(&"the new one"));
        }
    }
    let computed = Cell::new(false);
    let unwinds = || {
        let _panics = Panics(&computed);
        resume_unwind(Box::new("the old one"));
    };
    let result: Result<(), _> = catch_unwind(AssertUnwindSafe(unwinds));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"the old one"));
    assert!(computed.get());
}
