//! `par_lines` and `par_byte_lines` of readers, against std's `lines`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use quickcheck::QuickCheck;
use tine_iter::readers::{ParallelRead, over};

use crate::feeds::{Drops, Long};
use crate::kit::{POOLS, in_pools_of, panics};

/// What std makes from the lines.
fn twin(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines = bytes.split_inclusive(|&b| b == b'\n');
    lines
        .map(|line| match line {
            [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] => line.to_vec(),
            line => line.to_vec(),
        })
        .collect()
}

const TEXTS: &[&str] = &[
    "",
    "\n",
    "\r\n",
    "\r",
    "a",
    "a\n",
    "a\r\n",
    "a\nb",
    "\n\n\n",
    "\r\r\n\n\r",
    "no feed at the end",
    "one\ntwo\r\nthree\n\nfive",
    "äöü\n€\n🦀\r\nlast",
    "a line that is longer than any of the blocks in this test\nshort\n",
];

#[test]
fn agree_with_std() {
    in_pools_of(&[1, 2, 7], || {
        for text in TEXTS {
            let expected: Vec<String> = text.as_bytes().lines().map(Result::unwrap).collect();
            for block in [1, 2, 3, 7, 16, 1000] {
                let lines = || text.as_bytes().par_lines().block_size(block);
                let all: Vec<String> = lines().map(str::to_owned).collect().unwrap();
                assert_eq!(all, expected, "{text:?} in blocks of {block}");
                assert_eq!(lines().count().unwrap(), expected.len() as u64);
                let lying = over(text).par_lines().block_size(block);
                let all: Vec<String> = lying.map(str::to_owned).collect().unwrap();
                assert_eq!(all, expected, "{text:?} lying, in blocks of {block}");
                for sizes in [&[1][..], &[3, 1, 2], &[1000]] {
                    for prompt in [true, false] {
                        let lines = Drops::new(text.as_bytes(), sizes, 2).par_lines();
                        let lines = lines.block_size(block);
                        let lines = if prompt { lines.prompt() } else { lines };
                        let all: Vec<String> = lines.map(str::to_owned).collect().unwrap();
                        assert_eq!(all, expected, "{text:?}, {sizes:?}, blocks of {block}");
                    }
                }
            }
        }
    });
}

#[test]
fn any_bytes_in_any_pieces() {
    fn check(bytes: Vec<u8>, sizes: Vec<usize>, block: usize) -> bool {
        // Many line feeds and carriage returns.
        let bytes: Vec<u8> = bytes
            .iter()
            .map(|b| b"\n\rab\xFF"[*b as usize % 5])
            .collect();
        let sizes: Vec<usize> = sizes.iter().map(|n| n % 5 + 1).chain([1]).collect();
        let lines = Drops::new(&bytes, &sizes, 1)
            .par_byte_lines()
            .block_size(block % 9 + 1);
        let read: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect().unwrap();
        let lying = over(&bytes).par_byte_lines().block_size(block % 9 + 1);
        let seen: Vec<Vec<u8>> = lying.map(<[u8]>::to_vec).collect().unwrap();
        let numbered = over(&bytes)
            .par_byte_lines()
            .numbered()
            .block_size(block % 9 + 1);
        let numbers: Vec<u64> = numbered.map(|(n, _)| n).collect().unwrap();
        let expected = twin(&bytes);
        numbers.into_iter().eq(0..expected.len() as u64) && read == expected && seen == expected
    }
    QuickCheck::new()
        .tests(500)
        .quickcheck(check as fn(Vec<u8>, Vec<usize>, usize) -> bool);
}

