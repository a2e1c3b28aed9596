//! Reading files that all ranks see.
//!
//! `read_lines`: the bytes of all files, one behind the other, are cut evenly. A line belongs to
//! the rank whose span holds its first byte.
//!
//! ```text
//! file a  |one line⏎another⏎a third⏎| file b  |fourth⏎fifth⏎|
//! span    |<---- rank 0 ---->|<---- rank 1 ---->|<- rank 2 ->|
//! lines   one line, another   a third, fourth    fifth
//! ```
#![forbid(unsafe_code)]

use crate::cluster::{Call, Cluster};
use crate::fault::Error;
use crate::owner::hash_of;
use crate::travel::{Travel, decode, encode};
use crate::vec::DistVec;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::Location;
use std::path::{Path, PathBuf};
use tine_iter::prelude::*;

impl Cluster {
    /// The lines of all files that a pattern names, file by file in the order of their names, in
    /// parts of about equally many bytes. (C)
    ///
    /// All ranks give the same pattern. Rank 0 looks for the files; every rank reads its part of
    /// them, under the same paths. Lines are UTF-8, and end with `\n` or `\r\n`.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tine-lines-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// std::fs::write(dir.join("a.txt"), "one line\nanother\na third\n")?;
    /// std::fs::write(dir.join("b.txt"), "fourth")?;
    /// let pattern = format!("{}/*.txt", dir.display());
    /// tine_cluster::run_threads(3, |c| {
    ///     let lines = c.read_lines(&pattern)?;
    ///     assert_eq!(lines.all_gather(), ["one line", "another", "a third", "fourth"]);
    ///     assert!(c.read_lines("no/such/file").is_err());
    ///     Ok(())
    /// }).unwrap();
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// On all ranks, if any of them gives another pattern, if no file is found, or if any rank cannot
    /// read its part.
    #[track_caller]
    pub fn read_lines(&self, pattern: &str) -> Result<DistVec<String>, Error> {
        let call = self.enter::<()>("read_lines", Location::caller(), hash_of(pattern));
        call.same_names("another pattern")?;
        let found = match self.is_root() {
            true => look_for(pattern),
            false => Ok(Vec::new()),
        };
        let files = from_root(&call, call.settle(found)?);
        let total = files.iter().map(|(_, len)| len).sum::<u64>();
        let span = |rank| (u128::from(total) * rank as u128 / self.size() as u128) as u64;
        let lines = lines_of(&files, span(self.rank()), span(self.rank() + 1));
        let lines = call.settle(lines)?;
        Ok(DistVec::new(self.clone(), lines))
    }

    /// The result of `read` for each file, in the order of the files. Each file is read by one
    /// rank, and all ranks read about equally many bytes. (C)
    ///
    /// All ranks name the same files, in the same order.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tine-files-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let files: Vec<_> = (0..4).map(|i| dir.join(format!("{i}.csv"))).collect();
    /// for (i, file) in files.iter().enumerate() {
    ///     std::fs::write(file, format!("{i},{}", i * i))?;
    /// }
    /// tine_cluster::run_threads(3, |c| {
    ///     let numbers = c.read_with(&files, |file| {
    ///         let text = std::fs::read_to_string(file)?;
    ///         Ok(text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?)
    ///     })?;
    ///     assert_eq!(numbers.all_gather(), [0, 0, 1, 1, 2, 4, 3, 9]);
    ///     Ok(())
    /// }).unwrap();
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// On all ranks, if any of them names other files, or cannot read one of its own.
    #[track_caller]
    pub fn read_with<T, F>(&self, files: &[PathBuf], read: F) -> Result<DistVec<T>, Error>
    where
        T: Send,
        F: Fn(&Path) -> Result<Vec<T>, Error> + Sync + Send,
    {
        let call = self.enter::<()>("read_with", Location::caller(), hash_of(files));
        call.same_names("other files")?;
        let sizes = match self.is_root() {
            true => files.iter().map(|file| len_of(file)).collect(),
            false => Ok(Vec::new()),
        };
        let sizes: Vec<u64> = from_root(&call, call.settle(sizes)?);
        let mine = share(&sizes, self.rank(), self.size());
        let parts: Result<Vec<Vec<T>>, Error> = files
            .get(mine)
            .unwrap_or_default()
            .par_iter()
            .map(|file| read(file).map_err(|e| in_file(file, e)))
            .collect();
        let parts = call.settle(parts)?;
        let items = parts.into_iter().flatten().collect();
        Ok(DistVec::new(self.clone(), items))
    }
}

