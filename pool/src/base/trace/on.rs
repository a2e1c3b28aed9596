//! Lists of what happened, one for each thread, and the recording that reads them.
//!
//! A list is behind a lock that only its own thread takes while a recording runs, so it is never
//! waited for. Lists have a limit: later events are counted and not kept.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::trace::event::{Act, Event, What};
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many recordings are under way. It changes while the lists are locked, so that none begins between
/// the end of the last and the clearing of the lists. Relaxed: a thread that sees it late misses a moment.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);
/// The lists of all threads that have written one since the first recording began.
static LISTS: Mutex<Vec<Arc<Mutex<List>>>> = Mutex::new(Vec::new());
/// Most events in one list: 32 bytes each where an address has eight.
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
    blocks: Blocks,
}

/// Blocks of loops: when each ended, and how long it took. Later ones are shorter. A block goes when one as long
/// follows it: recordings end after both, so whenever one began, it holds as much of the later block.
#[derive(Debug, Default)]
struct Blocks(Vec<(u64, u64)>);

impl Blocks {
    fn note(&mut self, ended: u64, ticks: u64) {
        while self.0.pop_if(|&mut (_, before)| before <= ticks).is_some() {}
        self.0.push((ended, ticks));
    }

    /// The longest part of a block in the time from `begun` to `end`.
    fn longest(&self, begun: u64, end: u64) -> u64 {
        let within = |&(ended, ticks): &(u64, u64)| {
            let from = ended.saturating_sub(ticks).max(begun);
            ended.min(end).saturating_sub(from)
        };
        self.0.iter().map(within).max().unwrap_or_default()
    }
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
    // A thread that is about to end writes no more.
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
        let now = clock::now();
        let _ = LIST.try_with(|list| lock(list).blocks.note(now, ticks));
    }
}

/// A recording, from when this is made until it is [read](Recording::end) or dropped.
#[derive(Debug)]
#[must_use]
pub struct Recording {
    begun: u64,
    /// How many events each list had missed before: lists keep their places while a recording runs.
    missed: Vec<usize>,
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
    /// The longest block of a loop, in nanoseconds, as far as it lies within the recording.
    pub longest_block: u64,
}

impl Recording {
    /// Begins to record.
    #[allow(clippy::new_without_default)] // a default that changes the world would surprise
    pub fn new() -> Self {
        let lists = lock(&LISTS);
        RECORDINGS.fetch_add(1, Ordering::Relaxed);
        Self {
            missed: lists.iter().map(|list| lock(list).missed).collect(),
            begun: clock::now(),
        }
    }

    /// Ends the recording. Returns how long it took, in nanoseconds, and what each thread did.
    pub fn end(self) -> (u64, Vec<Lane>) {
        let took = clock::since(self.begun);
        let lists = lock(&LISTS);
        let before = self.missed.iter().copied().chain(iter::repeat(0));
        let lanes = lists.iter().zip(before).map(|(list, before)| {
            let list = lock(list);
            self.lane(&list, took, list.missed - before)
        });
        let lanes = lanes.filter(|lane| !lane.events.is_empty() || lane.missed > 0);
        let lanes = lanes.collect();
        (clock::nanos(took), lanes)
    }

    fn lane(&self, list: &List, took: u64, missed: usize) -> Lane {
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
            missed,
            longest_block: clock::nanos(list.blocks.longest(self.begun, self.begun + took)),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut lists = lock(&LISTS);
        if RECORDINGS.fetch_sub(1, Ordering::Relaxed) == 1 {
            // No recording reads the lists any more. Lists whose thread has ended are removed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_misses_what_comes_while_it_runs() {
        let event = |_| moment(0, What::Offer(1));
        let first = Recording::new();
        (0..ROOM + 3).for_each(event);
        let second = Recording::new();
        (0..4).for_each(event);
        let counts = |recording: Recording| {
            let (_, lanes) = recording.end();
            let events: usize = lanes.iter().map(|lane| lane.events.len()).sum();
            (events, lanes.iter().map(|lane| lane.missed).sum())
        };
        assert_eq!(counts(second), (0, 4));
        assert_eq!(counts(first), (ROOM, 7));
    }

    #[test]
    fn the_longest_block_of_any_time() {
        // Blocks that follow each other, and some inside others, as in nested loops.
        let mut state = 9_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut all, mut blocks, mut now) = (Vec::new(), Blocks::default(), 1);
        for _ in 0..200 {
            now += next(20);
            let ticks = next(60).min(now);
            blocks.note(now, ticks);
            all.push((now, ticks));
            for begun in 0..=now {
                let within =
                    |&(ended, ticks): &(u64, u64)| ended.saturating_sub((ended - ticks).max(begun));
                let longest = all.iter().map(within).max();
                assert_eq!(Some(blocks.longest(begun, now)), longest);
            }
        }
        assert!(blocks.0.len() <= 60);
    }
}
