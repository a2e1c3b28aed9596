//! Cores, threads and time.
//!
//! Each core has a clock of its own, in picoseconds. The thread on the core whose clock is
//! earliest runs; it goes on until its clock is ahead of another's and it is about to do something
//! that the other could notice. So everything that threads can notice of each other happens in the
//! order of time, and what they compute, and how long it takes, follows from the program, the cost
//! model and the seed.
//!
//! What a thread does between two touches of shared memory takes no time, unless it says so
//! ([`work`]) or the machine is asked to measure it.

use super::buckets::{Buckets, Spent};
use super::costs::{Costs, Topology};
use super::hop::{self, Context};
use super::lines::{Came, Lines, Way};
use super::meter::Meter;
use super::random::Random;
use super::stretch::{self, Stretch};
use super::system;
use super::warmth;
use std::cell::UnsafeCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tine_pool::schedule::{Point, Touch, set_hook};

pub(super) const PS: u64 = 1000;
pub(super) const MOST_THREADS: usize = 1024;
/// Where time begins, in nanoseconds: no clock is near zero.
pub(super) const EPOCH: u64 = 1_000_000_000_000;

/// What a blocked thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// A wake-up at this address.
    Futex(usize),
    /// A time, and nothing else.
    Time,
    /// The end of that thread.
    End(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// On its core.
    Running,
    /// In its core's queue.
    Queued,
    Blocked(On),
    Ended,
}

pub(super) struct Thread {
    context: Context,
    run: Run,
    core: usize,
    /// Changes whenever the thread is woken: an older limit of time does not count.
    generation: u32,
    timed_out: bool,
    pthread: libc::pthread_t,
    name: [u8; 16],
    /// When it was blocked: a number that grows.
    since: u64,
    pub(super) times: Times,
}

/// Where the time of one thread went, in picoseconds, and what it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) work: u64,
    pub(crate) stall: u64,
    pub(crate) hits: u64,
    pub(crate) spin: u64,
    pub(crate) system: u64,
    pub(crate) wakes: u64,
    pub(crate) sleeps: u64,
    pub(crate) touches: u64,
    pub(crate) transfers: u64,
    pub(crate) refused: u64,
    pub(crate) first_work: Option<u64>,
}

#[derive(Default)]
pub(super) struct Core {
    pub(super) clock: u64,
    /// When the store buffer will be empty.
    drain: u64,
    /// Whether the last operation was a load that missed.
    streams: bool,
    running: Option<usize>,
    queue: VecDeque<usize>,
    slice_end: u64,
    generation: u32,
}

/// The model's figures in picoseconds.
struct Ps {
    hit: u64,
    rmw: u64,
    fence: u64,
    overlap: u64,
    buffer: u64,
    pause: u64,
    yields: u64,
    clock: u64,
    call: u64,
    wake: u64,
    warm: u64,
    cold: u64,
    deep: u64,
    spawn: u64,
    start: u64,
    barrier: u64,
    slack: u64,
    slice: u64,
    switch: u64,
    order: u64,
}

impl Ps {
    fn of(costs: &Costs) -> Self {
        let ps = |nanos: f64| (nanos * PS as f64) as u64;
        Self {
            hit: ps(costs.hit),
            rmw: ps(costs.rmw),
            fence: ps(costs.fence),
            overlap: costs.overlap.max(1.0) as u64,
            buffer: ps(costs.buffer),
            pause: ps(costs.pause),
            yields: ps(costs.yields),
            clock: ps(costs.clock),
            call: ps(costs.call),
            wake: ps(costs.wake),
            warm: ps(costs.warm),
            cold: ps(costs.cold),
            deep: ps(costs.deep),
            spawn: ps(costs.spawn),
            start: ps(costs.start),
            barrier: ps(costs.barrier),
            slack: ps(costs.slack),
            slice: ps(costs.slice),
            switch: ps(costs.switch),
            order: ps(costs.order),
        }
    }
}

/// What is next: a core whose thread can run, or a thread whose limit of time comes.
type Event = Reverse<(u64, Next, u32)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Core(u32),
    Limit(u32),
}

