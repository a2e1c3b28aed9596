//! Values on their way to their groups: each group lies in a row, and some stretches of it may be left open for
//! values that other jobs bring.
//!
//! ```text
//! values   ■ ■ ■ ■ □ □ □ □ □ ■ ■ ■ □ □ ■      □ a gap, lent out as a slice
//! group    0─────────────────── 1───────
//! ```

use crate::pages;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr;
use std::slice::IterMut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Up to this many groups are few.
const FEW: usize = 512;
/// From this number on, values are many, if there are few groups.
const MANY: usize = if cfg!(miri) { 64 } else { 1024 };
/// The number of stretches of the values that are moved side by side.
const STRANDS: usize = 4;

/// Room in a group for values that come from another source.
pub(crate) struct Gap {
    /// The gap lies before the value with this number.
    pub(crate) before: usize,
    pub(crate) group: u32,
    pub(crate) len: usize,
}

/// Rows of values with open gaps.
pub(crate) struct Gapped<T> {
    /// Its length stays 0 until no gap is open.
    room: Vec<T>,
    /// The length that the room will have.
    count: usize,
    /// All gaps, from left to right, each with its number in the call of [`settle`].
    open: Vec<(Range<usize>, usize)>,
    /// How many lanes have places left, or `UNLENT`.
    pending: AtomicUsize,
}

/// Gaps are open, and no lanes have been made for them.
const UNLENT: usize = usize::MAX;

/// The places of a gap, or of a part of a gap, that are not yet written.
pub(crate) struct Lane<'a, T> {
    places: IterMut<'a, MaybeUninit<T>>,
    /// Counts the lanes that are not yet written to their end.
    pending: Option<&'a AtomicUsize>,
}

impl<T> Default for Lane<'_, T> {
    fn default() -> Self {
        Lane {
            places: IterMut::default(),
            pending: None,
        }
    }
}

impl<T> Lane<'_, T> {
    /// Writes the next place.
    #[inline]
    pub(crate) fn put(&mut self, value: T) {
        self.places.next().expect("a place in the gap").write(value);
    }

    /// The first `len` places, as a separate lane.
    ///
    /// # Panics
    /// If there are fewer. The lane then keeps its places: without places it would count as written.
    pub(crate) fn cut(&mut self, len: usize) -> Self {
        assert!(len <= self.places.len(), "as many places in the gap");
        let (here, rest) = mem::take(&mut self.places).into_slice().split_at_mut(len);
        self.places = rest.iter_mut();
        // Relaxed here and below: the count is read when no lane is in use.
        if let Some(pending) = self.pending {
            pending.fetch_add(1, Ordering::Relaxed);
        }
        Lane {
            places: here.iter_mut(),
            pending: self.pending,
        }
    }
}

