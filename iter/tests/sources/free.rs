//! Sources without a collection: repeated items, one, none, split data, trees; tuples, and one of two.

use crate::kit::{gathered, indexed_twin, pools, shown, twin};
use crate::watched::watched;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tine_iter::iter::{
    Either, empty, once, repeat, repeat_n, split, walk_tree, walk_tree_postfix, walk_tree_prefix,
};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

#[test]
fn repeated() {
    for n in [0, 1, 2, 7] {
        let twin = std::iter::repeat_n(String::from("x"), n);
        indexed_twin!(let s = String::from("x"); repeat_n(s.clone(), n), { drop(s); twin.clone() });
        indexed_twin!(let s = 'x'; repeat(s).take(n), std::iter::repeat_n(s, n));
        indexed_twin!(let s = 'x'; repeat(s).zip(0..n), (0..n).map(|i| (s, i)));
    }
    #[allow(deprecated)]
    let old = tine_iter::iter::repeatn(1, 2);
    assert_eq!(gathered(old), ["1", "1"]);
    assert_eq!(repeat_n((), usize::MAX).len(), usize::MAX);
}

#[test]
fn repeated_items_can_be_skipped_over() {
    struct Nth;
    impl tine_iter::iter::plumbing::ProducerCallback<u8> for Nth {
        type Output = ();
        fn callback<P: tine_iter::iter::plumbing::Producer<Item = u8>>(self, producer: P) {
            let mut items = producer.into_iter();
            assert_eq!(items.nth(2), Some(9));
            assert_eq!(items.len(), 7);
            assert_eq!(items.nth_back(3), Some(9));
            assert_eq!(items.len(), 3);
            assert_eq!(items.nth(3), None);
            assert_eq!(items.len(), 0);
            assert_eq!(items.nth(usize::MAX), None);
        }
    }
    repeat_n(9_u8, 10).with_producer(Nth);
}

#[test]
fn one_and_none() {
    indexed_twin!(let x = 5; once(x), std::iter::once(x));
    indexed_twin!(let _x = 5; empty::<u8>(), std::iter::empty::<u8>());
    assert_eq!(
        format!("{:?} {:?}", once(1).clone(), empty::<u8>().clone()),
        "Once { item: 1 } Empty"
    );
    assert_eq!(
        format!("{:?}", repeat_n('c', 2).clone()),
        "RepeatN { count: 2, element: 'c' }"
    );
    assert_eq!(
        format!("{:?}", repeat_n('c', 0)),
        "RepeatN { count: 0, .. }"
    );
}

fn halves(range: Range<u32>) -> (Range<u32>, Option<Range<u32>>) {
    let middle = range.start + (range.end - range.start) / 2;
    if middle == range.start {
        return (range, None);
    }
    (range.start..middle, Some(middle..range.end))
}

#[test]
fn split_data() {
    for n in [0, 1, 2, 1000] {
        for pool in pools() {
            let parts = pool.install(|| gathered(split(0..n, halves)));
            let text = parts.join(" ");
            let ends: Vec<&str> = text.split([' ', '.']).filter(|s| !s.is_empty()).collect();
            // Each part begins where the one before it ends.
            assert_eq!(ends[0], "0");
            assert_eq!(ends[ends.len() - 1], n.to_string());
            assert!(
                ends[1..ends.len() - 1]
                    .chunks(2)
                    .all(|pair| pair[0] == pair[1])
            );
        }
    }
    assert_eq!(
        format!("{:?}", split(3, |x| (x, None)).clone()),
        "Split { data: 3 }"
    );
}

/// A random tree: the children of each node, which are numbered higher.
fn tree(parents: &[usize]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); parents.len() + 1];
    for (node, parent) in parents.iter().enumerate() {
        children[parent % (node + 1)].push(node + 1);
    }
    children
}

fn before(tree: &[Vec<usize>], node: usize, order: &mut Vec<usize>) {
    order.push(node);
    tree[node]
        .iter()
        .for_each(|&child| before(tree, child, order));
}

