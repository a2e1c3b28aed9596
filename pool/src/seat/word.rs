//! The seat's word: which thread holds the seat, and every way in which that may change.
//!
//! The word is the only arbiter. A thread that moves it to AWAKE, GUEST, ALONE or LENT **holds** the
//! seat: the owner's side of its deques and its notes are that thread's alone until it moves the word
//! on. A seat that is NOTIFIED is promised to its thread, and no guest may take it. A thread in
//! SEARCHING looks but does not touch: before it takes any work it moves to AWAKE, and may find that
//! a guest was faster.
//!
//! ```text
//!                 Wake                 Answer              Begin
//!   ┌► PARKED ──────────────► NOTIFIED ──────► SEARCHING ◄───────► AWAKE ──► VACANT
//!   │    │ ▲                     ▲                │ │       Search   │ ▲       │ ▲
//!   │    │ └───── LieDown ───────┼────────────────┘ │ Displace       ▼ │       ▼ │
//!   │    │ Sit                   │ LeaveAndWake     ▼             CLOSED      ALONE
//!   │    └───────────────────────┼────────────► GUEST ◄──► LENT
//!   │                            └────────────────┤   Lend, Return
//!   └─────────────────────────────────────────────┘ Leave
//! ```
//!
//! Two flags lie beside the holder, and every step says what becomes of them:
//!
//! * **WAKE**: the seat's thread is to be woken when the guest leaves, if there is still anything to do.
//! * **MAIL**: a letter lies in the seat's box. A poster puts the letter there *before* it raises
//!   the flag; the reader lowers the flag *before* it empties the box. A raised flag stays with the
//!   seat from holder to holder, keeps the seat's thread from lying down, and makes a leaving guest
//!   wake that thread: so a letter is never left behind.
//!
//! The steps are data ([`Step::row`]): from which holder to which, by which thread, and how the
//! census counts them. The sleep protocol rests on one rule for the counts: *the number of
//! searching threads is never too high*. So what a step adds to `sleeping` is added before the
//! step, and what it subtracts is subtracted after it. A test checks each row against what each
//! holder stands for.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU32, Ordering};

/// The holder of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Holder {
    /// None; the thread sleeps, or has not been started yet.
    Parked = 0,
    /// None yet; the thread has been woken.
    Notified = 1,
    /// None; the thread looks for work.
    Searching = 2,
    /// The thread.
    Awake = 3,
    /// An ordinary thread; the seat's own is below it, asleep or about to be.
    Guest = 4,
    /// An ordinary thread, on a seat that has no thread.
    Alone = 5,
    /// None, and there is no thread.
    Vacant = 6,
    /// The thread, for its mail only, while a guest waits.
    Lent = 7,
    /// None, and no thread may hold it: a spare seat that is not needed.
    Closed = 8,
}

impl Holder {
    /// Every holder there is.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 9] = [
        Self::Parked,
        Self::Notified,
        Self::Searching,
        Self::Awake,
        Self::Guest,
        Self::Alone,
        Self::Vacant,
        Self::Lent,
        Self::Closed,
    ];

    fn from_bits(bits: u32) -> Self {
        match bits & HOLDER {
            0 => Self::Parked,
            1 => Self::Notified,
            2 => Self::Searching,
            3 => Self::Awake,
            4 => Self::Guest,
            5 => Self::Alone,
            6 => Self::Vacant,
            7 => Self::Lent,
            _ => Self::Closed,
        }
    }

    /// What a seat with this holder adds to the census: threads without work, and sleepers among
    /// them. A thread below a guest counts as asleep.
    pub(crate) fn census(self) -> (u64, u64) {
        match self {
            Self::Parked | Self::Guest | Self::Lent => (1, 1),
            Self::Notified | Self::Searching => (1, 0),
            Self::Awake | Self::Alone | Self::Vacant | Self::Closed => (0, 0),
        }
    }
}

const HOLDER: u32 = 0xf;
const WAKE: u32 = 0x10;
const MAIL: u32 = 0x20;
const FLAGS: u32 = WAKE | MAIL;

