//! A user's program over all collections at once: orders are counted, grouped, joined and published while other
//! threads read, under tokens, in scopes, on pools of one thread and of many, with goods whose `Hash`, `Eq`,
//! `Clone` and `Drop` panic. Every value is counted.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use tine::prelude::*;
use tine::{ParHashMap, ParVec, ReadMap, StopToken, ThreadPoolBuilder, scope, with_token};

/// By what a shop counts its goods: how many are alive, and which call panics, after how many calls.
#[derive(Default)]
struct Books {
    alive: AtomicI64,
    armed: AtomicBool,
    fuses: [AtomicI64; 4],
}

const HASH: usize = 0;
const EQ: usize = 1;
const CLONE: usize = 2;
const DROP: usize = 3;

impl Books {
    fn arm(&self, what: usize, after: i64) {
        self.fuses
            .iter()
            .for_each(|fuse| fuse.store(i64::MAX, Relaxed));
        self.fuses[what].store(after, Relaxed);
        self.armed.store(true, Relaxed);
    }

    fn disarm(&self) {
        self.armed.store(false, Relaxed);
    }

    fn tick(&self, what: usize) {
        let burnt = self.armed.load(Relaxed) && self.fuses[what].fetch_sub(1, Relaxed) == 0;
        assert!(!burnt, "on purpose");
    }
}

struct Good(u32, Arc<Books>);

impl Good {
    fn new(id: u32, books: &Arc<Books>) -> Self {
        books.alive.fetch_add(1, Relaxed);
        Good(id, books.clone())
    }
}

impl Hash for Good {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.tick(HASH);
        self.0.hash(state);
    }
}

impl PartialEq for Good {
    fn eq(&self, other: &Self) -> bool {
        self.1.tick(EQ);
        self.0 == other.0
    }
}

impl Eq for Good {}

impl Clone for Good {
    fn clone(&self) -> Self {
        self.1.tick(CLONE);
        Good::new(self.0, &self.1)
    }
}

impl Drop for Good {
    fn drop(&mut self) {
        self.1.alive.fetch_sub(1, Relaxed);
        if !std::thread::panicking() {
            self.1.tick(DROP);
        }
    }
}

/// Every third order is for good 0, the others are spread.
fn good_of(order: u32) -> u32 {
    match order % 3 {
        0 => 0,
        _ => order.wrapping_mul(2_654_435_761) >> 20,
    }
}

/// One day: the number of orders, of distinct goods, of orders of good 0, and of joined rows.
fn day(orders: u32, books: &Arc<Books>) -> [usize; 4] {
    let all = || {
        (0..orders)
            .into_par_iter()
            .map(|order| Good::new(good_of(order), books))
    };
    let sold = all().count_items();
    let groups = all()
        .enumerate()
        .map(|(order, good)| (good, order))
        .group_pairs();
    let kinds = all().distinct();
    let prices: ParHashMap<Good, u32> = kinds
        .par_iter()
        .map(|good| (good.clone(), good.0))
        .collect();
    let prices = prices.freeze();
    let joined = all().enumerate();
    let joined = joined.join_on(&prices, |(_, good)| good.clone());
    let joined: usize = joined
        .inner_with(|(_, good), price| usize::from(good.0 == *price))
        .sum();
    let log = ParVec::new();
    all().for_each(|good| {
        log.push(good);
    });
    let log = log.into_vec();
    assert_eq!(log.len(), groups.values_len());
    let total: usize = sold.into_iter().map(|(_, count)| count).sum();
    assert_eq!(total, log.len());
    let first = groups.get(&Good::new(0, books)).map_or(0, <[usize]>::len);
    assert_eq!(kinds.len(), groups.len());
    [total, kinds.len(), first, joined]
}

fn by_hand(orders: u32) -> [usize; 4] {
    let goods: Vec<u32> = (0..orders).map(good_of).collect();
    let kinds: HashSet<u32> = goods.iter().copied().collect();
    let first = goods.iter().filter(|good| **good == 0).count();
    [goods.len(), kinds.len(), first, goods.len()]
}

fn on_pools(work: impl Fn() + Sync) {
    work();
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(&work);
        // Two at once, one inside a scope.
        pool.scope(|s| {
            s.spawn(|_| work());
            work();
        });
    }
}

const SIZES: [u32; 5] = [0, 1, 50, 3_000, 40_000];

#[test]
fn days_large_and_small() {
    on_pools(|| {
        let books = Arc::new(Books::default());
        for orders in SIZES {
            assert_eq!(day(orders, &books), by_hand(orders));
            assert_eq!(books.alive.load(Relaxed), 0);
        }
    });
}

