//! Where threads draw items from: a sequential iterator behind a lock, and for each thread a batch
//! of items that it has drawn.
//!
//! One rule keeps items that wait for one another from waiting for ever: **`next` is called only
//! when every item drawn so far has been started**. The exception is an iterator that has said that
//! it has another item (the lower bound of `size_hint`), and so need not wait to give it. If an
//! iterator cannot say so, items are drawn one by one. If it can, they are drawn in batches, which
//! stay open: before a thread calls `next` without such a promise, it takes what is left in all
//! batches. So does a thread that finds the iterator empty.
//!
//! Where many threads take part, those that wait for the source stand in a line ([`line`](super::line)),
//! and the thread that has it draws for them, before it draws for itself. An item that is drawn for a
//! thread in the line is as good as started: that thread does nothing else.
//!
//! Locks are taken in the order source, batch. No closure of an item runs
//! under either, and `next` runs under its own thread's batch lock only when
//! it was promised.
//!
//! A batch grows until it lasts some microseconds. Then the cost of handing the iterator from one
//! processor to another does not matter, and items that take that long themselves come one by one.
//! Where many threads wait for their turn it grows further, until they wait less than they work.

use std::collections::VecDeque;
use std::iter::Fuse;
use std::mem::take;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::crew::Crew;
use super::line::{Led, Line, Place};
use super::turn::{Drawn, Turn};
use crate::kit::sync::{Mutex, MutexGuard};
use crate::plumbing::{Folder, UnindexedProducer};

/// The least and the greatest time that a batch should last.
const LASTS: (Duration, Duration) = (Duration::from_micros(8), Duration::from_micros(32));

/// The most that it should last where threads wait longer for their turn.
const LASTS_IN_A_CROWD: Duration = Duration::from_micros(256);

/// Where more threads than this may take part, those that wait stand in a line. Up to here it costs more to
/// look through the line than to find the lock taken.
const CROWD: usize = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    usize::MAX
} else {
    16
};

/// A thread that has drawn for this many others looks for more of them.
const ROUND: usize = 3;

/// The most bytes that a batch should hold.
const BATCH_BYTES: usize = 32 << 10;

/// A sequential iterator that many threads draw from.
pub(super) struct Tap<I: Iterator> {
    crew: Crew,
    source: Mutex<Source<I>>,
    led: Led,
    drawn: Drawn,
    batches: Box<[Batch<I::Item>]>,
}

struct Source<I> {
    iter: Fuse<I>,
    /// Whether a batch may hold an item.
    batched: bool,
}

/// The items that one thread has drawn and not started, and its place in the line, on its own cache
/// line.
#[repr(align(128))]
struct Batch<T> {
    place: Place,
    items: Mutex<VecDeque<T>>,
}

impl<T> Batch<T> {
    fn new() -> Self {
        Batch {
            place: Place::default(),
            items: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // Poison means that `next` panicked; the items before it are whole.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<T> {
        self.lock().pop_front()
    }
}

impl<I: Iterator> Tap<I> {
    pub(super) fn new(iter: I) -> Self {
        let crew = Crew::new();
        Tap {
            batches: (0..crew.size()).map(|_| Batch::new()).collect(),
            crew,
            drawn: Drawn::default(),
            led: Led::default(),
            source: Mutex::new(Source {
                iter: iter.fuse(),
                batched: false,
            }),
        }
    }

    /// Draws an item to start on, and some for `batch`.
    fn draw(&self, batch: &Batch<I::Item>, pace: &mut Pace) -> Option<I::Item> {
        pace.arrive();
        if self.batches.len() > CROWD {
            return self.draw_in_line(batch, pace);
        }
        let mut source = pace.turn.lock(&self.source, &self.drawn)?;
        pace.begin();
        let more = pace.more();
        self.draw_for(batch, more, &mut source, pace)
    }

    #[inline(never)]
    fn draw_in_line(&self, batch: &Batch<I::Item>, pace: &mut Pace) -> Option<I::Item> {
        // By what it waited for the last items.
        let more = pace.more();
        loop {
            let (place, waited) = (&batch.place, &mut pace.waited);
            let turn = place.wait(more, &self.led, &self.source, &self.drawn, waited);
            if let Line::Led(mut source) = turn {
                self.led.begin();
                pace.batched |= pace.waited;
                pace.begin();
                // This thread has no item in its hands, so it may draw for all others first.
                let drawn = match self.serve(&mut source) {
                    Drew::ForAll => self.draw_for(batch, more, &mut source, pace),
                    Drew::ForThis(item) => Some(item),
                    Drew::TheLast => None,
                };
                self.led.end();
                drop(source);
                // Any one of those who wait will do.
                let _ = self.batches.iter().any(|other| other.place.lead());
                return drawn;
            }
            if let Some(item) = batch.take() {
                pace.begin();
                (pace.promised, pace.batched) = (true, true);
                return Some(item);
            }
            if let Line::Over = turn {
                return None;
            }
        }
    }

