//! Ranks that a launcher starts, connected by an MPI library.
//!
//! rsmpi finds the library, builds its header and starts it. The nine operations are called as in
//! C, since raw bytes are sent from places and in amounts that rsmpi's typed buffers cannot
//! express. Counts always fit `i32`.
//!
//! **Exchange.** In step `s` a rank sends to the one `s` after it and receives from the one `s`
//! before it. Messages have a limited size and are sent without waiting. Before a rank posts step
//! `s`, it waits for what it posted eight steps ago:
//!
//! ```text
//! step      1   2   3  …   8   9 = after step 1 is through
//! to       +1  +2  +3     +8  +9
//! from     -1  -2  -3     -8  -9
//! ```
//!
//! No rank waits for ever. Look at a waiting rank that is at the lowest step. Its partners post
//! what it waits for in that same step, and they have reached the step, since no rank is at a lower
//! one.
//!
//! **Threads.** All calls come from the thread that started MPI. A `Link` is neither `Send` nor
//! `Sync`, since the library's state is in it.

use super::Link;
use crate::cluster::Limits;
use crate::fault::{Stop, say, stop};
use crate::launch::{Cores, launched, machine_cores, same_make};
use mpi::Threading;
use mpi::environment::{self, Universe};
use mpi::ffi;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::time::Duration;
use std::{env, fs, process, thread};

use foldhash::quality::FixedState;

/// Steps of an exchange under way at once.
const AHEAD: usize = 8;
/// Bytes in one call of a collective of the library.
const PIECE: usize = 1 << 30;
/// The time for a last message to get out before the launcher ends everything.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The started library.
pub(crate) struct Mpi {
    rank: usize,
    size: usize,
    /// Ends MPI when dropped. Only a job that ended well drops it.
    universe: Cell<Option<Universe>>,
    /// Stays on its thread.
    here: PhantomData<*const ()>,
}

/// Starts MPI, and a pool with the number of threads that the rank should have.
pub(crate) fn start(limits: Limits) -> Result<Mpi, String> {
    let begun = environment::initialize_with_threading(Threading::Funneled);
    let Some((universe, threading)) = begun else {
        return Err("MPI has been started before in this process: call `run` once".to_owned());
    };
    let mut link = Mpi {
        rank: 0,
        size: 0,
        universe: Cell::new(Some(universe)),
        here: PhantomData,
    };
    (link.rank, link.size) = (link.ask(ffi_rank), link.ask(ffi_size));
    // All ranks find the same, and end together. The first one reports it.
    let refuse = |why: String| {
        if link.rank == 0 {
            say(&format!("tine-cluster: {why}."));
        }
        thread::sleep(LAST_WORDS);
        link.fail(&why);
        Err(why)
    };
    let ask = |name: &str| env::var(name).ok();
    let library = environment::library_version().unwrap_or_default();
    // `Open MPI v4.1.4, package: …`, or `MPICH Version:\t4.0.2`.
    let library = library.split([',', '\n']).next().unwrap_or_default();
    let library = library.replace("Version:", "");
    let library: Vec<&str> = library.split_whitespace().collect();
    let library = library.join(" ");
    // The other processes find the same, each by itself, so there is none to end.
    same_make(&ask, link.size, &library)?;
    if threading < Threading::Funneled {
        return refuse(format!("{library} was built without support for threads"));
    }
    if let Err(why) = link.same_start(limits) {
        return refuse(why);
    }
    link.set_threads();
    Ok(link)
}

fn ffi_rank(at: &mut c_int) -> c_int {
    // SAFETY: alive and alone: the place is borrowed; MPI is started.
    unsafe { ffi::MPI_Comm_rank(world(), at) }
}

fn ffi_size(at: &mut c_int) -> c_int {
    // SAFETY: alive and alone: the place is borrowed; MPI is started.
    unsafe { ffi::MPI_Comm_size(world(), at) }
}

fn world() -> ffi::MPI_Comm {
    // SAFETY: a constant of the library, which never changes.
    unsafe { ffi::RSMPI_COMM_WORLD }
}

fn bytes_type() -> ffi::MPI_Datatype {
    // SAFETY: a constant of the library, which never changes.
    unsafe { ffi::RSMPI_UINT8_T }
}

fn words_type() -> ffi::MPI_Datatype {
    // SAFETY: a constant of the library, which never changes.
    unsafe { ffi::RSMPI_UINT64_T }
}

/// A length as a count for the library.
fn count(len: usize) -> c_int {
    c_int::try_from(len).expect("what is sent at once is cut to fit")
}

fn check(code: c_int) {
    if code != 0 {
        stop(Stop::Alone(format!(
            "the MPI library gave up with code {code}"
        )));
    }
}

