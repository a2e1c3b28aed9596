//! Scattering values by hash into lists, and one job for each part.
//!
//! ```text
//!             part 0          part 1          …
//! full        [■■■■][■■■■]    [■■■■]          blocks, each larger than the last
//! cursor      [■■··]          [■···]          the block that is being filled
//!               └──────┬────────┘
//! arena       chunk, chunk, …                 what the blocks are cut from
//! ```
//!
//! A worker scatters its input into its own [`Scatter`]. Then [`transpose`] hands out, for each part, the lists
//! of all workers in the order of their inputs, and [`par_map`] runs one job for each part. No two threads ever
//! touch one list.

use crate::pages::{self, HUGE};
use std::alloc::{Layout, dealloc};
use std::fmt;
use std::iter::FusedIterator;
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use tine_pool::loops::{Part, both, look, sheltered};

/// The size in bytes of a part's first block, and of its largest blocks.
const FIRST_BLOCK: usize = 256;
const LAST_BLOCK: usize = 8 << 10;
/// The size in bytes of an arena's first chunk, and of its largest chunks.
const FIRST_CHUNK: usize = 128 << 10;
const LAST_CHUNK: usize = 4 << 20;

/// How many cache lines of a block are fetched while the block before it is read.
const FETCHED: usize = 8;

/// How many values a list looks ahead.
const AHEAD: usize = 16;

/// The number of bytes that one job moves.
const PIECE: usize = if cfg!(miri) { 64 } else { 256 << 10 };

/// Memory that is freed all at once; it knows nothing of values.
struct Chunks(Vec<(NonNull<u8>, Layout)>);

// SAFETY: plain memory, owned, and tied to no thread.
unsafe impl Send for Chunks {}
// SAFETY: a shared reference to it gives access to nothing.
unsafe impl Sync for Chunks {}

