//! Maps against std's: the same operations that the tests of the collections invent, in the order
//! that the fuzzer chooses.

use crate::bytes::Bytes;
use crate::pools;
use model::{Coarse, Op, agree};
use std::hash::BuildHasherDefault;
use tine_collections::DefaultHashBuilder;

#[path = "../../collections/tests/model/mod.rs"]
mod model;

/// Runs the operations that `bytes` say.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let how = bytes.u8();
    let mut ops = Vec::new();
    while bytes.are_left() && ops.len() < 200 {
        ops.push(operation(&mut bytes));
    }
    let pool = &pools()[usize::from(how / 4 % 3)];
    pool.install(|| match how % 4 {
        0 => agree::<BuildHasherDefault<Coarse>>(ops, false),
        1 => agree::<DefaultHashBuilder>(ops, true),
        _ => agree::<DefaultHashBuilder>(ops, false),
    });
}

fn operation(bytes: &mut Bytes<'_>) -> Op {
    let what = bytes.u8();
    // Few keys, so that equal ones occur.
    let mut key = || u16::from(bytes.u8() % 40);
    match what % 32 {
        0..=2 => Op::Insert(key(), bytes.u32()),
        3 => Op::Remove(key()),
        4 => Op::RemoveIf(key(), bytes.u8().is_multiple_of(2)),
        5 => Op::Get(key()),
        6 => Op::Update(key(), bytes.u32()),
        7 => Op::Upsert(key(), bytes.u32()),
        8 => Op::Entry(key(), bytes.u32()),
        9 => Op::Modify(key(), bytes.u32()),
        10 => Op::GetOr(key(), bytes.u32()),
        11 => Op::Compute(key(), bytes.u8() % 3, bytes.u32()),
        12 => Op::Lock(key(), bytes.u32()),
        13 => Op::GetMut(key(), bytes.u32()),
        14 => Op::Retain(bytes.u32() % 5),
        15 => Op::ParRetain(bytes.u32() % 5),
        16 => Op::Extend(pairs(bytes)),
        17 => Op::ParExtend(pairs(bytes)),
        18 => Op::ParExtendMany(bytes.u16() % 5000),
        19 => Op::Merge(pairs(bytes)),
        20 => Op::Values(bytes.u32()),
        21 => Op::ParValues(bytes.u32()),
        22 => Op::Drain,
        23 => Op::ParDrain,
        24 => Op::Clear,
        25 => Op::ParClear,
        26 => Op::Shrink,
        27 => Op::Reserve(bytes.u16() % 6000),
        28 => Op::Clone,
        29 => Op::Freeze,
        30 => Op::ToStd,
        _ => {
            let key = key();
            match bytes.u8() % 6 {
                5 => Op::TryEntry(key, bytes.u32()),
                what => Op::LockEntry(key, what, bytes.u32()),
            }
        }
    }
}

fn pairs(bytes: &mut Bytes<'_>) -> Vec<(u16, u32)> {
    let count = bytes.u8() % 32;
    (0..count).map(|_| (bytes.u16(), bytes.u32())).collect()
}

#[cfg(test)]
#[test]
fn seeds() {
    crate::run_seeds("maps", run);
}
