//! Three things that a scan is good for: packing what is to be kept, equalising an image, and finding
//! how deep brackets are nested.
//!
//! ```text
//! cargo run --release --example scan_compact
//! ```

use tine::prelude::*;

fn main() {
    packing();
    equalising();
    nesting();
}

/// Stream compaction: a scan over lengths says where each record begins, so that all of them can be
/// written to one buffer at the same time.
fn packing() {
    let records: Vec<String> = (0..10_000_u32)
        .map(|n| format!("{n}:{};", "x".repeat(n as usize % 7)))
        .collect();
    let kept = |record: &String| !record.len().is_multiple_of(3);

    let mut room = 0;
    let lengths = records
        .par_iter()
        .map(|r| if kept(r) { r.len() } else { 0 });
    let starts: Vec<usize> = lengths.prefix_sum_exclusive().total(&mut room).collect();

    // The buffer is cut where the records begin, and each piece is filled separately.
    let mut packed = vec![0; room];
    let mut pieces = Vec::with_capacity(records.len());
    let mut rest = packed.as_mut_slice();
    let ends = starts.iter().skip(1).chain([&room]);
    for (start, end) in starts.iter().zip(ends) {
        let (piece, behind) = rest.split_at_mut(end - start);
        pieces.push(piece);
        rest = behind;
    }
    let work = pieces.into_par_iter().zip(&records);
    work.for_each(|(piece, record)| {
        if !piece.is_empty() {
            piece.copy_from_slice(record.as_bytes());
        }
    });

    let looped: String = records.iter().filter(|r| kept(r)).cloned().collect();
    assert_eq!(packed, looped.into_bytes());
    println!("packed {} records into {room} bytes", records.len());
}

/// Histogram equalisation: a scan over the histogram gives, for each shade, the number of darker pixels.
fn equalising() {
    let (width, height) = (640, 480);
    let shade = |i: usize| {
        let (x, y) = (
            (i % width) as f64 / width as f64,
            (i / width) as f64 / height as f64,
        );
        (40.0 + 60.0 * x * y + 10.0 * (20.0 * x).sin()) as u8
    };
    let image: Vec<u8> = (0..width * height).into_par_iter().map(shade).collect();

    let counts = image.par_iter().histogram(256, |&&pixel| pixel.into());
    let mut darker = counts.clone();
    let pixels = darker.par_prefix_sum_exclusive();
    assert_eq!(pixels, image.len());
    let level = |pixel: &u8| (darker[usize::from(*pixel)] * 255 / pixels) as u8;
    let equal: Vec<u8> = image.par_iter().map(level).collect();

    let mut below = 0;
    for (shade, count) in counts.iter().enumerate() {
        if *count > 0 {
            let first = image.iter().position(|&pixel| usize::from(pixel) == shade);
            assert_eq!(equal[first.unwrap()], (below * 255 / image.len()) as u8);
        }
        below += count;
    }
    let span = |image: &[u8]| image.iter().max().unwrap() - image.iter().min().unwrap();
    assert!(span(&equal) > 2 * span(&image));
    println!(
        "shades went from {} to {} levels apart",
        span(&image),
        span(&equal)
    );
}

/// A user-defined operation: a text counts as a number of unmatched `)`, followed by a number of
/// unmatched `(`. Joining two such texts is associative, so the depth at each place is a scan.
fn nesting() {
    let text = "fn f(a: (u8, [u8; (4)])) { g((a), (b)) }".repeat(500);
    let one = |c| match c {
        b'(' => (0_u32, 1_u32),
        b')' => (1, 0),
        _ => (0, 0),
    };
    let join = |(a, b): (u32, u32), (c, d): (u32, u32)| {
        let matched = b.min(c);
        (a + c - matched, b - matched + d)
    };
    let states = text.as_bytes().par_iter().map(|&c| one(c));
    let depths = states.scan_inclusive(|| (0, 0), join).map(|(_, open)| open);
    let depths: Vec<u32> = depths.collect();

    let mut depth = 0;
    for (c, found) in text.bytes().zip(&depths) {
        match c {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        assert_eq!(*found, depth);
    }
    println!(
        "the deepest of {} brackets is {:?}",
        text.len(),
        depths.par_iter().max()
    );
}
