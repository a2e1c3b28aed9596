//! Latches: the waiter sees what was done before, and no wake-up is lost.

use super::{Load, beside, check, parker};
use crate::base::sync::{AtomicUsize, Ordering, fence};
use crate::queue::latch::{CountLatch, Latch};
use loom::thread;
use std::sync::Arc;

#[test]
fn set_against_wait() {
    check(|| {
        let shared = Arc::new((Latch::new(parker()), Load::new()));
        let setter = beside(&shared, |shared| {
            shared.1.fill();
            // SAFETY: kept until the end.
            unsafe { Latch::set(&raw const shared.0) };
        });
        shared.0.wait();
        shared.1.spend();
        setter.join().unwrap();
    });
}

/// A token that was left late wakes the waiter, and the waiter goes to sleep again.
#[test]
fn stale_tokens_are_harmless() {
    check(|| {
        let parker = parker();
        let shared = Arc::new((Latch::new(parker), Load::new()));
        let late = thread::spawn(move || {
            parker.unpark();
        });
        let setter = beside(&shared, |shared| {
            shared.1.fill();
            // SAFETY: kept until the end.
            unsafe { Latch::set(&raw const shared.0) };
        });
        shared.0.wait();
        shared.1.spend();
        setter.join().unwrap();
        late.join().unwrap();
    });
}

/// News for the waiter that are not the event. They come, and only the waiter can act on them.
#[test]
fn news_for_a_sleeper_arrives() {
    check(|| {
        let shared = Arc::new((Latch::new(parker()), AtomicUsize::new(0)));
        let teller = beside(&shared, |shared| {
            shared.1.store(1, Ordering::Release);
            fence(Ordering::SeqCst);
            if let Some(sleeper) = shared.0.sleeper() {
                sleeper.unpark();
            }
        });
        let (latch, news) = &*shared;
        while news.load(Ordering::Acquire) == 0 {
            if latch.fall_asleep() {
                fence(Ordering::SeqCst);
                if news.load(Ordering::Relaxed) == 0 {
                    parker_of(latch).park();
                }
            }
            latch.wake_up();
        }
        teller.join().unwrap();
    });
}

fn parker_of(latch: &Latch) -> &'static crate::base::park::Parker {
    latch.sleeper().expect("the waiter has fallen asleep")
}

/// Each part's work is visible when the count is down.
#[test]
fn counts_down_to_nothing() {
    check(|| {
        let shared = Arc::new((CountLatch::new(parker()), [Load::new(), Load::new()]));
        let parts = [0, 1].map(|part| {
            let shared = Arc::clone(&shared);
            shared.0.increment(1);
            thread::spawn(move || {
                shared.1[part].fill();
                // SAFETY: kept until the end; counted by `increment`.
                unsafe { CountLatch::decrement(&raw const shared.0, 1) };
            })
        });
        // SAFETY: kept until the end; the count of the thread that made it.
        unsafe { CountLatch::decrement(&raw const shared.0, 1) };
        shared.0.latch().wait();
        shared.1.iter().for_each(Load::spend);
        parts.into_iter().for_each(|p| p.join().unwrap());
        assert_eq!(shared.0.count(), 0);
    });
}
