//! The course of a lazy loop, for all loops at once.
//!
//! When to run a block, when to lay out, when to lend: none of it depends on the types of a loop.
//! So it is compiled with this library, over a [`Piece`] behind a reference. For each loop a
//! program holds only the code that runs a block, and that cuts and joins pieces.
#![forbid(unsafe_code)]

use tine_pool::loops::{self, Part, Site};

use super::fork::offer;
use super::looks::check;
use super::pace::{Bare, Laid, Pace, Seed, Start, Step};

/// A contiguous piece of a loop: items that are left, and the folder of those before them.
pub(super) trait Piece {
    /// Runs the next `n` items that are left.
    fn run(&mut self, n: usize) -> Ran;

    /// Cuts what is left behind `near` items, and has the two parts done in that `way`. Goes on
    /// with the folder of the nearer one, if the farther one was not taken.
    fn fork(&mut self, near: usize, way: &mut Way<'_>) -> Forked;
}

/// What has become of a piece of which a block was run.
pub(super) enum Ran {
    /// There are more items, and the folder takes them.
    More,
    /// There are none.
    End,
    /// The folder takes no more.
    Full,
}

/// What has become of a piece that was forked.
pub(super) enum Forked {
    /// The farther part is left, and the folder of the nearer one takes it.
    Back,
    /// The folder takes no more.
    Full,
    /// All is done, and the result is there.
    Closed,
}

/// What a thread does with a piece.
pub(super) enum Task<'a> {
    /// Starts the loop `site`.
    Start { site: Site, kind: Kind, min: usize },
    /// Takes over a part of a loop.
    TakeOver { seed: Seed, min: usize },
    /// Takes over a part of a loop that is laid out as a very short one.
    TakeOverShort { start: &'a Start, min: usize },
    /// Runs it alone, in blocks.
    Alone { site: Site },
}

/// What the pace is told of a loop: see [`Pace::set_kind`].
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) worth: u64,
    pub(super) ends: bool,
    /// Whether it may be laid out as a very short one.
    pub(super) plain: bool,
}

impl Task<'_> {
    /// Does it to a piece of `len` items. What they come to is in the piece. The task that starts a loop is told how it
    /// begins.
    #[inline(never)]
    pub(super) fn run(&self, piece: &mut dyn Piece, len: usize, start: Option<&Start>) {
        let (mut pace, min) = match (self, start) {
            (Task::Start { kind, min, .. }, Some(start)) => {
                let mut pace = start.pace();
                pace.set_kind(kind.worth, kind.ends);
                (pace, *min)
            }
            (Task::Start { .. }, None) => unreachable!("a loop was begun without its beginning"),
            (Task::TakeOver { seed, min }, _) => (seed.grow(), *min),
            (Task::TakeOverShort { start, min }, _) => (start.seed().grow(), *min),
            (Task::Alone { site }, _) => (Pace::alone(*site), usize::MAX),
        };
        work(piece, len, &mut pace, min);
        pace.flush();
        if start.is_some() {
            pace.conclude();
        }
    }
}

/// Runs a piece of `len` items lazily. Says whether it is closed: whether there is a result.
fn work(piece: &mut dyn Piece, mut len: usize, pace: &mut Pace, min: usize) -> bool {
    let mut laid = lay_out(len, pace, min);
    loop {
        if let Some(there) = laid {
            let near = len / 2;
            let far = len - near;
            let task = Task::TakeOver {
                seed: pace.seed(),
                min,
            };
            let mut way = Way {
                task: &task,
                pace,
                laid: there,
                near,
                far,
                min,
            };
            match piece.fork(near, &mut way) {
                Forked::Closed => return true,
                Forked::Full => return false,
                Forked::Back => {}
            }
            pace.go_on(there);
            len = far;
            laid = lay_out(len, pace, min);
            continue;
        }
        check();
        match pace.bare(len, len / 2 >= min) {
            Bare::Halve => {
                laid = Some(pace.halve(len - len / 2));
                continue;
            }
            Bare::Publish { wakes } => loops::publish(wakes),
            Bare::No => {}
        }
        let n = match pace.next(len) {
            Step::Share if offer() => continue,
            Step::Share if len / 2 >= min => {
                laid = Some(pace.share(len - len / 2));
                continue;
            }
            Step::Share => pace.block(len),
            Step::Run(n) => n,
        };
        match piece.run(n) {
            Ran::More => len -= n,
            Ran::End => {
                pace.pause();
                return false;
            }
            // It is not known how far the last block came.
            Ran::Full => {
                pace.flush_all_but_the_last();
                return false;
            }
        }
    }
}

fn lay_out(len: usize, pace: &mut Pace, min: usize) -> Option<Laid> {
    match len / 2 >= min {
        true => pace.lay_out(len),
        false => None,
    }
}

/// How the two parts of a piece are done.
pub(super) struct Way<'a> {
    /// What a thread does that takes the farther part.
    pub(super) task: &'a Task<'a>,
    pace: &'a mut Pace,
    /// What the pace was before.
    laid: Laid,
    near: usize,
    far: usize,
    min: usize,
}

impl Way<'_> {
    /// Lends the farther part, while the nearer one is done here.
    #[inline(never)]
    pub(super) fn lend(&mut self, near: &mut dyn Piece, far: &mut (dyn Part + Send)) {
        let keep = || {
            if work(near, self.near, self.pace, self.min) {
                self.pace.flush();
            }
        };
        loops::lend_laid(self.laid, keep, far);
    }

    /// The farther part was taken: this thread's run of blocks has come to its end. The timing of a
    /// block that is too short to be timed alone may have gone on while this thread waited.
    pub(super) fn taken(&mut self) {
        self.pace.taken();
    }

    /// The nearer part is closed, and the farther one was not taken: it is done here.
    #[inline(never)]
    pub(super) fn go_on(&mut self, far: &mut dyn Piece) {
        self.pace.flush();
        self.pace.go_on(self.laid);
        work(far, self.far, self.pace, self.min);
        self.pace.flush();
    }
}
