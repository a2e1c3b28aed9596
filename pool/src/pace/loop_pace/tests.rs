//! The pace of loops in a pool that is made up: what it lays out, publishes, and asks.
use super::{Bare, Demand, Pace, Step, View, clock};
use crate::base::clock::tests::PRETENDED;
use crate::pace::glance::Glance;
use crate::pace::site_costs::{self, Entry, Known};
use crate::pace::start::{Call, Start};
use crate::pace::wakes::Wakes;
use std::cell::Cell;
use std::cmp::Ordering;

/// The entry of a made-up site.
fn at(site: usize) -> &'static Entry {
    site_costs::entry(site)
}

/// A pool of eight threads, of which this one has laid something out or not.
struct Eight {
    kept: Cell<Option<bool>>,
    crowded: bool,
    /// How often it was asked whether the pool is crowded.
    looks: Cell<u32>,
    inner: bool,
    chance: bool,
    wakes: Wakes,
    /// Whether a thread waits, and whether it was asked which want work.
    waited_for: Cell<bool>,
    asked: Cell<bool>,
    /// Which do, and how many were woken for what was offered before.
    demand: Cell<Option<Demand>>,
    ahead: Cell<u32>,
}

impl Eight {
    fn new() -> Self {
        Self {
            kept: Cell::new(None),
            crowded: false,
            looks: Cell::new(0),
            inner: false,
            chance: false,
            wakes: Wakes::new(),
            waited_for: Cell::new(false),
            asked: Cell::new(false),
            demand: Cell::new(None),
            ahead: Cell::new(0),
        }
    }
}

impl View for Eight {
    fn watched(&self) -> bool {
        true
    }
    fn is_outermost(&self) -> bool {
        !self.inner
    }
    fn chance(&self, _: u64) -> bool {
        self.chance
    }
    fn glance(&self) -> Option<Glance> {
        let now = clock::now();
        self.chance.then_some(Glance { now, late: true })
    }
    fn demand(&self) -> Option<Demand> {
        self.asked.set(true);
        self.demand.get()
    }
    fn kept(&self) -> Option<bool> {
        self.kept.get()
    }
    fn keeps(&self) -> bool {
        self.kept.get().is_some()
    }
    fn is_waited_for(&self) -> bool {
        self.waited_for.get()
    }
    fn is_crowded(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.crowded
    }
    fn wake_ahead(&self) {
        self.ahead.set(self.ahead.get() + 1);
    }
    fn with_wakes<R>(&self, f: impl FnOnce(&Wakes) -> R) -> R {
        f(&self.wakes)
    }
}

/// A call that begins at the site of this `entry`.
fn start(
    entry: &'static Entry,
    len: usize,
    worth: u64,
    tries: bool,
    inner: bool,
    view: &Eight,
) -> Start {
    let call = Call {
        entry,
        len,
        worth,
        tries,
        inner,
        threads: 8,
    };
    Start::new(&call, view)
}

/// The pace of such a call.
fn begin(
    entry: &'static Entry,
    len: usize,
    worth: u64,
    tries: bool,
    inner: bool,
    view: &Eight,
) -> Pace {
    start(entry, len, worth, tries, inner, view).pace()
}

/// Of many threads, one that found none in want of work asks again after a while, or where one waits.
#[test]
fn many_threads_do_not_look_all_the_time() {
    for (crew, asks_again) in [(super::MANY, true), (super::MANY + 1, false)] {
        let view = Eight::new();
        let mut pace = begin(at(0x51_7e28), 1 << 20, 0, false, false, &view);
        pace.set_kind(0, false);
        (pace.crew, pace.begun) = (crew, clock::now());
        assert!(asks(&mut pace, &view, false), "at first");
        assert_eq!(asks(&mut pace, &view, false), asks_again, "of {crew}");
        assert!(asks(&mut pace, &view, true), "one waits");
        pace.begun += clock::ticks(super::CONTENT.1) + 1;
        assert!(asks(&mut pace, &view, false), "a while later");
    }
}

