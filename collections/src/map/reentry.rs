//! The maps that this thread is inside, so that a deadlock becomes a message.
//!
//! A closure or a guard that holds a shard of a map must not enter the map again for writing. It
//! might want the shard that it holds itself, or a shard of another thread that wants this one.
//! Each entry to a map is noted here for as long as it lasts, and an entry that could wait for
//! itself panics. It panics whether or not the two keys happen to share a shard, so a mistake shows
//! in the first test. Reading while reading is allowed.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::sync::MutexGuard;

/// The number of entries that are kept without allocating.
const NEAR: usize = 8;
/// Set in an entry that writes. The names of maps are even.
const WRITES: usize = 1;
/// The names of maps are the multiples of this. Between them is room for the shards of each, where there are 64 bits.
pub(crate) const NAMES: usize = if usize::BITS == 64 { 1 << 20 } else { 4 };

/// The value of `OUTER` while the list has the entries.
const LISTED: usize = 2;

struct Held {
    count: Cell<usize>,
    near: [Cell<usize>; NEAR],
}

thread_local! {
    // Nothing here needs dropping, so a look costs no more than a look at a static.
    /// The only entry, or 0, or `LISTED`.
    static OUTER: Cell<usize> = const { Cell::new(0) };
    static HELD: Held =
        const { Held { count: Cell::new(0), near: [const { Cell::new(0) }; NEAR] } };
    /// The entries that do not fit, each with the number of times it is held. Never dropped, so that the destructors of other thread-locals
    /// may still enter maps. It has no memory while it is empty.
    static FAR: RefCell<ManuallyDrop<BTreeMap<usize, usize>>> =
        const { RefCell::new(ManuallyDrop::new(BTreeMap::new())) };
}

/// The note that this thread is inside a map. Dropping it means leaving.
#[derive(Debug)]
pub(crate) struct Hold {
    tag: usize,
    /// Not `Send`: the note belongs to this thread. `Sync`: other threads may look at what it guards.
    _local: PhantomData<MutexGuard<'static, ()>>,
}

impl Hold {
    /// Notes that this thread enters the map with this name.
    ///
    /// # Panics
    /// If the thread is inside already, and one of the two entries writes.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(map: usize, writes: bool) -> Hold {
        debug_assert!(
            map.is_multiple_of(NAMES),
            "a name leaves room for what an entry says"
        );
        let tag = map | usize::from(writes);
        if is_inside() {
            enter_nested(tag);
        } else {
            OUTER.set(tag);
        }
        Hold {
            tag,
            _local: PhantomData,
        }
    }

    /// As [`enter`](Self::enter), but `None` where that would panic.
    pub(crate) fn try_enter(map: usize, writes: bool) -> Option<Hold> {
        debug_assert!(
            map.is_multiple_of(NAMES),
            "a name leaves room for what an entry says"
        );
        let tag = map | usize::from(writes);
        if !is_inside() {
            OUTER.set(tag);
        } else if !note_nested(tag) {
            return None;
        }
        Some(Hold {
            tag,
            _local: PhantomData,
        })
    }

    /// As [`enter`](Self::enter) for a reader, if the thread is inside no map. Then the thread announces no shard
    /// either: each guard has a note.
    #[inline]
    pub(crate) fn enter_alone(map: usize) -> Option<Hold> {
        if is_inside() {
            return None;
        }
        OUTER.set(map);
        Some(Hold {
            tag: map,
            _local: PhantomData,
        })
    }
}

/// Whether this thread is inside any map. If so, others may wait for it, and as a reader it must
/// not queue behind a writer. Asked before the thread enters.
#[inline]
pub(crate) fn is_inside() -> bool {
    OUTER.get() != 0
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        if OUTER.get() == self.tag {
            OUTER.set(0);
        } else {
            leave_listed(self.tag);
        }
    }
}

/// Enters where there is an entry already. From here on there is a list.
#[cold]
#[inline(never)]
#[track_caller]
fn enter_nested(tag: usize) {
    assert!(
        note_nested(tag),
        "this thread entered a ParHashMap or ParHashSet again, from inside one of its \
         closures or while it held one of its guards, and one of the two accesses \
         writes: it would wait for itself"
    );
}

