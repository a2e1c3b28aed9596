//! How a program is run.

use crate::bridge;
use crate::check::{self, Frame, Lasting, Often, Token, fail};
use crate::line;
use crate::program::{
    Block, EVENTS, End, Global, LOCKS, Loop, Meeting, Node, Pool, Program, Verb, panics,
};
use crate::rt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Condvar, Mutex, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tine_iter::prelude::*;
use tine_pool::{Scope, ScopeFifo, ThreadPool, ThreadPoolBuilder};

/// What a planned panic carries.
pub(crate) struct Planned;

static POOLS: OnceLock<Vec<AtomicPtr<ThreadPool>>> = OnceLock::new();
static HELD: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];
static EVENT: [(Mutex<bool>, Condvar); EVENTS] =
    [const { (Mutex::new(false), Condvar::new()) }; EVENTS];

/// Threads that handlers have seen begin and end, by pool.
static BEGUN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
static ENDED: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

fn pool(i: usize) -> &'static ThreadPool {
    let place = &POOLS.get().expect("there are pools")[i];
    // SAFETY: the box is taken back only when all users of pools have ended; detached closures use
    // none.
    unsafe { &*place.load(Relaxed) }
}

/// Runs a program from beginning to end, and checks it.
pub(crate) fn program(program: &'static Program) {
    if let Some(Global { threads, lazy }) = program.global {
        if lazy {
            // SAFETY: the only thread of the process.
            unsafe { std::env::set_var("TINE_NUM_THREADS", threads.to_string()) };
        } else {
            let builder = ThreadPoolBuilder::new()
                .num_threads(threads)
                .panic_handler(planned);
            builder.build_global().expect("the first");
        }
    }
    let pools = program.pools.iter().enumerate();
    let pools = pools.map(|(i, spec)| AtomicPtr::new(Box::into_raw(Box::new(build(i, spec)))));
    POOLS.set(pools.collect()).expect("the first");

    thread::scope(|s| {
        for block in program.threads.iter().skip(1) {
            s.spawn(|| top(block));
        }
        if let Some(block) = program.threads.first() {
            top(block);
        }
    });

    for (i, spec) in program.pools.iter().enumerate() {
        let place = &POOLS.get().expect("set above")[i];
        // SAFETY: made above, and no thread uses it any more.
        let pool = unsafe { Box::from_raw(place.load(Relaxed)) };
        if spec.shutdown {
            pool.shutdown();
            check::pool_has_ended(i);
            handlers(i, spec);
        } else {
            drop(pool);
        }
    }
    rt::quiesce();
    for (i, spec) in program.pools.iter().enumerate() {
        handlers(i, spec);
    }
    check::all_has_ended();
    // The threads of the global pool stay, and so do its spare threads: up to this many.
    const SPARES: usize = 64;
    let most = program.global.map_or(0, |g| g.threads + SPARES);
    if rt::living() > 1 + most {
        fail(&format!(
            "{} threads are left, not {most}",
            rt::living() - 1
        ));
    }
}

fn build(i: usize, spec: &'static Pool) -> ThreadPool {
    let mut builder = ThreadPoolBuilder::new()
        .num_threads(spec.threads)
        .panic_handler(planned);
    if spec.greedy {
        builder = builder.greedy_waiting(true);
    }
    if let Some(block) = &spec.start {
        builder = builder.start_handler(move |_| {
            BEGUN[i].fetch_add(1, Relaxed);
            run(block, &Within::Nothing, Some(i));
        });
    }
    if let Some(block) = &spec.exit {
        builder = builder.exit_handler(move |_| {
            run(block, &Within::Nothing, Some(i));
            ENDED[i].fetch_add(1, Relaxed);
        });
    }
    builder.build().expect("threads are to be had")
}

fn handlers(i: usize, spec: &Pool) {
    let wrong = |n: usize| n < spec.threads;
    if spec.start.is_some() && wrong(BEGUN[i].load(Relaxed)) {
        fail(&format!(
            "pool {i}: the start handler was not run on each thread"
        ));
    }
    if spec.exit.is_some() && wrong(ENDED[i].load(Relaxed)) {
        fail(&format!(
            "pool {i}: the exit handler was not run on each thread"
        ));
    }
}

