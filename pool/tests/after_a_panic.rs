//! What runs after a closure of the same call has panicked runs on a thread that does not unwind.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use tine_pool::{StopToken, ThreadPool, ThreadPoolBuilder, join, with_token};

fn pools() -> impl Iterator<Item = ThreadPool> {
    [1, 2]
        .map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap())
        .into_iter()
}

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

/// A panic that prints nothing.
fn boom() {
    resume_unwind(Box::new(()))
}

#[test]
fn the_second_half_of_a_join_is_on_a_sound_thread() {
    for pool in pools() {
        let sound = AtomicUsize::new(0);
        let half = || {
            assert!(!thread::panicking());
            sound.fetch_add(1, Ordering::Relaxed);
        };
        for _ in 0..20 {
            assert!(panics(|| pool.join(boom, half)));
            assert!(panics(|| pool.join(|| join(boom, half), half)));
            assert!(panics(
                || pool.join(|| join(boom, || join(half, boom)), half)
            ));
        }
        assert_eq!(sound.into_inner(), 20 * (1 + 2 + 2));
    }
    let unsound = AtomicBool::new(false);
    assert!(panics(|| {
        join(boom, || {
            unsound.store(thread::panicking(), Ordering::Relaxed)
        })
    }));
    assert!(!unsound.into_inner());
}

/// Not even in a recursion so deep that halves are no longer laid out.
#[test]
fn however_deep_the_join_is() {
    fn deep(levels: usize, sound: &AtomicUsize) {
        if levels == 0 {
            return boom();
        }
        join(
            || deep(levels - 1, sound),
            || {
                assert!(!thread::panicking());
                sound.fetch_add(1, Ordering::Relaxed);
            },
        );
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(64 << 20)
        .build()
        .unwrap();
    let sound = AtomicUsize::new(0);
    assert!(panics(|| pool.install(|| deep(1_500, &sound))));
    assert_eq!(sound.into_inner(), 1_500);
}

#[test]
fn a_second_panic_poisons_the_lock_it_holds() {
    for pool in pools() {
        let lock = Mutex::new(0);
        let half = || {
            let mut guard = lock.lock().unwrap();
            *guard += 1;
            boom();
        };
        assert!(panics(|| pool.join(boom, half)));
        assert!(lock.is_poisoned());
    }
}

/// A half that catches its own panic may do so after the other half has panicked, whatever destructors call.
#[test]
fn a_second_half_may_panic_under_a_token_of_its_own() {
    struct Joins;
    impl Drop for Joins {
        fn drop(&mut self) {
            join(|| (), || ());
        }
    }
    for pool in pools() {
        let half = || {
            let token = StopToken::new();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                with_token(&token, || {
                    token.stop();
                    let _joins = Joins;
                    boom();
                })
            }));
            assert!(caught.is_err());
        };
        assert!(panics(|| pool.join(boom, half)));
    }
}
