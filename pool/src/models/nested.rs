//! The deque of joins: each job runs once and its contents are visible, requests are not lost, other threads
//! publish in place of an owner, and helpers stay within what they wait for.

use super::{Load, alone, beside, check, explore};
use crate::base::sync::{Ordering, fence, yield_now};
use crate::base::unwind;
use crate::queue::job::{StackJob, State, Taken, execute};
use crate::queue::nested::{Nested, Pop};
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::word::Holder;
use loom::thread;
use std::sync::Arc;

const NOWHERE: Taken = Taken {
    seat: 0,
    base: 0,
    since: 0,
};

/// Every thread of the process passes a fence. Here the owner passes one at each pop anyway.
fn barrier() -> bool {
    fence(Ordering::SeqCst);
    true
}

/// What a join does; `push` is called between its push and its first half.
fn join(nested: &Nested, push: impl FnOnce(bool), a: impl FnOnce(), b: &Load) {
    b.fill();
    join_with(nested, push, a, |_| b.spend());
}

fn join_with(
    nested: &Nested,
    push: impl FnOnce(bool),
    a: impl FnOnce(),
    b: impl FnOnce(bool) + Send,
) {
    let depth = nested.depth();
    let job = StackJob::new(b);
    let look = !nested.is_easy(depth);
    nested.push(depth, job.erase());
    push(look);
    a();
    if nested.pop(depth) == Pop::Mine {
        // SAFETY: popped.
        let b = unsafe { job.take_body() };
        b(false);
        return;
    }
    while job.head().word().state() != State::Done {
        yield_now();
    }
    // SAFETY: done, and taken here alone.
    unsafe { job.take_result() }.unwrap_or_else(|panic| unwind::resume(panic));
    nested.retire(depth);
}

fn run(found: Steal<*mut ()>) -> bool {
    if let Steal::Taken(job) = found {
        // SAFETY: stolen; its owner waits for it.
        unsafe { execute(job, NOWHERE) };
    }
    matches!(found, Steal::Taken(_))
}

/// Publishes all private jobs.
fn publish(nested: &Nested) -> impl FnOnce(bool) {
    |_| {
        nested.publish(usize::MAX);
    }
}

fn steal(nested: &Nested, times: usize) {
    for _ in 0..times {
        run(nested.steal());
    }
}

fn loads<const N: usize>() -> Arc<[Load; N]> {
    Arc::new(std::array::from_fn(|_| Load::new()))
}

/// Two joins, one inside the other, both public at once; two steals.
#[test]
fn pushes_pops_and_steals() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        let thief = beside(&nested, |nested| steal(nested, 2));
        let inner = || join(&nested, publish(&nested), || (), &loads[1]);
        join(&nested, publish(&nested), inner, &loads[0]);
        thief.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
        assert_eq!((nested.depth(), nested.public()), (0, 0));
    });
}

/// A join after a join at the same depth: the slot is written again.
#[test]
fn uses_a_slot_again() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        let thief = beside(&nested, |nested| steal(nested, 2));
        join(&nested, publish(&nested), || (), &loads[0]);
        join(&nested, publish(&nested), || (), &loads[1]);
        thief.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// Two thieves for one job.
#[test]
fn two_thieves_share_nothing() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<1>();
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let nested = Arc::clone(&nested);
                thread::spawn(move || run(nested.steal()))
            })
            .collect();
        join(&nested, publish(&nested), || (), &loads[0]);
        let stolen = thieves.into_iter().map(|t| t.join().unwrap());
        assert!(stolen.filter(|&s| s).count() <= 1);
        loads.iter().for_each(Load::assert_spent);
    });
}

/// Three private jobs, published by one exchange.
#[test]
fn publishes_several_at_once() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<3>();
        let thief = {
            let nested = Arc::clone(&nested);
            thread::spawn(move || steal(&nested, 2))
        };
        let private = |_| ();
        let two = |_| assert!(nested.publish(2) <= 2);
        let innermost = || join(&nested, two, || (), &loads[2]);
        let inner = || join(&nested, private, innermost, &loads[1]);
        join(&nested, private, inner, &loads[0]);
        thief.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// A thread asks while the owner moves its thresholds: the request is answered, or it still stands.