/// A fold checks the text of a whole block at once, a map checks each line.
#[test]
fn folds_see_the_lines_that_maps_see() {
    fn check(bytes: Vec<u8>, block: usize) -> bool {
        let some: [&[u8]; 7] = [
            b"\n",
            b"\r\n",
            b"ab",
            "\u{e4}".as_bytes(),
            "\u{1f980}\n".as_bytes(),
            b"long enough for a word of bytes",
            b"\xFF",
        ];
        // Few bytes that are not text: so the whole is often text.
        let pieces = bytes.iter().map(|b| match usize::from(*b) {
            250.. => some[6],
            b => some[b % 6],
        });
        let bytes = pieces.collect::<Vec<_>>().concat();
        let lines = || bytes.par_lines().block_size(block % 90 + 1);
        let mapped: io::Result<Vec<String>> = lines().map(str::to_owned).collect();
        let folded = lines().fold(Vec::new, |mut all: Vec<String>, line| {
            all.push(line.to_owned());
            all
        });
        let folded: io::Result<Vec<Vec<String>>> = folded.collect();
        match (mapped, folded) {
            (Ok(mapped), Ok(folded)) => mapped == folded.concat(),
            (Err(mapped), Err(folded)) => mapped.to_string() == folded.to_string(),
            _ => false,
        }
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(check as fn(Vec<u8>, usize) -> bool);
}

#[test]
fn a_file() {
    let path = std::env::temp_dir().join(format!("tine-lines-{}", std::process::id()));
    let text: String = (0..200_000)
        .map(|n| format!("line {n} of many\n"))
        .collect();
    fs::write(&path, &text).unwrap();
    in_pools_of(POOLS, {
        let path = path.clone();
        move || {
            let file = || File::open(&path).unwrap();
            let sum = |line: &str| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
            let total = 199_999 * 100_000;
            let mapped = file().par_lines().map(sum).sum::<u64>();
            assert_eq!(mapped.unwrap(), total);
            let folded = BufReader::new(file())
                .par_lines()
                .fold(|| 0, |all, line| all + sum(line));
            assert_eq!(folded.sum::<u64>().unwrap(), total);
            let visited = AtomicUsize::new(0);
            let visit = |line: &str| {
                visited.fetch_add(sum(line) as usize, Ordering::Relaxed);
            };
            file().par_lines().for_each(visit).unwrap();
            assert_eq!(visited.into_inner() as u64, total);
            let mut copy = Vec::new();
            let written = file()
                .par_lines()
                .map(|line| format!("{line}\n"))
                .write_to(&mut copy);
            assert_eq!(written.unwrap(), text.len() as u64);
            assert_eq!(copy, text.as_bytes());
            let numbered = file().par_lines().numbered();
            let wrong = numbered.filter_map(|(n, line)| (sum(line) != n).then_some(n));
            assert_eq!(wrong.count().unwrap(), 0);
        }
    });
    fs::remove_file(&path).unwrap();
    let nothing = std::env::temp_dir().join(format!("tine-nothing-{}", std::process::id()));
    fs::write(&nothing, "").unwrap();
    assert_eq!(
        File::open(&nothing).unwrap().par_lines().count().unwrap(),
        0
    );
    fs::remove_file(&nothing).unwrap();
}

#[test]
fn few_blocks_are_under_way() {
    in_pools_of(&[2, 7], || {
        // Each block is one line: the reader counts the lines that it has given, the end counts those that have
        // come through.
        let (read, through) = (AtomicUsize::new(0), AtomicUsize::new(0));
        struct Counting<'c>(Cursor<Vec<u8>>, &'c AtomicUsize, &'c AtomicUsize);
        impl Read for Counting<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let taken = self.0.read(&mut buffer[..8])?;
                let ahead = self.1.fetch_add(usize::from(taken > 0), Ordering::SeqCst);
                assert!(ahead <= self.2.load(Ordering::SeqCst) + 3);
                Ok(taken)
            }
        }
        let reader = Counting(Cursor::new(b"1234567\n".repeat(1000)), &read, &through);
        let lines = reader.par_lines().block_size(8).limit(3);
        let outcome = lines.map(str::len).for_each(|_| {
            through.fetch_add(1, Ordering::SeqCst);
        });
        outcome.unwrap();
        assert_eq!(through.into_inner(), 1000);
    });
}

#[test]
fn a_prompt_reader_hands_on_what_it_has() {
    /// Gives the next message only when the last message has been processed.
    struct Talk(Receiver<String>);
    impl Read for Talk {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Ok(message) = self.0.recv() else {
                return Ok(0);
            };
            buffer[..message.len()].copy_from_slice(message.as_bytes());
            Ok(message.len())
        }
    }
    in_pools_of(POOLS, || {
        let (send, receive) = channel();
        send.send("0\n".to_owned()).unwrap();
        let mut send = Some(send);
        let lines = Talk(receive).par_lines().prompt();
        let outcome = lines
            .map(|line| line.parse::<u32>().unwrap())
            .for_each(|n| {
                if n == 100 {
                    send = None;
                } else if let Some(send) = &send {
                    send.send(format!("{}\n", n + 1)).unwrap();
                }
            });
        outcome.unwrap();
        assert!(send.is_none());
    });
}

#[test]
fn a_line_of_more_than_a_gigabyte() {
    // In unoptimised builds that takes ten seconds, and by default it is a line of 64 MB.
    let long = !cfg!(debug_assertions) || std::env::var_os("TINE_LONG").is_some();
    let length = (1 << if long { 30 } else { 26 }) + 12_345;
    let lines = Long(length + 1).par_byte_lines().longest(2 << 30);
    assert_eq!(
        lines.map(<[u8]>::len).collect::<Vec<_>>().unwrap(),
        [length]
    );
}

#[test]
fn panics_of_closures_and_of_readers() {
    in_pools_of(POOLS, || {
        let text = "1\n".repeat(5000);
        for at in [0, 1, 2500, 4999] {
            let lines = || over(&text).par_lines().numbered().block_size(64);
            assert!(panics(|| lines().map(|(n, _)| assert!(n != at)).run()));
            assert!(panics(|| lines()
                .fold(|| (), |(), (n, _)| assert!(n != at))
                .run()));
            assert!(panics(|| lines()
                .try_map(|(n, _)| {
                    assert!(n != at);
                    Ok::<_, io::Error>(())
                })
                .run()));
        }
        struct Liar;
        impl Read for Liar {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.len() + 1)
            }
        }
        assert!(panics(|| Liar.par_lines().count()));
        struct Trap;
        impl Read for Trap {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("on purpose")
            }
        }
        assert!(panics(|| Trap.par_lines().count()));
    });
}
