//! Calls inside calls, at random: each verb runs other verbs in its closures, some levels deep, on its own
//! pool, on another, and in place of a thread that blocks.
//!
//! Most verbs here wait, since pools have stood still if one wait lay inside another. `broadcast` is left out:
//! according to its page it may wait for ever, if a seat of its pool waits for the caller.

use crate::actions::{Action, Common, Random};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tine::iter::ParallelBridge;
use tine::prelude::*;
use tine::{StopToken, ThreadPoolBuilder, stop};

/// Name and function.
pub(crate) const NEST: &[(&str, Action)] = &[("calls inside of calls", nest)];

/// The greatest depth, and the greatest number of calls.
const DEPTH: u64 = 4;
const CALLS: u64 = 60;

/// What a verb runs inside itself; the number tells one such call from another.
type Inner<'i> = &'i (dyn Fn(u64) + Sync);

type Verb = fn(&mut Random, &Common, Inner<'_>);

const VERBS: &[Verb] = &[
    join,
    scope,
    collect,
    install,
    scope_of_another,
    own_pool,
    block,
    block_and_install,
    hand_over,
    pipeline,
    bridge,
    sort,
    group,
    scan,
    find,
    handles,
    stopped,
    timed,
    unwinding_loop,
    unwinding_scope,
];

fn nest(random: &mut Random, common: &Common) {
    level(random.split(), common, DEPTH, &AtomicU64::new(CALLS));
}

fn level(mut random: Random, common: &Common, depth: u64, left: &AtomicU64) {
    let is_left = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
    if depth == 0 || is_left.is_err() {
        let count = random.below(60);
        assert_eq!((0..count).into_par_iter().sum::<u64>(), (0..count).sum());
        return;
    }
    let verb = VERBS[random.below(VERBS.len() as u64) as usize];
    let seed = random.next();
    let inner = |nth| level(Random::new(seed ^ (nth << 40)), common, depth - 1, left);
    verb(&mut random, common, &inner);
}

/// A value that is counted: the number of owners of the `Arc`, except the first.
type Counted = (u64, Arc<()>);

fn counted(all: &Arc<()>) -> impl Fn(u64) -> Counted + Sync + '_ {
    |number| (number, Arc::clone(all))
}

/// Nothing that was made is left.
fn none_left(all: &Arc<()>) {
    assert_eq!(Arc::strong_count(all), 1, "something is left");
}

fn join(_: &mut Random, _: &Common, inner: Inner<'_>) {
    tine::join(|| inner(1), || inner(2));
}

fn scope(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let count = random.below(6);
    tine::scope(|s| {
        for nth in 0..count {
            s.spawn(move |s| {
                inner(nth);
                s.spawn(move |_| inner(nth + 100));
            });
        }
    });
}

fn collect(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let count = random.below(40);
    let doubled = (0..count).into_par_iter().map(|n| {
        if n % 9 == 0 {
            inner(n);
        }
        n * 2
    });
    let doubled: Vec<u64> = doubled.collect();
    assert!(doubled.into_iter().eq((0..count).map(|n| n * 2)));
}

fn install(random: &mut Random, common: &Common, inner: Inner<'_>) {
    common.pools[random.below(4) as usize].install(|| inner(1));
}

fn scope_of_another(random: &mut Random, common: &Common, inner: Inner<'_>) {
    let pool = &common.pools[random.below(4) as usize];
    if random.below(2) == 0 {
        pool.scope(|s| {
            s.spawn(|_| inner(1));
            inner(2);
        });
    } else {
        pool.in_place_scope(|s| {
            s.spawn(|_| inner(1));
            inner(2);
        });
    }
}

fn own_pool(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let builder = ThreadPoolBuilder::new().num_threads(1 + random.below(3) as usize);
    let pool = builder.build().unwrap();
    pool.install(|| inner(1));
    let last = pool.spawn_join(|| (0..100_u64).into_par_iter().sum::<u64>());
    if random.below(2) == 0 {
        pool.shutdown();
    } else {
        drop(pool);
    }
    assert_eq!(last.join().unwrap(), 4950);
}

fn block(_: &mut Random, _: &Common, inner: Inner<'_>) {
    tine::blocking(|| inner(1));
}

fn block_and_install(random: &mut Random, common: &Common, inner: Inner<'_>) {
    let pool = &common.pools[random.below(4) as usize];
    tine::blocking(|| pool.install(|| inner(1)));
}

/// A job of the pool fills a channel; this thread reads from it, and blocks for each value.
fn hand_over(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let (send, receive) = mpsc::channel();
    let count = random.below(300);
    let sender = tine::spawn_join(move || (0..count).try_for_each(|n| send.send(n)).is_ok());
    let source = std::iter::from_fn(move || tine::blocking(|| receive.recv().ok()));
    let got = tine::pipeline(source, 8).map(|n| {
        if n % 50 == 3 {
            inner(n);
        }
        n
    });
    let mut got: Vec<u64> = got.collect();
    assert!(sender.join().unwrap());
    got.sort_unstable();
    assert!(got.into_iter().eq(0..count));
}

fn pipeline(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let (all, count) = (Arc::new(()), random.below(300));
    let stages = tine::pipeline((0..count).map(counted(&all)), 16).map(|(n, _counted)| {
        if n % 64 == 3 {
            inner(n);
        }
        n
    });
    let even: Vec<u64> = stages.in_order(|n| n + 1).filter(|n| n % 2 == 0).collect();
    assert!(even.into_iter().eq((1..=count).filter(|n| n % 2 == 0)));
    none_left(&all);
}

