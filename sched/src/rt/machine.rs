//! Decides which thread runs next.
//!
//! Every thread of the process is a real one, with its own stack and its own thread-locals. One of
//! them has the **baton** and runs. The others sleep in the kernel, each on its own word. At each
//! point (an operation on shared memory, a call to the system) the thread with the baton asks the
//! machine which thread is next. If that is another one, it hands the baton on.
//!
//! Only the thread with the baton touches the machine's state.
//!
//! A thread that waits (for a futex, for a time, for the end of another thread) is **blocked**: the
//! machine knows what it waits for. Time is a number that grows a little with each point. When no
//! thread can run, it jumps to the earliest limit. If no thread waits for a time either, that is a
//! deadlock, found at once. Loops that never end are found by the limits.
//!
//! Three strategies decide, each with parameters from the seed:
//!
//! * **Random**: at each point a switch with some probability, to any thread.
//! * **Priorities** (PCT): each thread has a random priority, and the highest runs. At a few random
//!   points the running thread falls to the lowest. A thread that pauses falls too.
//! * **Freeze**: now and then one thread stops for a long while, as if the system had taken its
//!   processor away; the others go on at random.

use super::random::Random;
use super::system;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What one schedule may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of points after which the program counts as endless.
    pub(crate) steps: u64,
    /// Nanoseconds of its own time until then.
    pub(crate) time: u64,
}

/// How a schedule is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) seed: u64,
    pub(crate) limits: Limits,
    /// About how many points such a program has, for the change points of priorities.
    pub(crate) length: u64,
    /// Whether there is a global pool to draw a picture of.
    pub(crate) has_global: bool,
    /// Whether each thread reports where it stands when the schedule fails.
    pub(crate) verbose: bool,
}

/// How a schedule failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Outcome {
    /// No thread can run.
    Deadlock = 10,
    /// Over a limit.
    Endless = 11,
}

/// What a blocked thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// A wake-up at this address.
    Futex(usize),
    /// A time, and nothing else.
    Time,
    /// The end of that thread.
    End(usize),
    /// That no other thread can run, now or later.
    Quiet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Ready,
    Blocked(On),
    Ended,
}

struct Task {
    baton: AtomicU32,
    run: Run,
    until: u64,
    timed_out: bool,
    priority: u64,
    pthread: libc::pthread_t,
    name: [u8; 16],
    steps: u64,
    /// When it ran last, or became ready.
    last: u64,
}

#[derive(Clone, Copy, Debug)]
enum Strategy {
    /// A switch once in this many points.
    Random(u64),
    Priorities,
    /// As random, and once in this many points a thread is frozen.
    Freeze {
        switch: u64,
        freeze: u64,
        long: u64,
    },
}

struct Machine {
    // A vector of boxes: a thread sleeps on its own word while the vector grows.
    #[allow(clippy::vec_box)]
    tasks: Vec<Box<Task>>,
    current: usize,
    random: Random,
    strategy: Strategy,
    /// The points at which the running thread falls, the next one last.
    falls: Vec<u64>,
    lowest: u64,
    /// Until then priorities do not count.
    relief: u64,
    frozen: Option<(usize, u64)>,
    now: u64,
    /// The time that one point takes.
    tick: u64,
    /// Once in this many points the earliest limit of time passes early; 0: never.
    hasty: u64,
    next_limit: u64,
    steps: u64,
    /// A hash of all switches, threads and times; equal schedules have equal hashes.
    print: u64,
    /// When the current thread got the baton.
    since: u64,
    how: How,
    dying: Option<usize>,
}

struct Global(UnsafeCell<Option<Machine>>);
// SAFETY: touched by the thread with the baton alone.
unsafe impl Sync for Global {}

static MACHINE: Global = Global(UnsafeCell::new(None));
static RUNNING: AtomicBool = AtomicBool::new(false);

/// After this many points in a row, a thread of the highest priority falls, and any thread may run
/// for a while. So threads that pause, and fall at each step, make progress too.
const PATIENCE: u64 = 3000;
const NOBODY: usize = usize::MAX;
/// Where time begins: no clock is near zero.
pub(super) const EPOCH: u64 = 1_000_000_000_000;

thread_local! {
    static ME: Cell<usize> = const { Cell::new(NOBODY) };
}