impl Mpi {
    fn ask(&self, question: fn(&mut c_int) -> c_int) -> usize {
        let mut answer: c_int = 0;
        check(question(&mut answer));
        usize::try_from(answer).expect("ranks are counted from 0 on")
    }

    /// Whether all ranks run the same executable, with the same limits: these decide how many rounds
    /// an exchange has.
    fn same_start(&self, limits: Limits) -> Result<(), String> {
        if self.size == 1 {
            return Ok(());
        }
        let program = env::current_exe().and_then(fs::read);
        let program = program.map_or(0, |bytes| FixedState::with_seed(1).hash_one(bytes));
        let all = self.all_gather(&[program, limits.round as u64]);
        let mut others = all.chunks(2).enumerate();
        let Some((other, found)) = others.find(|(_, found)| **found != all[..2]) else {
            return Ok(());
        };
        let size = self.size;
        Err(match found[0] == all[0] {
            false => format!(
                "rank 0 and rank {other} of {size} run different programs: copy the same executable \
                 to all machines"
            ),
            true => format!(
                "TINE_ROUND is {} bytes on rank 0 and {} bytes on rank {other} of {size}: give all \
                 ranks the same",
                all[1], found[1]
            ),
        })
    }

    /// Builds the pool, unless the program has built it or has set its number of threads.
    fn set_threads(&self) {
        // All ranks meet here, even those that are told how many threads they have.
        let machine = environment::processor_name().unwrap_or_default();
        let machine = FixedState::with_seed(2).hash_one(machine);
        let machines = self.all_gather(&[machine]);
        if env::var_os("TINE_NUM_THREADS").is_some() {
            return;
        }
        let mine = thread::available_parallelism().map_or(1, usize::from);
        let cores = Cores {
            machine: machine_cores().unwrap_or(mine).max(mine),
            mine,
            ranks: machines.iter().filter(|other| **other == machine).count(),
        };
        let started = launched(&|name| env::var(name).ok()).is_some();
        if let (true, Some(warning)) = (started, cores.warning()) {
            say(&warning);
        }
        let pool = tine_pool::ThreadPoolBuilder::new().num_threads(cores.threads());
        // A program that has built its pool keeps it.
        let _ = pool.build_global();
    }

    /// Posts what goes to `to` and what comes from `from`.
    fn post(
        &self,
        (to, send): (usize, &[u8]),
        (from, recv): (usize, &mut [u8]),
        message: usize,
        requests: &mut Vec<ffi::MPI_Request>,
    ) -> u64 {
        for piece in recv.chunks_mut(message) {
            let mut request = null_request();
            // SAFETY: alive and alone: `exchange` has borrowed the piece, and does
            // not return before this request is through; in bounds: its own length.
            or_abort(unsafe {
                ffi::MPI_Irecv(
                    piece.as_mut_ptr().cast(),
                    count(piece.len()),
                    bytes_type(),
                    count(from),
                    0,
                    world(),
                    &mut request,
                )
            });
            requests.push(request);
        }
        let mut sent = 0;
        for piece in send.chunks(message) {
            let mut request = null_request();
            // SAFETY: as above; what is sent is only read.
            or_abort(unsafe {
                ffi::MPI_Isend(
                    piece.as_ptr().cast(),
                    count(piece.len()),
                    bytes_type(),
                    count(to),
                    0,
                    world(),
                    &mut request,
                )
            });
            requests.push(request);
            sent += 1;
        }
        sent
    }
}

