//! Memory for jobs: a chunk is freed when all its pieces have been given back, and not before.
//!
//! Under the model checker a chunk is not freed but marked, and kept. Using a piece reads the mark. So a chunk
//! that is freed too early, or without seeing what was done with a piece, is a forbidden access.

use super::check;
use crate::base::sync::{AtomicUsize, Ordering, UnsafeCell};
use crate::queue::slab::{self, Slab, freed_chunks};
use loom::thread;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

/// A piece that changes threads.
struct Piece(NonNull<()>);

// SAFETY: watched.
unsafe impl Send for Piece {}

impl Piece {
    /// So large that two pieces fill a chunk.
    fn of(slab: &Slab) -> Self {
        let layout = Layout::new::<[u64; Slab::LARGEST / 8]>();
        // SAFETY: models allocate from one thread at a time.
        let piece = Self(unsafe { slab.alloc(layout) }.unwrap());
        piece.used();
        piece
    }

    fn used(&self) {
        // SAFETY: not given back yet.
        unsafe { Slab::assert_alive(self.0) };
    }

    fn free(self) {
        self.used();
        // SAFETY: made by `alloc`, and no longer used.
        unsafe { Slab::free(self.0) };
    }
}

/// The owner goes on to new chunks while another thread gives pieces of the old ones back.
#[test]
fn pieces_come_back_while_others_are_made() {
    check(|| {
        let slab = Slab::new();
        let pieces = [Piece::of(&slab), Piece::of(&slab), Piece::of(&slab)];
        let other = thread::spawn(move || pieces.into_iter().for_each(Piece::free));
        let more = [Piece::of(&slab), Piece::of(&slab)];
        more.into_iter().for_each(Piece::free);
        other.join().unwrap();
        drop(slab);
        assert_eq!(freed_chunks(), 3);
    });
}

/// Two threads give back the pieces of one chunk, and the slab is dropped meanwhile.
#[test]
fn the_last_of_three_frees() {
    check(|| {
        let slab = Slab::new();
        let (one, two) = (Piece::of(&slab), Piece::of(&slab));
        let other = thread::spawn(move || one.free());
        let third = thread::spawn(move || two.free());
        drop(slab);
        other.join().unwrap();
        third.join().unwrap();
        assert_eq!(freed_chunks(), 1);
    });
}

/// A seat changes hands: the next owner goes on in the chunk of the previous owner.
#[test]
fn an_owner_after_another() {
    check(|| {
        let slab = Arc::new(Slab::new());
        let first = Piece::of(&slab);
        let next = {
            let slab = Arc::clone(&slab);
            thread::spawn(move || {
                let pieces = [Piece::of(&slab), Piece::of(&slab)];
                pieces.into_iter().for_each(Piece::free);
            })
        };
        first.free();
        next.join().unwrap();
        drop(slab);
        assert_eq!(freed_chunks(), 2);
    });
}

/// A thread that collects gives back pieces of two chunks, among them pieces of a chunk that it has left and
/// comes back to.
#[test]
fn a_thread_that_collects() {
    check(|| {
        let slab = Slab::new();
        let [one, two, three] = [(); 3].map(|()| Piece::of(&slab));
        let other = thread::spawn(move || {
            let freed = slab::collect();
            [one, three, two].into_iter().for_each(Piece::free);
            freed.give_back();
            drop(freed);
        });
        let fourth = Piece::of(&slab);
        drop(slab);
        fourth.free();
        other.join().unwrap();
        assert_eq!(freed_chunks(), 2);
    });
}

/// Two threads collect the pieces of one chunk; one of them frees another piece afterwards.
#[test]
fn two_that_collect() {
    check(|| {
        let slab = Slab::new();
        let (one, two) = (Piece::of(&slab), Piece::of(&slab));
        let later = Piece::of(&slab);
        drop(slab);
        let other = thread::spawn(move || {
            let _freed = slab::collect();
            one.free();
        });
        let freed = slab::collect();
        two.free();
        drop(freed);
        later.free();
        other.join().unwrap();
        assert_eq!(freed_chunks(), 2);
    });
}

/// Twin: a chunk of two pieces, counted down in this order.
fn twin(order: Ordering) {
    check(move || {
        let chunk = Arc::new((AtomicUsize::new(2), UnsafeCell::new(0)));
        let free = move |chunk: &(AtomicUsize, UnsafeCell<u32>)| {
            // The content of the job in the piece, read before the piece is given back.
            // SAFETY: watched.
            chunk.1.with(|p| unsafe { *p });
            if chunk.0.fetch_sub(1, order) == 1 {
                // SAFETY: watched.
                chunk.1.with_mut(|p| unsafe { *p = 1 });
            }
        };
        let other = {
            let chunk = Arc::clone(&chunk);
            thread::spawn(move || free(&chunk))
        };
        free(&chunk);
        other.join().unwrap();
    });
}

#[test]
fn twin_with_its_order() {
    twin(Ordering::AcqRel);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn twin_counted_down_relaxed() {
    twin(Ordering::Relaxed);
}
