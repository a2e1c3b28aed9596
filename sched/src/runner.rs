//! One process for each schedule, so that a program can only break its own.
//!
//! The parent has one thread and never touches a pool. It forks a child for each schedule, on
//! each processor one at a time; the child becomes a machine, runs the program, and ends.

use crate::exec;
use crate::program::Program;
use crate::rt::{self, How, Limits};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, FromRawFd};

/// How a child failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `deadlock`, `endless`, `check`, `panic`, `signal N`, `stuck`.
    pub(crate) kind: String,
    /// What it said.
    pub(crate) said: String,
}

/// A child at work.
struct Child<T> {
    slot: usize,
    tag: T,
}

/// Children, a few at a time.
pub(crate) struct Runner<T> {
    slots: Vec<Slot>,
    at_work: BTreeMap<libc::pid_t, Child<T>>,
}

struct Slot {
    output: File,
    /// Written by the child: how many points there were, and a hash of its schedule.
    steps: *mut [u64; 2],
    free: bool,
}

/// What a child has to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) program: &'static Program,
    pub(crate) seed: u64,
    pub(crate) length: u64,
    pub(crate) verbose: bool,
}

/// The outcome.
pub(crate) struct Done<T> {
    pub(crate) tag: T,
    pub(crate) steps: u64,
    pub(crate) print: u64,
    pub(crate) failure: Option<Failure>,
}

const LIMITS: Limits = Limits {
    steps: 2_500_000,
    time: 60_000_000_000,
};
/// Seconds of real time after which a child is stuck: it waits for something that the machine does
/// not know of.
const STUCK: u32 = 20;

impl<T> Runner<T> {
    pub(crate) fn new(count: usize) -> Self {
        let slots = (0..count.max(1)).map(|_| Slot::new()).collect();
        Self {
            slots,
            at_work: BTreeMap::new(),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.at_work.is_empty()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.slots.iter().any(|s| s.free)
    }

    /// Starts a child; there is room.
    pub(crate) fn begin(&mut self, job: Job, tag: T) {
        let slot = self
            .slots
            .iter()
            .position(|s| s.free)
            .expect("there is room");
        let place = &mut self.slots[slot];
        place.output.set_len(0).expect("memory");
        place.output.rewind().expect("memory");
        // SAFETY: mapped for as long as the process lasts, and no child of this slot lives.
        unsafe { place.steps.write([0; 2]) };
        // SAFETY: this process has one thread.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "the system gives no process");
        if pid == 0 {
            child(job, slot, place);
        }
        place.free = false;
        self.at_work.insert(pid, Child { slot, tag });
    }

    /// Waits for the end of any child.
    pub(crate) fn wait(&mut self) -> Done<T> {
        let mut status: c_int = 0;
        let pid = loop {
            // SAFETY: `status` is a place for the answer.
            let pid = unsafe { libc::waitpid(-1, &raw mut status, 0) };
            if self.at_work.contains_key(&pid) {
                break pid;
            }
            assert!(pid >= 0, "there was a child to wait for");
        };
        let Child { slot, tag } = self.at_work.remove(&pid).expect("looked up above");
        let place = &mut self.slots[slot];
        place.free = true;
        // SAFETY: mapped, and the child has ended.
        let [steps, print] = unsafe { place.steps.read() };
        let kind = match (libc::WIFSIGNALED(status), libc::WEXITSTATUS(status)) {
            (true, _) => match libc::WTERMSIG(status) {
                libc::SIGALRM => Some("stuck".to_owned()),
                signal => Some(format!("signal {signal}")),
            },
            (_, 0) => None,
            (_, 10) => Some("deadlock".to_owned()),
            (_, 11) => Some("endless".to_owned()),
            (_, 12) => Some("check".to_owned()),
            (_, 13) => Some("panic".to_owned()),
            (_, code) => Some(format!("status {code}")),
        };
        let failure = kind.map(|kind| {
            let mut said = String::new();
            place.output.rewind().expect("memory");
            let mut bytes = Vec::new();
            place.output.read_to_end(&mut bytes).expect("memory");
            said.push_str(&String::from_utf8_lossy(&bytes));
            Failure { kind, said }
        });
        Done {
            tag,
            steps,
            print,
            failure,
        }
    }
}

impl Slot {
    fn new() -> Self {
        // SAFETY: a name that ends with zero.
        let fd = unsafe { libc::memfd_create(c"said".as_ptr(), 0) };
        assert!(fd >= 0, "the system gives no file");
        let size = size_of::<[u64; 2]>();
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        // SAFETY: new memory.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        assert!(page != libc::MAP_FAILED, "the system gives no memory");
        Self {
            // SAFETY: just made, and no one else's.
            output: unsafe { File::from_raw_fd(fd) },
            steps: page.cast(),
            free: true,
        }
    }
}

fn child(job: Job, slot: usize, place: &Slot) -> ! {
    stay_on(slot);
    // SAFETY: a descriptor of this process.
    unsafe { libc::dup2(place.output.as_raw_fd(), 2) };
    // SAFETY: no preconditions.
    unsafe { libc::alarm(STUCK) };
    std::panic::set_hook(Box::new(|panic| {
        rt::stop();
        eprintln!("{panic}");
        // SAFETY: no preconditions.
        unsafe { libc::_exit(13) }
    }));
    let Job {
        program,
        seed,
        length,
        verbose,
    } = job;
    rt::start(How {
        seed,
        limits: LIMITS,
        length,
        has_global: program.global.is_some(),
        verbose,
    });
    exec::program(program);
    // SAFETY: mapped for as long as the process lasts, for this child alone.
    unsafe { place.steps.write(rt::steps()) };
    rt::stop();
    // SAFETY: no preconditions.
    unsafe { libc::_exit(0) }
}

/// One processor for each slot. Then handing the baton on is a switch, not a message.
fn stay_on(slot: usize) {
    // SAFETY: any bits are a valid set.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a place of that size.
    if unsafe { libc::sched_getaffinity(0, size, &raw mut allowed) } != 0 {
        return;
    }
    let all: Vec<usize> = (0..libc::CPU_SETSIZE as usize)
        // SAFETY: below the size of the set.
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &allowed) })
        .collect();
    let Some(&cpu) = all.get(slot % all.len().max(1)) else {
        return;
    };
    // SAFETY: any bits are a valid set.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: below the size of the set.
    unsafe { libc::CPU_SET(cpu, &mut one) };
    // SAFETY: a set of that size.
    unsafe { libc::sched_setaffinity(0, size, &raw const one) };
}
