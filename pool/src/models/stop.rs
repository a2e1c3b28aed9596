//! Tokens: a child that is made while its parent is stopped is told.
//!
//! The checker does not follow std's counted references, and tokens need weak references. So this is a small
//! copy of what two threads do with the word, the list and the count of a child, in the order in which
//! `base/stop.rs` does it.

use super::{beside, check};
use crate::base::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use std::sync::Arc;

/// A parent, and the one child that comes.
struct Family {
    parent: AtomicBool,
    ties: Mutex<Ties>,
    child: AtomicBool,
    references: AtomicUsize,
}

#[derive(Default)]
struct Ties {
    over: bool,
    has_child: bool,
}

impl Family {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            parent: AtomicBool::new(false),
            ties: Mutex::new(Ties::default()),
            child: AtomicBool::new(false),
            references: AtomicUsize::new(0),
        })
    }

    fn stop(&self) {
        // Release: pairs with the load in `make_child`.
        self.parent.swap(true, Ordering::Release);
        let mut ties = self.ties.lock().unwrap();
        ties.over = true;
        // As `Weak::upgrade`: there is no access to a child without a reference.
        if ties.has_child && self.references.load(Ordering::Relaxed) > 0 {
            self.child.store(true, Ordering::Relaxed);
        }
    }

    /// Makes the child, which has its reference `first`, and after that is in the list.
    fn make_child(&self, first: bool) {
        // Release: as the first reference is made.
        let begin = || self.references.store(1, Ordering::Release);
        if first {
            begin();
        }
        let over = {
            let mut ties = self.ties.lock().unwrap();
            ties.has_child |= !ties.over;
            ties.over
        };
        if !first {
            begin();
        }
        // Acquire: pairs with the swap in `stop`.
        if over || self.parent.load(Ordering::Acquire) {
            self.child.store(true, Ordering::Relaxed);
        }
    }
}

fn child_is_told(first: bool) {
    check(move || {
        let family = Family::new();
        let stopper = beside(&family, Family::stop);
        family.make_child(first);
        stopper.join().unwrap();
        let told = family.child.load(Ordering::Relaxed);
        assert!(told, "the child was not told");
    });
}

#[test]
fn a_child_of_a_token_that_is_stopped_is_told() {
    child_is_told(true);
}

#[test]
#[should_panic(expected = "the child was not told")]
fn twin_whose_child_is_in_the_list_before_it_has_a_reference() {
    child_is_told(false);
}
