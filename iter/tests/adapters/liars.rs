//! Sources that lie: about the number of their items, anew each time they are asked, and about where their
//! items divide. Only this is demanded of the result: an honest source beside them hands out no items but its
//! own, and each of them at most once; and what was made is dropped once.

use std::collections::LinkedList;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use quickcheck::{QuickCheck, TestResult};
use tine_iter::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge,
};
use tine_iter::prelude::*;

use crate::kit::refused;

/// What `says` answers when it is asked for the nth time, while there are `has` items.
struct Liar {
    says: Vec<usize>,
    asked: AtomicUsize,
    has: usize,
}

/// The producer of a liar: it can be cut anywhere, and then each part still has all items.
struct Anything(usize);

impl Producer for Anything {
    type Item = usize;
    type IntoIter = std::vec::IntoIter<usize>;

    fn into_iter(self) -> Self::IntoIter {
        vec![LIE; self.0].into_iter()
    }

    fn split_at(self, _: usize) -> (Self, Self) {
        (Anything(self.0), Anything(self.0))
    }
}

/// The item of a liar.
const LIE: usize = usize::MAX;

impl ParallelIterator for Liar {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl IndexedParallelIterator for Liar {
    fn len(&self) -> usize {
        let asked = self.asked.fetch_add(1, Relaxed);
        self.says[asked % self.says.len()]
    }

    fn drive<C: Consumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<usize>>(self, callback: CB) -> CB::Output {
        callback.callback(Anything(self.has))
    }
}

/// Items of an honest source, and how often each came.
struct Seen {
    first: usize,
    times: Vec<AtomicUsize>,
    strange: AtomicUsize,
}

impl Seen {
    fn new(range: Range<usize>) -> Self {
        Seen {
            first: range.start,
            times: range.map(|_| AtomicUsize::new(0)).collect(),
            strange: AtomicUsize::new(0),
        }
    }

    fn item(&self, item: usize) {
        match self.times.get(item.wrapping_sub(self.first)) {
            Some(times) => times.fetch_add(1, Relaxed),
            None if item == LIE => 0,
            None => self.strange.fetch_add(1, Relaxed),
        };
    }

    fn check(self, how: &str) -> Result<(), String> {
        let twice = self.times.iter().filter(|n| n.load(Relaxed) > 1).count();
        match (twice, self.strange.into_inner()) {
            (0, 0) => Ok(()),
            (twice, strange) => Err(format!("{how}: {twice} twice, {strange} of none")),
        }
    }
}

/// Runs a pipeline with a liar and an honest source, to its end or to a panic.
fn run(says: &[usize], has: usize, range: Range<usize>) -> Result<(), String> {
    let liar = || Liar {
        says: says.to_vec(),
        asked: AtomicUsize::new(0),
        has,
    };
    macro_rules! check {
        ($($how:literal: $iter:expr => |$item:pat_param, $seen:ident| $look:expr;)*) => {$(
            let $seen = Seen::new(range.clone());
            refused(|| $iter.for_each(|$item| $look));
            $seen.check(concat!($how, " for each"))?;
            let $seen = Seen::new(range.clone());
            refused(|| $iter.collect::<Vec<_>>().into_iter().for_each(|$item| $look));
            $seen.check(concat!($how, " collected"))?;
        )*};
    }
    let honest = || range.clone().into_par_iter();
    check! {
        "liar, chain": liar().chain(honest()) => |n, seen| seen.item(n);
        "liar, chain, numbered": liar().chain(honest()).enumerate() => |(_, n), seen| seen.item(n);
        "chain, liar": honest().chain(liar()) => |n, seen| seen.item(n);
        "chain, liar, reversed": honest().chain(liar()).rev() => |n, seen| seen.item(n);
        "liar, zip": liar().zip(honest()) => |(_, n), seen| seen.item(n);
        "zip, liar, reversed": honest().zip(liar()).rev() => |(n, _), seen| seen.item(n);
        "zip_eq": honest().zip_eq(liar()) => |(n, _), seen| seen.item(n);
        "multizip": (honest(), liar(), liar()).into_par_iter() => |(n, ..), seen| seen.item(n);
        "interleave": liar().interleave(honest()) => |n, seen| seen.item(n);
        "interleave, reversed": honest().interleave(liar()).rev() => |n, seen| seen.item(n);
        "interleave_shortest": liar().interleave_shortest(honest()) => |n, seen| seen.item(n);
        "chunks": liar().chain(honest()).chunks(3)
            => |chunk, seen| chunk.into_iter().for_each(|n| seen.item(n));
        "step_by": liar().chain(honest()).step_by(2).rev() => |n, seen| seen.item(n);
        "skip": liar().chain(honest()).skip(2) => |n, seen| seen.item(n);
        "take": liar().chain(honest()).take(9) => |n, seen| seen.item(n);
        "gaps": liar().chain(honest()).intersperse(LIE).enumerate() => |(_, n), seen| seen.item(n);
        "folded": liar().chain(honest()).fold_chunks(2, Vec::new, |mut all, n| { all.push(n); all })
            => |all, seen| all.into_iter().for_each(|n| seen.item(n));
        "deterministic": liar().chain(honest()).deterministic() => |n, seen| seen.item(n);
        "in blocks": liar().chain(honest()).by_uniform_blocks(5) => |n, seen| seen.item(n);
    }
    let chars = || {
        ('a'..='z')
            .into_par_iter()
            .map(|c| c as usize - 'a' as usize)
    };
    let seen = Seen::new(0..26);
    refused(|| liar().chain(chars()).for_each(|n| seen.item(n)));
    seen.check("chars")
}

#[test]
fn lengths_that_change() {
    fn honest(says: (u8, u8, u8, u8), has: u8, len: u8) -> TestResult {
        let says = [says.0, says.1, says.2, says.3].map(usize::from);
        let start = 1 << 20;
        match run(&says, usize::from(has) % 8, start..start + usize::from(len)) {
            Ok(()) => TestResult::passed(),
            Err(what) => TestResult::error(what),
        }
    }
    let test = honest as fn(_, _, _) -> _;
    QuickCheck::new().tests(100).quickcheck(test);
    for says in [[3000, 0], [0, 3000], [1 << 17, 0]] {
        run(&says, 0, 100..103).unwrap();
    }
}

/// Cuts its consumer at a place that has nothing to do with its items.
struct Overreach {
    at: usize,
    items: (Vec<Counted>, Vec<Counted>),
    says: Option<usize>,
}

/// An item that is counted while it is alive.
struct Counted(usize);

static ALIVE: AtomicI64 = AtomicI64::new(0);

impl Counted {
    fn new(n: usize) -> Self {
        ALIVE.fetch_add(1, Relaxed);
        Counted(n)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

impl ParallelIterator for Overreach {
    type Item = Counted;

    fn drive_unindexed<C: UnindexedConsumer<Counted>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        self.says
    }
}

impl IndexedParallelIterator for Overreach {
    fn len(&self) -> usize {
        self.says.unwrap_or(2)
    }

