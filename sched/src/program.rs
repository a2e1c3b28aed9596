//! Programs: what they are made of, and how a seed invents them.
//!
//! A program is a tree. What is invented keeps to what is promised: it waits only for what it may
//! wait for, so that a program that does not end is the pool's fault. The rules are at [`Place`].

use crate::rt::Random;
use std::fmt;

/// Steps that run one after the other.
pub(crate) type Block = Vec<Node>;

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Distinct in its program.
    pub(crate) id: usize,
    pub(crate) verb: Verb,
}

/// How a handle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Join,
    Drop,
    Cancel,
    /// Polled once, then joined.
    Poll,
}

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loop {
    Each,
    Sum,
    Collect,
    Count,
    Bridge,
    FindAny,
}

/// Which loop whose items meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    Each,
    Collect,
    Filter,
    Chunks,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    /// Computes for so many nanoseconds, in a few pieces.
    Work(u64),
    Join(Block, Block),
    /// A join whose halves wait for each other first.
    Meet(Block, Block),
    Loop(Loop, u64, u64),
    /// A loop that is called so many times, and then once more, so that its first and last
    /// items wait for each other.
    LoopMeet { kind: Meeting, len: u64, before: u64 },
    Scope { fifo: bool, in_place: bool, body: Block },
    /// Into the innermost scope.
    Task(Block),
    TaskToAll(Block),
    Spawn { fifo: bool, body: Block },
    SpawnMany(u64),
    Handle(End, Block),
    Broadcast(Block),
    /// A broadcast of which only the closure for the caller's own seat does this.
    BroadcastHome(Block),
    /// A broadcast whose closures wait for one another.
    BroadcastMeet,
    SpawnBroadcast(Block),
    /// Another pool, by its number.
    Install(usize, Block),
    Blocking(Block),
    /// Held across the block.
    Lock(usize, Block),
    Yield { local: bool },
    /// What follows panics somewhere; the panic ends here.
    Catch(Block),
    Panic,
    Sleep(u64),
}

/// How the global pool comes about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global {
    pub(crate) threads: usize,
    /// Made when first needed, its threads too.
    pub(crate) lazy: bool,
}

/// A pool of its own.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) threads: usize,
    pub(crate) greedy: bool,
    pub(crate) start: Option<Block>,
    pub(crate) exit: Option<Block>,
    /// Ended by `shutdown`, else dropped.
    pub(crate) shutdown: bool,
}

/// A whole program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) global: Option<Global>,
    pub(crate) pools: Vec<Pool>,
    /// One ordinary thread each; the first is the main thread.
    pub(crate) threads: Vec<Block>,
}

/// Where a block runs, as far as it decides what may stand there.
///
/// * What a detached closure does may outlast the pools: it goes into no other pool.
/// * Under a lock stands nothing that runs strangers or needs all threads: no other pool, no
///   broadcast, no yield. A closure of a broadcast may run on a thread that waits under a lock, so
///   it takes none. In a pool built for greedy waiting nobody holds a lock across a call.
/// * Halves, items and closures that wait for one another stand on the **spine** alone: what the
///   main thread does in sequence. So no two such waits meet, and some seat comes free for each.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The pool whose worker runs this: none, the global one, or one by its number.
    on: On,
    detached: bool,
    /// Locks from this number on may be taken.
    locks: Option<usize>,
    locked: bool,
    may_panic: bool,
    spine: bool,
    scope: bool,
    /// In a handler of a pool.
    handler: bool,
    depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Nothing,
    Global,
    Pool(usize),
}

pub(crate) const LOCKS: usize = 3;

struct Inventor {
    random: Random,
    /// The verbs of this program, and how often each.
    weights: Vec<(Kind, u64)>,
    left: i32,
    next: usize,
    global: Option<Global>,
    pools: Vec<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Work,
    Join,
    Meet,
    Loop,
    LoopMeet,
    Scope,
    Task,
    TaskToAll,
    Spawn,
    SpawnMany,
    Handle,
    Broadcast,
    BroadcastMeet,
    SpawnBroadcast,
    Install,
    Blocking,
    Lock,
    Yield,
    Catch,
    Panic,
    Sleep,
    /// Not a step: a handler of a pool.
    Start,
    Exit,
    /// A lock that a thread outside of all pools takes.
    LockOutside,
    /// A pool that waits greedily.
    Greedy,
}

