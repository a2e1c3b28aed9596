//! Pipelines whose items are counted: how one is run, and what it must give.

use crate::check::{Lasting, Often, Token, fail};
use crate::exec::Planned;
use crate::program::Flow;
use crate::rt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tine_iter::pipeline;

/// Runs `len` items through four stages, with at most `limit` under way; then again, in batches.
pub(crate) fn run(id: usize, flow: Flow, len: u64, limit: usize) -> u64 {
    once(id, flow, len, limit, true);
    if !matches!(flow, Flow::Meets) {
        once(id, flow, len, limit, false);
    }
    len
}

fn once(id: usize, flow: Flow, len: u64, limit: usize, one_by_one: bool) {
    let frame = Lasting::new();
    let often = Often::ONCE.perhaps_if(!matches!(flow, Flow::Through | Flow::Meets));
    let meet = Barrier::new(2);
    let (drawn, through) = (AtomicU64::new(0), AtomicU64::new(0));
    let pass = |stage: u64, n: u64, token: Token| {
        rt::work(20);
        token.look("used");
        match flow {
            Flow::Panics(here, at) if (here, at) == (stage, n) => resume_unwind(Box::new(Planned)),
            Flow::Fails(here, at) if here == stage && n >= at => Err(n),
            _ => Ok((n, token)),
        }
    };
    let mut seen = 0;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let source = (0..len).map(|n| {
            let token = Token::new(id, "an item of a pipeline", often, Some(frame.0), None);
            let ahead = drawn.fetch_add(1, SeqCst) + 1 - through.load(SeqCst);
            if ahead > limit as u64 {
                fail(&format!("[{id}] {ahead} items are under way"));
            }
            (n, token)
        });
        let line = pipeline(source, limit);
        let line = if one_by_one { line.one_by_one() } else { line };
        line.try_map(|(n, token)| {
            token.run();
            if matches!(flow, Flow::Meets) && n < 2 {
                meet.wait();
            }
            pass(0, n, token)
        })
        .try_in_order(|(n, token)| pass(1, n, token))
        .try_any_order(|(n, token)| pass(2, n, token))
        .map(|item| item)
        .try_for_each(|(n, token)| {
            if n != seen {
                fail(&format!("[{id}] item {n} came in place of {seen}"));
            }
            drop(pass(3, n, token)?);
            seen += 1;
            through.fetch_add(1, SeqCst);
            Ok(())
        })
    }));
    let wanted = match flow {
        Flow::Fails(_, at) if at < len => Some(Err(at)),
        Flow::Panics(_, at) if at < len => None,
        _ => Some(Ok(())),
    };
    let end = match flow {
        Flow::Fails(_, at) => at.min(len),
        _ => len,
    };
    match (outcome, wanted) {
        (Ok(got), Some(wanted)) if got == wanted && seen == end => {}
        (Err(payload), None) if payload.is::<Planned>() => {}
        (Ok(got), _) => fail(&format!(
            "[{id}] a pipeline gave {got:?} after {seen} items"
        )),
        (Err(_), _) => fail("a panic that nobody has planned"),
    }
}
