//! Reading and writing by serde: maps as maps, sets and vectors as sequences.
#![forbid(unsafe_code)]

use crate::map::ParHashMap;
use crate::set::ParHashSet;
use crate::vec::ParVec;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

impl<K: Serialize, V: Serialize, S> Serialize for ParHashMap<K, V, S> {
    /// One shard after another, each under its lock. A format that writes
    /// lengths first may refuse if other threads add or remove entries
    /// meanwhile.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for table in self.shards.walk() {
            table
                .iter()
                .try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        }
        map.end()
    }
}

impl<T: Serialize, S> Serialize for ParHashSet<T, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut seq = serializer.serialize_seq(Some(self.len()))?;
        let mut result = Ok(());
        self.for_each(|item| {
            if result.is_ok() {
                result = seq.serialize_element(item);
            }
        });
        result?;
        seq.end()
    }
}

impl<T: Serialize> Serialize for ParVec<T> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Fills a collection from a map or a sequence.
struct Fill<C>(PhantomData<C>);

impl<'de, K, V, S> Visitor<'de> for Fill<ParHashMap<K, V, S>>
where
    K: Deserialize<'de> + Eq + Hash,
    V: Deserialize<'de>,
    S: BuildHasher + Default,
{
    type Value = ParHashMap<K, V, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = ParHashMap::default();
        while let Some(pair) = entries.next_entry()? {
            map.extend([pair]);
        }
        Ok(map)
    }
}

impl<'de, T, S> Visitor<'de> for Fill<ParHashSet<T, S>>
where
    T: Deserialize<'de> + Eq + Hash,
    S: BuildHasher + Default,
{
    type Value = ParHashSet<T, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut set = ParHashSet::default();
        while let Some(item) = items.next_element()? {
            set.extend([item]);
        }
        Ok(set)
    }
}

impl<'de, K, V, S> Deserialize<'de> for ParHashMap<K, V, S>
where
    K: Deserialize<'de> + Eq + Hash,
    V: Deserialize<'de>,
    S: BuildHasher + Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fill::<Self>(PhantomData))
    }
}

impl<'de, T, S> Deserialize<'de> for ParHashSet<T, S>
where
    T: Deserialize<'de> + Eq + Hash,
    S: BuildHasher + Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Fill::<Self>(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ParVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(ParVec::from)
    }
}