fn planned(payload: Box<dyn std::any::Any + Send>) {
    if !payload.is::<Planned>() {
        fail("a panic that no schedule has planned");
    }
}

fn top(block: &'static Block) {
    let got = run(block, &Within::Nothing, None);
    expect(got, value(block), "a thread's block");
}

fn expect(got: u64, want: u64, what: &str) {
    if got != want {
        fail(&format!("{what} gave {got}, not {want}"));
    }
}

/// The innermost scope, the frame that its tasks borrow from, and where they run.
enum Within<'a, 's> {
    Nothing,
    Lifo(&'a Scope<'s>, &'static Frame, Base),
    Fifo(&'a ScopeFifo<'s>, &'static Frame, Base),
}

/// Where a scope's tasks run: the pool, by its number, and how many threads it has. A block that spawns into the
/// scope may run elsewhere, inside `blocking`.
#[derive(Clone, Copy)]
struct Base {
    home: Option<usize>,
    threads: usize,
}

/// The value of a block.
fn value(block: &Block) -> u64 {
    block.iter().fold(1, |sum, node| {
        let of = |b: &Block| value(b);
        let own = match &node.verb {
            Verb::Join(a, b) | Verb::Meet(a, b) => of(a).wrapping_mul(3).wrapping_add(of(b)),
            Verb::Loop(_, len, _)
            | Verb::Bridge(_, len, _)
            | Verb::Line { len, .. }
            | Verb::LoopMeet { len, .. } => *len,
            Verb::Scope { body, .. }
            | Verb::Install(_, body)
            | Verb::Blocking(body)
            | Verb::Under(body)
            | Verb::Lock(_, body) => of(body),
            Verb::Handle(End::Join | End::Poll, body) => of(body),
            Verb::Broadcast(body) => of(body),
            _ => 1,
        };
        sum.wrapping_mul(5).wrapping_add(own)
    })
}

/// Runs a block. `home` is the pool of its own on which the block runs, by its number.
fn run(block: &'static Block, within: &Within<'_, '_>, home: Option<usize>) -> u64 {
    block.iter().fold(1, |sum, node| {
        sum.wrapping_mul(5).wrapping_add(step(node, within, home))
    })
}

fn step(node: &'static Node, within: &Within<'_, '_>, home: Option<usize>) -> u64 {
    let id = node.id;
    match &node.verb {
        Verb::Work(nanos) => work(*nanos, home),
        Verb::Sleep(nanos) => {
            thread::sleep(Duration::from_nanos(*nanos));
            1
        }
        Verb::Join(a, b) => join(id, a, b, None, within, home),
        Verb::Meet(a, b) => join(id, a, b, Some(&Barrier::new(2)), within, home),
        Verb::Loop(kind, len, nanos) => over(id, *kind, *len, *nanos),
        Verb::Line { flow, len, limit } => line::run(id, *flow, *len, *limit),
        Verb::Bridge(draw, len, nanos) => bridge::run(id, *draw, *len, *nanos),
        Verb::LoopMeet { kind, len, before } => over_meeting(id, *kind, *len, *before),
        Verb::Scope {
            fifo,
            in_place,
            body,
        } => scope(id, *fifo, *in_place, body, home),
        Verb::Task(body) => {
            task(id, body, within);
            1
        }
        Verb::TaskToAll(body) => {
            task_to_all(id, body, within);
            1
        }
        Verb::Spawn { fifo, body } => {
            let token = Token::new(id, "a spawned job", Often::ONCE, None, home);
            let job = move || {
                token.run();
                run(body, &Within::Nothing, home);
            };
            if *fifo {
                tine_pool::spawn_fifo(job)
            } else {
                tine_pool::spawn(job)
            }
            1
        }
        Verb::SpawnMany(n) => {
            let jobs = (0..*n).map(|_| {
                let token = Token::new(id, "one of many spawned jobs", Often::ONCE, None, home);
                move || {
                    token.run();
                    rt::work(10);
                }
            });
            tine_pool::spawn_many(jobs);
            1
        }
        Verb::Handle(end, body) => handle(id, *end, body, home),
        Verb::Broadcast(body) => broadcast(id, body, None, None, home),
        Verb::BroadcastHome(body) => {
            broadcast(
                id,
                body,
                None,
                Some(tine_pool::current_thread_index()),
                home,
            );
            1
        }
        Verb::BroadcastMeet => {
            let all = Barrier::new(tine_pool::current_num_threads());
            static NONE: Block = Vec::new();
            broadcast(id, &NONE, Some(&all), None, home);
            1
        }
        Verb::SpawnBroadcast(body) => {
            let threads = tine_pool::current_num_threads();
            let token = Token::new(id, "a spawned broadcast", Often::times(threads), None, home);
            tine_pool::spawn_broadcast(move |_| {
                token.run();
                run(body, &Within::Nothing, home);
            });
            1
        }
        Verb::Install(to, body) => {
            let frame = Lasting::new();
            let often = Often::ONCE;
            let token = Token::new(id, "an installed closure", often, Some(frame.0), None);
            pool(*to).install(move || {
                token.run();
                let value = run(body, &Within::Nothing, Some(*to));
                token.look("used");
                value
            })
        }
        Verb::Blocking(body) => tine_pool::blocking(|| run(body, within, None)),
        Verb::Under(body) => {
            let token = tine_pool::StopToken::new();
            let all = tine_pool::with_token(&token, || {
                let value = run(body, within, home);
                let child = token.child();
                let ended = tine_pool::with_token(&child, || {
                    tine_pool::join(|| child.stop(), || rt::work(100));
                    tine_pool::join(|| (), || fail("a call went on that was stopped"));
                });
                if ended.is_ok() || tine_pool::stop::requested() {
                    fail("a child's end did not come, or its parent's did");
                }
                value
            });
            all.unwrap_or_else(|_| fail("a call ended that was not stopped"))
        }
        Verb::Lock(which, body) => {
            let _held = HELD[*which].lock().unwrap_or_else(PoisonError::into_inner);
            run(body, within, home)
        }
        Verb::Yield { local } => {
            if *local {
                tine_pool::yield_local();
            } else {
                tine_pool::yield_now();
            }
            1
        }
        Verb::Catch(body) => {
            let result = catch_unwind(AssertUnwindSafe(|| run(body, within, home)));
            match result {
                Ok(got) if panics(body) => fail(&format!("[{id}] gave {got} and did not panic")),
                Ok(got) => expect(got, value(body), "a block that did not panic"),
                Err(payload) if payload.is::<Planned>() && panics(body) => {}
                Err(_) => fail("a panic that no schedule has planned"),
            }
            1
        }
        Verb::Set(which) => {
            let (come, news) = &EVENT[*which];
            *come.lock().unwrap_or_else(PoisonError::into_inner) = true;
            news.notify_all();
            1
        }
        Verb::Await(which) => {
            let (come, news) = &EVENT[*which];
            let come = come.lock().unwrap_or_else(PoisonError::into_inner);
            let come = news.wait_while(come, |come| !*come);
            drop(come.unwrap_or_else(PoisonError::into_inner));
            1
        }
        Verb::Refuse(more) => {
            rt::refuse_after(*more);
            1
        }
        Verb::Panic => resume_unwind(Box::new(Planned)),
    }
}

/// The thread on each seat, by the pool's address and the index.
static SEATED: Mutex<Vec<(usize, usize, ThreadId)>> = Mutex::new(Vec::new());

/// Computes. Meanwhile no other thread has this thread's index.
fn work(nanos: u64, home: Option<usize>) -> u64 {
    let compute = || (0..3).for_each(|_| rt::work(nanos / 3));
    seated(home.unwrap_or(usize::MAX), compute);
    1
}

/// Calls `f`, and checks that no two threads of a pool have the same index meanwhile.
fn seated(pool: usize, f: impl FnOnce()) {
    let Some(index) = tine_pool::current_thread_index() else {
        return f();
    };
    let me = (pool, index, thread::current().id());
    let mut all = SEATED.lock().unwrap_or_else(PoisonError::into_inner);
    if all
        .iter()
        .any(|o| (o.0, o.1) == (me.0, me.1) && o.2 != me.2)
    {
        fail(&format!("two threads have the index {index}"));
    }
    all.push(me);
    drop(all);
    f();
    let mut all = SEATED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = all.iter().position(|o| *o == me) {
        all.swap_remove(at);
    }
}

fn join(
    id: usize,
    a: &'static Block,
    b: &'static Block,
    meet: Option<&Barrier>,
    within: &Within<'_, '_>,
    home: Option<usize>,
) -> u64 {
    let frame = Lasting::new();
    let token = |what, often| Token::new(id, what, often, Some(frame.0), None);
    let (first, second) = (
        token(
            "the first half of a join",
            Often::ONCE.perhaps_if(panics(b)),
        ),
        token(
            "the second half of a join",
            Often::ONCE.perhaps_if(panics(a)),
        ),
    );
    let half = |token: Token, block: &'static Block| {
        move || {
            token.run();
            if let Some(meet) = meet {
                meet.wait();
            }
            let value = run(block, within, home);
            token.look("used");
            value
        }
    };
    let (x, y) = tine_pool::join(half(first, a), half(second, b));
    expect(x, value(a), "the first half of a join");
    expect(y, value(b), "the second half of a join");
    x.wrapping_mul(3).wrapping_add(y)
}

fn over(id: usize, kind: Loop, len: u64, nanos: u64) -> u64 {
    let frame = Lasting::new();
    let often = Often::times(len as usize).perhaps_if(kind == Loop::FindAny);
    let token = Token::new(id, "an item of a loop", often, Some(frame.0), None);
    let item = move |i: u64| {
        token.run();
        rt::work(nanos);
        i
    };
    let items = (0..len).into_par_iter();
    match kind {
        Loop::Each => items.for_each(|i| assert!(item(i) < len)),
        Loop::Sum => expect(
            items.map(item).sum(),
            len * len.saturating_sub(1) / 2,
            "a sum",
        ),
        Loop::Collect => {
            let all: Vec<u64> = items.map(item).collect();
            expect(u64::from(all.into_iter().eq(0..len)), 1, "a collected loop");
        }
        Loop::Count => {
            let even = items.filter(|&i| item(i) % 2 == 0).count() as u64;
            expect(even, len.div_ceil(2), "a count");
        }
        Loop::Bridge => {
            let sum: u64 = (0..len).par_bridge().map(item).sum();
            expect(sum, len * len.saturating_sub(1) / 2, "a bridged sum");
        }
        Loop::Pipeline => {
            let all: Vec<u64> = tine_iter::pipeline(0..len, 4).map(item).collect();
            expect(u64::from(all.into_iter().eq(0..len)), 1, "a pipeline");
        }
        Loop::FindAny => {
            let found = items.map(item).find_any(|&i| i == len / 2);
            expect(u64::from(found.is_some()), len.min(1), "a search");
        }
    }
    len
}

fn over_meeting(id: usize, kind: Meeting, len: u64, before: u64) -> u64 {
    let (count, every) = match kind {
        Meeting::All => {
            let threads = tine_pool::current_num_threads();
            (threads, len / threads as u64)
        }
        _ => (2, len - 1),
    };
    for turn in 0..=before {
        let frame = Lasting::new();
        let often = Often::times(len as usize);
        let token = Token::new(id, "an item of a loop", often, Some(frame.0), None);
        let meet = (turn == before).then(|| Barrier::new(count));
        let item = move |i: u64| {
            token.run();
            if let Some(meet) = &meet
                && i.is_multiple_of(every)
            {
                meet.wait();
            }
            i
        };
        let items = (0..len).into_par_iter();
        match kind {
            Meeting::Each | Meeting::All => items.for_each(|i| assert!(item(i) < len)),
            Meeting::Collect => {
                let all: Vec<u64> = items.map(item).collect();
                expect(u64::from(all.into_iter().eq(0..len)), 1, "a collected loop");
            }
            Meeting::Filter => {
                let even: Vec<u64> = items.filter(|&i| item(i) % 2 == 0).collect();
                expect(even.len() as u64, len.div_ceil(2), "a filtered loop");
            }
            Meeting::Chunks => {
                let all: Vec<u64> = (0..len * 3).collect();
                all.par_chunks(3)
                    .for_each(|c| assert!(item(c[0] / 3) < len));
            }
        }
    }
    len
}

fn scope(id: usize, fifo: bool, in_place: bool, body: &'static Block, home: Option<usize>) -> u64 {
    let frame = Lasting::new();
    let borrowed = frame.0;
    let token = Token::new(id, "the body of a scope", Often::ONCE, Some(borrowed), None);
    let base = Base {
        home,
        threads: tine_pool::current_num_threads(),
    };
    let lifo = |s: &Scope<'_>| {
        token.run();
        run(body, &Within::Lifo(s, borrowed, base), home)
    };
    let in_order = |s: &ScopeFifo<'_>| {
        token.run();
        run(body, &Within::Fifo(s, borrowed, base), home)
    };
    match (fifo, in_place) {
        (false, false) => tine_pool::scope(lifo),
        (false, true) => tine_pool::in_place_scope(lifo),
        (true, false) => tine_pool::scope_fifo(in_order),
        (true, true) => tine_pool::in_place_scope_fifo(in_order),
    }
}

