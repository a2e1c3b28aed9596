//@ says: does not know the position of its items
//@ says: number the items before them, or `collect` into a `Vec` first
use tine::prelude::*;

fn main() {
    let evens = (0..10_u32).into_par_iter().filter(|n| n % 2 == 0);
    #[cfg(not(mended))]
    numbered(evens);
    #[cfg(mended)]
    numbered(evens.collect::<Vec<_>>().into_par_iter());
}

fn numbered(items: impl IndexedParallelIterator) -> usize {
    items.enumerate().count()
}
