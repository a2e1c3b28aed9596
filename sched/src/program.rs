//! Programs: their parts, what they contain, and how they are printed.

use std::fmt;

/// How many locks there are.
pub(crate) const LOCKS: usize = 3;

/// How many events there are.
pub(crate) const EVENTS: usize = 5;

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
    Pipeline,
    FindAny,
}

/// Which loop whose items meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    Each,
    Collect,
    Filter,
    Chunks,
    /// Not two items but as many as the pool has threads, far from each other.
    All,
}

/// How a pipeline ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Through,
    /// Its first two items wait for each other.
    Meets,
    /// In this stage, from this item on.
    Fails(u64, u64),
    /// In this stage, at this item.
    Panics(u64, u64),
}

/// What the iterator of a bridge does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// It says how many items it has.
    Promised,
    /// It promises nothing.
    Singly,
    /// It promises nothing, and waits until all items that it has given have begun.
    Waits,
    /// It promises nothing, and its items meet in pairs.
    Meets,
    /// It panics at this item, and has said (`ahead`) how many it has.
    Panics { at: u64, ahead: bool },
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    /// Computes for this many nanoseconds, in a few pieces.
    Work(u64),
    Join(Block, Block),
    /// A join whose halves wait for each other first.
    Meet(Block, Block),
    Loop(Loop, u64, u64),
    /// A pipeline of `len` items, of which `limit` may be under way.
    Line {
        flow: Flow,
        len: u64,
        limit: usize,
    },
    /// A bridge over a number of items, each of which takes a number of nanoseconds.
    Bridge(Draw, u64, u64),
    /// A loop that is called `times` times, and then once more, so that its first and last items
    /// wait for each other.
    LoopMeet {
        kind: Meeting,
        len: u64,
        before: u64,
    },
    Scope {
        fifo: bool,
        in_place: bool,
        body: Block,
    },
    /// Into the innermost scope.
    Task(Block),
    TaskToAll(Block),
    Spawn {
        fifo: bool,
        body: Block,
    },
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
    /// Under a token; and then a call that one of its children ends.
    Under(Block),
    /// Held across the block.
    Lock(usize, Block),
    Yield {
        local: bool,
    },
    /// The block panics somewhere; the panic ends here.
    Catch(Block),
    Panic,
    Sleep(u64),
    /// An event has come, for good.
    Set(usize),
    /// Blocks until an event has come, as a lock would.
    Await(usize),
    /// From here on the system starts this many threads more.
    Refuse(usize),
}

/// How the global pool is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global {
    pub(crate) threads: usize,
    /// Made when first needed, its threads too.
    pub(crate) lazy: bool,
}

/// A separate pool.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) threads: usize,
    pub(crate) greedy: bool,
    pub(crate) start: Option<Block>,
    pub(crate) exit: Option<Block>,
    /// Ended by `shutdown`, or else dropped.
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
            | Self::Under(body)
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
            | Self::Under(body)
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
    let pools = program
        .pools
        .iter()
        .flat_map(|p| p.start.iter().chain(&p.exit));
    program
        .threads
        .iter()
        .chain(pools)
        .for_each(|block| collect(block, &mut all));
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
        program.threads.truncate(last + 1);
    }
    program
}

// ---- in words -----------------------------------------------------------------------------------

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Global { threads, lazy }) = self.global {
            writeln!(
                f,
                "global pool: {threads} threads{}",
                if lazy { ", lazy" } else { "" }
            )?;
        }
        for (i, pool) in self.pools.iter().enumerate() {
            let greedy = if pool.greedy { ", greedy" } else { "" };
            let end = if pool.shutdown { "shutdown" } else { "drop" };
            writeln!(
                f,
                "pool {i}: {} threads{greedy}, ends by {end}",
                pool.threads
            )?;
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
            Verb::Under(_) => "under a token".into(),
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
