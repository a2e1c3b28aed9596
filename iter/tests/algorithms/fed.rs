//! `for_each_fed`: worklists whose items feed further items.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use quickcheck::quickcheck;
use tine_iter::algorithms::for_each_fed;

use crate::watched::watched;

use crate::kit::{Census, bomb, in_pools, numbers, panics};

/// Which nodes are reached from the first one, by a stack.
fn reached(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut stack = vec![0];
    seen[0] = true;
    while let Some(node) = stack.pop() {
        for &next in &edges[node] {
            if !std::mem::replace(&mut seen[next], true) {
                stack.push(next);
            }
        }
    }
    seen
}

fn reached_fed(edges: &[Vec<usize>]) -> Vec<bool> {
    let seen: Vec<_> = edges.iter().map(|_| AtomicBool::new(false)).collect();
    seen[0].store(true, SeqCst);
    for_each_fed([0], |node: usize, feeder| {
        for &next in &edges[node] {
            if !seen[next].swap(true, SeqCst) {
                feeder.feed(next);
            }
        }
    });
    seen.into_iter().map(AtomicBool::into_inner).collect()
}

quickcheck! {
    fn reaches_what_a_stack_reaches(pairs: Vec<(u8, u8)>) -> bool {
        let mut edges = vec![vec![]; 256];
        for (from, to) in pairs {
            edges[usize::from(from)].push(usize::from(to));
        }
        reached_fed(&edges) == reached(&edges)
    }
}

#[test]
fn graphs_of_every_size() {
    for nodes in [1, 2, 100, 20_000] {
        for degree in [1, 2, 5] {
            let ends = numbers(nodes * degree, nodes as u64);
            let edges: Vec<Vec<usize>> = ends
                .chunks(degree)
                .map(|ends| ends.iter().map(|&end| end as usize).collect())
                .collect();
            let expected = reached(&edges);
            in_pools(|| assert!(reached_fed(&edges) == expected));
        }
    }
    // A chain, where there is never more than one item.
    let chain: Vec<Vec<usize>> = (0..50_000).map(|n| vec![(n + 1) % 50_000]).collect();
    in_pools(|| assert!(reached_fed(&chain).into_iter().all(|seen| seen)));
}

#[test]
fn each_item_is_worked_on_once() {
    in_pools(|| {
        for initial in [0, 1, 10, 3_000] {
            let census = Census::new();
            let worked = AtomicUsize::new(0);
            for_each_fed(census.values(initial), |item, feeder| {
                worked.fetch_add(1, SeqCst);
                feeder.feed_all((0..item.number % 3).map(|n| census.value(n)));
            });
            // 0 feeds nothing, 1 feeds 0, 2 feeds 0 and 1 (which feeds 0).
            let expected: usize = (0..initial).map(|n| [1, 2, 4][n % 3]).sum();
            assert_eq!(worked.into_inner(), expected);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn a_panic_ends_it_and_drops_the_rest() {
    in_pools(|| {
        for at in [0, 500, 5_000] {
            let census = Census::new();
            let worked = AtomicUsize::new(0);
            assert!(panics(|| for_each_fed(
                [census.value(0)],
                |_item, feeder| {
                    bomb(worked.fetch_add(1, SeqCst), at);
                    // Would never end by itself.
                    feeder.feed(census.value(1));
                    feeder.feed(census.value(2));
                }
            )));
            assert_eq!(census.alive(), 0);
        }
    });
}

/// Items that have been short so far are expected to take no time, and many run in a row.
#[test]
fn a_panic_ends_it_before_the_next_item_of_any_thread() {
    /// More items than a thread holds outside its stack.
    const IN_HAND: usize = 1000;
    /// How many items the panic has dropped.
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Item;
    impl Drop for Item {
        fn drop(&mut self) {
            if std::thread::panicking() {
                DROPPED.fetch_add(1, SeqCst);
            }
        }
    }

    let _watch = watched();
    let pool = tine_pool::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let worked = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let (leads, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (late, noted_late) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = || {
        for_each_fed((0..2_000_000).map(|_| Item), |_: Item, _| {
            let thread = tine_pool::current_thread_index().unwrap();
            if over.load(SeqCst) {
                late.fetch_add(1, SeqCst);
                // Until the panic is noted: after that, the thread drops its stack. If it has few
                // items left there, or the machine is too busy, this tells nothing.
                let mut looks = 0;
                while DROPPED.load(SeqCst) < IN_HAND && !noted_late.load(SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                    looks += 1;
                    noted_late.fetch_or(looks == 10_000, SeqCst);
                }
                return;
            }
            worked[thread].fetch_add(1, SeqCst);
            let other = &worked[1 - thread];
            if other.load(SeqCst) > 0 && !leads.swap(true, SeqCst) {
                // Until the other thread is in the middle of many items.
                let (before, mut looks) = (other.load(SeqCst), 0);
                while other.load(SeqCst) < before + 100_000 && looks < 10_000 {
                    std::thread::sleep(Duration::from_micros(100));
                    looks += 1;
                }
                over.store(true, SeqCst);
                bomb(0, 0);
            }
        })
    };
    let panicked = panics(|| pool.install(run));
    // On a busy machine the other thread may come too late.
    assert_eq!(panicked, leads.into_inner());
    let late = late.into_inner();
    // The item that was begun before the panic was noted.
    assert!(
        late <= 1 || noted_late.into_inner(),
        "{late} items began after the panic"
    );
}

/// Two items that wait for each other, fed by one.
#[test]
fn an_item_that_blocks_does_not_hold_up_the_others() {
    let _watch = watched();
    let pool = tine_pool::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    pool.install(|| {
        let meet = Barrier::new(2);
        for_each_fed([0, 0], |depth: u32, feeder| {
            if depth < 50 {
                std::thread::sleep(Duration::from_micros(50));
                feeder.feed(depth + 1);
            } else {
                meet.wait();
            }
        });
    });
}