/// The value of rank 0.
pub(crate) fn from_root<T: Travel>(call: &Call<'_>, mine: T) -> T {
    if call.cluster.size() == 1 {
        return mine;
    }
    match call.cluster.is_root() {
        true => {
            call.broadcast(0, encode(&mine));
            mine
        }
        false => decode(&call.broadcast(0, Vec::new())),
    }
}

/// The files whose first byte belongs to this rank, if all lie one behind the other. An empty file
/// counts as one byte.
fn share(sizes: &[u64], rank: usize, ranks: usize) -> Range<usize> {
    let total: u128 = sizes.iter().map(|&size| u128::from(size.max(1))).sum();
    let first = |rank: usize| {
        let begin = total * rank as u128 / ranks as u128;
        let mut end = 0;
        sizes
            .iter()
            .take_while(|&&size| {
                let before = end < begin;
                end += u128::from(size.max(1));
                before
            })
            .count()
    };
    first(rank)..first(rank + 1)
}

fn in_file(file: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(format!("{}: {error}", file.display()))
}

fn len_of(file: &Path) -> Result<u64, Error> {
    let found = fs::metadata(file).map_err(|e| in_file(file, e))?;
    Ok(found.len())
}

/// The files that a pattern names, by name, with their lengths.
fn look_for(pattern: &str) -> Result<Vec<(PathBuf, u64)>, Error> {
    let mut files = Vec::new();
    for found in glob::glob(pattern).map_err(|e| Error::new(format!("{pattern}: {e}")))? {
        let file = found?;
        if file.is_file() {
            let len = len_of(&file)?;
            files.push((file, len));
        }
    }
    if files.is_empty() {
        return Err(Error::new(format!("{pattern}: there is no such file")));
    }
    files.sort();
    Ok(files)
}

/// The lines whose first byte is in `begin..end` of all files.
fn lines_of(files: &[(PathBuf, u64)], begin: u64, end: u64) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    let mut at = 0;
    for (file, len) in files {
        let (first, last) = (at.max(begin), (at + len).min(end));
        if first < last {
            let text = text_of(file, first - at, last - at).map_err(|e| in_file(file, e))?;
            if !text.is_empty() {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                lines.par_extend(text.par_split('\n').map(without_return));
            }
        }
        at += len;
    }
    Ok(lines)
}

/// A line without the `\r` before its end.
fn without_return(line: &str) -> String {
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}

/// The lines of a file whose first byte is in `begin..end`, in one text.
fn text_of(file: &Path, begin: u64, end: u64) -> Result<String, Error> {
    let mut reader = BufReader::new(File::open(file)?);
    let mut start = begin;
    if begin > 0 {
        // The line of the byte before belongs to the rank before.
        reader.seek(SeekFrom::Start(begin - 1))?;
        start = begin - 1 + reader.skip_until(b'\n')? as u64;
    }
    let mut bytes = Vec::new();
    if start < end {
        bytes.reserve((end - start) as usize);
        reader.by_ref().take(end - start).read_to_end(&mut bytes)?;
        if bytes.last() != Some(&b'\n') {
            reader.read_until(b'\n', &mut bytes)?;
        }
    }
    Ok(String::from_utf8(bytes)?)
}