/// Notes one more entry. False if the thread would wait for itself: then nothing is noted.
fn note_nested(tag: usize) -> bool {
    HELD.with(|held| {
        if OUTER.get() != LISTED {
            note(held, OUTER.replace(LISTED));
        }
        let fits = !would_deadlock(held, tag & !WRITES, tag & WRITES != 0);
        if fits {
            note(held, tag);
        }
        fits
    })
}

fn note(held: &Held, tag: usize) {
    let count = held.count.get();
    match held.near.get(count) {
        Some(slot) => slot.set(tag),
        None => FAR.with_borrow_mut(|far| *far.entry(tag).or_insert(0) += 1),
    }
    held.count.set(count + 1);
}

#[cold]
#[inline(never)]
fn leave_listed(tag: usize) {
    HELD.with(|held| {
        let last = held.count.get() - 1;
        if last < NEAR && held.near[last].get() == tag {
            held.count.set(last);
        } else {
            forget(held, last, tag);
        }
        if last == 0 {
            OUTER.set(0);
        }
    });
}

/// Whether the map is among the entries, and one of the two entries writes.
#[cold]
fn would_deadlock(held: &Held, map: usize, writes: bool) -> bool {
    let near = &held.near[..held.count.get().min(NEAR)];
    let is_inside = |tag| {
        near.iter().any(|slot| slot.get() == tag) || FAR.with_borrow(|far| far.contains_key(&tag))
    };
    is_inside(map | WRITES) || (writes && is_inside(map))
}

/// Takes out an entry that was not the last.
#[cold]
fn forget(held: &Held, last: usize, tag: usize) {
    FAR.with_borrow_mut(|far| {
        let near = &held.near[..(last + 1).min(NEAR)];
        if !take_one(far, tag)
            && let Some(slot) = near.iter().rev().find(|slot| slot.get() == tag)
        {
            let any = far.last_key_value().map(|(&any, _)| any);
            let filler = any.filter(|&any| take_one(far, any));
            slot.set(filler.unwrap_or_else(|| near[near.len() - 1].get()));
        }
        if far.is_empty() {
            drop(ManuallyDrop::into_inner(mem::take(far)));
        }
    });
    held.count.set(last);
}

/// Takes one holding of this entry out of those that do not fit. Says whether there was one.
fn take_one(far: &mut BTreeMap<usize, usize>, tag: usize) -> bool {
    let Some(times) = far.get_mut(&tag) else {
        return false;
    };
    *times -= 1;
    if *times == 0 {
        far.remove(&tag);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Hold, NAMES, is_inside};

    #[test]
    fn any_order_of_leaving() {
        let mut holds: Vec<Hold> = (1..41).map(|map| Hold::enter(map * NAMES, false)).collect();
        while !holds.is_empty() {
            let victim = holds.len() * 7 / 11;
            let gone = holds.swap_remove(victim);
            let map = gone.tag;
            drop(gone);
            assert_eq!(is_inside(), !holds.is_empty());
            let _again = Hold::enter(map, true);
            assert!(is_inside());
            holds
                .iter()
                .for_each(|left| drop(Hold::enter(left.tag, false)));
        }
        assert!(!is_inside());
    }

    #[test]
    #[should_panic(expected = "wait for itself")]
    fn writing_while_reading() {
        let _read = Hold::enter(NAMES, false);
        let _write = Hold::enter(NAMES, true);
    }

    #[test]
    fn what_would_panic_is_not_noted_where_it_is_tried() {
        let of = |map, writes| Hold::try_enter(map * NAMES, writes);
        let read = of(1, false).unwrap();
        assert!(of(1, true).is_none());
        let again = of(1, false).unwrap();
        drop(read);
        assert!(of(1, true).is_none());
        let other = of(2, true).unwrap();
        assert!(of(2, false).is_none() && of(2, true).is_none());
        drop(again);
        let write = of(1, true).unwrap();
        drop((other, write));
        assert!(!is_inside());
        drop(of(1, true).unwrap());
        assert!(!is_inside());
    }

    #[test]
    #[should_panic(expected = "wait for itself")]
    fn reading_while_writing() {
        let _others: Vec<Hold> = (2..30).map(|map| Hold::enter(map * NAMES, true)).collect();
        let _write = Hold::enter(NAMES, true);
        let _read = Hold::enter(NAMES, false);
    }
}
