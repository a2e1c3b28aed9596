//! Every operation of the map and the set against std's, in sequences that quickcheck invents and shrinks.

mod model;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Coarse, Op, agree};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use tine_collections::{FrozenMap, ParHashMap, ParHashSet};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

impl Arbitrary for Op {
    fn arbitrary(g: &mut Gen) -> Op {
        // Few keys, so that equal ones occur.
        let k = u16::arbitrary(g) % 40;
        let v = u32::arbitrary(g);
        let pairs = |g: &mut Gen| Vec::<(u16, u32)>::arbitrary(g);
        match u8::arbitrary(g) % 44 {
            0..=8 => Op::Insert(k, v),
            9 | 10 => Op::Remove(k),
            11 => Op::RemoveIf(k, bool::arbitrary(g)),
            12 => Op::Get(k),
            13 => Op::Update(k, v),
            14 => Op::Upsert(k, v),
            15 => Op::Entry(k, v),
            16 => Op::Modify(k, v),
            17 => Op::GetOr(k, v),
            18 | 19 => Op::Compute(k, u8::arbitrary(g) % 3, v),
            20 => Op::Lock(k, v),
            40..=42 => Op::LockEntry(k, u8::arbitrary(g) % 5, v),
            43 => Op::TryEntry(k, v),
            21 => Op::GetMut(k, v),
            22 => Op::Retain(v % 5),
            23 => Op::ParRetain(v % 5),
            24 => Op::Extend(pairs(g)),
            25 | 26 => Op::ParExtend(pairs(g)),
            27 | 28 => Op::ParExtendMany(u16::arbitrary(g) % 5000),
            29 => Op::Merge(pairs(g)),
            30 => Op::Values(v),
            31 => Op::ParValues(v),
            32 => Op::Drain,
            33 => Op::ParDrain,
            34 => Op::Clear,
            35 => Op::ParClear,
            36 => Op::Shrink,
            37 => Op::Reserve(u16::arbitrary(g) % 6000),
            38 => Op::Clone,
            _ => {
                if v % 2 == 0 {
                    Op::Freeze
                } else {
                    Op::ToStd
                }
            }
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Op>> {
        match self {
            Op::Extend(pairs) => Box::new(pairs.shrink().map(Op::Extend)),
            Op::ParExtend(pairs) => Box::new(pairs.shrink().map(Op::ParExtend)),
            Op::Merge(pairs) => Box::new(pairs.shrink().map(Op::Merge)),
            Op::ParExtendMany(n) => Box::new(n.shrink().map(Op::ParExtendMany)),
            _ => Box::new(std::iter::empty()),
        }
    }
}

fn check<S>(wide: bool)
where
    S: BuildHasher + Default + Clone + Sync + Send + 'static,
{
    let mut checks = QuickCheck::new().tests(if cfg!(debug_assertions) { 50 } else { 1500 });
    if wide {
        checks = checks.tests(if cfg!(debug_assertions) { 12 } else { 60 });
        checks.quickcheck((|ops| agree::<S>(ops, true)) as fn(Vec<Op>));
    } else {
        checks.quickcheck((|ops| agree::<S>(ops, false)) as fn(Vec<Op>));
    }
}

#[test]
fn small_maps() {
    check::<tine_collections::DefaultHashBuilder>(false);
}

#[test]
fn large_maps() {
    check::<tine_collections::DefaultHashBuilder>(true);
}

#[test]
fn any_hasher() {
    check::<RandomState>(false);
}

#[test]
fn maps_full_of_collisions() {
    check::<BuildHasherDefault<Coarse>>(false);
}

#[test]
fn growing_past_the_stem_and_shrinking_again() {
    let map = ParHashMap::new();
    for round in 0..3 {
        for i in 0..20_000_u32 {
            assert_eq!(
                map.insert(i, round),
                if round == 0 { None } else { Some(round - 1) }
            );
        }
        assert_eq!(map.len(), 20_000);
    }
    for i in 0..20_000 {
        assert_eq!(map.remove(&i), Some(2));
    }
    assert!(map.is_empty());
}

/// Inserting and removing for a long time must not make a map grow.
#[test]
fn churn_keeps_its_size() {
    let map = ParHashMap::new();
    for i in 0..200_000_u32 {
        map.insert(i, i);
        if i >= 100 {
            assert_eq!(map.remove(&(i - 100)), Some(i - 100));
        }
    }
    assert_eq!(map.len(), 100);
    assert!(
        map.capacity() < 2000,
        "capacity {} for 100 entries",
        map.capacity()
    );
}

#[test]
fn collecting_keeps_the_last_of_equal_keys() {
    for n in [0, 1, 10, 1000, 3000, 100_000_u32] {
        let pair = |i: u32| (i % 1000, i);
        let par: ParHashMap<u32, u32> = (0..n).into_par_iter().map(pair).collect();
        let std: HashMap<u32, u32> = (0..n).map(pair).collect();
        assert_eq!(par, std);
    }
}

/// Some calls of a site are shared, and some run on one thread; the first pairs decide how much room is made,
/// and may mislead.
#[test]
fn any_keys_are_collected_in_any_way() {
    let laws: [fn(u32) -> u32; 6] = [
        |i| i,
        |i| i % 100,
        |i| i.wrapping_mul(0x9E37_79B9) >> 18,
        |i| i % 12_000,
        |i| if i < 10_000 { i } else { i % 7 },
        |i| if i < 10_000 { i % 7 } else { i },
    ];
    let pools = [2, 5].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    });
    for n in [8_193, 40_000, 140_000_u32] {
        for law in laws {
            let pair = |i: u32| (law(i), i);
            let std: HashMap<u32, u32> = (0..n).map(pair).collect();
            let keys: HashSet<u32> = std.keys().copied().collect();
            for pool in &pools {
                pool.install(|| {
                    for _ in 0..3 {
                        let par: ParHashMap<u32, u32> = (0..n).into_par_iter().map(pair).collect();
                        assert!(par == std, "{n}");
                        let set: ParHashSet<u32> = (0..n).into_par_iter().map(law).collect();
                        assert!(set == keys, "{n}");
                    }
                    let mut more: ParHashMap<u32, u32> = (0..200).map(|i| (i, 1)).collect();
                    more.par_extend((0..n).into_par_iter().map(pair));
                    let old = (0..200).filter(|key| !std.contains_key(key)).count();
                    assert_eq!(more.len(), std.len() + old);
                    assert!(std.iter().all(|(k, v)| more.get_cloned(k) == Some(*v)));
                });
            }
            // Keys that own memory.
            let texts = (0..n / 8)
                .into_par_iter()
                .map(|i| (law(8 * i).to_string(), i));
            let par: ParHashMap<String, u32> = texts.collect();
            let std: HashMap<String, u32> =
                (0..n / 8).map(|i| (law(8 * i).to_string(), i)).collect();
            assert!(par == std, "{n}");
        }
    }
}