/// One reading of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    pub(crate) fn holder(self) -> Holder {
        Holder::from_bits(self.0)
    }

    /// Whether a letter lies in the box, or has just been read.
    pub(crate) fn has_mail(self) -> bool {
        self.0 & MAIL != 0
    }

    /// Whether the thread is to be woken when the guest leaves.
    pub(crate) fn is_asked_for(self) -> bool {
        self.0 & WAKE != 0
    }

    /// Whether a guest sits here.
    pub(crate) fn is_visited(self) -> bool {
        matches!(self.holder(), Holder::Guest | Holder::Lent | Holder::Alone)
    }

    /// Whether a guest sits here whose seat's own thread is counted as asleep.
    pub(crate) fn is_above_its_thread(self) -> bool {
        matches!(self.holder(), Holder::Guest | Holder::Lent)
    }

    /// Whether some thread sits here.
    pub(crate) fn is_held(self) -> bool {
        use Holder::{Alone, Awake, Guest, Lent};
        matches!(self.holder(), Awake | Guest | Alone | Lent)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.holder())?;
        f.write_str(if self.is_asked_for() { "+wake" } else { "" })?;
        f.write_str(if self.has_mail() { "+mail" } else { "" })
    }
}

/// Every way in which a seat changes hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The right to wake the thread is claimed.
    Wake,
    /// The thread gets up of its own accord.
    Rise,
    /// The woken thread has come.
    Answer,
    /// The thread has run out of work.
    Search,
    /// The thread has seen work, and may take it from here on.
    Begin,
    /// The thread goes to sleep. Not while there is mail.
    LieDown,
    /// A guest sits down beside a sleeping thread.
    Sit,
    /// A guest takes the seat of a thread that searches.
    Displace,
    /// A guest sits down where there is no thread.
    SitAlone,
    /// A guest opens a spare seat for itself.
    SitSpare,
    /// The guest leaves; no thread is asked for.
    Leave,
    /// The guest leaves the seat, and what lies there, to the thread.
    LeaveAndWake,
    /// The guest leaves a seat without a thread.
    LeaveAlone,
    /// The guest lends the seat to the thread for its mail.
    Lend,
    /// The thread gives it back.
    Return,
    /// The system refused the thread to which a guest would lend its seat.
    NoBorrower,
    /// The system refused the thread that was to be woken.
    Refuse,
    /// The same on a spare seat.
    RefuseSpare,
    /// The thread leaves for good. Not while there is mail.
    Go,
    /// A spare seat is opened.
    Open,
    /// A spare seat is closed, whose thread sleeps.
    Close,
    /// A spare thread closes its own seat. Not while there is mail.
    StandDown,
    /// The thread of a closed seat is woken to see that the pool is over.
    Recall,
    /// The thread that has closed its seat sees that the pool is over.
    Resume,
}

/// Which thread may take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The seat's own thread.
    Thread,
    /// The guest, or an ordinary thread that would be.
    Guest,
    /// Any thread.
    Anybody,
}

/// What becomes of the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flags {
    /// The step fails if one is up.
    Down,
    /// They stay.
    Keep,
    /// WAKE is answered by this step; MAIL stays.
    Answered,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) from: Holder,
    pub(crate) to: Holder,
    /// For readers of the code and for tests: the word itself does not know the caller.
    #[cfg_attr(not(test), expect(dead_code))]
    pub(crate) by: By,
    pub(crate) flags: Flags,
}

