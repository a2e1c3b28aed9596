//! Records, by separators and by cutters.

use quickcheck::QuickCheck;
use tine_iter::readers::{ParallelRead, over};

use crate::feeds::{Breaks, Drops};
use crate::kit::{POOLS, in_pools_of, panics};

/// What lies between separators, from the left; an empty rest behind the last separator is no record.
fn twin(mut bytes: &[u8], separator: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let at = bytes
            .windows(separator.len())
            .position(|window| window == separator);
        let end = at.unwrap_or(bytes.len());
        all.push(bytes[..end].to_vec());
        bytes = &bytes[at.map_or(end, |at| at + separator.len())..];
    }
    all
}

#[test]
fn separators() {
    fn check(bytes: Vec<u8>, separator: Vec<bool>, sizes: Vec<usize>, block: usize) -> bool {
        // Two letters, so that separators abound and overlap.
        let letter = |b: bool| if b { b'a' } else { b'b' };
        let bytes: Vec<u8> = bytes.iter().map(|b| letter(b % 2 == 0)).collect();
        let mut separator: Vec<u8> = separator.iter().take(4).map(|&b| letter(b)).collect();
        separator.push(b'a');
        let sizes: Vec<usize> = sizes.iter().map(|n| n % 5 + 1).chain([1]).collect();
        let block = block % 9 + 1;
        let read = Drops::new(&bytes, &sizes, 0)
            .par_records(&separator)
            .block_size(block);
        let lying = over(&bytes).par_records(&separator).block_size(block);
        let numbered = over(&bytes)
            .par_records(&separator)
            .numbered()
            .block_size(block);
        let expected = twin(&bytes, &separator);
        read.map(<[u8]>::to_vec).collect::<Vec<_>>().unwrap() == expected
            && lying.map(<[u8]>::to_vec).collect::<Vec<_>>().unwrap() == expected
            && numbered
                .map(|(n, record)| (n, record.to_vec()))
                .collect::<Vec<_>>()
                .unwrap()
                == (0..).zip(expected).collect::<Vec<_>>()
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(check as fn(Vec<u8>, Vec<bool>, Vec<usize>, usize) -> bool);
}

#[test]
#[should_panic(expected = "a separator must not be empty")]
fn no_separator() {
    let _ = over(b"abc").par_records(b"");
}

/// Many bytes are searched for ends at once: the result is right whatever the bytes are, and however far the
/// next end is.
#[test]
fn any_byte_may_separate() {
    fn check(bytes: Vec<u8>, separator: u8) -> bool {
        // Bytes that differ by one, or in the highest bit, among many that do not matter.
        let alike = [0, 1, 0x7F, 0x80, 0x81, 0xFE, 0xFF];
        let separator = alike[usize::from(separator) % 7];
        let bytes: Vec<u8> = bytes
            .iter()
            .flat_map(|&b| match b % 16 {
                few @ 0..7 => vec![alike[usize::from(few)]],
                many => vec![separator ^ b | 2; usize::from(many)],
            })
            .collect();
        let records = || over(&bytes).par_records([separator]).block_size(500);
        let folded = records().fold(Vec::new, |mut all: Vec<Vec<u8>>, record: &[u8]| {
            all.push(record.to_vec());
            all
        });
        let folded: Vec<Vec<Vec<u8>>> = folded.collect().unwrap();
        let expected = twin(&bytes, &[separator]);
        let all = records().map(<[u8]>::to_vec).collect::<Vec<_>>();
        all.unwrap() == expected && folded.concat() == expected
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(check as fn(Vec<u8>, u8) -> bool);
}

/// A record is a byte with its length, and that many more.
fn by_length(bytes: &[u8]) -> Option<usize> {
    let length = 1 + bytes[0] as usize % 8;
    (length <= bytes.len()).then_some(length)
}

#[test]
fn cutters() {
    fn check(bytes: Vec<u8>, sizes: Vec<usize>, block: usize) -> bool {
        let sizes: Vec<usize> = sizes.iter().map(|n| n % 5 + 1).chain([1]).collect();
        let read = Drops::new(&bytes, &sizes, 1).par_records_by(by_length);
        let read = read.block_size(block % 30 + 1);
        let mut expected = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (record, more) = rest.split_at(by_length(rest).unwrap_or(rest.len()));
            expected.push(record.to_vec());
            rest = more;
        }
        let numbered = over(&bytes)
            .par_records_by(by_length)
            .numbered()
            .block_size(7);
        let numbers: Vec<u64> = numbered.map(|(n, _)| n).collect().unwrap();
        numbers.len() == expected.len()
            && numbers.into_iter().eq(0..expected.len() as u64)
            && read.map(<[u8]>::to_vec).collect::<Vec<_>>().unwrap() == expected
    }
    QuickCheck::new()
        .tests(500)
        .quickcheck(check as fn(Vec<u8>, Vec<usize>, usize) -> bool);
}

#[test]
fn cutters_that_lie() {
    in_pools_of(POOLS, || {
        let bytes = vec![1; 1000];
        let cut = |cutter: fn(&[u8]) -> Option<usize>| {
            over(&bytes).par_records_by(cutter).block_size(64).count()
        };
        assert!(panics(|| cut(|_| Some(0))));
        assert!(panics(|| cut(|bytes| Some(bytes.len() + 1))));
        assert!(panics(|| cut(|_| panic!("on purpose"))));
        assert_eq!(cut(|_| None).unwrap(), 1);
        // It changes its mind: any records, but each byte once.
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let moody = |bytes: &[u8]| {
            let call = calls.fetch_add(7, std::sync::atomic::Ordering::Relaxed);
            (!call.is_multiple_of(3)).then_some(1 + call % bytes.len())
        };
        let all = over(&bytes).par_records_by(moody).block_size(64);
        assert_eq!(all.map(<[u8]>::len).sum::<usize>().unwrap(), 1000);
    });
}

/// What a cutter makes from all bytes at once: the records, the last of which may have no end.
fn all_cut(bytes: &[u8], cutter: impl Fn(&[u8]) -> Option<usize>) -> Vec<Vec<u8>> {
    let mut expected = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (record, more) = rest.split_at(cutter(rest).unwrap_or(rest.len()));
        expected.push(record.to_vec());
        rest = more;
    }
    expected
}