/// Whether it is asked which threads want work.
fn asks(pace: &mut Pace, view: &Eight, waited_for: bool) -> bool {
    view.waited_for.set(waited_for);
    view.asked.set(false);
    assert!(!pace.worth_sharing(1 << 30, 1 << 20, view));
    view.asked.get()
}

/// Where enough is offered, more threads are woken for it, but nothing more is given away: if all of it, of which each
/// offer is half of what was left, is worth that many threads.
#[test]
fn threads_are_woken_ahead_for_what_is_worth_it() {
    let view = Eight::new();
    let mut pace = begin(at(0x51_7e2c), 1 << 20, 0, false, false, &view);
    pace.set_kind(0, false);
    view.demand.set(Some(Demand::Later { offered: 4 }));
    let each = (crate::pace::wakes::LATE * view.wakes.delay()).max(5 * view.wakes.cost());
    let least = each * super::AHEAD as u64 / 16;
    assert!(!pace.worth_sharing(least - 1, 1 << 20, &view));
    assert_eq!(view.ahead.get(), 0);
    assert!(!pace.worth_sharing(least + 10, 1 << 20, &view));
    assert_eq!(view.ahead.get(), 1);
}

/// A pace after a hundred items that took that many nanoseconds each, or of which nothing is known; and a system that has
/// interrupted this thread since it was asked, or not.
fn interrupted(is: bool, known: Option<u64>) -> Pace {
    let mut pace = begin(at(0x51_7eb0), 1 << 20, 0, false, false, &Eight::new());
    if let Some(nanos) = known {
        (pace.items, pace.ticks) = (100, clock::ticks(100 * nanos));
    }
    let count = PRETENDED.get().unwrap_or(0);
    PRETENDED.set(Some(count));
    clock::was_interrupted();
    PRETENDED.set(Some(count + u64::from(is)));
    pace
}

/// A block of one item that took this many nanoseconds.
fn end_block(pace: &mut Pace, nanos: u64) {
    (pace.block, pace.begun) = (1, clock::now() - clock::ticks(nanos));
    pace.end_block();
}

/// A block of which the system took a part says nothing, if it is far longer than what is known.
#[test]
fn an_interrupted_block_does_not_count() {
    const LONG: u64 = 4_000_000;
    for (is, known, counts) in [
        (true, Some(1_000), false),
        (false, Some(1_000), true),
        (true, Some(2_000_000), true),
        (true, None, true),
    ] {
        let mut pace = interrupted(is, known);
        let items = pace.items;
        end_block(&mut pace, LONG);
        assert_eq!(pace.items == items + 1, counts, "{is}, {known:?}");
        // The next block is as large as it would have been, or small.
        assert_eq!(pace.block(1 << 20) > 1, !counts, "{is}, {known:?}");
        assert_eq!(pace.is_uneven(), counts && known == Some(1_000));
        // After a short block, the long one is forgotten.
        pace.block = 0;
        end_block(&mut pace, 1_000);
        let ticks = pace.ticks;
        assert_eq!(ticks < clock::ticks(LONG), !counts, "{is}, {known:?}");
    }
    PRETENDED.set(None);
}

/// Where each item is long, each may be interrupted: then two at a time count. And so does the only block of a row.
#[test]
fn interrupted_items_that_are_all_long_count() {
    const LONG: u64 = 10_000_000;
    let mut pace = interrupted(true, Some(1_000));
    for counted in [100, 102, 102, 104] {
        end_block(&mut pace, LONG);
        assert_eq!(pace.items, counted);
        PRETENDED.set(PRETENDED.get().map(|count| count + 1));
    }
    assert!(pace.ticks >= clock::ticks(4 * LONG));

    at(0x51_7ea8).record_cost(100, 100_000);
    let mut pace = interrupted(true, None);
    pace.entry = at(0x51_7ea8);
    pace.known = pace.entry.read();
    end_block(&mut pace, LONG);
    assert_eq!((pace.items, pace.aside.0), (0, 1));
    pace.flush();
    assert!(pace.entry.predict(1).is_some_and(|nanos| nanos > 1_400));
    PRETENDED.set(None);
}

