//! Ordinary threads call each verb of the global pool, on whose seats they sit as guests, and call it once more
//! from destructors of their thread-locals. Small enough for Miri, which runs this too (`tests/miri.sh`): the
//! threads of the global pool never end.
use std::cell::RefCell;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use tine_pool::{
    blocking, broadcast, current_num_threads, in_place_scope_fifo, join, scope, scope_fifo,
    spawn_async, spawn_join,
};

fn sum(values: &[u64]) -> u64 {
    match values {
        [] => 0,
        [value] => *value,
        _ => {
            let (near, far) = values.split_at(values.len() / 2);
            let (near, far) = join(|| sum(near), || sum(far));
            near + far
        }
    }
}

/// Calls the pool when its thread ends, when other thread-locals may be gone.
struct AtEnd(Box<u64>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        assert_eq!(join(|| *self.0, || *self.0 + 1), (*self.0, *self.0 + 1));
        let mut marks = [0_u8; 2];
        scope(|s| {
            for mark in &mut marks {
                s.spawn(|_| *mark += 1);
            }
        });
        in_place_scope_fifo(|s| {
            for mark in &mut marks {
                s.spawn_fifo(|_| *mark += 1);
            }
        });
        assert_eq!(marks, [2; 2]);
        assert_eq!(spawn_join(|| 3).join().unwrap(), 3);
        assert!(!broadcast(|context| context.index()).is_empty());
        ENDED.fetch_add(1, Relaxed);
    }
}

/// The number of these that have ended.
static ENDED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

/// Tasks of a scope come as letters and spawn more, while the thread that opened it may have lent its seat.
fn scopes() {
    let (count, words) = (AtomicUsize::new(0), vec![String::from("a word"); 3]);
    let add = |word: &String| {
        count.fetch_add(usize::from(!word.is_empty()), Relaxed);
    };
    scope(|s| {
        let (add, words) = (&add, &words);
        s.spawn_broadcast(move |s, _| {
            s.spawn(move |s| {
                add(&words[0]);
                s.spawn_bounded(1, move |_| add(&words[1]));
            });
        });
        for _ in 0..3 {
            s.spawn(move |_| add(&words[2]));
        }
    });
    assert_eq!(count.swap(0, Relaxed), 3 + 2 * current_num_threads());
    scope_fifo(|s| {
        let (add, words) = (&add, &words);
        for word in words {
            s.spawn_fifo(move |s| {
                add(word);
                s.spawn_broadcast(move |_, _| add(word));
            });
        }
    });
    assert_eq!(count.into_inner(), 3 + 3 * current_num_threads());
}

/// A panic comes out when all borrowers have ended.
fn panics() {
    let (words, ended) = (vec![String::from("a word"); 3], AtomicUsize::new(0));
    let result = catch_unwind(|| {
        scope(|s| {
            s.spawn(|_| {
                ended.fetch_add(1, Relaxed);
                resume_unwind(Box::new(words[0].clone()))
            });
            s.spawn(|_| {
                assert!(!words[1].is_empty());
                ended.fetch_add(1, Relaxed);
                resume_unwind(Box::new(1));
            });
            resume_unwind(Box::new(2));
        });
    });
    assert!(result.is_err());
    assert_eq!(ended.into_inner(), 2);
}

fn blocked(caller: u64) {
    assert_eq!(blocking(|| join(|| 1, || 2)), (1, 2));
    let inside = || {
        let task = spawn_join(move || vec![caller]);
        let nine = scope(|_| sum(&[4, 5]));
        (task.join().unwrap(), nine)
    };
    assert_eq!(scope(|_| blocking(inside)), (vec![caller], 9));
}

#[test]
fn guests_call_each_verb() {
    let rounds = if cfg!(miri) { 1 } else { 50 };
    for _ in 0..rounds {
        let callers = [0, 1, 2].map(|caller| thread::spawn(move || call_each(caller)));
        // What a scope of threads waits for is not the destructors of their thread-locals.
        for caller in callers {
            caller.join().unwrap();
        }
    }
    assert_eq!(ENDED.load(Relaxed), 2 * rounds);
}

fn call_each(caller: u64) {
    if caller != 1 {
        END.set(Some(AtEnd(Box::new(caller))));
    }
    assert_eq!(sum(&(0..12).collect::<Vec<_>>()), 66);
    scopes();
    let sums = broadcast(|context| sum(&[1, 2, context.index() as u64]));
    assert_eq!(sums.len(), current_num_threads());
    panics();
    blocked(caller);
    // A handle that is forgotten is a leak, for which the address sanitizer looks.
    if !cfg!(tine_asan) {
        std::mem::forget(spawn_join(|| vec![1]));
    }
    drop(spawn_async(|| vec![2]));
}
