//! Collecting an iterator of unknown length: a fragment for each contiguous piece. All fragments are moved
//! once, in parallel, to their final place.
//!
//! A lone fragment becomes the result without a copy. Small fragments are joined as soon as their pieces are
//! neighbours, so that a thousand pieces of one item do not become a thousand vectors.
//!
//! Once the first fragment has enough items to foretell the number of all items, it gets room for all of them.
//! At the end, the fragments of other threads are moved behind it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::iter::zip;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, replace, swap, take};
use std::ptr::copy_nonoverlapping;

use tine_pool::loops::sheltered;

use crate::iter::{IntoParallelRefMutIterator, ParallelIterator};
use crate::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use crate::sinks::huge;

/// Fragments of fewer bytes are moved when they are joined.
const TINY: usize = 1 << 10;

/// Fewer bytes than this are moved by a single thread.
const SHARED: usize = 128 << 10;

/// The number of bytes that are moved at once.
const BLOCK: usize = 64 << 10;

/// A growing fragment of this many bytes is not moved any more: it stays as it is, and another fragment is
/// begun, twice as large, up to a limit.
const KEPT: usize = 128 << 10;

/// From this number of collected items on, the number of all items is foretold from them.
const ENOUGH: usize = 1 << 10;
/// The first fragment gets room for one Nth more items than are foretold, since chance varies the number; this
/// is N.
const SPARE: usize = 8;
/// A fragment grows to at most N times its room in one step; this is N.
const FURTHEST: usize = 64;

/// Large enough for huge pages without loss at the ends.
const LARGEST: usize = 16 << 20;

/// How an item is added to fragments of `Unit`s.
pub(crate) trait Fill<Item> {
    /// The element type of a fragment.
    type Unit: Send;

    /// Adds one item at the end.
    fn push(to: &mut Fragments<Self::Unit>, item: Item);

    /// Adds many items.
    #[inline]
    fn extend(to: &mut Fragments<Self::Unit>, items: impl Iterator<Item = Item>) {
        items.for_each(|item| Self::push(to, item));
    }
}

/// One unit for each item.
pub(crate) enum Items {}

impl<T: Send> Fill<T> for Items {
    type Unit = T;

    #[inline]
    fn push(to: &mut Fragments<T>, item: T) {
        if to.last.len() == to.last.capacity() {
            to.make_room_for(1);
        }
        to.last.push(item);
    }

    #[inline]
    fn extend(to: &mut Fragments<T>, items: impl Iterator<Item = T>) {
        let (least, most) = items.size_hint();
        if most == Some(least) && least.saturating_mul(size_of::<T>()) <= LARGEST {
            to.make_room_for(least);
            return to.last.extend(items);
        }
        let mut end = End::of(to);
        items.for_each(|item| end.push(item));
    }
}

/// The end of the last fragment while many items are added. Its place and its length are held here, so that
/// they may stay in registers: the items may be read through references, and as far as a compiler knows, a
/// reference could lead to the fragment.
struct End<'f, T> {
    to: &'f mut Fragments<T>,
    start: *mut T,
    room: usize,
    len: usize,
}

impl<'f, T> End<'f, T> {
    fn of(to: &'f mut Fragments<T>) -> Self {
        let (start, room, len) = (to.last.as_mut_ptr(), to.last.capacity(), to.last.len());
        End {
            to,
            start,
            room,
            len,
        }
    }

    #[inline]
    fn push(&mut self, item: T) {
        if self.len == self.room {
            self.make_room();
        }
        // SAFETY: there is room for one more, so this is inside the allocation, or at its end.
        let slot = unsafe { self.start.add(self.len) };
        // SAFETY: nothing is initialised there, and as long as `to` is borrowed, it is ours alone.
        unsafe { slot.write(item) };
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.note();
        self.to.make_room_for(1);
        let last = &mut self.to.last;
        (self.start, self.room, self.len) = (last.as_mut_ptr(), last.capacity(), last.len());
    }