/// How a piece of `len` items at `site` is laid out before its first block: the length of what is left, and the
/// last answer.
fn laid_bare(site: usize, len: usize, view: &Eight) -> (usize, Bare) {
    let (mut pace, mut left) = (begin(at(site), len, 0, false, false, view), len);
    pace.set_kind(0, false);
    loop {
        match pace.bare(left, left > 1, view) {
            Bare::Halve => {
                view.kept.set(Some(true));
                pace.hand_out(left - left / 2, false);
                left /= 2;
            }
            last => return (left, last),
        }
    }
}

/// Where each item takes long, all others are public before one is begun, if they are few.
#[test]
fn few_long_items_are_public_before_one_is_begun() {
    let (site, view) = (0x51_7e10, Eight::new());
    at(site).record_cost(1, 100_000);
    let public = Bare::Publish { wakes: true };
    assert_eq!(laid_bare(site, 64, &view), (1, public));
    view.kept.set(Some(false));
    assert_eq!(
        laid_bare(site, 1, &view),
        (1, Bare::Publish { wakes: false })
    );
    let dear = Eight::new();
    dear.kept.set(Some(true));
    (0..64).for_each(|_| dear.wakes.record_cost(1_000_000));
    let last = laid_bare(site, 1, &dear);
    assert_eq!(last, (1, Bare::No), "sleepers that are not worth it");
    view.kept.set(None);
    assert_eq!(laid_bare(site, 1, &view), (1, Bare::No), "nothing is kept");
    assert_eq!(laid_bare(site, 1_000, &view), (1_000, Bare::No));
    let crowded = Eight {
        crowded: true,
        ..Eight::new()
    };
    assert_eq!(laid_bare(site, 64, &crowded), (1, Bare::No));
}

/// A crowded pool is not looked at again for a while, which depends on what the look took, but is never long: not even if
/// the thread was stopped in the middle of it. Until then blocks are longer.
#[test]
fn a_crowded_pool_is_left_alone_for_a_while() {
    let view = Eight {
        crowded: true,
        ..Eight::new()
    };
    for (took, least, most) in [(100, 25_000, 51_000), (1_000_000, 50_000, 51_000)] {
        let mut pace = begin(at(0x51_7e34), 1 << 20, 0, false, false, &view);
        (pace.items, pace.ticks) = (1_000, clock::ticks(1_000_000));
        assert_eq!(pace.size(1 << 20), 3, "nothing is known of the pool");
        pace.block = 0;
        let before = view.looks.get();
        pace.begun = clock::now() - clock::ticks(took);
        assert!(!pace.has_room(&view));
        let end = clock::now();
        assert!(pace.crowded >= pace.begun + clock::ticks(took + least));
        assert!(pace.crowded <= end + clock::ticks(most));
        assert!(!pace.has_room(&view));
        assert_eq!(view.looks.get(), before + 1);
        assert_eq!(pace.size(1 << 20), 12);
        assert_eq!(pace.size(40), 5, "no more than an eighth of what is left");
        // The block that ends when the time is over.
        pace.begun = pace.crowded;
        assert!(!pace.has_room(&view));
        assert_eq!(view.looks.get(), before + 2);
    }
    let empty = Eight::new();
    let mut pace = begin(at(0x51_7e34), 1 << 20, 0, false, false, &empty);
    pace.begun = clock::now();
    assert!(pace.has_room(&empty) && pace.has_room(&empty));
    assert_eq!(empty.looks.get(), 2, "one with room is looked at each time");
}

/// Where one item in many takes long, all of a thread's work is public in parts worth a long item.
#[test]
fn items_that_differ_are_public() {
    let (site, view) = (0x51_7e18, Eight::new());
    let entry = at(site);
    entry.record_cost(1, 2_000);
    assert_eq!(laid_bare(site, 100, &view), (100, Bare::No));
    let mut pace = begin(at(site), 100, 0, false, false, &view);
    (pace.items, pace.ticks) = (50, clock::ticks(110_000));
    pace.peak = clock::ticks(25_000) << 8;
    pace.flush();
    assert!(entry.read().is_uneven());
    assert!(matches!(
        laid_bare(site, 100, &view),
        (6, Bare::Publish { .. })
    ));
    assert!(matches!(
        laid_bare(site, 1_000, &view),
        (7, Bare::Publish { .. })
    ));
    for _ in 0..8 {
        let mut pace = begin(at(site), 1_000, 0, false, false, &view);
        (pace.items, pace.ticks) = (500, clock::ticks(1_000_000));
        pace.flush();
    }
    assert!(!entry.read().is_uneven());
}