fn task(id: usize, body: &'static Block, within: &Within<'_, '_>) {
    let token = |frame| Token::new(id, "a task of a scope", Often::ONCE, Some(frame), None);
    match *within {
        Within::Nothing => {}
        Within::Lifo(s, frame, base) => {
            let token = token(frame);
            s.spawn(move |s| {
                token.run();
                run(body, &Within::Lifo(s, frame, base), base.home);
                token.look("used");
            });
        }
        Within::Fifo(s, frame, base) => {
            let token = token(frame);
            s.spawn_fifo(move |s| {
                token.run();
                run(body, &Within::Fifo(s, frame, base), base.home);
                token.look("used");
            });
        }
    }
}

fn task_to_all(id: usize, body: &'static Block, within: &Within<'_, '_>) {
    let token = |frame, base: Base| {
        let often = Often::times(base.threads);
        Token::new(id, "a task to all threads", often, Some(frame), None)
    };
    match *within {
        Within::Nothing => {}
        Within::Lifo(s, frame, base) => {
            let token = token(frame, base);
            s.spawn_broadcast(move |s, _| {
                token.run();
                run(body, &Within::Lifo(s, frame, base), base.home);
                token.look("used");
            });
        }
        Within::Fifo(s, frame, base) => {
            let token = token(frame, base);
            s.spawn_broadcast(move |s, _| {
                token.run();
                run(body, &Within::Fifo(s, frame, base), base.home);
                token.look("used");
            });
        }
    }
}

