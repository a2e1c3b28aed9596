//! What a worker takes when it looks for any work at all: mail, its own jobs, the jobs of others,
//! the queue from outside.

use super::choice::Choice;
use super::shared::Shared;
use super::worker::{Worker, nested_entry, tag};
use crate::base::clock;
use crate::base::sync::relax;
use crate::base::trace::{self, What};
use crate::queue::injector::Batch;
use crate::queue::job::Parcel;
use crate::queue::spawned::{Entry, Lot};
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::word::Holder;

/// Most jobs taken from the injector at once.
const BATCH: usize = 16;

/// If another thief is reading a deque of spawned jobs, a thief passes it by this many times; then
/// it reads the deque too.
const PASSES: u32 = 16;

impl Worker<'_> {
    /// Takes any job at all.
    pub(crate) fn take_any(&self) -> Option<Entry> {
        self.take_letter()
            .or_else(|| self.take_outside_at_intervals())
            .or_else(|| self.take_own())
            .or_else(|| self.steal_any())
            .or_else(|| self.take_outside())
    }

    /// Takes a letter. Others may have relied on this thread's search for a job that lies beside
    /// the letter, and the letter may take long, or wait for that job. So another thread is woken
    /// for the job.
    fn take_letter(&self) -> Option<Entry> {
        let letter = self.take_mail()?;
        if self.shared.jobs() > 0 {
            self.wake_one();
        }
        Some(letter)
    }

    /// Takes the job spawned last on this seat.
    pub(crate) fn take_own(&self) -> Option<Entry> {
        // SAFETY: this worker holds the seat.
        unsafe { self.seat.spawned.pop() }
    }

    /// Takes a letter. A guest takes none: they are for the seat's own thread, if it has one.
    pub(crate) fn take_mail(&self) -> Option<Entry> {
        let word = &self.seat.word;
        let state = word.load();
        if !state.has_mail() || state.holder() == Holder::Guest {
            return None;
        }
        // First the flag, then the box: a letter that comes later raises it again.
        word.lower_mail();
        let mailbox = &self.shared.desks[self.seat.index].mailbox;
        let mut found = None;
        mailbox.take(1, |entry| found = Some(entry));
        if !mailbox.is_empty() {
            word.raise_mail_again();
        }
        if found.is_some() {
            self.seat.notes.mailed.set(1);
            self.shared.call_two(self.seat);
        }
        found
    }

    /// Takes from outside first once in a while, so that outside work never starves. The
    /// interval follows the length of jobs: looks come about every hundred microseconds.
    fn take_outside_at_intervals(&self) -> Option<Entry> {
        const TARGET: u64 = 100_000;
        let notes = &self.seat.notes;
        if notes.until_outside.get() > 0 {
            notes.until_outside.set(notes.until_outside.get() - 1);
            return None;
        }
        let every = notes.outside_every.get().max(1);
        let (now, before) = (clock::now(), notes.outside_at.get());
        let each = clock::nanos(now.saturating_sub(before)) / every;
        let fitting = (TARGET / each.max(1)).clamp(1, 256);
        let next = ((every * 3 + fitting) / 4).max(1);
        notes.outside_every.set(next);
        notes.until_outside.set(next);
        notes.outside_at.set(now);
        self.take_outside()
    }

    /// Takes from the injector: one to run, and a fair share of the rest for this seat's deque.
    fn take_outside(&self) -> Option<Entry> {
        let queue = &self.shared.injector;
        // A single thread takes them one by one, and so in their order: a batch in its deque would be overtaken
        // by those that the thread takes at intervals.
        let most = match self.shared.len() {
            1 => 1,
            threads => (queue.len() / threads).clamp(1, BATCH),
        };
        let mut batch = [None; BATCH];
        let mut count = 0;
        let taken = queue.take(most, |entry| {
            batch[count] = Some(entry);
            count += 1;
        });
        let Batch::Some(_) = taken else { return None };
        // Newest first, so that they are popped oldest first.
        for entry in batch[1..count].iter().rev().flatten() {
            self.bring(*entry);
        }
        if count > 1 {
            self.shared.announce();
            let moved = batch[1..count].iter().flatten();
            self.shared.tell_owners(moved, Some(self.seat.index));
        }
        batch[0]
    }

    /// Steals the outermost public job of that seat, if it lies at `base` or above, while `still` holds.
    #[inline]
    pub(super) fn steal_nested(
        &self,
        victim: &Seat,
        base: usize,
        still: impl FnOnce() -> bool,
    ) -> Steal<Entry> {
        let taken = victim.nested.steal_if(base, still);
        taken.map(|won| {
            self.nested().weights().took(won.weight);
            self.note_stolen(victim);
            nested_entry(won, victim)
        })
    }

    /// All other seats, in a ring that begins at that one.
    pub(super) fn beginning_at(&self, start: usize) -> impl Iterator<Item = &Seat> {
        let (seats, me) = (&self.shared.seats, self.seat.index);
        let all = seats.iter().skip(start).chain(seats.iter().take(start));
        all.filter(move |seat| seat.index != me)
    }

    /// Steals from some other seat, starting anywhere.
    fn steal_any(&self) -> Option<Entry> {
        let seats = &self.shared.seats;
        let mut passes = PASSES;
        loop {
            let mut again = false;
            let count = seats.count();
            let start = self.seat.notes.random() as usize % count;
            let mut choice = Choice::among(count);
            let ring = seats.iter().skip(start).chain(seats.iter().take(start));
            for seat in ring.filter(|seat| seat.index != self.seat.index) {
                let Some(victim) = choice.look(seat, || seat.nested.offered()) else {
                    continue;
                };
                match self.steal_nested(victim, 0, || true) {
                    Steal::Taken(entry) => return Some(entry),
                    Steal::Private => victim.nested.want(),
                    Steal::Retry => again = true,
                    Steal::Empty => {}
                }
                match self.steal_spawned(victim, passes > 0) {
                    Steal::Taken(entry) => return entry,
                    Steal::Retry => again = true,
                    _ => {}
                }
            }
            if let Some(victim) = choice.end()
                && let Steal::Taken(entry) = self.steal_nested(victim, 0, || true)
            {
                return Some(entry);
            }
            // What the thief passed by may still be there.
            if !again && !choice.went_by() {
                return None;
            }
            passes = passes.saturating_sub(1);
            relax();
        }
    }

    /// Steals spawned jobs of that seat, or passes it by if another thief is there. Otherwise,
    /// where many threads are after the jobs of one spawner, each thief would wait for all others
    /// three times, and the spawner for all thieves.
    #[inline]
    fn steal_spawned(&self, victim: &Seat, goes_by: bool) -> Steal<Option<Entry>> {
        if victim.spawned.is_empty() {
            return Steal::Empty;
        }
        if goes_by && victim.spawned.is_read() {
            return Steal::Retry;
        }
        self.steal_lot(victim)
    }

    /// The same. It is a separate function because of its large frame.
    #[inline(never)]
    fn steal_lot(&self, victim: &Seat) -> Steal<Option<Entry>> {
        let mut lot = Lot::new();
        match victim.spawned.steal_lot(&mut lot) {
            Steal::Taken(()) => Steal::Taken(self.bring_home(lot.entries(), victim)),
            Steal::Retry => Steal::Retry,
            _ => Steal::Empty,
        }
    }

    /// Of a stolen lot, one is to be run now; the others go into this seat's deque.
    fn bring_home(&self, lot: &[Entry], from: &Seat) -> Option<Entry> {
        let (first, others) = lot.split_first()?;
        for entry in others {
            self.bring(*entry);
        }
        if !others.is_empty() {
            self.seat.counters.stolen.add(others.len() as u64);
            // While they were being moved, no thread could see them.
            self.shared.announce();
            self.shared.tell_owners(others, Some(self.seat.index));
        }
        self.stolen(*first, from)
    }

    /// Puts a job that lay elsewhere into this seat's deque. The job may be a task of a scope. The
    /// scope's owner, on this seat or another, looks here only if it knows that there may be such a
    /// task.
    fn bring(&self, entry: Entry) {
        match tag::home(entry.tag) {
            Some(home) if home == self.seat.index => self.seat.notes.bring(entry.tag),
            Some(home) => self.shared.seats[home].note_stray(entry.tag),
            None => {}
        }
        self.put(entry);
    }

    /// Notes that a spawned job was stolen.
    pub(super) fn stolen(&self, entry: Entry, from: &Seat) -> Option<Entry> {
        from.spawned.note_thief(self.seat.index);
        self.note_stolen(from);
        Some(entry)
    }

    /// Notes that a job was stolen.
    pub(super) fn note_stolen(&self, from: &Seat) {
        self.seat.counters.stolen.add(1);
        trace::moment(self.seat.index, What::Steal(from.index));
    }
}