#[test]
fn sets() {
    fn agree(ops: Vec<(u8, u8)>) {
        let mut set = ParHashSet::<u8>::new();
        let mut model = HashSet::new();
        for (what, item) in ops {
            match what % 8 {
                0..=2 => assert_eq!(set.insert(item), model.insert(item)),
                3 => assert_eq!(set.remove(&item), model.remove(&item)),
                4 => assert_eq!(set.take(&item), model.take(&item)),
                5 => assert_eq!(set.contains(&item), model.contains(&item)),
                6 => {
                    set.par_retain(|i| i % 3 != item % 3);
                    model.retain(|i| i % 3 != item % 3);
                }
                _ => {
                    set.par_merge((0..item).collect::<ParHashSet<u8>>());
                    model.extend(0..item);
                }
            }
        }
        assert_eq!(set.len(), model.len());
        assert_eq!(set.iter().collect::<HashSet<_>>(), model);
        assert_eq!(set.clone().into_par_iter().count(), model.len());
        assert!(set.is_subset(&set.clone()));
        assert_eq!(HashSet::from(set), model.into_iter().collect());
    }
    QuickCheck::new()
        .tests(300)
        .quickcheck(agree as fn(Vec<(u8, u8)>));
}

/// Says that it gives more items than it does, or fewer.
struct Liar {
    left: u32,
    says: usize,
}

impl Iterator for Liar {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        self.left = self.left.checked_sub(1)?;
        Some((self.left, self.left))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.says, Some(self.says))
    }
}

impl ExactSizeIterator for Liar {}

#[test]
fn hints_may_lie() {
    for left in [0, 10, 5000] {
        for says in [0, 1, 3000, usize::MAX] {
            let mut map: ParHashMap<u32, u32> = Liar { left, says }.collect();
            assert_eq!(map.len(), left as usize);
            map.extend(Liar { left, says });
            let set: ParHashSet<u32> = Liar { left, says }.map(|(key, _)| key).collect();
            assert_eq!((map.len(), set.len()), (left as usize, left as usize));
            assert!(map.iter().all(|(key, value)| key == value && key < left));
        }
    }
}

