//! Lists of what happened, one for each thread, and the recording that reads them.
//!
//! A list is behind a lock that only its own thread takes while a recording runs, so it is never
//! waited for. Lists have a limit: later events are counted and not kept.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::trace::event::{Act, Event, What};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many recordings are under way. Relaxed: a thread that sees it late misses a moment.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);
/// The lists of all threads that have written one since the first recording began.
static LISTS: Mutex<Vec<Arc<Mutex<List>>>> = Mutex::new(Vec::new());
/// Most events in one list: 24 bytes each.
const ROOM: usize = 1 << 20;

thread_local! {
    static LIST: Arc<Mutex<List>> = register();
}

/// What one thread has written, in ticks of the clock.
#[derive(Debug, Default)]
struct List {
    name: Option<String>,
    events: Vec<(u64, usize, What)>,
    missed: usize,
    longest_block: u64,
}

fn register() -> Arc<Mutex<List>> {
    let list = Arc::new(Mutex::new(List {
        name: std::thread::current().name().map(str::to_owned),
        ..List::default()
    }));
    lock(&LISTS).push(Arc::clone(&list));
    list
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline]
fn recording() -> bool {
    RECORDINGS.load(Ordering::Relaxed) > 0
}

/// A span of time: it ends when this is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Span(usize, Act);

/// Begins a span on a seat.
#[inline]
pub(super) fn span(seat: usize, act: Act) -> Span {
    moment(seat, What::Begin(act));
    Span(seat, act)
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        moment(self.0, What::End(self.1));
    }
}

/// Something happens on a seat.
#[inline]
pub(crate) fn moment(seat: usize, what: What) {
    if recording() {
        write(seat, what);
    }
}

#[cold]
fn write(seat: usize, what: What) {
    let at = clock::now();
    // A thread that is about to be gone writes no more.
    let _ = LIST.try_with(|list| {
        let mut list = lock(list);
        if list.events.len() < ROOM {
            list.events.push((at, seat, what));
        } else {
            list.missed += 1;
        }
    });
}

/// A block of a loop took this many ticks.
#[inline]
pub(crate) fn block(ticks: u64) {
    if recording() {
        let _ = LIST.try_with(|list| {
            let mut list = lock(list);
            list.longest_block = list.longest_block.max(ticks);
        });
    }
}

/// A recording, from when this is made until it is [read](Recording::end) or dropped.
#[derive(Debug)]
#[must_use]
pub struct Recording {
    begun: u64,
}

/// What one thread did during the recording.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The thread's name.
    pub name: Option<String>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The number of events that found no room.
    pub missed: usize,
    /// The longest block of a loop, in nanoseconds.
    pub longest_block: u64,
}

impl Recording {
    /// Begins to record.
    #[allow(clippy::new_without_default)] // a default that changes the world would surprise
    pub fn new() -> Self {
        RECORDINGS.fetch_add(1, Ordering::Relaxed);
        Self {
            begun: clock::now(),
        }
    }

    /// Ends the recording. Returns how long it took, in nanoseconds, and what each thread did.
    pub fn end(self) -> (u64, Vec<Lane>) {
        let took = clock::since(self.begun);
        let lists = lock(&LISTS);
        let lanes = lists.iter().map(|list| self.lane(&lock(list), took));
        let lanes = lanes.filter(|lane| !lane.events.is_empty()).collect();
        (clock::nanos(took), lanes)
    }

    fn lane(&self, list: &List, took: u64) -> Lane {
        let while_recorded =
            |&&(at, ..): &&(u64, usize, What)| at >= self.begun && at - self.begun <= took;
        let events = list.events.iter().filter(while_recorded);
        let event = |&(at, seat, what): &(u64, usize, What)| Event {
            at: clock::nanos(at - self.begun),
            seat,
            what,
        };
        Lane {
            name: list.name.clone(),
            events: events.map(event).collect(),
            missed: list.missed,
            longest_block: clock::nanos(list.longest_block),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if RECORDINGS.fetch_sub(1, Ordering::Relaxed) == 1 {
            // No recording reads them any more. Lists whose thread has ended are removed.
            let mut lists = lock(&LISTS);
            lists.retain(|list| Arc::strong_count(list) > 1);
            for list in lists.iter() {
                let mut list = lock(list);
                let name = list.name.take();
                *list = List {
                    name,
                    ..List::default()
                };
            }
        }
    }
}