/// A lane with places left stays pending for ever, and so does a forgotten lane.
impl<T> Drop for Lane<'_, T> {
    fn drop(&mut self) {
        if let (0, Some(pending)) = (self.places.len(), self.pending) {
            pending.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Moves values to the place of their group, keeping the order within each group. Returns the rows with their
/// offsets: group `g` lies at `offsets[g]..offsets[g + 1]`.
///
/// `groups[i]` is the group of `values[i]`, below `count`. `gaps` are in the order of the values
/// before which they lie.
///
/// # Panics
/// If there is not one group for each value, if a group is not below `count`, or if gaps are not in order.
pub(crate) fn settle<T>(
    mut values: Vec<T>,
    groups: &[u32],
    count: usize,
    gaps: &[Gap],
) -> (Gapped<T>, Vec<usize>) {
    assert!(groups.len() == values.len(), "one group for each value");
    if gaps.is_empty() && count <= FEW && values.len() >= MANY {
        return settle_few(values, groups, count);
    }
    let mut next = vec![0_usize; count];
    groups.iter().for_each(|&group| next[group as usize] += 1);
    let sum = |some: usize, more| some.checked_add(more).expect("groups that fit memory");
    for gap in gaps {
        let size = &mut next[gap.group as usize];
        *size = sum(*size, gap.len);
    }
    // From the size of each group to its beginning.
    let mut offsets = Vec::with_capacity(count + 1);
    let mut end: usize = 0;
    for size in &mut next {
        offsets.push(end);
        end = sum(end, mem::replace(size, end));
    }
    offsets.push(end);
    let count = end;
    let mut settled: Vec<T> = Vec::with_capacity(count);
    pages::expect_fill(settled.spare_capacity_mut());
    let room = settled.spare_capacity_mut();
    assert!(
        gaps.is_sorted_by_key(|gap| gap.before)
            && gaps.last().is_none_or(|gap| gap.before <= values.len()),
        "gaps lie among the values"
    );
    let mut open = Vec::with_capacity(gaps.len());
    let mut done = 0;
    // SAFETY: from here on the values belong to `settled`. A panic before `Gapped` knows which values are there
    // would leak them.
    unsafe { values.set_len(0) };
    let mut move_until = |end: usize, next: &mut [usize]| {
        for (at, &group) in (done..end).zip(&groups[done..end]) {
            let place = next[group as usize];
            next[group as usize] = place + 1;
            // SAFETY: `at` is below the former length.
            let from = unsafe { values.as_ptr().add(at) };
            // SAFETY: the value is initialised and read once, here.
            room[place].write(unsafe { ptr::read(from) });
        }
        done = end;
    };
    for (nth, gap) in gaps.iter().enumerate() {
        move_until(gap.before, &mut next);
        let start = next[gap.group as usize];
        next[gap.group as usize] = start + gap.len;
        open.push((start..start + gap.len, nth));
    }
    move_until(groups.len(), &mut next);
    // An empty gap comes before a gap that begins at the same place.
    open.sort_unstable_by_key(|(place, _)| (place.start, place.end));
    let gapped = Gapped {
        room: settled,
        count,
        pending: AtomicUsize::new(if open.is_empty() { 0 } else { UNLENT }),
        open,
    };
    (gapped, offsets)
}

/// [`settle`] for few groups, without gaps. With few groups, values of the same group often follow each other,
/// and each would wait until the next place of its group is written and read again. So four stretches of the
/// values are moved side by side, each with its own places.
fn settle_few<T>(mut values: Vec<T>, groups: &[u32], count: usize) -> (Gapped<T>, Vec<usize>) {
    let len = groups.len() / STRANDS;
    let mut next = vec![[0_usize; STRANDS]; count];
    strands(len, groups, |strand, _, group| {
        next[group as usize][strand] += 1;
    });
    let mut offsets = Vec::with_capacity(count + 1);
    let mut end = 0;
    for sizes in &mut next {
        offsets.push(end);
        for size in sizes {
            end += mem::replace(size, end);
        }
    }
    offsets.push(end);
    let mut settled: Vec<T> = Vec::with_capacity(end);
    pages::expect_fill(settled.spare_capacity_mut());
    let room = settled.spare_capacity_mut();
    // SAFETY: from here on the values belong to `settled`. A panic before `Gapped` knows which values are there
    // would leak them.
    unsafe { values.set_len(0) };
    strands(len, groups, |strand, at, group| {
        let next = &mut next[group as usize][strand];
        let place = mem::replace(next, *next + 1);
        // SAFETY: `at` is a place in `groups`, which is as long as `values` was.
        let from = unsafe { values.as_ptr().add(at) };
        // SAFETY: the value is initialised and read once, here: each place comes once.
        room[place].write(unsafe { ptr::read(from) });
    });
    let gapped = Gapped {
        room: settled,
        count: end,
        pending: AtomicUsize::new(0),
        open: Vec::new(),
    };
    (gapped, offsets)
}

/// Calls `each` with the strand, the place and the group of each value: a value of each strand in turn, then
/// the rest of the last strand.
#[inline]
fn strands(len: usize, groups: &[u32], mut each: impl FnMut(usize, usize, u32)) {
    let (whole, rest) = groups.split_at(len * STRANDS);
    for at in 0..len {
        for strand in 0..STRANDS {
            each(strand, strand * len + at, whole[strand * len + at]);
        }
    }
    for (at, &group) in (whole.len()..).zip(rest) {
        each(STRANDS - 1, at, group);
    }
}

impl<T> Gapped<T> {
    /// The open places of each gap, in the order in which [`settle`] was given the gaps.
    ///
    /// # Panics
    /// If it was called before: the places may have been written.
    pub(crate) fn lanes(&mut self) -> Vec<Lane<'_, T>> {
        let pending = self.pending.get_mut();
        assert!(*pending == UNLENT || self.open.is_empty(), "asked twice");
        *pending = self.open.len();
        let mut lanes: Vec<Lane<'_, T>> = Vec::new();
        lanes.resize_with(self.open.len(), Lane::default);
        let mut rest = self.room.spare_capacity_mut();
        let mut at = 0;
        for (place, nth) in &self.open {
            let (_, here) = mem::take(&mut rest).split_at_mut(place.start - at);
            let (lane, more) = here.split_at_mut(place.len());
            lanes[*nth].places = lane.iter_mut();
            lanes[*nth].pending = Some(&self.pending);
            rest = more;
            at = place.end;
        }
        lanes
    }

    /// The values.
    ///
    /// # Panics
    /// If a place in a gap was not written.
    pub(crate) fn whole(mut self) -> Vec<T> {
        assert!(*self.pending.get_mut() == 0, "gaps are open");
        let mut values = mem::take(&mut self.room);
        self.open.clear();
        let count = mem::take(&mut self.count);
        // SAFETY: the groups add up, so `settle` wrote every place outside the gaps. The places inside the gaps
        // were written through their lanes, which are all done: none is pending.
        unsafe { values.set_len(count) };
        values
    }
}

/// Drops the values between the gaps. Values that were written into the gaps leak: it is not known which places
/// were written.
impl<T> Drop for Gapped<T> {
    fn drop(&mut self) {
        if const { !mem::needs_drop::<T>() } {
            return;
        }
        let mut at = 0;
        let mut written = Vec::with_capacity(self.open.len() + 1);
        for (place, _) in &self.open {
            written.push(at..place.start);
            at = place.end;
        }
        written.push(at..self.count);
        let room = &mut self.room.spare_capacity_mut()[..self.count];
        Rest { room, written }.drop_all();
    }
}

/// Values to be dropped, all of them even if the destructor of one panics.
struct Rest<'a, T> {
    room: &'a mut [MaybeUninit<T>],
    written: Vec<Range<usize>>,
}

