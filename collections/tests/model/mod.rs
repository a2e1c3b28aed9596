//! The operations of a map, and what std's map does for each.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

use tine_collections::map::LockedEntry;
use tine_collections::{Change, ParHashMap};
use tine_iter::prelude::*;

/// One step; keys and values are arguments.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Insert(u16, u32),
    Remove(u16),
    RemoveIf(u16, bool),
    Get(u16),
    Update(u16, u32),
    Upsert(u16, u32),
    Entry(u16, u32),
    Modify(u16, u32),
    GetOr(u16, u32),
    Compute(u16, u8, u32),
    Lock(u16, u32),
    LockEntry(u16, u8, u32),
    TryEntry(u16, u32),
    GetMut(u16, u32),
    Retain(u32),
    ParRetain(u32),
    Extend(Vec<(u16, u32)>),
    ParExtend(Vec<(u16, u32)>),
    ParExtendMany(u16),
    Merge(Vec<(u16, u32)>),
    Values(u32),
    ParValues(u32),
    Drain,
    ParDrain,
    Clear,
    ParClear,
    Shrink,
    Reserve(u16),
    Clone,
    Freeze,
    ToStd,
}

/// A hasher with few different results: it causes every kind of collision.
#[derive(Default, Clone)]
pub(crate) struct Coarse(u64);

impl Hasher for Coarse {
    fn finish(&self) -> u64 {
        self.0 % 3
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |sum, &byte| sum.wrapping_add(u64::from(byte)));
    }
}

type Model = HashMap<u16, u32>;

