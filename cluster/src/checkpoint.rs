//! Keeps a vector on disk, to go on with it later, on any number of ranks.
//!
//! ```text
//! dir/3-00000 …   parts of the third checkpoint: blocks { items, bytes, check; bitcode }
//! dir/manifest    "tine-cluster checkpoint", generation, type, how many items each part has
//! ```
//!
//! Parts of a new checkpoint get new names. The manifest is written last, under another name, and
//! renamed, so at any moment it names parts that are whole. Then the parts of all earlier
//! checkpoints are removed: a job that was killed may have left some.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Cluster};
use crate::fault::Error;
use crate::owner::hash_of;
use crate::read::from_root;
use crate::travel::{Travel, encode, try_decode};
use crate::vec::DistVec;
use crate::write::{gone, write_file};
use std::any::type_name;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};

/// Items in a block.
const BLOCK: usize = 1 << 15;

const TITLE: &str = "tine-cluster checkpoint 1";

impl<T: Travel> DistVec<T> {
    /// Keeps the vector in a directory that all ranks see. Replaces what was kept there. (C)
    ///
    /// All ranks give the same directory name.
    ///
    /// A job that is killed meanwhile leaves the old checkpoint in place.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tine-kept-{}", std::process::id()));
    /// tine_cluster::run_threads(3, |c| {
    ///     c.generate(100, |i| format!("item {i}")).checkpoint(&dir)
    /// }).unwrap();
    /// tine_cluster::run_threads(2, |c| {
    ///     let items = c.restore::<String>(&dir)?;
    ///     assert_eq!(items.local().len(), 50);
    ///     assert_eq!(items.all_gather()[99], "item 99");
    ///     assert!(c.restore::<u64>(&dir).is_err());
    ///     Ok(())
    /// }).unwrap();
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Errors
    /// On all ranks, if any of them gives another name or cannot write, or if what was kept there
    /// before cannot be read.
    #[track_caller]
    pub fn checkpoint(&self, dir: impl AsRef<Path>) -> Result<(), Error> {
        let dir = dir.as_ref();
        let cluster = self.cluster();
        let call = cluster.enter::<T>("checkpoint", Location::caller(), hash_of(dir));
        call.same_names("another directory")?;
        let before = match cluster.is_root() {
            true => generation_before(dir),
            false => Ok(0),
        };
        let before = settled(&call, dir, before)?;
        let known = call.all_gather(&[before, self.local().len() as u64]);
        let generation = 1 + known[0];
        let lens: Vec<u64> = known.chunks(2).map(|rank| rank[1]).collect();
        let made = fs::create_dir_all(dir);
        let part = part_path(dir, generation, cluster.rank());
        let all = |out: &mut dyn Write| write_blocks(out, self.local());
        let done = made.and_then(|()| write_file(&part, all));
        if let Err(error) = settled(&call, dir, done) {
            // No manifest will name it.
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        let listed = match cluster.is_root() {
            true => write_manifest(dir, generation, type_name::<T>(), &lens),
            false => Ok(()),
        };
        settled(&call, dir, listed)?;
        if cluster.is_root() && generation > 1 {
            // A file that cannot be removed does no harm.
            let _ = remove_before(dir, generation);
        }
        Ok(())
    }
}

impl Cluster {
    /// The vector that was kept in a directory, in even parts, on any number of ranks. (C)
    ///
    /// All ranks give the same directory name. Rank 0 looks for the checkpoint there; every rank
    /// reads its part of it.
    ///
    /// The type is compared by its path. Blocks hold no names of fields. If a type has changed its
    /// fields and kept its path, the call usually notices and returns an error. But it may also
    /// read other values, so give such a type a new name.
    ///
    /// # Errors
    /// On all ranks, if any of them gives another name, if nothing or a vector of another type was kept
    /// there, or if it cannot be read.
    #[track_caller]
    pub fn restore<T: Travel>(&self, dir: impl AsRef<Path>) -> Result<DistVec<T>, Error> {
        let dir = dir.as_ref();
        let call = self.enter::<T>("restore", Location::caller(), hash_of(dir));
        call.same_names("another directory")?;
        // Another job may replace the manifest meanwhile: all ranks use the text that rank 0 has read.
        let text = match self.is_root() {
            true => Manifest::text(dir),
            false => Ok(String::new()),
        };
        let text = from_root(&call, call.settle(text)?);
        let manifest = Manifest::read(dir, &text).and_then(|manifest| {
            let kept = &manifest.type_name;
            if kept == type_name::<T>() {
                return Ok(manifest);
            }
            let wanted = type_name::<T>();
            Err(Error::new(format!(
                "{}: items of type {kept} were kept, not {wanted}",
                dir.display()
            )))
        });
        let manifest = call.settle(manifest)?;
        let total = manifest.lens.iter().sum();
        let span = (
            self.cut(total, self.rank()),
            self.cut(total, self.rank() + 1),
        );
        let part = call.settle(manifest.items(dir, span))?;
        Ok(DistVec::new(self.clone(), part))
    }
}

fn settled<T, E: Display>(call: &Call<'_>, dir: &Path, result: Result<T, E>) -> Result<T, Error> {
    call.settle(result.map_err(|e| format!("{}: {e}", dir.display())))
}

fn part_path(dir: &Path, generation: u64, rank: usize) -> PathBuf {
    dir.join(part_name(generation, rank))
}

fn part_name(generation: u64, rank: usize) -> String {
    format!("{generation}-{rank:05}")
}

/// The generation of the checkpoint there, 0 if there is none. If there is a manifest, or may be
/// one, and it cannot be read, that is an error: its parts would be overwritten.
fn generation_before(dir: &Path) -> Result<u64, Error> {
    // A symbolic link counts as a manifest even if it leads nowhere.
    match fs::symlink_metadata(dir.join("manifest")) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(0),
        _ => Ok(Manifest::read(dir, &Manifest::text(dir)?)?.generation),
    }
}

