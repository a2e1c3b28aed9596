//! Where threads draw items from: a sequential iterator behind a lock, and for each thread a batch
//! of items that it has drawn.
//!
//! One rule keeps items that wait for one another from waiting for ever: **`next` is called only
//! when every item drawn so far has been started**. The exception is an iterator that has promised
//! another item (by the lower bound of `size_hint`), and so need not wait to give it. If an
//! iterator makes no such promise, items are drawn one by one. If it does, they are drawn in
//! batches, which stay open: before a thread calls `next` without a promise, it takes what is left
//! in all batches. So does a thread that finds the iterator empty.
//!
//! Where many threads take part, those that wait for the source stand in a line
//! ([`line`](super::line)), and the thread that has the source draws for them, before it draws for
//! itself. An item that is drawn for a thread in the line is as good as started: that thread does
//! nothing else. In this case batches stay large to the end. When the iterator has no more items,
//! the drawer hands half of what a thread has too much of to others.
//!
//! Locks are taken in the order source, batch. No closure of an item runs
//! under either, and `next` runs under its own thread's batch lock only when
//! it was promised.
//!
//! A batch grows until it lasts some microseconds. Then the cost of handing the iterator from one
//! processor to another does not matter, and items that themselves take that long come one by one.
//! Where many threads wait for their turn, a batch grows further, until they wait less than they
//! work.

use std::collections::VecDeque;
use std::iter::{Fuse, from_fn};
use std::mem::take;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::crew::{Crew, Well};
use super::line::{Ask, LIKE_OTHERS, Led, Line, Place};
use super::turn::{Drawn, Turn};
use crate::kit::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::plumbing::Folder;

/// The least and the greatest time that a batch should last.
const LASTS: (Duration, Duration) = (Duration::from_micros(8), Duration::from_micros(32));

/// The most that it should last where threads wait longer for their turn.
const LASTS_IN_A_CROWD: Duration = Duration::from_micros(256);

/// In a crowd, how long a batch should last for each thread of the crowd: several times as long as
/// serving a thread takes, so that most threads work while the drawer serves all.
const LASTS_FOR_EACH: Duration = Duration::from_nanos(700);

/// The time after which the drawer tells the waiting threads that it draws. Each of their looks
/// takes the cache line from the drawer.
const TELLS: Duration = Duration::from_micros(2);

/// Where more threads than this may take part, those that wait stand in a line. Up to here it costs more to
/// look through the line than to find the lock taken.
const CROWD: usize = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    usize::MAX
} else {
    16
};

/// A thread that has drawn for this many others looks for more of them.
const ROUND: usize = 3;

/// In a line a batch is not made smaller than this because few items are left.
const LEAST_IN_A_CROWD: usize = 48;

/// The most bytes that a batch should hold.
const BATCH_BYTES: usize = 32 << 10;

/// The most items that a batch should hold.
const fn most<T>() -> usize {
    let size = size_of::<T>();
    BATCH_BYTES / if size == 0 { 1 } else { size }
}

/// A sequential iterator that many threads draw from.
pub(super) struct Tap<I: Iterator> {
    crew: Crew,
    led: Led,
    hold: Hold<I>,
    batches: Box<[Batch<I::Item>]>,
}

/// What the holder of the lock writes: the number beside the lock's word.
#[repr(C, align(128))]
struct Hold<I: Iterator> {
    drawn: Drawn,
    source: Mutex<Source<I>>,
}

/// Small, so that few lines travel with the lock.
struct Source<I: Iterator> {
    iter: Fuse<I>,
    /// Whether a batch may hold an item.
    batched: bool,
    /// Whether the iterator has promised another item.
    promised: bool,
    crowd: Box<Crowd<I::Item>>,
}