    /// Draws for the threads that wait.
    fn serve(&self, source: &mut Source<I>) -> Drew<I::Item> {
        loop {
            let mut served = 0;
            for other in &self.batches {
                let Some(more) = other.place.asks() else {
                    continue;
                };
                let Some(item) = self.draw_one(other, more, source, &mut (false, false)) else {
                    return Drew::TheLast;
                };
                other.lock().push_front(item);
                if !other.place.serve()
                    && let Some(item) = other.take()
                {
                    return Drew::ForThis(item);
                }
                served += 1;
            }
            if served < ROUND {
                return Drew::ForAll;
            }
        }
    }

    fn draw_for(
        &self,
        batch: &Batch<I::Item>,
        more: usize,
        source: &mut Source<I>,
        pace: &mut Pace,
    ) -> Option<I::Item> {
        let mut seen = (pace.promised, pace.batched);
        let item = self.draw_one(batch, more, source, &mut seen);
        (pace.promised, pace.batched) = seen;
        item
    }

    /// Draws an item, and up to `more` others for a batch. Notes whether the iterator has promised
    /// another item, and whether the batch may hold one.
    fn draw_one(
        &self,
        batch: &Batch<I::Item>,
        more: usize,
        source: &mut Source<I>,
        (has_promised, batched): &mut (bool, bool),
    ) -> Option<I::Item> {
        self.drawn.one_more();
        let promised = source.iter.size_hint().0;
        *has_promised = promised > 1;
        if promised == 0 {
            return self.left_in_batches(source).or_else(|| source.iter.next());
        }
        let Some(first) = source.iter.next() else {
            return self.left_in_batches(source);
        };
        // The last items are shared out in ever smaller batches.
        let more = more
            .min(promised / (2 * self.batches.len()))
            .min(promised - 1);
        if more > 0 {
            source.batched = true;
            *batched = true;
            batch.lock().extend(source.iter.by_ref().take(more));
        }
        Some(first)
    }

    /// An item that a thread has drawn and no thread has started.
    fn left_in_batches(&self, source: &mut Source<I>) -> Option<I::Item> {
        if !source.batched {
            return None;
        }
        let left = self.batches.iter().find_map(Batch::take);
        // Batches are filled under the lock of the source, which this thread holds.
        source.batched = left.is_some();
        left
    }
}

impl<I: Iterator<Item: Send> + Send> UnindexedProducer for &Tap<I> {
    type Item = I::Item;

    fn split(self) -> (Self, Option<Self>) {
        (self, self.crew.wants_more().then_some(self))
    }

    fn fold_with<F: Folder<I::Item>>(self, mut folder: F) -> F {
        let Some(member) = self.crew.enter() else {
            return folder;
        };
        let batch = &self.batches[member.index];
        let mut pace = Pace::new(size_of::<I::Item>(), self.crew.size());
        while !folder.full() {
            // A batch that nothing was put into need not be locked.
            let left = pace.batched.then(|| batch.take()).flatten();
            pace.batched = left.is_some();
            let Some(item) = left.or_else(|| self.draw(batch, &mut pace)) else {
                break;
            };
            folder = folder.consume(item);
        }
        folder
    }
}

/// What a thread has drawn for those in the line.
enum Drew<T> {
    /// What each asked for.
    ForAll,
    /// And an item for one that had left the line meanwhile.
    ForThis(T),
    /// No item is left.
    TheLast,
}

/// How many items one thread draws at once, and how long it waits.
struct Pace {
    more: usize,
    most: usize,
    /// When the last items were begun, and how long they took.
    last: Option<Instant>,
    took: Option<Duration>,
    /// Whether its time matters: an iterator that promises nothing needs no clock.
    promised: bool,
    /// Whether this thread's batch may hold an item.
    batched: bool,
    /// Whether this thread has waited in line, and how long it last waited.
    waited: bool,
    wait: Duration,
    turn: Turn,
}

impl Pace {
    fn new(item_size: usize, threads: usize) -> Self {
        let most = BATCH_BYTES / item_size.max(1);
        Pace {
            more: 0,
            most,
            last: None,
            took: None,
            promised: false,
            batched: false,
            waited: false,
            wait: Duration::ZERO,
            turn: Turn::new(threads),
        }
    }

    /// The last items are done: notes how long they took.
    fn arrive(&mut self) {
        // Without a clock items come one by one.
        if self.promised && !cfg!(all(target_family = "wasm", target_os = "unknown")) {
            let now = Instant::now();
            self.took = self.last.replace(now).map(|last| now - last);
        }
    }

    /// The thread has its turn, or its items: what it has waited for them is no time of the items.
    fn begin(&mut self) {
        let waited = self.turn.has_waited() | take(&mut self.waited);
        self.wait = Duration::ZERO;
        if let Some(last) = self.last.filter(|_| waited) {
            let now = Instant::now();
            self.wait = now - last;
            self.last = Some(now);
        }
    }

    /// The number of items to draw beyond the first, from the time that the last ones took.
    fn more(&mut self) -> usize {
        let Some(took) = self.took.take() else {
            return 0;
        };
        let wait = self.wait;
        let crowded = wait > took && took < LASTS_IN_A_CROWD;
        if took < LASTS.0 || crowded {
            self.more = (2 * self.more + 1).min(self.most);
        } else if took > LASTS.1 && wait < took / 4 {
            self.more /= 2;
        }
        self.more
    }
}
