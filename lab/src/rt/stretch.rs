//! In rows that are measured: which code ran while few cores computed.
//!
//! A stretch is what a thread computes between two touches of shared memory. Short stretches are left
//! out. A stretch is identified by the functions on the stack at its end. For each such place two sums
//! are reported: all computing time there, and the part of it while less than a quarter of the cores
//! were in any stretch. A row that scales badly must reduce the second sum.

use super::machine::PS;
use std::backtrace::Backtrace;
use std::collections::BTreeMap;

/// Shorter ones are left out, in picoseconds.
pub(super) const LEAST: u64 = 5_000 * PS;
/// How many frames of the library identify a place.
const FRAMES: usize = 3;

/// Whether this is asked for.
pub(super) fn is_wanted() -> bool {
    std::env::var_os("LAB_FEW").is_some_and(|wanted| wanted != "0")
}

pub(super) struct Stretch {
    begin: u64,
    end: u64,
    stack: Backtrace,
}

/// One place: its functions, all time, and the time while few computed, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    pub(crate) place: String,
    pub(crate) all: u64,
    pub(crate) few: u64,
}

impl Stretch {
    pub(super) fn new(end: u64, passed: u64) -> Self {
        Self {
            begin: end - passed,
            end,
            stack: Backtrace::force_capture(),
        }
    }
}

/// The places by what they computed while few did, and the time in which few did, nanoseconds.
pub(super) fn sum(stretches: &[Stretch], cores: usize) -> (Vec<Few>, u64) {
    let mut ends: Vec<(u64, bool)> = Vec::new();
    for stretch in stretches {
        ends.push((stretch.begin, true));
        ends.push((stretch.end, false));
    }
    ends.sort_unstable();
    // When few were in a stretch, and at least one.
    let (mut few, mut at_work, mut since) = (Vec::new(), 0_usize, 0);
    for (at, begins) in ends {
        if at_work > 0 && at_work * 4 < cores && at > since {
            few.push((since, at));
        }
        at_work = if begins { at_work + 1 } else { at_work - 1 };
        since = at;
    }
    let mut places: BTreeMap<String, Few> = BTreeMap::new();
    for stretch in stretches {
        let first = few.partition_point(|&(_, end)| end <= stretch.begin);
        let within = few[first..]
            .iter()
            .take_while(|&&(begin, _)| begin < stretch.end);
        let of_few: u64 = within
            .map(|&(begin, end)| end.min(stretch.end) - begin.max(stretch.begin))
            .sum();
        let place = place(&stretch.stack);
        let sum = places.entry(place.clone()).or_insert(Few {
            place,
            all: 0,
            few: 0,
        });
        sum.all += (stretch.end - stretch.begin) / PS;
        sum.few += of_few / PS;
    }
    let mut places: Vec<Few> = places.into_values().collect();
    places.sort_by_key(|p| std::cmp::Reverse(p.few));
    let all = few.iter().map(|(begin, end)| end - begin).sum::<u64>() / PS;
    (places, all)
}

/// The innermost lines of the library's crates above the pool, or else the innermost line of the pool.
fn place(stack: &Backtrace) -> String {
    let text = stack.to_string();
    let at = |line: &str| {
        let path = line.trim().strip_prefix("at ")?;
        let ours = ["/iter/src/", "/collections/src/", "lab/src/rows"];
        let in_it = ours.iter().any(|o| path.contains(o)) && !path.contains("/sync.rs");
        (in_it || path.contains("/pool/src/")).then(|| (in_it, short(path)))
    };
    let all: Vec<(bool, String)> = text.lines().filter_map(at).collect();
    let mut frames: Vec<&str> = Vec::new();
    let above = |pool: bool| all.iter().filter(move |(in_it, _)| *in_it != pool);
    for (_, place) in above(false) {
        if frames.len() < FRAMES && frames.last() != Some(&place.as_str()) {
            frames.push(place);
        }
    }
    if frames.is_empty() {
        // The first lines are those of the entry into the machine.
        frames.extend(
            above(true)
                .map(|(_, p)| p.as_str())
                .find(|p| !p.starts_with("scheduled")),
        );
    }
    frames.join(" < ")
}

/// File and line, without the folders and the column.
fn short(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rfind(':').unwrap_or(name.len());
    name[..end].to_owned()
}