/// What the drawer of a crowd needs.
struct Crowd<T> {
    /// What a thread asked for last: a new thread gets as much.
    usual: usize,
    /// When those that wait were told that items are drawn.
    told: Option<Instant>,
    /// What each thread asked for when it was given something last.
    answered: Vec<usize>,
    /// Which threads in the line ask, and for what: empty, but for its memory.
    asked: Vec<(usize, usize)>,
    /// Items on their way to a thread in the line.
    hand: VecDeque<T>,
}

/// The items that one thread has drawn and not started, and its place in the line, on a line of its own: a thread
/// that brings items writes both.
#[repr(C, align(128))]
struct Batch<T> {
    ask: Ask,
    place: Place,
    /// The number of items. The holder of their lock writes it.
    left: AtomicUsize,
    items: Mutex<VecDeque<T>>,
}

impl<T> Batch<T> {
    fn new() -> Self {
        Batch {
            ask: Ask::default(),
            place: Place::default(),
            left: AtomicUsize::new(0),
            items: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // Poison means that `next` panicked; the items before it are whole.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<T> {
        let mut items = self.lock();
        let item = items.pop_front();
        self.note(items.len());
        item
    }

    /// The first item that a drawer has brought, and how many there are besides.
    fn first(&self) -> Option<(T, usize)> {
        let mut items = self.lock();
        let item = items.pop_front();
        self.note(items.len());
        item.map(|item| (item, items.len()))
    }

    fn put(&self, more: impl Iterator<Item = T>) {
        let mut items = self.lock();
        items.extend(more);
        self.note(items.len());
    }

    /// Half of the items, if there are any, for the holder of the lock of the source.
    fn half(&self, hand: &mut VecDeque<T>) -> bool {
        if self.left.load(Ordering::Relaxed) > 0 {
            let mut items = self.lock();
            let keep = items.len() / 2;
            hand.extend(items.drain(keep..));
            self.note(keep);
        }
        !hand.is_empty()
    }

    fn note(&self, left: usize) {
        // Relaxed: for `take_if_any`.
        self.left.store(left, Ordering::Relaxed);
    }

    /// An item, if there is one, for the holder of the lock of the source. Batches are filled under that lock, so
    /// it sees no number that is too small.
    fn take_if_any(&self) -> Option<T> {
        (self.left.load(Ordering::Relaxed) > 0)
            .then(|| self.take())
            .flatten()
    }
}

impl<I: Iterator> Tap<I> {
    /// As [`LEAST_IN_A_CROWD`], unless a batch holds fewer.
    const LEAST: usize = {
        let most = most::<I::Item>();
        if most < LEAST_IN_A_CROWD {
            most
        } else {
            LEAST_IN_A_CROWD
        }
    };

    pub(super) fn new(iter: I) -> Self {
        let crew = Crew::new();
        Tap {
            batches: (0..crew.size()).map(|_| Batch::new()).collect(),
            crew,
            led: Led::default(),
            hold: Hold {
                drawn: Drawn::default(),
                source: Mutex::new(Source {
                    iter: iter.fuse(),
                    batched: false,
                    promised: false,
                    crowd: Box::new(Crowd {
                        usual: 0,
                        told: None,
                        answered: Vec::new(),
                        asked: Vec::new(),
                        hand: VecDeque::new(),
                    }),
                }),
            },
        }
    }

    /// Draws an item to start on, and some for the batch of this thread.
    fn draw(&self, me: usize, pace: &mut Pace) -> Option<I::Item> {
        pace.arrive();
        if self.batches.len() > CROWD {
            return self.draw_in_line(me, pace);
        }
        let Hold { drawn, source } = &self.hold;
        let mut source = pace.turn.lock(source, drawn)?;
        pace.begin();
        let more = pace.more();
        self.draw_for(&self.batches[me], more, &mut source, pace)
    }