const KINDS: [Kind; 25] = [
    Kind::Work,
    Kind::Join,
    Kind::Meet,
    Kind::Loop,
    Kind::LoopMeet,
    Kind::Scope,
    Kind::Task,
    Kind::TaskToAll,
    Kind::Spawn,
    Kind::SpawnMany,
    Kind::Handle,
    Kind::Broadcast,
    Kind::BroadcastMeet,
    Kind::SpawnBroadcast,
    Kind::Install,
    Kind::Blocking,
    Kind::Lock,
    Kind::Yield,
    Kind::Catch,
    Kind::Panic,
    Kind::Sleep,
    Kind::Start,
    Kind::Exit,
    Kind::LockOutside,
    Kind::Greedy,
];

/// The program of this seed. Kinds of steps whose names stand in `no` are left out.
pub(crate) fn invent(seed: u64, no: &[String]) -> Program {
    let mut random = Random::new(seed ^ 0x7052_6f67);
    // A few verbs in each program, so that they meet often.
    let weights: Vec<(Kind, u64)> = KINDS
        .iter()
        .map(|&kind| {
            let weight = match kind {
                Kind::Work | Kind::Task | Kind::Join => 3,
                _ => random.of(&[0, 0, 1, 4]),
            };
            let left_out = no.iter().any(|name| *name == format!("{kind:?}"));
            (kind, if left_out { 0 } else { weight })
        })
        .collect();
    let greedy = weights.contains(&(Kind::Greedy, 4));
    let own = random.of(&[0, 1, 1, 2]);
    let pools: Vec<(usize, bool)> = (0..own)
        .map(|_| (random.of(&[1, 2, 2, 3, 4]), greedy && random.once_in(4)))
        .collect();
    let global = (own == 0 || random.once_in(2)).then(|| Global {
        threads: random.of(&[1, 2, 2, 3, 4]),
        lazy: random.once_in(2),
    });
    let left = random.of(&[4, 8, 12, 20, 30]);
    let mut inventor = Inventor { random, weights, left, next: 0, global, pools };
    inventor.program()
}

impl Inventor {
    fn program(&mut self) -> Program {
        let count = self.random.of(&[1, 1, 2, 3]);
        let outside = Place {
            on: On::Nothing,
            detached: false,
            locks: Some(0),
            locked: false,
            may_panic: false,
            spine: false,
            scope: false,
            handler: false,
            depth: 0,
        };
        let threads = (0..count)
            .map(|i| self.block(Place { spine: i == 0, ..outside }, 4))
            .collect();
        let mut pools = Vec::new();
        for i in 0..self.pools.len() {
            let (threads, greedy) = self.pools[i];
            let handler = Place {
                on: On::Pool(i),
                detached: true,
                locks: None,
                handler: true,
                ..outside
            };
            let handler = |inventor: &mut Self, kind| {
                let wanted = inventor.weight(kind) > 0 && inventor.random.once_in(2);
                wanted.then(|| {
                    inventor.left = inventor.left.max(3);
                    inventor.block(handler, 2)
                })
            };
            pools.push(Pool {
                threads,
                greedy,
                start: handler(self, Kind::Start),
                exit: handler(self, Kind::Exit),
                shutdown: self.random.once_in(2),
            });
        }
        Program { global: self.global, pools, threads }
    }

    fn block(&mut self, place: Place, most: u64) -> Block {
        let count = 1 + self.random.below(most);
        (0..count).map(|_| self.node(place)).collect()
    }

    fn node(&mut self, place: Place) -> Node {
        let id = self.next;
        self.next += 1;
        self.left -= 1;
        let verb = self.verb(place);
        Node { id, verb }
    }