/// The machine, if the calling thread is one that it runs.
fn machine() -> Option<&'static mut Machine> {
    if !RUNNING.load(Ordering::Relaxed) || ME.get() == NOBODY {
        return None;
    }
    // SAFETY: the calling thread runs, so it has the baton, and callers drop the reference before
    // they hand it on.
    unsafe { (*MACHINE.0.get()).as_mut() }
}

/// Whether the calling thread is one of a machine.
pub(crate) fn is_running() -> bool {
    machine().is_some()
}

/// Makes the calling thread, which must be the only one of the process, the first of a machine.
pub(crate) fn start(how: How) {
    let mut random = Random::new(how.seed);
    let strategy = match random.below(8) {
        0 => Strategy::Random(1),
        1 => Strategy::Random(4),
        2 => Strategy::Random(16),
        3 => Strategy::Random(100),
        4 | 5 => Strategy::Priorities,
        6 => Strategy::Freeze {
            switch: 3,
            freeze: 200,
            long: 400,
        },
        _ => Strategy::Freeze {
            switch: 30,
            freeze: 500,
            long: 4000,
        },
    };
    let depth = random.below(5);
    let mut falls: Vec<u64> = (0..depth)
        .map(|_| random.below(how.length.max(10)))
        .collect();
    falls.sort_unstable_by(|a, b| b.cmp(a));
    let tick = random.of(&[5, 20, 20, 100]);
    let hasty = random.of(&[0, 0, 300, 3000]);
    let machine = Machine {
        tasks: Vec::with_capacity(256),
        current: 0,
        random,
        strategy,
        falls,
        lowest: 1 << 32,
        relief: 0,
        frozen: None,
        now: EPOCH,
        tick,
        hasty,
        next_limit: u64::MAX,
        steps: 0,
        print: 0,
        since: 0,
        how,
        dying: None,
    };
    // SAFETY: the only thread.
    let place = unsafe { &mut *MACHINE.0.get() };
    let machine = place.insert(machine);
    machine.add("main");
    // SAFETY: no preconditions.
    machine.tasks[0].pthread = unsafe { libc::pthread_self() };
    ME.set(0);
    RUNNING.store(true, Ordering::Relaxed);
    use tine_pool::schedule::Point;
    tine_pool::schedule::set_hook(|touch| match touch.point {
        Point::Pause => pause(),
        Point::Refused => {}
        _ => point(),
    });
}

/// No more switches: the calling thread runs alone from now on.
pub(crate) fn stop() {
    RUNNING.store(false, Ordering::Relaxed);
}

/// Reports where all threads are, for a program that has failed in another way.
pub(crate) fn report(why: &str) {
    if let Some(m) = machine() {
        m.report(why);
    }
}

/// How many points there were, and a print of all switches.
pub(crate) fn steps() -> [u64; 2] {
    machine().map_or([0; 2], |m| [m.steps, m.print])
}

/// How many threads have not ended.
pub(crate) fn living() -> usize {
    machine().map_or(0, |m| {
        m.tasks.iter().filter(|t| t.run != Run::Ended).count()
    })
}

/// An operation on shared memory.
pub(super) fn point() {
    if let Some(m) = machine() {
        m.step(m.tick);
        m.consider(false);
    }
}

/// A memory barrier for every thread: they run one at a time, and see all that was written.
pub(super) fn barrier() {
    point();
}

/// A look at a condition by a thread that waits for it.
pub(super) fn pause() {
    if let Some(m) = machine() {
        m.step(m.tick * 2);
        m.consider(true);
    }
}

/// The calling thread computes for this many nanoseconds.
pub(crate) fn work(nanos: u64) {
    if let Some(m) = machine() {
        m.step(nanos);
        m.consider(false);
    }
}

/// Waits until no other thread can run, now or later.
pub(crate) fn quiesce() {
    if let Some(m) = machine() {
        m.block(On::Quiet, u64::MAX);
    }
}

/// Nanoseconds, and a little more with each look.
pub(super) fn now() -> Option<u64> {
    let m = machine()?;
    m.now += 20;
    Some(m.now)
}

/// A number from the seed.
pub(super) fn random() -> Option<u64> {
    Some(machine()?.random.next())
}

/// Waits until woken at `on`, or until `until`. Returns whether it was woken.
pub(super) fn block(on: On, until: u64) -> bool {
    machine().is_none_or(|m| m.block(on, until))
}

/// Wakes up to `count` threads that wait at this address.
pub(super) fn wake(address: usize, count: u64) -> u64 {
    machine().map_or(0, |m| m.wake(address, count))
}

