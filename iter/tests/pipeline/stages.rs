//! Each kind of stage: full, empty, with one item; limits; which thread waits for which.

use std::collections::HashSet;
use std::iter::from_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use tine_iter::pipeline;
use tine_pool::{
    StopToken, Stopped, ThreadPoolBuilder, blocking, current_num_threads, join, with_token,
};

use crate::kit::{Census, POOLS, in_pools_of};

/// An iterator that makes no promises.
fn hesitant<T>(iter: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    iter.filter(|_| true)
}

#[test]
fn all_stages_in_a_row() {
    in_pools_of(POOLS, || {
        for size in [0, 1, 2, 10, 3000_usize] {
            for limit in [1, 2, 5, 64, usize::MAX] {
                let (mut first, mut second, mut any) = (Vec::new(), Vec::new(), Vec::new());
                pipeline(0..size, limit)
                    .in_order(|n| {
                        first.push(n);
                        n
                    })
                    .map(|n| n * 2)
                    .any_order(|n| {
                        any.push(n);
                        n
                    })
                    .filter(|n| n % 3 != 0)
                    .in_order(|n| second.push(n))
                    .run();
                assert!(first.into_iter().eq(0..size));
                any.sort();
                assert!(any.into_iter().eq((0..size).map(|n| n * 2)));
                let kept = (0..size).map(|n| n * 2).filter(|n| n % 3 != 0);
                assert!(second.into_iter().eq(kept));
            }
        }
    });
}

