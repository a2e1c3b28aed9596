//! What comes behind `flat_map`: one folder goes on from inner iterator to inner iterator.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

fn on(threads: usize, op: impl FnOnce() + Send) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(op);
}

/// How many states `map_init` and `fold` make for these items.
fn states<I: ParallelIterator<Item: Into<u64>>>(items: impl Fn() -> I) -> [usize; 2] {
    let made = AtomicUsize::new(0);
    let count = |_: &mut (), n: I::Item| n.into();
    let init = || {
        made.fetch_add(1, Relaxed);
    };
    let sum: u64 = items().map_init(init, count).sum();
    let folds = items().fold(|| 0, |all, n| all + n.into());
    let folds: Vec<u64> = folds.collect();
    assert_eq!(folds.iter().sum::<u64>(), sum);
    [made.into_inner(), folds.len()]
}

#[test]
fn one_thread_makes_one_state_for_all_inner_iterators() {
    on(1, || {
        let outer = || (0..500_u64).into_par_iter();
        let ten = |n| (n..n + 10).into_par_iter();
        let words = ["one two  three", "", "four five six"];
        let all = [
            states(|| outer().flat_map(|n| (n % 3 == 0).then_some(n))),
            states(|| outer().flat_map(|n| vec![n; 10])),
            states(|| outer().flat_map(|n| vec![n; (n % 2) as usize])),
            states(|| outer().flat_map(|n| ten(n).map(|n| n * 2))),
            states(|| outer().flat_map(|n| ten(n).filter(|n| n % 3 > 0))),
            states(|| outer().flat_map(|n| vec![n; 10].into_par_iter().rev())),
            states(|| outer().flat_map(ten).flat_map(ten)),
            states(|| outer().flat_map(|n| ten(n).flat_map(ten))),
            states(|| outer().map(ten).flatten()),
            states(|| {
                let texts = outer().map(|n| words[n as usize % 3]);
                texts.flat_map(|text| text.par_split_whitespace().map(|word| word.len() as u64))
            }),
        ];
        assert_eq!(all, [[1, 1]; 10]);
    });
}

/// As many items as std finds, in its order, whatever goes before and behind.
#[test]
fn inner_iterators_of_any_length() {
    for threads in [1, 2, 5] {
        on(threads, || {
            let lens = [0, 1, 2, 0, 3, 50, 1, 3000];
            for outer in [0, 1, 2, 7, 300] {
                let inner = |n: u32| n * 10_000..n * 10_000 + lens[n as usize % lens.len()];
                let all: Vec<u32> = (0..outer).flat_map(inner).collect();
                let items = || (0..outer).into_par_iter().flat_map(inner);
                assert_eq!(items().collect::<Vec<_>>(), all);
                assert_eq!(items().count(), all.len());
                // Inner iterators that go on, and inner iterators that do not.
                let in_turn = (0..outer).into_par_iter().flat_map(|n| match n % 3 {
                    0 => either::Left(inner(n).into_par_iter().chain(None)),
                    _ => either::Right(inner(n).collect::<Vec<_>>().into_par_iter()),
                });
                assert_eq!(in_turn.collect::<Vec<_>>(), all);
                let folds = items().fold(Vec::new, |mut all, n| {
                    all.push(n);
                    all
                });
                assert_eq!(folds.flatten_iter().collect::<Vec<_>>(), all);
                let (left, right): (Vec<_>, Vec<_>) = items().partition(|n| n % 3 == 0);
                let both = all.iter().partition::<Vec<u32>, _>(|n| *n % 3 == 0);
                assert_eq!((left, right), both);
                for wanted in [7, 20_001, 70_100, 9_999_999] {
                    let find = |n: &u32| *n % wanted == wanted - 1 || *n == wanted;
                    let first = all.iter().copied().find(find);
                    assert_eq!(items().find_first(find), first);
                    let last = all.iter().copied().rfind(find);
                    assert_eq!(items().find_last(find), last);
                    assert_eq!(items().find_any(find).is_some(), first.is_some());
                }
                assert_eq!(items().max(), all.iter().copied().max());
                let spaced = items().intersperse(1).collect::<Vec<_>>();
                assert_eq!(spaced.len(), (2 * all.len()).saturating_sub(1));
                assert!(spaced.iter().copied().step_by(2).eq(all.iter().copied()));
            }
        });
    }
}

/// A text without characters has a piece, and so has a slice without elements.
#[test]
fn inner_pieces_of_nothing() {
    let texts = ["", "a b", " ", "", "  c", "fork\n\n", "", "d "].repeat(20);
    for threads in [1, 2, 5] {
        on(threads, || {
            let all = || texts.par_iter().copied();
            let split: Vec<_> = texts.iter().flat_map(|text| text.split(' ')).collect();
            let found = all().flat_map(|text| text.par_split(' '));
            assert_eq!(found.clone().collect::<Vec<_>>(), split);
            assert_eq!(found.count(), split.len());
            let ends = texts.iter().flat_map(|text| text.split_inclusive(' '));
            let found = all().flat_map(|text| text.par_split_inclusive(' '));
            assert!(found.collect::<Vec<_>>().into_iter().eq(ends));
            let bytes = texts
                .iter()
                .flat_map(|text| text.as_bytes().split(|&b| b == b' '));
            let found = all().flat_map(|text| text.as_bytes().par_split(|&b| b == b' '));
            assert!(found.collect::<Vec<_>>().into_iter().eq(bytes));
            let lines = texts
                .iter()
                .flat_map(|text| text.lines().flat_map(|line| line.split('-')));
            let found =
                all().flat_map(|text| text.par_lines().flat_map(|line| line.par_split('-')));
            assert!(found.collect::<Vec<_>>().into_iter().eq(lines));
        });
    }
}
