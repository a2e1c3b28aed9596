//! Vectors that threads push to at once.

use crate::table::{Options, on_threads, timed};
use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use tine_collections::ParVec;

pub fn run(options: &Options) {
    let n = 10_000_000 / options.scale;
    let input: Vec<u64> = (0..n as u64).collect();
    for threads in [1, 2, 8] {
        let name = format!("push, {threads} threads");
        if options.wants(&name) {
            let input = &input;
            options.row(
                &name,
                vec![
                    (
                        "tine ParVec push",
                        Box::new(move || {
                            let vec = ParVec::new();
                            let took = on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)));
                            });
                            assert_eq!(vec.len(), input.len());
                            took
                        }),
                    ),
                    (
                        "boxcar",
                        Box::new(move || {
                            let vec = boxcar::Vec::new();
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)))
                            })
                        }),
                    ),
                    (
                        "append-only-vec",
                        Box::new(move || {
                            let vec = append_only_vec::AppendOnlyVec::new();
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)))
                            })
                        }),
                    ),
                    (
                        "Mutex<Vec>",
                        Box::new(move || {
                            let vec = Mutex::new(Vec::new());
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| vec.lock().unwrap().push(i));
                            })
                        }),
                    ),
                ],
            );
        }
        let name = format!("extend, {threads} threads");
        if options.wants(&name) {
            let input = &input;
            options.row(
                &name,
                vec![
                    (
                        "tine ParVec pusher",
                        Box::new(move || {
                            let vec = ParVec::new();
                            let took =
                                on_threads(threads, input, |part| vec.extend(part.iter().copied()));
                            assert_eq!(vec.len(), input.len());
                            took
                        }),
                    ),
                    (
                        "Vec per thread, concatenated",
                        Box::new(move || {
                            timed(|| {
                                let chunk = input.len().div_ceil(threads);
                                let parts: Vec<Vec<u64>> = thread::scope(|scope| {
                                    let part = |part: &'_ [u64]| {
                                        let mut vec = Vec::new();
                                        part.iter().for_each(|&i| vec.push(black_box(i)));
                                        vec
                                    };
                                    let handles: Vec<_> = input
                                        .chunks(chunk)
                                        .map(|input| scope.spawn(move || part(input)))
                                        .collect();
                                    handles.into_iter().map(|h| h.join().unwrap()).collect()
                                });
                                parts.concat()
                            })
                        }),
                    ),
                ],
            );
        }
    }
}