impl Step {
    /// Every step there is.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 24] = [
        Self::Wake,
        Self::Rise,
        Self::Answer,
        Self::Search,
        Self::Begin,
        Self::LieDown,
        Self::Sit,
        Self::Displace,
        Self::SitAlone,
        Self::SitSpare,
        Self::Leave,
        Self::LeaveAndWake,
        Self::LeaveAlone,
        Self::Lend,
        Self::Return,
        Self::NoBorrower,
        Self::Refuse,
        Self::RefuseSpare,
        Self::Go,
        Self::Open,
        Self::Close,
        Self::StandDown,
        Self::Recall,
        Self::Resume,
    ];

    /// The table.
    #[inline(always)]
    pub(crate) const fn row(self) -> Row {
        use By::{Anybody, Guest as Visitor, Thread};
        use Flags::{Answered, Down, Keep};
        use Holder::{Alone, Awake, Closed, Guest, Lent, Notified, Parked, Searching, Vacant};
        let (from, to, by, flags) = match self {
            Self::Wake => (Parked, Notified, Anybody, Keep),
            Self::Rise => (Parked, Searching, Thread, Keep),
            Self::Answer => (Notified, Searching, Thread, Keep),
            Self::Search => (Awake, Searching, Thread, Keep),
            Self::Begin => (Searching, Awake, Thread, Keep),
            Self::LieDown => (Searching, Parked, Thread, Down),
            Self::Sit => (Parked, Guest, Visitor, Keep),
            Self::Displace => (Searching, Guest, Visitor, Keep),
            Self::SitAlone => (Vacant, Alone, Visitor, Keep),
            Self::SitSpare => (Closed, Guest, Visitor, Down),
            Self::Leave => (Guest, Parked, Visitor, Down),
            Self::LeaveAndWake => (Guest, Notified, Visitor, Answered),
            Self::LeaveAlone => (Alone, Vacant, Visitor, Keep),
            Self::Lend => (Guest, Lent, Visitor, Keep),
            Self::Return => (Lent, Guest, Thread, Keep),
            Self::NoBorrower => (Lent, Alone, Visitor, Keep),
            Self::Refuse => (Notified, Vacant, Anybody, Keep),
            Self::RefuseSpare => (Notified, Closed, Anybody, Keep),
            Self::Go => (Awake, Vacant, Thread, Down),
            Self::Open => (Closed, Parked, Anybody, Down),
            Self::Close => (Parked, Closed, Anybody, Down),
            Self::StandDown => (Awake, Closed, Thread, Down),
            Self::Recall => (Closed, Notified, Anybody, Down),
            Self::Resume => (Closed, Awake, Thread, Down),
        };
        Row {
            from,
            to,
            by,
            flags,
        }
    }
}

/// What became of a letter's flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Posted {
    /// It is up; this holder comes to it.
    Up(Holder),
    /// The thread is asleep: it is to be woken, and the flag raised then.
    Asleep,
    /// There is no thread.
    NoThread,
}

/// The word.
#[derive(Debug)]
pub(crate) struct SeatWord(AtomicU32);

