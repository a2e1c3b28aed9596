//! The peers with free functions of rayon's shape: tine, and rayon itself.
#![forbid(unsafe_code)]

use super::{Peer, Scopes, Spawns};

macro_rules! rayon_like {
    ($(#[$doc:meta])* $peer:ident, $name:literal, $krate:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $peer {}

        impl Peer for $peer {
            const NAME: &'static str = $name;
            type Cx<'a> = ();

            fn start(threads: usize) -> bool {
                // An error says that the pool is there already; its size decides.
                let _ = $krate::ThreadPoolBuilder::new().num_threads(threads).build_global();
                $krate::current_num_threads() == threads
            }

            fn enter<R: Send>(body: impl FnOnce(()) -> R + Send) -> R {
                $krate::scope(|_| body(()))
            }

            #[inline(always)]
            fn join<RA: Send, RB: Send>(
                (): (),
                a: impl FnOnce(()) -> RA + Send,
                b: impl FnOnce(()) -> RB + Send,
            ) -> (RA, RB) {
                $krate::join(|| a(()), || b(()))
            }

            fn call<RA: Send, RB: Send>(
                a: impl FnOnce(()) -> RA + Send,
                b: impl FnOnce(()) -> RB + Send,
            ) -> (RA, RB) {
                $krate::join(|| a(()), || b(()))
            }

            fn lend<'s>((): &'s mut ()) -> Self::Cx<'s> {}
        }

        impl Spawns for $peer {
            fn spawn_each(count: usize, task: impl Fn() + Send + Sync) {
                let task = &task;
                $krate::scope(|scope| (0..count).for_each(|_| scope.spawn(move |_| task())));
            }
        }

        impl Scopes for $peer {
            fn halves(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
                $krate::scope(|scope| {
                    scope.spawn(|_| a());
                    b();
                });
            }
        }
    };
}

rayon_like! {
    /// This project's pool.
    Tine, "tine", tine_pool
}
rayon_like! {
    /// rayon.
    Rayon, "rayon", rayon
}
