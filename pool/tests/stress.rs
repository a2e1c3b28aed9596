//! Everything at the same time, at random, on pools of 1 to 32 seats, for a few seconds each; if a pool stands
//! still, a watchdog ends the process with a picture of the pools.

mod common;

use common::{Random, Watch, budget, ignore, until};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;
use tine_pool::{ThreadPool, ThreadPoolBuilder};

const SIZES: [usize; 7] = [1, 2, 3, 5, 8, 16, 32];

/// The kind of a branch of a tree: its seed decides it, so that the sequential twin agrees.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Leaf,
    Join,
    JoinContext,
    Scope,
    ScopeFifo,
    InPlace,
    Handles,
    Spawns,
    Broadcast,
    Yields,
    Panics,
    Elsewhere,
}

/// A tree of nested calls.
#[derive(Clone)]
struct Tree {
    depth: u32,
    random: Random,
}

/// What a panic of a tree carries.
#[derive(Debug, PartialEq)]
struct Thrown(u64);

impl Tree {
    fn new(seed: u64, depth: u32) -> Self {
        Self {
            depth,
            random: Random::new(seed),
        }
    }

    fn split(mut self) -> (Kind, u64, [Self; 3]) {
        let kind = if self.depth == 0 {
            Kind::Leaf
        } else {
            match self.random.below(64) {
                0..=23 => Kind::Join,
                24..=27 => Kind::JoinContext,
                28..=35 => Kind::Scope,
                36..=39 => Kind::ScopeFifo,
                40..=42 => Kind::InPlace,
                43..=46 => Kind::Handles,
                47..=50 => Kind::Spawns,
                51 => Kind::Broadcast,
                52..=55 => Kind::Yields,
                56..=58 => Kind::Panics,
                59..=60 => Kind::Elsewhere,
                _ => Kind::Leaf,
            }
        };
        let value = self.random.below(1000);
        let depth = self.depth.saturating_sub(1);
        let branches = [(); 3].map(|()| Self::new(self.random.next(), depth));
        (kind, value, branches)
    }

    /// The sum over the tree, without any pool.
    fn expected(self) -> u64 {
        match self.split() {
            (Kind::Leaf | Kind::Broadcast, value, _) => value,
            (Kind::Panics | Kind::Elsewhere, value, [a, ..]) => value + a.expected(),
            (_, value, branches) => value + branches.map(Self::expected).iter().sum::<u64>(),
        }
    }

    /// The same, in parallel.
    fn sum(self, others: &[ThreadPool]) -> u64 {
        let (kind, value, [a, b, c]) = self.split();
        value
            + match kind {
                Kind::Leaf => work(value),
                Kind::Join => {
                    let (x, (y, z)) = tine_pool::join(
                        || a.sum(others),
                        || tine_pool::join(|| b.sum(others), || c.sum(others)),
                    );
                    x + y + z
                }
                Kind::JoinContext => {
                    let ((x, y), z) = tine_pool::join_context(
                        |_| tine_pool::join(|| a.sum(others), || b.sum(others)),
                        |_| c.sum(others),
                    );
                    x + y + z
                }
                Kind::Scope => scope_sum([a, b, c], others),
                Kind::ScopeFifo => {
                    let sum = AtomicU64::new(0);
                    tine_pool::scope_fifo(|s| {
                        for branch in [a, b, c] {
                            s.spawn_fifo(|_| ignore(sum.fetch_add(branch.sum(others), SeqCst)));
                        }
                    });
                    sum.into_inner()
                }
                Kind::InPlace => {
                    let sum = AtomicU64::new(0);
                    tine_pool::in_place_scope(|s| {
                        s.spawn(|s| {
                            s.spawn(|_| ignore(sum.fetch_add(a.sum(others), SeqCst)));
                            sum.fetch_add(b.sum(others), SeqCst);
                        });
                        sum.fetch_add(c.sum(others), SeqCst);
                    });
                    sum.into_inner()
                }
                Kind::Handles => {
                    let handles = [a, b].map(|t| tine_pool::spawn_join(|| t.sum(&[])));
                    let rest = c.sum(others);
                    handles.map(|h| h.join().unwrap()).iter().sum::<u64>() + rest
                }
                Kind::Spawns => {
                    let (send, receive) = mpsc::channel();
                    for (i, branch) in [a, b, c].into_iter().enumerate() {
                        let send = send.clone();
                        let run = move || send.send(branch.sum(&[])).unwrap();
                        if i == 1 {
                            tine_pool::spawn_fifo(run);
                        } else {
                            tine_pool::spawn(run);
                        }
                    }
                    drop(send);
                    receive_from_jobs(&receive)
                }
                Kind::Broadcast => {
                    let n = tine_pool::current_num_threads();
                    let all = tine_pool::broadcast(|context| {
                        assert_eq!(context.num_threads(), n);
                        let half = || tine_pool::current_num_threads();
                        assert_eq!(tine_pool::join(half, half), (n, n));
                        context.index()
                    });
                    assert!(all.into_iter().eq(0..n));
                    0
                }
                Kind::Yields => {
                    tine_pool::yield_local();
                    let sum = scope_sum([a, b, c], others);
                    tine_pool::yield_now();
                    sum
                }
                Kind::Panics => panics(value, a, others),
                Kind::Elsewhere => match others.get(value as usize % others.len().max(1)) {
                    Some(pool) => pool.install(|| a.sum(others)),
                    None => a.sum(others),
                },
            }
    }
}

