//! Bridges whose items are counted, from iterators that wait and panic: how one is run, and what it
//! must give.

use crate::check::{Lasting, Often, Token, fail};
use crate::exec::Planned;
use crate::program::Draw;
use crate::rt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use tine_iter::prelude::*;

/// Bridges `len` items, of `nanos` each.
pub(crate) fn run(id: usize, draw: Draw, len: u64, nanos: u64) -> u64 {
    let frame = Lasting::new();
    let panics = matches!(draw, Draw::Panics { .. });
    let often = Often::ONCE.perhaps_if(panics);
    let (begun, all_begun) = (Mutex::new(0), Condvar::new());
    let (done, meetings) = (AtomicU64::new(0), Mutex::new(None));
    let source = (0..len).map(|n| {
        if let Draw::Waits = draw {
            let begun = begun.lock().expect("not poisoned");
            let _all = all_begun
                .wait_while(begun, |begun| *begun < n)
                .expect("not poisoned");
        }
        if matches!(draw, Draw::Panics { at, .. } if at == n) {
            resume_unwind(Box::new(Planned));
        }
        // An item with an even number meets the next one.
        let meet = match draw {
            Draw::Meets => {
                let mut open = meetings.lock().expect("not poisoned");
                let meet = open.take().unwrap_or_else(|| {
                    let people = if n + 1 < len { 2 } else { 1 };
                    Arc::new(Barrier::new(people))
                });
                if n.is_multiple_of(2) {
                    *open = Some(meet.clone());
                }
                Some(meet)
            }
            _ => None,
        };
        let token = Token::new(id, "an item of a bridge", often, Some(frame.0), None);
        (n, meet, token)
    });
    let item = |(n, meet, token): (u64, Option<Arc<Barrier>>, Token)| {
        token.run();
        if let Draw::Waits = draw {
            *begun.lock().expect("not poisoned") += 1;
            all_begun.notify_all();
        }
        if let Some(meet) = meet {
            meet.wait();
        }
        rt::work(nanos);
        done.fetch_add(1, SeqCst);
        n
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| match draw {
        Draw::Promised | Draw::Panics { ahead: true, .. } => source.par_bridge().map(item).sum(),
        _ => source.filter(|_| true).par_bridge().map(item).sum::<u64>(),
    }));
    let panics = matches!(draw, Draw::Panics { at, .. } if at < len);
    let done = done.into_inner();
    match outcome {
        Ok(sum) if !panics && (sum, done) == (len * len.saturating_sub(1) / 2, len) => {}
        Err(payload) if panics && payload.is::<Planned>() => {}
        Ok(sum) => fail(&format!("[{id}] a bridge gave {sum} after {done} items")),
        Err(_) => fail("a panic that nobody has planned"),
    }
    len
}
