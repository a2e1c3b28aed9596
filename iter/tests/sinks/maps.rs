//! Collecting into std's `BTreeMap`, `HashMap` and their sets.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use quickcheck::{Arbitrary, Gen, quickcheck};
use tine_iter::prelude::*;

use crate::kit::{hidden, in_pools};

type Fixed = BuildHasherDefault<DefaultHasher>;

/// A key that equals other keys although it differs from them.
#[derive(Clone, Copy, Debug)]
struct Key {
    key: u8,
    mark: u16,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Arbitrary for Key {
    fn arbitrary(g: &mut Gen) -> Self {
        Key {
            key: u8::arbitrary(g),
            mark: u16::arbitrary(g),
        }
    }
}

/// Everything there is to know about a map of marked keys, in order.
fn marks<'a, V: Copy + 'a>(map: impl IntoIterator<Item = (&'a Key, &'a V)>) -> Vec<(u8, u16, V)> {
    let mut all: Vec<_> = map.into_iter().map(|(k, v)| (k.key, k.mark, *v)).collect();
    all.sort_by_key(|entry| entry.0);
    all
}

/// The key that stays among equal keys, and its value, are those that repeated calls of `insert` would leave.
macro_rules! as_by_insert {
    ($($map:ident: $Map:ty, $set:ident: $Set:ty;)*) => {
        quickcheck! {$(
            fn $map(old: Vec<(Key, u8)>, new: Vec<(Key, u8)>) -> bool {
                let mut expected = <$Map>::default();
                for (key, value) in old.iter().chain(&new) {
                    expected.insert(*key, *value);
                }
                let mut from_pairs: $Map = hidden(old.clone()).collect();
                from_pairs.par_extend(hidden(new.clone()));
                let mut from_references: $Map = old.into_par_iter().collect();
                from_references.par_extend(new.par_iter().map(|(key, value)| (key, value)));
                marks(&from_pairs) == marks(&expected)
                    && marks(&from_references) == marks(&expected)
            }

            fn $set(old: Vec<Key>, new: Vec<Key>) -> bool {
                let mut expected = <$Set>::default();
                for key in old.iter().chain(&new) {
                    expected.insert(*key);
                }
                let mut owned: $Set = hidden(old.clone()).collect();
                owned.par_extend(hidden(new.clone()));
                let mut copied: $Set = old.into_par_iter().collect();
                copied.par_extend(&new);
                let unit = |key| (key, &());
                marks(owned.iter().map(unit)) == marks(expected.iter().map(unit))
                    && marks(copied.iter().map(unit)) == marks(expected.iter().map(unit))
            }
        )*}
    };
}

as_by_insert! {
    btree_map: BTreeMap<Key, u8>, btree_set: BTreeSet<Key>;
    hash_map: HashMap<Key, u8>, hash_set: HashSet<Key>;
    hash_map_by_other_hasher: HashMap<Key, u8, Fixed>, hash_set_by_other_hasher: HashSet<Key, Fixed>;
}

/// Keys whose `==` compares the marks too, or only the keys, and whose order is the other way round.
macro_rules! at_odds {
    ($($Key:ident: $same:expr, $order:expr;)*) => {$(
        #[derive(Clone, Copy, Debug)]
        struct $Key(Key);

        impl PartialEq for $Key {
            fn eq(&self, other: &Self) -> bool {
                let same: fn(&Key) -> (u8, u16) = $same;
                same(&self.0) == same(&other.0)
            }
        }

        impl Eq for $Key {}

        impl PartialOrd for $Key {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $Key {
            fn cmp(&self, other: &Self) -> Ordering {
                let order: fn(&Key) -> (u8, u16) = $order;
                order(&self.0).cmp(&order(&other.0))
            }
        }
    )*};
}

at_odds! {
    Finer: |key| (key.key, key.mark), |key| (key.key, 0);
    Coarser: |key| (key.key, 0), |key| (key.key, key.mark);
}

/// A tree uses only the order of its keys, whatever `==` says about them.
macro_rules! by_order {
    ($Key:ident, $keys:expr) => {{
        let keys: Vec<$Key> = $keys.iter().map(|&key| $Key(key)).collect();
        let (mut map, mut set) = (BTreeMap::new(), BTreeSet::new());
        for (n, &key) in keys.iter().enumerate() {
            map.insert(key, n);
            set.insert(key);
        }
        let pairs = keys.par_iter().copied().enumerate();
        let made: BTreeMap<$Key, usize> = pairs.map(|(n, key)| (key, n)).collect();
        let made_set: BTreeSet<$Key> = hidden(keys).collect();
        let entry = |(key, n): (&$Key, &usize)| (key.0.key, key.0.mark, *n);
        let mark = |key: &$Key| (key.0.key, key.0.mark);
        made.iter().map(entry).eq(map.iter().map(entry))
            && made_set.iter().map(mark).eq(set.iter().map(mark))
    }};
}

quickcheck! {
    fn trees_ask_for_the_order_alone(keys: Vec<Key>) -> bool {
        let few: Vec<Key> = keys.iter().map(|key| Key { key: key.key % 4, mark: key.mark % 4 }).collect();
        by_order!(Finer, few) && by_order!(Coarser, few)
    }
}

#[test]
fn large_tables_and_trees() {
    in_pools(|| {
        let pairs: Vec<(u64, u64)> = (0..60_000u64).map(|n| (n * n % 20_011, n)).collect();
        let expected: BTreeMap<u64, u64> = pairs.iter().copied().collect();
        assert_eq!(hidden(pairs.clone()).collect::<BTreeMap<_, _>>(), expected);
        assert_eq!(
            pairs.par_iter().copied().collect::<BTreeMap<_, _>>(),
            expected
        );
        let table: HashMap<u64, u64> = hidden(pairs.clone()).collect();
        assert_eq!(table.len(), expected.len());
        assert!(
            expected
                .iter()
                .all(|(key, value)| table.get(key) == Some(value))
        );
        let keys: HashSet<u64> = pairs.into_par_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, expected.into_keys().collect());
    });
}