fn handle(id: usize, end: End, body: &'static Block, home: Option<usize>) -> u64 {
    let often = Often::ONCE.perhaps_if(end == End::Cancel);
    let pool = home.filter(|_| end != End::Cancel);
    let token = Token::new(id, "a job with a handle", often, None, pool);
    let mut job = tine_pool::spawn_join(move || {
        token.run();
        run(body, &Within::Nothing, home)
    });
    match end {
        End::Drop => 1,
        End::Cancel => {
            job.cancel();
            1
        }
        End::Join => finish(job.join(), body),
        End::Poll => match Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(result) => finish(result, body),
            std::task::Poll::Pending => finish(job.join(), body),
        },
    }
}

fn finish(result: thread::Result<u64>, body: &Block) -> u64 {
    let got = result.unwrap_or_else(|_| fail("a job with a handle panicked"));
    expect(got, value(body), "a job with a handle");
    got
}

/// `only`: if set, only the closure for this seat runs the body. An inner `None` stands for no seat at all.
fn broadcast(
    id: usize,
    body: &'static Block,
    meet: Option<&Barrier>,
    only: Option<Option<usize>>,
    home: Option<usize>,
) -> u64 {
    let frame = Lasting::new();
    let threads = tine_pool::current_num_threads();
    let often = Often::times(threads);
    let token = Token::new(id, "a broadcast", often, Some(frame.0), None);
    let all = tine_pool::broadcast(move |context| {
        token.run();
        if let Some(meet) = meet {
            meet.wait();
        }
        let here = only.is_none_or(|only| only == Some(context.index()));
        let value = if here {
            run(body, &Within::Nothing, home)
        } else {
            value(body)
        };
        token.look("used");
        (context.index(), value)
    });
    if !all.iter().map(|a| a.0).eq(0..threads) {
        fail("the answers of a broadcast are out of order");
    }
    for (_, got) in &all {
        expect(*got, value(body), "a broadcast");
    }
    value(body)
}