/// Every way to take some of the entries out, against the same in std.
#[test]
fn entries_are_extracted() {
    fn agree(keys: Vec<u16>, divisor: u16, stop: u8) -> bool {
        let divisor = divisor % 7 + 1;
        let wide = keys.iter().map(|&key| u32::from(key) * 97).chain(0..3000);
        let mut map: ParHashMap<u32, u32> = wide.clone().map(|key| (key, key)).collect();
        let mut model: HashMap<u32, u32> = wide.map(|key| (key, key)).collect();
        let chosen = |key: &u32| key.is_multiple_of(u32::from(divisor));
        let out: Vec<(u32, u32)> = map
            .extract_if(|key, _| chosen(key))
            .take(usize::from(stop))
            .collect();
        for (key, value) in &out {
            assert!(chosen(key) && model.remove(key) == Some(*value));
        }
        assert!(
            map == model
                && (out.len() == usize::from(stop) || !map.iter().any(|(k, _)| chosen(&k)))
        );
        map.shrink_to(10);
        map.values_mut().for_each(|value| *value += 1);
        model.values_mut().for_each(|value| *value += 1);
        map == model
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(agree as fn(Vec<u16>, u16, u8) -> bool);
}

/// Entries that are being taken out may go to another thread halfway.
#[test]
fn extracting_goes_to_other_threads() {
    let mut map: ParHashMap<u32, u32> = (0..5000).map(|i| (i, i)).collect();
    let mut out = map.extract_if(|key, _| key % 2 == 0);
    let here = out.by_ref().take(100).count();
    let there = std::thread::scope(|scope| scope.spawn(move || out.count()).join());
    assert_eq!(
        (here, there.expect("no panic"), map.len()),
        (100, 2400, 2500)
    );
    let mut set: ParHashSet<u32> = (0..10).collect();
    let out = set.extract_if(|&item| item < 3);
    let there = std::thread::scope(|scope| scope.spawn(move || out.count()).join());
    assert_eq!((there.expect("no panic"), set.len()), (3, 7));
}

#[test]
fn sets_as_sets() {
    fn agree(a: Vec<u8>, b: Vec<u8>) -> bool {
        let (left, right): (HashSet<u8>, HashSet<u8>) =
            (a.iter().copied().collect(), b.iter().copied().collect());
        let (mut x, mut y) = (ParHashSet::new(), ParHashSet::<u8>::new());
        x.extend(&a);
        y.par_extend(&b);
        let brown: hashbrown::HashSet<u8, _> = x.clone().into();
        x == ParHashSet::from(brown)
            && &x | &y == &left | &right
            && &x & &y == &left & &right
            && &x - &y == &left - &right
            && &x ^ &y == &left ^ &right
            && x.is_subset(&y) == left.is_subset(&right)
            && x.is_superset(&y) == left.is_superset(&right)
            && x.is_disjoint(&y) == left.is_disjoint(&right)
            && x.is_subset(&(&x | &y))
            && x.extract_if(|item| *item < 9).count() == left.iter().filter(|&&i| i < 9).count()
    }
    QuickCheck::new()
        .tests(200)
        .quickcheck(agree as fn(Vec<u8>, Vec<u8>) -> bool);
}

#[test]
fn room_that_was_asked_for_stays() {
    let mut map: ParHashMap<u32, u64> = ParHashMap::with_capacity(1500);
    let room = map.capacity();
    map.par_extend(
        (0..100_000_u32)
            .into_par_iter()
            .map(|i| (i % 10, u64::from(i))),
    );
    assert_eq!(map.len(), 10);
    assert!(map.capacity() >= room, "{} of {room}", map.capacity());
    // Entries of few hashes lie side by side, and each removal leaves a trace.
    let map = ParHashMap::with_capacity_and_hasher(448, BuildHasherDefault::<Coarse>::default());
    let room = map.capacity();
    (0..448).for_each(|key| _ = map.insert(key, 0));
    (100..448).for_each(|key| _ = map.remove(&key));
    map.clear();
    assert!(
        map.is_empty() && map.capacity() >= room,
        "{} of {room}",
        map.capacity()
    );
}

#[test]
#[should_panic(expected = "apacity overflow")]
fn too_much_capacity() {
    drop(ParHashMap::<u64, u64>::with_capacity(usize::MAX));
}

/// Each shard of such a map could be addressed, but not all together.
#[test]
fn room_stays_where_a_map_is_divided() {
    let map = || -> ParHashMap<u32, u32> { (0..2_048).map(|n| (n, n)).collect() };
    let mut narrow = map();
    narrow.reserve(2_047);
    let capacity = narrow.capacity();
    assert!(capacity >= 2_048 + 2_047);
    (3_000..3_010).for_each(|n| _ = narrow.insert(n, n));
    assert!(narrow.capacity() >= capacity);
    let mut wide: ParHashMap<u32, u32> = (0..3_000).map(|n| (n, n)).collect();
    let capacity = wide.capacity();
    wide.reserve(0);
    assert_eq!(wide.capacity(), capacity);
}

#[test]
fn too_much_capacity_in_all() {
    let panics = |make: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(make)).unwrap_err();
        let text = panic.downcast_ref::<&str>();
        assert!(text.is_some_and(|text| text.contains("apacity overflow")));
    };
    panics(&|| drop(ParHashSet::<u8>::with_capacity(usize::MAX / 2)));
    panics(&|| drop(ParHashMap::<u64, u64>::with_capacity(usize::MAX / 64 + 1)));
    let mut map = ParHashMap::from([(1_u64, 1_u64)]);
    assert!(map.try_reserve(usize::MAX / 64 + 1).is_err());
}