impl Drop for Chunks {
    fn drop(&mut self) {
        for (start, layout) in self.0.drain(..) {
            // SAFETY: allocated with this layout, and freed here only.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

/// A block of `len` values, cut from an arena.
struct Block<T> {
    start: NonNull<T>,
    len: usize,
}

/// The block that a part is filling: `len` of its `cap` values are there.
struct Cursor<T> {
    start: NonNull<T>,
    len: usize,
    cap: usize,
    /// How many values the earlier blocks have.
    before: usize,
}

/// Values, scattered into as many lists as there are parts.
pub(crate) struct Scatter<T> {
    cursors: Box<[Cursor<T>]>,
    full: Vec<Vec<Block<T>>>,
    chunks: Chunks,
    /// The rest of the newest chunk.
    free: NonNull<u8>,
    left: usize,
    /// The size of all chunks in bytes.
    bytes: usize,
}

// SAFETY: it owns its values, as a `Vec<T>` does.
unsafe impl<T: Send> Send for Scatter<T> {}

impl<T> Scatter<T> {
    /// Empty lists for `parts` parts.
    pub(crate) fn new(parts: usize) -> Self {
        let cursor = || Cursor {
            start: NonNull::dangling(),
            len: 0,
            cap: 0,
            before: 0,
        };
        Scatter {
            cursors: (0..parts).map(|_| cursor()).collect(),
            full: (0..parts).map(|_| Vec::new()).collect(),
            chunks: Chunks(Vec::new()),
            free: NonNull::dangling(),
            left: 0,
            bytes: 0,
        }
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.cursors.len()
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        let cursors = self.cursors.iter();
        cursors.map(|cursor| cursor.before + cursor.len).sum()
    }

    /// The number of values of each part.
    pub(crate) fn lens(&self) -> Vec<usize> {
        let cursors = self.cursors.iter();
        cursors.map(|cursor| cursor.before + cursor.len).collect()
    }

    /// The number of bytes that the values occupy.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The values of a part, in stretches.
    pub(crate) fn stretches(&self, part: usize) -> impl Iterator<Item = &[T]> {
        let Cursor { start, len, .. } = self.cursors[part];
        let full = self.full[part].iter().map(|block| (block.start, block.len));
        // SAFETY: a block and a cursor have `len` initialised values from `start` on. No value is moved or
        // written while the scatter is borrowed.
        full.chain([(start, len)])
            .map(|(start, len)| unsafe { slice::from_raw_parts(start.as_ptr(), len) })
    }

    /// Appends a value to a part's list.
    #[inline]
    pub(crate) fn push(&mut self, part: usize, value: T) {
        if self.cursors[part].len == self.cursors[part].cap {
            self.turn(part);
        }
        let cursor = &mut self.cursors[part];
        // The hardware does not predict hundreds of lists by itself.
        pages::expect_write(cursor.start.as_ptr().wrapping_add(cursor.len).cast(), 64);
        // SAFETY: `len < cap`, so this is inside the block.
        let slot = unsafe { cursor.start.add(cursor.len) };
        // SAFETY: the block is aligned, exclusively owned, and nothing is here yet.
        unsafe { slot.write(value) };
        cursor.len += 1;
    }

    /// Puts a part's full block aside and gives the part another block.
    #[cold]
    fn turn(&mut self, part: usize) {
        let size = mem::size_of::<T>().max(1);
        let bytes = (2 * self.cursors[part].cap * size).clamp(FIRST_BLOCK, LAST_BLOCK);
        // Parts fill at the same pace. If their blocks were a power of two apart, all parts would write to the
        // same few sets of the cache.
        let odd_lines = (bytes / 64) | 1;
        let cap = (odd_lines * 64 / size).max(4);
        let start = self.cut(cap);
        self.full[part].reserve(1);
        let before = self.cursors[part].before + self.cursors[part].len;
        let next = Cursor {
            start,
            len: 0,
            cap,
            before,
        };
        let done = mem::replace(&mut self.cursors[part], next);
        if done.len != 0 {
            self.full[part].push(Block {
                start: done.start,
                len: done.len,
            });
        }
    }

    /// Room for `count` values from the arena.
    fn cut(&mut self, count: usize) -> NonNull<T> {
        let wanted = Layout::array::<T>(count).expect("a block of values overflows memory");
        if wanted.size() == 0 {
            return NonNull::dangling();
        }
        let mut skip = self.free.align_offset(wanted.align());
        if self.left < wanted.size().saturating_add(skip) {
            self.refill(wanted);
            skip = self.free.align_offset(wanted.align());
        }
        // SAFETY: `skip + size` bytes are left in the chunk.
        let start = unsafe { self.free.add(skip) };
        // SAFETY: as above; at most one past the last byte.
        self.free = unsafe { start.add(wanted.size()) };
        self.left -= skip + wanted.size();
        start.cast()
    }

    /// A fresh chunk, twice as large as the last, with room for at least `wanted` bytes.
    #[cold]
    fn refill(&mut self, wanted: Layout) {
        let last = self.chunks.0.last().map_or(0, |(_, layout)| layout.size());
        let size = (2 * last).clamp(FIRST_CHUNK, LAST_CHUNK).max(wanted.size());
        let align = if size >= LAST_CHUNK { HUGE } else { 64 };
        let layout = Layout::from_size_align(size, align.max(wanted.align()))
            .expect("a chunk of values overflows memory");
        self.chunks.0.reserve(1);
        self.free = pages::allocate(layout, false);
        self.left = size;
        self.bytes += size;
        self.chunks.0.push((self.free, layout));
    }

    /// All lists, part by part.
    pub(crate) fn into_lists(mut self) -> Vec<List<T>> {
        self.take()
    }

    fn take(&mut self) -> Vec<List<T>> {
        let arena = Arc::new(mem::replace(&mut self.chunks, Chunks(Vec::new())));
        let cursors = mem::take(&mut self.cursors).into_iter();
        let full = mem::take(&mut self.full);
        (self.left, self.bytes) = (0, 0);
        let list = |(mut blocks, cursor): (Vec<Block<T>>, Cursor<T>)| {
            if cursor.len != 0 {
                blocks.push(Block {
                    start: cursor.start,
                    len: cursor.len,
                });
            }
            blocks.reverse();
            List {
                blocks,
                next: NonNull::dangling(),
                ready: 0,
                len: cursor.before + cursor.len,
                _arena: arena.clone(),
            }
        };
        full.into_iter().zip(cursors).map(list).collect()
    }
}

impl<T> Drop for Scatter<T> {
    fn drop(&mut self) {
        if const { mem::needs_drop::<T>() } {
            drop(self.take());
        }
    }
}

/// The values of one part from one worker, in order: an iterator over them.
pub(crate) struct List<T> {
    /// The blocks still to come; the next one is at the end.
    blocks: Vec<Block<T>>,
    /// The rest of the current block's values.
    next: NonNull<T>,
    ready: usize,
    len: usize,
    _arena: Arc<Chunks>,
}

// SAFETY: it owns its values, as a `Vec<T>` does.
unsafe impl<T: Send> Send for List<T> {}

impl<T> Iterator for List<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.ready == 0 {
            let block = self.blocks.pop()?;
            self.next = block.start;
            self.ready = block.len;
        }
        let at = self.next;
        // SAFETY: a block holds `ready` values from `next` on, at least one.
        self.next = unsafe { at.add(1) };
        self.ready -= 1;
        self.len -= 1;
        // SAFETY: the value is initialised, and stepped over before it is
        // read, so it is read once.
        Some(unsafe { at.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    /// Block by block: two plain loops are quicker than one loop that checks at each item for a new block.
    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(mut self, mut all: A, mut f: F) -> A {
        loop {
            while self.ready != 0 {
                let at = self.next;
                // SAFETY: a block holds `ready` values from `next` on, at least one.
                self.next = unsafe { at.add(1) };
                self.ready -= 1;
                self.len -= 1;
                // SAFETY: the value is initialised, and stepped over before it
                // is read, so it is read once.
                all = f(all, unsafe { at.read() });
            }
            let Some(block) = self.blocks.pop() else {
                return all;
            };
            // Another thread has written the block, and it lies elsewhere.
            if let Some(next) = self.blocks.last() {
                expect_block(next);
            }
            self.next = block.start;
            self.ready = block.len;
        }
    }
}

/// Fetches the beginning of a block.
#[inline]
fn expect_block<T>(block: &Block<T>) {
    for at in 0..FETCHED {
        pages::expect_read(block.start.as_ptr().addr() + at * 64);
    }
}

impl<T> List<T> {
    /// Takes all values in order, and looks at each value some values before its turn.
    #[inline]
    pub(crate) fn for_each_ahead(mut self, ahead: impl Fn(&T), mut take: impl FnMut(T)) {
        loop {
            let mut seen = 0;
            while self.ready != 0 {
                while seen < self.ready.min(AHEAD) {
                    // SAFETY: `seen < ready`, so this is inside the block.
                    let coming = unsafe { self.next.add(seen) };
                    // SAFETY: the value is initialised, not yet taken, and exclusively owned.
                    ahead(unsafe { coming.as_ref() });
                    seen += 1;
                }
                let at = self.next;
                // SAFETY: a block holds `ready` values from `next` on, at least one.
                self.next = unsafe { at.add(1) };
                self.ready -= 1;
                self.len -= 1;
                seen -= 1;
                // SAFETY: the value is initialised, and stepped over before it
                // is read, so it is read once.
                take(unsafe { at.read() });
            }
            let Some(block) = self.blocks.pop() else {
                return;
            };
            self.next = block.start;
            self.ready = block.len;
        }
    }
}

impl<T> fmt::Debug for Scatter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scatter")
            .field("parts", &self.cursors.len())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<T> ExactSizeIterator for List<T> {}
impl<T> FusedIterator for List<T> {}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        /// Drops the rest, also after a destructor has panicked.
        struct Rest<'l, T>(&'l mut List<T>);

        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                self.0.for_each(drop);
            }
        }

