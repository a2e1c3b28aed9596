//! How a thread gets its turn to draw from the iterator.
//!
//! A thread that draws again and again is much faster than two threads that take turns, since then
//! the lock, and the iterator behind it, travel between processors. If items take less time than
//! that journey, one thread alone is fastest. If they take more, a thread that finds the lock taken
//! had best look again at once. A thread can tell which case it is. After finding the lock taken
//! several times, it stays away for a microsecond and counts what the others draw meanwhile. If
//! they draw much, or no less than all threads drew while it took part, it rests. It rests for a
//! fraction of the time since it came, so that no more than this fraction is lost if the items
//! become slow. If the others draw nothing, `next` itself waits, and looking is useless.

use crate::kit::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, spin_loop};
use std::sync::TryLockError;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time for which a thread counts.
const COUNT: Duration = Duration::from_micros(1);

/// If other threads draw this many items in that time, they are faster without this one.
const MANY: u128 = 14;

/// How long a thread looks away after its first look in vain; and at most, for each thread that may wait
/// as well.
const ASIDE: Duration = Duration::from_nanos(500);

/// How often nothing may have been drawn in that time before a thread sleeps until the lock is
/// free.
const STILL: u32 = 8;

/// The shortest and the longest rest; the rest from which on a thread sleeps; and the fraction of
/// the time before that a rest lasts.
const REST: (Duration, Duration, Duration, u32) = (
    Duration::from_micros(5),
    Duration::from_millis(1),
    Duration::from_micros(100),
    8,
);

/// The number of items that have been drawn. The holder of the lock counts them.
#[derive(Default)]
pub(super) struct Drawn(AtomicUsize);

impl Drawn {
    pub(super) fn one_more(&self) {
        // Relaxed: the lock orders the writers, and for a reader it is a hint.
        let drawn = self.0.load(Ordering::Relaxed);
        self.0.store(drawn.wrapping_add(1), Ordering::Relaxed);
    }

    /// How many were drawn since `before`.
    pub(super) fn since(&self, before: usize) -> usize {
        self.0.load(Ordering::Relaxed).wrapping_sub(before)
    }
}

/// Looks away for longer after each look in vain.
struct Aside {
    long: Duration,
    most: Duration,
}

impl Aside {
    fn new(threads: usize) -> Self {
        // Two threads do not disturb each other.
        let others = threads.saturating_sub(2).min(1 << 16) as u32;
        Aside {
            long: ASIDE,
            most: ASIDE * others,
        }
    }

    /// The thread has its turn. It will wait about as long next time.
    fn end(&mut self) {
        self.long = (self.long.min(self.most) / 4).max(ASIDE);
    }

    fn look(&mut self) {
        let long = self.long.min(self.most);
        if long.is_zero() {
            return spin_loop();
        }
        let begun = Instant::now();
        while begun.elapsed() < long {
            spin_loop();
        }
        self.long = long * 2;
    }
}

/// One thread's observations of the lock.
pub(super) struct Turn {
    aside: Aside,
    /// How often the lock may be found taken before the next count.
    looks: u32,
    /// When this thread first had to wait.
    since: Option<Instant>,
    /// When it last began to take part again, and how many had been drawn then.
    back: Option<(Instant, usize)>,
    /// Whether the lock was found taken since this was asked last.
    waited: bool,
}

impl Turn {
    pub(super) fn new(threads: usize) -> Self {
        Turn {
            aside: Aside::new(threads),
            looks: 8,
            since: None,
            back: None,
            waited: false,
        }
    }

    /// Whether the lock was found taken since this was asked last.
    pub(super) fn has_waited(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    /// Locks, or returns `None` if the lock is poisoned.
    #[inline]
    pub(super) fn lock<'l, T>(
        &mut self,
        lock: &'l Mutex<T>,
        drawn: &Drawn,
    ) -> Option<MutexGuard<'l, T>> {
        match lock.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(_)) => None,
            Err(TryLockError::WouldBlock) => self.wait(lock, drawn),
        }
    }

    #[cold]
    fn wait<'l, T>(&mut self, lock: &'l Mutex<T>, drawn: &Drawn) -> Option<MutexGuard<'l, T>> {
        self.waited = true;
        // Without a clock, waiting cannot be timed.
        if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            return lock.lock().ok();
        }
        let mut still = 0;
        loop {
            self.looks = self.looks.saturating_sub(1);
            if self.looks > 0 {
                self.aside.look();
            } else {
                self.looks = match self.count(drawn) {
                    Seen::Nothing if still == STILL => return lock.lock().ok(),
                    Seen::Nothing => {
                        still += 1;
                        1
                    }
                    Seen::Some => 64,
                    Seen::Many => {
                        self.rest(drawn);
                        self.back = Some((Instant::now(), drawn.since(0)));
                        64
                    }
                };
            }
            match lock.try_lock() {
                Ok(guard) => {
                    self.aside.end();
                    return Some(guard);
                }
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    fn count(&mut self, drawn: &Drawn) -> Seen {
        let begun = Instant::now();
        self.since.get_or_insert(begun);
        let before = drawn.since(0);
        // How long ago this thread came back, and the number of items drawn since then.
        let together = self
            .back
            .map(|(back, then)| (begun - back, before.wrapping_sub(then)));
        let took = loop {
            (0..8).for_each(|_| spin_loop());
            let took = begun.elapsed();
            if took >= COUNT {
                break took;
            }
        };
        let alone = drawn.since(before);
        self.back = Some((begun + took, before.wrapping_add(alone)));
        let in_vain = together.is_some_and(|(time, all)| {
            alone as u128 * time.as_nanos() >= all as u128 * took.as_nanos()
        });
        match alone {
            0 => Seen::Nothing,
            n if n as u128 * COUNT.as_nanos() >= MANY * took.as_nanos() => Seen::Many,
            _ if in_vain => Seen::Many,
            _ => Seen::Some,
        }
    }

    fn rest(&self, drawn: &Drawn) {
        let (least, most, awake, part) = REST;
        let long = self.since.map_or(least, |since| since.elapsed() / part);
        let long = long.clamp(least, most);
        if long > awake {
            return sleep(long);
        }
        let begun = Instant::now();
        let mut before = drawn.since(0);
        while begun.elapsed() < long {
            // Looking too often at a word that other threads write slows those threads.
            (0..64).for_each(|_| spin_loop());
            if drawn.since(before) == 0 {
                return;
            }
            before = drawn.since(0);
        }
    }
}

/// The number of items that the others drew.
enum Seen {
    Nothing,
    Some,
    Many,
}
