//! What the threads of one pipeline agree on, under one lock.
//!
//! A thread that takes part is a *member*. It looks for work: a ready chunk before a serial stage,
//! the last stage first, or else the source. If there is neither, it leaves; it never waits. So
//! these rules keep a pipeline from standing still:
//!
//! * Whether there is work, and who takes it, is decided under the lock. A member leaves only if there
//!   is none.
//! * A member that has taken work checks under the same lock, before it runs a closure of the user,
//!   whether there is more work. If there is, and there are fewer members than threads, it calls
//!   another member.
//! * Only members create work, and a member that has created work looks for work afterwards.
//!
//! So while there is work and a thread for it, a member is at it or has been called. And a member
//! always holds the chunk, or the chunk lies before a stage at which a member will look when the
//! chunk before it is through. Chunks behind the first in order never hold the first one up: it has
//! its place already. So the places come free in the end, and a full pipeline goes on.
//!
//! No closure, iterator or destructor of the user runs under the lock.
#![forbid(unsafe_code)]

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A panic elsewhere leaves nothing half done under these locks.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all members share, whatever their stages.
#[derive(Debug)]
pub(super) struct Hub<E> {
    state: Mutex<State<E>>,
    threads: usize,
}

/// The state of a pipeline.
#[derive(Debug)]
pub struct State<E> {
    /// How many more items may be under way.
    pub(super) free: usize,
    /// A member is at the source.
    pub(super) drawing: bool,
    /// The number of the next chunk.
    pub(super) next: usize,
    /// Nothing more is drawn.
    pub(super) over: bool,
    /// A stop of the user ended it.
    pub(super) stopped: bool,
    /// A closure has panicked: nothing more is done.
    pub(super) dead: bool,
    /// The chunk with the first error; chunks behind it are of no use.
    pub(super) cut: usize,
    pub(super) error: Option<E>,
    /// How many serial stages have a chunk that a member may take.
    pub(super) ready: usize,
    /// How many members there are, or have been called.
    pub(super) active: usize,
}

/// The lock, held.
pub(super) type Held<'h, E> = MutexGuard<'h, State<E>>;

impl<E> State<E> {
    pub(super) fn may_draw(&self) -> bool {
        self.free > 0 && !self.drawing && !self.over && !self.dead
    }

    fn has_work(&self) -> bool {
        self.may_draw() || (self.ready > 0 && !self.dead)
    }
}

impl<E> Hub<E> {
    /// For a pipeline with at most `limit` items under way; the calling thread is its first member.
    pub(super) fn new(limit: usize, threads: usize) -> Self {
        let state = State {
            free: limit,
            drawing: false,
            next: 0,
            over: false,
            stopped: false,
            dead: false,
            cut: usize::MAX,
            error: None,
            ready: 0,
            active: 1,
        };
        Hub {
            state: Mutex::new(state),
            threads,
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn lock(&self) -> Held<'_, E> {
        lock(&self.state)
    }

    pub(super) fn into_state(self) -> State<E> {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a member knows of the others.
pub struct Post<'h, E> {
    hub: &'h Hub<E>,
    call: &'h dyn Fn(),
}

impl<E> std::fmt::Debug for Post<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post").finish_non_exhaustive()
    }
}

impl<'h, E> Post<'h, E> {
    /// `call` brings one more member.
    pub(super) fn new(hub: &'h Hub<E>, call: &'h dyn Fn()) -> Self {
        Post { hub, call }
    }

    pub(super) fn lock(&self) -> Held<'h, E> {
        self.hub.lock()
    }

    /// This member is about to run a closure: calls another member if there is work for it.
    pub(super) fn go_off(&self, mut state: Held<'h, E>) {
        let wanted = state.active < self.hub.threads && state.has_work();
        state.active += usize::from(wanted);
        drop(state);
        if wanted {
            (self.call)();
        }
    }

    /// An item of chunk `at` has failed. Of several errors, the first in order stays. Within a
    /// chunk, a later call is for an earlier item: the items from the failed item on went no
    /// further.
    pub(super) fn fail(&self, at: usize, error: E) {
        let mut state = self.lock();
        let mut error = Some(error);
        if at <= state.cut {
            state.cut = at;
            state.over = true;
            mem::swap(&mut state.error, &mut error);
        }
        drop(state);
        drop(error);
    }
}
