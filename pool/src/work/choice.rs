//! The choice of a thief that goes round all seats: which public nested job to take.
//!
//! The piece that a loop lays out first is the largest. If a thief took the first offer that it
//! meets, it would take small ones, and a large one might lie there until the end of the loop. Then
//! all threads would wait for the thread that begins it last.
#![forbid(unsafe_code)]

use crate::queue::weight::Weight;

/// In pools of this many seats at most, the first offer is taken. The programs that run under decided schedules have
/// small ones.
#[cfg(not(all(tine_sched, not(tine_lab))))]
const FEW: usize = 8;
#[cfg(all(tine_sched, not(tine_lab)))]
const FEW: usize = 1;

/// The number of offers of which the largest is taken: where its time is known, and otherwise. A
/// look costs a transfer of a cache line.
const LOOKS: (u32, u32) = (6, 2);

/// The offers that a thief has looked at on one way round.
pub(super) struct Choice<T> {
    /// Whether there is a choice.
    wide: bool,
    /// How many it has looked at since it last decided, and the best of them.
    looks: u32,
    best: Option<(Weight, T)>,
    /// Whether it ever went by one.
    went_by: bool,
}

impl<T> Choice<T> {
    /// Among the offers of that many seats.
    pub(super) fn among(seats: usize) -> Self {
        Self {
            wide: seats > FEW,
            looks: 0,
            best: None,
            went_by: false,
        }
    }

    /// Looks at the next seat, which may offer something, and says from which seat to steal now.
    /// The thief leaves everything on a seat that it passes, until it goes round again.
    #[inline]
    pub(super) fn look(&mut self, seat: T, offered: impl FnOnce() -> Option<Weight>) -> Option<T> {
        if !self.wide {
            return Some(seat);
        }
        let Some(weight) = offered() else {
            return Some(seat);
        };
        if self.best.as_ref().is_none_or(|(most, _)| weight > *most) {
            self.best = Some((weight, seat));
        }
        self.looks += 1;
        self.went_by = true;
        let enough = if weight.is_timed() { LOOKS.0 } else { LOOKS.1 };
        if self.looks < enough {
            return None;
        }
        self.looks = 0;
        self.end()
    }

    /// After the last seat: from which one to steal, if it has not decided since it last went by one.
    pub(super) fn end(&mut self) -> Option<T> {
        self.best.take().map(|(_, seat)| seat)
    }

    /// Whether there may be jobs that it has seen and left. A thief that took none has to go round again.
    pub(super) fn went_by(&self) -> bool {
        self.went_by
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Choice, FEW};
    use crate::queue::weight::Weight;

    /// What a thief tries, in this order, on its way round seats that offer this.
    fn round(seats: usize, offers: &[Option<u64>]) -> (Vec<usize>, bool) {
        let mut choice = Choice::among(seats);
        let offer = |nanos: &u64| match nanos {
            0 => Weight::ROOT,
            _ => Weight::of_nanos(*nanos),
        };
        let mut tried: Vec<_> = (0..offers.len())
            .filter_map(|seat| choice.look(seat, || offers[seat].as_ref().map(offer)))
            .collect();
        tried.extend(choice.end());
        assert_eq!(choice.end(), None);
        (tried, choice.went_by())
    }

    #[test]
    fn a_small_pool_has_no_choice() {
        let offers = [Some(1), None, Some(1_000), Some(0)];
        assert_eq!(round(FEW, &offers), (vec![0, 1, 2, 3], false));
    }

    #[test]
    fn the_largest_of_six_parts_or_of_two_halves() {
        let parts = [1, 64, 1_000, 8, 1_000, 2, 9_000, 1].map(Some);
        assert_eq!(round(9, &parts), (vec![2, 6], true));
        let halves = [Some(0), Some(0), None, Some(0)];
        assert_eq!(round(9, &halves), (vec![0, 2, 3], true));
    }

    #[test]
    fn what_it_does_not_try_it_went_by() {
        for case in 0..3_u32.pow(8) {
            let digit = |k: u32| case / 3_u32.pow(k) % 3;
            let offers: Vec<_> = (0..8)
                .map(|k| digit(k).checked_sub(1).map(|n| u64::from(n) * 1_000))
                .collect();
            let (tried, went_by) = round(64, &offers);
            let silent = (0..8).filter(|&k| offers[k].is_none());
            assert!(silent.clone().all(|k| tried.contains(&k)));
            assert_eq!(went_by, silent.count() < 8);
            assert_eq!(tried.iter().any(|&k| offers[k].is_some()), went_by);
        }
    }
}