/// A thread is about to be started: its number.
pub(super) fn add() -> usize {
    machine().map_or(NOBODY, |m| m.add("thread"))
}

/// It was started, or not.
pub(super) fn started(task: usize, pthread: Option<libc::pthread_t>) {
    let Some(m) = machine() else { return };
    match pthread {
        Some(pthread) => m.tasks[task].pthread = pthread,
        None => m.tasks[task].run = Run::Ended,
    }
    m.step(m.tick);
    m.consider(false);
}

/// The first thing that a new thread does: waits for the baton.
pub(super) fn begin(task: usize) {
    // SAFETY: the box of a task stays where it is, and the vector is not moved: it has room for
    // more threads than a program may start.
    let word = unsafe { &*task_word(task) };
    wait_for_baton(word);
    ME.set(task);
}

/// The last thing: hands the baton on for good.
pub(super) fn end() {
    let Some(m) = machine() else { return };
    let me = m.current;
    m.tasks[me].run = Run::Ended;
    for task in &mut m.tasks {
        if task.run == Run::Blocked(On::End(me)) {
            task.run = Run::Ready;
        }
    }
    ME.set(NOBODY);
    let next = m.choose(true);
    m.current = next;
    pass_baton(&m.tasks[next].baton);
}

/// The thread with this handle; the youngest, if there are several.
pub(super) fn find(pthread: libc::pthread_t) -> Option<usize> {
    let m = machine()?;
    m.tasks.iter().rposition(|t| t.pthread == pthread)
}

/// Waits for a thread's end; says whether that is all, and the system need not be asked.
pub(super) fn wait_for_end(task: usize) -> bool {
    if let Some(m) = machine()
        && m.tasks[task].run != Run::Ended
    {
        m.block(On::End(task), u64::MAX);
    }
    false
}

/// The calling thread's name, for reports.
pub(super) fn set_name(name: &[u8]) {
    if let Some(m) = machine() {
        let me = m.current;
        let len = name.len().min(15);
        m.tasks[me].name = [0; 16];
        m.tasks[me].name[..len].copy_from_slice(&name[..len]);
    }
}

fn task_word(task: usize) -> *const AtomicU32 {
    // SAFETY: read by a thread that has no baton yet, at a place that is written before the
    // thread is started and not after.
    unsafe {
        let machine = (*MACHINE.0.get()).as_ref().expect("there is a machine");
        &raw const machine.tasks[task].baton
    }
}

fn wait_for_baton(word: &AtomicU32) {
    // Acquire: pairs with `pass_baton`.
    while word.swap(0, Ordering::Acquire) == 0 {
        system::sleep_on(word, 0);
    }
}

fn pass_baton(word: &AtomicU32) {
    // Release: pairs with `wait_for_baton`.
    word.store(1, Ordering::Release);
    system::rouse(word);
}

impl Machine {
    fn add(&mut self, name: &str) -> usize {
        if self.tasks.len() == self.tasks.capacity() {
            self.fail(Outcome::Endless, "more than 256 threads were started");
        }
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        let priority = (1 << 33) + self.random.below(1 << 32);
        self.tasks.push(Box::new(Task {
            baton: AtomicU32::new(0),
            run: Run::Ready,
            until: u64::MAX,
            timed_out: false,
            priority,
            pthread: 0,
            name: bytes,
            steps: 0,
            last: self.steps,
        }));
        self.tasks.len() - 1
    }

    /// Counts a point and lets time pass.
    fn step(&mut self, nanos: u64) {
        self.steps += 1;
        let current = self.current;
        self.tasks[current].steps += 1;
        self.tasks[current].last = self.steps;
        self.now += nanos;
        if self.steps > self.how.limits.steps {
            self.fail(Outcome::Endless, "too many steps");
        }
        if self.hasty != 0 && self.next_limit < u64::MAX && self.random.once_in(self.hasty) {
            self.now = self.now.max(self.next_limit);
        }
        if self.now >= self.next_limit {
            self.release_late();
        }
        if self.now - EPOCH > self.how.limits.time {
            self.fail(Outcome::Endless, "too much time has passed");
        }
    }

    /// Makes threads ready whose time has come.
    fn release_late(&mut self) {
        let mut next = u64::MAX;
        for task in &mut self.tasks {
            if let Run::Blocked(_) = task.run {
                if task.until <= self.now {
                    task.run = Run::Ready;
                    task.last = self.steps;
                    task.timed_out = true;
                    task.until = u64::MAX;
                } else {
                    next = next.min(task.until);
                }
            }
        }
        self.next_limit = next;
    }