/// What others have taken is no part of what is left: a piece that is nearly at its end is not divided for it.
#[test]
fn what_is_gone_is_not_shared_again() {
    let view = Eight::new();
    let mut pace = begin(at(0x51_7e50), 1_000, 0, false, false, &view);
    pace.set_kind(0, false);
    (pace.items, pace.ticks) = (100, clock::ticks(10_000));
    pace.hand_out(500, false);
    for demand in [Demand::Awake, Demand::Waiting] {
        view.demand.set(Some(demand));
        for (left, kept, shares) in [(10, None, false), (10, Some(false), true), (30, None, true)] {
            view.kept.set(kept);
            let step = pace.next(left, &view);
            assert_eq!(step == Step::Share, shares, "{left} {kept:?}");
            pace.block = 0;
        }
    }
}

/// Where few long items hold most of the work, they may lie together behind short ones: parts are cut by the mean
/// of all, and rows that are one long item each say that it is so.
#[test]
fn long_items_that_lie_together_are_cut_apart() {
    let (site, view) = (0x51_7e48, Eight::new());
    let entry = at(site);
    entry.record_cost(1, 2_000);
    entry.record_uneven(true);
    let row = |items, nanos| {
        let mut pace = begin(at(site), 1_000, 0, false, false, &view).seed().grow();
        (pace.items, pace.ticks) = (items, clock::ticks(nanos));
        pace.peak = (pace.ticks << 8) / items as u64;
        pace.flush();
    };
    for _ in 0..4 {
        (0..20).for_each(|_| row(1, 900_000));
        (0..20).for_each(|_| row(49, 98_000));
    }
    let (now, known) = (entry.predict(1_000).unwrap(), entry.read());
    assert!((10_000_000..40_000_000).contains(&now), "{now}");
    assert!(known.is_uneven());
    let mut pace = begin(at(site), 1_000, 0, false, false, &view);
    (pace.items, pace.ticks) = (50, clock::ticks(100_000));
    entry.replace_cost(1, 25_000);
    pace.known = entry.read();
    assert_eq!(pace.bare(2, true, &view), Bare::Halve);
    (0..8).for_each(|_| entry.record_uneven(false));
    pace.known = entry.read();
    assert_eq!(pace.bare(2, true, &view), Bare::No);
}

/// A thief's part is noted only if it is far from what was known when the call began.
#[test]
fn parts_that_are_as_expected_are_not_noted() {
    let (site, view) = (0x51_7e20, Eight::new());
    let entry = at(site);
    entry.record_cost(100, 100_000);
    let part = |nanos| {
        let mut pace = begin(at(site), 1_000, 0, false, false, &view).seed().grow();
        (pace.items, pace.ticks) = (100, clock::ticks(nanos));
        pace.flush();
        entry.read().predict(100).expect("it is known")
    };
    assert_eq!(part(130_000), 100_000);
    assert_eq!(part(80_000), 100_000);
    assert!(part(200_000) > 140_000);
    assert!(part(10_000) < 100_000);
}

/// A short loop, which one thread has run to its end if it is not shared, or which took this time. Says whether it was.
fn short(site: usize, len: usize, nanos: u64, view: &Eight) -> bool {
    let mut pace = begin(at(site), len, 0, true, false, view);
    pace.set_kind(0, false);
    view.demand.set(Some(Demand::Awake));
    let shares = matches!(pace.next(len, view), Step::Share);
    assert_ne!(shares, pace.alone);
    pace.drop_notes();
    (pace.items, pace.ticks) = (len, clock::ticks(nanos));
    pace.taken = shares;
    pace.flush();
    pace.conclude_by(|| nanos);
    shares
}

