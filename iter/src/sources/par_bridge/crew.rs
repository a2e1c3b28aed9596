//! Which threads take part: one piece for each thread of the pool, and each
//! thread in one piece at most.
//!
//! A thread that waits inside `next` or inside an item may come upon another
//! piece of the same work. It must not begin that piece: it would wait for what
//! it holds itself, and its stack would grow with each turn. The threads that
//! take part already do the work that it leaves. Each thread remembers for itself
//! where it takes part: a list that all write would be what a crowd waits for.

use std::cell::RefCell;
use std::mem::{ManuallyDrop, take};
use std::ptr::from_ref;

use crate::kit::sync::{AtomicUsize, Ordering};
use tine_pool::current_num_threads;

thread_local! {
    /// The crews of which this thread is a member, by their addresses. It has no destructor, so that it
    /// can be used in those of other values; its memory goes with its last entry.
    static INSIDE: RefCell<ManuallyDrop<Vec<usize>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The threads at work. On a line of its own: all write it as they come.
#[repr(align(128))]
pub(super) struct Crew {
    size: usize,
    /// How many pieces have been asked for, besides the first.
    split: AtomicUsize,
    /// How many have begun.
    begun: AtomicUsize,
}

impl Crew {
    pub(super) fn new() -> Self {
        Crew {
            size: current_num_threads(),
            split: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
        }
    }

    /// The greatest number of threads that can take part.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether one more piece is worth splitting off. A thread that takes part already splits off none: it came
    /// upon this piece inside of `next`, and another thread that began the half would wait for that `next`, and
    /// this one for the half.
    pub(super) fn wants_more(&self) -> bool {
        // Relaxed: only a counter. The look before it bounds it.
        let wanted = self.size - 1;
        !self.has_this_thread()
            && self.split.load(Ordering::Relaxed) < wanted
            && self.split.fetch_add(1, Ordering::Relaxed) < wanted
    }

    fn has_this_thread(&self) -> bool {
        INSIDE.with_borrow(|inside| inside.contains(&from_ref(self).addr()))
    }

    /// Lets this thread in, unless it is in already.
    pub(super) fn enter(&self) -> Option<Member> {
        let crew = from_ref(self).addr();
        let is_new = INSIDE.with_borrow_mut(|inside| {
            let is_new = !inside.contains(&crew);
            if is_new {
                inside.push(crew);
            }
            is_new
        });
        // Relaxed: only distinctness matters.
        is_new.then(|| Member {
            crew,
            index: self.begun.fetch_add(1, Ordering::Relaxed),
        })
    }
}

/// One thread of the crew, until it is dropped.
pub(super) struct Member {
    crew: usize,
    /// Different for each, and less than the size of the crew.
    pub(super) index: usize,
}

impl Drop for Member {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(|inside| {
            inside.retain(|&crew| crew != self.crew);
            if inside.is_empty() {
                drop(take::<Vec<usize>>(inside));
            }
        });
    }
}
