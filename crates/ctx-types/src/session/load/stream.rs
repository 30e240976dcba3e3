//! Streaming deserializer: the JSON of all nodes would take several times their memory, and 50% more time.

use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::NODES;
use crate::persist::{Persist, Reader, UnknownKeysCache};
use crate::session::links::StoredLinks;
use crate::session::nodes::{Nodes, Position};
use crate::session::{Node, Session};

/// Like [`Persist::read`], without diagnostics.
impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut reader = Reader::new();
        Ok(match ObjectOrValue::<SessionParts>::deserialize(deserializer)? {
            ObjectOrValue::Object(SessionParts { rest, nodes: Some(nodes) }) => {
                Self::from_parts(Value::Object(rest), |_| nodes, &mut reader)
            }
            ObjectOrValue::Object(SessionParts { rest, nodes: None }) => {
                Self::read(Value::Object(rest), &mut reader)
            }
            ObjectOrValue::Other(value) => Self::read(value, &mut reader),
        })
    }
}

struct SessionParts {
    rest: Map<String, Value>,
    nodes: Option<Nodes>,
}

impl ReadObject for SessionParts {
    fn read_object<'de, A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut parts = Self { rest: Map::new(), nodes: None };
        while let Some(key) = fields.next_key::<String>()? {
            let value = if key == NODES {
                let (nodes, value) = match fields.next_value()? {
                    ObjectOrValue::Object(nodes) => (Some(nodes), Value::Object(Map::new())),
                    ObjectOrValue::Other(value) => (None, value),
                };
                parts.nodes = nodes;
                value
            } else {
                fields.next_value()?
            };
            parts.rest.insert(key, value);
        }
        Ok(parts)
    }
}

impl ReadObject for Nodes {
    fn read_object<'de, A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        let mut read: IndexMap<String, Node> =
            IndexMap::with_capacity(fields.size_hint().unwrap_or(0).min(MAX_RESERVED));
        let (mut reader, mut sharing) = (Reader::new(), UnknownKeysCache::default());
        while let Some((key, value)) = fields.next_entry()? {
            let mut node = Node::read(value, &mut reader);
            sharing.share(&mut node.kept);
            // As in all JSON objects, a duplicate key replaces the first value in place.
            read.insert(key, node);
        }
        let mut nodes = Self::default();
        nodes.reserve(read.len());
        for (key, node) in read {
            nodes.insert(key.into(), node, StoredLinks::AsIs, Position::Last);
        }
        Ok(nodes)
    }
}

/// Limits the capacity that a size hint may allocate.
const MAX_RESERVED: usize = 4096;

trait ReadObject: Sized {
    fn read_object<'de, A: MapAccess<'de>>(fields: A) -> Result<Self, A::Error>;
}

enum ObjectOrValue<T> {
    Object(T),
    Other(Value),
}

impl<'de, T: ReadObject> Deserialize<'de> for ObjectOrValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectOrValueVisitor(PhantomData))
    }
}

struct ObjectOrValueVisitor<T>(PhantomData<T>);

impl<'de, T: ReadObject> Visitor<'de> for ObjectOrValueVisitor<T> {
    type Value = ObjectOrValue<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::read_object(fields).map(ObjectOrValue::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(list)).map(ObjectOrValue::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(text.into()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(truth.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(number.into()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(ObjectOrValue::Other(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let streamed: Session = serde_json::from_str(json).unwrap();
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(streamed, Session::read(value, &mut Reader::new()));
        assert_eq!(serde_json::to_string(&streamed).unwrap(), expected);
    }

    #[test]
    fn streams_same_session_as_parsed_value() {
        let kept = [
            r#"{"x":1,"nodes":{"r":{"id":"r"},"a":{"id":"a","parentId":"r","content":"b"}},"rootNodeId":"r","activeLeafId":"a"}"#,
            r#"{"nodes":{"r":5,"a":"b"},"y":[{}]}"#,
            r#"{"nodes":[1,-2,0.5,true,null,"x"]}"#,
            r#"{"nodes":null}"#,
            "{}",
            "[]",
            "null",
            "-5",
        ];
        for json in kept {
            check(json, json);
        }
    }

    #[test]
    fn keeps_last_duplicate_key_at_first_position() {
        check(r#"{"nodes":{"a":1,"b":2,"a":3}}"#, r#"{"nodes":{"a":3,"b":2}}"#);
        check(r#"{"nodes":{"a":1},"x":0,"nodes":{"b":2}}"#, r#"{"nodes":{"b":2},"x":0}"#);
        check(r#"{"nodes":{"a":1},"nodes":[5]}"#, r#"{"nodes":[5]}"#);
        check(r#"{"nodes":[5],"nodes":{"a":1}}"#, r#"{"nodes":{"a":1}}"#);
    }
}
