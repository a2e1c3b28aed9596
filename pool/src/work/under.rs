//! Which thread works under which tokens: how a thread comes under them, and how they go with its jobs.
//!
//! * The job of a **join** carries no token. Its seat knows from which depth on its jobs are under
//!   which tokens ([`Tokens`](crate::seat::tokens::Tokens)), and a thief asks there.
//! * **Tasks of a scope, spawned jobs, errands and broadcasts** carry the tokens that their maker
//!   was under.
//! * A job that begins on top of unrelated work is not under the tokens of that work.
//!
//! For a thread under a token, joins see a stack without room, so that each takes its slow path and
//! checks the tokens there. All other threads run as if there were no tokens.
#![forbid(unsafe_code)]

use super::worker::{Worker, tag};
use crate::base::stop::{self, Before, Chain};
use crate::base::unwind::{self, Payload};
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use std::ptr;

/// While this lives, the calling thread works under certain tokens, or under none.
#[derive(Debug)]
pub(crate) struct Under {
    before: Option<Before>,
    /// The seat that knows of it; only its address is looked at.
    seat: *const Seat,
}

impl Under {
    pub(crate) fn new(chain: Option<Chain>) -> Self {
        let before = Some(stop::replace(chain.clone(), |op| sheltered(op)));
        let seat = Worker::with(|worker| {
            worker.map_or(ptr::null(), |worker| {
                let depth = worker.nested().depth();
                worker.seat.tokens.push(depth, chain);
                worker.seat
            })
        });
        Worker::show_front();
        Self { before, seat }
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        Worker::with(|worker| {
            let new = worker.filter(|worker| !ptr::eq(worker.seat, self.seat));
            if let (Some(worker), None) = (worker, new) {
                worker.seat.tokens.pop();
            }
            if let Some(before) = self.before.take() {
                stop::put_back(before);
            }
            if let Some(worker) = new {
                worker.begin_under();
            }
        });
        Worker::show_front();
    }
}

/// Calls `op` under these tokens.
pub(crate) fn under<R>(chain: Option<Chain>, op: impl FnOnce() -> R) -> R {
    let _under = Under::new(chain);
    op()
}

/// Calls `op`, which brings what it works under, or none. For work that is no part of what lies below it.
#[inline]
pub(crate) fn apart<R>(chain: Option<Chain>, op: impl FnOnce() -> R) -> R {
    if chain.is_none() && !stop::is_bound() {
        return op();
    }
    under(chain, op)
}

/// Calls `op` under no token, because it must not be ended in the middle.
pub(crate) fn sheltered<R>(op: impl FnOnce() -> R) -> R {
    apart(None, op)
}

/// Calls `op`, which asks [`stop::requested`] where it may end, and is ended by no look.
pub(crate) fn quietly<R>(op: impl FnOnce() -> R) -> R {
    match stop::current() {
        Some(chain) => under(Some(chain.quietly()), op),
        None => sheltered(op),
    }
}

/// What a parallel call begins with, and keeps until its end: if the calling thread is to stop, it does so
/// here. If it unwinds already, the call is one of a destructor, which is left to run to its end, together
/// with all of it that other threads do.
#[inline(always)]
pub(crate) fn look() -> Option<Under> {
    if stop::is_under() { look_now() } else { None }
}

#[cold]
#[inline(never)]
fn look_now() -> Option<Under> {
    let shelter = shelter();
    if shelter.is_none() {
        stop::check();
    }
    shelter
}

/// The same for a call that is not to be ended here.
pub(crate) fn shelter() -> Option<Under> {
    stop::is_for_a_destructor().then(|| Under::new(None))
}

impl Worker<'_> {
    /// The calling thread has become this worker for good, perhaps in the midst of calls under tokens. What they work
    /// under lies below all that it will do here.
    pub(super) fn begin_under(&self) {
        let below = stop::is_bound().then(stop::innermost);
        self.seat.tokens.begin(below);
    }

    /// Runs a job where tokens come into it.
    #[cold]
    #[inline(never)]
    pub(super) fn run_apart(&self, entry: Entry) {
        let from = tag::is_stolen(entry.tag).filter(|_| tag::is_under(entry.tag));
        let chain = from.and_then(|(seat, depth)| self.shared.seats[seat].tokens.at(depth));
        under(chain, || self.run_plainly(entry));
    }
}

/// Calls `op` under the tokens that it was spawned under, unless they are stopped. No thread waits for `op`, and
/// no caller is told that it was ended.
pub(crate) fn ended(chain: Option<Chain>, op: impl FnOnce()) {
    let Some(chain) = chain else {
        return apart(None, op);
    };
    if chain.is_stopped() {
        return;
    }
    let panic = match in_chain(chain, op) {
        Err(payload) if !stop::is_end(&payload) => payload,
        _ => return,
    };
    unwind::resume(panic);
}

/// Calls `op` under `chain`. If it panics and is ended at the same time, the panic counts.
pub(crate) fn in_chain<R>(chain: Chain, op: impl FnOnce() -> R) -> Result<R, Payload> {
    let result = unwind::catch(|| under(Some(chain.clone()), op));
    let aside = chain.take_panic();
    match (result, aside) {
        (Err(payload), Some(panic)) if stop::is_end(&payload) => Err(panic),
        (result, aside) => {
            if let Some(panic) = aside {
                unwind::discard(panic);
            }
            result
        }
    }
}
