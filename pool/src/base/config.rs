//! The settings of a pool: plain data, and the defaults that the environment sets.
#![forbid(unsafe_code)]

use crate::base::unwind::Payload;
use std::fmt;
use std::num::NonZero;
use std::thread;

/// How many threads that block at the same time are replaced. (Under Miri fewer, since all their seats are made at once.)
pub(crate) const SPARES: usize = if cfg!(miri) { 4 } else { 64 };

/// The most threads that a pool can have. The census counts them and the spare ones in 16 bits
/// each, and for a moment one more for each guest that is about to sit down.
pub(crate) const MAX_THREADS: usize = 0xf000;

/// Whether a woken thread is kept off the processor of the thread that wakes it.
/// `TINE_WAKE_ELSEWHERE=0` turns that off.
#[cfg(all(target_os = "linux", not(any(miri, loom))))]
pub(crate) fn wakes_elsewhere() -> bool {
    use std::sync::atomic::{AtomicU8, Ordering};
    const UNKNOWN: u8 = 2;
    static ON: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Relaxed: two threads may both ask at the same time, and get the same answer.
    let mut on = ON.load(Ordering::Relaxed);
    if on == UNKNOWN {
        on = u8::from(std::env::var("TINE_WAKE_ELSEWHERE").map_or(true, |v| is_on(&v)));
        ON.store(on, Ordering::Relaxed);
    }
    on == 1
}

/// The default stack of a thread, in bytes; `None` for std's own. A recursion through parallel
/// calls takes more stack than in rayon, in a debug build up to twice as much; rayon's threads have
/// std's 2 MiB.
pub(crate) fn stack() -> Option<usize> {
    const ROOM: usize = 4 << 20;
    let is_small = cfg!(not(target_pointer_width = "64"));
    let is_said = || std::env::var_os("RUST_MIN_STACK").is_some();
    (!is_small && !is_said()).then_some(ROOM)
}

/// Whether the value of an environment variable leaves its feature on. Upper and lower case are the
/// same.
fn is_on(value: &str) -> bool {
    !["0", "false", "no", "off"]
        .iter()
        .any(|off| value.trim().eq_ignore_ascii_case(off))
}

pub(crate) type PanicHandler = Box<dyn Fn(Payload) + Send + Sync>;
pub(crate) type IndexHandler = Box<dyn Fn(usize) + Send + Sync>;
pub(crate) type NameFn = Box<dyn FnMut(usize) -> String>;

/// All settings except how threads are made.
#[derive(Default)]
pub(crate) struct Settings {
    /// 0: the default.
    pub(crate) num_threads: usize,
    pub(crate) stack_size: Option<usize>,
    pub(crate) use_current_thread: bool,
    pub(crate) physical_cores: bool,
    pub(crate) guests: Option<bool>,
    pub(crate) greedy: bool,
    pub(crate) handlers: Handlers,
    pub(crate) name: Option<NameFn>,
}

/// The closures that are called at turning points of a pool's life.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<PanicHandler>,
    pub(crate) start: Option<IndexHandler>,
    pub(crate) exit: Option<IndexHandler>,
}

impl Settings {
    /// The number of threads that this asks for.
    pub(crate) fn threads(&self) -> usize {
        let asked = match self.num_threads {
            0 => self.threads_by_default(),
            n => n,
        };
        asked.clamp(1, MAX_THREADS)
    }

    fn threads_by_default(&self) -> usize {
        const VARIABLES: [&str; 3] = ["TINE_NUM_THREADS", "RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];
        for name in VARIABLES {
            // Spaces are forgiven, but not in rayon's variables, since rayon ignores such a value.
            let value = std::env::var(name).unwrap_or_default();
            let number = match name {
                "TINE_NUM_THREADS" => value.trim(),
                _ => &value,
            };
            match number.parse::<usize>().ok() {
                // Zero asks for the default, and overrides the variables of lesser rank.
                Some(0) => break,
                Some(n) => return n,
                None => {}
            }
        }
        let available = thread::available_parallelism().map_or(1, NonZero::get);
        if self.physical_cores {
            physical_cores().map_or(available, |cores| cores.min(available))
        } else {
            available
        }
    }

    /// Whether ordinary threads may sit on seats of a global pool made of this.
    pub(crate) fn allows_guests(&self, custom_spawn: bool) -> bool {
        self.guests
            .unwrap_or_else(|| std::env::var("TINE_GUESTS").map_or(true, |v| is_on(&v)))
            && !custom_spawn
            && !self.use_current_thread
            && self.name.is_none()
            && self.stack_size.is_none()
            && self.handlers.start.is_none()
            && self.handlers.exit.is_none()
    }
}

/// The number of cores of the machine. Processors that share a core name the same list of siblings.
#[cfg(target_os = "linux")]
fn physical_cores() -> Option<usize> {
    use std::fs::{read_dir, read_to_string};
    let processors = read_dir("/sys/devices/system/cpu").into_iter().flatten();
    let lists = processors
        .flatten()
        .filter_map(|p| read_to_string(p.path().join("topology/thread_siblings_list")).ok());
    // A core is counted at its first processor: the list of each of its processors begins with that one. There
    // are few, and a sort would be much code in every program.
    let mut firsts: Vec<u64> = Vec::new();
    for list in lists {
        let end = list.find(|c: char| !c.is_ascii_digit());
        if let Ok(first) = list[..end.unwrap_or(list.len())].parse()
            && !firsts.contains(&first)
        {
            firsts.push(first);
        }
    }
    Some(firsts.len()).filter(|&cores| cores != 0)
}

#[cfg(not(target_os = "linux"))]
fn physical_cores() -> Option<usize> {
    Some(num_cpus::get_physical())
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Of a closure, only its presence can be shown.
        fn set<T>(closure: &Option<T>) -> Option<&'static str> {
            closure.as_ref().map(|_| "<closure>")
        }
        f.debug_struct("Settings")
            .field("num_threads", &self.num_threads)
            .field("stack_size", &self.stack_size)
            .field("use_current_thread", &self.use_current_thread)
            .field("physical_cores", &self.physical_cores)
            .field("guests", &self.guests)
            .field("greedy_waiting", &self.greedy)
            .field("thread_name", &set(&self.name))
            .field("panic_handler", &set(&self.handlers.panic))
            .field("start_handler", &set(&self.handlers.start))
            .field("exit_handler", &set(&self.handlers.exit))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::is_on;

    #[test]
    fn switches_are_turned_off_in_any_case() {
        for off in ["0", "false", "False", "FALSE", "no", "No", "off", " OFF\n"] {
            assert!(!is_on(off), "{off:?}");
        }
        for on in ["", "1", "true", "on", "yes", "00", "none"] {
            assert!(is_on(on), "{on:?}");
        }
    }
}