fn after(tree: &[Vec<usize>], node: usize, order: &mut Vec<usize>) {
    tree[node]
        .iter()
        .for_each(|&child| after(tree, child, order));
    order.push(node);
}

quickcheck::quickcheck! {
    fn trees(parents: Vec<usize>) -> bool {
        let tree = tree(&parents);
        let children = |&node: &usize| tree[node].clone();
        let (mut prefix, mut postfix) = (Vec::new(), Vec::new());
        before(&tree, 0, &mut prefix);
        after(&tree, 0, &mut postfix);
        twin!(let root = 0; walk_tree_prefix(root, children), { let _ = root; prefix.iter() });
        twin!(let root = 0; walk_tree_postfix(root, children), { let _ = root; postfix.iter() });
        for pool in pools() {
            let mut any = pool.install(|| gathered(walk_tree(0, children)));
            any.sort();
            let mut want = shown(&prefix);
            want.sort();
            assert_eq!(any, want);
        }
        true
    }
}

#[test]
fn a_branch_deeper_than_the_stack() {
    const DEPTH: u32 = 1_000_000;
    let child = |&n: &u32| (n < DEPTH).then_some(n + 1);
    for pool in pools() {
        pool.install(|| {
            let want = u64::from(DEPTH) * u64::from(DEPTH + 1) / 2;
            assert_eq!(walk_tree(0, child).map(u64::from).sum::<u64>(), want);
            assert_eq!(walk_tree_prefix(0, child).map(u64::from).sum::<u64>(), want);
            assert_eq!(
                walk_tree_postfix(0, child).map(u64::from).sum::<u64>(),
                want
            );
        });
    }
}

/// The first item of a range, and the rest.
fn first_of(mut rest: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let at = rest.start;
    if rest.len() < 2 {
        return (rest, None);
    }
    rest.start += 1;
    (at..at + 1, Some(rest))
}

/// A split takes one item from the front, and two threads take the rest from each other in turn. Here each item
/// waits a while until the rest has been taken. The waits must not nest as deep as the number of items.
#[test]
fn one_item_split_off_after_the_other() {
    const LEN: usize = 20_000;
    let splits = AtomicUsize::new(0);
    let first = |rest: Range<usize>| {
        splits.fetch_max(rest.start, Relaxed);
        first_of(rest)
    };
    let wait = |part: Range<usize>| {
        for _ in 0..1000 {
            if splits.load(Relaxed) > part.start {
                break;
            }
            thread::yield_now();
        }
        part
    };
    for pool in pools() {
        splits.store(0, Relaxed);
        let parts: Vec<_> = pool.install(|| {
            split(0..LEN, first)
                .map(wait)
                .flat_map_iter(|p| p)
                .collect()
        });
        assert!(parts.into_iter().eq(0..LEN));
        splits.store(0, Relaxed);
        let found = pool.install(|| split(0..LEN, first).map(wait).find_first(|p| p.end == LEN));
        assert_eq!(found.map(|p| p.end), Some(LEN));
    }
}

/// Items that wait until the next item has begun: how far all have come, and how many waited in vain for a
/// minute.
#[derive(Default)]
struct Waiting {
    begun: AtomicUsize,
    late: AtomicUsize,
}

impl Waiting {
    fn begin(&self, end: usize) {
        self.begun.fetch_max(end, Relaxed);
    }

    fn wait_behind(&self, end: usize) {
        let start = Instant::now();
        while self.begun.load(Relaxed) <= end {
            if self.late.load(Relaxed) > 0 || start.elapsed() > Duration::from_secs(60) {
                self.late.fetch_max(end, Relaxed);
                break;
            }
            thread::sleep(Duration::from_micros(20));
        }
    }
}

