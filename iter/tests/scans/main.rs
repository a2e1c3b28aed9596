//! Scans against their twins, loops: every source and adapter, every split, any number of threads;
//! what panics leave; floats; slices in place; and what the compiler says to `.scan(…)`.

#[path = "../sources/kit.rs"]
#[allow(dead_code, unused_macros, unused_imports)]
mod kit;

mod drops;
mod floats;
mod hint;
mod limits;
mod slices;
mod splits;
mod values;

use std::sync::OnceLock;
use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// Pools of one, two, three and eight threads.
pub(crate) fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        let build = |n| ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        [1, 2, 3, 8].map(build).into_iter().collect()
    })
}

/// The result of `op` in each of them, several times: a site is shared or not, depending on what is known about
/// it. (It takes a reference, so that the way into a pool is compiled once for each result.)
pub(crate) fn in_pools<R: Send>(op: &(dyn Fn() -> R + Sync)) -> Vec<R> {
    let times = if cfg!(miri) { 1 } else { 2 };
    let mut made = Vec::new();
    for pool in pools() {
        for _ in 0..times {
            made.push(pool.install(op));
        }
    }
    made
}

/// An operation that is associative, not commutative, and tells every mistake: functions
/// `x -> a x + b`, one after the other.
pub(crate) type Affine = (u64, u64);

pub(crate) const SAME: fn() -> Affine = || (1, 0);

pub(crate) fn then(f: Affine, g: Affine) -> Affine {
    (
        f.0.wrapping_mul(g.0),
        f.1.wrapping_mul(g.0).wrapping_add(g.1),
    )
}

pub(crate) fn affine(n: u64) -> Affine {
    let n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n | 1, n >> 7)
}

/// The running values by a loop, and the total.
pub(crate) fn looped<T: Clone>(
    items: impl IntoIterator<Item = T>,
    exclusive: bool,
    identity: T,
    op: impl Fn(T, T) -> T,
) -> (Vec<T>, T) {
    let mut values = Vec::new();
    let mut acc = identity;
    for item in items {
        let before = acc.clone();
        acc = op(acc, item);
        values.push(if exclusive { before } else { acc.clone() });
    }
    (values, acc)
}
