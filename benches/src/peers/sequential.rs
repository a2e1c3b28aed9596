//! The sequential loop, which every peer is measured against.
#![forbid(unsafe_code)]

use super::Peer;

/// Plain calls on the calling thread.
#[derive(Debug)]
pub enum Sequential {}

impl Peer for Sequential {
    const NAME: &'static str = "sequential";
    type Cx<'a> = ();

    fn start(_threads: usize) -> bool {
        true
    }

    fn enter<R: Send>(body: impl FnOnce(()) -> R + Send) -> R {
        body(())
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        (): (),
        a: impl FnOnce(()) -> RA + Send,
        b: impl FnOnce(()) -> RB + Send,
    ) -> (RA, RB) {
        (a(()), b(()))
    }

    fn lend<'s>((): &'s mut ()) -> Self::Cx<'s> {}
}
