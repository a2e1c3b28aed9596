//@ says: behind `&` cannot be walked in parallel
//@ says: let frozen = map.freeze();
use tine::prelude::*;
use tine::{ParHashMap, ParHashSet};

#[cfg(not(mended))]
fn mistake(map: &ParHashMap<u32, u32>, set: &ParHashSet<u32>) -> usize {
    map.into_par_iter();
    set.into_par_iter();
    0
}

#[cfg(mended)]
fn mistake(map: &ParHashMap<u32, u32>, set: &ParHashSet<u32>) -> usize {
    let mut mine = map.clone();
    let exclusive = (&mut mine).into_par_iter().count() + mine.par_iter().count();
    let owned = mine.clone().into_par_iter().count() + set.clone().into_par_iter().count();
    exclusive + owned + mine.freeze().into_par_iter().count()
}

fn main() {
    mistake(&ParHashMap::new(), &ParHashSet::new());
}