        if const { mem::needs_drop::<T>() } {
            let rest = Rest(self);
            rest.0.for_each(drop);
        }
    }
}

/// For each part, the lists of all workers, in the order of the workers.
pub(crate) fn transpose<T>(scatters: impl IntoIterator<Item = Scatter<T>>) -> Vec<Vec<List<T>>> {
    let mut parts: Vec<Vec<List<T>>> = Vec::new();
    for scatter in scatters {
        let lists = scatter.into_lists();
        parts.resize_with(lists.len(), Vec::new);
        parts
            .iter_mut()
            .zip(lists)
            .for_each(|(part, list)| part.push(list));
    }
    parts
}

/// All values of `parts` in a row, moved there in parallel.
pub(crate) fn concat<T: Send>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    if parts.len() < 2 {
        return parts.pop().unwrap_or_default();
    }
    let size = mem::size_of::<T>();
    let total = parts.iter().map(Vec::len).sum();
    let mut all: Vec<T> = Vec::with_capacity(total);
    if size == 0 || total <= PIECE / size {
        parts.iter_mut().for_each(|part| all.append(part));
        return all;
    }
    pages::expect_fill(all.spare_capacity_mut());
    let mut room = &mut all.spare_capacity_mut()[..total];
    let mut jobs = Vec::new();
    for part in &mut parts {
        let len = part.len();
        // SAFETY: the length 0 claims no values. From here on the part's values belong to `all`; if anything
        // panics before the length of `all` includes them, they leak.
        unsafe { part.set_len(0) };
        let (here, rest) = mem::take(&mut room).split_at_mut(len);
        room = rest;
        let most = (PIECE / size).max(1);
        let values = part.spare_capacity_mut()[..len].chunks_mut(most);
        jobs.extend(here.chunks_mut(most).zip(values));
    }
    type Move<'a, T> = (&'a mut [MaybeUninit<T>], &'a mut [MaybeUninit<T>]);
    let copy = |(here, values): Move<'_, T>| {
        debug_assert_eq!(here.len(), values.len());
        // SAFETY: both slices are as long as `here`, and lie in different allocations.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), here.as_mut_ptr(), here.len()) };
    };
    // No token ends the moves halfway, when values belong to neither side.
    sheltered(|| par_map(jobs, &copy));
    // SAFETY: the jobs wrote each of the places with an initialised value.
    unsafe { all.set_len(total) };
    all
}