#[test]
fn no_stage_at_all() {
    in_pools_of(POOLS, || {
        let census = Census::default();
        for size in [0, 1, 1000] {
            pipeline((0..size).map(|n| census.value(n)), 8).run();
            pipeline(hesitant(0..size).map(|n| census.value(n)), 8).run();
            assert_eq!(pipeline(0..size, 8).count(), size);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn one_stage_of_each_kind() {
    in_pools_of(POOLS, || {
        for size in [0, 1, 2, 700_u64] {
            let sum = (0..size).sum::<u64>();
            let parallel = AtomicUsize::new(0);
            pipeline(0..size, 16)
                .inspect(|&n| {
                    parallel.fetch_add(n as usize, Ordering::Relaxed);
                })
                .run();
            assert_eq!(parallel.into_inner() as u64, sum);
            let (mut in_order, mut any) = (Vec::new(), 0);
            pipeline(0..size, 16).in_order(|n| in_order.push(n)).run();
            assert!(in_order.into_iter().eq(0..size));
            pipeline(0..size, 16).any_order(|n| any += n).run();
            assert_eq!(any, sum);
        }
    });
}

#[test]
fn serial_stages_are_never_entered_twice() {
    in_pools_of(POOLS, || {
        for one_by_one in [true, false] {
            let inside = [const { AtomicBool::new(false) }; 3];
            let enter = |which: usize, n: usize| {
                assert!(!inside[which].swap(true, Ordering::SeqCst));
                if n.is_multiple_of(97) {
                    thread::sleep(Duration::from_micros(50));
                }
                inside[which].store(false, Ordering::SeqCst);
                n
            };
            let line = pipeline((0..2000).map(|n| enter(0, n)), 32);
            let line = if one_by_one { line.one_by_one() } else { line };
            line.in_order(|n| enter(1, n))
                .map(|n| n)
                .any_order(|n| enter(2, n))
                .run();
        }
    });
}

/// Counts items between the source and the end.
#[test]
fn never_more_under_way_than_allowed() {
    in_pools_of(POOLS, || {
        for limit in [1, 2, 3, 10, 100] {
            for batched in [false, true] {
                let (drawn, through) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let source = (0..3000_usize).inspect(|_| {
                    let ahead = drawn.fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(ahead - through.load(Ordering::SeqCst) <= limit);
                });
                let line = pipeline(source, limit);
                let line = if batched { line.batched() } else { line };
                line.in_order(|n| n).map(|n| n).for_each(|n: usize| {
                    if n.is_multiple_of(500) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    through.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!(through.into_inner(), 3000);
            }
        }
    });
}

#[test]
fn a_slow_item_holds_up_as_many_as_the_limit() {
    in_pools_of(&[2, 7], || {
        // The first item waits until all that may be drawn have been drawn.
        let drawn = AtomicUsize::new(0);
        let source = hesitant(0..100).inspect(|_| {
            drawn.fetch_add(1, Ordering::SeqCst);
        });
        let all: Vec<usize> = pipeline(source, 10)
            .map(|n| {
                while n == 0 && drawn.load(Ordering::SeqCst) < 10 {
                    thread::yield_now();
                }
                n
            })
            .collect();
        assert!(all.into_iter().eq(0..100));
    });
}

#[test]
fn items_wait_for_later_ones_if_they_travel_singly() {
    in_pools_of(&[2, 7, 32], || {
        let (send, receive) = sync_channel(0);
        let receive = Mutex::new(receive);
        let items = pipeline(0..300, 2).one_by_one().map(|n| {
            if n % 2 == 0 {
                receive.lock().unwrap().recv().unwrap();
            } else {
                send.send(()).unwrap();
            }
            n
        });
        assert!(items.collect::<Vec<_>>().into_iter().eq(0..300));
    });
}

#[test]
fn stages_wait_for_each_other() {
    // While a stage in order waits until a later stage has done the previous item, the other stages go on.
    in_pools_of(&[2, 7], || {
        let done = AtomicUsize::new(0);
        let wait_for = |n| {
            while done.load(Ordering::SeqCst) < n {
                thread::yield_now();
            }
        };
        pipeline(0..300_usize, 8)
            .one_by_one()
            .in_order(|n| {
                wait_for(n.saturating_sub(1));
                n
            })
            .for_each(|n| done.store(n + 1, Ordering::SeqCst));
    });
}

#[test]
fn channels() {
    in_pools_of(POOLS, || {
        let (send, receive) = channel();
        let producer = thread::spawn(move || {
            for n in 0..400_usize {
                if n.is_multiple_of(50) {
                    thread::sleep(Duration::from_millis(1));
                }
                send.send(n).unwrap();
            }
        });
        let all: Vec<usize> = pipeline(receive, 16).map(|n| n + 1).collect();
        assert!(all.into_iter().eq(1..401));
        producer.join().unwrap();
    });
}

#[test]
fn an_item_comes_through_before_the_next_one_is_there() {
    // Requests and responses: the source has its next item only when the last item has come through.
    in_pools_of(POOLS, || {
        let (send, receive) = channel();
        send.send(0).unwrap();
        let mut send = Some(send);
        pipeline(receive, 16).map(|n: usize| n + 1).for_each(|n| {
            if n == 500 {
                send = None;
            } else if let Some(send) = &send {
                send.send(n).unwrap();
            }
        });
    });
}

#[test]
fn a_source_that_blocks() {
    for threads in [1, 2, 4] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let sum: usize = pool.install(|| {
            let (send, receive) = channel();
            // The source waits for a job of the same pool.
            tine_pool::spawn(move || (0..100).for_each(|n| send.send(n).unwrap()));
            let source = from_fn(move || blocking(|| receive.recv().ok()));
            pipeline(source, 8).map(|n| n * 2).sum()
        });
        assert_eq!(sum, 9900);
    }
}

#[test]
fn a_waiting_source_leaves_the_pool_to_others() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let (send, receive) = channel();
        let (asked, asks) = mpsc::channel();
        // The other thread answers, though the pipeline has not come to its end.
        tine_pool::spawn(move || {
            for n in asks.iter().take(50) {
                send.send(n).unwrap();
            }
        });
        let mut next = 0;
        let source = from_fn(move || {
            next += 1;
            asked.send(next).ok()?;
            receive.recv().ok()
        });
        let all: Vec<i32> = pipeline(source, 4).collect();
        assert!(all.into_iter().eq(1..51));
    });
}

#[test]
fn pipelines_in_pipelines() {
    in_pools_of(POOLS, || {
        let inner = |n: usize| pipeline(0..n, 4).map(|n| n).sum::<usize>();
        let mut total = 0;
        pipeline(0..100, 8)
            .map(inner)
            .for_each(|sum| total += pipeline([sum], 1).sum::<usize>());
        let expected: usize = (0..100).map(|n: usize| n * n.saturating_sub(1) / 2).sum();
        assert_eq!(total, expected);
    });
}

#[test]
fn joins_everywhere() {
    in_pools_of(POOLS, || {
        let mut next = 0;
        let source = from_fn(|| {
            next = join(|| next + 1, || ()).0;
            (next <= 500).then_some(next)
        });
        let mut sum = 0;
        pipeline(source, 4)
            .in_order(|n| join(|| n, || n).0)
            .map(|n| join(|| n, || n).0)
            .for_each(|n| sum += join(|| n, || 0).0);
        assert_eq!(sum, 500 * 501 / 2);
    });
}

#[test]
fn all_threads_take_part() {
    in_pools_of(&[1, 2, 7], || {
        let seen: Mutex<HashSet<thread::ThreadId>> = Mutex::default();
        let everybody = current_num_threads();
        pipeline(0..everybody, everybody)
            .one_by_one()
            .inspect(|_| {
                seen.lock().unwrap().insert(thread::current().id());
                while seen.lock().unwrap().len() < everybody {
                    thread::yield_now();
                }
            })
            .run();
    });
}

#[test]
fn a_greedy_pool() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .greedy_waiting(true)
        .build()
        .unwrap();
    let sum = pool.install(|| {
        pipeline(0..2000_u64, 8)
            .one_by_one()
            .map(|n| join(|| n, || join(|| 1, || 2)).0)
            .in_order(|n| join(|| n, || ()).0)
            .sum::<u64>()
    });
    assert_eq!(sum, 1999 * 1000);
}

#[test]
fn outside_of_any_pool() {
    let mut all = Vec::new();
    pipeline(0..10_000, 256)
        .map(|n| n * 3)
        .for_each(|n| all.push(n));
    assert!(all.into_iter().eq((0..10_000).map(|n| n * 3)));
}

#[test]
fn hints_that_lie() {
    struct Boaster(usize, (usize, Option<usize>));

    impl Iterator for Boaster {
        type Item = usize;

        fn next(&mut self) -> Option<usize> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            self.1
        }
    }

    in_pools_of(POOLS, || {
        let hints = [
            (0, None),
            (1, None),
            (usize::MAX, None),
            (10_000, Some(1)),
            (0, Some(0)),
        ];
        for hint in hints {
            for limit in [1, 7, 300, usize::MAX] {
                let all: Vec<usize> = pipeline(Boaster(3000, hint), limit).collect();
                assert!(all.into_iter().eq((0..3000).rev()));
                let sum: usize = pipeline(Boaster(3000, hint), limit).batched().sum();
                assert_eq!(sum, 2999 * 1500);
            }
        }
    });
}

