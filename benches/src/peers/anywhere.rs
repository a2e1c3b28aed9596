//! This project's pool without the measures that keep a woken thread off its waker's processor: so
//! the table shows what these gain.

use super::{Peer, Tine};

/// tine with `TINE_WAKE_ELSEWHERE=0`. The switch is read once, so this peer takes part only in rows
/// whose samples have separate processes.
#[derive(Debug)]
pub enum Anywhere {}

impl Peer for Anywhere {
    const NAME: &'static str = "tine, woken anywhere";
    type Cx<'a> = <Tine as Peer>::Cx<'a>;

    fn start(threads: usize) -> bool {
        // SAFETY: the process still has only one thread: its pool is started below.
        unsafe { std::env::set_var("TINE_WAKE_ELSEWHERE", "0") };
        Tine::start(threads)
    }

    fn enter<R: Send>(body: impl FnOnce(Self::Cx<'_>) -> R + Send) -> R {
        Tine::enter(body)
    }

    fn join<RA: Send, RB: Send>(
        cx: Self::Cx<'_>,
        a: impl FnOnce(Self::Cx<'_>) -> RA + Send,
        b: impl FnOnce(Self::Cx<'_>) -> RB + Send,
    ) -> (RA, RB) {
        Tine::join(cx, a, b)
    }

    fn call<RA: Send, RB: Send>(
        a: impl FnOnce(Self::Cx<'_>) -> RA + Send,
        b: impl FnOnce(Self::Cx<'_>) -> RB + Send,
    ) -> (RA, RB) {
        Tine::call(a, b)
    }

    fn lend<'s>(cx: &'s mut Self::Cx<'_>) -> Self::Cx<'s> {
        Tine::lend(cx)
    }
}
