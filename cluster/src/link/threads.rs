//! Ranks that are threads of one process: a board, and a barrier that breaks.
//!
//! Each operation is one meeting. A rank puts its message on its slot of the board, waits at the
//! barrier until all have done so, and reads the slots of the others. The board has two sides that
//! take turns. Before a rank writes to a side again, it has passed a meeting on the other side, and
//! all ranks at that meeting had read this side.
//!
//! ```text
//! rank 0   write A0   barrier   read A*   write B0   barrier   read B*   write A0 …
//! rank 1   write A1   barrier   read A*   write B1   barrier   read B*   write A1 …
//! ```
//!
//! A rank that fails breaks the barrier: ranks that wait there, or come later, unwind. A meeting
//! that was complete is not affected any more.
#![forbid(unsafe_code)]

use super::Link;
use crate::fault::{Stop, stop};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// The content of a rank's slot.
enum Post {
    Words(Vec<u64>),
    Bytes(Arc<[u8]>),
    /// A part for each rank, and the number of rounds after which this rank is done.
    Parts(Vec<Option<Arc<[u8]>>>, u64),
}

/// The board of all ranks.
pub(crate) struct Board {
    sides: [Vec<Mutex<Option<Arc<Post>>>>; 2],
    gate: Mutex<Gate>,
    turn: Condvar,
}

/// The barrier.
struct Gate {
    arrived: usize,
    meetings: u64,
    /// The first failure.
    broken: Option<String>,
}

impl Board {
    pub(crate) fn new(ranks: usize) -> Self {
        let side = || (0..ranks).map(|_| Mutex::new(None)).collect();
        Board {
            sides: [side(), side()],
            gate: Mutex::new(Gate {
                arrived: 0,
                meetings: 0,
                broken: None,
            }),
            turn: Condvar::new(),
        }
    }

    /// Breaks the barrier, unless it is broken.
    pub(crate) fn fail(&self, why: &str) {
        lock(&self.gate)
            .broken
            .get_or_insert_with(|| why.to_owned());
        self.turn.notify_all();
    }

    /// The reason why the barrier broke.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.gate).broken.clone()
    }

    /// Waits until all have come.
    fn meet(&self) {
        let mut gate = lock(&self.gate);
        if gate.broken.is_some() {
            drop(gate);
            stop(Stop::Follows);
        }
        gate.arrived += 1;
        if gate.arrived == self.sides[0].len() {
            gate.arrived = 0;
            gate.meetings += 1;
            self.turn.notify_all();
            return;
        }
        let before = gate.meetings;
        while gate.meetings == before {
            if gate.broken.is_some() {
                drop(gate);
                stop(Stop::Follows);
            }
            gate = self.turn.wait(gate).unwrap_or_else(|e| e.into_inner());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// One rank's end of a board.
pub(crate) struct Threads {
    board: Arc<Board>,
    rank: usize,
    side: Cell<usize>,
}

impl Threads {
    pub(crate) fn new(board: Arc<Board>, rank: usize) -> Self {
        Threads {
            board,
            rank,
            side: Cell::new(0),
        }
    }

    /// One meeting: what all ranks posted, in their order.
    fn post(&self, mine: Post) -> Vec<Arc<Post>> {
        let side = &self.board.sides[self.side.get()];
        self.side.set(1 - self.side.get());
        *lock(&side[self.rank]) = Some(Arc::new(mine));
        self.board.meet();
        side.iter()
            .map(|slot| lock(slot).clone().expect("every rank has posted"))
            .collect()
    }

    fn words(&self, mine: &[u64]) -> Vec<Arc<Post>> {
        self.post(Post::Words(mine.to_vec()))
    }
}

impl Post {
    fn as_words(&self) -> &[u64] {
        match self {
            Post::Words(words) => words,
            _ => unreachable!("ranks meet in the same operation"),
        }
    }
}

impl Link for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.board.sides[0].len()
    }

    fn all_gather(&self, mine: &[u64]) -> Vec<u64> {
        let posts = self.words(mine);
        let words = posts.iter().map(|post| post.as_words());
        words.flatten().copied().collect()
    }

    fn all_gather_bytes(&self, mine: &[u8], lens: &[usize], all: &mut [u8]) {
        let mut rest = all;
        for (post, &len) in self.post(Post::Bytes(mine.into())).iter().zip(lens) {
            let (room, after) = rest.split_at_mut(len);
            rest = after;
            match &**post {
                Post::Bytes(bytes) => room.copy_from_slice(bytes),
                _ => unreachable!("ranks meet in the same operation"),
            }
        }
    }

    fn all_to_all(&self, mine: &[u64]) -> Vec<u64> {
        let posts = self.words(mine);
        let words = posts.iter().map(|post| post.as_words()[self.rank]);
        words.collect()
    }

    fn all_sum(&self, words: &mut [u64]) {
        let posts = self.words(words);
        words.fill(0);
        for post in &posts {
            let sums = words.iter_mut().zip(post.as_words());
            sums.for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
        }
    }

    fn broadcast(&self, root: usize, bytes: &mut [u8]) {
        let mine: Arc<[u8]> = if self.rank == root {
            (&*bytes).into()
        } else {
            Arc::new([])
        };
        match &*self.post(Post::Bytes(mine))[root] {
            Post::Bytes(sent) => bytes.copy_from_slice(sent),
            _ => unreachable!("ranks meet in the same operation"),
        }
    }

    fn exchange(&self, send: &[&[u8]], recv: &mut [&mut [u8]], message: usize) -> u64 {
        let message = message.max(1);
        let most = send.iter().map(|bytes| bytes.len()).max().unwrap_or(0);
        let mine = most.div_ceil(message) as u64;
        let (mut round, mut rounds) = (0, 1);
        let mut sent = 0;
        while round < rounds {
            let begin = round as usize * message;
            let part = |bytes: &&[u8]| {
                let rest = bytes.get(begin..).filter(|rest| !rest.is_empty())?;
                Some(rest[..rest.len().min(message)].into())
            };
            let parts: Vec<Option<Arc<[u8]>>> = send.iter().map(part).collect();
            sent += parts.iter().flatten().count() as u64;
            for (source, post) in self.post(Post::Parts(parts, mine)).iter().enumerate() {
                let Post::Parts(parts, theirs) = &**post else {
                    unreachable!("ranks meet in the same operation");
                };
                rounds = rounds.max(*theirs);
                if let Some(bytes) = &parts[self.rank] {
                    recv[source][begin..begin + bytes.len()].copy_from_slice(bytes);
                }
            }
            round += 1;
        }
        sent
    }

    fn fail(&self, why: &str) {
        self.board.fail(why);
    }
}
