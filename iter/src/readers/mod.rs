//! Readers: the lines and records of files, sockets and bytes, worked on in parallel.
//!
//! [`ParallelRead`] adds `par_lines` and its variants to everything that can be read. One thread at
//! a time reads, in blocks that end where a record ends. One thread works on the records of a
//! block, while other threads work on other blocks. Closures get records that borrow from their
//! block: nothing is copied, and no line costs an allocation. Their results go on through a
//! [pipeline](mod@crate::pipeline), in order.
//!
//! ```
//! use tine::readers::ParallelRead;
//!
//! let log: &[u8] = b"GET /a\nPUT /b\nGET /c\n";
//! let mut gets = Vec::new();
//! log.par_lines()
//!     .filter_map(|line| line.strip_prefix("GET ").map(str::to_owned))
//!     .for_each(|path| gets.push(path))?;
//! assert_eq!(gets, ["/a", "/c"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! To make one value of everything, [`fold`](Lines::fold) is fastest: it makes one value of each
//! block.
//!
//! ```
//! use std::fs::File;
//! use tine::readers::ParallelRead;
//!
//! # let path = std::env::temp_dir().join(format!("tine-readers-{}", std::process::id()));
//! # std::fs::write(&path, "1\n2\n39\n")?;
//! let sum: u64 = File::open(&path)?
//!     .par_lines()
//!     .fold(|| 0, |sum, line| sum + line.parse::<u64>().unwrap_or(0))
//!     .sum()?;
//! assert_eq!(sum, 42);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Errors
//!
//! A read that fails, a line that is not UTF-8 and a record that is longer than
//! [allowed](Lines::longest) end the pipeline like an error of a stage: everything before the error
//! has been worked on, and nothing behind it comes out. [`ReadError`] tells where the error was.
//!
//! # Memory
//!
//! At most four blocks for each thread are under way, unless [`limit`](Lines::limit) sets another number. Their
//! buffers are used again. A record that is longer than a block gets a block of its own.
#![forbid(unsafe_code)]

mod blocks;
mod cut;
mod error;
mod lines;
mod view;
mod walk;

pub use cut::{ByLength, LineEnd, Separator};
pub use error::ReadError;
pub use lines::{InMemory, Lines, ParallelRead, over};
pub use view::{AsBytes, AsNumberedBytes, AsNumberedText, AsText, Numbered, View};