/// Applies `f` to each input, in parallel, one job for each. `f` is called through a reference:
/// then all jobs with the same types of inputs and outputs share one body, and a call for each job
/// costs nothing.
pub fn par_map<I: Send, O: Send>(inputs: Vec<I>, f: &(dyn Fn(I) -> O + Sync)) -> Vec<O> {
    // Loops, since `collect` of a vector's items would compile ten functions for each type.
    let mut slots: Vec<(Option<I>, Option<O>)> = Vec::with_capacity(inputs.len());
    for input in inputs {
        slots.push((Some(input), None));
    }
    halves(&mut slots, f);
    let mut outputs = Vec::with_capacity(slots.len());
    for (_, output) in slots {
        outputs.push(output.expect("each job has run"));
    }
    outputs
}

/// Runs the jobs of all slots. It forks through references, so that the pool's part of the code is compiled
/// once, and not for each kind of job.
fn halves<I: Send, O: Send>(slots: &mut [(Option<I>, Option<O>)], f: &(dyn Fn(I) -> O + Sync)) {
    match slots {
        [] => {}
        [(input, output)] => *output = input.take().map(f),
        many => {
            // As in `join`: under a token, the call may end here.
            let _look = look();
            let (left, right) = many.split_at_mut(many.len() / 2);
            both(&mut Half(left, f), &mut Half(right, f));
        }
    }
}

/// The slots that one of two threads runs.
struct Half<'a, I, O>(
    &'a mut [(Option<I>, Option<O>)],
    &'a (dyn Fn(I) -> O + Sync),
);

