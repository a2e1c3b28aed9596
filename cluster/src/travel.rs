//! What may travel, and as which bytes.
//!
//! Any type that serde can write and read travels as a block of bitcode. A type whose memory is
//! nothing but its value, without padding or pointers, travels as that memory: numbers, pairs of
//! numbers without padding, and types registered by [`Cluster::plain`](crate::Cluster::plain).
//! [`Plain`] is the proof.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::alloc::{Layout, alloc_zeroed};
use std::any::{TypeId, type_name};
use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::mem;
use std::slice;
use std::sync::OnceLock;

use bytemuck::{AnyBitPattern, NoUninit};
use foldhash::quality::FixedState;
use tine_collections::raw::expect_fill;

/// A type that can be sent to another rank: serde can write and read it, and it borrows nothing.
///
/// It is implemented for all such types; only serde's own `Serialize` and `Deserialize` have to be
/// derived. Messages have the format of bitcode. It does not describe the types in a message, and
/// it has limits that the compiler cannot see. A rank panics when it writes or reads one of these:
///
/// * a type that asks the format what comes next, by `deserialize_any`: `serde_json::Value`, an enum
///   with serde's attribute `tag` or `untagged`, a struct with a field that has `flatten`;
/// * a field that has `skip_serializing_if`, where it is skipped;
/// * a variant of an enum beyond its first 256;
/// * more than 65,536 values that take no memory, such as `()`, in one sequence inside a value. As
///   items of a vector, any number of them travel;
/// * a sequence or map whose `Serialize` does not state its length, as after `collect_seq` of an
///   iterator that does not know its length;
/// * a type whose `Serialize` writes some values as one type of serde's, and others as another.
///
/// ```
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String, seconds: f32 }
///
/// fn travels<T: tine_cluster::Travel>() {}
/// travels::<Visit>();
/// travels::<Vec<Option<(u64, String)>>>();
/// ```
pub trait Travel: Serialize + DeserializeOwned + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Send + 'static> Travel for T {}

/// The proof that a `T` has a size, that every byte of it is part of its value, and that any bytes
/// are a value of `T`.
pub(crate) struct Plain<T>(PhantomData<fn() -> T>);

impl<T> Clone for Plain<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Plain<T> {}

impl<T> Plain<T> {
    /// Two such types side by side, if there is no padding between them.
    pub(crate) fn with<U>(self, _: Plain<U>) -> Option<Plain<(T, U)>> {
        let sum = size_of::<T>() + size_of::<U>();
        (size_of::<(T, U)>() == sum).then_some(Plain(PhantomData))
    }

    /// The memory of some values.
    pub(crate) fn bytes(self, values: &[T]) -> &[u8] {
        let len = mem::size_of_val(values);
        // SAFETY: initialised and in bounds: the values are, and by `self` none of
        // their bytes is padding; alone: both references only read.
        unsafe { slice::from_raw_parts(values.as_ptr().cast(), len) }
    }

    /// The same, to be written.
    pub(crate) fn bytes_mut(self, values: &mut [T]) -> &mut [u8] {
        let len = mem::size_of_val(values);
        // SAFETY: as in `bytes`; whatever is written is, by `self`, values; alone:
        // the values are borrowed for as long.
        unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast(), len) }
    }

    /// `count` values, all bits zero; `None` if there is no memory for them.
    pub(crate) fn zeros(self, count: usize) -> Option<Vec<T>> {
        if count == 0 {
            return Some(Vec::new());
        }
        let layout = Layout::array::<T>(count).ok()?;
        // SAFETY: the layout has a size: `T` does, by `self`, and there is one at least.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: allocated a line ago, by the same allocator, with the layout of
        // `count` values.
        let mut values = unsafe { Vec::from_raw_parts(start.cast(), 0, count) };
        expect_fill(values.spare_capacity_mut());
        // SAFETY: in bounds; initialised: zeros are, by `self`, values.
        unsafe { values.set_len(count) };
        Some(values)
    }
}

