//! Arguments that all ranks must give alike are compared, and so are the types that travel as their memory.

use crate::files::Dir;
use crate::watch::run_threads;
use std::fs;
use std::path::{Path, PathBuf};
use tine_cluster::{Cluster, DistMap, Error, Travel};

fn failure(ranks: usize, body: impl Fn(&Cluster) -> Result<(), Error> + Sync) -> String {
    run_threads(ranks, body)
        .expect_err("the job fails")
        .to_string()
}

fn thirds(c: &Cluster) -> DistMap<usize, usize> {
    c.generate(100, |i| i).into_par_iter().count_by(|n| n % 3)
}

/// Rank 0 reports, and names the collective, its place, and a rank that differs.
fn is_told(said: &str, what: &str, how: &str) {
    let begin = format!("rank 0 of 3: `{what}` at ");
    assert!(said.starts_with(&begin) && said.ends_with(how), "{said}");
    assert!(said.contains("alike.rs:"), "{said}");
}

#[test]
fn keys_that_differ_are_told() {
    let said = failure(3, |c| {
        thirds(c).get(&(c.rank() / 2));
        Ok(())
    });
    is_told(
        &said,
        "get",
        ": all ranks give the same key, but rank 2 gives another than rank 0",
    );
}

#[test]
fn numbers_that_differ_are_told() {
    let greatest = failure(3, |c| {
        thirds(c).top_k(1 + c.rank() % 2);
        Ok(())
    });
    is_told(
        &greatest,
        "top_k",
        ": all ranks give the same `k`, but rank 1 gives 2 and rank 0 gives 1",
    );
    let frequent = failure(3, |c| {
        let v = c.generate(100, |i| i);
        v.par_iter().top_k_by_count(5 - c.rank() / 2, |n| **n % 9);
        Ok(())
    });
    is_told(
        &frequent,
        "top_k_by_count",
        ": all ranks give the same `k`, but rank 2 gives 4 and rank 0 gives 5",
    );
    let bins = failure(3, |c| {
        let v = c.generate(100, |i| i);
        v.par_iter().histogram(9 + c.rank(), |n| **n % 9);
        Ok(())
    });
    is_told(
        &bins,
        "histogram",
        ": all ranks give the same number of bins, but rank 1 gives 10 and rank 0 gives 9",
    );
}

/// The ranks may look at the error, and go on together.
#[test]
fn files_that_differ_are_an_error_of_all() {
    let dir = Dir::new();
    let files: Vec<PathBuf> = (0..4).map(|i| dir.0.join(i.to_string())).collect();
    for file in &files {
        fs::write(file, "text").unwrap();
    }
    let name = |file: &Path| Ok(vec![file.to_path_buf()]);
    run_threads(3, |c| {
        let mut named = files.clone();
        if c.rank() == 1 {
            named.swap(0, 3);
        }
        let error = c.read_with(&named, name).unwrap_err();
        assert_eq!(error.agreed_rank(), Some(1));
        assert_eq!(error.to_string(), "rank 1 names other files than rank 0");
        let fewer = c.read_with(&files[c.rank()..], name).unwrap_err();
        assert_eq!(fewer.agreed_rank(), Some(1));
        assert_eq!(c.read_with(&files, name)?.all_gather(), files);
        Ok(())
    })
    .unwrap();
}

#[test]
fn plain_on_some_ranks_only_is_told() {
    let said = failure(3, |c| {
        c.plain::<[u16; 3]>();
        if c.rank() == 1 {
            c.plain::<[f32; 3]>();
        }
        c.generate(9, |i| [i as f32; 3]).all_gather();
        Ok(())
    });
    is_told(
        &said,
        "all_gather",
        ": all ranks register the same types by `plain`, but rank 1 registered [f32; 3], [u16; 3] \
         and rank 0 registered [u16; 3]",
    );
    let none = failure(3, |c| {
        if c.is_root() {
            c.plain::<[u16; 3]>();
        }
        c.barrier();
        Ok(())
    });
    is_told(
        &none,
        "barrier",
        "but rank 1 registered none and rank 0 registered [u16; 3]",
    );
    let at_last = failure(3, |c| {
        if c.rank() == 2 {
            c.plain::<[u16; 3]>();
        }
        Ok(())
    });
    assert_eq!(
        at_last,
        "rank 0 of 3: at its end: all ranks register the same types by `plain`, but rank 2 \
         registered [u16; 3] and rank 0 registered none"
    );
}

