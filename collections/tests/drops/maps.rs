//! Maps, sets and vectors that are changed.

use crate::kit::{DROPS, KINDS, Ledger, Val, item, key, uses};
use std::collections::{HashMap, HashSet};
use tine_collections::map::LockedEntry;
use tine_collections::{Change, FrozenMap, ParHashMap, ParHashSet, ParVec, ReadMap, SortedVec};
use tine_iter::prelude::*;

fn pairs(from: u32, count: u32) -> Vec<(Val, Val)> {
    (from..from + count).map(|id| (key(id), item(id))).collect()
}

fn map(count: u32) -> ParHashMap<Val, Val> {
    pairs(0, count).into_iter().collect()
}

fn set(from: u32, count: u32) -> ParHashSet<Val> {
    (from..from + count).map(key).collect()
}

fn vec(count: u32) -> ParVec<Val> {
    let vec = ParVec::new();
    vec.extend((0..count).map(item));
    vec
}

fn one_entry(n: u32, ledger: &mut Ledger) {
    uses! { ledger,
        "insert": (map(n), key(3), item(0)) => |(m, k, v)| m.insert(k, v);
        "insert anew": (map(n), key(9999), item(0)) => |(m, k, v)| m.insert(k, v);
        "remove": (map(n), key(3)) => |(m, k)| m.remove(&k);
        "remove_entry": (map(n), key(3)) => |(m, k)| m.remove_entry(&k);
        "remove_if": (map(n), key(3)) => |(m, k)| m.remove_if(&k, |_, _| true);
        "get_cloned": (map(n), key(3)) => |(m, k)| m.get_cloned(&k);
        "read": (map(n), key(3), item(7)) => |(m, k, i)| m.read(&k, |v| (v.clone(), i.id));
        "update": (map(n), key(3), item(7)) => |(m, k, i)| m.update(&k, |v| std::mem::replace(v, i.clone()));
        "upsert": (map(n), key(3), item(7)) => |(m, k, i)| m.upsert(k, || item(1), move |v| *v = i.clone());
        "upsert anew": (map(n), key(9999), item(7)) => |(m, k, i)| m.upsert(k, || i.clone(), |_| ());
        "get_or_insert_with": (map(n), key(3), item(7)) => |(m, k, i)| m.get_or_insert_with(k, move || i);
        "get_or_insert_with anew": (map(n), key(9999), item(7)) => |(m, k, i)| m.get_or_insert_with(k, || i.clone());
        "compute keep": (map(n), key(3), item(7)) => |(m, k, i)| m.compute(k, move |_| { drop(i); Change::Keep });
        "compute put": (map(n), key(3), item(7)) => |(m, k, i)| m.compute(k, move |_| Change::Put(i));
        "compute put anew": (map(n), key(9999), item(7)) => |(m, k, i)| m.compute(k, move |_| Change::Put(i));
        "compute remove": (map(n), key(3), item(7)) => |(m, k, i)| m.compute(k, move |_| { drop(i); Change::Remove });
        "get": (map(n), key(3)) => |(m, k)| m.get(&k).map(|v| v.value().clone());
        "lock": (map(n), key(3), item(7)) => |(m, k, i)| m.lock(&k).map(|mut v| std::mem::replace(v.value_mut(), i));
        "or_insert": (map(n), key(3), item(7)) => |(m, k, i)| m.entry(k).or_insert(i).clone();
        "or_insert anew": (map(n), key(9999), item(7)) => |(m, k, i)| m.entry(k).or_insert(i).clone();
        "and_modify": (map(n), key(3), item(7), item(8)) => |(m, k, i, j)| {
            m.entry(k).and_modify(move |v| *v = i.clone()).or_insert(j).clone()
        };
        "and_modify anew": (map(n), key(9999), item(7), item(8)) => |(m, k, i, j)| {
            m.entry(k).and_modify(move |v| *v = i.clone()).or_insert_with(|| j.clone()).clone()
        };
        "or_insert_with_key": (map(n), key(9999), item(7)) => |(m, k, i)| {
            m.entry(k).or_insert_with_key(move |k| { drop(i); k.clone() }).clone()
        };
        "or_try_insert_with": (map(n), key(3), item(7)) => |(m, k, i)| {
            m.entry(k).or_try_insert_with(|| Err::<Val, Val>(i)).map(|v| v.clone())
        };
        "or_try_insert_with anew": (map(n), key(9999), item(7)) => |(m, k, i)| {
            m.entry(k).or_try_insert_with(|| Ok::<Val, Val>(i)).map(|v| v.clone())
        };
        "or_try_insert_with in vain": (map(n), key(9999), item(7)) => |(m, k, i)| {
            m.entry(k).or_try_insert_with(|| Err::<Val, Val>(i)).map(|v| v.clone())
        };
        "remove_if_mut": (map(n), key(3), item(7)) => |(m, k, i)| {
            m.remove_if_mut(&k, move |_, v| { *v = i; true })
        };
        "lock_entry, left": (map(n), key(3), key(9999)) => |(m, k, l)| {
            drop(m.lock_entry(k));
            drop(m.lock_entry(l));
        };
        "lock_entry, removed": (map(n), key(3)) => |(m, k)| match m.lock_entry(k) {
            LockedEntry::Occupied(entry) => Some(entry.remove_entry()),
            LockedEntry::Vacant(_) => None,
        };
        "lock_entry, its value": (map(n), key(3)) => |(m, k)| match m.lock_entry(k) {
            LockedEntry::Occupied(entry) => Ok(entry.remove()),
            LockedEntry::Vacant(entry) => Err(entry.into_key()),
        };
        "lock_entry, changed": (map(n), key(3), item(7)) => |(m, k, i)| match m.lock_entry(k) {
            LockedEntry::Occupied(mut entry) => {
                let old = entry.insert(i);
                drop(entry);
                Ok(old)
            }
            LockedEntry::Vacant(entry) => Err(entry.into_key()),
        };
        "lock_entry, its guard": (map(n), key(3), item(7)) => |(m, k, i)| match m.lock_entry(k) {
            LockedEntry::Occupied(entry) => Some(std::mem::replace(&mut *entry.into_mut(), i)),
            LockedEntry::Vacant(_) => None,
        };
        "lock_entry, filled": (map(n), key(9999), item(7)) => |(m, k, i)| match m.lock_entry(k) {
            LockedEntry::Occupied(entry) => entry.remove(),
            LockedEntry::Vacant(entry) => entry.insert(i).clone(),
        };
        "try_lock_entry, filled": (map(n), key(9999), item(7)) => |(m, k, i)| match m.try_lock_entry(k) {
            Ok(LockedEntry::Vacant(entry)) => Ok(entry.insert(i).clone()),
            Ok(LockedEntry::Occupied(_)) => Err(None),
            Err(key) => Err(Some(key)),
        };
        "try_lock_entry, in vain": (map(n), key(3)) => |(m, k)| {
            let _guard = m.get(&k);
            m.try_lock_entry(k).map(drop)
        };
        "find_map": (map(n), item(7)) => |(m, i)| {
            m.find_map(move |k, v| (k.id == 3 || v.id == 3).then(|| (i.clone(), v.clone())))
        };
        "get_mut": (map(n), key(3), item(7)) => |(mut m, k, i)| m.get_mut(&k).map(|v| std::mem::replace(v, i));
        "set insert": (set(0, n), key(3)) => |(s, k)| s.insert(k);
        "set get_cloned": (set(0, n), key(3)) => |(s, k)| s.get_cloned(&k);
        "set take": (set(0, n), key(3)) => |(s, k)| s.take(&k);
        "set remove": (set(0, n), key(3)) => |(s, k)| s.remove(&k);
        "set replace": (set(0, n), key(3)) => |(s, k)| s.replace(k);
    }
}

