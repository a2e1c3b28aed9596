//! This project's pool without what keeps a woken thread off its waker's
//! processor: so that the table says what that gives.

use super::{Peer, Tine};

/// tine with `TINE_WAKE_ELSEWHERE=0`. The switch is read once, so it takes part
/// in rows alone whose samples have processes of their own.
#[derive(Debug)]
pub enum Anywhere {}

impl Peer for Anywhere {
    const NAME: &'static str = "tine, woken anywhere";
    type Cx<'a> = <Tine as Peer>::Cx<'a>;

    fn start(threads: usize) -> bool {
        // SAFETY: the process has one thread yet: its pool is started below.
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
