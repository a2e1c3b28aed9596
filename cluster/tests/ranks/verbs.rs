//! Each collective, called as a program would.

use crate::files::Dir;
use crate::watch::run_threads;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tine::prelude::IndexedParallelIterator;
use tine_cluster::{Cluster, DistIter, DistMap};

/// What verbs work with: a directory with the files that they read, and a function that looks at the items that
/// their closures get.
pub(crate) struct Stage {
    dir: Dir,
    look: fn(usize),
}

impl Stage {
    pub(crate) fn new(look: fn(usize)) -> Self {
        let stage = Stage {
            dir: Dir::new(),
            look,
        };
        run_threads(2, |c| c.generate(9, |i| i).checkpoint(stage.path("kept"))).unwrap();
        for file in stage.files() {
            fs::write(file, "a line\nanother\n").unwrap();
        }
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.0.join(name)
    }

    fn files(&self) -> [PathBuf; 2] {
        [self.path("a.txt"), self.path("b.txt")]
    }

    fn pattern(&self) -> String {
        self.path("*.txt").display().to_string()
    }

    /// The same, after it was looked at.
    fn see(&self, item: usize) -> usize {
        (self.look)(item);
        item
    }

    fn greater(&self, a: usize, b: usize) -> usize {
        self.see(a).max(self.see(b))
    }
}

/// The answer does not matter.
fn done<T>(_: T) {}

fn hundred(c: &Cluster) -> DistIter<impl IndexedParallelIterator<Item = usize> + use<>> {
    c.generate(100, |i| i).into_par_iter()
}

fn thirds(c: &Cluster) -> DistMap<usize, usize> {
    hundred(c).count_by(|i| i % 3)
}

/// A name, and a function that prepares the collective on all ranks and returns its call.
pub(crate) type Verb = (
    &'static str,
    for<'a> fn(&'a Cluster, &'a Stage) -> Box<dyn FnOnce() + 'a>,
);

macro_rules! verbs {
    ($c:ident, $stage:ident: $($name:literal $($map:ident)? => $call:expr,)*) => {
        &[$((
            $name,
            |$c, $stage| {
                let _ = ($c, $stage);
                $(let mut $map = thirds($c);)?
                $(let _ = &mut $map;)?
                Box::new(move || done($call))
            },
        )),*]
    };
}

/// Verbs that take no closure.
pub(crate) const PLAIN: &[Verb] = verbs! { c, stage:
    "barrier" => c.barrier(),
    "broadcast" => c.broadcast(vec![1, 2, 3]),
    "scatter" => c.scatter(vec![String::new(); 9]),
    "agree" => c.agree(Ok::<_, String>(1)).unwrap(),
    "len" => c.generate(9, |i| i).len(),
    "is_empty" => c.generate(9, |i| i).is_empty(),
    "offset" => c.generate(9, |i| i).offset(),
    "rebalance" => c.generate(9, |i| i).rebalance(),
    "gather" => c.generate(9, |i| i).gather(),
    "all_gather" => c.generate(9, |i| i).all_gather(),
    "sort" => c.generate(99, |i| i).sort(),
    "enumerate" => hundred(c).enumerate(),
    "count" => hundred(c).count(),
    "sum" => hundred(c).sum::<usize>(),
    "product" => c.generate(9, |i| i).into_par_iter().product::<usize>(),
    "min" => hundred(c).min(),
    "max" => hundred(c).max(),
    "deterministic sum" => hundred(c).map(|i| i as f64).collect().into_par_iter().deterministic().sum::<f64>(),
    "deterministic product" => c.generate(9, |i| i as f64).into_par_iter().deterministic().product::<f64>(),
    "prefix_sum" => c.generate(9, |i| i).prefix_sum(),
    "count_items" => c.generate(9, |i| i % 3).into_par_iter().count_items(),
    "count_refs" => c.generate(9, |i| i % 3).par_iter().count_refs(),
    "group_pairs" => c.generate(9, |i| (i % 3, i)).into_par_iter().group_pairs(),
    "distinct" => c.generate(9, |i| i).into_par_iter().distinct(),
    "map len" map => map.len(),
    "map is_empty" map => map.is_empty(),
    "get" map => map.get(&1),
    "top_k" map => map.top_k(2),
    "read_lines" => assert_eq!(c.read_lines(&stage.pattern()).unwrap().all_gather().len(), 4),
    "restore" => assert_eq!(c.restore::<usize>(stage.path("kept")).unwrap().len(), 9),
    "checkpoint" => c.generate(9, |i| i).checkpoint(stage.path("again")).unwrap(),
    "write_parts" => c.generate(9, |i| i).write_parts(stage.path("parts")).unwrap(),
};