#[test]
fn too_much_is_refused() {
    let mut map = ParHashMap::from([(1, 1)]);
    assert!(map.try_reserve(usize::MAX).is_err());
    assert!(map.try_reserve(usize::MAX / 8).is_err());
    map.par_extend((0..5000).into_par_iter().map(|i| (i, i)));
    assert!(map.try_reserve(usize::MAX).is_err());
    assert_eq!(map.len(), 5000);
}

#[cfg(feature = "serde")]
#[test]
fn serde() {
    let map: ParHashMap<String, u32> = (0..100).map(|i| (i.to_string(), i)).collect();
    let json = serde_json::to_string(&map).unwrap();
    assert_eq!(
        serde_json::from_str::<ParHashMap<String, u32>>(&json).unwrap(),
        map
    );
    let set: ParHashSet<u32> = (0..100).collect();
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<ParHashSet<u32>>(&json).unwrap(), set);
    let vec: tine_collections::ParVec<u32> = (0..100).collect();
    let json = serde_json::to_string(&vec).unwrap();
    assert_eq!(
        serde_json::from_str::<tine_collections::ParVec<u32>>(&json).unwrap(),
        vec
    );
}

/// Some of the values are asked for one by one, and the rest at once.
#[test]
fn many_keys_at_once() {
    fn agree(pairs: Vec<(u16, u32)>, keys: Vec<u16>, first: usize, wide: bool) {
        let others = (0..if wide { 5000 } else { 0 }).map(|i| (i, u32::from(i)));
        let model: HashMap<u16, u32> = others.chain(pairs).collect();
        let frozen: FrozenMap<u16, u32> = model.clone().into_iter().collect();
        let mut keys = keys;
        keys.extend(model.keys().take(20));
        let expected: Vec<_> = keys.iter().map(|key| model.get(key)).collect();
        let mut found = frozen.get_many(&keys);
        let mut all: Vec<_> = found.by_ref().take(first % 24).collect();
        let left = expected.len() - all.len();
        assert_eq!(found.size_hint(), (left, Some(left)));
        found.for_each(|value| all.push(value));
        assert_eq!(all, expected);
        assert!(frozen.get_many(&keys).eq(expected.iter().copied()));
        let map = frozen.thaw();
        // Enough for the readers' way without locks.
        for _ in 0..if wide { 1 } else { 1 + 2000 / (keys.len() + 1) } {
            let mut found = map.read_many(&keys, |value| *value);
            let mut all: Vec<_> = found.by_ref().take(first % 24).collect();
            let left = expected.len() - all.len();
            assert_eq!(found.size_hint(), (left, Some(left)));
            found.for_each(|value| all.push(value));
            assert!(all.iter().map(Option::as_ref).eq(expected.iter().copied()));
        }
        let set: ParHashSet<u16> = model.keys().copied().collect();
        for _ in 0..2 {
            let found = set.contains_many(&keys);
            assert!(found.eq(keys.iter().map(|key| model.contains_key(key))));
        }
    }
    let property: fn(_, _, _, _) = agree;
    let tests = if cfg!(miri) { 3 } else { 200 };
    QuickCheck::new().tests(tests).quickcheck(property);
    let names = ParHashMap::from([(String::from("a"), 1)]).freeze();
    assert!(names.get_many(["b", "a"]).eq([None, Some(&1)]));
    assert!(
        names
            .thaw()
            .read_many(["b", "a"], |n| *n)
            .eq([None, Some(1)])
    );
}