fn bridge(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let (all, count) = (Arc::new(()), random.below(400));
    let source = (0..count).map(counted(&all));
    let got = source.par_bridge_ordered(16).map(|(n, _counted)| {
        if n % 100 == 3 {
            inner(n);
        }
        n
    });
    assert!(got.collect::<Vec<u64>>().into_iter().eq(0..count));
    none_left(&all);
}

fn sort(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let all = Arc::new(());
    let count = random.below(5000);
    let mut values: Vec<Counted> = (0..count)
        .map(|_| counted(&all)(random.below(1000)))
        .collect();
    let mut numbers: Vec<u64> = values.iter().map(|(n, _)| *n).collect();
    numbers.sort_unstable();
    if random.below(2) == 0 {
        values.par_sort_by_key(|(n, _)| *n);
    } else {
        values.par_sort_unstable();
    }
    assert!(values.iter().map(|(n, _)| *n).eq(numbers));
    inner(1);
    drop(values);
    none_left(&all);
}

fn group(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let numbers: Vec<u64> = (0..random.below(8000)).map(|_| random.below(300)).collect();
    let groups = numbers.par_iter().copied().group_by(|n| n % 37);
    let total: u64 = groups
        .par_iter()
        .map(|(key, group)| {
            assert!(group.iter().all(|n| n % 37 == *key));
            if *key == 5 {
                inner(*key);
            }
            group.len() as u64
        })
        .sum();
    assert_eq!(total, numbers.len() as u64);
}

fn scan(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let numbers: Vec<u64> = (0..random.below(6000)).collect();
    let items = numbers.par_iter().map(|n| {
        if n % 3001 == 1 {
            inner(*n);
        }
        *n
    });
    let sums: Vec<u64> = items.prefix_sum().collect();
    let mut sum = 0;
    assert!(sums.iter().zip(&numbers).all(|(all, n)| {
        sum += n;
        *all == sum
    }));
}

fn find(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let count = random.below(2000);
    let found = (0..count).into_par_iter().find_first(|n| {
        if n % 200 == 7 {
            inner(*n);
        }
        n % 97 == 96
    });
    assert_eq!(found, (0..count).find(|n| n % 97 == 96));
}

fn handles(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let all = Arc::new(());
    let handles: Vec<_> = (0..random.below(5))
        .map(|n| {
            let value = counted(&all)(n);
            tine::spawn_join(move || (0..value.0).into_par_iter().count() as u64 == value.0)
        })
        .collect();
    inner(1);
    for handle in handles {
        assert!(handle.join().unwrap());
    }
    none_left(&all);
}

/// A loop that one of its items may stop. A panic that was caught inside the item may have been unwinding while
/// the loop was stopped: then it goes on from here.
fn stopped(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let (all, token) = (Arc::new(()), StopToken::new());
    let (count, at) = (random.below(60), random.below(100));
    let made = caught(|| {
        tine::with_token(&token, || {
            let items = (0..count).into_par_iter().map(|n| {
                if n == at {
                    token.stop();
                }
                if n % 11 == 0 {
                    inner(n);
                }
                counted(&all)(n)
            });
            items.collect::<Vec<_>>()
        })
    });
    match made {
        Ok(Ok(made)) => assert_eq!(made.len() as u64, count),
        _ => assert!(stop::requested() || token.is_stopped()),
    }
    none_left(&all);
}

/// A scope that is stopped after some time.
fn timed(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let token = StopToken::new().with_timeout(Duration::from_micros(random.below(2000)));
    let count = random.below(8);
    let ended = caught(|| {
        tine::scope_with(&token, |s| {
            for nth in 0..count {
                s.spawn(move |_| inner(nth));
            }
        })
    });
    assert!(matches!(ended, Ok(Ok(()))) || stop::requested() || token.is_stopped());
}

/// A payload that unwinds on its way out of a stopped call goes on.
fn caught<R>(call: impl FnOnce() -> R) -> Result<R, &'static str> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        if stop::is_end(&*payload) {
            resume_unwind(payload);
        }
        match payload.downcast_ref::<&str>() {
            Some(&"as it is meant to") => "as it is meant to",
            _ => resume_unwind(payload),
        }
    })
}

fn unwind() -> ! {
    // Without the hook, which would print it.
    resume_unwind(Box::new("as it is meant to"))
}

fn unwinding_loop(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let all = Arc::new(());
    let (count, at) = (random.below(60), random.below(100));
    let made = caught(|| {
        let items = (0..count).into_par_iter().map(|n| {
            if n == at {
                unwind();
            }
            if n % 11 == 0 {
                inner(n);
            }
            counted(&all)(n)
        });
        items.collect::<Vec<_>>()
    });
    assert_eq!(made.is_err(), at < count);
    drop(made);
    none_left(&all);
}

fn unwinding_scope(random: &mut Random, _: &Common, inner: Inner<'_>) {
    let (all, count) = (Arc::new(()), random.below(7));
    let ended = caught(|| {
        tine::scope(|s| {
            for nth in 0..count {
                let value = counted(&all)(nth);
                s.spawn(move |_| {
                    let _counted = value;
                    if nth == 3 {
                        unwind();
                    }
                    inner(nth);
                });
            }
        });
    });
    assert_eq!(ended.is_err(), count > 3);
    none_left(&all);
}
