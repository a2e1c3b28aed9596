//@ says: `&ParHashMap<u32, u32>` cannot be iterated over in parallel
//@ says: `freeze()` it, or borrow it as `&mut`
use tine::ParHashMap;
use tine::prelude::*;

fn count(items: impl IntoParallelIterator) -> usize {
    items.into_par_iter().count()
}

fn main() {
    let map: ParHashMap<u32, u32> = ParHashMap::new();
    #[cfg(not(mended))]
    count(&map);
    #[cfg(mended)]
    count(map);
}
