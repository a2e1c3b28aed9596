//! The sort that computes each key once and keeps it.

use crate::convert::IntoParallelRefMutIterator;
use crate::iter::{IndexedParallelIterator, ParallelExtend, ParallelIterator};
use tine_pool::current_num_threads;
use tine_pool::loops::{self, Timer, is_under, quietly, requested};

use super::dispatch::{self, ONCE};
use super::{fork, permute, unstable};

/// For shorter slices it is not worth finding out the type of the keys.
const CUTOFF: usize = if cfg!(miri) { 64 } else { 2048 };

/// Sorts stably by keys that are each computed once, in parallel if they are expensive.
pub(super) fn sort_by_key<T, K, F>(v: &mut [T], key: &F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    if size_of::<T>() == 0 {
        return v.par_iter_mut().for_each(|value| drop(key(value)));
    }
    let order = |a: &T, b: &T| key(a).cmp(&key(b));
    if v.len() >= CUTOFF && dispatch::by_key_type::<ONCE, _, _, _, _>(v, key, &order) {
        return;
    }
    let mut keys = keys_of(v, key);
    quietly(|| {
        // The number makes equal keys differ, so the sort is stable.
        unstable::sort_by(&mut keys, &|a: &(K, usize), b: &(K, usize)| a.cmp(b));
        if requested() {
            return;
        }
        let mut order: Vec<usize> = keys.into_iter().map(|(_, index)| index).collect();
        let grain = match v.len() {
            len @ ..CUTOFF => len,
            len => fork::grain(len, current_num_threads()),
        };
        // SAFETY: every index is there once; sorting, whatever a comparison says,
        // only moves them.
        unsafe { permute::by_order(v, &mut order, grain) };
    });
}

/// The keys of all elements, each with the number of its element.
fn keys_of<T, K, F>(v: &mut [T], key: &F) -> Vec<(K, usize)>
where
    T: Send,
    K: Send,
    F: Fn(&T) -> K + Sync,
{
    let len = v.len();
    let mut keys = Vec::with_capacity(len);
    let site = keys_of::<T, K, F> as *const () as usize;
    // There are so few cheap keys, as far as is known, that starting the loop would take as long as they do.
    let mut begun = 0;
    if len <= loops::few(site) && !is_under() {
        begun = begin(v, key, &mut keys);
        if begun == len {
            return keys;
        }
    }
    let rest = v[begun..].par_iter_mut().enumerate();
    let compute = || keys.par_extend(rest.map(|(at, value)| (key(value), begun + at)));
    match Timer::start(site, 1) {
        Some(timer) => {
            timer.time(len - begun, compute);
            timer.end();
        }
        None => compute(),
    }
    keys
}

/// Computes keys on this thread until they take longer than expected. Returns their number.
fn begin<T, K>(v: &[T], key: &impl Fn(&T) -> K, keys: &mut Vec<(K, usize)>) -> usize {
    let start = loops::now();
    let mut to = 1;
    loop {
        let from = keys.len();
        to = to.min(v.len());
        let some = v[from..to].iter().enumerate();
        keys.extend(some.map(|(at, value)| (key(value), from + at)));
        if to == v.len() || loops::is_long(loops::now().wrapping_sub(start)) {
            return to;
        }
        to *= 8;
    }
}