/// Verbs that take closures: each shows the stage all hundred items.
pub(crate) const CLOSURES: &[Verb] = verbs! { c, stage:
    "sort_by" => c.generate(100, |i| i).sort_by(|a, b| stage.see(*a).cmp(&stage.see(*b))),
    "sort_by_key" => c.generate(100, |i| i).sort_by_key(|i| Reverse(stage.see(*i))),
    "scan" => c.generate(100, |i| i).scan(|a, b| stage.greater(*a, *b)),
    "scan_exclusive" => c.generate(100, |i| i).scan_exclusive(0, |a, b| stage.greater(*a, *b)),
    "count_by" => hundred(c).count_by(|i| stage.see(*i) % 3),
    "fold_by" => hundred(c).fold_by(|i| i % 3, || 0, |n, i| *n += stage.see(i), |n, m| *n += m),
    "group_by" => hundred(c).group_by(|i| stage.see(*i) % 3),
    "shuffle_by" => hundred(c).shuffle_by(|i| stage.see(*i) % 3),
    "top_k_by_count" => hundred(c).top_k_by_count(2, |i| stage.see(*i) % 3),
    "histogram" => hundred(c).histogram(3, |i| stage.see(*i) % 3),
    "inner join" => hundred(c).join_by(hundred(c), |l| stage.see(*l), |r| *r).inner(),
    "left join" => hundred(c).join_by(hundred(c), |l| *l, |r| stage.see(*r)).left(),
    "semi join" => hundred(c).join_by(hundred(c), |l| stage.see(*l), |r| *r).semi(),
    "anti join" => hundred(c).join_by(hundred(c), |l| *l, |r| stage.see(*r)).anti(),
    "any" => hundred(c).any(|i| stage.see(i) > 100),
    "all" => hundred(c).all(|i| stage.see(i) < 100),
    "find_first" => hundred(c).find_first(|i| stage.see(*i) > 100),
    "reduce" => hundred(c).reduce(|| 0, |a, b| stage.greater(a, b)),
    "reduce_with" => hundred(c).reduce_with(|a, b| stage.greater(a, b)),
    "min_by" => hundred(c).min_by(|a, b| stage.see(*b).cmp(&stage.see(*a))),
    "max_by" => hundred(c).max_by(|a, b| stage.see(*a).cmp(&stage.see(*b))),
    "min_by_key" => hundred(c).min_by_key(|i| stage.see(*i)),
    "max_by_key" => hundred(c).max_by_key(|i| stage.see(*i)),
    "deterministic reduce" => hundred(c).deterministic().reduce(|| 0, |a, b| stage.greater(a, b)),
    "deterministic reduce_with" => hundred(c).deterministic().reduce_with(|a, b| stage.greater(a, b)),
    "read_with" => c.read_with(&stage.files(), |file| {
        let from = if file.ends_with("b.txt") { 50 } else { 0 };
        Ok((from..from + 50).map(|i| stage.see(i)).collect())
    }).unwrap(),
    "write_parts_with" => c.generate(100, |i| i).write_parts_with(stage.path("parts"), |i, out| {
        writeln!(out, "{}", stage.see(*i))
    }).unwrap(),
};

/// All verbs.
pub(crate) fn verbs() -> impl Iterator<Item = &'static Verb> {
    PLAIN.iter().chain(CLOSURES)
}

/// The names with which the library begins collectives: each text with which a list of arguments
/// begins, if a place follows it.
fn names_in_the_library() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        for list in code.split('(').skip(1) {
            let name = list
                .trim_start()
                .strip_prefix('"')
                .and_then(|list| list.split_once('"'));
            let Some((name, rest)) = name else { continue };
            let rest = rest.trim_start_matches([',', ' ', '\n']);
            if ["Location::caller", "here,", "site,"]
                .iter()
                .any(|place| rest.starts_with(place))
            {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn the_verbs_are_all_that_there_are() {
    let known: BTreeSet<String> = verbs().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, names_in_the_library());
    assert_eq!(
        known.len(),
        PLAIN.len() + CLOSURES.len(),
        "each is there once"
    );
}