    fn threads(&self, on: On) -> Option<usize> {
        match on {
            // Free functions outside go to the global pool.
            On::Nothing | On::Global => self.global.map(|g| g.threads),
            On::Pool(i) => Some(self.pools[i].0),
        }
    }

    fn weight(&self, kind: Kind) -> u64 {
        self.weights.iter().find(|w| w.0 == kind).map_or(0, |w| w.1)
    }

    fn is_greedy(&self, on: On) -> bool {
        matches!(on, On::Pool(i) if self.pools[i].1)
    }

    fn verb(&mut self, place: Place) -> Verb {
        if self.left <= 0 || place.depth > 5 {
            return self.leaf(place);
        }
        let total = self.weights.iter().map(|w| w.1).sum();
        for _ in 0..20 {
            let mut at = self.random.below(total);
            let mut kinds = self.weights.iter();
            let kind = loop {
                let &(kind, weight) = kinds.next().expect("below the total");
                if at < weight {
                    break kind;
                }
                at -= weight;
            };
            if let Some(verb) = self.of_kind(kind, place) {
                return verb;
            }
        }
        self.leaf(place)
    }

    fn leaf(&mut self, place: Place) -> Verb {
        if place.may_panic && self.random.once_in(6) {
            return Verb::Panic;
        }
        Verb::Work(self.random.of(&[10, 100, 1000, 20_000, 1_000_000]))
    }

    /// A step of this kind, if it may stand here.
    fn of_kind(&mut self, kind: Kind, place: Place) -> Option<Verb> {
        // A free function needs a pool to go to.
        let threads = self.threads(place.on);
        let free = threads.is_some();
        let inner = Place {
            on: if place.on == On::Nothing { On::Global } else { place.on },
            depth: place.depth + 1,
            spine: false,
            ..place
        };
        let alone = Place { scope: false, ..inner };
        let detached = Place {
            detached: true,
            locks: if place.locked { None } else { place.locks.map(|_| 0) },
            locked: false,
            may_panic: false,
            ..alone
        };
        let meets = place.spine && threads.is_some_and(|n| n >= 2) && !place.locked;
        let all = !place.locked && !self.is_greedy(place.on);
        Some(match kind {
            Kind::Work => self.leaf(place),
            Kind::Sleep => Verb::Sleep(self.random.of(&[1000, 100_000, 30_000_000])),
            Kind::Join if free => Verb::Join(self.block(inner, 2), self.block(inner, 2)),
            Kind::Meet if free && meets => {
                let quiet = Place { locks: None, ..inner };
                Verb::Meet(self.block(quiet, 1), self.block(quiet, 1))
            }
            Kind::Loop if free => Verb::Loop(
                self.random.of(&[
                    Loop::Each,
                    Loop::Sum,
                    Loop::Collect,
                    Loop::Count,
                    Loop::Bridge,
                    Loop::FindAny,
                ]),
                self.random.of(&[0, 1, 2, 3, 7, 20, 100]),
                self.random.of(&[10, 1000, 50_000]),
            ),
            Kind::LoopMeet if free && meets => Verb::LoopMeet {
                kind: self.random.of(&[
                    Meeting::Each,
                    Meeting::Collect,
                    Meeting::Filter,
                    Meeting::Chunks,
                ]),
                len: self.random.of(&[2, 3, 10, 80, 300, 1000]),
                before: self.random.of(&[0, 0, 1, 6, 20]),
            },
            Kind::Scope if free => {
                let in_place = place.on == On::Nothing && self.random.once_in(2);
                let body = Place {
                    scope: true,
                    on: if in_place { On::Nothing } else { inner.on },
                    ..inner
                };
                Verb::Scope { fifo: self.random.once_in(3), in_place, body: self.block(body, 4) }
            }
            // A task runs on a worker, whatever the body ran on.
            Kind::Task if place.scope => Verb::Task(self.block(inner, 2)),
            Kind::TaskToAll if place.scope && all => {
                let mail = Place { locks: None, ..inner };
                Verb::TaskToAll(self.block(mail, 1))
            }
            Kind::Spawn if free => Verb::Spawn {
                fifo: self.random.once_in(3),
                body: self.block(detached, 2),
            },
            Kind::SpawnMany if free => Verb::SpawnMany(1 + self.random.below(5)),
            Kind::Handle if free => {
                let end = self.random.of(&[End::Join, End::Join, End::Drop, End::Cancel, End::Poll]);
                let body = match end {
                    End::Join | End::Poll => Place { may_panic: false, ..alone },
                    End::Drop | End::Cancel => detached,
                };
                Verb::Handle(end, self.block(body, 2))
            }
            Kind::Broadcast if free && all => {
                let mail = Place { locks: None, ..alone };
                let body = self.block(mail, 2);
                if self.random.once_in(3) { Verb::BroadcastHome(body) } else { Verb::Broadcast(body) }
            }
            Kind::BroadcastMeet if free && all && place.spine => Verb::BroadcastMeet,
            Kind::SpawnBroadcast if free => {
                let mail = Place { locks: None, ..detached };
                Verb::SpawnBroadcast(self.block(mail, 1))
            }
            Kind::Install if !place.locked && !place.detached && !self.pools.is_empty() => {
                let pool = self.random.below(self.pools.len() as u64) as usize;
                let body = Place { on: On::Pool(pool), spine: place.spine, ..alone };
                Verb::Install(pool, self.block(body, 3))
            }
            // Handlers run on spare threads too, and each that blocks would bring another one.
            Kind::Blocking if place.on != On::Nothing && !place.locked && !place.handler => {
                let body = Place { on: On::Nothing, ..inner };
                Verb::Blocking(self.block(body, 2))
            }
            Kind::Lock
                if !self.is_greedy(place.on)
                    && (place.on != On::Nothing || self.weight(Kind::LockOutside) > 0) =>
            {
                let first = place.locks.filter(|&first| first < LOCKS)?;
                let which = first + self.random.below((LOCKS - first) as u64) as usize;
                let body = Place {
                    locks: Some(which + 1),
                    locked: true,
                    spine: false,
                    depth: place.depth + 1,
                    ..place
                };
                Verb::Lock(which, self.block(body, 2))
            }
            Kind::Yield if !place.locked => Verb::Yield { local: self.random.once_in(2) },
            Kind::Catch => {
                let body = Place { may_panic: true, spine: false, depth: place.depth + 1, scope: false, ..place };
                Verb::Catch(self.block(body, 3))
            }
            Kind::Panic if place.may_panic => Verb::Panic,
            _ => return None,
        })
    }
}