    #[inline]
    fn note(&mut self) {
        // SAFETY: the first `len` items are initialised: those that were there before, and behind them those
        // that `push` wrote.
        unsafe { self.to.last.set_len(self.len) };
    }
}

/// Also if an item panics.
impl<T> Drop for End<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.note();
    }
}

/// Drives the items into fragments.
pub(crate) fn gather_by<F, I>(iter: I) -> Fragments<F::Unit>
where
    I: ParallelIterator,
    F: Fill<I::Item>,
{
    let mut home = Fragments::from(Vec::new());
    let to_home = Gather::<F, _>::at(Some(Place::Home(&mut home)));
    match iter.drive_unindexed(to_home) {
        Place::Home(home) => replace(home, Vec::new().into()),
        Place::Own(own) => *own,
    }
}

/// Where the fragments of a piece are: in the frame of the call if the piece holds the first items of the call,
/// and in a box of their own otherwise.
///
/// A folder goes by value from block to block and from piece to piece, in registers if it is small enough.
pub(crate) enum Place<'h, U> {
    Home(&'h mut Fragments<U>),
    Own(Box<Fragments<U>>),
}

impl<U> Place<'_, U> {
    #[inline]
    fn fragments(&mut self) -> &mut Fragments<U> {
        match self {
            Place::Home(home) => home,
            Place::Own(own) => own,
        }
    }
}

/// The consumer that makes a fragment of each piece, or adds to the fragments of the items before.
struct Gather<'h, F, U> {
    so_far: Cell<Option<Place<'h, U>>>,
    fill: PhantomData<fn(F)>,
}

impl<'h, F, U> Gather<'h, F, U> {
    fn at(place: Option<Place<'h, U>>) -> Self {
        Gather {
            so_far: Cell::new(place),
            fill: PhantomData,
        }
    }

    /// The part to the left, which adds to the existing fragments.
    fn left(&self) -> Self {
        Self::at(self.so_far.take())
    }

    fn begin(&self) -> Growing<'h, F, U> {
        let own = || Place::Own(Box::new(Vec::new().into()));
        Growing {
            place: self.so_far.take().unwrap_or_else(own),
            fill: PhantomData,
        }
    }
}

impl<'h, T, F: Fill<T>> Consumer<T> for Gather<'h, F, F::Unit> {
    type Folder = Growing<'h, F, F::Unit>;
    type Reducer = InOrder;
    type Result = Place<'h, F::Unit>;

    const ADVANCES: bool = true;
    const STEADY: bool = true;
    const RESUMES: bool = true;

    fn split_at(self, _: usize) -> (Self, Self, InOrder) {
        (self.left(), self, InOrder)
    }

    fn into_folder(self) -> Self::Folder {
        self.begin()
    }

    fn full(&self) -> bool {
        false
    }

    fn resume(self, so_far: Self::Result) -> Self {
        Self::at(Some(so_far))
    }

    fn expect(&mut self, items: usize) {
        if let Some(place) = self.so_far.get_mut() {
            place.fragments().expect(items);
        }
    }

    fn advance(self, count: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let mut folder = folder.unwrap_or_else(|| self.begin());
        folder.place.fragments().go_to(count);
        (folder, self)
    }
}

impl<T, F: Fill<T>> UnindexedConsumer<T> for Gather<'_, F, F::Unit> {
    fn split_off_left(&self) -> Self {
        self.left()
    }

    fn to_reducer(&self) -> InOrder {
        InOrder
    }
}

/// The fragments of one piece while it is worked on.
struct Growing<'h, F, U> {
    place: Place<'h, U>,
    fill: PhantomData<fn(F)>,
}

impl<'h, T, F: Fill<T>> Folder<T> for Growing<'h, F, F::Unit> {
    type Result = Place<'h, F::Unit>;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        F::push(self.place.fragments(), item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        F::extend(self.place.fragments(), items.into_iter());
        self
    }

    fn complete(self) -> Self::Result {
        self.place
    }

    fn full(&self) -> bool {
        false
    }
}

