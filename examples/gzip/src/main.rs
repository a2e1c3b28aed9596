//! A parallel gzip: blocks of a file are compressed by all threads and written in order.
//!
//! ```text
//! tine-gzip [-LEVEL] FILE       writes FILE.gz
//! tine-gzip [-LEVEL] < IN > OUT
//! ```
//!
//! What it writes is a row of gzip members, one for each block, which every `gzip -d` reads as one file.
#![forbid(unsafe_code)]

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

/// How many bytes are compressed at a time.
const BLOCK: usize = 256 << 10;

/// The blocks of a reader, one after the other.
fn blocks(mut reader: impl Read) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    std::iter::from_fn(move || {
        let mut block = Vec::with_capacity(BLOCK);
        match reader.by_ref().take(BLOCK as u64).read_to_end(&mut block) {
            Ok(0) => None,
            Ok(_) => Some(Ok(block)),
            Err(error) => Some(Err(error)),
        }
    })
}

fn compress(block: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(block.len() / 2), level);
    encoder.write_all(block)?;
    encoder.finish()
}

/// Compresses everything; returns how many bytes came of it.
fn gzip(from: impl Read + Send, to: impl Write + Send, level: Compression) -> io::Result<u64> {
    tine::pipeline(blocks(from), 16)
        .try_map(|block| compress(&block?, level))
        .write_to(to)
}

fn main() -> io::Result<()> {
    let (mut level, mut file) = (Compression::new(6), None);
    for word in env::args().skip(1) {
        match word.strip_prefix('-') {
            Some(digit) => {
                let digit = digit.parse().map_err(io::Error::other)?;
                level = Compression::new(digit);
            }
            None => file = Some(word),
        }
    }
    match file {
        Some(name) => {
            let to = File::create(format!("{name}.gz"))?;
            finish(gzip(File::open(&name)?, &to, level)?, &to, level)
        }
        None => finish(gzip(io::stdin(), io::stdout(), level)?, io::stdout(), level),
    }
}

/// A file of nothing is one member all the same.
fn finish(written: u64, mut to: impl Write, level: Compression) -> io::Result<()> {
    if written == 0 {
        to.write_all(&compress(&[], level)?)?;
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;

    #[test]
    fn what_was_compressed_comes_back() {
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 40 * BLOCK + 7] {
            let bytes: Vec<u8> = (0..len).map(|n| (n * n >> 7) as u8).collect();
            for level in [1, 6] {
                let level = Compression::new(level);
                let mut packed = Vec::new();
                gzip(&bytes[..], &mut packed, level).unwrap();
                // The twin: the same blocks, one after the other.
                let twin =
                    blocks(&bytes[..]).map(|block| compress(&block.unwrap(), level).unwrap());
                assert_eq!(packed, twin.collect::<Vec<_>>().concat());
                let mut back = Vec::new();
                let read = MultiGzDecoder::new(&packed[..]).read_to_end(&mut back);
                assert!(read.is_ok() || len == 0);
                assert!(back == bytes, "{len} bytes");
            }
        }
    }

    #[test]
    fn errors_come_out() {
        struct Broken(usize);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(buffer.len())
            }
        }
        let outcome = gzip(Broken(100), io::sink(), Compression::fast());
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