fn read_maps(n: u32, ledger: &mut Ledger) {
    let read = |n| ReadMap::<Val, Val>::from(map(n));
    uses! { ledger,
        "ReadMap insert": (read(n), key(3), item(0)) => |(m, k, v)| m.insert(k, v);
        "ReadMap insert anew": (read(n), key(9999), item(0)) => |(m, k, v)| m.insert(k, v);
        "ReadMap remove": (read(n), key(3)) => |(m, k)| m.remove(&k);
        "ReadMap get_cloned": (read(n), key(3)) => |(m, k)| m.get_cloned(&k);
        "ReadMap read": (read(n), key(3), item(7)) => |(m, k, i)| m.read(&k, |v| (v.clone(), i.id));
        "ReadMap publish": (read(n), pairs(3, n)) => |(m, more)| {
            m.publish(more.into_par_iter().map(|(k, v)| (k, (v.id % 2 == 0).then_some(v))))
        };
        "ReadMap freeze": read(n) => |m| m.freeze();
        "ReadMap drop": read(n) => |_m| ();
    }
}

fn whole_maps(n: u32, ledger: &mut Ledger) {
    let (max, half) = (n / 2, |v: &Val| v.id.is_multiple_of(2));
    uses! { ledger,
        "drop": map(n) => |_m| ();
        "clear": map(n) => |m| m.clear();
        "par_clear": map(n) => |mut m| m.par_clear();
        "retain": map(n) => |m| m.retain(|_, v| half(v));
        "par_retain": map(n) => |mut m| m.par_retain(|_, v| half(v));
        "iter": map(n) => |m| m.iter().collect::<Vec<_>>();
        "keys": map(n) => |m| m.keys().collect::<Vec<_>>();
        "values": map(n) => |m| m.values().find(|v| v.id == 5);
        "drain": map(n) => |mut m| m.drain().find(|(k, _)| k.id == 5);
        "par_drain": map(n) => |mut m| m.par_drain().find_any(|(k, _)| k.id == 5);
        "extract_if": map(n) => |mut m| m.extract_if(|_, v| half(v)).collect::<Vec<_>>();
        "into_iter": map(n) => |m| m.into_iter().collect::<Vec<_>>();
        "into_iter, some": map(n) => |m| m.into_iter().nth(3);
        "into_keys": map(n) => |m| m.into_keys().collect::<Vec<_>>();
        "into_keys, some": map(n) => |m| m.into_keys().next();
        "into_values": map(n) => |m| m.into_values().collect::<Vec<_>>();
        "into_values, some": map(n) => |m| m.into_values().next();
        "into_par_iter": map(n) => |m| m.into_par_iter().map(|(k, v)| { drop(v); k }).collect::<Vec<_>>();
        "into_par_iter, max": map(n) => |m| m.into_par_iter().max();
        "into_par_iter, some": map(n) => |m| m.into_par_iter().take_any(3).collect::<Vec<_>>();
        "into_par_iter, first": map(n) => |m| m.into_par_iter().find_first(|(k, _)| k.id == 5);
        "extend": (map(n), pairs(max, n)) => |(mut m, more)| m.extend(more);
        "par_extend": (map(n), pairs(max, n)) => |(mut m, more)| m.par_extend(more);
        "collect": pairs(0, n).into_iter().chain(pairs(max, n)).collect::<Vec<_>>() => |all| {
            all.into_par_iter().collect::<ParHashMap<_, _>>()
        };
        "collect, filtered": pairs(0, n).into_iter().chain(pairs(max, n)).collect::<Vec<_>>() => |all| {
            all.into_par_iter().filter(|_| true).collect::<ParHashMap<_, _>>()
        };
        "par_merge_with": (map(n), map(n + 5)) => |(mut m, more)| m.par_merge_with(more, |a, b| *a = b);
        "clone": map(n) => |m| m.clone();
        "eq": (map(n), map(n)) => |(a, b)| a == b;
        "shrink": map(n) => |m| m.shrink_to_fit();
        "into HashMap": map(n) => |m| HashMap::from(m).into_iter().for_each(drop);
        "from HashMap": pairs(0, n).into_iter().collect::<HashMap<_, _>>() => |m| ParHashMap::from(m);
        "freeze and thaw": map(n) => |m| m.freeze().thaw();
        "frozen into_keys": map(n).freeze() => |m| m.into_keys().collect::<Vec<_>>();
        "frozen into_values": map(n).freeze() => |m| m.into_values().collect::<Vec<_>>();
        "frozen into_values, some": map(n).freeze() => |m| m.into_values().next();
        "frozen into_iter": map(n).freeze() => |m| m.into_iter().collect::<Vec<_>>();
        "frozen into_par_iter": map(n).freeze() => |m| m.into_par_iter().map(|(k, v)| { drop(k); v }).collect::<Vec<_>>();
        "frozen collect": pairs(0, n) => |all| all.into_par_iter().collect::<FrozenMap<_, _>>();
    }
}

