//! A table's memory addresses, so that a lookup can fetch them before it has the lock.
#![forbid(unsafe_code)]

use crate::pages::expect_read;
use hashbrown::HashTable;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The addresses of a table's memory, for fetching ahead. A hint that may be out of date.
///
/// ```text
/// … | entry 2 | entry 1 | entry 0 | control bytes 0, 1, 2 …
///                                 └ middle
/// ```
///
/// A lookup misses the cache twice, once in each half, and only the first miss tells it where the
/// second will be. With the chart it can ask for both before it takes the lock.
pub(crate) struct Chart {
    middle: AtomicUsize,
    pub(super) buckets: AtomicUsize,
}

impl Chart {
    pub(super) fn new<T>(table: &HashTable<T>) -> Self {
        let chart = Chart {
            middle: AtomicUsize::new(0),
            buckets: AtomicUsize::new(0),
        };
        chart.draw(table);
        chart
    }

    /// Draws the chart anew, from any entry of the table.
    #[cold]
    pub(crate) fn draw<T>(&self, table: &HashTable<T>) {
        let Some(at) = table.iter_buckets().next() else {
            return self.forget();
        };
        let entry = table
            .get_bucket(at)
            .map_or(0, |entry| &raw const *entry as usize);
        let middle = entry + (at + 1) * mem::size_of::<T>();
        self.middle.store(middle, Ordering::Relaxed);
        self.buckets.store(table.num_buckets(), Ordering::Relaxed);
    }

    fn forget(&self) {
        self.buckets.store(0, Ordering::Relaxed);
    }

    /// Draws the chart anew if the table has grown.
    #[inline]
    pub(crate) fn check<T>(&self, table: &HashTable<T>) {
        if self.buckets.load(Ordering::Relaxed) != table.num_buckets() && !table.is_empty() {
            self.draw(table);
        }
    }

    /// Fetches the memory that a lookup of `hash` is likely to touch.
    #[inline]
    pub(super) fn fetch<T>(&self, hash: u64) {
        let buckets = self.buckets.load(Ordering::Relaxed);
        // A table of a page or two is in the cache already.
        if buckets > 512 {
            let at = hash as usize & (buckets - 1);
            let middle = self.middle.load(Ordering::Relaxed);
            expect_read(middle.wrapping_add(at));
            expect_read(middle.wrapping_sub((at + 1).wrapping_mul(mem::size_of::<T>())));
        }
    }
}

#[cfg(test)]
impl Chart {
    pub(super) fn says_as(&self, other: &Chart) -> bool {
        let read = |chart: &Chart| {
            let buckets = chart.buckets.load(Ordering::Relaxed);
            (
                buckets,
                (buckets > 0).then(|| chart.middle.load(Ordering::Relaxed)),
            )
        };
        read(self) == read(other)
    }
}

