//! How a program was started: the engine, the number of threads, and what is refused.
//!
//! | found | engine |
//! |---|---|
//! | `TINE_RANKS=n`, no launcher of several ranks | threads |
//! | neither, without the feature `mpi` | one rank |
//! | the feature `mpi` | MPI, which must see as many ranks as the launcher says |
//! | a launcher of several ranks, without the feature, or with `TINE_RANKS` | refused |
#![forbid(unsafe_code)]

use crate::cluster::Limits;
use std::fs;

/// Reads a variable of the environment.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Alone,
    Threads(usize),
    Mpi,
}

/// The variables by which launchers tell each process how many processes there are.
const LAUNCHERS: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI"),
    ("PMI_SIZE", "mpirun of MPICH or one of its derivatives"),
    ("MV2_COMM_WORLD_SIZE", "mpirun of MVAPICH"),
    ("SLURM_STEP_NUM_TASKS", "srun"),
    ("FLUX_JOB_SIZE", "flux run"),
];

/// The number of ranks that a launcher has started, and the launcher's name.
pub(crate) fn launched(env: Env<'_>) -> Option<(usize, &'static str)> {
    LAUNCHERS.iter().find_map(|&(variable, launcher)| {
        let ranks = env(variable)?.trim().parse().ok()?;
        Some((ranks, launcher))
    })
}

/// The engine for a program that was built with or without MPI.
pub(crate) fn engine(env: Env<'_>, with_mpi: bool) -> Result<Engine, String> {
    let launched = launched(env).filter(|(ranks, _)| *ranks > 1);
    let Some(wanted) = env("TINE_RANKS") else {
        return match launched {
            _ if with_mpi => Ok(Engine::Mpi),
            None => Ok(Engine::Alone),
            Some((ranks, launcher)) => Err(format!(
                "{launcher} started {ranks} ranks, but this program was built without the feature \
                 `mpi` of tine-cluster: each of them would do all the work. Build it with \
                 `--features mpi`, or start it without a launcher"
            )),
        };
    };
    if let Some((ranks, launcher)) = launched {
        return Err(format!(
            "{launcher} started {ranks} ranks, and TINE_RANKS={wanted} asks for ranks that are \
             threads of one process: unset TINE_RANKS, or start the program without a launcher"
        ));
    }
    match wanted.trim().parse() {
        Ok(ranks @ 1..=4096) => Ok(Engine::Threads(ranks)),
        _ => Err(format!(
            "TINE_RANKS={wanted} is no number of ranks: give one from 1 to 4096, or unset it"
        )),
    }
}

/// How much may be under way at once.
pub(crate) fn limits(env: Env<'_>) -> Result<Limits, String> {
    let mut limits = Limits::default();
    if let Some(wanted) = env("TINE_ROUND") {
        limits.round = match wanted.trim().parse() {
            Ok(bytes) if bytes > 0 => bytes,
            _ => {
                return Err(format!(
                    "TINE_ROUND={wanted} is no number of bytes: give how many bytes one round of \
                     an exchange may have, or unset it"
                ));
            }
        };
        limits.message = limits.message.min(limits.round);
    }
    Ok(limits)
}

/// Whether the `size` ranks that MPI sees are those that the launcher started.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn same_make(env: Env<'_>, size: usize, library: &str) -> Result<(), String> {
    match launched(env) {
        Some((ranks, launcher)) if ranks != size => Err(format!(
            "{launcher} started {ranks} ranks, but the MPI library of this program sees {size}: \
             launcher and library are of different makes. Start the program with the launcher of \
             {library}, or build it with the other library's mpicc"
        )),
        _ => Ok(()),
    }
}

/// What decides how many threads a rank has.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    /// Cores of the machine.
    pub(crate) machine: usize,
    /// Cores that this process may use.
    pub(crate) mine: usize,
    /// Ranks on this machine.
    pub(crate) ranks: usize,
}

#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
impl Cores {
    /// The cores that the launcher gave the rank, if it bound it; otherwise an even share.
    pub(crate) fn threads(self) -> usize {
        if self.mine < self.machine {
            self.mine
        } else {
            (self.mine / self.ranks.max(1)).max(1)
        }
    }

    /// The warning if the only rank of a machine may use just one of its cores.
    pub(crate) fn warning(self) -> Option<String> {
        let bound = self.ranks == 1 && self.mine == 1 && self.machine > 1;
        bound.then(|| {
            format!(
                "tine-cluster: the only rank of this machine was bound to one of its {} cores; \
                 start it with `mpirun --bind-to none`, or set TINE_NUM_THREADS if that is meant",
                self.machine
            )
        })
    }
}

/// The number of cores of the machine, whatever this process may use.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn machine_cores() -> Option<usize> {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    count_list(online.trim())
}

/// The number of values in a list like `0-3,8`.
fn count_list(list: &str) -> Option<usize> {
    let span = |span: &str| {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then(|| last - first + 1)
    };
    list.split(',').map(span).sum()
}

#[cfg(test)]
mod tests {
    use super::{Cores, Engine, count_list, engine, limits, same_make};

    fn env<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn the_start_decides() {
        assert_eq!(engine(&env(&[]), false), Ok(Engine::Alone));
        assert_eq!(engine(&env(&[]), true), Ok(Engine::Mpi));
        let four = [("TINE_RANKS", "4")];
        assert_eq!(engine(&env(&four), false), Ok(Engine::Threads(4)));
        assert_eq!(engine(&env(&four), true), Ok(Engine::Threads(4)));
        let single = [("OMPI_COMM_WORLD_SIZE", "1")];
        assert_eq!(engine(&env(&single), false), Ok(Engine::Alone));
    }

    #[test]
    fn wrong_launches_are_refused() {
        let started = [("PMI_SIZE", "3")];
        let refusal = engine(&env(&started), false).unwrap_err();
        assert!(refusal.contains("started 3 ranks") && refusal.contains("--features mpi"));
        assert_eq!(engine(&env(&started), true), Ok(Engine::Mpi));
        let both = [("OMPI_COMM_WORLD_SIZE", "2"), ("TINE_RANKS", "2")];
        assert!(
            engine(&env(&both), true)
                .unwrap_err()
                .contains("unset TINE_RANKS")
        );
        for wrong in ["0", "-1", "many", "5000"] {
            assert!(engine(&env(&[("TINE_RANKS", wrong)]), false).is_err());
        }
        assert!(limits(&env(&[("TINE_ROUND", "0")])).is_err());
        assert_eq!(limits(&env(&[("TINE_ROUND", "1024")])).unwrap().round, 1024);
        assert!(
            same_make(&env(&started), 1, "Open MPI")
                .unwrap_err()
                .contains("different makes")
        );
        assert!(same_make(&env(&started), 3, "MPICH").is_ok());
        assert!(same_make(&env(&[]), 1, "MPICH").is_ok());
    }

    #[test]
    fn threads_follow_the_cores() {
        let cores = |machine, mine, ranks| Cores {
            machine,
            mine,
            ranks,
        };
        assert_eq!(cores(16, 16, 1).threads(), 16);
        assert_eq!(cores(16, 16, 4).threads(), 4);
        assert_eq!(cores(16, 2, 4).threads(), 2);
        assert_eq!(cores(2, 2, 5).threads(), 1);
        assert!(cores(16, 1, 1).warning().is_some());
        assert!(cores(16, 1, 16).warning().is_none());
        assert!(cores(1, 1, 1).warning().is_none());
        assert_eq!(count_list("0-3,8"), Some(5));
        assert_eq!(count_list("0"), Some(1));
        assert_eq!(count_list("x"), None);
    }
}