/// The fragments of the pieces so far, in order. Only `last` may be empty.
pub(crate) struct Fragments<T> {
    before: VecDeque<Vec<T>>,
    pub(crate) last: Vec<T>,
    pace: Pace,
}

/// How many of the source's items the collecting piece has consumed, and how long the first fragment was at
/// those times.
#[derive(Default)]
struct Pace {
    /// The number of the source's items; 0 if it is not known.
    all: usize,
    /// The number of items that were consumed before the present block.
    gone: usize,
    /// The number of items in the present block.
    block: usize,
    /// The length of the first fragment when the source began.
    start: usize,
    /// The length of the first fragment when the present block began.
    len: usize,
}

impl Pace {
    /// The length that the first fragment would have with all items of the source, or 0 if it is too early to
    /// tell.
    fn foretold(&self) -> usize {
        let made = self.len - self.start;
        if made < ENOUGH || self.gone == 0 {
            return 0;
        }
        // Floats: an estimate, which must not overflow.
        let all = made as f64 / self.gone as f64 * self.all as f64;
        self.start
            .saturating_add((all * (1.0 + 1.0 / SPARE as f64)) as usize)
    }
}

impl<T> Fragments<T> {
    /// Notes that a source of this number of items begins.
    fn expect(&mut self, items: usize) {
        if self.before.is_empty() {
            let len = self.last.len();
            self.pace = Pace {
                all: items,
                start: len,
                len,
                ..Pace::default()
            };
        }
    }

    /// Notes that the next block begins, with `count` of the source's items.
    #[inline]
    fn go_to(&mut self, count: usize) {
        let pace = &mut self.pace;
        if pace.all != 0 {
            pace.gone += pace.block;
            pace.block = count;
            pace.len = self.last.len();
        }
    }

    /// Makes room in the only fragment for the foretold items, if that is far more room than it has.
    fn make_room_for_all(&mut self, count: usize) -> bool {
        let (room, len) = (self.last.capacity(), self.last.len());
        let foretold = self.pace.foretold().min(room.saturating_mul(FURTHEST));
        foretold >= room.saturating_mul(2).max(len.saturating_add(count))
            && self.last.try_reserve_exact(foretold - len).is_ok()
    }

    /// Makes room for `count` more items, a small number.
    fn make_room_for(&mut self, count: usize) {
        let room = self.last.capacity();
        if room - self.last.len() >= count {
            return;
        }
        if self.pace.all != 0 && self.before.is_empty() && self.make_room_for_all(count) {
            return huge::advise(self.last.spare_capacity_mut());
        }
        let bytes = room.saturating_mul(size_of::<T>());
        if bytes < KEPT {
            return self.last.reserve(count);
        }
        let more = if bytes < LARGEST { 2 * room } else { room };
        let full = replace(&mut self.last, Vec::with_capacity(more.max(count)));
        self.before.push_back(full);
        huge::advise(self.last.spare_capacity_mut());
    }
}

impl<T> Fragments<T> {
    /// Puts the fragments of the right neighbour behind these.
    fn go_on(&mut self, right: &mut Self) {
        if right.before.is_empty() && size_of_val(&*right.last) <= TINY {
            return self.last.append(&mut right.last);
        }
        if !self.last.is_empty() {
            self.before.push_back(take(&mut self.last));
        }
        self.last = take(&mut right.last);
        // The shorter row is moved to the longer one, so that a row may grow from either end.
        if self.before.len() < right.before.len() {
            swap(&mut self.before, &mut right.before);
            while let Some(fragment) = right.before.pop_back() {
                self.before.push_front(fragment);
            }
        } else {
            self.before.append(&mut right.before);
        }
    }
}

