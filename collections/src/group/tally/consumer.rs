//! The consumer that drives the workers, and the place where their tables lie between two blocks.
#![forbid(unsafe_code)]

use super::super::fold::Fold;
use super::merging::{Done, DoneOf, Plan};
use super::worker::{SETTLED, State};
use crate::tag::Tag;
use std::hash::BuildHasher;
use std::iter::once;
use std::marker::PhantomData;
use std::mem;
use std::sync::{Mutex, MutexGuard, OnceLock};
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use tine_pool::{current_num_threads, current_thread_index};

/// Where workers leave their state between two blocks, if order does not matter.
///
/// While a thread waits for a piece that another thread works on, it may take up a third piece. It
/// finds its table here and goes on with it.
pub(super) struct Idle<'a, F: Fold, S, G> {
    /// A seat for each thread, once there is a large table.
    seats: OnceLock<Box<[Drawer<'a, F, S, G>]>>,
    /// The states of ended pieces, and states whose seat was taken.
    #[allow(clippy::vec_box)] // they travel by value
    others: Mutex<Vec<Box<State<'a, F, S, G>>>>,
}

/// On a cache line of its own.
#[repr(align(64))]
struct Drawer<'a, F: Fold, S, G>(Mutex<Option<Box<State<'a, F, S, G>>>>);

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> Idle<'a, F, S, G> {
    pub(super) fn new() -> Self {
        Idle {
            seats: OnceLock::new(),
            others: Mutex::new(Vec::new()),
        }
    }

    /// The seat of this thread.
    fn seat<'s>(seats: &'s [Drawer<'a, F, S, G>]) -> &'s Drawer<'a, F, S, G> {
        &seats[current_thread_index().unwrap_or(0) % seats.len()]
    }

    #[inline]
    fn take(&self, plan: &'a Plan<'a, F, S>) -> Box<State<'a, F, S, G>> {
        let seats = self.seats.get();
        seats
            .and_then(|seats| lock(&Self::seat(seats).0).take())
            .or_else(|| lock(&self.others).pop())
            .unwrap_or_else(|| Box::new(State::new(plan)))
    }

    /// Leaves a state here between two blocks.
    #[inline]
    fn put(&self, state: Box<State<'a, F, S, G>>) {
        let seats = self.seats.get_or_init(|| {
            let seat = |_| Drawer(Mutex::new(None));
            (0..current_num_threads()).map(seat).collect()
        });
        let before = lock(&Self::seat(seats).0).replace(state);
        before.into_iter().for_each(|before| self.put_aside(before));
    }

    /// Leaves a state here at the end of its piece.
    fn put_aside(&self, state: Box<State<'a, F, S, G>>) {
        lock(&self.others).push(state);
    }

    #[allow(clippy::vec_box)] // as above
    pub(super) fn take_all(&self) -> Vec<Box<State<'a, F, S, G>>> {
        let seated = self
            .seats
            .get()
            .into_iter()
            .flatten()
            .filter_map(|seat| lock(&seat.0).take());
        seated.chain(mem::take(&mut *lock(&self.others))).collect()
    }
}

pub(super) struct TallyConsumer<'a, F: Fold, S, G> {
    pub(super) plan: &'a Plan<'a, F, S>,
    pub(super) idle: &'a Idle<'a, F, S, G>,
    pub(super) tag: PhantomData<G>,
}