fn sets_and_vectors(n: u32, ledger: &mut Ledger) {
    let max = n / 2;
    uses! { ledger,
        "set drop": set(0, n) => |_s| ();
        "set collect": (0..n).chain(max..n).map(key).collect::<Vec<_>>() => |all| all.into_par_iter().collect::<ParHashSet<_>>();
        "set retain": set(0, n) => |s| s.retain(|k| k.id % 2 == 0);
        "set drain": set(0, n) => |mut s| s.drain().find(|k| k.id == 5);
        "set par_drain": set(0, n) => |mut s| s.par_drain().max();
        "set into_iter": set(0, n) => |s| s.into_iter().next();
        "set into_par_iter": set(0, n) => |s| s.into_par_iter().min();
        "set extract_if": set(0, n) => |mut s| s.extract_if(|k| k.id % 2 == 0).next();
        "set par_merge": (set(0, n), set(max, n)) => |(mut a, b)| a.par_merge(b);
        "set union": (set(0, n), set(max, n)) => |(a, b)| a.union(&b);
        "set intersection": (set(0, n), set(max, n)) => |(a, b)| a.intersection(&b);
        "set difference": (set(0, n), set(max, n)) => |(a, b)| a.difference(&b);
        "set symmetric_difference": (set(0, n), set(max, n)) => |(a, b)| a.symmetric_difference(&b);
        "set into HashSet": set(0, n) => |s| HashSet::from(s).into_iter().for_each(drop);
        "vec drop": vec(n) => |_v| ();
        "vec clear": vec(n) => |mut v| v.clear();
        "vec truncate": vec(n) => |mut v| v.truncate(3);
        "vec pop": vec(n) => |mut v| v.pop();
        "vec into_vec": vec(n) => |v| v.into_vec();
        "vec into_iter": vec(n) => |v| v.into_iter().nth(5);
        "vec into_iter back": vec(n) => |v| v.into_iter().nth_back(5);
        "vec into_par_iter": vec(n) => |v| v.into_par_iter().find_any(|v| v.id == 7);
        "vec into_par_iter, max": vec(n) => |v| v.into_par_iter().max();
        "vec clone": vec(n) => |v| v.clone();
        "vec extend": (vec(n), vec(n)) => |(a, b)| a.extend(b);
        "vec pusher": (vec(n), vec(n)) => |(a, b)| {
            let mut pusher = a.pusher();
            b.into_iter().for_each(|v| if v.id % 3 > 0 { pusher.push(v) });
        };
        "vec par_extend": (vec(n), vec(n)) => |(mut a, b)| a.par_extend(b);
        "vec collect": vec(n) => |v| v.into_par_iter().filter(|v| v.id % 3 > 0).collect::<ParVec<_>>();
        "sorted merge": (vec(n).into_vec(), vec(n + 3).into_vec()) => |(a, b)| SortedVec::from(a).merge(SortedVec::from(b));
        "sorted from_sorted": vec(n).into_vec() => |mut v| { v.reverse(); SortedVec::from_sorted(v) };
        "sorted collect": vec(n) => |v| v.into_par_iter().rev_ids().collect::<SortedVec<_>>();
    }
}

/// Items in another order.
trait RevIds: ParallelIterator<Item = Val> {
    fn rev_ids(self) -> impl ParallelIterator<Item = Val> {
        self.map(|v| {
            let other = Val::new(u32::MAX - v.id, "item");
            drop(v);
            other
        })
    }
}

impl<I: ParallelIterator<Item = Val>> RevIds for I {}

#[test]
fn of_one_table() {
    let mut ledger = Ledger::new(&KINDS);
    one_entry(12, &mut ledger);
    read_maps(12, &mut ledger);
    whole_maps(12, &mut ledger);
    sets_and_vectors(12, &mut ledger);
    ledger.end();
}

#[test]
fn of_many_tables() {
    let mut ledger = Ledger::new(DROPS);
    one_entry(1500, &mut ledger);
    read_maps(1500, &mut ledger);
    whole_maps(1500, &mut ledger);
    sets_and_vectors(1500, &mut ledger);
    ledger.end();
}
