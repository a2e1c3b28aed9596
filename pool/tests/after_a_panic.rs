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

/// Deeper than halves are laid out.
const DEEP: usize = if cfg!(miri) { 20 } else { 5_000 };

/// Calls `f` on a thread of a pool, at the bottom of that many joins.
fn below(joins: usize, f: impl Fn() + Sync) {
    fn down(joins: usize, f: &(dyn Fn() + Sync)) {
        match joins {
            0 => f(),
            _ => _ = join(|| down(joins - 1, f), || ()),
        }
    }
    let pool = ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.stack_size(64 << 20).build().unwrap();
    pool.install(|| down(joins, &f));
}

/// Also in a recursion so deep that halves are no longer laid out.
#[test]
fn however_deep_the_join_is() {
    fn deep(levels: usize, sound: &AtomicUsize) {
        if levels == 0 {
            return boom();
        }
        let half = || {
            if !thread::panicking() {
                sound.fetch_add(1, Ordering::Relaxed);
            }
        };
        join(|| deep(levels - 1, sound), half);
    }
    let sound = AtomicUsize::new(0);
    assert!(panics(|| below(0, || deep(DEEP, &sound))));
    assert_eq!(sound.into_inner(), DEEP);
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            resume_unwind(Box::new("the result"));
        }
    }
}

#[test]
fn the_first_panic_is_the_one_that_arrives() {
    let first = || resume_unwind(Box::new("the first"));
    for depth in [0, 10, DEEP] {
        let calls: [&(dyn Fn() + Sync); 3] = [
            &|| _ = join(first, || PanicsInDrop),
            &|| _ = join(first, || resume_unwind(Box::new(PanicsInDrop))),
            &|| _ = join(first, || resume_unwind(Box::new("the second"))),
        ];
        for call in calls {
            let panic = catch_unwind(AssertUnwindSafe(|| below(depth, call)));
            let panic = panic.expect_err("a panic");
            assert_eq!(panic.downcast_ref(), Some(&"the first"), "{depth}");
        }
    }
}

#[test]
fn a_second_half_does_not_begin_under_a_token_that_is_stopped() {
    for depth in [0, 10, DEEP] {
        let began = AtomicUsize::new(0);
        let ended = panics(|| {
            below(depth, || {
                let token = StopToken::new();
                let first = || {
                    token.stop();
                    boom();
                };
                let second = || began.fetch_add(1, Ordering::Relaxed);
                _ = with_token(&token, || join(first, second));
            })
        });
        assert!(ended);
        assert_eq!(began.into_inner(), 0, "{depth}");
    }
}

/// A destructor computes while its thread unwinds. The end of a second half, which does not arrive, is not taken for the
/// end of the whole.
#[test]
fn a_destructor_that_goes_on_after_both_halves_have_panicked_can_be_stopped() {
    const MANY: usize = if cfg!(miri) { 100 } else { 100_000 };
    struct Computes<'a>(&'a AtomicUsize);
    impl Drop for Computes<'_> {
        fn drop(&mut self) {
            let token = StopToken::new();
            let stopped = with_token(&token, || {
                let second = || {
                    token.stop();
                    (0..MANY).for_each(|_| _ = join(|| (), || ()));
                };
                let caught = catch_unwind(AssertUnwindSafe(|| join(boom, second)));
                assert!(caught.is_err());
                for _ in 0..MANY {
                    join(|| (), || ());
                    self.0.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(stopped.is_err());
        }
    }
    for depth in [0, DEEP] {
        let joins = AtomicUsize::new(0);
        let unwinds = panics(|| {
            below(depth, || {
                let _computes = Computes(&joins);
                boom();
            })
        });
        assert!(unwinds);
        assert!(joins.into_inner() < MANY, "{depth}");
    }
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
