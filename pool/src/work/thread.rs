//! The life of a pool's own thread.
#![forbid(unsafe_code)]

use super::shared::Shared;
use super::worker::Worker;
use crate::base::config;
use crate::base::running;
use crate::base::sys;
use crate::base::unwind::{self, AbortOnUnwind};
use std::sync::Arc;
use std::thread;

/// Works on seat `index` until the pool ends.
pub(crate) fn live(shared: Arc<Shared>, index: usize) {
    let counted = shared.counted();
    let seat = &shared.seats[index];
    let guard = AbortOnUnwind;
    seat.notes.thread.set(running::me());
    Worker {
        seat,
        shared: &shared,
        guest: false,
    }
    .sit(|worker| {
        if let Some(start) = &shared.handlers.start {
            report(&shared, || start(index));
        }
        worker.work();
        // The seat is still held, so that the handler may do what any job may.
        if let Some(exit) = &shared.handlers.exit {
            report(&shared, || exit(index));
        }
        worker.go();
    });
    guard.disarm();
    // First: values that the pool's handlers have captured may be dropped with it, and `shutdown` returns after
    // that.
    drop(shared);
    drop(counted);
}

/// Runs a handler; its panic goes to the panic handler.
fn report(shared: &Shared, handler: impl FnOnce()) {
    if let Err(panic) = unwind::catch(handler) {
        shared.handle_panic(panic);
    }
}

/// Starts the thread of a seat when it is first needed; says whether the system agreed.
pub(crate) fn start_when_needed(shared: &Arc<Shared>, index: usize) -> bool {
    let builder = thread::Builder::new().name(format!("tine-{index}"));
    let stack = shared.stack_size.or_else(config::stack);
    shared.count_thread(true);
    let own = Arc::clone(shared);
    let started = sys::fork::start(builder, stack, move || live(own, index)).is_ok();
    if !started {
        shared.count_thread(false);
    }
    started
}
