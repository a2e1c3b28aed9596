//! Stages that take one item at a time, in order or as they come, and the chunks that wait before
//! them.
//!
//! ```text
//!   passed on | in hand | ready ready . ready . .
//!                         ^ head
//! ```
//!
//! Chunks lie in a ring, each in its place by its number (or one behind the other, where order does
//! not matter). The member that takes the chunk at the head makes the stage busy and runs the
//! closure over the chunk. It lets go of the stage before it carries the chunk on, so that another
//! member may take the next chunk meanwhile. The buffers of chunks are used again and again.
#![forbid(unsafe_code)]

use super::hub::{Held, Post, State, lock};
use super::parallel::Makes;
use super::stages::{Orders, Outcome, Run, Stages};
use super::station::{Station, Tag};
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Mutex;

/// A stage that one thread at a time runs.
pub trait OneByOne<T, E>: Makes<T> + Send {
    /// Works on the items as they are asked for; after `fail` nothing more comes.
    fn over(
        &mut self,
        items: impl Iterator<Item = T>,
        fail: impl Fn(E),
    ) -> impl Iterator<Item = Self::Out>;
}

/// Stages, and a serial one behind them.
#[derive(Clone)]
pub struct ThenSerial<L, P> {
    base: L,
    stage: P,
    ordered: bool,
}

impl<L: fmt::Debug, P> fmt::Debug for ThenSerial<L, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThenSerial")
            .field("base", &self.base)
            .field("ordered", &self.ordered)
            .finish_non_exhaustive()
    }
}

impl<L, P> ThenSerial<L, P> {
    pub(super) fn in_order(base: L, stage: P) -> Self {
        let ordered = true;
        ThenSerial {
            base,
            stage,
            ordered,
        }
    }

    pub(super) fn any_order(base: L, stage: P) -> Self {
        let ordered = false;
        ThenSerial {
            base,
            stage,
            ordered,
        }
    }
}

impl<L: Stages, P: Makes<L::Item>> Stages for ThenSerial<L, P> {
    type Item = P::Out;
}

impl<L: Run<E>, P: OneByOne<L::Item, E>, E> Run<E> for ThenSerial<L, P> {
    fn run<S: Station<P::Out, E> + Send>(self, next: S, orders: Orders<'_>) -> Outcome<E> {
        let station = Narrow {
            stage: Mutex::new(self.stage),
            line: Mutex::new(Line::new(self.ordered)),
            next,
        };
        self.base.run(station, orders)
    }
}

/// A serial stage at work.
struct Narrow<T, P, S> {
    /// Locked by the member that has made the stage busy, so never contended.
    stage: Mutex<P>,
    /// Locked only while the hub is, so never contended.
    line: Mutex<Line<T>>,
    next: S,
}

/// A chunk that waits: its items are what is in the buffer.
type Chunk<T> = (Tag, Vec<T>);

/// The chunks that wait for a serial stage.
struct Line<T> {
    ordered: bool,
    /// The number of the first chunk in the ring, if they are ordered.
    head: usize,
    ring: VecDeque<Option<Chunk<T>>>,
    busy: bool,
    /// Nothing more is taken: the next chunk lies behind an error.
    shut: bool,
    /// Buffers without a chunk.
    spare: Vec<Vec<T>>,
}

impl<T> Line<T> {
    fn new(ordered: bool) -> Self {
        Line {
            ordered,
            head: 0,
            ring: VecDeque::new(),
            busy: false,
            shut: false,
            spare: Vec::new(),
        }
    }

    /// Whether a member may take the chunk at the head.
    fn is_ready(&self) -> bool {
        !self.busy && !self.shut && matches!(self.ring.front(), Some(Some(_)))
    }

    /// Puts a chunk in its place; gives an empty buffer for it.
    fn put(&mut self, tag: Tag, items: &mut Vec<T>) {
        let empty = self.spare.pop().unwrap_or_default();
        let chunk = Some((tag, mem::replace(items, empty)));
        if !self.ordered {
            self.ring.push_back(chunk);
            return;
        }
        let place = tag.at - self.head;
        if self.ring.len() <= place {
            self.ring.resize_with(place + 1, || None);
        }
        debug_assert!(self.ring[place].is_none(), "two chunks of one number");
        self.ring[place] = chunk;
    }

    /// Takes the chunk at the head, unless an error lies before it, and makes the stage busy.
    fn take(&mut self, cut: usize) -> Option<Chunk<T>> {
        if !self.is_ready() {
            return None;
        }
        if self.ordered && self.head > cut {
            self.shut = true;
            return None;
        }
        self.head += 1;
        self.busy = true;
        self.ring.pop_front().flatten()
    }

    /// A chunk is through.
    fn let_go(&mut self, buffer: Vec<T>) {
        self.busy = false;
        self.spare.push(buffer);
    }
}

/// What a member keeps for a serial stage.
#[derive(Debug)]
pub(super) struct Buffers<T, U, L> {
    /// Chunks on their way into the line.
    before: Vec<T>,
    /// Chunks on their way to the next stage.
    after: Vec<U>,
    next: L,
}

impl<T, U, L: Default> Default for Buffers<T, U, L> {
    fn default() -> Self {
        Buffers {
            before: Vec::new(),
            after: Vec::new(),
            next: L::default(),
        }
    }
}

impl<T: Send, P, S> Narrow<T, P, S> {
    /// Changes the line, and tells the hub whether the line is ready now.
    fn change<E, R>(&self, state: &mut State<E>, change: impl FnOnce(&mut Line<T>) -> R) -> R {
        let mut line = lock(&self.line);
        let before = line.is_ready();
        let result = change(&mut line);
        state.ready = state.ready + usize::from(line.is_ready()) - usize::from(before);
        result
    }