    #[inline(never)]
    fn draw_in_line(&self, me: usize, pace: &mut Pace) -> Option<I::Item> {
        let batch = &self.batches[me];
        // Chosen by how long this thread waited for the last items.
        let more = pace.more_in_a_crowd();
        loop {
            let Batch { ask, place, .. } = batch;
            let ask = (ask, more.unwrap_or(LIKE_OTHERS));
            let Hold { drawn, source } = &self.hold;
            let turn = place.wait(ask, &self.led, source, drawn, &mut pace.waited);
            if let Line::Led(mut source) = turn {
                if self.led.is_over() {
                    return None;
                }
                self.led.begin();
                pace.batched |= pace.waited;
                pace.begin();
                source.crowd.usual = more.unwrap_or(source.crowd.usual);
                // This thread has no item yet, so it may first draw for all others.
                let item = match self.serve(me, &mut source) {
                    Drew::ForAll => {
                        let more = more.unwrap_or(source.crowd.usual);
                        self.draw_for(batch, more, &mut source, pace)
                    }
                    Drew::ForThis(item) => Some(item),
                    Drew::TheLast => None,
                };
                if item.is_none() {
                    self.led.end_for_good();
                    drop(source);
                    self.batches.iter().for_each(|other| other.place.dismiss());
                    return None;
                }
                self.led.end();
                drop(source);
                // Any waiting thread may be told.
                let _ = self.batches.iter().any(|other| other.place.lead());
                return item;
            }
            if let Some((item, more)) = batch.first() {
                pace.begin();
                (pace.promised, pace.batched) = (true, true);
                pace.more = more;
                return Some(item);
            }
            if matches!(turn, Line::Over) || self.led.is_over() {
                return None;
            }
        }
    }

    /// Draws for the threads that wait.
    fn serve(&self, me: usize, source: &mut Source<I>) -> Drew<I::Item> {
        source.crowd.answered.resize(self.batches.len(), 0);
        source.crowd.answered[me] = self.batches[me].ask.last();
        loop {
            // All looks first, since consecutive looks do not wait for each other.
            let mut asked = take(&mut source.crowd.asked);
            let asks = self.batches.iter().zip(&source.crowd.answered).enumerate();
            asked.extend(asks.filter_map(|(i, (b, &answered))| Some((i, b.ask.is_new(answered)?))));
            let served = asked.len();
            for (i, ask) in asked.drain(..) {
                let other = &self.batches[i];
                source.crowd.answered[i] = ask;
                if Ask::more(ask) != LIKE_OTHERS {
                    source.crowd.usual = Ask::more(ask);
                }
                // If more than half of all threads wait, they wait for the drawer.
                let idle = source.crowd.usual > 0 && 2 * served > self.batches.len();
                let more = source.crowd.usual.max(if idle { Self::LEAST } else { 0 });
                let now = Instant::now();
                if source.crowd.told.is_none_or(|told| now - told > TELLS) {
                    source.crowd.told = Some(now);
                    self.hold.drawn.one_more();
                }
                if !self.draw_for_another(more, source) {
                    return Drew::TheLast;
                }
                // A single look at the batch, when all items are there.
                other.put(source.crowd.hand.drain(..));
                if !other.place.serve()
                    && let Some(item) = other.take()
                {
                    return Drew::ForThis(item);
                }
            }
            source.crowd.asked = asked;
            if served < ROUND {
                return Drew::ForAll;
            }
        }
    }

    /// Puts items for a thread in the line into its batch. Near the end these are half of what
    /// another thread has too much of. False if nothing is left.
    fn draw_for_another(&self, more: usize, source: &mut Source<I>) -> bool {
        if source.batched && source.iter.size_hint().0 == 0 {
            let half = |batch: &Batch<_>| batch.half(&mut source.crowd.hand);
            source.batched = self.batches.iter().any(half);
            if source.batched {
                return true;
            }
        }
        let Some((item, more)) = self.draw_one(more, source) else {
            return false;
        };
        source.crowd.hand.push_back(item);
        source.crowd.hand.extend(source.iter.by_ref().take(more));
        true
    }

