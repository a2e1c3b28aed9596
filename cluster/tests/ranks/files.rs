//! Sources and sinks: lines, parts, checkpoints.

use crate::kit::{RANKS, Spread, numbers, same_and_even, small_rounds, tagged};
use crate::watch::run_threads;
use quickcheck::quickcheck;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tine_cluster::{Cluster, Error};

/// A directory for this test alone, removed at the end.
pub(crate) struct Dir(pub(crate) PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("tine-cluster-{}-{n}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn reads(texts: &[String]) {
    let dir = Dir::new();
    for (i, text) in texts.iter().enumerate() {
        fs::write(dir.0.join(format!("{i:03}.log")), text).unwrap();
    }
    let expected: Vec<String> = texts
        .iter()
        .flat_map(|text| text.lines())
        .map(String::from)
        .collect();
    let pattern = format!("{}/*.log", dir.0.display());
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            let lines = c.read_lines(&pattern).unwrap();
            assert_eq!(lines.all_gather(), expected, "on {ranks} of {texts:?}");
        });
    }
}

#[test]
fn lines_are_those_of_std() {
    let cases: &[&[&str]] = &[
        &[""],
        &["\n"],
        &["\n\n\n"],
        &["a"],
        &["a\nb\r\nc\r\n", "", "\n", "last"],
        &["one very long line that spans all of the ranks and more, without an end"],
        &["x\n\n\ny", "ä\nö\n", "\r\n\r\n"],
    ];
    for texts in cases {
        reads(
            &texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>(),
        );
    }
}

quickcheck! {
    fn any_lines(texts: Vec<Vec<u8>>) -> bool {
        let letter = |byte: &u8| match byte % 7 {
            0 | 1 => '\n',
            2 => 'ß',
            n => char::from(b'a' + n),
        };
        let mut texts: Vec<String> = texts
            .iter()
            .take(5)
            .map(|text| text.iter().map(letter).collect())
            .collect();
        texts.push("end".into());
        reads(&texts);
        true
    }
}

