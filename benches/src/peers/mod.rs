//! What a workload needs of a scheduler: one trait, one file per implementor.
//!
//! Each peer uses its process-wide pool, the way its users do, so a process
//! knows one pool size per peer. The caller's thread counts where a peer lets
//! it take part (`chili`, `forte`): `threads` is always how many may compute.

mod anywhere;
mod chili;
mod forte;
mod rayon_like;
mod sequential;

pub use anywhere::Anywhere;
pub use chili::Chili;
pub use forte::Forte;
pub use rayon_like::{Rayon, Tine};
pub use sequential::Sequential;

/// A scheduler under test.
pub trait Peer: 'static {
    /// The name of its column.
    const NAME: &'static str;

    /// What a closure is handed to fork again: nothing, or the peer's scope.
    type Cx<'a>;

    /// Starts the process-wide pool; `false` if the peer has no such size.
    fn start(threads: usize) -> bool;

    /// Runs `body` inside the pool, called from an ordinary thread.
    fn enter<R: Send>(body: impl FnOnce(Self::Cx<'_>) -> R + Send) -> R;

    /// Runs both, perhaps in parallel; `a` is the one that starts here.
    fn join<RA: Send, RB: Send>(
        cx: Self::Cx<'_>,
        a: impl FnOnce(Self::Cx<'_>) -> RA + Send,
        b: impl FnOnce(Self::Cx<'_>) -> RB + Send,
    ) -> (RA, RB);

    /// The peer's own way to join from an ordinary thread.
    fn call<RA: Send, RB: Send>(
        a: impl FnOnce(Self::Cx<'_>) -> RA + Send,
        b: impl FnOnce(Self::Cx<'_>) -> RB + Send,
    ) -> (RA, RB) {
        Self::enter(|cx| Self::join(cx, a, b))
    }

    /// Lends the context, for more than one join in a row.
    fn lend<'s>(cx: &'s mut Self::Cx<'_>) -> Self::Cx<'s>;
}

/// A scheduler with scopes that open scopes.
pub trait Scopes: Peer {
    /// Opens a scope, spawns `a` there and calls `b`.
    fn halves(a: impl FnOnce() + Send, b: impl FnOnce() + Send);
}

/// A peer that has scopes too.
pub trait Spawns: Peer {
    /// One scope, opened in the pool, that spawns `task` N times.
    fn spawn_each(count: usize, task: impl Fn() + Send + Sync);
}
