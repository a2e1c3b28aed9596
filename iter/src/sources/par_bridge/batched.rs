//! Drawing many items at once, where no item waits for another.
//!
//! A thread owns what it has drawn: no lock is taken for an item, and no other thread looks at it.
//! If the last batch took little time, the next is twice as large; if it took long, half as large.
//! So at the end no thread waits long for another's last batch.
#![forbid(unsafe_code)]

use std::iter::Fuse;
use std::time::{Duration, Instant};

use super::crew::{Crew, Well};
use super::turn::{Drawn, Turn};
use crate::kit::sync::Mutex;
use crate::plumbing::Folder;

/// The least and the greatest time that a batch should last.
const LASTS: (Duration, Duration) = (Duration::from_micros(32), Duration::from_micros(128));

/// The most bytes that a batch should hold, so that it stays in the cache.
const BATCH_BYTES: usize = 64 << 10;

/// The most items where there is no clock.
const UNTIMED: usize = 64;

/// A sequential iterator that many threads draw from, several items at once.
pub(super) struct Scoop<I> {
    crew: Crew,
    source: Mutex<Fuse<I>>,
    drawn: Drawn,
}

impl<I: Iterator> Scoop<I> {
    pub(super) fn new(iter: I) -> Self {
        Scoop {
            crew: Crew::new(),
            source: Mutex::new(iter.fuse()),
            drawn: Drawn::default(),
        }
    }

    /// Draws up to `size` items; `false` if there are none, or `next` has panicked.
    fn draw(&self, batch: &mut Vec<I::Item>, size: usize, turn: &mut Turn) -> bool {
        let Some(mut source) = turn.lock(&self.source, &self.drawn) else {
            return false;
        };
        self.drawn.one_more();
        // If it is known which items are the last, all threads share them.
        let size = match source.size_hint() {
            (least, Some(most)) if least == most => size.min(least / (2 * self.crew.size()) + 1),
            _ => size,
        };
        batch.extend(source.by_ref().take(size));
        !batch.is_empty()
    }
}

impl<I: Iterator<Item: Send> + Send> Well for Scoop<I> {
    type Item = I::Item;

    fn crew(&self) -> &Crew {
        &self.crew
    }

    fn drain<F: Folder<I::Item>>(&self, _: usize, mut folder: F) -> F {
        let mut turn = Turn::new(self.crew.size());
        let mut size = Size::new(size_of::<I::Item>());
        let mut batch = Vec::new();
        while !folder.full() && self.draw(&mut batch, size.now, &mut turn) {
            let begun = size.begin();
            folder = folder.consume_iter(batch.drain(..));
            size.learn(begun);
        }
        folder
    }
}

/// How many items one thread draws at once.
struct Size {
    now: usize,
    most: usize,
}

impl Size {
    fn new(item_size: usize) -> Self {
        let most = (BATCH_BYTES / item_size.max(1)).max(1);
        Size { now: 1, most }
    }

    /// Looks at the clock, if there is one.
    fn begin(&self) -> Option<Instant> {
        let none = cfg!(all(target_family = "wasm", target_os = "unknown"));
        (!none).then(Instant::now)
    }

    fn learn(&mut self, begun: Option<Instant>) {
        let took = begun.map(|begun| begun.elapsed());
        match took {
            None => self.now = (2 * self.now).min(UNTIMED),
            Some(took) if took < LASTS.0 => self.now = (2 * self.now).min(self.most),
            Some(took) if took > LASTS.1 => self.now = (self.now / 2).max(1),
            Some(_) => {}
        }
    }
}