/// The types that travel as their memory, besides the numbers.
pub(crate) struct Registry {
    told: RefCell<HashMap<TypeId, &'static str>>,
    /// The same for the same types, whatever the order in which they were told.
    hash: Cell<u64>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Registry {
            told: RefCell::new(HashMap::new()),
            hash: Cell::new(0),
        }
    }

    /// `T` travels as its memory: the bounds are the proof.
    pub(crate) fn tell<T: NoUninit + AnyBitPattern>(&self) {
        let (id, name) = (TypeId::of::<T>(), type_name::<T>());
        if size_of::<T>() == 0 || numbers().contains(&id) {
            return;
        }
        if self.told.borrow_mut().insert(id, name).is_none() {
            let more = FixedState::with_seed(3).hash_one(name);
            self.hash.set(self.hash.get().wrapping_add(more));
        }
    }

    /// A word that is the same on ranks that were told the same types.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.get()
    }

    /// The names of the types that were told.
    pub(crate) fn names(&self) -> String {
        let mut names: Vec<&str> = self.told.borrow().values().copied().collect();
        names.sort_unstable();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    }

    /// The proof for `T`, if there is one.
    pub(crate) fn plain<T: 'static>(&self) -> Option<Plain<T>> {
        let id = TypeId::of::<T>();
        let known = numbers().contains(&id) || self.told.borrow().contains_key(&id);
        known.then_some(Plain(PhantomData))
    }
}

/// The numbers, and the pairs of them without padding.
fn numbers() -> &'static HashSet<TypeId> {
    macro_rules! pairs {
        ($set:ident, [$($left:ty),*], $all:tt) => { $(pairs!($set, $left, $all);)* };
        ($set:ident, $left:ty, [$($right:ty),*]) => {
            $(if size_of::<($left, $right)>() == size_of::<$left>() + size_of::<$right>() {
                $set.insert(TypeId::of::<($left, $right)>());
            })*
        };
    }
    macro_rules! all {
        ($set:ident, $($number:ty),*) => {
            $(assert_plain::<$number>(); $set.insert(TypeId::of::<$number>());)*
            pairs!($set, [$($number),*], [$($number),*]);
        };
    }
    /// The bounds are the proof.
    fn assert_plain<T: NoUninit + AnyBitPattern>() {}

    static NUMBERS: OnceLock<HashSet<TypeId>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let mut set = HashSet::new();
        all!(
            set, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64
        );
        set
    })
}

/// Items that take no memory are written in rows of this number: bitcode reads no more than twice as
/// many at once.
const ROW: usize = 1 << 15;

/// Items of type `T`, or references to them, as a block of bytes.
pub(crate) fn encode_items<T, I: Borrow<T> + Serialize>(items: &[I]) -> Vec<u8> {
    if size_of::<T>() == 0 {
        let rows: Vec<&[I]> = items.chunks(ROW).collect();
        return encode(&rows);
    }
    encode(items)
}

/// The items of such a block.
pub(crate) fn decode_items<T: DeserializeOwned>(block: &[u8]) -> Vec<T> {
    if size_of::<T>() == 0 {
        let rows: Vec<Vec<T>> = decode(block);
        return rows.into_iter().flatten().collect();
    }
    decode(block)
}

/// Values as a block of bytes.
pub(crate) fn encode<T: Serialize + ?Sized>(values: &T) -> Vec<u8> {
    bitcode::serialize(values)
        .unwrap_or_else(|e| panic!("a value cannot be written to be sent: {e}"))
}

/// The values of a block.
pub(crate) fn decode<T: DeserializeOwned>(block: &[u8]) -> T {
    try_decode(block).unwrap_or_else(|e| panic!("a value that was sent cannot be read: {e}"))
}

/// The values of a block that another program may have written.
pub(crate) fn try_decode<T: DeserializeOwned>(block: &[u8]) -> Result<T, bitcode::Error> {
    bitcode::deserialize(block)
}