    /// Takes the chunk at the head, if there is any to be taken, after a change of the line.
    fn take<E>(&self, state: &mut State<E>, first: impl FnOnce(&mut Line<T>)) -> Option<Chunk<T>> {
        let (cut, dead) = (state.cut, state.dead);
        self.change(state, |line| {
            first(line);
            (!dead).then(|| line.take(cut)).flatten()
        })
    }

    /// Runs the stage over a chunk that was taken, and carries the chunk on.
    fn serve<'h, E>(
        &self,
        post: &Post<'h, E>,
        local: &mut Buffers<T, P::Out, S::Local>,
        mut chunk: Chunk<T>,
    ) -> Held<'h, E>
    where
        P: OneByOne<T, E>,
        S: Station<P::Out, E>,
    {
        loop {
            let (tag, mut items) = chunk;
            let mut stage = lock(&self.stage);
            let out = stage.over(items.drain(..), |error| post.fail(tag.at, error));
            if S::LAST {
                out.for_each(drop);
            } else {
                local.after.extend(out);
            }
            drop(stage);
            let mut state = post.lock();
            if !S::LAST {
                self.change(&mut state, |line| line.let_go(items));
                post.go_off(state);
                let items = local.after.drain(..);
                return self.next.pass(post, &mut local.next, tag, items);
            }
            state.free += tag.weight;
            match self.take(&mut state, |line| line.let_go(items)) {
                None => return state,
                Some(next) => chunk = next,
            }
            post.go_off(state);
        }
    }
}

impl<T, E, P, S> Station<T, E> for Narrow<T, P, S>
where
    T: Send,
    P: OneByOne<T, E>,
    S: Station<P::Out, E>,
{
    type Local = Buffers<T, P::Out, S::Local>;

    fn pass<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut Self::Local,
        tag: Tag,
        items: impl Iterator<Item = T>,
    ) -> Held<'h, E> {
        local.before.extend(items);
        let mut state = post.lock();
        if state.dead || tag.at > state.cut {
            drop(state);
            local.before.clear();
            return post.lock();
        }
        match self.take(&mut state, |line| line.put(tag, &mut local.before)) {
            None => state,
            Some(chunk) => {
                post.go_off(state);
                self.serve(post, local, chunk)
            }
        }
    }

    fn advance<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut Self::Local,
        state: Held<'h, E>,
    ) -> (Held<'h, E>, bool) {
        let (mut state, moved) = self.next.advance(post, &mut local.next, state);
        if moved {
            return (state, true);
        }
        match self.take(&mut state, |_| ()) {
            None => (state, false),
            Some(chunk) => {
                post.go_off(state);
                (self.serve(post, local, chunk), true)
            }
        }
    }
}

/// The stages, one row each: a name, its closure, what comes out, and how.
macro_rules! stage {
    (
        $(#[$doc:meta])* $vis:vis $name:ident($op:ident: $closure:ident) [$($generic:ident),*] => $out:ty,
        [$($bound:tt)*], [$($error:ident)?], |$stage:ident, $items:ident, $fail:ident: $kind:ty| $over:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        $vis struct $name<$closure> {
            pub(super) $op: $closure,
        }

        impl<$closure> fmt::Debug for $name<$closure> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T, $closure, $($generic),*> Makes<T> for $name<$closure>
        where
            $($bound)*
        {
            type Out = $out;
        }

        impl<T, $($error,)? $closure, $($generic),*> OneByOne<T, $kind> for $name<$closure>
        where
            $($bound)*
        {
            fn over(
                &mut self,
                $items: impl Iterator<Item = T>,
                $fail: impl Fn($kind),
            ) -> impl Iterator<Item = Self::Out> {
                let $stage = self;
                $over
            }
        }
    };
}

stage! {
    /// The stage of [`Pipeline::in_order`](super::Pipeline::in_order) and
    /// [`Pipeline::any_order`](super::Pipeline::any_order).
    pub Serial(op: F) [U] => U,
    [F: FnMut(T) -> U + Send, U: Send], [E],
    |stage, items, _fail: E| items.map(&mut stage.op)
}

stage! {
    /// The stage of [`Pipeline::try_in_order`](super::Pipeline::try_in_order) and
    /// [`Pipeline::try_any_order`](super::Pipeline::try_any_order).
    pub TrySerial(op: F) [U, E] => U,
    [F: FnMut(T) -> Result<U, E> + Send, U: Send], [],
    |stage, items, fail: E| items.map_while(move |item| (stage.op)(item).map_err(&fail).ok())
}

stage! {
    /// The stage of [`Pipeline::collect`](super::Pipeline::collect).
    pub(super) Gather(into: C) [] => (),
    [C: Extend<T> + Send], [E],
    |stage, items, _fail: E| {
        stage.into.extend(items);
        std::iter::empty()
    }
}

/// The stage of [`Pipeline::enumerate`](super::Pipeline::enumerate).
#[derive(Clone, Debug)]
pub struct Enumerate {
    pub(super) next: usize,
}

impl<T: Send> Makes<T> for Enumerate {
    type Out = (usize, T);
}

impl<T: Send, E> OneByOne<T, E> for Enumerate {
    fn over(
        &mut self,
        items: impl Iterator<Item = T>,
        _: impl Fn(E),
    ) -> impl Iterator<Item = (usize, T)> {
        items.map(|item| {
            self.next += 1;
            (self.next - 1, item)
        })
    }
}
