//@ says: `f32` has no total order: it is not `Ord`
//@ says: `tine::sort::Total(x)`
use tine::prelude::*;

fn main() {
    let mut v = vec![("b", 2.5_f32), ("a", 1.0)];
    #[cfg(not(mended))]
    v.par_sort_unstable_by_key(|pair| pair.1);
    #[cfg(mended)]
    v.par_sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    v.clear();
}
