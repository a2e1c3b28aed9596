//! How a source is compared with its std twin.
//!
//! Items are compared by their `Debug` output, so that exclusive references, arrays and owned values are
//! handled in the same way.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Once, OnceLock};
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer,
};
use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// What is shown of each item.
pub(crate) fn shown<T: Debug>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| format!("{item:?}")).collect()
}

/// Pools of several sizes, so that unindexed sources are split to several depths.
pub(crate) fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        let build = |n| ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        [1, 3, 40].map(build).into_iter().collect()
    })
}

/// What is shown of each item of a parallel iterator, in its order.
pub(crate) fn gathered<I: ParallelIterator<Item: Debug>>(iter: I) -> Vec<String> {
    iter.drive_unindexed(Gather)
}

struct Gather;

struct Kept(Vec<String>);

struct Append;

impl<T: Debug> Consumer<T> for Gather {
    type Folder = Kept;
    type Reducer = Append;
    type Result = Vec<String>;

    fn split_at(self, _: usize) -> (Self, Self, Append) {
        (Gather, Gather, Append)
    }

    fn into_folder(self) -> Kept {
        Kept(Vec::new())
    }

    fn full(&self) -> bool {
        false
    }
}

impl<T: Debug> UnindexedConsumer<T> for Gather {
    fn split_off_left(&self) -> Self {
        Gather
    }

    fn to_reducer(&self) -> Append {
        Append
    }
}

impl<T: Debug> Folder<T> for Kept {
    type Result = Vec<String>;

    fn consume(mut self, item: T) -> Self {
        self.0.push(format!("{item:?}"));
        self
    }

    fn complete(self) -> Vec<String> {
        self.0
    }

    fn full(&self) -> bool {
        false
    }
}

impl Reducer<Vec<String>> for Append {
    fn reduce(self, mut left: Vec<String>, right: Vec<String>) -> Vec<String> {
        left.extend(right);
        left
    }
}

/// Three places to split at, which of them comes first, and how the four pieces are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splits {
    at: [usize; 3],
    middle_first: bool,
    read: Read,
}

#[derive(Clone, Copy, Debug)]
enum Read {
    Forward,
    Reversed,
    BothEnds,
    Folded,
}

impl Splits {
    /// All triples of places in `0..=len`, in every way.
    pub(crate) fn all(len: usize) -> Vec<Splits> {
        let mut all = Vec::new();
        for i in 0..=len {
            for j in i..=len {
                for k in j..=len {
                    for read in [Read::Forward, Read::Reversed, Read::BothEnds, Read::Folded] {
                        for middle_first in [false, true] {
                            all.push(Splits {
                                at: [i, j, k],
                                middle_first,
                                read,
                            });
                        }
                    }
                }
            }
        }
        all
    }
}

impl<T: Debug> ProducerCallback<T> for Splits {
    type Output = Vec<String>;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> Vec<String> {
        let [i, j, k] = self.at;
        let (a, b, c, d) = if self.middle_first {
            let (left, right) = producer.split_at(j);
            let (a, b) = left.split_at(i);
            let (c, d) = right.split_at(k - j);
            (a, b, c, d)
        } else {
            let (a, rest) = producer.split_at(i);
            let (b, rest) = rest.split_at(j - i);
            let (c, d) = rest.split_at(k - j);
            (a, b, c, d)
        };
        let pieces = [(a, Some(i)), (b, Some(j - i)), (c, Some(k - j)), (d, None)];
        pieces
            .into_iter()
            .flat_map(|(piece, len)| read(piece, len, self.read))
            .collect()
    }
}

fn read<P: Producer<Item: Debug>>(piece: P, len: Option<usize>, how: Read) -> Vec<String> {
    if let Read::Folded = how {
        return piece.fold_with(Kept(Vec::new())).0;
    }
    let mut items = piece.into_iter();
    assert_eq!(items.size_hint(), (items.len(), Some(items.len())));
    if let Some(len) = len {
        assert_eq!(items.len(), len);
    }
    match how {
        Read::Reversed => {
            let mut back = shown(items.rev());
            back.reverse();
            back
        }
        Read::BothEnds => {
            let (mut front, mut back) = (Vec::new(), Vec::new());
            for n in 0.. {
                let left = items.len();
                let next = if n % 3 == 1 {
                    items.next_back()
                } else {
                    items.next()
                };
                let Some(item) = next else { break };
                assert_eq!(items.len(), left - 1);
                let to = if n % 3 == 1 { &mut back } else { &mut front };
                to.push(format!("{item:?}"));
            }
            assert!(items.next().is_none() && items.next_back().is_none());
            front.extend(back.into_iter().rev());
            front
        }
        _ => shown(items),
    }
}