/// The order, the number of calls, and whether there are also types that travel like this anyway, do not
/// matter.
#[test]
fn plain_may_be_said_in_any_order() {
    run_threads(3, |c| {
        if c.rank() == 1 {
            c.plain::<u64>();
            c.plain::<[u16; 0]>();
            c.plain::<[f32; 3]>();
            c.plain::<[u16; 3]>();
        } else {
            c.plain::<[u16; 3]>();
            c.plain::<[f32; 3]>();
            c.plain::<[u16; 3]>();
        }
        let points = c.generate(9, |i| [i as f32; 3]).all_gather();
        assert_eq!(points[8], [8.0; 3]);
        Ok(())
    })
    .unwrap();
}

/// Ranks that have parted are told so, also if their types differ.
#[test]
fn those_that_part_are_told_first() {
    let said = failure(3, |c| {
        if c.is_root() {
            c.plain::<[u16; 3]>();
            return Ok(());
        }
        c.barrier();
        Ok(())
    });
    assert!(
        said.starts_with("rank 0 of 3: the ranks have parted: rank 0 is at its end"),
        "{said}"
    );
}

/// Called by all ranks from this line, with items of different types.
fn gather<T: Travel + Clone>(c: &Cluster, part: Vec<T>) {
    c.from_local(part).all_gather();
}

#[test]
fn types_that_differ_are_told() {
    let said = failure(3, |c| {
        match c.rank() {
            2 => gather(c, vec![1.5_f32; 2]),
            _ => gather(c, vec![1_u64]),
        }
        Ok(())
    });
    is_told(
        &said,
        "all_gather",
        ": all ranks give the same type, but rank 2 gives f32 and rank 0 gives u64",
    );
}

/// A source that sends nothing is looked at in the next collective.
#[test]
fn lengths_that_differ_are_told() {
    let said = failure(3, |c| {
        let v = c.generate(30 - c.rank() / 2, |i| i);
        assert_eq!(v.local().len(), 10);
        v.all_gather();
        Ok(())
    });
    is_told(
        &said,
        "all_gather",
        ": all ranks call `generate` alike, but since the collective before rank 2 asked for 29 \
         items and rank 0 asked for 30 items",
    );
    let more = failure(3, |c| {
        c.barrier();
        for len in 0..=c.rank() % 2 {
            c.generate(len, |i| i);
        }
        Ok(())
    });
    assert_eq!(
        more,
        "rank 0 of 3: at its end: all ranks call `generate` alike, but since the collective before \
         rank 1 asked for 0 items, 1 item and rank 0 asked for 0 items"
    );
    let none = failure(2, |c| {
        c.barrier();
        if c.rank() == 1 {
            (0..1000).for_each(|_| drop(c.generate(9, |i| i)));
        }
        c.barrier();
        Ok(())
    });
    assert!(
        none.ends_with("9 items, 9 items and 992 more and rank 0 asked for nothing"),
        "{none}"
    );
}

/// The ranks may look at the error, and go on together.
#[test]
fn places_that_differ_are_an_error_of_all() {
    let dirs = [Dir::new(), Dir::new()];
    for (n, dir) in dirs.iter().enumerate() {
        run_threads(2, |c| c.generate(100, |i| 1000 * n + i).checkpoint(&dir.0)).unwrap();
        fs::write(dir.0.join("lines.txt"), "a line\nanother\n").unwrap();
    }
    run_threads(3, |c| {
        let dir = &dirs[c.rank() / 2].0;
        let error = c.restore::<usize>(dir).unwrap_err();
        assert_eq!(error.agreed_rank(), Some(2));
        assert_eq!(
            error.to_string(),
            "rank 2 names another directory than rank 0"
        );
        let error = c.generate(9, |i| i).checkpoint(dir).unwrap_err();
        assert_eq!(error.agreed_rank(), Some(2));
        assert_eq!(
            error.to_string(),
            "rank 2 names another directory than rank 0"
        );
        let pattern = format!("{}/*.txt", dir.display());
        let error = c.read_lines(&pattern).unwrap_err();
        assert_eq!(error.agreed_rank(), Some(2));
        assert_eq!(
            error.to_string(),
            "rank 2 names another pattern than rank 0"
        );
        // Nothing was overwritten.
        let kept = c.restore::<usize>(&dirs[1].0)?.all_gather();
        assert_eq!((kept.len(), kept[7]), (100, 1007));
        Ok(())
    })
    .unwrap();
}
