//! chili: heartbeat scheduling, a scope handed from closure to closure.

use super::Peer;
use chili::{Config, Scope, ThreadPool};
use std::{marker::PhantomData, num::NonZero, ptr::NonNull};

/// chili. It has no spawns.
#[derive(Debug)]
pub enum Chili {}

/// An exclusive borrow of a scope that hides the scope's own lifetime, which
/// the trait has no name for. Only `join` below can reach the scope, so no
/// other code can store a borrow in it or take it out.
#[derive(Debug)]
pub struct ChiliCx<'a> {
    scope: NonNull<Scope<'static>>,
    borrow: PhantomData<&'a mut ()>,
}

impl<'a> ChiliCx<'a> {
    fn new(scope: &'a mut Scope<'_>) -> Self {
        ChiliCx {
            scope: NonNull::from(scope).cast(),
            borrow: PhantomData,
        }
    }
}

impl Peer for Chili {
    const NAME: &'static str = "chili";
    type Cx<'a> = ChiliCx<'a>;

    fn start(threads: usize) -> bool {
        let config = Config {
            thread_count: NonZero::new(threads),
            ..Config::default()
        };
        ThreadPool::with_config(config).set_global().is_ok()
    }

    fn enter<R: Send>(body: impl FnOnce(ChiliCx<'_>) -> R + Send) -> R {
        body(ChiliCx::new(&mut Scope::global()))
    }

    /// chili pushes its first closure and starts the second: hand them swapped.
    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        mut cx: ChiliCx<'_>,
        a: impl FnOnce(ChiliCx<'_>) -> RA + Send,
        b: impl FnOnce(ChiliCx<'_>) -> RB + Send,
    ) -> (RA, RB) {
        // SAFETY: made from an exclusive borrow that lasts as long as `cx`; the
        // lifetime inside the type is hidden, not used.
        let scope = unsafe { cx.scope.as_mut() };
        let (rb, ra) = scope.join(|s| b(ChiliCx::new(s)), |s| a(ChiliCx::new(s)));
        (ra, rb)
    }

    fn lend<'s>(cx: &'s mut ChiliCx<'_>) -> ChiliCx<'s> {
        ChiliCx {
            scope: cx.scope,
            borrow: PhantomData,
        }
    }
}