#[test]
fn what_cannot_be_read_is_an_error_of_all() {
    let dir = Dir::new();
    fs::write(dir.0.join("bad.txt"), b"fine\n\xff\xff\nfine\n").unwrap();
    run_threads(3, |c| {
        let missing = c
            .read_lines(&format!("{}/none*", dir.0.display()))
            .unwrap_err();
        assert!(missing.to_string().contains("no such file"), "{missing}");
        assert_eq!(missing.agreed_rank(), Some(0));
        let bad = c
            .read_lines(&format!("{}/bad.txt", dir.0.display()))
            .unwrap_err();
        assert!(
            bad.to_string().contains("bad.txt: ") && bad.to_string().contains("utf-8"),
            "{bad}"
        );
        assert!(c.read_lines("a[").is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn files_are_read_once_each() {
    let dir = Dir::new();
    let sizes = [0, 1, 500, 3, 0, 0, 90, 2, 0];
    let files: Vec<PathBuf> = (0..sizes.len())
        .map(|i| dir.0.join(i.to_string()))
        .collect();
    for (file, size) in files.iter().zip(sizes) {
        fs::write(file, "x".repeat(size)).unwrap();
    }
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            let name = |file: &Path| Ok(vec![file.to_path_buf()]);
            assert_eq!(c.read_with(&files, name).unwrap().all_gather(), files);
            let failed = c.read_with(&files, |file| match file.ends_with("6") {
                true => Err(Error::new("not this one")),
                false => Ok(vec![1]),
            });
            assert!(failed.unwrap_err().to_string().ends_with("6: not this one"));
            assert!(c.read_with(&[], name).unwrap().is_empty());
        });
    }
}

#[test]
fn parts_are_those_of_one_run() {
    let dir = Dir::new();
    let all = numbers(1, 100);
    for ranks in [5, 2, 3] {
        run_threads(ranks, |c| Spread::Falling.part(c, &all).write_parts(&dir.0)).unwrap();
        let mut names: Vec<String> = (0..ranks).map(|rank| format!("part-{rank:05}")).collect();
        names.insert(0, "_SUCCESS".into());
        assert_eq!(dir.names(), names);
        run_threads(4, |c| {
            let lines = c.read_lines(&format!("{}/part-*", dir.0.display()))?;
            let texts: Vec<String> = all.iter().map(u64::to_string).collect();
            assert_eq!(lines.all_gather(), texts);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_failed_write_leaves_no_success() {
    let dir = Dir::new();
    run_threads(3, |c| c.generate(9, |i| i).write_parts(&dir.0)).unwrap();
    let said = run_threads(3, |c| {
        c.generate(9, |i| i)
            .write_parts_with(&dir.0, |i, out| match i {
                7 => Err(std::io::Error::other("item 7 is unspeakable")),
                i => writeln!(out, "{i}"),
            })
    });
    let said = said.unwrap_err().to_string();
    assert!(
        said.starts_with("rank 2 of 3 failed: ") && said.ends_with("item 7 is unspeakable"),
        "{said}"
    );
    assert_eq!(dir.names(), ["part-00000", "part-00001", "part-00002"]);
}

#[test]
fn checkpoints_come_back_on_any_number_of_ranks() {
    let items = tagged(&numbers(3, 70_000));
    let dir = Dir::new();
    for (generation, ranks) in [1, 3, 2].into_iter().enumerate() {
        let dir = &dir;
        let items = &items[generation..];
        run_threads(ranks, |c| Spread::Falling.part(c, items).checkpoint(&dir.0)).unwrap();
        assert_eq!(dir.names().len(), ranks + 1, "{:?}", dir.names());
        for to in [1, 2, 5] {
            run_threads(to, |c| {
                let back = c.restore::<(u64, String)>(&dir.0)?;
                same_and_even(&back, items, "restored");
                Ok(())
            })
            .unwrap();
        }
    }
}

/// What is left by jobs that were killed before they had removed the parts of older checkpoints.
#[test]
fn parts_of_all_older_checkpoints_are_removed() {
    let dir = Dir::new();
    let keep = || run_threads(2, |c| c.generate(100, |i| i).checkpoint(&dir.0)).unwrap();
    (0..11).for_each(|_| keep());
    let older = ["1-00000", "2-00007", "9-00001", "10-123456"];
    let others = [
        "1-0001",
        "1-00001.bak",
        "x-00001",
        "01-00001",
        "1-x0001",
        "12-00007",
        "-00001",
        "20-00001",
    ];
    for name in older.iter().chain(&others) {
        fs::write(dir.0.join(name), "left").unwrap();
    }
    keep();
    let mut left: Vec<&str> = vec!["12-00000", "12-00001", "manifest"];
    left.extend(others);
    left.sort();
    assert_eq!(dir.names(), left);
}

#[test]
fn damaged_checkpoints_are_told() {
    let dir = Dir::new();
    let text = |ran: Result<(), Error>| ran.unwrap_err().to_string();
    let restore = || run_threads(2, |c| c.restore::<u64>(&dir.0).map(drop));
    assert!(text(restore()).contains("manifest"));
    run_threads(2, |c| c.generate(1000, |i| i as u64).checkpoint(&dir.0)).unwrap();
    restore().unwrap();
    let wrong = run_threads(2, |c| c.restore::<u32>(&dir.0).map(drop));
    assert!(text(wrong).contains("items of type u64 were kept, not u32"));
    let part = dir.0.join("1-00001");
    let whole = fs::read(&part).unwrap();
    let mut changed = whole.clone();
    changed[100] ^= 1;
    fs::write(&part, &changed).unwrap();
    assert!(text(restore()).contains("1-00001: the file is damaged"));
    fs::write(&part, &whole[..whole.len() - 1]).unwrap();
    assert!(text(restore()).contains("1-00001: the file is damaged"));
    fs::write(&part, &whole).unwrap();
    restore().unwrap();
    let manifest = dir.0.join("manifest");
    let listed = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, listed.replace("end", "")).unwrap();
    assert!(text(restore()).contains("this is no checkpoint"));
    let again = run_threads(2, |c| c.generate(9, |i| i as u64).checkpoint(&dir.0));
    assert!(
        text(again).contains("this is no checkpoint"),
        "what is there is not overwritten"
    );
    // Lengths that no vector has.
    for lens in [
        "18446744073709551615\n1",
        "1\n-1",
        "",
        "99999999999999999999",
    ] {
        fs::write(&manifest, format!("{}{lens}\nend\n", head_of(&listed))).unwrap();
        let said = run_threads(2, |c| match c.restore::<u64>(&dir.0)?.len() {
            0 => Err(Error::new("this is no checkpoint, or an empty one")),
            _ => Ok(()),
        });
        assert!(text(said).contains("this is no checkpoint"), "{lens}");
    }
    // Longer than what is there, and with a generation that has no next one.
    fs::write(&manifest, format!("{}500\n501\nend\n", head_of(&listed))).unwrap();
    assert!(text(restore()).contains("1-00001: "));
    let last = listed.replacen("\n1\n", "\n18446744073709551615\n", 1);
    fs::write(&manifest, last).unwrap();
    assert!(text(restore()).contains("this is no checkpoint"));
}

/// The lines before the lengths.
fn head_of(manifest: &str) -> String {
    manifest
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The program has changed since: the type has its old name, and other fields.
#[test]
fn changed_types_are_told() {
    let dir = Dir::new();
    let name = |i: usize| "many words ".repeat(i % 7);
    run_threads(2, |c| c.generate(100, name).checkpoint(&dir.0)).unwrap();
    let manifest = dir.0.join("manifest");
    let listed = fs::read_to_string(&manifest).unwrap();
    let old = std::any::type_name::<String>();
    let restored = |new: &str, restore: &(dyn Fn(&Cluster) -> Result<(), Error> + Sync)| {
        fs::write(&manifest, listed.replace(old, new)).unwrap();
        run_threads(3, restore).unwrap_err().to_string()
    };
    type More = (String, u64, String);
    type Less = (u8, bool);
    let said = [
        restored(std::any::type_name::<More>(), &|c| {
            c.restore::<More>(&dir.0).map(drop)
        }),
        restored(std::any::type_name::<Less>(), &|c| {
            c.restore::<Less>(&dir.0).map(drop)
        }),
    ];
    for said in said {
        assert!(said.starts_with("rank 0 of 3 failed: "), "{said}");
        assert!(said.contains("these are no items of type"), "{said}");
    }
}

/// A manifest that is there and cannot be read: its parts are not overwritten.
#[test]
#[cfg(unix)]
fn checkpoints_behind_a_broken_link_stay() {
    use std::os::unix::fs::symlink;

    let dir = Dir::new();
    let (manifest, kept) = (dir.0.join("manifest"), dir.0.join("kept"));
    run_threads(2, |c| c.generate(100, |i| i as u64).checkpoint(&dir.0)).unwrap();
    fs::rename(&manifest, &kept).unwrap();
    for leads_to in ["manifest", "nowhere"] {
        symlink(leads_to, &manifest).unwrap();
        let again = run_threads(2, |c| c.generate(9, |i| i as u64).checkpoint(&dir.0));
        assert!(again.unwrap_err().to_string().contains("manifest: "));
        fs::remove_file(&manifest).unwrap();
    }
    fs::rename(&kept, &manifest).unwrap();
    run_threads(2, |c| {
        assert!(c.restore::<u64>(&dir.0)?.all_gather() == (0..100).collect::<Vec<u64>>());
        Ok(())
    })
    .unwrap();
}

/// While another manifest replaces the first, over and over, all ranks use the same one.
#[test]
fn ranks_restore_the_same_checkpoint() {
    use std::sync::atomic::AtomicBool;

    let dir = Dir::new();
    let manifest = dir.0.join("manifest");
    let keep = |from: usize| {
        run_threads(3, |c| c.generate(90, |i| from + i).checkpoint(&dir.0)).unwrap();
        let parts = (0..3).map(|rank| format!("{}-{rank:05}", 1 + from / 1000));
        let parts = parts.map(|name| (dir.0.join(&name), fs::read(dir.0.join(&name)).unwrap()));
        (fs::read(&manifest).unwrap(), parts.collect::<Vec<_>>())
    };
    let kept = [keep(0), keep(1000)];
    for (path, bytes) in kept.iter().flat_map(|(_, parts)| parts) {
        fs::write(path, bytes).unwrap();
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = dir.0.join("next");
            for (text, _) in kept.iter().cycle() {
                fs::write(&next, text).unwrap();
                fs::rename(&next, &manifest).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let restored = run_threads(3, |c| {
            for _ in 0..300 {
                let items = c.restore::<usize>(&dir.0)?.all_gather();
                let from = items[0];
                assert!(from == 0 || from == 1000, "{from}");
                assert!(
                    items.iter().copied().eq(from..from + 90),
                    "two at once: {items:?}"
                );
            }
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        restored.unwrap();
    });
}