// ---- what is in a program -----------------------------------------------------------------------

impl Verb {
    pub(crate) fn blocks(&self) -> Vec<&Block> {
        match self {
            Self::Join(a, b) | Self::Meet(a, b) => vec![a, b],
            Self::Scope { body, .. }
            | Self::Task(body)
            | Self::TaskToAll(body)
            | Self::Spawn { body, .. }
            | Self::Handle(_, body)
            | Self::Broadcast(body)
            | Self::BroadcastHome(body)
            | Self::SpawnBroadcast(body)
            | Self::Install(_, body)
            | Self::Blocking(body)
            | Self::Lock(_, body)
            | Self::Catch(body) => vec![body],
            _ => Vec::new(),
        }
    }

    pub(crate) fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Self::Join(a, b) | Self::Meet(a, b) => vec![a, b],
            Self::Scope { body, .. }
            | Self::Task(body)
            | Self::TaskToAll(body)
            | Self::Spawn { body, .. }
            | Self::Handle(_, body)
            | Self::Broadcast(body)
            | Self::BroadcastHome(body)
            | Self::SpawnBroadcast(body)
            | Self::Install(_, body)
            | Self::Blocking(body)
            | Self::Lock(_, body)
            | Self::Catch(body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Whether something in the block may panic, and the panic comes out of it.
pub(crate) fn panics(block: &Block) -> bool {
    block.iter().any(|node| match &node.verb {
        Verb::Panic => true,
        Verb::Catch(_) | Verb::Spawn { .. } | Verb::SpawnBroadcast(_) | Verb::Handle(..) => false,
        verb => verb.blocks().into_iter().any(panics),
    })
}

/// The numbers of all nodes.
pub(crate) fn ids(program: &Program) -> Vec<usize> {
    fn collect(block: &Block, into: &mut Vec<usize>) {
        for node in block {
            into.push(node.id);
            for block in node.verb.blocks() {
                collect(block, into);
            }
        }
    }
    let mut all = Vec::new();
    let pools = program.pools.iter().flat_map(|p| p.start.iter().chain(&p.exit));
    program.threads.iter().chain(pools).for_each(|block| collect(block, &mut all));
    all
}

/// The program without these nodes and what is in them.
pub(crate) fn without(mut program: Program, gone: &[usize]) -> Program {
    fn prune(block: &mut Block, gone: &[usize]) {
        block.retain(|node| !gone.contains(&node.id));
        for node in block {
            for block in node.verb.blocks_mut() {
                prune(block, gone);
            }
        }
    }
    for block in &mut program.threads {
        prune(block, gone);
    }
    for pool in &mut program.pools {
        for handler in [&mut pool.start, &mut pool.exit] {
            if let Some(block) = handler {
                prune(block, gone);
            }
            if handler.as_ref().is_some_and(Vec::is_empty) {
                *handler = None;
            }
        }
    }
    if let Some(last) = program.threads.iter().rposition(|b| !b.is_empty()) {
        program.threads.truncate(last.max(0) + 1);
    }
    program
}

// ---- in words -----------------------------------------------------------------------------------

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Global { threads, lazy }) = self.global {
            writeln!(f, "global pool: {threads} threads{}", if lazy { ", lazy" } else { "" })?;
        }
        for (i, pool) in self.pools.iter().enumerate() {
            let greedy = if pool.greedy { ", greedy" } else { "" };
            let end = if pool.shutdown { "shutdown" } else { "drop" };
            writeln!(f, "pool {i}: {} threads{greedy}, ends by {end}", pool.threads)?;
            for (name, handler) in [("start", &pool.start), ("exit", &pool.exit)] {
                if let Some(block) = handler {
                    writeln!(f, "  {name} handler")?;
                    tell(block, 2, f)?;
                }
            }
        }
        for (i, block) in self.threads.iter().enumerate() {
            writeln!(f, "thread {i}")?;
            tell(block, 1, f)?;
        }
        Ok(())
    }
}

