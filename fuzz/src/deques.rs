//! Both deques against models, one operation after another: the model predicts each answer exactly.
//! What threads may do to each other at the same time is tested elsewhere, with loom.

use crate::bytes::Bytes;
use crate::queue::nested::{CAPACITY, Lifted, Nested, Pop};
use crate::queue::spawned::{Entry, LOT, Lot, Spawned};
use crate::queue::steal::Steal;
use std::collections::VecDeque;
use std::ptr::without_provenance_mut as job;

/// Runs the operations that `bytes` say on one deque or the other.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    if bytes.u8().is_multiple_of(2) {
        nested(bytes);
    } else {
        spawned(bytes);
    }
}

// ---- what join pushes -----------------------------------------------------------------------

/// What the stack of joins should hold: the jobs from the bottom up, and how many of them are
/// stolen, and public.
#[derive(Default)]
struct Stack {
    jobs: Vec<usize>,
    top: usize,
    public: usize,
    pushed: usize,
    /// Where jobs began, and what [`Nested::lift`] returned.
    lifted: Vec<(usize, Lifted)>,
}

impl Stack {
    fn private(&self) -> usize {
        self.jobs.len() - self.public
    }

    /// As `join` does it: unless the push is easy, it checks whether a job should become public.
    fn push(&mut self, deque: &Nested) {
        let depth = deque.depth();
        assert_eq!(depth, self.jobs.len());
        if depth >= CAPACITY {
            assert!(!deque.is_easy(depth) && !deque.skips_check(depth, 7));
            return;
        }
        let easy = deque.is_easy(depth) || deque.skips_check(depth, 7);
        self.pushed += 1;
        self.jobs.push(self.pushed);
        deque.push(depth, job(self.pushed));
        if !easy && (deque.take_request() || deque.is_outermost(depth)) {
            self.publish(deque, 1);
        }
    }

    fn publish(&mut self, deque: &Nested, count: usize) {
        let gain = count.min(self.private());
        assert_eq!(deque.publish(count), gain);
        self.public += gain;
    }

    /// A pop, and, if the job was stolen, its end if the input says that it has come.
    fn pop(&mut self, deque: &Nested, done: bool) {
        let Some(depth) = self.jobs.len().checked_sub(1) else {
            return;
        };
        if self.lifted.last().is_some_and(|&(base, _)| base > depth) {
            if let Some((_, lifted)) = self.lifted.pop() {
                deque.lower(lifted);
            }
        }
        if self.top > depth {
            assert_eq!(deque.pop(depth), Pop::Stolen);
            if done {
                deque.retire(depth);
                self.jobs.pop();
                (self.top, self.public) = (depth, depth);
            }
        } else {
            assert_eq!(deque.pop(depth), Pop::Mine);
            self.jobs.pop();
            self.public = self.public.min(depth);
        }
    }

    fn steal(&mut self, deque: &Nested, base: usize, still: bool) {
        let wanted = if self.top < self.public {
            if self.top < base || !still {
                Steal::Empty
            } else {
                self.top += 1;
                Steal::Taken(job(self.jobs[self.top - 1]))
            }
        } else if self.private() > 0 {
            Steal::Private
        } else {
            Steal::Empty
        };
        // The stated amount of work of a job affects only speed.
        let got = deque.steal_if(base, || still).map(|won| won.job);
        assert_eq!(got, wanted);
    }
}

