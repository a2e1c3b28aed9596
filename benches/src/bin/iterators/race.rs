//! A row, its contenders, what it promises, and how its samples are taken.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use tine_bench::samples::median;

/// Before each sample, for the last contender's threads to go to sleep.
const SETTLE: Duration = Duration::from_millis(1);
/// A short call is repeated for this long.
const LASTING: Duration = Duration::from_millis(2);
/// The pause before a call that finds its pool asleep, and how many
/// such calls make a sample.
const ASLEEP: (Duration, usize) = (Duration::from_micros(2500), 5);

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// One call after another.
    BackToBack,
    /// Calls with a pause before each.
    Asleep,
}

/// Takes a sample: nanoseconds a call.
pub type Sample = Box<dyn FnMut(Calls) -> f64>;

/// A contender's column, and how it takes a sample.
pub type Case = (&'static str, Sample);

/// What a row promises of tine's time, round by round.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// At most this many times the contender's time, and this many nanoseconds more.
    Within(f64, &'static str, f64),
}

impl Goal {
    /// The goal in words.
    pub fn text(self) -> String {
        match self {
            Goal::Within(times, whose, 0.0) => format!("{times} × {whose}"),
            Goal::Within(times, whose, more) => format!("{times} × {whose} + {more} ns"),
        }
    }
}

/// A row and its samples, the same rounds for all contenders.
pub struct Row {
    pub name: String,
    pub goal: Goal,
    pub calls: Calls,
    pub cases: Vec<Case>,
    pub samples: Vec<Vec<f64>>,
}

impl Row {
    /// Lets the contenders take turns; the first round is thrown away.
    pub fn run(&mut self, rounds: usize) {
        self.samples = vec![vec![]; self.cases.len()];
        for round in 0..=rounds {
            for turn in 0..self.cases.len() {
                let at = (turn + round) % self.cases.len();
                forget_garbage();
                thread::sleep(SETTLE);
                let sample = (self.cases[at].1)(self.calls);
                if round > 0 {
                    self.samples[at].push(sample);
                }
            }
        }
        // What they hold is given back: threads that spin, for instance.
        for case in &mut self.cases {
            case.1 = Box::new(|_| unreachable!("the row has been run"));
        }
    }

    /// The samples of this contender, if it takes part.
    pub fn of(&self, name: &str) -> Option<&[f64]> {
        let at = self.cases.iter().position(|case| case.0 == name)?;
        Some(&self.samples[at])
    }

    /// The median of what tine took of the contender's time (`times` of it and
    /// `more`), round by round.
    pub fn ratio(&self, times: f64, name: &str, more: f64) -> Option<f64> {
        let pairs = self.of("tine")?.iter().zip(self.of(name)?);
        let ratios: Vec<f64> = pairs
            .map(|(ours, theirs)| ours / (times * theirs + more))
            .collect();
        median(&ratios)
    }

    /// Tine's time as a part of the time that it may take.
    pub fn share_of_goal(&self) -> Option<f64> {
        let Goal::Within(times, whose, more) = self.goal;
        self.ratio(times, whose, more)
    }
}

/// Gives freed memory back, so that no contender pays for what the contender before it has freed.
fn forget_garbage() {
    #[cfg(target_env = "gnu")]
    // SAFETY: gives free memory back; it has no other effect.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// One call; its result is dropped after the clock is read.
fn once<R>(work: &impl Fn() -> R) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let took = start.elapsed();
    drop(result);
    took
}

/// A contender that does `work` in a call.
pub fn sample<R>(work: impl Fn() -> R + 'static) -> Sample {
    Box::new(move |calls| match calls {
        Calls::Asleep => {
            let call = |_| {
                thread::sleep(ASLEEP.0);
                once(&work).as_nanos() as f64
            };
            median(&(0..ASLEEP.1).map(call).collect::<Vec<_>>()).expect("some calls")
        }
        Calls::BackToBack => {
            let first = once(&work);
            if first >= LASTING {
                return first.as_nanos() as f64;
            }
            // The first calls teach the ledger, and say how many are a sample.
            let start = Instant::now();
            let mut learning = 0;
            while start.elapsed() < LASTING / 4 {
                black_box(work());
                learning += 1;
            }
            let each = start.elapsed() / learning;
            let repeats = (LASTING.as_nanos() / each.as_nanos().max(1)).clamp(1, 1 << 22);
            let start = Instant::now();
            for _ in 0..repeats {
                black_box(work());
            }
            start.elapsed().as_nanos() as f64 / repeats as f64
        }
    })
}

/// The contenders of a row: the sequential one, one expression for tine and
/// rayon, and others after their names. Each sees its own crate's traits.
macro_rules! cases {
    ($sequential:expr; $both:expr $(; $who:ident: $other:expr)* $(;)?) => {
        vec![
            ("sequential", $crate::race::sample(move || $sequential)),
            $crate::race::case!(tine: $both),
            $crate::race::case!(rayon: $both),
            $($crate::race::case!($who: $other),)*
        ]
    };
}

/// One contender.
macro_rules! case {
    (tine: $work:expr) => {
        $crate::race::case!("tine", tine_iter::prelude, $work)
    };
    (rayon: $work:expr) => {
        $crate::race::case!("rayon", rayon::prelude, $work)
    };
    (orx: $work:expr) => {
        $crate::race::case!("orx", orx_parallel, $work)
    };
    (paralight: $work:expr) => {
        $crate::race::case!("paralight", paralight::prelude, $work)
    };
    (otherwise: $work:expr) => {
        $crate::race::case!("tine, the other way", tine_iter::prelude, $work)
    };
    ($column:literal, $traits:path, $work:expr) => {{
        #[allow(unused_imports)]
        use $traits::*;
        ($column, $crate::race::sample(move || $work))
    }};
}

pub(crate) use {case, cases};
