//@ says: items cannot be joined on `&ParHashMap<u32, u32>`
//@ says: join_on(&mut map, …)
//@ says: let frozen = map.freeze();
use tine::ParHashMap;
use tine::prelude::*;

#[cfg(not(mended))]
fn mistake(map: ParHashMap<u32, u32>) -> Vec<u32> {
    (0..9).into_par_iter().join_on(&map, |&n| n).anti()
}

#[cfg(mended)]
fn mistake(mut map: ParHashMap<u32, u32>) -> Vec<u32> {
    let before = (0..9).into_par_iter().join_on(&mut map, |&n| n).anti();
    map.insert(1, 1);
    let frozen = map.freeze();
    let after = (0..9).into_par_iter().join_on(&frozen, |&n| n).anti();
    [before, after].concat()
}

fn main() {
    mistake(ParHashMap::new());
}
