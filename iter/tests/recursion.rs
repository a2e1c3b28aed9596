//! Loops whose items call the same loop again, as in walks of trees: right at each depth, on few threads and on
//! many, with ends in the middle, and as deep as stacks should allow.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use tine_iter::prelude::*;
use tine_pool::{StopToken, ThreadPool, ThreadPoolBuilder};

struct Node {
    value: u64,
    kids: Vec<Node>,
}

/// A tree with about this number of nodes; most have few nodes below them, and some have many.
fn uneven(nodes: u64, seed: &mut u64) -> Node {
    let mut left = nodes.saturating_sub(1);
    let mut kids = vec![];
    let value = next(seed) % 1000;
    while left > 0 {
        let most = if next(seed).is_multiple_of(2) {
            1
        } else {
            left
        };
        let part = 1 + next(seed) % most;
        kids.push(uneven(part, seed));
        left -= part;
    }
    Node { value, kids }
}

fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    *seed >> 33
}

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
}

fn sum(node: &Node) -> u64 {
    node.value + node.kids.iter().map(sum).sum::<u64>()
}

fn par_sum(node: &Node) -> u64 {
    node.value + node.kids.par_iter().map(par_sum).sum::<u64>()
}

/// Two loops that call each other.
fn even(node: &Node) -> u64 {
    node.value + node.kids.par_iter().map(|kid| odd(kid) + 1).sum::<u64>()
}

fn odd(node: &Node) -> u64 {
    let sums: Vec<u64> = node.kids.par_iter().map(even).collect();
    node.value + sums.into_iter().sum::<u64>()
}

#[test]
fn walks_of_uneven_trees_are_right() {
    let nodes = if cfg!(miri) { 60 } else { 5_000 };
    let trees: Vec<Node> = (1..6).map(|seed| uneven(nodes, &mut { seed })).collect();
    for threads in [1, 2, 3, 8] {
        pool(threads).install(|| {
            for tree in &trees {
                assert_eq!(par_sum(tree), sum(tree));
                assert_eq!(even(tree), par_even_by_loops(tree, true));
            }
        });
    }
}

fn par_even_by_loops(node: &Node, even: bool) -> u64 {
    let below = |kid| par_even_by_loops(kid, !even) + u64::from(even);
    node.value + node.kids.iter().map(below).sum::<u64>()
}

/// The n-th node panics, whether or not all nodes before it were begun; later walks are right.
#[test]
fn a_panic_deep_inside_comes_out() {
    fn walk(node: &Node, seen: &AtomicUsize, last: usize) -> u64 {
        assert_ne!(seen.fetch_add(1, Relaxed), last, "the last");
        let below = |kid| walk(kid, seen, last);
        node.value + node.kids.par_iter().map(below).sum::<u64>()
    }
    let nodes = if cfg!(miri) { 40 } else { 2_000 };
    let tree = uneven(nodes, &mut 7);
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        for last in [0, 1, nodes as usize / 2, nodes as usize - 1] {
            let seen = AtomicUsize::new(0);
            let walk = || pool.install(|| walk(&tree, &seen, last));
            assert!(catch_unwind(AssertUnwindSafe(walk)).is_err());
            assert_eq!(pool.install(|| par_sum(&tree)), sum(&tree));
        }
    }
}

/// A path with a leaf on either side of each of its nodes, walked on the threads of pools. (Sanitizers make
/// frames larger.)
#[test]
fn a_deep_recursion_has_room_on_the_stack_of_a_thread() {
    let small = cfg!(any(
        miri,
        tine_asan,
        tine_tsan,
        not(target_pointer_width = "64")
    ));
    let levels = match small || std::env::var_os("RUST_MIN_STACK").is_some() {
        true => 20,
        false => 250,
    };
    let leaf = |value| Node {
        value,
        kids: vec![],
    };
    let path = (0..levels).fold(leaf(0), |node, value| Node {
        value,
        kids: vec![leaf(1), node, leaf(2)],
    });
    let rounds = if cfg!(miri) { 1 } else { 20 };
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        for _ in 0..rounds {
            assert_eq!(pool.install(|| par_sum(&path)), sum(&path));
        }
    }
}

/// In an inner call each item is a piece if there are about two items for each thread: an item may wait for the
/// next, also if all items were short before.
#[test]
fn items_of_an_inner_call_wait_for_each_other() {
    enum Tree {
        Inner(Vec<Tree>),
        Short,
        Waits,
        Tells,
    }
    use Tree::{Inner, Short, Tells, Waits};
    fn walk(tree: &Tree, told: &AtomicBool) -> usize {
        match tree {
            Inner(kids) => kids.par_iter().map(|kid| walk(kid, told)).sum(),
            Short => 1,
            Tells => {
                told.store(true, Relaxed);
                1
            }
            Waits => {
                let start = Instant::now();
                while !told.load(Relaxed) && start.elapsed() < Duration::from_secs(60) {
                    thread::yield_now();
                }
                usize::from(told.load(Relaxed))
            }
        }
    }
    for (threads, items) in [(3, 8), (7, 16)] {
        let with = |first: [Tree; 2]| {
            let rest = (2..items).map(|_| Short);
            Inner(vec![Inner(first.into_iter().chain(rest).collect()), Short])
        };
        let (short, waiting) = (with([Short, Short]), with([Waits, Tells]));
        let pool = pool(threads);
        let rounds = if cfg!(miri) { 2 } else { 100 };
        for round in 0..rounds {
            let tree = if round % 10 == 0 { &waiting } else { &short };
            let told = AtomicBool::new(false);
            assert_eq!(pool.install(|| walk(tree, &told)), items + 1);
        }
    }
}

/// Searches and tokens end a walk in the middle.
#[test]
fn walks_that_end_early_are_right() {
    fn any(node: &Node, value: u64) -> bool {
        node.value == value || node.kids.par_iter().any(|kid| any(kid, value))
    }
    let (nodes, rounds) = if cfg!(miri) { (40, 1) } else { (2_000, 10) };
    let tree = uneven(nodes, &mut 11);
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        for _ in 0..rounds {
            pool.install(|| {
                assert!(any(&tree, tree.kids[0].value));
                assert!(!any(&tree, 1000));
                for last in [0, 1, nodes as usize / 2, usize::MAX] {
                    let (token, seen) = (StopToken::new(), AtomicUsize::new(0));
                    let walk = || until(&tree, &token, &seen, last);
                    let result = tine_pool::with_token(&token, walk);
                    // A call that is stopped near its end may reach the end.
                    assert!(result.is_err() || last > 0);
                    assert!(result.is_ok() || last < usize::MAX);
                    assert!(result.is_err() || result.ok() == Some(sum(&tree)));
                }
            });
        }
    }
}

/// The n-th node stops the walk.
fn until(node: &Node, token: &StopToken, seen: &AtomicUsize, last: usize) -> u64 {
    if seen.fetch_add(1, Relaxed) == last {
        token.stop();
    }
    let below = |kid| until(kid, token, seen, last);
    node.value + node.kids.par_iter().map(below).sum::<u64>()
}