pub(super) struct TallyFolder<'a, F: Fold, S, G> {
    plan: &'a Plan<'a, F, S>,
    /// On the heap, since folders travel by value. Between blocks a large state is in `idle`, if
    /// order does not matter.
    state: Option<Box<State<'a, F, S, G>>>,
    idle: &'a Idle<'a, F, S, G>,
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> TallyFolder<'a, F, S, G> {
    /// Folds items that come one by one. Between them the state stays here.
    #[inline]
    fn put_one(&mut self, item: F::Item) {
        let mut state = self.take();
        state.put_all(once(item));
        self.state = Some(state);
    }

    #[inline]
    fn put_all(&mut self, items: impl IntoIterator<Item = F::Item>) {
        let mut state = self.take();
        state.put_all(items);
        // A small table is soon filled again: that is cheaper than keeping it.
        if F::COMMUTES && (state.done.count >= SETTLED || self.plan.is_shared()) {
            self.idle.put(state);
        } else {
            self.state = Some(state);
        }
    }

    #[inline]
    fn take(&mut self) -> Box<State<'a, F, S, G>> {
        match self.state.take() {
            Some(state) => state,
            None if F::COMMUTES => self.idle.take(self.plan),
            None => Box::new(State::new(self.plan)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

pub(super) struct InOrder<'a, F, S>(&'a Plan<'a, F, S>);

impl<F: Fold, S: BuildHasher + Sync, G: Tag> Reducer<DoneOf<G, F>> for InOrder<'_, F, S> {
    fn reduce(self, mut left: DoneOf<G, F>, mut right: DoneOf<G, F>) -> DoneOf<G, F> {
        self.0.join(&mut left, &mut right, self.0.two);
        left.follow(right);
        left
    }
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> Consumer<F::Item> for TallyConsumer<'a, F, S, G> {
    type Folder = TallyFolder<'a, F, S, G>;
    type Reducer = InOrder<'a, F, S>;
    type Result = DoneOf<G, F>;

    fn split_at(self, _: usize) -> (Self, Self, InOrder<'a, F, S>) {
        let left = self.split_off_left();
        let reducer = InOrder(self.plan);
        (left, self, reducer)
    }

    // A single table from block to block; another table only for a part that another thread takes.
    const ADVANCES: bool = true;
    // Another table is filled from nothing, and then merged. If order matters, each piece has its own table.
    // Keys that own memory were allocated by one thread, and cost more if two threads free them.
    fn worth(&self) -> u64 {
        if self.plan.alone {
            u64::MAX
        } else if mem::needs_drop::<F::Key>() {
            10_000_000
        } else if F::COMMUTES {
            100_000
        } else {
            2_000_000
        }
    }

    fn advance(
        self,
        _: usize,
        folder: Option<TallyFolder<'a, F, S, G>>,
    ) -> (TallyFolder<'a, F, S, G>, Self) {
        let folder = folder.unwrap_or_else(|| self.split_off_left().into_folder());
        (folder, self)
    }

    fn into_folder(self) -> TallyFolder<'a, F, S, G> {
        TallyFolder {
            plan: self.plan,
            state: None,
            idle: self.idle,
        }
    }

    fn full(&self) -> bool {
        false
    }
}

impl<'a, F: Fold, S: BuildHasher + Sync, G: Tag> UnindexedConsumer<F::Item>
    for TallyConsumer<'a, F, S, G>
{
    fn split_off_left(&self) -> Self {
        TallyConsumer {
            plan: self.plan,
            idle: self.idle,
            tag: PhantomData,
        }
    }

    fn to_reducer(&self) -> InOrder<'a, F, S> {
        InOrder(self.plan)
    }
}

impl<F: Fold, S: BuildHasher + Sync, G: Tag> Folder<F::Item> for TallyFolder<'_, F, S, G> {
    type Result = DoneOf<G, F>;

    fn consume(mut self, item: F::Item) -> Self {
        self.put_one(item);
        self
    }

    fn consume_iter<I: IntoIterator<Item = F::Item>>(mut self, items: I) -> Self {
        self.put_all(items);
        self
    }

    fn complete(self) -> DoneOf<G, F> {
        match self.state {
            Some(state) if !F::COMMUTES => return state.finish(),
            Some(state) => self.idle.put_aside(state),
            None => {}
        }
        Done::new()
    }

    fn full(&self) -> bool {
        false
    }
}
