//! How a thread comes by its turn to draw from the iterator.
//!
//! A thread that hands the iterator to itself is much faster than two that hand
//! it to each other, since the lock, and the iterator behind it, then travel
//! between processors. Where items take less than that journey, one thread does
//! best alone. Where they take more, a thread that finds the lock taken does best
//! to look again at once. Which of the two it is can be seen from outside: a thread
//! that has found the lock taken several times stays away for a microsecond and
//! counts what the others draw meanwhile. If that is much, or no less than what
//! all drew while it took part, it rests, for a part of the time for which it
//! has been there, so that not more than that part is lost if the items become
//! dear. If it is nothing, then `next` itself waits, and there is no point in
//! looking.

use crate::kit::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, spin_loop};
use std::sync::TryLockError;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a thread counts.
const COUNT: Duration = Duration::from_micros(1);

/// A thread that draws this many items in that time is faster alone.
const MANY: u128 = 14;

/// How often nothing may have been drawn in that time before a thread sleeps
/// until the lock is free.
const STILL: u32 = 8;

/// The shortest and the longest rest; the length from which a rest is slept through; and what part
/// of the time before a rest is.
const REST: (Duration, Duration, Duration, u32) = (
    Duration::from_micros(5),
    Duration::from_millis(1),
    Duration::from_micros(100),
    8,
);

/// How many items have been drawn. The holder of the lock counts them.
#[derive(Default)]
pub(super) struct Drawn(AtomicUsize);

impl Drawn {
    pub(super) fn one_more(&self) {
        // Relaxed: the lock orders the writers, and for a reader it is a hint.
        let drawn = self.0.load(Ordering::Relaxed);
        self.0.store(drawn.wrapping_add(1), Ordering::Relaxed);
    }

    /// How many were drawn since `before`.
    fn since(&self, before: usize) -> usize {
        self.0.load(Ordering::Relaxed).wrapping_sub(before)
    }
}

/// What one thread has seen of the lock.
pub(super) struct Turn {
    /// How often the lock may be found taken before the next count.
    looks: u32,
    /// When this thread first had to wait.
    since: Option<Instant>,
    /// When it last began to take part again, and how many had been drawn then.
    back: Option<(Instant, usize)>,
}

impl Turn {
    pub(super) fn new() -> Self {
        Turn {
            looks: 8,
            since: None,
            back: None,
        }
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
        // Without a clock there is nothing to count by.
        if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            return lock.lock().ok();
        }
        let mut still = 0;
        loop {
            self.looks = self.looks.saturating_sub(1);
            if self.looks > 0 {
                spin_loop();
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
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    fn count(&mut self, drawn: &Drawn) -> Seen {
        let begun = Instant::now();
        self.since.get_or_insert(begun);
        let before = drawn.since(0);
        // Of the time with this thread: how long, and how many were drawn.
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
            // Whoever looks too often at what others write slows them.
            (0..64).for_each(|_| spin_loop());
            if drawn.since(before) == 0 {
                return;
            }
            before = drawn.since(0);
        }
    }
}

/// How many items the others drew.
enum Seen {
    Nothing,
    Some,
    Many,
}