fn write_manifest(dir: &Path, generation: u64, name: &str, lens: &[u64]) -> io::Result<()> {
    let hidden = dir.join(".manifest.tmp");
    write_file(&hidden, |out| {
        writeln!(out, "{TITLE}\n{generation}\n{name}")?;
        lens.iter().try_for_each(|len| writeln!(out, "{len}"))?;
        // Shows that nothing is missing.
        writeln!(out, "end")
    })?;
    fs::rename(&hidden, dir.join("manifest"))
}

/// Removes the parts of all checkpoints before this generation.
fn remove_before(dir: &Path, generation: u64) -> io::Result<()> {
    let mut removed = Ok(());
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let older = name.to_str().and_then(generation_of);
        if older.is_some_and(|older| older < generation) {
            // If a part cannot be removed, the others still are.
            removed = removed.and(gone(fs::remove_file(dir.join(name))));
        }
    }
    removed
}

/// The generation of the part with this name; `None` if it is no name of a part.
fn generation_of(name: &str) -> Option<u64> {
    let (generation, rank) = name.split_once('-')?;
    let (generation, rank): (u64, usize) = (generation.parse().ok()?, rank.parse().ok()?);
    (part_name(generation, rank) == name).then_some(generation)
}

/// A checksum, which differs if bytes were changed or lost.
fn check(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| {
        (sum ^ word)
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|&byte| u64::from(byte));
    words
        .chain(rest)
        .fold(bytes.len() as u64 ^ 0xCBF2_9CE4_8422_2325, mix)
}

fn write_blocks<T: Travel>(out: &mut dyn Write, items: &[T]) -> io::Result<()> {
    for block in items.chunks(BLOCK) {
        let bytes = encode(block);
        for word in [block.len() as u64, bytes.len() as u64, check(&bytes)] {
            out.write_all(&word.to_le_bytes())?;
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

struct Manifest {
    generation: u64,
    type_name: String,
    lens: Vec<usize>,
}

impl Manifest {
    fn text(dir: &Path) -> Result<String, Error> {
        let path = dir.join("manifest");
        fs::read_to_string(&path).map_err(|e| Error::new(format!("{}: {e}", path.display())))
    }

    fn read(dir: &Path, text: &str) -> Result<Self, Error> {
        let path = dir.join("manifest");
        Manifest::parse(text)
            .ok_or_else(|| Error::new(format!("{}: this is no checkpoint", path.display())))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        (lines.next()? == TITLE).then_some(())?;
        let generation: u64 = lines.next()?.parse().ok()?;
        // There must be a next generation.
        generation.checked_add(1)?;
        let type_name = lines.next()?.to_owned();
        let mut lens: Vec<&str> = lines.collect();
        (lens.pop()? == "end").then_some(())?;
        let lens: Vec<usize> = lens
            .into_iter()
            .map(|len| len.parse().ok())
            .collect::<Option<_>>()?;
        // Together they must be the length of a vector.
        lens.iter()
            .try_fold(0_usize, |total, len| total.checked_add(*len))?;
        Some(Manifest {
            generation,
            type_name,
            lens,
        })
    }

    /// Items `begin..end` of the whole vector.
    fn items<T: Travel>(&self, dir: &Path, (begin, end): (usize, usize)) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        let mut at = 0;
        for (rank, &len) in self.lens.iter().enumerate() {
            let (first, last) = (at.max(begin), (at + len).min(end));
            if first < last {
                let path = part_path(dir, self.generation, rank);
                let span = (first - at, last - at);
                read_blocks(&path, len, span, &mut items)
                    .map_err(|e| Error::new(format!("{}: {e}", path.display())))?;
            }
            at += len;
        }
        Ok(items)
    }
}

/// Appends the items `first..last` of a part that has `len`.
fn read_blocks<T: Travel>(
    path: &Path,
    len: usize,
    (first, last): (usize, usize),
    items: &mut Vec<T>,
) -> Result<(), Error> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut at = 0;
    while at < last {
        let mut word = || {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes)
                .map(|()| u64::from_le_bytes(bytes))
        };
        let (count, size, sum) = (word()? as usize, word()?, word()?);
        if count == 0 || count > BLOCK || count > len - at {
            return Err(Error::new("the file is damaged"));
        }
        if at + count <= first {
            file.seek_relative(i64::try_from(size)?)?;
            at += count;
            continue;
        }
        let mut block = Vec::new();
        file.by_ref().take(size).read_to_end(&mut block)?;
        if block.len() as u64 != size || check(&block) != sum {
            return Err(Error::new("the file is damaged"));
        }
        let found: Vec<T> = try_decode(&block).map_err(|e| {
            let name = type_name::<T>();
            Error::new(format!(
                "these are no items of type {name} as it is now: {e}"
            ))
        })?;
        if found.len() != count {
            return Err(Error::new("the file is damaged"));
        }
        let skip = first.saturating_sub(at);
        let stop = count.min(last - at);
        items.extend(found.into_iter().take(stop).skip(skip));
        at += count;
    }
    Ok(())
}