/// A cutter may need bytes behind the record. It cuts in the same way wherever the blocks end.
#[test]
fn cutters_that_look_behind_the_record() {
    fn check(bytes: Vec<u8>, sizes: Vec<usize>, block: usize, ahead: usize) -> bool {
        let bytes: Vec<u8> = bytes.iter().map(|b| b"\n>ab"[*b as usize % 4]).collect();
        let sizes: Vec<usize> = sizes.iter().map(|n| n % 5 + 1).chain([1]).collect();
        let (block, ahead) = (block % 40 + 1, ahead % 12);
        // The record ends with a line feed, and that many bytes are behind it.
        let far = |bytes: &[u8]| {
            let end = 1 + bytes.iter().position(|&b| b == b'\n')?;
            (bytes.len() >= end + ahead).then_some(end)
        };
        // The next record begins with this sign.
        let sign = |bytes: &[u8]| Some(1 + bytes.windows(2).position(|two| two == b"\n>")?);
        alike(&bytes, &sizes, block, &far) && alike(&bytes, &sizes, block, &sign)
    }
    fn alike(
        bytes: &[u8],
        sizes: &[usize],
        block: usize,
        cutter: &(impl Fn(&[u8]) -> Option<usize> + Send + Sync),
    ) -> bool {
        let expected = all_cut(bytes, cutter);
        let numbered: Vec<_> = (0..).zip(expected.clone()).collect();
        let read = || {
            let drops = Drops::new(bytes, sizes, 0);
            drops.par_records_by(cutter).block_size(block)
        };
        let lying = || over(bytes).par_records_by(cutter).block_size(block);
        let owned = <[u8]>::to_vec;
        let pair = |(n, record): (u64, &[u8])| (n, record.to_vec());
        let push = |mut all: Vec<Vec<u8>>, record: &[u8]| {
            all.push(record.to_vec());
            all
        };
        let folded: Vec<Vec<Vec<u8>>> = lying().fold(Vec::new, push).collect().unwrap();
        read().map(owned).collect::<Vec<_>>().unwrap() == expected
            && read().prompt().map(owned).collect::<Vec<_>>().unwrap() == expected
            && lying().map(owned).collect::<Vec<_>>().unwrap() == expected
            && folded.concat() == expected
            && read().numbered().map(pair).collect::<Vec<_>>().unwrap() == numbered
            && lying().numbered().map(pair).collect::<Vec<_>>().unwrap() == numbered
    }
    QuickCheck::new()
        .tests(500)
        .quickcheck(check as fn(Vec<u8>, Vec<usize>, usize, usize) -> bool);
}

/// A reader fails: the records before are cut by the bytes that were read, including bytes behind the record.
#[test]
fn cutters_that_look_behind_see_what_was_read_before_an_error() {
    let cutter = |bytes: &[u8]| {
        let end = 1 + bytes.iter().position(|&b| b == b'\n')?;
        (bytes.len() >= end + 8).then_some(end)
    };
    let bytes = b"one\n".repeat(10);
    let seen = std::sync::Mutex::new(Vec::new());
    let records = Breaks(&bytes, false).par_records_by(cutter);
    let failed = records.for_each(|record| seen.lock().unwrap().push(record.to_vec()));
    assert!(failed.is_err());
    assert_eq!(*seen.lock().unwrap(), vec![b"one\n".to_vec(); 8]);
}

/// Each record is cut once before its block is sent and once when the block is walked, numbered or not.
#[test]
fn cutters_are_called_twice_for_each_record() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let bytes = b"nine more".repeat(1000);
    let calls = AtomicUsize::new(0);
    let cutter = |bytes: &[u8]| {
        calls.fetch_add(1, Relaxed);
        (bytes.len() >= 9).then_some(9)
    };
    let block = 900;
    let records = over(&bytes).par_records_by(cutter).block_size(block);
    assert_eq!(records.count().unwrap(), 1000);
    let plain = calls.swap(0, Relaxed);
    let records = over(&bytes).par_records_by(cutter).block_size(block);
    let numbered = records.numbered().map(|(n, _)| n);
    assert!(
        numbered
            .collect::<Vec<_>>()
            .unwrap()
            .into_iter()
            .eq(0..1000)
    );
    let numbered = calls.into_inner();
    // A block is asked once more for what is behind its last record.
    assert!(plain <= 2 * (1000 + bytes.len() / block), "{plain}");
    assert_eq!(numbered, plain);
}
