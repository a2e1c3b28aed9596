//! The Mandelbrot set as a picture: each row is a piece of one image. Some rows
//! take far longer than others; they are shared out while it runs. Writes a PNG.
//!
//! `cargo run --release --example mandelbrot [FILE.png]`

use std::{env, fs, io, time::Instant};
use tine::prelude::*;

const WIDTH: usize = 1200;
const HEIGHT: usize = 800;

/// Fills a row: black where the point never escapes, brighter where it takes longer.
fn row((y, pixels): (usize, &mut [u8])) {
    for (x, pixel) in pixels.iter_mut().enumerate() {
        let (re, im) = (x as f64 / 400.0 - 2.1, y as f64 / 400.0 - 1.0);
        let (mut a, mut b, mut steps) = (0.0, 0.0, 0);
        while a * a + b * b <= 4.0 && steps < 500 {
            (a, b) = (a * a - b * b + re, 2.0 * a * b + im);
            steps += 1;
        }
        *pixel = (steps % 500 * 5).min(255) as u8;
    }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8], data: &[u8]) {
    let body = [kind, data].concat();
    let bit = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
    let byte = |crc, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), bit);
    let crc = !body.iter().fold(u32::MAX, byte);
    let len = data.len() as u32;
    file.extend([&len.to_be_bytes()[..], &body, &crc.to_be_bytes()].concat());
}

/// The image as a grey PNG, whose deflate stream stores each row as it is.
fn png(pixels: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 1];
    let (mut a, mut b) = (1, 0);
    for row in pixels.chunks(WIDTH) {
        let len = row.len() as u16 + 1;
        stream.extend([&[0][..], &len.to_le_bytes(), &(!len).to_le_bytes()].concat());
        for byte in [&[0], row].concat() {
            stream.push(byte);
            a = (a + u32::from(byte)) % 65521;
            b = (a + b) % 65521;
        }
    }
    stream.extend([[1, 0, 0, 255, 255].as_slice(), &(b << 16 | a).to_be_bytes()].concat());
    let mut header = [WIDTH, HEIGHT].map(|n| (n as u32).to_be_bytes()).concat();
    header.extend([8, 0, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &stream);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn main() -> io::Result<()> {
    let (mut alone, mut together) = (vec![0; WIDTH * HEIGHT], vec![0; WIDTH * HEIGHT]);
    let start = Instant::now();
    alone.chunks_mut(WIDTH).enumerate().for_each(row);
    let middle = Instant::now();
    together.par_chunks_mut(WIDTH).enumerate().for_each(row);
    let (first, second) = (middle - start, middle.elapsed());
    println!("{first:.1?} in sequence, {second:.1?} in rows");
    assert!(together == alone);
    let file = env::args_os().nth(1).map(Into::into);
    let file = file.unwrap_or_else(|| env::temp_dir().join("mandelbrot.png"));
    println!("written to {}", file.display());
    fs::write(file, png(&together))
}