/// What sharing costs is no cost of the items: a site whose items seemed dear while they were shared learns better from
/// the first call that is not. If sharing gains nothing, later calls are not shared either.
#[test]
fn short_loops_are_shared_if_that_gains_anything() {
    let (site, mut view) = (0x51_7e30, Eight::new());
    let entry = at(site);
    entry.record_cost(10, 50_000);
    assert!(!short(site, 10, 20_000, &view), "what does it take alone?");
    assert_eq!(entry.predict(10), Some(20_000));
    for _ in 0..20 {
        assert!(short(site, 10, 10_000, &view), "it gains half of that");
        // For each item the owner was seen to take half of what was known.
        entry.replace_cost(10, 20_000);
    }
    for _ in 0..6 {
        assert!(short(site, 10, 30_000, &view), "in vain");
        assert_eq!(entry.predict(10), Some(20_000));
    }
    assert!((0..1000).all(|_| !short(site, 10, 20_000, &view)));
    view.chance = true;
    assert!((0..256 / 16).all(|_| !short(site, 10, 20_000, &view)));
    assert!(short(site, 10, 30_000, &view), "another try");
    let longer = begin(at(site), 50, 0, true, false, &view);
    assert!(longer.alone, "what does that take alone?");
    let inner = Eight {
        inner: true,
        ..Eight::new()
    };
    assert!(!begin(at(site), 50, 0, true, false, &inner).brief);
    let longest = begin(at(site), 200, 0, true, false, &view);
    assert!(!longest.brief);
}

/// Where another folder costs more than the loop takes, nothing is gained by a look for threads that want a part.
#[test]
fn what_is_too_short_for_a_second_folder_looks_for_no_thief() {
    let (site, view) = (0x51_7e88, Eight::new());
    at(site).record_cost(1_000, 5_000);
    let start = |len, worth| start(at(site), len, worth, false, false, &view);
    assert!(start(1_000, 2_000_000).plain().is_some());
    let longer = start(15_000, 2_000_000);
    assert!(longer.pace().alone && longer.plain().is_none());
    // A call that is worth it, a longer call, and a call of cheap folders.
    let others = [(15_000, 50_000), (30_000, 2_000_000), (1_000, 0)];
    assert!(
        others
            .iter()
            .all(|&(len, worth)| !start(len, worth).pace().alone)
    );
}

/// That no thread took a part of a very short loop says something only if one could have.
#[test]
fn very_short_loops_that_no_thread_takes_are_not_shared() {
    let (site, view) = (0x51_7e3c, Eight::new());
    at(site).record_cost(10, 10_000);
    let run = |demand| {
        view.demand.set(Some(demand));
        let mut pace = begin(at(site), 10, 0, true, false, &view);
        pace.set_kind(0, false);
        if !pace.alone {
            pace.next(10, &view);
            pace.drop_notes();
        }
        pace.conclude_by(|| 10_000);
        pace.alone
    };
    assert!(run(Demand::None), "the first");
    assert!((0..100).all(|_| !run(Demand::None)));
    let sleepers = Demand::Asleep { offered: 0 };
    assert!((0..6).all(|_| !run(sleepers)));
    assert!(run(sleepers));
}

/// A loop that is not to be shared is shared after all where a thread waits for it, or if it is long.
#[test]
fn a_loop_that_is_not_shared_may_turn_out_to_be_long() {
    let (site, view) = (0x51_7e34, Eight::new());
    at(site).record_cost(100, 100_000);
    view.demand.set(Some(Demand::Awake));
    let alone = || {
        let mut pace = begin(at(site), 100, 0, true, false, &view);
        pace.set_kind(0, false);
        assert!(matches!(pace.next(100, &view), Step::Run(_)));
        pace.drop_notes();
        pace
    };
    let mut pace = alone();
    (pace.items, pace.ticks) = (10, clock::ticks(50_000));
    assert_eq!(pace.next(90, &view), Step::Share);
    let mut pace = alone();
    view.waited_for.set(true);
    view.demand.set(Some(Demand::Waiting));
    assert_eq!(pace.next(100, &view), Step::Share);
}

