//! Which threads take part: one piece for each thread of the pool, and each
//! thread in one piece at most.
//!
//! A thread that waits inside `next` or inside an item may come upon another piece of the same
//! work. It must not begin that piece: it would wait for what it holds itself, and its stack would
//! grow each time. The threads that already take part do the work that it leaves. Each thread
//! remembers for itself where it takes part, and each piece carries what may still be split off it.
//! A list or a count that all threads write would make a crowd wait.

use std::cell::RefCell;
use std::mem::{ManuallyDrop, take};
use std::ptr::from_ref;
use std::sync::PoisonError;

use crate::kit::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use crate::plumbing::{Folder, UnindexedProducer};
use tine_pool::current_num_threads;

thread_local! {
    /// The crews of which this thread is a member, by their addresses. It has no destructor, so that it
    /// can be used in those of other values; its memory goes with its last entry.
    static INSIDE: RefCell<ManuallyDrop<Vec<usize>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The threads at work.
pub(super) struct Crew {
    size: usize,
    /// Whether seats were handed back.
    any: AtomicBool,
    back: Mutex<Vec<Seats>>,
}

/// What a thread draws from.
pub(super) trait Well: Sync {
    type Item;

    fn crew(&self) -> &Crew;

    /// Draws until nothing is left or wanted, on this seat: different for each thread, and less than the size of the crew.
    fn drain<F: Folder<Self::Item>>(&self, seat: usize, folder: F) -> F;
}

/// A piece of the work: one thread for the first seat, and one more for each that is split off.
pub(super) struct Share<'w, W> {
    well: &'w W,
    seats: Seats,
}

/// Seats that no thread has yet.
#[derive(Clone, Copy)]
struct Seats {
    first: usize,
    size: usize,
}

impl Seats {
    /// Splits off this number from the end.
    fn split_off(&mut self, size: usize) -> Seats {
        self.size -= size;
        Seats {
            first: self.first + self.size,
            size,
        }
    }
}

impl Crew {
    pub(super) fn new() -> Self {
        Crew {
            size: current_num_threads(),
            any: AtomicBool::new(false),
            back: Mutex::default(),
        }
    }

    /// The greatest number of threads that can take part.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn has_this_thread(&self) -> bool {
        INSIDE.with_borrow(|inside| inside.contains(&from_ref(self).addr()))
    }

    /// Lets this thread in, unless it is in already.
    fn enter(&self) -> Option<Member> {
        let crew = from_ref(self).addr();
        INSIDE.with_borrow_mut(|inside| {
            let is_new = !inside.contains(&crew);
            is_new.then(|| {
                inside.push(crew);
                Member { crew }
            })
        })
    }

    fn back(&self) -> MutexGuard<'_, Vec<Seats>> {
        self.back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pieces that come later may have these seats.
    #[cold]
    fn hand_back(&self, seats: Seats) {
        let mut back = self.back();
        back.push(seats);
        // Relaxed: a hint.
        self.any.store(true, Ordering::Relaxed);
    }

    #[cold]
    fn handed_back(&self) -> Option<Seats> {
        let mut back = self.back();
        let seats = back.pop();
        self.any.store(!back.is_empty(), Ordering::Relaxed);
        seats
    }
}

impl<'w, W: Well> Share<'w, W> {
    pub(super) fn all(well: &'w W) -> Self {
        let size = well.crew().size;
        let seats = Seats { first: 0, size };
        Share { well, seats }
    }

    /// Splits off a part of this number of seats, or one of those handed back. A thread that takes
    /// part already splits off none: it came upon this piece inside `next`. Another thread that
    /// began the part would wait for that `next`, and this thread would wait for the part.
    fn cut(mut self, size: usize) -> (Self, Option<Self>) {
        let well = self.well;
        let crew = well.crew();
        let part = match size {
            _ if crew.has_this_thread() => None,
            0 if crew.any.load(Ordering::Relaxed) => crew.handed_back(),
            0 => None,
            size => Some(self.seats.split_off(size)),
        };
        let part = part.map(|seats| Share { well, seats });
        (self, part)
    }
}