/// What may be taken, or moved, by a thread that need not hold a seat.
impl Shared {
    /// Takes a job with this tag out of the deque of a seat other than `except`, from wherever it
    /// lies. Jobs that lie before it are moved to the injector, each once.
    pub(super) fn fetch_from_seats(
        &self,
        tag: u64,
        except: Option<usize>,
    ) -> Option<(Entry, &Seat)> {
        let others = || self.seats.iter().filter(|s| Some(s.index) != except);
        for seat in others() {
            if let Steal::Taken(entry) = seat.spawned.steal_if(|t| t == tag) {
                return Some((entry, seat));
            }
        }
        others().find_map(|seat| {
            let entry = self.fetch_from_behind(seat, |t| t == tag, except)?;
            Some((entry, seat))
        })
    }

    /// Takes a job that is `wanted` by its tag out of that deque, from wherever it lies. Jobs that lie before it are moved
    /// to the injector. `by` is the caller's seat.
    pub(super) fn fetch_from_behind(
        &self,
        seat: &Seat,
        wanted: impl Fn(u64) -> bool,
        by: Option<usize>,
    ) -> Option<Entry> {
        let mut strangers = Vec::new();
        let found = dig(seat, wanted, &mut strangers);
        self.move_to_injector(strangers, by);
        found
    }