    fn drive<C: Consumer<Counted>>(self, consumer: C) -> C::Result {
        let (left, right, reducer) = consumer.split_at(self.at);
        let (near, far) = self.items;
        let near = left.into_folder().consume_iter(near).complete();
        let far = right.into_folder().consume_iter(far).complete();
        reducer.reduce(near, far)
    }

    fn with_producer<CB: ProducerCallback<Counted>>(self, _: CB) -> CB::Output {
        panic!("this one is only driven")
    }
}

/// Consumers are also cut where other code says. They refuse, or do what they would do otherwise.
#[test]
fn consumers_cut_anywhere() {
    for at in [
        0,
        1,
        2,
        3,
        4,
        5,
        1 << 32,
        usize::MAX / 2 + 1,
        usize::MAX - 1,
        usize::MAX,
    ] {
        for (near, far) in [(0, 0), (2, 0), (0, 2), (1, 1), (2, 2), (9, 9)] {
            for says in [None, Some(near + far), Some(0), Some(near)] {
                consumers(at, near, far, says);
                assert_eq!(ALIVE.load(Relaxed), 0, "{at} {near} {far} {says:?}");
            }
        }
    }
}

fn consumers(at: usize, near: usize, far: usize, says: Option<usize>) {
    let items = |range: Range<usize>| range.map(Counted::new).collect::<Vec<_>>();
    let source = || Overreach {
        at,
        items: (items(0..near), items(near..near + far)),
        says,
    };
    let all = || (0..near + far).collect::<Vec<_>>();
    let numbers = |items: Vec<Counted>| items.iter().map(|n| n.0).collect::<Vec<_>>();
    macro_rules! same {
        ($($op:expr, $want:expr;)*) => {$(
            if let Ok(got) = catch_unwind(AssertUnwindSafe(|| $op)) {
                assert_eq!(got, $want, "{}: {at} {near} {far} {says:?}", stringify!($op));
            }
        )*};
    }
    let run = || {
        same! {
            numbers(source().collect()), all();
            source().map(|n| n.0).collect::<LinkedList<_>>(), all().into_iter().collect();
            source().filter(|n| n.0 % 2 == 0).map(|n| n.0).collect::<Vec<_>>(),
                all().into_iter().filter(|n| n % 2 == 0).collect::<Vec<_>>();
            source().map(|n| n.0).sum::<usize>(), all().iter().sum();
            source().count(), near + far;
            source().map(|n| n.0).max(), all().into_iter().max();
            source().map(|n| n.0).find_first(|n| *n > 0), all().into_iter().find(|n| *n > 0);
            source().map(|n| n.0).find_last(|n| *n > 0), all().into_iter().rfind(|n| *n > 0);
            source().map(|n| (n.0, n.0)).unzip(), (all(), all());
            source().map(|n| n.0).partition::<Vec<_>, Vec<_>, _>(|n| n % 2 == 0),
                all().into_iter().partition::<Vec<_>, _>(|n| n % 2 == 0);
            source().map(|n| n.0).flat_map(|n| [n, n]).collect::<Vec<_>>(),
                all().into_iter().flat_map(|n| [n, n]).collect::<Vec<_>>();
            source().map(|n| n.0).fold(|| 0, |a, b| a + b).sum::<usize>(), all().iter().sum();
            {
                let mut items = Vec::new();
                source().map(|n| n.0).collect_into_vec(&mut items);
                items
            }, all();
            {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                source().map(|n| (n.0, n)).unzip_into_vecs(&mut left, &mut right);
                (left, numbers(right))
            }, (all(), all());
        }
    };
    run();
    // Items interspersed with gaps: the gaps may lie elsewhere if the places are wrong.
    refused(|| source().intersperse(Counted::new(99)).collect::<Vec<_>>());
    refused(|| source().intersperse(Counted::new(99)).count());
}
