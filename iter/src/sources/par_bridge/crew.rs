//! Which threads take part: one piece for each thread of the pool, and each
//! thread in one piece at most.
//!
//! A thread that waits inside `next` or inside an item may come upon another
//! piece of the same work. It must not begin that piece: it would wait for what
//! it holds itself, and its stack would grow with each turn. The threads that
//! take part already do the work that it leaves.

use std::sync::PoisonError;
use std::thread::{self, ThreadId};

use crate::kit::sync::{AtomicUsize, Mutex, Ordering};
use tine_pool::current_num_threads;

/// The threads at work.
pub(super) struct Crew {
    size: usize,
    /// How many more pieces may be split off.
    wanted: AtomicUsize,
    /// How many have begun.
    begun: AtomicUsize,
    inside: Mutex<Vec<ThreadId>>,
}

impl Crew {
    pub(super) fn new() -> Self {
        let size = current_num_threads();
        Crew {
            size,
            wanted: AtomicUsize::new(size - 1),
            begun: AtomicUsize::new(0),
            inside: Mutex::default(),
        }
    }

    /// The greatest number of threads that can take part.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether one more piece is worth splitting off.
    pub(super) fn wants_more(&self) -> bool {
        // Relaxed: only a counter.
        let less = |wanted: usize| wanted.checked_sub(1);
        self.wanted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }

    /// Lets this thread in, unless it is in already.
    pub(super) fn enter(&self) -> Option<Member<'_>> {
        let me = thread::current().id();
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if inside.contains(&me) {
            return None;
        }
        inside.push(me);
        // Relaxed: only distinctness matters.
        let index = self.begun.fetch_add(1, Ordering::Relaxed);
        Some(Member { crew: self, index })
    }
}

/// One thread of the crew, until it is dropped.
pub(super) struct Member<'c> {
    crew: &'c Crew,
    /// Different for each, and less than the size of the crew.
    pub(super) index: usize,
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        let me = thread::current().id();
        let mut inside = self
            .crew
            .inside
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        inside.retain(|&thread| thread != me);
    }
}
