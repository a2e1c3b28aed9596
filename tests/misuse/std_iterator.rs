//@ says: cannot be iterated over in parallel
//@ says: `.par_bridge()`
use tine::prelude::*;

fn count(items: impl IntoParallelIterator) -> usize {
    items.into_par_iter().count()
}

fn main() {
    let lines = "a\nb".lines();
    #[cfg(not(mended))]
    count(lines);
    #[cfg(mended)]
    count(lines.par_bridge());
}