/// Each item waits until the next item has begun. So a free thread must always find the next item.
#[test]
fn items_that_wait_for_the_next_one() {
    const LEN: usize = 500;
    for threads in [2, 3, 8] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let line = Waiting::default();
        let parts = AtomicUsize::new(0);
        let wait = |part: Range<usize>| {
            line.begin(part.end);
            parts.fetch_add(1, Relaxed);
            // Parts that are short are not split again.
            thread::sleep(Duration::from_micros(20));
            if part.end < LEN {
                line.wait_behind(part.end);
            }
            part.len()
        };
        let sum: usize = pool.install(|| split(0..LEN, first_of).map(wait).sum());
        assert_eq!((sum, line.late.into_inner()), (LEN, 0));
        assert_eq!(parts.into_inner(), LEN);
    }
}

/// The same on pools of several sizes; the split at an item takes as many milliseconds as `millis` says, and
/// the items in `waits` wait for the next item.
fn wait_behind_slow_splits(len: usize, waits: Range<usize>, millis: fn(usize) -> u64) {
    for threads in [2, 3, 8] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let line = Waiting::default();
        let slow = |rest: Range<usize>| {
            thread::sleep(Duration::from_millis(millis(rest.start)));
            first_of(rest)
        };
        let wait = |part: Range<usize>| {
            line.begin(part.end);
            if waits.contains(&part.start) && part.end < len {
                line.wait_behind(part.end);
            }
            thread::sleep(Duration::from_micros(30));
            part.len()
        };
        let sum: usize = pool.install(|| split(0..len, slow).map(wait).sum());
        assert_eq!((sum, line.late.into_inner()), (len, 0));
    }
}

/// Threads that would not wait for a slow split come back.
#[test]
fn items_wait_for_the_next_one_behind_slow_splits() {
    wait_behind_slow_splits(500, 101..500, |at| match at {
        100 | 300 => 200,
        at if at > 300 && at % 10 == 0 => 15,
        _ => 0,
    });
}

/// Threads take turns in coming late to a slow split: however often that happens, no thread may be kept from
/// the items behind it.
#[test]
fn threads_take_turns_at_slow_splits() {
    wait_behind_slow_splits(200, 191..200, |at| if at > 40 { 5 } else { 0 });
}

/// A search of a list ends behind the found item, however far into the list that is. No item far behind it is
/// looked at before it.
#[test]
fn a_list_is_searched_no_further_than_the_find() {
    let _watch = watched();
    const LEN: usize = 20_000;
    const AT: usize = 200;
    for pool in pools() {
        let (looks, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let look = |&at: &usize| {
            looks.fetch_add(1, Relaxed);
            begun.fetch_max(usize::from(at == AT), Relaxed);
            while at > 2 * AT && begun.load(Relaxed) == 0 {
                thread::yield_now();
            }
            thread::sleep(Duration::from_micros(20));
            at == AT
        };
        let items = || split(0..LEN, first_of).flat_map_iter(|part| part);
        assert_eq!(pool.install(|| items().find_first(look)), Some(AT));
        let looks = looks.into_inner();
        assert!(looks < LEN / 2, "{looks} items were looked at");
        let last = pool.install(|| items().find_last(|n| n % AT == 0));
        assert_eq!(last, Some(LEN - AT));
    }
}

/// If threads leave and are called back at each split, long parts are still split off one by one.
#[test]
fn long_items_behind_slow_splits_are_parts_of_their_own() {
    const LEN: usize = 250;
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let slow = |rest: Range<usize>| {
        let millis = if rest.start > 40 { 6 } else { 0 };
        thread::sleep(Duration::from_millis(millis));
        first_of(rest)
    };
    let parts = AtomicUsize::new(0);
    let long = |part: Range<usize>| {
        parts.fetch_add(1, Relaxed);
        thread::sleep(Duration::from_micros(500));
        part.len()
    };
    let sum: usize = pool.install(|| split(0..LEN, slow).map(long).sum());
    assert_eq!((sum, parts.into_inner()), (LEN, LEN));
}

/// A closure that splits may call the pool, and may want every thread of it, including those that wait for that
/// very split.
#[test]
fn splits_that_call_the_pool() {
    const LEN: usize = 400;
    type Verb = fn();
    let verbs: [Verb; 5] = [
        || drop(tine_pool::broadcast(|_| ())),
        || assert_eq!(tine_pool::join(|| 1, tine_pool::yield_now).0, 1),
        || tine_pool::scope(|s| (0..4).for_each(|_| s.spawn(|_| ()))),
        || assert_eq!(split(0..100, first_of).map(|r| r.len()).sum::<usize>(), 100),
        || tine_pool::blocking(|| tine_pool::spawn_join(|| ()).join().unwrap()),
    ];
    for pool in pools() {
        for verb in verbs {
            let call = |at: usize| {
                if at % 50 == 49 {
                    verb();
                }
            };
            let slow = |part: usize| {
                thread::sleep(Duration::from_micros(20));
                part
            };
            let first = |rest: Range<usize>| {
                call(rest.start);
                first_of(rest)
            };
            let child = |&n: &usize| {
                call(n);
                (n < LEN).then_some(n + 1)
            };
            pool.install(|| {
                let parts = split(0..LEN, first).map(|part| slow(part.len()));
                assert_eq!(parts.sum::<usize>(), LEN);
                assert_eq!(
                    walk_tree(0, child).map(slow).sum::<usize>(),
                    LEN * (LEN + 1) / 2
                );
            });
        }
    }
}

/// The cost of making a state is no reason to make more of them.
#[test]
fn dear_states_are_few() {
    const LEN: usize = 4096;
    let half = |range: Range<usize>| match range.len() {
        0 | 1 => (range, None),
        len => {
            let middle = range.start + len / 2;
            (range.start..middle, Some(middle..range.end))
        }
    };
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, Relaxed);
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(100) {}
    };
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let items = || split(0..LEN, half).flat_map_iter(|range| range);
    let sum: usize = pool.install(|| items().map_init(make, |(), item| item).sum());
    assert_eq!(sum, LEN * (LEN - 1) / 2);
    let states = made.swap(0, Relaxed);
    assert!(states < LEN / 16, "{states}");
    // One thread alone makes few parts, even of long items.
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let wait = |part: Range<usize>| {
        made.fetch_add(1, Relaxed);
        part.for_each(|_| thread::sleep(Duration::from_micros(20)));
    };
    pool.install(|| split(0..100, half).for_each(wait));
    assert!(made.into_inner() < 5);
}