    /// Switches, if the strategy says so. The current thread can go on.
    fn consider(&mut self, pausing: bool) {
        let next = self.choose(pausing);
        if next != self.current {
            self.switch(next);
        }
    }

    /// Blocks the current thread. Returns whether it was woken.
    fn block(&mut self, on: On, until: u64) -> bool {
        let me = self.current;
        let task = &mut self.tasks[me];
        task.run = Run::Blocked(on);
        task.until = until;
        task.timed_out = false;
        self.next_limit = self.next_limit.min(until);
        let tick = self.tick;
        self.step(tick);
        let next = self.choose(true);
        if next != me {
            self.switch(next);
        }
        // This thread has the machine again.
        !self.tasks[me].timed_out
    }

    fn wake(&mut self, address: usize, count: u64) -> u64 {
        let mut woken = 0;
        while woken < count {
            let asleep = |t: &Task| t.run == Run::Blocked(On::Futex(address));
            let all = self.tasks.iter().filter(|t| asleep(t)).count();
            if all == 0 {
                break;
            }
            let which = self.random.below(all as u64) as usize;
            let task = self.tasks.iter_mut().filter(|t| asleep(t)).nth(which);
            let task = task.expect("counted");
            task.run = Run::Ready;
            task.last = self.steps;
            task.until = u64::MAX;
            woken += 1;
        }
        woken
    }

    fn switch(&mut self, next: usize) {
        let me = self.current;
        self.current = next;
        self.since = self.steps;
        let turn = self.steps << 8 | next as u64;
        self.print = (self.print ^ turn)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
        pass_baton(&self.tasks[next].baton);
        wait_for_baton(&self.tasks[me].baton);
        if self.dying == Some(me) {
            self.tell_and_hand_back();
        }
    }

    fn is_ready(&self, task: usize) -> bool {
        self.tasks[task].run == Run::Ready
    }

    /// The next thread. `pausing`: the current thread should not go on, or cannot.
    fn choose(&mut self, pausing: bool) -> usize {
        if let Some((_, until)) = self.frozen
            && self.steps >= until
        {
            self.frozen = None;
        }
        let me = self.current;
        let able = self.is_ready(me);
        match self.strategy {
            Strategy::Random(switch) => {
                if able && !pausing && !self.random.once_in(switch) {
                    return me;
                }
                self.anybody(pausing && able)
            }
            Strategy::Priorities if self.steps < self.relief => {
                if able && !pausing && !self.random.once_in(4) {
                    return me;
                }
                self.anybody(pausing && able)
            }
            Strategy::Priorities => {
                // A loop that waits without a pause must not hold up the thread that it waits for.
                let long = self.steps - self.since > PATIENCE;
                if long {
                    self.relief = self.steps + 5 * PATIENCE;
                }
                let mut fall = pausing || long;
                while self.falls.last().is_some_and(|&at| at <= self.steps) {
                    self.falls.pop();
                    fall = true;
                }
                if able && fall {
                    self.lowest -= 1;
                    self.tasks[me].priority = self.lowest;
                    self.since = self.steps;
                }
                self.highest()
            }
            Strategy::Freeze {
                switch,
                freeze,
                long,
            } => {
                if able && self.frozen.is_none() && self.random.once_in(freeze) {
                    let until = self.steps + self.random.below(long);
                    self.frozen = Some((me, until));
                    return self.anybody(true);
                }
                if able && !pausing && !self.random.once_in(switch) {
                    return me;
                }
                self.anybody(pausing && able)
            }
        }
    }

    /// Any thread that can run; if `other`, another than the current one if possible.
    fn anybody(&mut self, other: bool) -> usize {
        let me = self.current;
        let frozen = self.frozen.map(|(task, _)| task);
        let ready = |m: &Self| {
            (0..m.tasks.len())
                .filter(|&t| m.is_ready(t) && Some(t) != frozen)
                .count()
        };
        let mut count = ready(self);
        if count == 0 {
            if let Some(task) = frozen
                && self.is_ready(task)
            {
                self.frozen = None;
                return task;
            }
            return self.nobody();
        }
        let leave_out = other && count > 1 && self.is_ready(me) && Some(me) != frozen;
        if leave_out {
            count -= 1;
        }
        let which = self.random.below(count as u64) as usize;
        (0..self.tasks.len())
            .filter(|&t| self.is_ready(t) && Some(t) != frozen && !(leave_out && t == me))
            .nth(which)
            .expect("counted")
    }