impl<I: Send, O: Send> Part for Half<'_, I, O> {
    fn run(&mut self, _: bool) {
        halves(self.0, self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, Scatter, concat, par_map, transpose};
    use std::mem::forget;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn lists_keep_their_order() {
        let scatter = |from: usize| {
            let mut scatter = Scatter::new(7);
            (from..from + 20_000).for_each(|i| scatter.push(i % 7, Box::new(i)));
            scatter
        };
        let parts = transpose([scatter(0), scatter(20_000), Scatter::new(7)]);
        for (part, lists) in parts.into_iter().enumerate() {
            let found: Vec<usize> = lists.into_iter().flatten().map(|boxed| *boxed).collect();
            assert!(found.iter().all(|i| i % 7 == part) && found.is_sorted());
            assert_eq!(found.len(), (0..40_000).filter(|i| i % 7 == part).count());
        }
    }

    #[test]
    fn a_destructor_that_panics_does_not_stop_the_others() {
        struct Touchy<'a>(usize, &'a AtomicUsize);

        impl Drop for Touchy<'_> {
            fn drop(&mut self) {
                self.1.fetch_add(1, Relaxed);
                assert!(self.0 != 3000, "on purpose");
            }
        }

        let dropped = AtomicUsize::new(0);
        let list = |count| {
            let mut scatter = Scatter::new(1);
            (0..count).for_each(|i| scatter.push(0, Touchy(i, &dropped)));
            scatter.into_lists().remove(0)
        };
        for taken in [0, 1, 2999, 3000, 3001, 5000] {
            let mut list = list(5000);
            assert_eq!(list.by_ref().take(taken).map(forget).count(), taken);
            let panicked = catch_unwind(AssertUnwindSafe(|| drop(list))).is_err();
            assert_eq!(panicked, taken <= 3000);
            assert_eq!(dropped.swap(0, Relaxed), 5000 - taken);
        }
    }

    /// Each value is looked at once, before its turn, and not far ahead; whatever panics, nothing is lost.
    #[test]
    fn values_are_seen_ahead() {
        let token = Arc::new(());
        let list = || {
            let mut scatter = Scatter::new(1);
            (0..2000).for_each(|i| scatter.push(0, (i, token.clone())));
            scatter.into_lists().remove(0)
        };
        let (seen, mut taken) = (AtomicUsize::new(0), 0);
        list().for_each_ahead(
            |&(i, _)| assert_eq!(i, seen.fetch_add(1, Relaxed)),
            |(i, _)| {
                let ahead = seen.load(Relaxed) - i;
                assert!((1..=AHEAD).contains(&ahead), "{ahead} at {i}");
                assert_eq!(i, taken);
                taken += 1;
            },
        );
        assert_eq!((seen.into_inner(), taken), (2000, 2000));
        for at in [0, 1, AHEAD, 700, 1999] {
            let looking = || list().for_each_ahead(|&(i, _)| assert_ne!(i, at), drop);
            let taking = || list().for_each_ahead(|_| {}, |(i, _)| assert_ne!(i, at));
            assert!(catch_unwind(AssertUnwindSafe(looking)).is_err());
            assert!(catch_unwind(AssertUnwindSafe(taking)).is_err());
            assert_eq!(Arc::strong_count(&token), 1);
        }
    }

    #[test]
    fn values_of_no_size_and_of_much() {
        let mut none = Scatter::new(2);
        let mut much = Scatter::new(2);
        for i in 0..1000_u64 {
            none.push((i % 2) as usize, ());
            much.push((i % 2) as usize, [i; 600]);
        }
        assert!(none.into_lists().iter().all(|list| list.len() == 500));
        let sum: u64 = much
            .into_lists()
            .into_iter()
            .flatten()
            .map(|array| array[599])
            .sum();
        assert_eq!(sum, 499_500);
    }

    #[test]
    fn every_value_is_dropped_once() {
        let token = Arc::new(());
        let mut scatter = Scatter::new(3);
        (0..1000).for_each(|i| scatter.push(i % 3, token.clone()));
        assert_eq!(Arc::strong_count(&token), 1001);
        let mut lists = scatter.into_lists();
        lists[0].by_ref().take(100).for_each(drop);
        assert_eq!(Arc::strong_count(&token), 901);
        drop(lists);
        assert_eq!(Arc::strong_count(&token), 1);
        let mut unread = Scatter::new(3);
        (0..1000).for_each(|i| unread.push(i % 3, token.clone()));
        drop(unread);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn concatenated_in_order_and_dropped_once() {
        let token = Arc::new(());
        for sizes in [
            &[][..],
            &[3],
            &[0, 2, 0],
            &[70_000, 1, 0, 50_000],
            &[9, 200_000],
        ] {
            let mut next = 0..;
            let part = |&size| {
                let values = next.by_ref().take(size);
                values.map(|i: usize| (i, token.clone())).collect()
            };
            let all = concat(sizes.iter().map(part).collect());
            assert_eq!(all.len(), sizes.iter().sum::<usize>());
            assert!(all.iter().enumerate().all(|(i, (value, _))| i == *value));
            assert_eq!(Arc::strong_count(&token), all.len() + 1);
        }
        assert_eq!(Arc::strong_count(&token), 1);
        assert_eq!(concat(vec![vec![(); 3], Vec::new(), vec![(); 4]]).len(), 7);
    }

    #[test]
    fn jobs_come_back_in_order() {
        let squares = par_map((0..100).collect(), &|i: u32| i * i);
        assert!(squares.into_iter().eq((0..100).map(|i| i * i)));
        assert!(par_map(Vec::<u32>::new(), &|i: u32| i).is_empty());
    }
}
