//@ says: `f64` has no total order: it is not `Ord`
//@ says: ends in `_by`
use tine::prelude::*;

fn main() {
    let v = vec![2.5_f64, 1.0];
    #[cfg(not(mended))]
    v.into_par_iter().max();
    #[cfg(mended)]
    v.into_par_iter().max_by(f64::total_cmp);
}