pub(super) struct Machine {
    costs: Ps,
    topology: Topology,
    // A vector of boxes: a context stays where it is while the vector grows.
    #[allow(clippy::vec_box)]
    pub(super) threads: Vec<Box<Thread>>,
    pub(super) cores: Vec<Core>,
    /// Cores without a thread, a bit each.
    idle: u128,
    current: usize,
    core: usize,
    events: BinaryHeap<Event>,
    /// The time of the first event.
    horizon: u64,
    pub(super) lines: Lines,
    random: Random,
    what: String,
    /// Counting began at this time.
    pub(super) zero: u64,
    /// Set if the time between touches is measured.
    meter: Option<Meter>,
    /// Whether stretches are noted.
    tells_few: bool,
    pub(super) stretches: Vec<Stretch>,
    /// Set if the report shows what threads do, by time.
    pub(super) buckets: Option<Buckets>,
    pub(super) switches: u64,
    blocks: u64,
    /// The computing time of all threads, if that is measured, in picoseconds.
    computed: u64,
    /// What a core's own cache holds, in bytes; 0 if that is not computed.
    cache: usize,
}

struct Global(UnsafeCell<Option<Machine>>);
// SAFETY: touched by the one thread that runs alone.
unsafe impl Sync for Global {}

static MACHINE: Global = Global(UnsafeCell::new(None));
static RUNNING: AtomicBool = AtomicBool::new(false);
/// The number of the thread that runs, where the machine measures what it computes.
static ME: AtomicUsize = AtomicUsize::new(usize::MAX);
/// A thread's cache is fetched anew if other threads have computed for this long meanwhile, in picoseconds.
const LOST: u64 = 500 * PS;