fn null_request() -> ffi::MPI_Request {
    // SAFETY: a constant of the library, which never changes.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

fn wait(mut requests: Vec<ffi::MPI_Request>) {
    if requests.is_empty() {
        return;
    }
    // SAFETY: a constant of the library, which never changes.
    let ignore = unsafe { ffi::RSMPI_STATUSES_IGNORE };
    // SAFETY: in bounds: as many requests as the vector has, all of them posted.
    let code = unsafe { ffi::MPI_Waitall(count(requests.len()), requests.as_mut_ptr(), ignore) };
    or_abort(code);
}

/// Buffers are lent to the library, so no panic may unwind past them.
fn or_abort(code: c_int) {
    if code != 0 {
        say(&format!(
            "the MPI library gave up with code {code} while messages were under way"
        ));
        process::abort();
    }
}

impl Link for Mpi {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u64]) -> Vec<u64> {
        let mut all = vec![0; mine.len() * self.size];
        // SAFETY: in bounds: every rank gives as many words as this one, and there
        // is room for all of them; alone: the call is through when it returns.
        check(unsafe {
            ffi::MPI_Allgather(
                mine.as_ptr().cast(),
                count(mine.len()),
                words_type(),
                all.as_mut_ptr().cast(),
                count(mine.len()),
                words_type(),
                world(),
            )
        });
        all
    }

    fn all_gather_bytes(&self, mine: &[u8], lens: &[usize], all: &mut [u8]) {
        let total: usize = lens.iter().sum();
        assert_eq!(all.len(), total, "there is room for all");
        if total == 0 {
            return;
        }
        // The address of an empty slice may be the one that means `MPI_IN_PLACE`.
        let mine = if mine.is_empty() { &[0][..0] } else { mine };
        if total > PIECE {
            let send: Vec<&[u8]> = (0..self.size)
                .map(|to| if to == self.rank { &[][..] } else { mine })
                .collect();
            let mut rest = all;
            let mut recv: Vec<&mut [u8]> = Vec::with_capacity(self.size);
            for (from, &len) in lens.iter().enumerate() {
                let (room, after) = rest.split_at_mut(len);
                rest = after;
                if from == self.rank {
                    room.copy_from_slice(mine);
                    recv.push(&mut []);
                } else {
                    recv.push(room);
                }
            }
            self.exchange(&send, &mut recv, 64 << 20);
            return;
        }
        let counts: Vec<c_int> = lens.iter().map(|&len| count(len)).collect();
        let mut end = 0;
        let places: Vec<c_int> = lens
            .iter()
            .map(|&len| {
                end += len;
                count(end - len)
            })
            .collect();
        // SAFETY: in bounds: the places are the running sum of the counts, and there
        // is room for that sum, as was checked above; all ranks have the same counts; alone: the
        // call is through when it returns.
        check(unsafe {
            ffi::MPI_Allgatherv(
                mine.as_ptr().cast(),
                count(mine.len()),
                bytes_type(),
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                places.as_ptr(),
                bytes_type(),
                world(),
            )
        });
    }

    fn all_to_all(&self, mine: &[u64]) -> Vec<u64> {
        assert_eq!(mine.len(), self.size, "one word for each rank");
        let mut all = vec![0; self.size];
        // SAFETY: in bounds: one word for each rank and from each; alone: the call
        // is through when it returns.
        check(unsafe {
            ffi::MPI_Alltoall(
                mine.as_ptr().cast(),
                1,
                words_type(),
                all.as_mut_ptr().cast(),
                1,
                words_type(),
                world(),
            )
        });
        all
    }

    fn all_sum(&self, words: &mut [u64]) {
        // SAFETY: a constant of the library, which never changes.
        let sum = unsafe { ffi::RSMPI_SUM };
        for piece in words.chunks_mut(PIECE / 8) {
            let mine = piece.to_vec();
            // SAFETY: in bounds: both pieces have the stated length, the same
            // on every rank; alone: they are two, and the call is through when it returns.
            check(unsafe {
                ffi::MPI_Allreduce(
                    mine.as_ptr().cast(),
                    piece.as_mut_ptr().cast(),
                    count(mine.len()),
                    words_type(),
                    sum,
                    world(),
                )
            });
        }
    }

    fn broadcast(&self, root: usize, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(PIECE) {
            // SAFETY: in bounds: its own length, the same on every rank; alone: the
            // call is through when it returns.
            check(unsafe {
                ffi::MPI_Bcast(
                    piece.as_mut_ptr().cast::<c_void>(),
                    count(piece.len()),
                    bytes_type(),
                    count(root),
                    world(),
                )
            });
        }
    }

    fn exchange(&self, send: &[&[u8]], recv: &mut [&mut [u8]], message: usize) -> u64 {
        let message = message.clamp(1, PIECE);
        let mut under_way: VecDeque<Vec<ffi::MPI_Request>> = VecDeque::new();
        let mut sent = 0;
        for step in 1..self.size {
            if under_way.len() == AHEAD {
                under_way.pop_front().into_iter().for_each(wait);
            }
            let to = (self.rank + step) % self.size;
            let from = (self.rank + self.size - step) % self.size;
            let mut requests = Vec::new();
            sent += self.post(
                (to, send[to]),
                (from, &mut *recv[from]),
                message,
                &mut requests,
            );
            under_way.push_back(requests);
        }
        under_way.into_iter().for_each(wait);
        sent
    }

    fn fail(&self, _: &str) {
        thread::sleep(LAST_WORDS);
        // MPI must not be ended as if all were well.
        std::mem::forget(self.universe.take());
        // SAFETY: MPI is started, and it holds nothing of this process.
        unsafe { ffi::MPI_Abort(world(), 101) };
        process::exit(101);
    }
}
