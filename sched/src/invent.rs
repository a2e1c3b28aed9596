//! How a seed invents a program.
//!
//! An invented program keeps the rules: it waits only for what it may wait for. So if it does not
//! end, the pool is at fault. The rules are at [`Place`].

use crate::program::{Block, End, Global, LOCKS, Loop, Meeting, Node, Pool, Program, Verb};
use crate::rt::Random;

/// Where a block runs, as far as that decides which steps it may have.
///
/// * A detached closure may outlast the pools, so it enters no other pool.
/// * A block under a lock does nothing that runs strangers or needs all threads: no other pool, no
///   broadcast, no yield. A closure of a broadcast may run on a thread that waits under a lock, so
///   it takes none. In a pool built for greedy waiting, no thread holds a lock across a call.
/// * A program has broadcasts, or halves and items that wait for each other, but not both.
/// * Inside `blocking` nothing waits for a broadcast: a closure may be for the thread that is away.
///   In a program with `blocking`, this also holds for what may run on top of another thread's
///   wait: a broadcast's closure, a detached one. The call inside `blocking` may need what lies
///   below it.
/// * Halves, items and closures that wait for one another are only on the **spine**: what the main
///   thread does in sequence. So no two such waits meet, and each gets a free seat in time.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The pool whose worker runs this: none, the global one, or one with a number.
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
    /// Inside `blocking`: a thread of some pool is away, and reads no mail.
    aside: bool,
    /// In the closure of a broadcast.
    letter: bool,
    depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Nothing,
    Global,
    Pool(usize),
}

struct Inventor {
    random: Random,
    /// The verbs of this program, and how often each occurs.
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
    Under,
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

const KINDS: [Kind; 26] = [
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
    Kind::Under,
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
    // A few kinds for each program, so that they often meet.
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
    // A thread that waits for a broadcast waits for all threads, and runs no half or item of others
    // meanwhile.
    let mut weights = weights;
    let meets = [Kind::Meet, Kind::LoopMeet];
    let all = [
        Kind::Broadcast,
        Kind::BroadcastMeet,
        Kind::SpawnBroadcast,
        Kind::TaskToAll,
    ];
    let left_out = if random.once_in(2) {
        &meets[..]
    } else {
        &all[..]
    };
    for (kind, weight) in &mut weights {
        if left_out.contains(kind) {
            *weight = 0;
        }
    }
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
    let mut inventor = Inventor {
        random,
        weights,
        left,
        next: 0,
        global,
        pools,
    };
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
            aside: false,
            letter: false,
            depth: 0,
        };
        let threads = (0..count)
            .map(|i| {
                self.block(
                    Place {
                        spine: i == 0,
                        ..outside
                    },
                    4,
                )
            })
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
        Program {
            global: self.global,
            pools,
            threads,
        }
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

    /// A step of this kind, if it is allowed here.
    fn of_kind(&mut self, kind: Kind, place: Place) -> Option<Verb> {
        // A free function needs a pool to go to.
        let threads = self.threads(place.on);
        let free = threads.is_some();
        let inner = Place {
            on: if place.on == On::Nothing {
                On::Global
            } else {
                place.on
            },
            depth: place.depth + 1,
            spine: false,
            ..place
        };
        let alone = Place {
            scope: false,
            ..inner
        };
        let detached = Place {
            detached: true,
            locks: if place.locked {
                None
            } else {
                place.locks.map(|_| 0)
            },
            locked: false,
            may_panic: false,
            ..alone
        };
        let meets = place.spine && threads.is_some_and(|n| n >= 2) && !place.locked;
        let on_top = place.letter || place.detached;
        let away = place.aside || on_top && self.weight(Kind::Blocking) > 0;
        let all = !place.locked && !away && !self.is_greedy(place.on);
        Some(match kind {
            Kind::Work => self.leaf(place),
            Kind::Sleep => Verb::Sleep(self.random.of(&[1000, 100_000, 30_000_000])),
            Kind::Join if free => Verb::Join(self.block(inner, 2), self.block(inner, 2)),
            Kind::Meet if free && meets => {
                let quiet = Place {
                    locks: None,
                    ..inner
                };
                Verb::Meet(self.block(quiet, 1), self.block(quiet, 1))
            }
            Kind::Loop if free => Verb::Loop(
                self.random.of(&[
                    Loop::Each,
                    Loop::Sum,
                    Loop::Collect,
                    Loop::Count,
                    Loop::Bridge,
                    Loop::Pipeline,
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
                Verb::Scope {
                    fifo: self.random.once_in(3),
                    in_place,
                    body: self.block(body, 4),
                }
            }
            // A task runs on a worker, whatever the body ran on.
            Kind::Task if place.scope => Verb::Task(self.block(inner, 2)),
            Kind::TaskToAll if place.scope && all => {
                let mail = Place {
                    locks: None,
                    letter: true,
                    ..inner
                };
                Verb::TaskToAll(self.block(mail, 1))
            }
            Kind::Spawn if free => Verb::Spawn {
                fifo: self.random.once_in(3),
                body: self.block(detached, 2),
            },
            Kind::SpawnMany if free => Verb::SpawnMany(1 + self.random.below(5)),
            Kind::Handle if free => {
                let end =
                    self.random
                        .of(&[End::Join, End::Join, End::Drop, End::Cancel, End::Poll]);
                let body = match end {
                    End::Join | End::Poll => Place {
                        may_panic: false,
                        ..alone
                    },
                    End::Drop | End::Cancel => detached,
                };
                Verb::Handle(end, self.block(body, 2))
            }
            Kind::Broadcast if free && all => {
                let mail = Place {
                    locks: None,
                    letter: true,
                    ..alone
                };
                if self.random.once_in(3) {
                    // It may never run, and so may never panic.
                    let calm = Place {
                        may_panic: false,
                        ..mail
                    };
                    Verb::BroadcastHome(self.block(calm, 2))
                } else {
                    Verb::Broadcast(self.block(mail, 2))
                }
            }
            // Closures that wait for each other need every thread: none may be away.
            Kind::BroadcastMeet
                if free && all && place.spine && self.weight(Kind::Blocking) == 0 =>
            {
                Verb::BroadcastMeet
            }
            Kind::SpawnBroadcast if free => {
                let mail = Place {
                    locks: None,
                    letter: true,
                    ..detached
                };
                Verb::SpawnBroadcast(self.block(mail, 1))
            }
            Kind::Install if !place.locked && !place.detached && !self.pools.is_empty() => {
                let pool = self.random.below(self.pools.len() as u64) as usize;
                let body = Place {
                    on: On::Pool(pool),
                    spine: place.spine,
                    ..alone
                };
                Verb::Install(pool, self.block(body, 3))
            }
            // Handlers run on spare threads too, and each that blocks would start another.
            Kind::Blocking if place.on != On::Nothing && !place.locked && !place.handler => {
                let body = Place {
                    on: On::Nothing,
                    aside: true,
                    ..inner
                };
                Verb::Blocking(self.block(body, 2))
            }
            Kind::Under if place.on != On::Nothing => {
                let body = Place {
                    spine: false,
                    depth: place.depth + 1,
                    ..place
                };
                Verb::Under(self.block(body, 3))
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
            Kind::Yield if !place.locked => Verb::Yield {
                local: self.random.once_in(2),
            },
            Kind::Catch => {
                let body = Place {
                    may_panic: true,
                    spine: false,
                    depth: place.depth + 1,
                    scope: false,
                    ..place
                };
                Verb::Catch(self.block(body, 3))
            }
            Kind::Panic if place.may_panic => Verb::Panic,
            _ => return None,
        })
    }
}
