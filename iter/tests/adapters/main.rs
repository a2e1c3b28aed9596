//! Every adapter and reducing sink against its std twin; how often state is made; what a panic leaves, and what
//! a lie leaves; and lengths at the limit.
#[path = "../sources/kit.rs"]
#[allow(dead_code)]
mod kit;

mod extremes;
mod foreign;
mod fuses;
mod indexed;
mod inner;
mod liars;
mod panics;
mod pieces;
mod sinks;
mod touchy;
mod unindexed;

/// Runs `op` in pools of several sizes, some with fewer threads than the
/// machine, some with more.
fn in_pools<R: Send>(op: impl Fn() -> R + Sync) -> Vec<R> {
    kit::pools().iter().map(|pool| pool.install(&op)).collect()
}

/// Whether an indexed iterator equals a sequential one: split at all triples of
/// places, driven into a consumer from outside, and collected.
macro_rules! same_indexed {
    ($(let $input:pat = $make:expr;)* $par:expr, $seq:expr) => {{
        crate::kit::indexed_twin!($(let $input = $make;)* $par, $seq);
        crate::same_collected!($(let $input = $make;)* $par, $seq);
    }};
}
pub(crate) use same_indexed;

/// Whether an iterator equals a sequential one: driven into a consumer from
/// outside, and collected.
macro_rules! same {
    ($(let $input:pat = $make:expr;)* $par:expr, $seq:expr) => {{
        crate::kit::twin!($(let $input = $make;)* $par, $seq);
        crate::same_collected!($(let $input = $make;)* $par, $seq);
    }};
}
pub(crate) use same;

/// Whether an iterator, collected with all sinks that keep the order, equals a
/// sequential one.
macro_rules! same_collected {
    ($(let $input:pat = $make:expr;)* $par:expr, $seq:expr) => {{
        let want = {
            $(let $input = $make;)*
            crate::kit::shown($seq)
        };
        let collected = crate::in_pools(|| {
            $(let $input = $make;)*
            $par.map(|item| format!("{item:?}")).collect::<Vec<_>>()
        });
        collected.into_iter().for_each(|items| assert_eq!(items, want));
        let folded = crate::in_pools(|| {
            $(let $input = $make;)*
            $par.fold(String::new, |all, item| format!("{all} {item:?}"))
                .reduce(String::new, |a, b| a + &b)
        });
        let want = want.iter().fold(String::new(), |all, item| format!("{all} {item}"));
        folded.into_iter().for_each(|items| assert_eq!(items, want));
    }};
}
pub(crate) use same_collected;