/// Some work for a leaf that adds nothing.
fn work(value: u64) -> u64 {
    (0..value).fold(value, |x, y| std::hint::black_box(x ^ y));
    0
}

fn scope_sum(branches: [Tree; 3], others: &[ThreadPool]) -> u64 {
    let sum = AtomicU64::new(0);
    tine_pool::scope(|s| {
        for branch in branches {
            s.spawn(|_| ignore(sum.fetch_add(branch.sum(others), SeqCst)));
        }
    });
    sum.into_inner()
}

/// Waits for spawned jobs by a channel, yielding while they have not ended.
fn receive_from_jobs(receive: &mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    loop {
        match receive.try_recv() {
            Ok(value) => sum += value,
            Err(mpsc::TryRecvError::Disconnected) => return sum,
            Err(mpsc::TryRecvError::Empty) => {
                if tine_pool::yield_now() != Some(tine_pool::Yield::Executed) {
                    thread::yield_now();
                }
            }
        }
    }
}

/// A panic in one place of each verb; the other places all run to their ends.
fn panics(value: u64, tree: Tree, others: &[ThreadPool]) -> u64 {
    let sum = AtomicU64::new(0);
    let good = |tree: Tree| ignore(sum.fetch_add(tree.sum(others), SeqCst));
    let bad = || -> () { resume_unwind(Box::new(Thrown(value))) };
    let result = catch_unwind(AssertUnwindSafe(|| match value % 5 {
        0 => ignore(tine_pool::join(bad, || good(tree))),
        1 => ignore(tine_pool::join(|| good(tree), bad)),
        2 => tine_pool::scope(|s| {
            s.spawn(|_| good(tree));
            s.spawn(|_| bad());
        }),
        3 => tine_pool::scope_fifo(|s| {
            s.spawn_fifo(|_| good(tree));
            bad();
        }),
        _ => {
            let job = tine_pool::spawn_join(move || resume_unwind(Box::new(Thrown(value))));
            good(tree);
            let () = job.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }));
    let thrown = result.unwrap_err().downcast::<Thrown>();
    assert_eq!(*thrown.unwrap(), Thrown(value));
    sum.into_inner()
}

fn check(watch: &Watch, seed: u64, depth: u32, run: impl FnOnce(Tree) -> u64) {
    watch.step(seed);
    let tree = Tree::new(seed, depth);
    assert_eq!(run(tree.clone()), tree.expected(), "seed {seed:#x}");
}

#[test]
fn everything_nested_in_everything() {
    let watch = Watch::new("everything_nested_in_everything");
    for (i, size) in SIZES.into_iter().enumerate() {
        let pool = watch.pool(size);
        let more = budget(700);
        for seed in (i as u64 * 1_000_000).. {
            check(&watch, seed, 6, |tree| pool.install(|| tree.sum(&[])));
            if !more() {
                break;
            }
        }
        pool.shutdown();
    }
}

#[test]
fn guests_from_many_threads() {
    let watch = Watch::new("guests_from_many_threads");
    let more = budget(4000);
    thread::scope(|s| {
        for i in 1..=8 {
            let (watch, more) = (&watch, &more);
            s.spawn(move || {
                for seed in (i * 0x0100_0000).. {
                    check(watch, seed, 5, |tree| tree.sum(&[]));
                    if seed % 7 == 0 {
                        thread::sleep(Duration::from_micros(seed % 300));
                    }
                    if !more() {
                        break;
                    }
                }
            });
        }
    });
}

#[test]
fn several_threads_share_a_pool() {
    let watch = Watch::new("several_threads_share_a_pool");
    for size in [1, 4, 32] {
        let pool = watch.pool(size);
        let more = budget(1200);
        thread::scope(|s| {
            for i in 1..=6 {
                let (watch, more, pool) = (&watch, &more, &pool);
                s.spawn(move || {
                    for seed in (i * 0x2000_0000).. {
                        check(watch, seed, 5, |tree| pool.scope(|_| tree.sum(&[])));
                        if !more() {
                            break;
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn pools_within_pools() {
    let watch = Watch::new("pools_within_pools");
    let more = budget(4000);
    for seed in 0x7000_0000.. {
        let pools: Vec<_> = [1, 2, 3].into_iter().map(|n| watch.pool(n)).collect();
        check(&watch, seed, 6, |tree| {
            pools[seed as usize % 3].install(|| tree.sum(&pools))
        });
        thread::scope(|s| {
            for i in 0..3 {
                let (watch, pools) = (&watch, &pools);
                s.spawn(move || {
                    check(watch, seed ^ i << 40, 4, |tree| {
                        pools[i as usize].install(|| tree.sum(pools))
                    });
                });
            }
        });
        if !more() {
            break;
        }
    }
}

#[test]
fn pools_come_and_go_with_jobs_in_them() {
    let watch = Watch::new("pools_come_and_go_with_jobs_in_them");
    let more = budget(3000);
    let mut random = Random::new(11);
    let (asked, done) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let one = |count: usize| {
        asked.fetch_add(count, SeqCst);
        let done = Arc::clone(&done);
        move || ignore(done.fetch_add(1, SeqCst))
    };
    while more() {
        let size = 1 + random.below(6) as usize;
        let pool = watch.pool(size);
        for _ in 0..random.below(20) {
            match random.below(6) {
                0 => pool.spawn(one(1)),
                1 => pool.spawn_fifo(one(1)),
                2 => {
                    let one = one(size);
                    pool.spawn_broadcast(move |_| one());
                }
                3 => pool.spawn_many((0..5).map(|_| one(1))),
                4 => {
                    let (one, inner) = (one(1), one(2));
                    pool.spawn(move || {
                        let late = inner.clone();
                        tine_pool::spawn(move || ignore(tine_pool::join(late.clone(), late)));
                        one();
                        drop(inner);
                    });
                }
                _ => {
                    let (one, all) = (one(1), one(size));
                    pool.spawn(move || {
                        thread::yield_now();
                        tine_pool::spawn_broadcast(move |_| all());
                        one();
                    });
                }
            }
        }
        if random.below(4) == 0 {
            thread::sleep(Duration::from_micros(random.below(200)));
        }
        if random.below(3) == 0 {
            pool.shutdown();
        } else {
            drop(pool);
        }
    }
    watch.step(asked.load(SeqCst) as u64);
    until(|| done.load(SeqCst) == asked.load(SeqCst));
}

#[test]
fn letters_to_threads_are_read_though_the_pool_ends() {
    let watch = Watch::new("letters_to_threads_are_read_though_the_pool_ends");
    let more = budget(1000);
    let (send, receive) = mpsc::channel();
    for round in 0.. {
        let pool = watch.pool(3);
        if round % 2 == 0 {
            thread::sleep(Duration::from_micros(round % 100));
        }
        let send = send.clone();
        pool.spawn_broadcast(move |context| send.send(context.index()).unwrap());
        drop(pool);
        let mut seen: Vec<_> = (0..3).map(|_| receive.recv().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
        if !more() {
            break;
        }
    }
}

#[test]
fn a_job_that_outlives_its_pool_has_all_of_its_threads() {
    let watch = Watch::new("a_job_that_outlives_its_pool_has_all_of_its_threads");
    let more = budget(1000);
    while more() {
        let (send, receive) = mpsc::channel();
        let pool = watch.pool(2);
        pool.spawn(move || {
            thread::sleep(Duration::from_millis(1));
            let barrier = Barrier::new(2);
            tine_pool::join(|| barrier.wait(), || barrier.wait());
            assert_eq!(tine_pool::broadcast(|c| c.index()), [0, 1]);
            send.send(()).unwrap();
        });
        drop(pool);
        receive.recv().unwrap();
    }
}

#[test]
fn a_pool_ends_when_nothing_is_left() {
    let watch = Watch::new("a_pool_ends_when_nothing_is_left");
    let ended = Arc::new(AtomicUsize::new(0));
    let mut started = 0;
    let more = budget(800);
    while more() {
        for size in [1, 2, 7] {
            let count = Arc::clone(&ended);
            let builder = ThreadPoolBuilder::new().num_threads(size);
            let pool =
                watch.watched(builder.exit_handler(move |_| ignore(count.fetch_add(1, SeqCst))));
            started += size;
            pool.spawn(|| tine_pool::spawn(|| thread::sleep(Duration::from_micros(100))));
            drop(pool);
        }
    }
    until(|| ended.load(SeqCst) == started);
}