#[cfg(test)]
mod tests {
    use super::{ROW, Registry, decode, decode_items, encode, encode_items};
    use serde::de::{DeserializeOwned, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;
    use std::fmt;
    use std::panic::catch_unwind;

    #[test]
    fn numbers_and_tight_pairs_are_plain() {
        let registry = Registry::new();
        assert!(registry.plain::<u64>().is_some());
        assert!(registry.plain::<(u64, f64)>().is_some());
        assert!(registry.plain::<(u32, u64)>().is_none());
        assert!(registry.plain::<bool>().is_none());
        assert!(registry.plain::<String>().is_none());
        assert!(registry.plain::<()>().is_none());
        registry.tell::<[u16; 3]>();
        assert!(registry.plain::<[u16; 3]>().is_some());
        registry.tell::<[u16; 0]>();
        assert!(registry.plain::<[u16; 0]>().is_none());
    }

    #[test]
    fn pairs_of_the_plain_are_plain_without_padding() {
        let registry = Registry::new();
        let byte = registry.plain::<u8>().unwrap();
        let word = registry.plain::<u64>().unwrap();
        assert!(byte.with(byte).is_some());
        assert!(byte.with(word).is_none());
    }

    #[test]
    fn memory_is_the_message() {
        let plain = Registry::new().plain::<u32>().unwrap();
        let values = vec![1_u32, 2, u32::MAX];
        let mut copy = plain.zeros(3).unwrap();
        assert_eq!(copy, [0, 0, 0]);
        plain
            .bytes_mut(&mut copy)
            .copy_from_slice(plain.bytes(&values));
        assert_eq!(copy, values);
        assert!(plain.zeros(usize::MAX).is_none());
    }

    #[test]
    fn blocks_come_back() {
        let values = vec![(String::from("fork"), Some(3_u8)), (String::new(), None)];
        assert_eq!(
            decode::<Vec<(String, Option<u8>)>>(&encode(&values)),
            values
        );
        let borrowed: Vec<&(String, Option<u8>)> = values.iter().collect();
        assert_eq!(encode(&borrowed), encode(&values));
    }

    #[test]
    fn items_without_a_size_come_back() {
        for count in [0, 1, ROW, ROW + 1, 5 * ROW] {
            let items = vec![(); count];
            let borrowed: Vec<&()> = items.iter().collect();
            let block = encode_items::<(), _>(&items);
            assert_eq!(decode_items::<()>(&block).len(), count);
            assert_eq!(encode_items::<(), _>(&borrowed), block);
        }
    }

    /// The reason why such values do not travel.
    fn refused<T: Serialize + DeserializeOwned>(values: impl Fn() -> T) -> String {
        let there_and_back = || drop(decode::<T>(&encode(&values())));
        let journey = catch_unwind(std::panic::AssertUnwindSafe(there_and_back));
        crate::fault::text_of(&*journey.expect_err("such values do not travel"))
    }

    /// A number that asks the format what comes next.
    #[derive(Serialize)]
    struct Any(u64);

    impl<'de> Deserialize<'de> for Any {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Number;
            impl Visitor<'_> for Number {
                type Value = Any;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a number")
                }
                fn visit_u64<E>(self, number: u64) -> Result<Any, E> {
                    Ok(Any(number))
                }
            }
            deserializer.deserialize_any(Number)
        }
    }

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        One { a: u8 },
        Two { b: String },
    }

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind", content = "what")]
    enum Apart {
        One(u8),
        Two(String),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        One(u8),
        Two(String),
    }

    #[derive(Serialize, Deserialize)]
    struct Flat {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }

    #[derive(Serialize, Deserialize)]
    struct Skipped {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        a: Option<u8>,
        b: u8,
    }

    #[derive(Deserialize)]
    struct Variant(u32);

    impl Serialize for Variant {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit_variant("Variant", self.0, "")
        }
    }

    #[derive(Deserialize)]
    struct Endless(Vec<u8>);

    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().filter(|byte| **byte > 0))
        }
    }

    /// The list in the docs of `Travel`.
    #[test]
    fn what_does_not_travel_is_refused() {
        let any = "deserialize_any is not supported";
        let changed = "type changed";
        let no_length = "sequence must have len";
        let cases = [
            (refused(|| vec![Any(1)]), any),
            (refused(|| vec![Tagged::One { a: 1 }]), any),
            (
                refused(|| vec![Tagged::One { a: 1 }, Tagged::Two { b: "b".into() }]),
                changed,
            ),
            (
                refused(|| vec![Apart::One(1), Apart::Two("b".into())]),
                changed,
            ),
            (refused(|| vec![Untagged::One(1)]), any),
            (
                refused(|| vec![Untagged::One(1), Untagged::Two("b".into())]),
                changed,
            ),
            (
                refused(|| {
                    let rest = BTreeMap::from([("b".to_owned(), 2)]);
                    vec![Flat { a: 1, rest }]
                }),
                no_length,
            ),
            (
                refused(|| vec![Skipped { a: None, b: 2 }]),
                "skip field is not supported",
            ),
            (
                refused(|| vec![Variant(256)]),
                "enums with more than 256 variants are unsupported",
            ),
            (
                refused(|| vec![vec![(); 2 * ROW + 1]]),
                "too many zero sized types",
            ),
            (refused(|| vec![Endless(vec![1, 0, 2])]), no_length),
        ];
        for (said, reason) in cases {
            assert!(said.ends_with(reason), "{said}, not {reason}");
        }
        assert!(encode(&vec![Variant(255)]).len() > 1);
        assert_eq!(
            decode::<Vec<()>>(&encode(&vec![(); 2 * ROW])).len(),
            2 * ROW
        );
    }
}