#[test]
fn after_its_end_a_source_is_left_alone() {
    in_pools_of(POOLS, || {
        let mut calls = 0;
        let source = from_fn(|| {
            calls += 1;
            assert!(calls <= 10, "asked again after the end");
            (calls < 10).then_some(calls)
        });
        assert_eq!(pipeline(source, 100).batched().count(), 9);
    });
}

#[test]
fn it_can_be_stopped() {
    in_pools_of(POOLS, || {
        let stop = AtomicBool::new(false);
        let census = Census::default();
        let mut seen = 0;
        let source = (0..usize::MAX).map(|n| census.value(n));
        pipeline(source, 16)
            .stop_when(|| stop.load(Ordering::SeqCst))
            .map(|value| value)
            .for_each(|value| {
                // What was drawn comes through, in order and without a gap.
                assert_eq!(value.number, seen);
                seen += 1;
                stop.fetch_or(seen == 1000, Ordering::SeqCst);
            });
        assert!((1000..=1000 + 16).contains(&seen));
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_token_ends_the_source() {
    in_pools_of(POOLS, || {
        let (token, census) = (StopToken::new(), Census::default());
        let mut seen = 0;
        let source = (0..usize::MAX).map(|n| census.value(n));
        let outcome = pipeline(source, 16)
            .map(|value| value)
            .until(&token)
            .for_each(|value| {
                assert_eq!(value.number, seen);
                seen += 1;
                if seen == 1000 {
                    token.stop();
                }
            });
        assert_eq!(outcome, Err(Stopped::default()));
        assert!((1000..=1000 + 16).contains(&seen));
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_token_that_is_not_stopped_changes_nothing() {
    in_pools_of(POOLS, || {
        let token = StopToken::new();
        for len in [0, 1, 2, 100, 3000] {
            let squares = pipeline(0..len, 7).map(|n: u64| n * n);
            let expected: Vec<u64> = (0..len).map(|n| n * n).collect();
            assert_eq!(squares.clone().until(&token).collect(), Ok(expected));
            assert_eq!(squares.clone().until(&token).count(), Ok(len as usize));
            let sum = (0..len).map(|n| n * n).sum();
            assert_eq!(squares.until(&token).sum::<u64>(), Ok(sum));
        }
    });
}

#[test]
fn tokens_errors_and_panics_meet() {
    in_pools_of(POOLS, || {
        // Stopped before: nothing is drawn.
        let token = StopToken::new();
        let child = token.child();
        token.stop();
        let drawn = AtomicUsize::new(0);
        let source = std::iter::repeat_with(|| drawn.fetch_add(1, Ordering::SeqCst));
        let none: Result<Vec<usize>, _> = pipeline(source, 4).until(&child).collect();
        assert_eq!(none.unwrap_err().so_far, []);
        assert_eq!(drawn.into_inner(), 0);
        // A stage fails: the token does not matter.
        let token = StopToken::new();
        let fails = pipeline(0.., 4).try_map(|n| if n < 50 { Ok(n) } else { Err(n) });
        assert_eq!(fails.until(&token).sum::<u64>(), Ok(Err(50)));
        // Both: the error is in what was done so far.
        let both = pipeline(0_u64.., 4).try_in_order(|n| {
            token.stop();
            Err::<u64, u64>(n)
        });
        assert!(matches!(
            both.until(&token).sum::<u64>(),
            Err(Stopped { so_far: Err(0) }) | Ok(Err(0))
        ));
        // A panic goes on, whatever the token says.
        let token = StopToken::new();
        let panics = pipeline(0_u64.., 4).map(|n| {
            token.stop();
            assert!(n != 0, "on purpose");
            n
        });
        let caught = catch_unwind(AssertUnwindSafe(|| panics.until(&token).count()));
        assert!(caught.is_err());
        // A deadline ends an endless pipeline; the outer token ends the pipeline by unwinding.
        let late = StopToken::new().with_timeout(Duration::from_millis(2));
        assert!(pipeline(0_u64.., 64).until(&late).count().is_err());
        let outer = StopToken::new();
        let inner = StopToken::new();
        let ended = with_token(&outer, || {
            let endless = pipeline(0_u64.., 8).inspect(|&n| {
                if n == 500 {
                    outer.stop();
                }
            });
            endless.until(&inner).count()
        });
        assert_eq!(ended, Err(Stopped { so_far: () }));
    });
}

#[test]
#[should_panic(expected = "the limit of a pipeline must not be zero")]
fn no_limit_of_nothing() {
    let _ = pipeline(0..3, 0);
}