#[cfg(test)]
mod tests {
    use super::Chart;
    use crate::ParHashMap;
    use crate::map::LockedEntry;
    use hashbrown::HashTable;
    use std::hash::{BuildHasher, Hasher};
    use std::sync::atomic::Ordering;
    use tine_iter::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};

    /// If tables were laid out differently, charts would fetch the wrong lines.
    #[test]
    fn charts_say_where_entries_are() {
        let mut table = HashTable::new();
        for i in 0..5000_u64 {
            let hash = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            table.insert_unique(hash, (i, i), |&(i, _)| {
                i.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
        }
        let chart = Chart::new(&table);
        let middle = chart.middle.load(Ordering::Relaxed);
        for at in table.iter_buckets() {
            let entry = table.get_bucket(at).map(|entry| &raw const *entry as usize);
            assert_eq!(entry, Some(middle - (at + 1) * 16));
        }
        table.clear();
        chart.check(&table);
        chart.draw(&table);
        assert_eq!(chart.buckets.load(Ordering::Relaxed), 0);
    }

    /// Through `&mut`, too.
    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn charts_follow_what_moves() {
        fn check(map: &mut ParHashMap<u32, u32>, what: &str) {
            assert!(map.shards.are_charted(), "{what}");
        }
        let (few, many) = (2000, 200_000);
        let pairs = |n: u32| (0..n).map(|i| (i, i));
        let map = &mut pairs(few).collect();
        check(map, "collected few");
        map.extend(pairs(many));
        check(map, "extended");
        map.reserve(2 * many as usize);
        check(map, "reserved");
        map.shrink_to(many as usize);
        check(map, "shrunk");
        map.retain(|key, _| *key < many / 8);
        map.shrink_to_fit();
        check(map, "shrunk to fit");
        map.par_extend(pairs(few).collect::<Vec<_>>());
        check(map, "extended in parallel by few");
        map.par_extend(
            pairs(many)
                .map(|(key, _)| (key + few, 0))
                .collect::<Vec<_>>(),
        );
        check(map, "extended in parallel by many");
        let map = &mut pairs(few).collect::<Vec<_>>().into_par_iter().collect();
        check(map, "collected few in parallel");
        map.par_extend((few..2 * few).map(|key| (key, 0)).collect::<Vec<_>>());
        check(map, "extended one table in parallel");
        map.reserve(few as usize);
        check(map, "reserved in one table");
        map.clear();
        check(map, "cleared in one table");
        let map = &mut pairs(many).collect::<Vec<_>>().into_par_iter().collect();
        check(map, "collected many in parallel");
    }

    fn try_add<S: BuildHasher>(map: &mut ParHashMap<u32, u32, S>, key: u32) {
        if let Ok(LockedEntry::Vacant(entry)) = map.try_lock_entry(key) {
            drop(entry.insert(0));
        }
    }

    /// By the first entry, which makes a table's memory, and by those by which it grows.
    #[test]
    fn charts_follow_each_way_to_add() {
        use crate::Change;
        type Map = ParHashMap<u32, u32>;
        let add: [fn(&mut Map, u32); 7] = [
            |map, key| _ = map.insert(key, 0),
            |map, key| _ = map.upsert(key, || 0, |_| ()),
            |map, key| _ = map.compute(key, |_| Change::Put(0)),
            |map, key| drop(map.entry(key).or_insert(0)),
            |map, key| _ = map.get_or_insert_with(key, || 0),
            |map, key| _ = map.replace_entry(key, 0),
            try_add,
        ];
        let few = if cfg!(miri) { 40 } else { 3000 };
        for (nth, add) in add.into_iter().enumerate() {
            for wide in [false, true] {
                let mut map = Map::with_capacity(if wide { 3000 } else { 0 });
                for key in 0..few {
                    add(&mut map, key);
                    // A stem that was left keeps its old chart.
                    let is_left = !wide && map.shards.is_wide();
                    let seldom = key > 40 && key % 50 > 0;
                    assert!(
                        is_left || seldom || map.shards.are_charted(),
                        "{nth}, {key}"
                    );
                }
            }
        }
    }

    /// A hasher to which all keys are the same.
    #[derive(Clone, Default)]
    struct Same;

    impl BuildHasher for Same {
        type Hasher = Same;

        fn build_hasher(&self) -> Same {
            Same
        }
    }

    impl Hasher for Same {
        fn write(&mut self, _: &[u8]) {}

        fn finish(&self) -> u64 {
            0
        }
    }

    /// A table that has room under the traces of removals moves to other memory of the same size.
    #[test]
    fn charts_follow_a_worn_table() {
        type Map = ParHashMap<u32, u32, Same>;
        let add: [fn(&mut Map, u32); 4] = [
            |map, key| _ = map.insert(key, 0),
            try_add,
            |map, key| map.extend([(key, 0)]),
            |map, key| map.par_extend(vec![(key, 0)]),
        ];
        for (add, capacity) in add.into_iter().flat_map(|add| [(add, 0), (add, 5000)]) {
            let mut map = Map::with_capacity_and_hasher(capacity, Same);
            (0..448).for_each(|key| add(&mut map, key));
            // All keys have one hash, so they lie side by side, and each removal leaves a trace.
            (100..448).for_each(|key| _ = map.remove(&key));
            let place = |map: &Map| {
                let table = map.shards.read(0);
                (
                    table.num_buckets(),
                    (&raw const *map.get(&0).expect("a pair")).addr(),
                )
            };
            let before = place(&map);
            let moves = (448..900).any(|key| {
                add(&mut map, key);
                assert!(map.shards.are_charted(), "{key}, {capacity}");
                place(&map) != before
            });
            assert!(
                moves && place(&map).0 == before.0,
                "no other memory of this size"
            );
        }
    }
}