impl<T> Rest<'_, T> {
    fn drop_all(&mut self) {
        while let Some(last) = self.written.last_mut() {
            let Some(at) = last.next() else {
                self.written.pop();
                continue;
            };
            // SAFETY: the place lies between two gaps, where `settle` wrote each place; it is stepped over
            // before its value is dropped, so the value is dropped once.
            unsafe { self.room[at].assume_init_drop() };
        }
    }
}

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        self.drop_all();
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Gap, Gapped, Lane, MANY, settle};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn settling_is_stable() {
        let values = vec!["b0", "a0", "b1", "c0", "a1"]
            .into_iter()
            .map(String::from)
            .collect();
        let (settled, offsets) = settle(values, &[1, 0, 1, 2, 0], 4, &[]);
        assert_eq!(settled.whole(), ["a0", "a1", "b0", "b1", "c0"]);
        assert_eq!(offsets, [0, 2, 4, 5, 5]);
    }

    /// Few groups and many values, each of which is dropped once.
    #[test]
    fn few_groups_are_settled_side_by_side() {
        for len in [MANY - 1, MANY, MANY + 1, MANY + 2, 4 * MANY + 3] {
            for count in [1, 2, 5, FEW, FEW + 1] {
                let group = |at: usize| (at * at + at / 7) as u32 % count as u32;
                let groups: Vec<u32> = (0..len).map(group).collect();
                let values = (0..len).map(|at| format!("{at}")).collect();
                let (settled, offsets) = settle(values, &groups, count, &[]);
                let settled = settled.whole();
                assert_eq!((offsets[0], offsets[count]), (0, len));
                for (nth, ends) in offsets.windows(2).enumerate() {
                    let here = (0..len).filter(|&at| group(at) == nth as u32);
                    let here: Vec<_> = here.map(|at| format!("{at}")).collect();
                    assert_eq!(settled[ends[0]..ends[1]], here);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn a_group_beyond_the_last() {
        settle(vec![1, 2, 3], &[0, 0, 1], 1, &[]);
    }

    #[test]
    #[should_panic(expected = "one group for each value")]
    fn a_value_without_a_group() {
        settle(vec![1, 2, 3], &[0, 0], 1, &[]);
    }

    #[test]
    #[should_panic(expected = "groups that fit memory")]
    fn gaps_larger_than_memory() {
        settle(vec![1], &[0], 1, &[gap(0, 0, usize::MAX)]);
    }

    fn gap(before: usize, group: u32, len: usize) -> Gap {
        Gap { before, group, len }
    }

    #[test]
    #[should_panic(expected = "gaps lie among the values")]
    fn gaps_beyond_the_end() {
        settle(vec![1, 2], &[0, 0], 1, &[gap(3, 0, 1)]);
    }

    #[test]
    fn gaps_are_filled_in_place() {
        let gaps = [gap(0, 1, 2), gap(2, 0, 1), gap(3, 1, 3), gap(3, 2, 0)];
        let text = |text: &str| String::from(text);
        let values = vec![text("a0"), text("b2"), text("b3")];
        let (mut settled, offsets) = settle(values, &[0, 1, 1], 3, &gaps);
        assert_eq!(offsets, [0, 2, 9, 9]);
        let mut brought = ["b0", "b1", "a1", "b4", "b5", "b6"].into_iter();
        for (lane, len) in settled.lanes().into_iter().zip([2, 1, 3, 0]) {
            let mut lane: Lane<'_, String> = lane;
            let mut half = lane.cut(len / 2);
            let mut next = || text(brought.next().expect("six"));
            (0..len / 2).for_each(|_| half.put(next()));
            (len / 2..len).for_each(|_| lane.put(next()));
        }
        assert_eq!(settled.whole().concat(), "a0a1b0b1b2b3b4b5b6");
    }

    /// Empty gaps, each at the place of another gap, and more of them than are sorted by insertion.
    #[test]
    fn many_gaps_are_empty() {
        let gaps: Vec<_> = (0..100)
            .flat_map(|group| [gap(0, group, 1), gap(0, group, 0)])
            .chain((0..100).map(|group| gap(0, group, 0)))
            .collect();
        let (mut settled, _) = settle(Vec::new(), &[], 100, &gaps);
        for mut lane in settled.lanes().into_iter().take(200).step_by(2) {
            lane.put(7);
        }
        assert_eq!(settled.whole(), [7; 100]);
    }

    /// Lanes that were dropped, forgotten, cut beyond their end, or never made: the values are not given out.
    #[test]
    fn open_gaps_are_noticed() {
        type Leave = fn(&mut Gapped<u8>);
        let leaves: [Leave; 5] = [
            |_| {},
            |settled| drop(settled.lanes()),
            |settled| settled.lanes().into_iter().for_each(std::mem::forget),
            |settled| {
                let mut lane = settled.lanes().remove(0);
                let mut part = lane.cut(1);
                part.put(1);
            },
            |settled| {
                let mut lane = settled.lanes().remove(0);
                let beyond = catch_unwind(AssertUnwindSafe(|| lane.cut(3)));
                assert!(beyond.is_err());
            },
        ];
        for leave in leaves {
            let (mut settled, _) = settle(vec![1, 2], &[0, 0], 1, &[gap(1, 0, 2)]);
            leave(&mut settled);
            assert!(catch_unwind(AssertUnwindSafe(|| settled.whole())).is_err());
        }
    }

    /// Values between open gaps are dropped once each, also if a destructor panics.
    #[test]
    fn what_is_given_up_is_dropped() {
        struct Touchy<'a>(bool, &'a AtomicUsize);

        impl Drop for Touchy<'_> {
            fn drop(&mut self) {
                self.1.fetch_add(1, Relaxed);
                assert!(!self.0, "on purpose");
            }
        }

        let dropped = AtomicUsize::new(0);
        for angry in 0..5 {
            let values = (0..4).map(|at| Touchy(at == angry, &dropped)).collect();
            let gaps = [gap(0, 0, 1), gap(1, 1, 2), gap(4, 1, 1)];
            let (settled, _) = settle(values, &[0, 1, 0, 1], 2, &gaps);
            let panicked = catch_unwind(AssertUnwindSafe(|| drop(settled))).is_err();
            assert_eq!((panicked, dropped.swap(0, Relaxed)), (angry < 4, 4));
        }
    }
}
