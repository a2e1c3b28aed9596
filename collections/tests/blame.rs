//! A panic that is the caller's doing names the caller's line.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParHashSet, ParVec};
use tine_iter::prelude::*;

/// The hook is the process's, and tests run beside each other.
static HOOK: Mutex<()> = Mutex::new(());

/// The file that the panic in `call` is blamed on, and its message.
fn blamed(call: impl FnOnce()) -> (String, String) {
    let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let place = std::sync::Arc::new(Mutex::new(String::new()));
    let noted = place.clone();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map(|at| at.file().to_owned());
        *noted.lock().unwrap() = file.unwrap_or_default();
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(before);
    let panic = result.expect_err("it should have panicked");
    let message = match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |m| m.to_string()),
    };
    let file = place.lock().unwrap().clone();
    (file, message)
}

fn ignore<T>(_: T) {}

fn is_here((file, message): (String, String)) {
    assert!(file.ends_with("blame.rs"), "{file} is blamed: {message}");
}

#[test]
fn going_back_into_a_map() {
    let map = ParHashMap::from([(1, 1), (2, 2)]);
    let inside = |call: &dyn Fn()| blamed(|| map.update(&1, |_| call()).unwrap_or_default());
    is_here(inside(&|| ignore(map.insert(2, 2))));
    is_here(inside(&|| ignore(map.get_cloned(&2))));
    is_here(inside(&|| ignore(map.read_many(&[2], |_| ()).count())));
    is_here(inside(&|| ignore(map.remove(&2))));
    is_here(inside(&|| ignore(map.upsert(2, || 1, |_| ()))));
    is_here(inside(&|| {
        ignore(map.compute(2, |_| tine_collections::Change::Keep))
    }));
    is_here(inside(&|| ignore(map.get(&2))));
    is_here(inside(&|| ignore(map.lock(&2))));
    is_here(inside(&|| ignore(map.entry(2).or_insert(3))));
    is_here(inside(&|| ignore(map.len())));
    is_here(inside(&|| map.for_each(|_, _| ())));
    is_here(inside(&|| map.retain(|_, _| true)));
    is_here(inside(&|| ignore(map.iter().count())));
    // Nothing was left locked or noted down.
    assert_eq!((map.len(), map.insert(3, 3)), (2, None));
}

#[test]
fn going_back_into_a_set() {
    let set: ParHashSet<i32> = [1, 2].into_iter().collect();
    is_here(blamed(|| set.retain(|_| set.contains(&1))));
    is_here(blamed(|| set.for_each(|&n| ignore(set.insert(n)))));
    assert_eq!(set.len(), 2);
}

#[test]
fn an_index_that_is_not_there() {
    let frozen = ParHashMap::from([(1, 1)]).freeze();
    is_here(blamed(|| ignore(frozen[&2])));
    let groups = [1, 2, 3].into_par_iter().group_by(|n| n % 2);
    is_here(blamed(|| ignore(groups[&7].len())));
    let mut vec = ParVec::from(vec![1]);
    is_here(blamed(|| ignore(vec[1])));
    is_here(blamed(|| vec[1] = 2));
}

#[test]
fn a_bin_out_of_range_names_the_call() {
    let line = line!() + 1;
    let (_, message) = blamed(|| ignore((0..100).into_par_iter().histogram(4, |&n: &usize| n)));
    assert!(message.contains("of a histogram with 4 bins"), "{message}");
    assert!(message.contains(&format!("blame.rs:{line}:")), "{message}");
}