#[test]
fn tuples() {
    let (a, b, c) = ([1, 2, 3, 4], ["x", "y", "z"], [true; 5]);
    let zipped = || a.iter().zip(&b).zip(&c).map(|((a, b), c)| (a, b, c));
    indexed_twin!(let t = (&a, &b, &c); t.into_par_iter(), { let _ = t; zipped() });
    indexed_twin!(let t = (a, b, c); t.par_iter(), { let _ = t; zipped() });
    indexed_twin!(let t = &mut (a, b, c); t.par_iter_mut(), { let _ = t; zipped() });
    indexed_twin!(let t = (a,); t.into_par_iter(), t.0.into_iter().map(|a| (a,)));
    indexed_twin!(let t = (a, b); t.into_par_iter(), t.0.into_iter().zip(t.1));
    let r = 0..3;
    let make = || {
        let r = || r.clone();
        (r(), r(), r(), r(), r(), r(), r(), r(), r(), r(), r(), 1..9)
    };
    let twelve = (0..3).map(|i| (i, i, i, i, i, i, i, i, i, i, i, i + 1));
    indexed_twin!(let t = make(); t.into_par_iter(), { let _ = t; twelve.clone() });
}

#[test]
fn one_of_two() {
    for left in [true, false] {
        let make = || match left {
            true => Either::Left(vec![1, 2, 3].into_par_iter()),
            false => Either::Right((7..9).into_par_iter()),
        };
        let want = if left { vec![1, 2, 3] } else { vec![7, 8] };
        indexed_twin!(let e = make(); e, { drop(e); &want });
    }
    let words = |left| match left {
        true => Either::Left("a b".par_split(' ')),
        false => Either::Right("a b".par_lines()),
    };
    assert_eq!(gathered(words(true)), ["\"a\"", "\"b\""]);
    assert_eq!(gathered(words(false)), ["\"a b\""]);
    assert_eq!(words(true).opt_len(), None);
}