/// Thieves of a short loop note nothing.
#[test]
fn parts_of_short_loops_are_not_noted() {
    let (site, view) = (0x51_7e38, Eight::new());
    let entry = at(site);
    entry.record_cost(100, 10_000);
    entry.profit.of(10_000).unwrap().alone(1);
    let mut pace = begin(at(site), 100, 0, true, false, &view).seed().grow();
    for nanos in [1_000, 100_000] {
        (pace.items, pace.ticks) = (10, clock::ticks(nanos));
        pace.flush();
        assert_eq!(entry.predict(100), Some(10_000));
    }
}

/// Many cheap items stay together; as much work in few items does not.
#[test]
fn dear_items_are_given_away() {
    let mut pace = Pace::alone(at(0));
    let work = |pace: &mut Pace, items, nanos| {
        pace.items = items;
        pace.ticks = clock::ticks(nanos);
    };
    work(&mut pace, 10, 100_000);
    assert!(!pace.is_enough(10_000_000, 100), "a loop of one thread");
    pace.set_kind(2_000_000, false);
    assert!(pace.is_enough(200_000, 100) && !pace.is_enough(90_000, 100));
    work(&mut pace, 10_000, 100_000);
    assert!(!pace.is_enough(200_000, 100) && pace.is_enough(2_000_001, 100));
    pace.set_kind(0, false);
    assert!(pace.is_enough(5_000, 100));
}

/// Where folders cost much, a few thousand cheap items are not shared, whatever they seem to take.
#[test]
fn few_items_share_no_dear_folders() {
    let (few, many) = (super::SHARED.0 - 1, super::SHARED.0);
    let mut pace = Pace::alone(at(0));
    (pace.items, pace.ticks) = (10_000, clock::ticks(100_000));
    pace.set_kind(100_000, false);
    assert!(pace.is_enough(200_000, many) && !pace.is_enough(200_000, few));
    assert!(pace.is_enough(3_000_000, few));
    pace.beyond = 1;
    assert!(pace.is_enough(200_000, few));
    pace.set_kind(0, false);
    pace.beyond = 0;
    assert!(pace.is_enough(200_000, few));
}

/// What threads pay for folders of their own is no cost of the items.
#[test]
fn shared_dear_folders_make_no_loop_dearer() {
    let cost = |shared, part, nanos| {
        let mut pace = Pace::alone(at(0x51_7e08));
        for _ in 0..50 {
            pace.entry.record_cost(100_000, 500_000);
        }
        pace.known = pace.entry.read();
        pace.set_kind(100_000, false);
        (pace.shared, pace.part) = (shared, part);
        (pace.items, pace.ticks) = (100_000, clock::ticks(nanos));
        pace.note_row();
        let known = |known: Known| known.predict(100_000).expect("it is known");
        known(pace.entry.read()).cmp(&known(pace.known))
    };
    assert_eq!(cost(false, false, 5_000_000), Ordering::Greater);
    for (shared, part) in [(true, false), (false, true)] {
        assert_eq!(cost(shared, part, 5_000_000), Ordering::Equal);
        assert_eq!(cost(shared, part, 100_000), Ordering::Less);
    }
}

/// A long loop of dear folders is cut into shorter parts the more threads there are; a short one is not, nor
/// one of two threads.
#[test]
fn many_threads_share_dear_folders_in_shorter_parts() {
    let least = |crew, nanos| {
        let mut pace = Pace::alone(at(0));
        pace.crew = crew;
        pace.set_kind(2_000_000, false);
        pace.adapt(nanos);
        pace.least
    };
    assert_eq!(least(1, 33_000_000), 2_000_000);
    assert_eq!(least(2, 33_000_000), 2_000_000);
    assert_eq!(least(4, 33_000_000), 1_031_250);
    assert_eq!(least(16, 33_000_000), 257_812);
    assert_eq!(least(64, 33_000_000), 250_000);
    assert_eq!(least(64, 7_000_000), 2_000_000);
}

