//! Everything at the same time, at random, on more threads than there are processors.
//!
//! As part of `cargo test` it runs for a second or two; `tests/soak.sh 120` runs it for 120 seconds under the
//! thread sanitizer. `TINE_SOAK` sets the seconds, `TINE_SEED` the seed of the choices, and `TINE_ONLY` a text:
//! only actions whose name contains it are run. The seed decides what is run, and the system decides what runs
//! at the same time. A watchdog ends the process if an actor stands still, and prints what each actor was
//! doing.

#![forbid(unsafe_code)]

#[path = "soak/actions.rs"]
mod actions;
#[path = "soak/nest.rs"]
mod nest;
#[path = "soak/reach.rs"]
mod reach;
#[path = "soak/watch.rs"]
mod watch;

use actions::{ACTIONS, Common};
use nest::NEST;
use reach::REACH;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, thread};
use tine::{ThreadPool, ThreadPoolBuilder};
use watch::Watch;

/// How many ordinary threads call on the pools at the same time.
const ACTORS: usize = 6;

/// Seats of the pools that the actors share, in addition to the global pool.
const POOLS: [usize; 4] = [1, 2, 5, 16];

#[test]
fn everything_at_once() {
    let seconds = number("TINE_SOAK").unwrap_or(2);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = number("TINE_SEED").unwrap_or_else(|| since.map_or(1, |t| t.as_secs()));
    // Not by the output that the test harness catches: it is wanted when the process is ended.
    watch::say(&format!("soak: {seconds} s, TINE_SEED={seed}\n"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let common = Common::new(POOLS.map(pool));
    let watch = Watch::new(ACTORS, common.painters());
    let rounds: u64 = thread::scope(|s| {
        let act = |actor| {
            let (common, watch) = (&common, &watch);
            s.spawn(move || act(actor, seed, end, common, watch))
        };
        let actors: Vec<_> = (0..ACTORS).map(act).collect();
        actors.into_iter().map(|actor| actor.join().unwrap()).sum()
    });
    common.check();
    assert!(rounds > 0);
    watch::say(&format!("soak: {rounds} rounds\n"));
}

/// One thread's part: one action after another, on some pool or as a guest of the global pool. Returns the
/// number of actions.
fn act(actor: usize, seed: u64, end: Instant, common: &Common, watch: &Watch) -> u64 {
    let mut random = actions::Random::new(seed.wrapping_mul(ACTORS as u64) + actor as u64);
    let only = env::var("TINE_ONLY").unwrap_or_default();
    let actions = ACTIONS.iter().chain(REACH).chain(NEST);
    let actions: Vec<_> = actions.filter(|(name, _)| name.contains(&only)).collect();
    assert!(!actions.is_empty(), "no action's name contains {only}");
    let mut rounds = 0;
    while Instant::now() < end {
        let (name, action) = *actions[random.below(actions.len() as u64) as usize];
        let pool = common.pools.get(random.below(8) as usize);
        let mut own = random.split();
        watch.step(actor, name, pool.map_or(0, ThreadPool::current_num_threads));
        match pool {
            Some(pool) => pool.install(|| action(&mut own, common)),
            None => action(&mut own, common),
        }
        rounds += 1;
        if random.below(50) == 0 {
            // Long enough for the others to fall asleep, now and then.
            thread::sleep(Duration::from_micros(random.below(2000)));
        }
    }
    watch.step(actor, "the end", 0);
    rounds
}

fn pool(seats: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(seats);
    builder.build().unwrap()
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}