/// The machine, entered: the computing time since it was left is charged, if that is wanted.
pub(super) struct Entered(&'static mut Machine);

impl std::ops::Deref for Entered {
    type Target = Machine;
    fn deref(&self) -> &Machine {
        self.0
    }
}

impl std::ops::DerefMut for Entered {
    fn deref_mut(&mut self) -> &mut Machine {
        self.0
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if let Some(meter) = &mut self.0.meter {
            meter.leave();
        }
    }
}

#[inline]
pub(super) fn machine() -> Option<Entered> {
    if !RUNNING.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: one thread runs at a time, and none uses the reference after it has handed over
    // but to read what it finds then.
    let machine = unsafe { (*MACHINE.0.get()).as_mut() }?;
    if let Some(meter) = &mut machine.meter {
        let passed = meter.passed();
        let core = machine.core;
        machine.cores[core].clock += passed;
        machine.computed += passed;
        let current = machine.current;
        machine.threads[current].times.work += passed;
        machine.bucket(passed, Spent::Work);
        if machine.tells_few && passed >= stretch::LEAST {
            let end = machine.cores[core].clock;
            machine.stretches.push(Stretch::new(end, passed));
        }
    }
    Some(Entered(machine))
}

/// Makes the calling thread, which must be the only one of the process, the first of a machine.
/// `what` is printed when something fails; it contains the seed.
pub(crate) fn start(costs: &Costs, topology: Topology, seed: u64, measure: bool, what: &str) {
    hop::choose();
    let meter = measure.then(Meter::new);
    let cores = topology.cores();
    let machine = Machine {
        costs: Ps::of(costs),
        topology,
        threads: Vec::with_capacity(MOST_THREADS),
        cores: (0..cores)
            .map(|_| Core {
                clock: EPOCH * PS,
                ..Core::default()
            })
            .collect(),
        idle: if cores == 128 {
            u128::MAX
        } else {
            (1 << cores) - 1
        },
        current: 0,
        core: 0,
        events: BinaryHeap::new(),
        horizon: u64::MAX,
        lines: Lines::new(costs, topology),
        random: Random::new(seed),
        what: what.to_owned(),
        zero: EPOCH * PS,
        meter,
        tells_few: stretch::is_wanted(),
        stretches: Vec::new(),
        buckets: Buckets::wanted(),
        switches: 0,
        blocks: 0,
        computed: 0,
        cache: if measure {
            costs.cache as usize * 1024
        } else {
            0
        },
    };
    // SAFETY: the only thread.
    let place = unsafe { &mut *MACHINE.0.get() };
    let machine = place.insert(machine);
    machine.add("main");
    // SAFETY: no preconditions.
    machine.threads[0].pthread = unsafe { libc::pthread_self() };
    machine.threads[0].run = Run::Running;
    machine.cores[0].running = Some(0);
    machine.cores[0].slice_end = EPOCH * PS + machine.costs.slice;
    machine.idle &= !1;
    machine.told(0);
    RUNNING.store(true, Ordering::Relaxed);
    set_hook(touch);
}

fn touch(touch: Touch) {
    let Some(mut m) = machine() else { return };
    match touch.point {
        Point::Load => m.access(&touch, Way::Load),
        Point::Store => m.access(&touch, Way::Store),
        Point::Exchange => m.access(&touch, Way::Exchange),
        Point::Refused => {
            m.lines.note_refusal(touch.address, touch.place);
            m.me().times.refused += 1;
        }
        Point::Fence => m.fence(touch.place),
        Point::Order => {}
        Point::Pause => m.spend(|c| c.pause, |t| &mut t.spin),
    }
}

/// The number of the calling thread, where what it computes is measured.
#[inline]
pub(super) fn me() -> Option<usize> {
    let me = ME.load(Ordering::Relaxed);
    (me != usize::MAX).then_some(me)
}

/// Whether the calling thread is one of a machine.
pub(super) fn is_running() -> bool {
    RUNNING.load(Ordering::Relaxed)
}

/// How many cores the machine has.
pub(super) fn cores() -> Option<usize> {
    machine().map(|m| m.cores.len())
}

/// The core of the calling thread.
pub(super) fn core() -> Option<usize> {
    machine().map(|m| m.core)
}

/// A call into the system begins: all earlier writes have left the store buffer.
pub(super) fn point() {
    if let Some(mut m) = machine() {
        let drain = m.here().drain;
        let core = m.here();
        core.clock = core.clock.max(drain);
        m.spend(|c| c.call, |t| &mut t.system);
        m.turn(0);
    }
}

/// A memory barrier for every thread.
pub(super) fn barrier() {
    if let Some(mut m) = machine() {
        m.spend(|c| c.barrier, |t| &mut t.system);
        m.turn(0);
    }
}

/// The thread has no work and lets others run.
pub(super) fn pause() {
    if let Some(mut m) = machine() {
        m.spend(|c| c.yields, |t| &mut t.spin);
        if !m.here().queue.is_empty() {
            m.here().slice_end = 0;
        }
        m.turn(0);
    }
}

/// The calling thread computes for this many nanoseconds.
pub(crate) fn work(nanos: u64) {
    if let Some(mut m) = machine() {
        let at = m.here().clock;
        m.me().times.first_work.get_or_insert(at);
        m.me().times.work += nanos * PS;
        let core = m.here();
        core.clock += nanos * PS;
        core.streams = false;
        let over = core.slice_is_over();
        m.bucket(nanos * PS, Spent::Work);
        if over {
            m.turn(0);
        }
    }
}

/// Nanoseconds. A look at the clock takes its time.
pub(super) fn now() -> Option<u64> {
    let mut m = machine()?;
    m.spend(|c| c.clock, |t| &mut t.system);
    Some(m.here().clock / PS)
}

/// Nanoseconds; the look takes no time.
pub(crate) fn peek() -> u64 {
    machine().map_or(0, |mut m| m.here().clock / PS)
}

/// A number from the seed.
pub(super) fn random() -> Option<u64> {
    Some(machine()?.random.next())
}

/// Waits until woken at `on` or until `until` (nanoseconds) has come; says whether it was woken.
pub(super) fn block(on: On, until: u64) -> bool {
    machine().is_none_or(|mut m| m.block(on, until))
}

/// Wakes up to `count` of the threads that wait at this address, in the order in which they came.
pub(super) fn wake(address: usize, count: u64) -> u64 {
    machine().map_or(0, |mut m| m.wake(address, count))
}

/// A thread is about to be started: its number.
pub(super) fn add() -> usize {
    let mut m = machine().expect("a thread of the machine starts it");
    m.spend(|c| c.spawn, |t| &mut t.system);
    m.add("thread")
}

/// It was started, or not.
pub(super) fn started(thread: usize, pthread: Option<libc::pthread_t>) {
    let mut m = machine().expect("a thread of the machine starts it");
    let Some(pthread) = pthread else {
        m.threads[thread].run = Run::Ended;
        return;
    };
    m.threads[thread].pthread = pthread;
    let context = &raw const m.threads[thread].context;
    // SAFETY: the box stays where it is.
    unsafe { Context::wait_until_lent(context) };
    let at = m.here().clock + m.costs.start;
    m.threads[thread].core = m.core;
    m.bring(thread, at, at);
    m.turn(0);
}

/// The first thing that a new thread does.
pub(super) fn begin(thread: usize) {
    // SAFETY: neither the vector, which has room for all, nor the box is ever moved.
    let context = unsafe {
        let machine = (*MACHINE.0.get()).as_mut().expect("there is a machine");
        &raw mut machine.threads[thread].context
    };
    // SAFETY: the context lives for ever; this is its thread.
    unsafe { Context::adopt(context) };
    // SAFETY: the calling thread runs alone now.
    let machine = unsafe { (*MACHINE.0.get()).as_mut() };
    if let Some(meter) = machine.and_then(|machine| machine.meter.as_mut()) {
        meter.leave();
    }
}

/// The last thing.
pub(super) fn end() {
    let Some(mut m) = machine() else { return };
    let me = m.current;
    let now = m.here().clock;
    for thread in 0..m.threads.len() {
        if m.threads[thread].run == Run::Blocked(On::End(me)) {
            m.rouse(thread, now, false);
        }
    }
    m.threads[me].run = Run::Ended;
    m.free_core();
    let next = m.next();
    m.told(next);
    let (from, to) = (
        &raw mut m.threads[me].context,
        &raw const m.threads[next].context,
    );
    // SAFETY: both boxes live for ever; the next thread waits.
    unsafe { hop::leave(from, to) };
}

/// Which thread has this handle: the youngest such.
pub(super) fn find(pthread: libc::pthread_t) -> Option<usize> {
    machine()?
        .threads
        .iter()
        .rposition(|t| t.pthread == pthread)
}

/// Waits for a thread's end; returns whether that is enough, so that the system need not be asked.
pub(super) fn wait_for_end(thread: usize) -> bool {
    if let Some(mut m) = machine()
        && m.threads[thread].run != Run::Ended
    {
        m.block(On::End(thread), u64::MAX);
    }
    hop::threads_stay()
}

/// The calling thread's name, for reports.
pub(super) fn set_name(name: &[u8]) {
    if let Some(mut m) = machine() {
        let len = name.len().min(15);
        let me = m.me();
        me.name = [0; 16];
        me.name[..len].copy_from_slice(&name[..len]);
    }
}

impl Core {
    fn slice_is_over(&self) -> bool {
        !self.queue.is_empty() && self.clock >= self.slice_end
    }
}

impl Machine {
    fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    pub(super) fn here(&mut self) -> &mut Core {
        &mut self.cores[self.core]
    }

    /// Lets time pass on this core, and notes what it was spent on.
    fn spend(&mut self, what: impl Fn(&Ps) -> u64, to: impl Fn(&mut Times) -> &mut u64) {
        let ps = what(&self.costs);
        *to(&mut self.me().times) += ps;
        let core = self.here();
        core.clock += ps;
        core.streams = false;
        self.bucket(ps, Spent::Other);
    }

    // ---- memory -----------------------------------------------------------------------------

    #[inline]
    fn access(&mut self, touch: &Touch, way: Way) {
        // Data larger than four lines is not touched as a whole.
        let bytes = touch.bytes.clamp(1, 256);
        let last = touch.address + bytes - 1;
        let mut address = touch.address;
        loop {
            self.access_line(address, way, touch.place);
            address = (address | 63) + 1;
            if address > last {
                return;
            }
        }
    }

    fn access_line(&mut self, address: usize, way: Way, place: &'static Location<'static>) {
        self.me().times.touches += 1;
        loop {
            // After others have run, this thread may be on another core.
            let core = self.core;
            let has = self.lines.has(core, address, way);
            let order = if has { self.costs.order } else { 0 };
            if self.turn(order) {
                continue;
            }
            if has {
                return self.hit(way);
            }
            let chance = (self.random.next() >> 40) as f64 / (1_u64 << 24) as f64;
            let clock = self.here().clock;
            let begin = match way {
                // The line of a store is asked for at once, behind others that are under way.
                Way::Load | Way::Store => clock,
                Way::Exchange => clock.max(self.here().drain),
            };
            let Came { start, latency } = self.lines.fetch(core, address, way, begin, chance);
            let (hit, rmw, overlap, buffer) = (
                self.costs.hit,
                self.costs.rmw,
                self.costs.overlap,
                self.costs.buffer,
            );
            let core = self.here();
            match way {
                Way::Load => {
                    let parts = if core.streams { overlap } else { 1 };
                    core.clock = start + latency / parts;
                    core.streams = true;
                }
                Way::Store => {
                    core.drain = (core.drain + latency / overlap).max(start + latency);
                    core.clock = (clock + hit).max(core.drain.saturating_sub(buffer));
                }
                Way::Exchange => {
                    core.clock = start + latency + rmw;
                    core.streams = false;
                }
            }
            let now = core.clock;
            if way == Way::Exchange {
                self.lines.keep_busy(address, now);
            }
            self.lines.note(address, place, now - clock);
            let times = &mut self.me().times;
            times.stall += now - clock;
            times.transfers += 1;
            self.bucket(now - clock, Spent::Stall(place));
            return;
        }
    }

    fn hit(&mut self, way: Way) {
        let (hit, rmw) = (self.costs.hit, self.costs.rmw);
        let core = self.here();
        let before = core.clock;
        if way == Way::Exchange {
            core.clock = core.clock.max(core.drain) + rmw;
            core.streams = false;
        } else {
            core.clock += hit;
        }
        let took = core.clock - before;
        self.me().times.hits += took;
        self.bucket(took, Spent::Other);
    }

    fn fence(&mut self, place: &'static Location<'static>) {
        self.turn(self.costs.order);
        let fence = self.costs.fence;
        let core = self.here();
        let before = core.clock;
        core.clock = core.clock.max(core.drain) + fence;
        core.streams = false;
        let took = core.clock - before;
        self.me().times.stall += took;
        self.bucket(took, Spent::Stall(place));
    }

    // ---- who is next ------------------------------------------------------------------------

    /// Lets the threads run whose clocks are earlier by more than `ahead`; returns whether any did.
    #[inline]
    fn turn(&mut self, ahead: u64) -> bool {
        let core = &self.cores[self.core];
        if core.clock <= self.horizon.saturating_add(ahead) && !core.slice_is_over() {
            return false;
        }
        self.hand_over();
        true
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        let core = self.core;
        if self.cores[core].slice_is_over() {
            let me = self.current;
            self.threads[me].run = Run::Queued;
            self.cores[core].queue.push_back(me);
            self.take_from_queue(core);
        } else {
            self.push_core(core);
        }
        self.go_on();
    }

    /// Runs the next thread; comes back when this thread is.
    fn go_on(&mut self) {
        let me = self.current;
        let next = self.next();
        if next == me {
            return;
        }
        self.switches += 1;
        let (from, to) = (
            &raw mut self.threads[me].context,
            &raw const self.threads[next].context,
        );
        let before = self.computed;
        self.told(next);
        // SAFETY: both boxes live for ever; the next thread waits.
        unsafe { hop::switch(from, to) };
        if self.cache > 0 && self.computed - before >= LOST {
            warmth::fetch(me, self.cache);
        }
    }

    /// Tells which thread runs from now on.
    fn told(&self, thread: usize) {
        if self.meter.is_some() {
            ME.store(thread, Ordering::Relaxed);
        }
    }

    /// Takes the next thread out of the events and makes it the current one.
    fn next(&mut self) -> usize {
        loop {
            let Some(Reverse((at, next, generation))) = self.events.pop() else {
                self.fail("no thread can run");
            };
            match next {
                Next::Core(core) => {
                    let core = core as usize;
                    let Some(thread) = self.cores[core].running else {
                        continue;
                    };
                    if self.cores[core].generation != generation {
                        continue;
                    }
                    self.find_horizon();
                    (self.current, self.core) = (thread, core);
                    return thread;
                }
                Next::Limit(thread) => {
                    let thread = thread as usize;
                    if self.threads[thread].generation == generation
                        && matches!(self.threads[thread].run, Run::Blocked(_))
                    {
                        self.rouse(thread, at, true);
                    }
                }
            }
        }
    }

    fn find_horizon(&mut self) {
        while let Some(&Reverse((at, next, generation))) = self.events.peek() {
            let valid = match next {
                Next::Core(core) => self.cores[core as usize].generation == generation,
                Next::Limit(thread) => {
                    let thread = &self.threads[thread as usize];
                    thread.generation == generation && matches!(thread.run, Run::Blocked(_))
                }
            };
            if valid {
                self.horizon = at;
                return;
            }
            self.events.pop();
        }
        self.horizon = u64::MAX;
    }

    fn push_core(&mut self, core: usize) {
        self.cores[core].generation += 1;
        let (at, generation) = (self.cores[core].clock, self.cores[core].generation);
        self.push(at, Next::Core(core as u32), generation);
    }

    fn push(&mut self, at: u64, next: Next, generation: u32) {
        self.events.push(Reverse((at, next, generation)));
        self.horizon = self.horizon.min(at);
    }

    // ---- the scheduler ----------------------------------------------------------------------

    /// The current thread leaves its core, which takes another.
    fn free_core(&mut self) {
        let core = self.core;
        self.cores[core].running = None;
        self.cores[core].generation += 1;
        if self.cores[core].queue.is_empty() {
            // As Linux does, before a core rests.
            let longest = (0..self.cores.len())
                .filter(|&c| !self.cores[c].queue.is_empty())
                .max_by_key(|&c| (self.cores[c].queue.len(), Reverse(c)));
            match longest.and_then(|c| self.cores[c].queue.pop_front()) {
                Some(thread) => self.cores[core].queue.push_back(thread),
                None => {
                    self.idle |= 1 << core;
                    return;
                }
            }
        }
        self.take_from_queue(core);
    }

    fn take_from_queue(&mut self, core: usize) {
        let switch = self.costs.switch;
        let thread = self.cores[core].queue.pop_front().expect("one waits");
        let at = self.cores[core].clock + switch;
        self.put(thread, core, at);
    }

    /// Lets a thread run on a core from then on.
    fn put(&mut self, thread: usize, core: usize, at: u64) {
        self.idle &= !(1 << core);
        self.threads[thread].run = Run::Running;
        self.threads[thread].core = core;
        let slice = self.costs.slice;
        let place = &mut self.cores[core];
        place.running = Some(thread);
        place.clock = place.clock.max(at);
        place.drain = place.clock;
        place.slice_end = place.clock + slice;
        self.push_core(core);
    }

    /// Brings a thread that can run to a core: its last one, an idle one nearby, or into the
    /// queue of its last one. It is there at `warm`, or at `cold` if the core sleeps deeply.
    fn bring(&mut self, thread: usize, warm: u64, cold: u64) {
        let last = self.threads[thread].core;
        let near = self.topology.socket(last);
        // The first at or after the last one, round about.
        let first = |idle: u128| {
            (idle != 0).then(|| {
                let turned = idle.rotate_right(last as u32);
                (turned.trailing_zeros() as usize + last) % 128
            })
        };
        let core = first(self.idle & near).or_else(|| first(self.idle));
        match core {
            Some(core) => {
                let slept = warm.saturating_sub(self.cores[core].clock);
                let at = if slept > self.costs.deep { cold } else { warm };
                self.put(thread, core, at);
            }
            None => {
                self.threads[thread].run = Run::Queued;
                self.cores[last].queue.push_back(thread);
            }
        }
    }

    fn rouse(&mut self, thread: usize, at: u64, timed_out: bool) {
        self.threads[thread].timed_out = timed_out;
        self.threads[thread].generation += 1;
        self.bring(thread, at + self.costs.warm, at + self.costs.cold);
    }

    fn block(&mut self, on: On, until: u64) -> bool {
        let me = self.current;
        let slack = self.costs.slack;
        self.blocks += 1;
        let since = self.blocks;
        let thread = &mut self.threads[me];
        thread.since = since;
        thread.run = Run::Blocked(on);
        thread.generation += 1;
        thread.timed_out = false;
        thread.times.sleeps += 1;
        let generation = thread.generation;
        if until < u64::MAX / PS - slack {
            let at = (until * PS).max(self.here().clock) + slack;
            self.push(at, Next::Limit(me as u32), generation);
        }
        self.free_core();
        self.go_on();
        !self.threads[me].timed_out
    }

    fn wake(&mut self, address: usize, count: u64) -> u64 {
        let mut woken = 0;
        while woken < count {
            let first = self.threads.iter().enumerate();
            let first = first.filter(|(_, t)| t.run == Run::Blocked(On::Futex(address)));
            let Some((thread, _)) = first.min_by_key(|(_, t)| t.since) else {
                break;
            };
            let at = self.here().clock;
            self.rouse(thread, at, false);
            self.spend(|c| c.wake, |t| &mut t.system);
            self.me().times.wakes += 1;
            woken += 1;
        }
        woken
    }

    fn add(&mut self, name: &str) -> usize {
        if self.threads.len() == self.threads.capacity() {
            self.fail("too many threads were started");
        }
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        self.threads.push(Box::new(Thread {
            context: Context::new(),
            run: Run::Queued,
            core: 0,
            generation: 0,
            timed_out: false,
            pthread: 0,
            name: bytes,
            since: 0,
            times: Times::default(),
        }));
        self.threads.len() - 1
    }

    fn fail(&mut self, why: &str) -> ! {
        RUNNING.store(false, Ordering::Relaxed);
        let mut told = format!("{}: {why}\n", self.what);
        for thread in &self.threads {
            let name = String::from_utf8_lossy(&thread.name);
            let name = name.trim_end_matches('\0');
            told += &format!("  {name:16} core {:3} {:?}\n", thread.core, thread.run);
        }
        system::say(&told);
        system::exit(3, 2);
    }
}