/// The first blocks of a table, which fill it, say less of the rest than earlier calls; later ones say more.
#[test]
fn a_table_that_is_filled_is_expected_to_take_what_it_took() {
    let site = 0x51_7e00;
    let mut pace = Pace::alone(at(site));
    for _ in 0..50 {
        pace.entry.record_cost(100_000, 500_000);
    }
    pace.known = pace.entry.read();
    let work = |pace: &mut Pace, items, nanos| {
        pace.items = items;
        pace.ticks = clock::ticks(nanos);
    };
    let rest = |pace: &Pace| pace.rest(100_000).expect("items were timed");
    work(&mut pace, 1_000, 50_000);
    pace.set_kind(0, false);
    assert!(rest(&pace) > 4_000_000);
    pace.set_kind(2_000_000, false);
    assert!(rest(&pace) < 1_000_000);
    work(&mut pace, 4_000, 200_000);
    assert!(rest(&pace) > 4_000_000, "the items are others than before");
}

/// One block that took long says something of the next ones only where folders are cheap.
#[test]
fn a_table_that_grew_says_nothing_of_the_rest() {
    let mut pace = Pace::alone(at(0));
    (pace.items, pace.ticks) = (1_000, clock::ticks(1_000_000));
    pace.last = clock::ticks(50_000) << 8;
    let rest = |pace: &Pace| pace.rest(1_000).expect("items were timed");
    pace.set_kind(0, false);
    assert!((49_000_000..51_000_000).contains(&rest(&pace)));
    pace.set_kind(2_000_000, false);
    assert!((900_000..1_100_000).contains(&rest(&pace)));
}

/// A plain loop whose first items took far longer than known is shared as any other, and what two such calls in a row took
/// is what is known.
#[test]
fn a_very_short_loop_that_turns_dear_is_seen_at_once() {
    let (site, mut view) = (0x51_7e40, Eight::new());
    let entry = at(site);
    entry.replace_cost(100, 200);
    let quiet = start(at(site), 100, 0, true, false, &view);
    assert!(quiet.plain().is_some() && !quiet.is_timed());
    view.chance = true;
    view.demand.set(Some(Demand::Awake));
    for then in [301, 1_000_000] {
        let mut call = start(at(site), 100, 0, true, false, &view);
        call.began(100_000);
        assert!(call.overturns(10));
        let mut pace = call.pace();
        let kind = (pace.alone, pace.brief, pace.long);
        assert_eq!(kind, (false, false, true), "as a loop of long items");
        pace.set_kind(0, false);
        assert_eq!(pace.next(90, &view), Step::Share);
        pace.drop_notes();
        (pace.items, pace.ticks) = (50, clock::ticks(500_000));
        pace.flush();
        view.chance = false;
        let next = start(at(site), 100, 0, true, false, &view);
        assert!(
            next.plain().is_none() || next.is_timed(),
            "so is the next one"
        );
        let now = entry.predict(100).unwrap();
        assert!(now.abs_diff(then) <= then / 100, "{now}");
    }
}

/// Most inner calls of a recursion are far shorter than those of their depth are on average: few of them look at the clock.
#[test]
fn short_inner_calls_seldom_look_at_the_clock() {
    let (entry, mut view) = (at(0x51_7e44), Eight::new());
    entry.replace_cost(10, 2_000);
    let looks = |inner, view: &Eight| {
        let start = start(entry, 10, 0, true, inner, view);
        assert!(start.plain().is_some(), "shorter than a journey");
        start.is_timed()
    };
    assert!(looks(false, &view));
    assert!(!looks(true, &view));
    view.chance = true;
    assert!(looks(true, &view));
    // After a call that took far longer than known, each call looks.
    view.chance = false;
    entry.record_call_cost(10, 1_000_000);
    assert!(looks(true, &view));
}

/// Of very short loops that take about what is known, few are noted: many threads read the line.
#[test]
fn few_very_short_loops_are_noted() {
    let (entry, mut view) = (at(0x51_7e4c), Eight::new());
    for chance in [false, true] {
        entry.replace_cost(10, 2_000);
        view.chance = chance;
        let mut call = start(entry, 10, 0, false, false, &view);
        call.began(3_000);
        call.record(10);
        let noted = entry.predict(10).is_some_and(|nanos| nanos > 2_000);
        assert_eq!(noted, chance);
    }
}
