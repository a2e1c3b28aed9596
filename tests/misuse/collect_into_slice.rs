//@ says: cannot be collected from parallel items of type `u32`
//@ says: maps are collected from pairs `(key, value)`
use std::collections::HashMap;
use tine::prelude::*;

fn main() {
    let numbers = (0..10_u32).into_par_iter();
    #[cfg(not(mended))]
    let _: HashMap<u32, u32> = numbers.collect();
    #[cfg(mended)]
    let _: HashMap<u32, u32> = numbers.map(|n| (n, n)).collect();
}