    /// Draws an item, and up to `more` others for the batch of this thread.
    fn draw_for(
        &self,
        batch: &Batch<I::Item>,
        more: usize,
        source: &mut Source<I>,
        pace: &mut Pace,
    ) -> Option<I::Item> {
        self.hold.drawn.one_more();
        let (item, more) = self.draw_one(more, source)?;
        pace.promised = source.promised;
        if more > 0 {
            pace.batched = true;
            batch.put(source.iter.by_ref().take(more));
        }
        Some(item)
    }

    /// Draws an item. How many others are to be drawn at once: at most `more`, and no more than are
    /// promised. Notes whether the iterator has promised another item, and whether a batch will hold one.
    fn draw_one(&self, more: usize, source: &mut Source<I>) -> Option<(I::Item, usize)> {
        let promised = source.iter.size_hint().0;
        source.promised = promised > 1;
        if promised == 0 {
            let left = self.left_in_batches(source);
            return Some((left.or_else(|| source.iter.next())?, 0));
        }
        let Some(first) = source.iter.next() else {
            return Some((self.left_in_batches(source)?, 0));
        };
        // The last items are shared out in ever smaller batches; in a crowd in larger batches, since one thread
        // serves all, and at the end a thread hands out the items that it has too many of.
        let threads = self.batches.len();
        let share = if threads > CROWD {
            (2 * (promised / threads)).max(Self::LEAST)
        } else {
            promised / (2 * threads)
        };
        let more = more.min(share).min(promised - 1);
        source.batched |= more > 0;
        Some((first, more))
    }

    /// An item that a thread has drawn and no thread has started.
    fn left_in_batches(&self, source: &mut Source<I>) -> Option<I::Item> {
        if !source.batched {
            return None;
        }
        let left = self.batches.iter().find_map(Batch::take_if_any);
        // Batches are filled under the lock of the source, which this thread holds.
        source.batched = left.is_some();
        left
    }
}

impl<I: Iterator<Item: Send> + Send> Well for Tap<I> {
    type Item = I::Item;

    fn crew(&self) -> &Crew {
        &self.crew
    }

    fn drain<F: Folder<I::Item>>(&self, seat: usize, folder: F) -> F {
        if folder.full() {
            return folder;
        }
        let batch = &self.batches[seat];
        let mut pace = Pace::new(most::<I::Item>(), self.crew.size());
        // The folder takes the items in one go: handed over item by item, it would move through memory.
        folder.consume_iter(from_fn(|| {
            // A batch into which no items were put need not be locked.
            let left = pace.batched.then(|| batch.take()).flatten();
            pace.batched = left.is_some();
            left.or_else(|| self.draw(seat, &mut pace))
        }))
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
    /// What a batch should last at least in a crowd.
    least: Duration,
    turn: Turn,
}

impl Pace {
    fn new(most: usize, threads: usize) -> Self {
        Pace {
            more: 0,
            most,
            last: None,
            took: None,
            promised: false,
            batched: false,
            waited: false,
            wait: Duration::ZERO,
            least: LASTS_FOR_EACH * threads.min(1 << 16) as u32,
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

    /// The thread has its turn, or its items: the time that it has waited for them does not count
    /// as time of the items.
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
        if took < LASTS.0 || self.wait > took && took < LASTS_IN_A_CROWD {
            self.more = (2 * self.more + 1).min(self.most);
        } else if took > LASTS.1 && self.wait < took / 4 {
            self.more /= 2;
        }
        self.more
    }

    /// The same in a crowd; `None` if no items of this thread have been timed.
    fn more_in_a_crowd(&mut self) -> Option<usize> {
        let took = self.took.take()?;
        let least = LASTS.0.max(self.least);
        if took < least || self.wait > took / 4 && took < LASTS_IN_A_CROWD {
            // The number grows in proportion to how much longer the wait was, or how much longer the items
            // should last, within bounds.
            let times = self.wait.max(least).as_nanos() / took.as_nanos().max(1);
            self.more = ((self.more + 1) * times.clamp(2, 16) as usize).min(self.most);
        } else if took > 4 * least {
            self.more /= 2;
        }
        Some(self.more)
    }
}
