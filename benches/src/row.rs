//! A row of the table: a workload, its unit, and how each peer takes a sample.
#![forbid(unsafe_code)]

/// Which pool sizes a row is taken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One thread.
    One,
    /// As many threads as asked for: by default, one per core.
    Cores,
    /// Many more threads than cores.
    Crowd,
}

/// How the samples of a row are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In one process, the peers taking turns.
    Together,
    /// Like `Together`, but slow: in every third round only.
    Seldom,
    /// Each sample in a fresh process that knows one peer, one after another.
    Alone,
    /// Like `Alone`, but all peers at once, with one sample each: they only idle.
    Aside,
}

/// One peer's way to take one sample of a row.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of the peer, the head of its column.
    pub peer: &'static str,
    /// Starts the peer's pool in this process; `false` if it has no such size.
    pub start: fn(usize) -> bool,
    /// Takes one sample, in the row's unit; smaller is better.
    pub sample: fn() -> f64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What is done; filters look at this text.
    pub name: &'static str,
    /// What a sample counts.
    pub unit: &'static str,
    /// The pool sizes that it makes sense for.
    pub sizes: &'static [Size],
    /// How its samples are arranged.
    pub how: How,
    /// If set, a second line on one thread: each sample less the sequential one.
    pub above: Option<&'static str>,
    /// The peers that take part.
    pub cases: &'static [Case],
}

impl Row {
    /// Whether the samples of this row are taken in one shared process.
    pub fn shared(&self) -> bool {
        matches!(self.how, How::Together | How::Seldom)
    }

    /// The case of this peer, if it takes part.
    pub fn case(&self, peer: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.peer == peer)
    }
}

/// One [`Case`] per named peer, all from one generic function.
#[macro_export]
macro_rules! cases {
    ($sample:ident: $($peer:ident),+ $(,)?) => {
        &[$($crate::row::Case {
            peer: <$crate::peers::$peer as $crate::peers::Peer>::NAME,
            start: <$crate::peers::$peer as $crate::peers::Peer>::start,
            sample: $sample::<$crate::peers::$peer>,
        }),+]
    };
    ($sample:ident) => { $crate::cases!($sample: Sequential, Tine, Rayon, Chili, Forte) };
}