fn step<S>(map: &mut ParHashMap<u16, u32, S>, model: &mut Model, op: Op)
where
    S: BuildHasher + Default + Clone + Sync + Send,
{
    match op {
        Op::Insert(k, v) => assert_eq!(map.insert(k, v), model.insert(k, v)),
        Op::Remove(k) => assert_eq!(map.remove(&k), model.remove(&k)),
        Op::RemoveIf(k, yes) => {
            let expected = if yes { model.remove_entry(&k) } else { None };
            assert_eq!(map.remove_if(&k, |_, _| yes), expected);
            let bump = |v: &mut u32| {
                *v = v.wrapping_add(1);
                v.is_multiple_of(7)
            };
            let bumped = model.get_mut(&k).is_some_and(bump);
            let expected = bumped.then(|| model.remove_entry(&k)).flatten();
            assert_eq!(map.remove_if_mut(&k, |_, v| bump(v)), expected);
        }
        Op::Get(k) => {
            assert_eq!(map.get_cloned(&k), model.get(&k).copied());
            assert_eq!(map.get(&k).map(|found| *found), model.get(&k).copied());
            assert_eq!(map.contains_key(&k), model.contains_key(&k));
            let found = map.find_map(|&key, &v| (key == k).then_some(v));
            assert_eq!(found, model.get(&k).copied());
        }
        Op::Update(k, v) => {
            let change = |old: &mut u32| std::mem::replace(old, v);
            assert_eq!(map.update(&k, change), model.get_mut(&k).map(change));
        }
        Op::Upsert(k, v) => {
            let fresh = map.upsert(k, || v, |old| *old ^= v);
            assert_eq!(fresh, !model.contains_key(&k));
            model.entry(k).and_modify(|old| *old ^= v).or_insert(v);
        }
        Op::Entry(k, v) => {
            let found = *map.entry(k).or_insert(v);
            assert_eq!(found, *model.entry(k).or_insert(v));
        }
        Op::Modify(k, v) => {
            let change = |old: &mut u32| *old = old.wrapping_mul(v);
            let found = *map.entry(k).and_modify(change).or_insert_with(|| v);
            assert_eq!(found, *model.entry(k).and_modify(change).or_insert(v));
        }
        Op::GetOr(k, v) => {
            assert_eq!(
                map.get_or_insert_with(k, || v),
                *model.entry(k).or_insert(v)
            );
        }
        Op::Compute(k, what, v) => {
            let decide = |found: Option<&mut u32>| match what {
                0 => {
                    found.into_iter().for_each(|old| *old ^= 1);
                    Change::Keep
                }
                1 => Change::Put(v),
                _ => Change::Remove,
            };
            let displaced = map.compute(k, decide);
            let expected = match what {
                0 => {
                    model.entry(k).and_modify(|old| *old ^= 1);
                    None
                }
                1 => model.insert(k, v),
                _ => model.remove(&k),
            };
            assert_eq!(displaced, expected);
        }
        Op::Lock(k, v) => {
            let found = map.lock(&k).map(|mut guard| *guard = v);
            assert_eq!(found, model.get_mut(&k).map(|old| *old = v));
        }
        Op::LockEntry(k, what, v) => {
            use std::collections::hash_map::Entry;
            match (map.lock_entry(k), model.entry(k), what) {
                (LockedEntry::Occupied(ours), Entry::Occupied(theirs), 0) => {
                    assert_eq!(ours.remove_entry(), theirs.remove_entry());
                }
                (LockedEntry::Occupied(ours), Entry::Occupied(theirs), 1) => {
                    assert_eq!(ours.remove(), theirs.remove());
                }
                (LockedEntry::Occupied(mut ours), Entry::Occupied(mut theirs), 2) => {
                    assert_eq!(ours.insert(v), theirs.insert(v));
                    assert_eq!((ours.key(), ours.get()), (theirs.key(), theirs.get()));
                }
                (LockedEntry::Occupied(mut ours), Entry::Occupied(theirs), 3) => {
                    *ours.get_mut() ^= v;
                    let (mut ours, theirs) = (ours.into_mut(), theirs.into_mut());
                    *theirs ^= v;
                    assert_eq!(*ours, *theirs);
                    (*ours, *theirs) = (v, v);
                }
                (LockedEntry::Vacant(ours), Entry::Vacant(theirs), 0) => {
                    assert_eq!(ours.into_key(), theirs.into_key());
                }
                (LockedEntry::Vacant(ours), Entry::Vacant(theirs), 1..) => {
                    let (mut ours, theirs) = (ours.insert(v), theirs.insert(v));
                    assert_eq!((*ours.key(), *ours), (k, *theirs));
                    (*ours, *theirs) = (v ^ 1, v ^ 1);
                }
                (ours, theirs, _) => assert_eq!(ours.key(), theirs.key()),
            }
        }
        Op::TryEntry(k, v) => {
            let make = || if v.is_multiple_of(2) { Ok(v) } else { Err(v) };
            let found = map.entry(k).or_try_insert_with(make);
            let found = found.map(|guard| *guard);
            let expected = match model.get(&k) {
                Some(&old) => Ok(old),
                None => make().inspect(|&v| _ = model.insert(k, v)),
            };
            assert_eq!(found, expected);
        }
        Op::GetMut(k, v) => {
            let found = map.get_mut(&k).map(|old| *old = v);
            assert_eq!(found, model.get_mut(&k).map(|old| *old = v));
        }
        Op::Retain(n) => {
            map.retain(|_, v| *v % 5 != n);
            model.retain(|_, v| *v % 5 != n);
        }
        Op::ParRetain(n) => {
            map.par_retain(|_, v| *v % 5 != n);
            model.retain(|_, v| *v % 5 != n);
        }
        Op::Extend(pairs) => {
            map.extend(pairs.iter().copied());
            model.extend(pairs);
        }
        Op::ParExtend(pairs) => {
            map.par_extend(pairs.par_iter().copied());
            model.extend(pairs);
        }
        Op::ParExtendMany(n) => {
            let pair = |i: u32| (((i / 2) % 4000) as u16, i);
            map.par_extend((0..u32::from(n)).into_par_iter().map(pair));
            model.extend((0..u32::from(n)).map(pair));
        }
        Op::Merge(pairs) => {
            let other: ParHashMap<u16, u32> = pairs.iter().copied().collect();
            map.par_merge_with(other, |mine, theirs| *mine = mine.wrapping_sub(theirs));
            for (k, v) in pairs.into_iter().collect::<Model>() {
                model
                    .entry(k)
                    .and_modify(|mine| *mine = mine.wrapping_sub(v))
                    .or_insert(v);
            }
        }
        Op::Values(n) => {
            map.iter_mut().for_each(|(_, v)| *v ^= n);
            model.values_mut().for_each(|v| *v ^= n);
        }
        Op::ParValues(n) => {
            map.par_values_mut().for_each(|v| *v ^= n);
            model.values_mut().for_each(|v| *v ^= n);
            assert_eq!(map.par_iter().count(), model.len());
            let sum = map.par_values().map(|&v| u64::from(v)).sum::<u64>();
            assert_eq!(sum, model.values().map(|&v| u64::from(v)).sum::<u64>());
        }
        Op::Drain => {
            let drained = map.drain();
            assert_eq!(drained.len(), model.len());
            assert_eq!(drained.take(3).count(), model.drain().take(3).count());
        }
        Op::ParDrain => {
            let drained: Model = map.par_drain().collect::<Vec<_>>().into_iter().collect();
            assert_eq!(drained, std::mem::take(model));
        }
        Op::Clear => {
            map.clear();
            model.clear();
        }
        Op::ParClear => {
            map.par_clear();
            model.clear();
        }
        Op::Shrink => map.shrink_to_fit(),
        Op::Reserve(n) => {
            map.reserve(usize::from(n));
            assert!(map.capacity() >= model.len() + usize::from(n));
        }
        Op::Clone => {
            let clone = map.clone();
            assert_eq!(clone, *map);
            *map = clone;
        }
        Op::Freeze => {
            let frozen = std::mem::take(map).freeze();
            assert_eq!(frozen.len(), model.len());
            assert!(model.iter().all(|(k, v)| frozen.get(k) == Some(v)));
            assert_eq!(frozen.par_iter().count(), frozen.iter().count());
            *map = frozen.thaw();
        }
        Op::ToStd => {
            let std: HashMap<u16, u32, S> = std::mem::take(map).into();
            assert_eq!(std.len(), model.len());
            *map = std.into();
        }
    }
    assert_eq!(map.len(), model.len());
}

/// Runs the operations on a map and on std's, beginning with no entries or with some thousand.
pub(crate) fn agree<S>(ops: Vec<Op>, wide: bool)
where
    S: BuildHasher + Default + Clone + Sync + Send,
{
    let mut map = ParHashMap::<u16, u32, S>::default();
    let mut model = Model::new();
    if wide {
        let pairs = || (0..3000_u16).map(|k| (k, u32::from(k)));
        map.extend(pairs().take(200));
        map.par_extend(pairs().collect::<Vec<_>>());
        model.extend(pairs());
    }
    for op in ops {
        step(&mut map, &mut model, op);
    }
    assert_eq!(map, model);
    assert_eq!(map.iter().collect::<Model>(), model);
    assert_eq!(
        map.keys().collect::<HashSet<_>>(),
        model.keys().copied().collect()
    );
    assert_eq!(map.into_iter().collect::<Model>(), model);
}