    fn highest(&mut self) -> usize {
        // Two threads that wake each other in turn never fall. If a third is passed over for long,
        // any thread may run for a while.
        let late = |t: &Task| t.run == Run::Ready && self.steps - t.last > 5 * PATIENCE;
        if self.tasks.iter().any(|t| late(t)) {
            self.relief = self.steps + 5 * PATIENCE;
        }
        let best = (0..self.tasks.len())
            .filter(|&t| self.is_ready(t))
            .max_by_key(|&t| self.tasks[t].priority);
        best.unwrap_or_else(|| self.nobody())
    }

    /// No thread can run: time jumps.
    fn nobody(&mut self) -> usize {
        self.release_late();
        if self.next_limit < u64::MAX {
            self.now = self.now.max(self.next_limit);
            self.release_late();
            if self.now - EPOCH > self.how.limits.time {
                self.fail(Outcome::Endless, "too much time has passed");
            }
        }
        let ready: Vec<usize> = (0..self.tasks.len())
            .filter(|&t| self.is_ready(t))
            .collect();
        if !ready.is_empty() {
            let which = self.random.below(ready.len() as u64) as usize;
            return ready[which];
        }
        let waits = |t: &Task| t.run == Run::Blocked(On::Quiet);
        if let Some(task) = self.tasks.iter().position(|t| waits(t)) {
            self.tasks[task].run = Run::Ready;
            return task;
        }
        self.fail(Outcome::Deadlock, "no thread can run");
    }

    /// Reports and ends the process.
    fn fail(&mut self, outcome: Outcome, why: &str) -> ! {
        self.report(why);
        system::exit(outcome as i32, 2);
    }

    /// Reports what each thread waits for and, if asked to, where it stands.
    fn report(&mut self, why: &str) {
        system::say(&format!(
            "{why}: after {} steps, {} us; strategy {:?}\n",
            self.steps,
            (self.now - EPOCH) / 1000,
            self.strategy,
        ));
        for (i, task) in self.tasks.iter().enumerate() {
            let name = std::str::from_utf8(&task.name)
                .unwrap_or("?")
                .trim_end_matches('\0');
            let wait = match task.run {
                Run::Blocked(On::End(of)) => format!("waits for the end of thread {of}"),
                Run::Blocked(On::Futex(at)) => format!("waits at {at:#x}"),
                Run::Blocked(On::Time) => "sleeps".into(),
                Run::Blocked(On::Quiet) => "waits for quiet".into(),
                Run::Ready => "could run".into(),
                Run::Ended => continue,
            };
            let limit = if task.until < u64::MAX {
                " with a limit of time"
            } else {
                ""
            };
            let steps = task.steps;
            system::say(&format!(
                "  thread {i} {name}: {wait}{limit}, after {steps} steps\n"
            ));
        }
        if self.how.verbose {
            let me = self.current;
            for task in 0..self.tasks.len() {
                if self.tasks[task].run != Run::Ended && task != me {
                    self.dying = Some(task);
                    pass_baton(&self.tasks[task].baton);
                    wait_for_baton(&self.tasks[me].baton);
                }
            }
            self.tell(me);
        }
        if self.how.verbose && self.how.has_global {
            // Alone from now on: if the picture needs a lock that is held, the alarm ends this.
            stop();
            system::say(&tine_pool::picture());
        }
    }

    fn tell(&self, task: usize) {
        // Capturing takes locks, which are all free for a thread that runs alone.
        stop();
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        let mut told = format!("thread {task} stands at\n");
        for line in trace.lines() {
            let Some((_, place)) = line.split_once("at ./") else {
                continue;
            };
            let ours = ["pool/src", "iter/src", "sched/src"]
                .iter()
                .any(|w| place.starts_with(w));
            let machinery = [
                "/rt/",
                "pool/src/base/sync",
                "pool/src/base/unwind",
                "sched/src/runner",
            ];
            if ours && !machinery.iter().any(|w| place.contains(w)) {
                told += &format!("    {place}\n");
            }
        }
        system::say(&told);
        RUNNING.store(true, Ordering::Relaxed);
    }

    fn tell_and_hand_back(&mut self) -> ! {
        let me = ME.get();
        self.tell(me);
        self.dying = None;
        let back = self.current;
        pass_baton(&self.tasks[back].baton);
        loop {
            wait_for_baton(&self.tasks[me].baton);
        }
    }
}