    /// Queues jobs that were taken out of a deque for any thread to take.
    pub(super) fn move_to_injector(&self, entries: Vec<Entry>, by: Option<usize>) {
        if entries.is_empty() {
            return;
        }
        let run = |entry| {
            Worker::with(|worker| match worker {
                Some(worker) => worker.run(entry),
                None => unreachable!("a queued job was run by no worker"),
            });
        };
        for entry in &entries {
            if let Some(home) = tag::home(entry.tag) {
                self.seats[home].note_stray(entry.tag);
            }
        }
        // SAFETY: just taken, and left to the next thread that takes them.
        let parcels = entries
            .iter()
            .map(|entry| unsafe { Parcel::of_entry(*entry, run) });
        self.injector.push_all(parcels);
        self.announce();
        self.tell_owners(&entries, by);
    }

    /// Wakes the owners of scopes whose tasks the caller has just put somewhere else: an owner that
    /// looked for them while they were on their way may sleep, and be the only thread left to run
    /// them. Whether it does is not known here (the scope may be gone by now), so a token is left
    /// on its parker in any case; one too many sends it to sleep again. `by` is the caller's seat.
    ///
    /// The caller has just called [`announce`](Self::announce). The fence in there pairs with the one in
    /// `before_last_look`: an owner whose token lay there before looks again before it sleeps.
    pub(super) fn tell_owners<'e>(
        &self,
        moved: impl IntoIterator<Item = &'e Entry>,
        by: Option<usize>,
    ) {
        let mut told = by;
        for entry in moved {
            let home = tag::home(entry.tag).filter(|&seat| Some(seat) != by);
            if let Some(seat) = home.filter(|_| home != told) {
                self.seats[seat].wait_parker().unpark_once();
                told = home;
            }
        }
    }
}

/// Takes the oldest job that is `wanted` by its tag from behind others, which go into `strangers`. Each look tells
/// how many lie before it, so each of them is looked at about once.
fn dig(seat: &Seat, wanted: impl Fn(u64) -> bool, strangers: &mut Vec<Entry>) -> Option<Entry> {
    while let Some(before) = seat.spawned.find(&wanted) {
        for _ in 0..=before {
            match seat.spawned.steal() {
                Steal::Taken(entry) if wanted(entry.tag) => return Some(entry),
                Steal::Taken(entry) => strangers.push(entry),
                Steal::Retry => relax(),
                _ => break,
            }
        }
    }
    None
}