/// A place to split at that lies behind the end of what a first split leaves: of the first half, of the second
/// half, or of all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beyond {
    first: Option<(usize, bool)>,
    at: usize,
}

impl Beyond {
    /// Places a little behind the end and far behind it; some of them look harmless in 16 or in 32
    /// bits, or once they are doubled or trebled.
    pub(crate) fn all(len: usize) -> Vec<Beyond> {
        let half = len / 2;
        let parts = [
            (None, len),
            (Some((half, true)), half),
            (Some((half, false)), len - half),
        ];
        let far = [
            usize::MAX,
            usize::MAX - 1,
            usize::MAX / 2 + 1,
            usize::MAX / 3 + 1,
        ];
        let places = |len| {
            let near = [len + 1, len + 2, 2 * len + 1, (1 << 16) + len];
            near.into_iter()
                .chain(far)
                .chain((1_usize << 31).checked_mul(2))
        };
        let all = parts.into_iter();
        all.flat_map(|(first, len)| places(len).map(move |at| Beyond { first, at }))
            .collect()
    }
}

/// Whether the producer refuses such a place. Handing out other items is no answer: unsafe code may rely on
/// there being no items but those that were promised.
impl<T> ProducerCallback<T> for Beyond {
    type Output = bool;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> bool {
        let part = match self.first {
            None => producer,
            Some((half, true)) => producer.split_at(half).0,
            Some((half, false)) => producer.split_at(half).1,
        };
        refused(|| part.split_at(self.at))
    }
}

/// Whether `op` panics; the message is kept back.
pub(crate) fn refused<R>(op: impl FnOnce() -> R) -> bool {
    thread_local! {
        static EXPECTED: Cell<bool> = const { Cell::new(false) };
    }
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let tell = take_hook();
        set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                tell(info);
            }
        }));
    });
    EXPECTED.set(true);
    let panicked = catch_unwind(AssertUnwindSafe(op)).is_err();
    EXPECTED.set(false);
    panicked
}

/// Compares an indexed parallel iterator with a sequential one: its length, everything that its producer can be
/// split into, the places at which its producer must refuse to be split, and what arrives in pools of several
/// sizes. Both are made from a fresh `$input` each time.
macro_rules! indexed_twin {
    ($(let $input:pat = $make:expr;)* $par:expr, $seq:expr) => {{
        let want = {
            $(let $input = $make;)*
            crate::kit::shown($seq)
        };
        for splits in crate::kit::Splits::all(want.len()) {
            $(let $input = $make;)*
            let par = $par;
            assert_eq!(par.len(), want.len());
            assert_eq!(par.opt_len(), Some(want.len()));
            assert_eq!(par.with_producer(splits), want, "{splits:?}");
        }
        for beyond in crate::kit::Beyond::all(want.len()) {
            $(let $input = $make;)*
            let par = $par;
            assert!(par.with_producer(beyond), "{} items, {beyond:?}", want.len());
        }
        for pool in crate::kit::pools() {
            $(let $input = $make;)*
            let par = $par;
            assert_eq!(pool.install(|| crate::kit::gathered(par)), want);
        }
        want.len()
    }};
}
pub(crate) use indexed_twin;

/// Compares an unindexed parallel iterator with a sequential one, in pools of
/// several sizes.
macro_rules! twin {
    ($(let $input:pat = $make:expr;)* $par:expr, $seq:expr) => {{
        let want = {
            $(let $input = $make;)*
            crate::kit::shown($seq)
        };
        for pool in crate::kit::pools() {
            $(let $input = $make;)*
            let par = $par;
            if let Some(len) = par.opt_len() {
                assert_eq!(len, want.len());
            }
            assert_eq!(pool.install(|| crate::kit::gathered(par)), want);
        }
        want.len()
    }};
}
pub(crate) use twin;