fn nested(mut bytes: Bytes<'_>) {
    let deque = Nested::new(1 + usize::from(bytes.u8() % 64));
    let mut stack = Stack::default();
    while bytes.are_left() {
        match bytes.u8() % 16 {
            0..=2 => stack.push(&deque),
            3 => (0..bytes.u16() % 5000).for_each(|_| stack.push(&deque)),
            4..=5 => stack.pop(&deque, true),
            6 => stack.pop(&deque, false),
            7 => (0..bytes.u16() % 5000).for_each(|_| stack.pop(&deque, true)),
            8..=9 => stack.steal(&deque, 0, true),
            10 => stack.steal(
                &deque,
                usize::from(bytes.u8()),
                !bytes.u8().is_multiple_of(4),
            ),
            11 => {
                deque.want();
                assert!(deque.is_wanted());
            }
            12 => stack.publish(&deque, usize::from(bytes.u8())),
            13 => {
                let private = stack.private();
                assert_eq!(deque.publish_for_owner(|| true), private);
                stack.public += private;
            }
            14 => {
                let base = stack.jobs.len();
                deque.change_context();
                stack.lifted.push((base, deque.lift(base)));
            }
            _ => {
                assert_eq!(deque.publish_for_owner(|| false), 0);
                deque.skip_checks(7, u32::from(bytes.u8()));
            }
        }
        assert_eq!(deque.depth(), stack.jobs.len());
        assert_eq!(deque.private(), stack.private());
        assert_eq!(deque.has_private(), stack.private() > 0);
        assert_eq!(deque.public(), stack.public - stack.top);
        assert_eq!(deque.has_public(), stack.top < stack.public);
    }
    while !stack.jobs.is_empty() {
        stack.pop(&deque, true);
    }
    assert_eq!(deque.steal_if(0, || true), Steal::Empty);
}

// ---- what spawn pushes ----------------------------------------------------------------------

fn spawned(mut bytes: Bytes<'_>) {
    let deque = Spawned::new();
    let mut model = VecDeque::<Entry>::new();
    let mut pushed = 0;
    let mut push = |model: &mut VecDeque<_>, tag: u8| {
        pushed += 1;
        let entry = Entry {
            job: job(pushed),
            tag: u64::from(tag % 4),
        };
        model.push_back(entry);
        // SAFETY: (alone) this thread is the only one that knows the deque.
        unsafe { deque.push(entry) };
    };
    // SAFETY: (alone) as above.
    let pop = || unsafe { deque.pop() };
    while bytes.are_left() {
        match bytes.u8() % 16 {
            0..=3 => push(&mut model, bytes.u8()),
            4 => (0..bytes.u16() % 500).for_each(|n| push(&mut model, n as u8)),
            5 => (0..bytes.u16()).for_each(|n| push(&mut model, n as u8)),
            6..=8 => assert_eq!(pop(), model.pop_back()),
            9 => (0..bytes.u16()).for_each(|_| assert_eq!(pop(), model.pop_back())),
            10..=11 => assert_eq!(deque.steal(), stolen(model.pop_front())),
            12 => {
                let tag = u64::from(bytes.u8() % 4);
                let pleases = model.front().is_some_and(|entry| entry.tag == tag);
                let wanted = if pleases { model.pop_front() } else { None };
                assert_eq!(deque.steal_if(|t| t == tag), stolen(wanted));
            }
            13 => (0..bytes.u8()).for_each(|_| steal_lot(&deque, &mut model)),
            14 => {
                let tag = u64::from(bytes.u8() % 4);
                let place = model.iter().position(|entry| entry.tag == tag);
                assert_eq!(deque.find(|t| t == tag), place);
            }
            _ => {
                // SAFETY: (alone) as above.
                let last = unsafe { deque.last_tag() };
                assert_eq!(last, model.back().map(|entry| entry.tag));
            }
        }
        assert_eq!(deque.len(), model.len());
        assert_eq!(deque.is_empty(), model.is_empty());
    }
    while !model.is_empty() {
        steal_lot(&deque, &mut model);
    }
    assert_eq!(pop(), None);
}

fn stolen(entry: Option<Entry>) -> Steal<Entry> {
    entry.map_or(Steal::Empty, Steal::Taken)
}

fn steal_lot(deque: &Spawned, model: &mut VecDeque<Entry>) {
    let mut lot = Lot::new();
    // Half of them, and of one scope.
    let half = model.iter().take(model.len().div_ceil(2).min(LOT));
    let first = model.front().map(|entry| entry.tag);
    let count = half.take_while(|entry| Some(entry.tag) == first).count();
    let wanted = if count == 0 {
        Steal::Empty
    } else {
        Steal::Taken(())
    };
    assert_eq!(deque.steal_lot(&mut lot), wanted);
    assert!(lot.entries().iter().copied().eq(model.drain(..count)));
}

#[cfg(test)]
#[test]
fn seeds() {
    crate::run_seeds("deques", run);
}