impl<W: Well> UnindexedProducer for Share<'_, W> {
    type Item = W::Item;

    fn split(self) -> (Self, Option<Self>) {
        let half = self.seats.size / 2;
        self.cut(half)
    }

    /// All seats but one go to the right at once: when the left part hands them back, the last
    /// thread may already have come and found none.
    fn split_off_first(self) -> (Self, Option<Self>) {
        let rest = self.seats.size - 1;
        self.cut(rest)
    }

    fn fold_with<F: Folder<W::Item>>(self, folder: F) -> F {
        let Share { well, mut seats } = self;
        let crew = well.crew();
        let Some(_member) = crew.enter() else {
            crew.hand_back(seats);
            return folder;
        };
        if seats.size > 1 {
            crew.hand_back(seats.split_off(seats.size - 1));
        }
        well.drain(seats.first, folder)
    }
}

/// One thread of the crew, until it is dropped.
struct Member {
    crew: usize,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes the seats on which it was drained.
    struct Notes(Crew, Mutex<Vec<usize>>);

    impl Well for Notes {
        type Item = ();

        fn crew(&self) -> &Crew {
            &self.0
        }

        fn drain<F: Folder<()>>(&self, seat: usize, folder: F) -> F {
            self.1.lock().unwrap().push(seat);
            folder
        }
    }

    struct Nothing;

    impl Folder<()> for Nothing {
        type Result = ();

        fn consume(self, (): ()) -> Self {
            self
        }

        fn complete(self) {}

        fn full(&self) -> bool {
            false
        }
    }

    fn notes(size: usize) -> Notes {
        let crew = Crew {
            size,
            ..Crew::new()
        };
        Notes(crew, Mutex::default())
    }

    impl Notes {
        /// The seats that were drained, and those that no piece has.
        fn seats(&self) -> (Vec<usize>, Vec<usize>) {
            let mut drained = self.1.lock().unwrap().clone();
            let back = self.0.back();
            let range = |seats: &Seats| seats.first..seats.first + seats.size;
            let mut back: Vec<_> = back.iter().flat_map(range).collect();
            drained.sort_unstable();
            back.sort_unstable();
            (drained, back)
        }
    }

    /// Splits at most this often, and folds all pieces.
    fn fold(share: Share<'_, Notes>, mut splits: usize) {
        let mut pieces = vec![share];
        while let Some(piece) = pieces.pop() {
            let (piece, half) = match splits {
                0 => (piece, None),
                _ => piece.split(),
            };
            if let Some(half) = half {
                splits -= 1;
                pieces.extend([piece, half]);
            } else {
                let Nothing = piece.fold_with(Nothing);
            }
        }
    }

    #[test]
    fn each_seat_is_for_one_thread() {
        for size in [1, 2, 3, 5, 18, 100] {
            let notes = notes(size);
            fold(Share::all(&notes), usize::MAX);
            assert_eq!(notes.seats(), ((0..size).collect(), vec![]));
        }
    }

    #[test]
    fn seats_that_are_not_split_off_come_back() {
        for splits in 0..8 {
            let notes = notes(18);
            fold(Share::all(&notes), splits);
            let (drained, mut back) = notes.seats();
            assert_eq!(drained.len(), splits + 1);
            back.extend(drained);
            back.sort_unstable();
            assert_eq!(back, (0..18).collect::<Vec<_>>());
        }
    }

    /// Also where each is split off before any has begun.
    #[test]
    fn seats_are_split_off_one_by_one() {
        for size in [1, 2, 3, 4, 18] {
            let notes = notes(size);
            let (mut pieces, mut rest) = (vec![], Some(Share::all(&notes)));
            while let Some(share) = rest.take() {
                let piece;
                (piece, rest) = share.split_off_first();
                pieces.push(piece);
            }
            pieces.into_iter().for_each(|piece| fold(piece, 0));
            assert_eq!(notes.seats(), ((0..size).collect(), vec![]));
        }
    }

    #[test]
    fn a_member_leaves_a_piece_to_others() {
        let notes = notes(9);
        let (near, far) = Share::all(&notes).split();
        let member = notes.0.enter();
        let (far, none) = far.unwrap().split();
        assert!(none.is_none());
        let Nothing = far.fold_with(Nothing);
        assert_eq!(notes.seats(), (vec![], (5..9).collect()));
        drop(member);
        fold(near, usize::MAX);
        assert_eq!(notes.seats(), ((0..9).collect(), vec![]));
    }
}