fn tell(block: &Block, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for node in block {
        let head = match &node.verb {
            Verb::Join(..) => "join".into(),
            Verb::Meet(..) => "join whose halves meet".into(),
            Verb::Scope { fifo, in_place, .. } => {
                let place = if *in_place { "in_place_" } else { "" };
                format!("{place}scope{}", if *fifo { "_fifo" } else { "" })
            }
            Verb::Task(_) => "task".into(),
            Verb::TaskToAll(_) => "task to all threads".into(),
            Verb::Spawn { fifo, .. } => format!("spawn{}", if *fifo { "_fifo" } else { "" }),
            Verb::Handle(end, _) => format!("spawn_join, then {end:?}"),
            Verb::Broadcast(_) => "broadcast".into(),
            Verb::BroadcastHome(_) => "broadcast, for the caller's own seat".into(),
            Verb::SpawnBroadcast(_) => "spawn_broadcast".into(),
            Verb::Install(pool, _) => format!("install in pool {pool}"),
            Verb::Blocking(_) => "blocking".into(),
            Verb::Lock(which, _) => format!("under lock {which}"),
            Verb::Catch(_) => "catch".into(),
            verb => format!("{verb:?}"),
        };
        writeln!(f, "{}[{}] {head}", "  ".repeat(depth), node.id)?;
        let blocks = node.verb.blocks();
        let several = blocks.len() > 1;
        for (i, block) in blocks.into_iter().enumerate() {
            if several {
                writeln!(f, "{}half {i}", "  ".repeat(depth + 1))?;
            }
            tell(block, depth + 1 + usize::from(several), f)?;
        }
    }
    Ok(())
}