#[test]
fn days_on_which_something_blows() {
    let count = Cell::new(0);
    for what in [HASH, EQ, CLONE, DROP] {
        for after in [0, 3, 900, 20_000, 70_000, 150_000] {
            let books = Arc::new(Books::default());
            books.arm(what, after);
            let gone = catch_unwind(AssertUnwindSafe(|| day(20_000, &books)));
            books.disarm();
            match gone {
                Ok(right) => assert_eq!(right, by_hand(20_000)),
                Err(_) => count.set(count.get() + 1),
            }
            let alive = books.alive.load(Relaxed);
            // A destructor that panics may keep back what its own collection holds.
            assert!(
                alive == 0 || what == DROP,
                "{alive} alive, {what} after {after}"
            );
            assert_eq!(day(3_000, &Arc::new(Books::default())), by_hand(3_000));
        }
    }
    assert!(count.get() >= 10, "only {} days blew", count.get());
}

/// A day that is stopped at any time ends early, and leaves nothing behind.
#[test]
fn days_that_are_stopped() {
    for at in [0, 1, 700, 9_999, 25_000] {
        let books = Arc::new(Books::default());
        let token = StopToken::new();
        let seen = AtomicI64::new(0);
        let ended = with_token(&token, || {
            let orders = (0..20_000).into_par_iter().inspect(|_| {
                if seen.fetch_add(1, Relaxed) == at {
                    token.stop();
                }
            });
            let groups = orders
                .map(|order| (Good::new(good_of(order), &books), order))
                .group_pairs();
            let map = groups.into_map();
            map.into_par_iter().map(|(_, row)| row.len()).sum::<usize>()
        });
        match ended {
            Ok(sum) => assert!(at >= 20_000 && sum == 20_000),
            Err(_) => assert!(at < 20_000),
        }
        assert_eq!(books.alive.load(Relaxed), 0, "stopped at {at}");
    }
}

/// Readers, while a writer publishes and is stopped in the middle of it.
#[test]
fn readers_see_whole_publications() {
    on_pools(|| {
        let books = Arc::new(Books::default());
        let stock: ReadMap<u32, Good> = (0..500).map(|id| (id, Good::new(0, &books))).collect();
        let done = AtomicBool::new(false);
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut last = 0;
                    while !done.load(Relaxed) {
                        let now = stock.read(&7, |good| good.0).expect("always there");
                        assert!(now >= last, "{last}, then {now}");
                        last = now;
                    }
                });
            }
            let result = catch_unwind(AssertUnwindSafe(|| {
                for version in 1..40 {
                    let token = StopToken::new();
                    let changes = (0..500_u32).into_par_iter().map(|id| {
                        if version % 3 == 0 && id == 250 {
                            token.stop();
                        }
                        (id, Some(Good::new(version, &books)))
                    });
                    let ended = with_token(&token, || {
                        let changes: Vec<_> = changes.collect();
                        stock.publish(changes);
                    });
                    assert_eq!(ended.is_err(), version % 3 == 0, "version {version}");
                }
            }));
            done.store(true, Relaxed);
            assert!(result.is_ok(), "the writer failed");
        });
        // A clone that panics changes nothing.
        books.arm(CLONE, 100);
        let gone = catch_unwind(AssertUnwindSafe(|| {
            stock.publish(
                (0..500)
                    .map(|id| (id, Some(Good::new(99, &books))))
                    .collect::<Vec<_>>(),
            );
        }));
        books.disarm();
        let news = (0..500)
            .filter(|id| stock.read(id, |good| good.0) == Some(99))
            .count();
        assert!(gone.is_ok() == (news == 500), "{news} of 500 are new");
        assert_eq!(stock.len(), 500);
        drop(stock);
        assert_eq!(books.alive.load(Relaxed), 0);
    });
}

/// A shared map, filled and emptied by tasks of a scope that themselves run loops.
#[test]
fn tasks_with_loops_inside() {
    on_pools(|| {
        let books = Arc::new(Books::default());
        let shelves: ParHashMap<u32, Vec<Good>> = ParHashMap::new();
        scope(|s| {
            for task in 0..8_u32 {
                let (shelves, books) = (&shelves, &books);
                s.spawn(move |_| {
                    (0..300).into_par_iter().for_each(|i| {
                        let mut shelf = shelves.entry(i % 40).or_default();
                        shelf.push(Good::new(task, books));
                    });
                });
            }
        });
        assert_eq!(books.alive.load(Relaxed), 8 * 300);
        let by_task = shelves.into_par_iter().flat_map_iter(|(_, shelf)| shelf);
        let counts: HashMap<u32, usize> = by_task.count_by(|good| good.0).into_iter().collect();
        assert_eq!(counts, (0..8).map(|task| (task, 300)).collect());
        assert_eq!(books.alive.load(Relaxed), 0);
    });
}
