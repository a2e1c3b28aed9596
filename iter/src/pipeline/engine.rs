//! The source, and the members that carry its items through the stations.
#![forbid(unsafe_code)]

use super::hub::{Held, Hub, Post, lock};
use super::stages::{Batches, Orders, Outcome, Run, SUITS, Stages};
use super::station::{Station, Tag};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tine_pool::loops::check;
use tine_pool::{Scope, current_num_threads, scope};

/// How long a chunk should last, at least and at most.
const LASTS: (Duration, Duration) = (Duration::from_micros(32), Duration::from_micros(128));

/// The most bytes of the source that a chunk should hold.
const CHUNK_BYTES: usize = 64 << 10;

/// The most items of a chunk where there is no clock.
const UNTIMED: usize = 64;

/// A sequential iterator at the head of a pipeline.
///
/// ```
/// use tine::pipeline::{Pipeline, Source};
///
/// let numbers: Pipeline<Source<_>> = tine::pipeline(1..4, 8);
/// assert_eq!(numbers.sum::<i32>(), 6);
/// ```
#[derive(Clone, Debug)]
pub struct Source<I> {
    iter: I,
}

impl<I> Source<I> {
    pub(super) fn new(iter: I) -> Self {
        Source { iter }
    }
}

impl<I: Iterator<Item: Send> + Send> Stages for Source<I> {
    type Item = I::Item;
}

impl<I: Iterator<Item: Send> + Send, E: Send> Run<E> for Source<I> {
    fn run<S: Station<I::Item, E> + Send>(self, station: S, orders: Orders<'_>) -> Outcome<E> {
        let threads = current_num_threads();
        let limit = match orders.limit {
            SUITS => 4 * threads,
            limit => limit,
        };
        let orders = Orders { limit, ..orders };
        let engine = Engine {
            hub: Hub::new(limit, threads),
            source: Mutex::new(self.iter),
            station,
            orders,
        };
        scope(|s| engine.member(s));
        // Before there is an outcome: see `kit::keep`.
        let hub = engine.into_hub();
        let state = hub.into_state();
        Outcome {
            error: state.error,
            stopped: state.stopped,
        }
    }
}

struct Engine<'o, I, S, E> {
    hub: Hub<E>,
    /// Locked by the member at the source, so never contended.
    source: Mutex<I>,
    station: S,
    orders: Orders<'o>,
}

impl<I, S, E> Engine<'_, I, S, E>
where
    I: Iterator<Item: Send> + Send,
    S: Station<I::Item, E>,
    E: Send,
{
    /// What is left of it without the source and the stations, whose destructors may be the
    /// program's.
    fn into_hub(self) -> Hub<E> {
        let Engine {
            hub,
            source,
            station,
            ..
        } = self;
        drop(source);
        drop(station);
        hub
    }

    /// Works until there is nothing to do.
    fn member<'s>(&'s self, scope: &Scope<'s>) {
        let call = || scope.spawn(move |scope| self.member(scope));
        let post = Post::new(&self.hub, &call);
        let ending = Ending(&self.hub);
        let mut local = S::Local::default();
        let mut drawn = Vec::new();
        let mut size = Size::new::<I::Item>(&self.orders, self.hub.threads());
        let mut state = self.hub.lock();
        loop {
            if state.ready > 0 && !state.dead {
                let (held, moved) = self.station.advance(&post, &mut local, state);
                state = held;
                if moved {
                    continue;
                }
            }
            if !state.may_draw() {
                state.active -= 1;
                break;
            }
            let tag;
            (state, tag) = self.draw(state, &mut drawn, &size);
            if drawn.is_empty() {
                continue;
            }
            post.go_off(state);
            let begun = size.begin();
            state = self.station.pass(&post, &mut local, tag, drawn.drain(..));
            size.learn(begun);
        }
        drop(state);
        std::mem::forget(ending);
    }

    /// Draws the next chunk.
    fn draw<'h>(
        &'h self,
        mut state: Held<'h, E>,
        drawn: &mut Vec<I::Item>,
        size: &Size,
    ) -> (Held<'h, E>, Tag) {
        state.drawing = true;
        let most = size.now.min(state.free);
        drop(state);
        // If a token that covers the whole call is stopped, this unwinds, as a stage that panics does.
        check();
        let stopped = self.orders.stop.is_some_and(|stop| stop());
        let mut ended = stopped;
        if !stopped {
            let mut source = lock(&self.source);
            let wanted = self.wanted(&*source, most);
            drawn.extend(source.by_ref().take(wanted));
            ended = drawn.len() < wanted;
        }
        let mut state = self.hub.lock();
        state.drawing = false;
        state.over |= ended;
        state.stopped |= stopped;
        let tag = Tag {
            at: state.next,
            weight: drawn.len(),
        };
        state.free -= tag.weight;
        state.next += usize::from(tag.weight > 0);
        (state, tag)
    }

    /// How many items to draw at once.
    fn wanted(&self, source: &I, most: usize) -> usize {
        if most == 1 || self.orders.batches == Batches::Single {
            return 1;
        }
        let (least, end) = source.size_hint();
        let most = match self.orders.batches {
            Batches::Promised => most.min(least),
            _ => most,
        };
        // If it is known which items are the last, every thread gets a share of them.
        let share = match end {
            Some(end) if end == least => least / (2 * self.hub.threads()) + 1,
            _ => most,
        };
        most.min(share).max(1)
    }
}

/// When a closure panics, this keeps other members from beginning anything.
struct Ending<'h, E>(&'h Hub<E>);

impl<E> Drop for Ending<'_, E> {
    fn drop(&mut self) {
        self.0.lock().dead = true;
    }
}

/// How many items one member draws at once.
struct Size {
    now: usize,
    most: usize,
}

impl Size {
    fn new<T>(orders: &Orders<'_>, threads: usize) -> Self {
        let most = match orders.batches {
            Batches::Single => 1,
            // So that each thread can have one chunk to work on and one chunk waiting.
            _ => (orders.limit / (2 * threads)).min(CHUNK_BYTES / size_of::<T>().max(1)),
        };
        let most = most.max(1);
        Size { now: 1, most }
    }

    /// Reads the clock, if that is of use.
    fn begin(&self) -> Option<Instant> {
        let none = cfg!(all(target_family = "wasm", target_os = "unknown"));
        (!none && self.most > 1).then(Instant::now)
    }

    fn learn(&mut self, begun: Option<Instant>) {
        let took = begun.map(|begun| begun.elapsed());
        match took {
            None => self.now = (2 * self.now).min(self.most).min(UNTIMED),
            Some(took) if took < LASTS.0 => self.now = (2 * self.now).min(self.most),
            Some(took) if took > LASTS.1 => self.now = (self.now / 2).max(1),
            Some(_) => {}
        }
    }
}