impl SeatWord {
    pub(super) fn new(holder: Holder) -> Self {
        Self(AtomicU32::new(holder as u32))
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> State {
        // Acquire: pairs with `step`: a thread that finds itself displaced sees what the guest did
        // first.
        State(self.0.load(Ordering::Acquire))
    }

    /// Takes a step, if the seat is where the step begins. The census is not counted: that is
    /// [`Sleep::take`](super::sleep::Sleep::take)'s part.
    #[inline(always)]
    pub(super) fn step(&self, row: Row) -> bool {
        match self.exchange(row.from as u32, row.to as u32) {
            Ok(()) => true,
            Err(_) if row.flags as u32 == Flags::Down as u32 => false,
            Err(now) => self.step_with_flags(row, now),
        }
    }

    #[cold]
    fn step_with_flags(&self, row: Row, mut now: u32) -> bool {
        let kept = if row.flags == Flags::Keep {
            FLAGS
        } else {
            MAIL
        };
        while now & HOLDER == row.from as u32 {
            match self.exchange(now, row.to as u32 | now & kept) {
                Ok(()) => return true,
                Err(other) => now = other,
            }
        }
        false
    }

    /// Asks that the thread be woken when the guest leaves. False if no guest is there.
    pub(crate) fn ask(&self) -> bool {
        let visited = |holder| matches!(holder, Holder::Guest | Holder::Lent);
        matches!(self.raise(WAKE, visited), Posted::Up(_))
    }

    /// Raises MAIL for a letter that was put into the box before.
    pub(super) fn post(&self) -> Posted {
        self.raise(MAIL, |_| true)
    }

    fn raise(&self, flag: u32, fits: impl Fn(Holder) -> bool) -> Posted {
        let mut now = self.load().0;
        loop {
            let holder = Holder::from_bits(now);
            match holder {
                Holder::Vacant | Holder::Alone | Holder::Closed => return Posted::NoThread,
                Holder::Parked => return Posted::Asleep,
                _ if !fits(holder) => return Posted::NoThread,
                _ => {}
            }
            match self.exchange(now, now | flag) {
                Ok(()) => return Posted::Up(holder),
                Err(other) => now = other,
            }
        }
    }

    /// The guest, before it looks whether the seat's thread is needed.
    pub(super) fn lower_wake(&self) {
        // Relaxed: a fence follows, and the step by which the guest leaves hands the seat on.
        self.0.fetch_and(!WAKE, Ordering::Relaxed);
    }

    /// The holder, before it empties the box.
    pub(crate) fn lower_mail(&self) {
        // AcqRel: pairs with `post`, whose letter is seen in the box then.
        self.0.fetch_and(!MAIL, Ordering::AcqRel);
    }

    /// The holder, which has left letters in the box.
    pub(crate) fn raise_mail_again(&self) {
        // Release: as in `post`.
        self.0.fetch_or(MAIL, Ordering::Release);
    }

    #[inline(always)]
    fn exchange(&self, old: u32, new: u32) -> Result<(), u32> {
        // AcqRel: hands what the last holder left in the deques and notes to the next holder, and what a poster
        // left in the box to its reader.
        self.0
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
            .map(drop)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{By, Flags, Holder, MAIL, Ordering, Posted, SeatWord, Step, WAKE};

    /// A word as it is at each holder, with and without flags.
    fn at(holder: Holder, flags: u32) -> SeatWord {
        let word = SeatWord::new(holder);
        word.0.store(holder as u32 | flags, Ordering::Relaxed);
        word
    }

    #[test]
    fn each_step_begins_at_one_holder_and_keeps_its_flags() {
        for step in Step::ALL {
            let row = step.row();
            for holder in Holder::ALL {
                for flags in [0, super::WAKE, super::MAIL, super::FLAGS] {
                    let word = at(holder, flags);
                    let fits = holder == row.from
                        && match row.flags {
                            Flags::Down => flags == 0,
                            Flags::Keep | Flags::Answered => true,
                        };
                    assert_eq!(word.step(row), fits, "{step:?} from {holder:?} {flags:#x}");
                    let seen = word.load();
                    let answered = row.flags == Flags::Answered;
                    let kept = if answered && fits {
                        flags & super::MAIL
                    } else {
                        flags
                    };
                    let now = if fits { row.to } else { holder };
                    assert_eq!(seen.0, now as u32 | kept);
                }
            }
        }
    }

    /// A step that fails at a flag has a caller that sees to the flag and comes again. The callers of all
    /// others do not come again.
    #[test]
    fn these_steps_alone_fail_at_a_flag() {
        use Step::{Close, Go, Leave, LieDown, Open, Recall, Resume, SitSpare, StandDown};
        let these = [
            LieDown, SitSpare, Leave, Go, Open, Close, StandDown, Recall, Resume,
        ];
        for step in Step::ALL {
            let fails = step.row().flags == Flags::Down;
            assert_eq!(fails, these.contains(&step), "{step:?}");
        }
    }

    /// Every word that a seat of the pool's own can come to, spare ones apart: from a thread that is
    /// there, or not yet.
    fn all_words() -> Vec<u32> {
        use Step::{Close, Open, Recall, RefuseSpare, Resume, SitSpare, StandDown};
        let spare = [
            Close,
            Open,
            Recall,
            RefuseSpare,
            Resume,
            SitSpare,
            StandDown,
        ];
        let mut all = vec![Holder::Parked as u32, Holder::Awake as u32];
        let mut looked = 0;
        while let Some(&from) = all.get(looked) {
            looked += 1;
            let word = || {
                let word = SeatWord::new(Holder::Parked);
                word.0.store(from, super::Ordering::Relaxed);
                word
            };
            let mut come_to = |change: &dyn Fn(&SeatWord)| {
                let word = word();
                change(&word);
                let to = word.load().0;
                if !all.contains(&to) {
                    all.push(to);
                }
            };
            for step in Step::ALL.into_iter().filter(|step| !spare.contains(step)) {
                come_to(&|word| {
                    word.step(step.row());
                });
            }
            come_to(&|word| {
                word.ask();
            });
            come_to(&|word| {
                word.post();
            });
            come_to(&|word| word.lower_mail());
        }
        all
    }

    /// A thread that has a seat, or could have it, is never kept from the step by which it goes on,
    /// whatever flags are up: no other thread would take that step for it.
    #[test]
    fn no_word_is_an_end() {
        for now in all_words() {
            let free = |step: Step| at(Holder::from_bits(now), now & super::FLAGS).step(step.row());
            let goes_on = match Holder::from_bits(now) {
                Holder::Parked => free(Step::Wake) && free(Step::Rise) && free(Step::Sit),
                Holder::Notified => free(Step::Answer) && free(Step::Refuse),
                Holder::Searching => free(Step::Begin) && free(Step::Displace),
                Holder::Awake => free(Step::Search),
                Holder::Guest => free(Step::LeaveAndWake) && free(Step::Lend),
                Holder::Lent => free(Step::Return) && free(Step::NoBorrower),
                Holder::Alone => free(Step::LeaveAlone),
                Holder::Vacant => free(Step::SitAlone),
                // Only spare seats are ever closed.
                Holder::Closed => false,
            };
            assert!(goes_on, "{:?}", super::State(now));
        }
    }

    /// WAKE is lowered where it is answered, as the guest leaves. A thread that wakes up, or works,
    /// never finds it.
    #[test]
    fn a_guest_that_leaves_answers_what_it_was_asked() {
        for now in all_words() {
            let asleep_or_at_work = !matches!(
                Holder::from_bits(now),
                Holder::Guest | Holder::Lent | Holder::Alone | Holder::Vacant
            );
            let state = super::State(now);
            assert!(!(asleep_or_at_work && state.is_asked_for()), "{state:?}");
        }
    }

    /// The census counts threads: where there is none, none sleeps and none is without work.
    #[test]
    fn only_a_thread_is_counted() {
        for holder in [Holder::Alone, Holder::Vacant, Holder::Closed] {
            assert_eq!(holder.census(), (0, 0), "{holder:?}");
        }
    }

    /// No letter is forgotten: a step to a holder that would not come to it keeps the flag down.
    /// The thread that reads mail on a lent seat leaves what the guest was asked.
    #[test]
    fn mail_that_is_read_lowers_its_own_flag() {
        for holder in [Holder::Guest, Holder::Lent] {
            let word = at(holder, WAKE | MAIL);
            word.lower_mail();
            assert_eq!(word.0.load(Ordering::Relaxed), holder as u32 | WAKE);
        }
    }

    #[test]
    fn mail_goes_with_the_seat() {
        for step in Step::ALL {
            let row = step.row();
            let sleeps = matches!(row.to, Holder::Parked | Holder::Closed | Holder::Vacant);
            let read_by_others =
                matches!(step, Step::Refuse | Step::RefuseSpare | Step::LeaveAlone);
            if sleeps && !read_by_others {
                let refuses_mail = row.flags == Flags::Down;
                assert!(refuses_mail, "{step:?}");
            }
        }
        for holder in Holder::ALL {
            let word = at(holder, 0);
            let posted = word.post();
            assert_eq!(
                word.load().has_mail(),
                matches!(posted, Posted::Up(_)),
                "{holder:?}"
            );
        }
    }

    /// Only the seat's own thread moves it to AWAKE, only a guest to GUEST.
    #[test]
    fn a_seat_is_taken_by_its_thread_or_a_guest() {
        for step in Step::ALL {
            let row = step.row();
            match row.to {
                Holder::Awake | Holder::Searching => assert_eq!(row.by, By::Thread, "{step:?}"),
                Holder::Guest if step != Step::Return => assert_eq!(row.by, By::Guest, "{step:?}"),
                _ => {}
            }
        }
    }

    #[test]
    fn a_guest_is_asked_to_wake_the_thread() {
        for holder in Holder::ALL {
            let word = at(holder, 0);
            let asked = word.ask();
            assert_eq!(
                asked,
                matches!(holder, Holder::Guest | Holder::Lent),
                "{holder:?}"
            );
            assert_eq!(word.load().is_asked_for(), asked);
            assert_eq!(word.ask(), asked);
        }
    }
}