impl<T> From<Vec<T>> for Fragments<T> {
    fn from(last: Vec<T>) -> Self {
        Fragments {
            before: VecDeque::new(),
            last,
            pace: Pace::default(),
        }
    }
}

/// Puts the fragments of two neighbours in one row, in the place of the left neighbour's.
struct InOrder;

impl<'h, T> Reducer<Place<'h, T>> for InOrder {
    fn reduce(self, mut left: Place<'h, T>, mut right: Place<'h, T>) -> Place<'h, T> {
        left.fragments().go_on(right.fragments());
        left
    }
}

impl<T: Send> Fragments<T> {
    /// The number of items in all.
    pub(crate) fn len(&self) -> usize {
        self.before.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// The fragments, none of them empty.
    pub(crate) fn into_vecs(self) -> impl Iterator<Item = Vec<T>> {
        let last = Some(self.last).filter(|last| !last.is_empty());
        self.before.into_iter().chain(last)
    }

    /// All items in one vector.
    pub(crate) fn into_vec(self) -> Vec<T> {
        let mut all = Vec::new();
        self.append_to(&mut all);
        all
    }

    /// Moves all items to the end of `target`.
    pub(crate) fn append_to(mut self, target: &mut Vec<T>) {
        if target.capacity() == 0 {
            let len = self.len();
            if self.before.is_empty() {
                *target = self.last;
                self.last = Vec::new();
            } else if self.before[0].capacity() >= len {
                *target = self.before.pop_front().unwrap_or_default();
            }
            // Fewer items came than were foretold: room that is not needed is given back.
            if target.capacity() / 2 > len.max(ENOUGH) {
                target.shrink_to(len);
            }
            if target.len() == len {
                return;
            }
        }
        let len = self.len();
        target.reserve(len);
        if len.saturating_mul(size_of::<T>()) < SHARED {
            self.into_vecs()
                .for_each(|mut fragment| target.append(&mut fragment));
        } else {
            move_shared(self.into_vecs().collect(), len, target);
        }
    }
}

/// Moves `len` items in all to the end of `target`, which has room for them.
fn move_shared<T: Send>(mut fragments: Vec<Vec<T>>, len: usize, target: &mut Vec<T>) {
    let spare = &mut target.spare_capacity_mut()[..len];
    huge::advise(spare);
    let mut moves = Vec::new();
    let mut rest = spare;
    for fragment in &mut fragments {
        let items;
        (items, rest) = rest.split_at_mut(fragment.len());
        // SAFETY: the first zero items are always initialised. Nothing owns the items until `target` does. In
        // between only bytes are copied; should that ever panic, the items are leaked.
        unsafe { fragment.set_len(0) };
        let from = &fragment.spare_capacity_mut()[..items.len()];
        let block = (BLOCK / size_of::<T>().max(1)).max(1);
        moves.extend(
            zip(from.chunks(block), items.chunks_mut(block)).map(|(from, to)| Move { from, to }),
        );
    }
    // If this ended in the middle, some items would be here and some there, and no items would be dropped.
    sheltered(|| moves.par_iter_mut().for_each(Move::run));
    // SAFETY: the moves initialised these, next to what was there.
    unsafe { target.set_len(target.len() + len) };
}

/// A block of items on its way.
struct Move<'m, T> {
    from: &'m [MaybeUninit<T>],
    to: &'m mut [MaybeUninit<T>],
}

// SAFETY: no other code looks at `from` while the move exists: as far as threads are concerned, both sides are
// exclusive, and the items are `Send`.
unsafe impl<T: Send> Send for Move<'_, T> {}

impl<T> Move<'_, T> {
    fn run(&mut self) {
        assert_eq!(self.from.len(), self.to.len());
        let (from, to) = (self.from.as_ptr(), self.to.as_mut_ptr());
        // SAFETY: both are valid for that many, and do not overlap because
        // one of them is exclusive.
        unsafe { copy_nonoverlapping(from, to, self.to.len()) }
    }
}