#[test]
fn a_request_is_answered_or_stands() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let asker = beside(&nested, |nested| nested.want());
        let load = Load::new();
        let mut answered = false;
        let answer = |_| {
            answered = nested.take_request();
            nested.publish(1);
        };
        join(&nested, answer, || (), &load);
        asker.join().unwrap();
        // Deeper than the part that becomes public by itself: only a request makes the owner look.
        let look = |depth| {
            let look = !nested.is_easy(depth);
            nested.push(depth, load.erase());
            look
        };
        let look = (0..3).map(look).last();
        assert_eq!(nested.is_wanted(), !answered, "a request was lost");
        // Looking once for nothing does no harm.
        assert!(
            answered || look == Some(true),
            "a request was not to be seen"
        );
    });
}

/// A thread publishes in place of an owner that pops, pushes and pops, and steals.
#[test]
fn publishes_for_its_owner() {
    check(|| {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<3>();
        let other = beside(&nested, |nested| {
            nested.publish_for_owner(barrier);
            run(nested.steal());
        });
        let private = |_| ();
        let inner = || {
            join(&nested, private, || (), &loads[1]);
            join(&nested, private, || (), &loads[2]);
        };
        join(&nested, private, inner, &loads[0]);
        other.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// The same while a thief has a job, so that the owner retires it meanwhile.
#[test]
fn publishes_for_an_owner_that_retires() {
    explore(2, || {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        let thief = beside(&nested, |nested| run(nested.steal()));
        let other = beside(&nested, |nested| {
            nested.publish_for_owner(barrier);
            run(nested.steal());
        });
        join(&nested, publish(&nested), || (), &loads[0]);
        join(&nested, |_| (), || (), &loads[1]);
        thief.join().unwrap();
        other.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// An owner whose job is run by another thread makes a join while it waits; the thread that has the job
/// publishes for it.
#[test]
fn publishes_for_an_owner_that_waits() {
    explore(4, || {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        loads[0].fill();
        let job = Arc::new(StackJob::new({
            let loads = Arc::clone(&loads);
            move |_| loads[0].spend()
        }));
        nested.push(0, job.erase());
        nested.publish(1);
        let Steal::Taken(stolen) = nested.steal() else {
            panic!("a public job can be stolen");
        };
        assert_eq!(stolen, job.erase());
        let thief = {
            let (nested, job) = (Arc::clone(&nested), Arc::clone(&job));
            thread::spawn(move || {
                nested.publish_for_owner(barrier);
                run(nested.steal());
                // SAFETY: stolen above; its owner waits for it.
                unsafe { execute(job.erase(), NOWHERE) };
            })
        };
        assert_eq!(nested.pop(0), Pop::Stolen);
        join(&nested, |_| (), || (), &loads[1]);
        while job.head().word().state() != State::Done {
            yield_now();
        }
        // SAFETY: done, and taken here alone.
        unsafe { job.take_result() }.unwrap_or_else(|panic| unwind::resume(panic));
        nested.retire(0);
        thief.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// The same twice, so that the second time meets what the first time has left behind.
#[test]
fn publishes_for_its_owner_again() {
    explore(3, || {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        let other = beside(&nested, |nested| {
            nested.publish_for_owner(barrier);
            nested.publish_for_owner(barrier);
            run(nested.steal());
        });
        let inner = || join(&nested, |_| (), || (), &loads[1]);
        join(&nested, |_| (), inner, &loads[0]);
        other.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

/// Two threads publish at once.
#[test]
fn two_publish_for_one_owner() {
    explore(2, || {
        let nested = Arc::new(Nested::new(2));
        let loads = loads::<2>();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let nested = Arc::clone(&nested);
                thread::spawn(move || {
                    nested.publish_for_owner(barrier);
                    run(nested.steal());
                })
            })
            .collect();
        let inner = || join(&nested, |_| (), || (), &loads[1]);
        join(&nested, |_| (), inner, &loads[0]);
        others.into_iter().for_each(|o| o.join().unwrap());
        loads.iter().for_each(Load::assert_spent);
    });
}

/// A seat runs a job that a thread waits for, and after it another job. The waiter helps only with pieces of
/// the first job. `turn` says whether the seat tells the two apart; `for_owner` says whether another thread
/// publishes the push of the second job.
fn helps_a_seat_that_goes_on(turn: bool, for_owner: bool) {
    explore(3, move || {
        let seat = Arc::new(Seat::new(0, 2, Holder::Awake));
        let loads = loads::<2>();
        let awaited = Arc::new(StackJob::new({
            let (seat, loads) = (Arc::clone(&seat), Arc::clone(&loads));
            move |_| {
                let nested = &seat.nested;
                join(nested, publish(nested), || (), &loads[0]);
            }
        }));
        let owner = {
            let (seat, loads, job) = (Arc::clone(&seat), Arc::clone(&loads), Arc::clone(&awaited));
            thread::spawn(move || {
                let (inner, outer) = seat.begin(0);
                let by = Taken {
                    seat: 0,
                    base: inner.base,
                    since: inner.since,
                };
                // SAFETY: run here alone; it is kept until the end.
                unsafe { execute(job.erase(), by) };
                if turn {
                    seat.end(outer);
                    seat.begin(0);
                }
                let nested = &seat.nested;
                // There is nothing yet, and that must not pass for the publication of the next job.
                nested.publish(usize::MAX);
                loads[1].fill();
                let stranger = |stolen: bool| {
                    assert!(!stolen, "a helper took a stranger's job");
                    loads[1].spend();
                };
                let push = |_| {
                    if for_owner {
                        nested.publish_for_owner(barrier);
                    } else {
                        nested.publish(usize::MAX);
                    }
                };
                join_with(nested, push, || (), stranger);
            })
        };
        let word = awaited.head().word();
        while word.state() == State::Untaken {
            yield_now();
        }
        // SAFETY: seen to be taken.
        let by = unsafe { awaited.head().taken() };
        let still = || word.state() == State::Taken;
        run(seat.nested.steal_if(by.base, still).map(|won| won.job));
        owner.join().unwrap();
        loads.iter().for_each(Load::assert_spent);
    });
}

#[test]
fn a_helper_takes_pieces_of_what_it_waits_for() {
    helps_a_seat_that_goes_on(true, false);
}

/// The owner is stuck in the second job, and does not publish itself.
#[test]
fn a_helper_leaves_what_was_published_for_its_owner() {
    helps_a_seat_that_goes_on(true, true);
}

/// Jobs that the owner had pushed before the awaited job began are no pieces of it.
#[test]
fn a_helper_takes_nothing_below_its_base() {
    alone(|| {
        let nested = Nested::new(2);
        let (stranger, piece) = (Load::new(), Load::new());
        nested.push(0, stranger.erase());
        nested.publish(1);
        nested.push(1, piece.erase());
        assert!(matches!(
            nested.steal_if(1, || true),
            Steal::Empty | Steal::Private
        ));
        nested.publish(1);
        assert!(matches!(nested.steal_if(1, || true), Steal::Empty));
        assert_eq!((nested.pop(1), nested.pop(0)), (Pop::Mine, Pop::Mine));
    });
}

/// Twin: no new epoch between two jobs. So the helper's exchange succeeds on ends that only look like the ends
/// that it read.
#[test]
#[should_panic(expected = "a helper took a stranger's job")]
fn twin_without_epochs_helps_a_stranger() {
    helps_a_seat_that_goes_on(false, false);
}

/// Twins: the core of the deque in a few lines, with rules that can be left out.
mod twin {
    use super::{Load, explore, yield_now};
    use crate::base::sync::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
    use loom::thread;
    use std::sync::Arc;

    #[derive(Clone, Copy)]
    struct Rules {
        /// Release: the slot is written before its job is public.
        publish: Ordering,
        /// A thief reads the slot after it has won it.
        win_first: bool,
        /// The owner of a stolen job stays above it until it is done.
        stay_above: bool,
    }

    const ALL: Rules = Rules {
        publish: Ordering::Release,
        win_first: true,
        stay_above: true,
    };

    struct Job {
        load: Load,
        done: AtomicBool,
    }

    struct Deque {
        rules: Rules,
        /// `top` and `public`, eight bits each.
        ends: AtomicU64,
        slots: [AtomicPtr<()>; 2],
    }

    impl Deque {
        fn join(&self, depth: usize, job: &Job, while_waiting: impl FnOnce(usize)) {
            let address = std::ptr::from_ref(job).cast_mut().cast();
            job.load.fill();
            self.slots[depth].store(address, Ordering::Relaxed);
            self.ends.fetch_add(1, self.rules.publish);
            let (mine, all) = (depth as u64, depth as u64 + 1);
            let popped = self.exchange(mine << 8 | all, mine << 8 | mine, Ordering::Relaxed);
            if popped {
                return job.load.spend();
            }
            if self.rules.stay_above {
                while_waiting(depth + 1);
            } else {
                self.ends.store(mine << 8 | mine, Ordering::Relaxed);
                while_waiting(depth);
            }
            while !job.done.load(Ordering::Acquire) {
                yield_now();
            }
            self.ends.store(mine << 8 | mine, Ordering::Relaxed);
        }

        fn steal(&self) {
            let ends = self.ends.load(Ordering::Relaxed);
            let (top, public) = (ends >> 8, ends & 0xff);
            if top == public {
                return;
            }
            let slot = &self.slots[top as usize];
            let early = slot.load(Ordering::Relaxed);
            if !self.exchange(ends, ends + 0x100, Ordering::Acquire) {
                return;
            }
            let job = if self.rules.win_first {
                slot.load(Ordering::Relaxed)
            } else {
                early
            };
            assert!(!job.is_null(), "a slot was read before it was written");
            // SAFETY: models keep their jobs until the end.
            let job = unsafe { &*job.cast_const().cast::<Job>() };
            job.load.spend();
            job.done.store(true, Ordering::Release);
        }

        fn exchange(&self, old: u64, new: u64, success: Ordering) -> bool {
            self.ends
                .compare_exchange(old, new, success, Ordering::Relaxed)
                .is_ok()
        }
    }

    /// Two joins in a row, or the second while the first waits.
    fn model(rules: Rules) {
        explore(3, move || {
            let deque = Arc::new(Deque {
                rules,
                ends: AtomicU64::new(0),
                slots: std::array::from_fn(|_| AtomicPtr::default()),
            });
            let jobs: Arc<[Job; 2]> = Arc::new(std::array::from_fn(|_| Job {
                load: Load::new(),
                done: AtomicBool::new(false),
            }));
            let thief = {
                let (deque, jobs) = (Arc::clone(&deque), Arc::clone(&jobs));
                thread::spawn(move || {
                    deque.steal();
                    drop(jobs);
                })
            };
            let mut waited = false;
            deque.join(0, &jobs[0], |depth| {
                waited = true;
                deque.join(depth, &jobs[1], |_| ());
            });
            if !waited {
                deque.join(0, &jobs[1], |_| ());
            }
            thief.join().unwrap();
            jobs.iter().for_each(|job| job.load.assert_spent());
        });
    }

    #[test]
    fn with_all_rules() {
        model(ALL);
    }

    #[test]
    #[should_panic(expected = "a slot was read before it was written")]
    fn published_relaxed() {
        model(Rules {
            publish: Ordering::Relaxed,
            ..ALL
        });
    }

    #[test]
    #[should_panic(expected = "a slot was read before it was written")]
    fn slot_read_before_it_is_won() {
        model(Rules {
            win_first: false,
            ..ALL
        });
    }

    #[test]
    #[should_panic(expected = "Causality violation: Concurrent write")]
    fn owner_that_goes_down_while_it_waits() {
        model(Rules {
            stay_above: false,
            ..ALL
        });
    }
}
