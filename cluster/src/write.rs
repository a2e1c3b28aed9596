//! Writing a vector as files, a part from each rank.
//!
//! ```text
//! all        remove out/_SUCCESS, write out/.part-00000.tmp …
//! all agree  that everything is written; else nothing is renamed
//! all        remove parts of an earlier run
//! meet
//! all        rename to out/part-00000 …
//! all agree
//! rank 0     writes out/_SUCCESS
//! ```
//!
//! So a directory with `_SUCCESS` has the parts of one run, and all of them.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Site};
use crate::fault::Error;
use crate::vec::DistVec;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::panic::Location;
use std::path::Path;

impl<T> DistVec<T> {
    /// Writes one item per line to `dir/part-00000` and so on, a file from each rank, and then
    /// `dir/_SUCCESS`. (C)
    ///
    /// Files appear under their names once all ranks have written theirs. Parts of an earlier run
    /// are removed first. All ranks may share one directory, or each may have its own.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tine-parts-{}", std::process::id()));
    /// tine_cluster::run_threads(2, |c| {
    ///     c.generate(4, |i| i * i).write_parts(&dir)
    /// }).unwrap();
    /// assert_eq!(std::fs::read_to_string(dir.join("part-00001"))?, "4\n9\n");
    /// assert!(dir.join("_SUCCESS").exists());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// On all ranks, if any of them cannot write.
    #[track_caller]
    pub fn write_parts(&self, dir: impl AsRef<Path>) -> Result<(), Error>
    where
        T: Display,
    {
        let line = |item: &T, out: &mut dyn Write| writeln!(out, "{item}");
        self.written("write_parts", Location::caller(), dir.as_ref(), &line)
    }

    /// As [`write_parts`](Self::write_parts); `write` writes an item. (C)
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tine-with-{}", std::process::id()));
    /// tine_cluster::run_threads(2, |c| {
    ///     let pairs = c.generate(4, |i| (i, i * i));
    ///     pairs.write_parts_with(&dir, |(n, square), out| write!(out, "{n}:{square};"))
    /// }).unwrap();
    /// assert_eq!(std::fs::read_to_string(dir.join("part-00000"))?, "0:0;1:1;");
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// As in all closures, no collective may be called there: another rank may have fewer items.
    ///
    /// ```compile_fail,E0277
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(4, |i| i);
    ///     v.write_parts_with("parts", |n, out| writeln!(out, "{} {n}", v.offset()))
    /// }).unwrap();
    /// ```
    ///
    /// # Errors
    /// On all ranks, if any of them cannot write.
    #[track_caller]
    pub fn write_parts_with<F>(&self, dir: impl AsRef<Path>, write: F) -> Result<(), Error>
    where
        F: Fn(&T, &mut dyn Write) -> io::Result<()> + Sync,
    {
        self.written("write_parts_with", Location::caller(), dir.as_ref(), &write)
    }

    fn written(
        &self,
        what: &'static str,
        site: Site,
        dir: &Path,
        write: &dyn Fn(&T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let cluster = self.cluster();
        let call = cluster.enter::<()>(what, site, 0);
        let name = format!("part-{:05}", cluster.rank());
        let (hidden, shown) = (dir.join(format!(".{name}.tmp")), dir.join(&name));
        let success = dir.join("_SUCCESS");
        let all = |out: &mut dyn Write| self.local().iter().try_for_each(|item| write(item, out));
        let begun = fs::create_dir_all(dir).and_then(|()| gone(fs::remove_file(&success)));
        let done = begun.and_then(|()| write_file(&hidden, all));
        if let Err(error) = settled(&call, dir, done) {
            // The files of a failed attempt are not needed any more.
            let _ = fs::remove_file(&hidden);
            return Err(error);
        }
        settled(&call, dir, remove_parts(dir))?;
        settled(&call, dir, fs::rename(&hidden, &shown))?;
        let signed = match cluster.is_root() {
            true => File::create(&success).map(drop),
            false => Ok(()),
        };
        settled(&call, dir, signed)
    }
}

/// Makes an error on one rank an error on all.
fn settled(call: &Call<'_>, dir: &Path, result: io::Result<()>) -> Result<(), Error> {
    call.settle(result.map_err(|e| format!("{}: {e}", dir.display())))
}

/// Writes a file, to the disk.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    write(&mut out)?;
    out.into_inner()?.sync_all()
}

/// A file that is gone already is fine.
pub(crate) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes what an earlier run has left under the names of parts.
fn remove_parts(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("part-"));
        if number.is_some_and(|n| n.len() == 5 && n.bytes().all(|b| b.is_ascii_digit())) {
            gone(fs::remove_file(dir.join(name)))?;
        }
    }
    Ok(())
}
