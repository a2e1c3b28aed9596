//@ says: `f64` has no total order: it is not `Ord`
//@ says: `tine::sort::Total(x)`, which sorts by radix too
//@ says: ends in `_by`, with a comparison such as `f64::total_cmp`
use tine::prelude::*;

fn main() {
    let mut v = vec![2.5, 1.0_f64];
    #[cfg(not(mended))]
    v.par_sort();
    #[cfg(mended)]
    v.par_sort_by_key(|&x| tine::sort::Total(x));
    assert_eq!(v.len(), 2);
    v.clear();
}
