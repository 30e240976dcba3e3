use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::persist::{Persist, Reader, UnknownKeysCache, put_value};
use crate::session::nodes::Slot;
use crate::session::repair::repair;
use crate::session::{FileNode, Node, NodeId, Session, SessionHeader};

const NODES: &str = "nodes";
const ROOT: &str = "rootNodeId";
const LEAF: &str = "activeLeafId";

impl Persist for Session {
    /// Repairs invalid links in memory. O(nodes + links).
    fn read(mut value: Value, reader: &mut Reader) -> Self {
        let stored = take_nodes(&mut value, reader);
        let root = read_id(&value, ROOT, reader);
        let leaf = read_id(&value, LEAF, reader);
        let header = SessionHeader::read(value, reader);
        let slots = reader.at_key(NODES, |reader| read_slots(stored, reader));
        Self::with_tree(header, repair(slots, root.as_deref(), leaf.as_deref(), reader))
    }

    fn write(&self) -> Value {
        serde_json::to_value(self).expect("a session is JSON")
    }
}

impl Session {
    pub(super) fn outline(&self) -> Value {
        let has_nodes = self.file_nodes().next().is_some();
        let mut map = match self.header.write() {
            Value::Object(map) => map,
            malformed if !has_nodes => return malformed,
            _ => Map::new(),
        };
        if has_nodes && !map.get(NODES).is_some_and(Value::is_object) {
            put_value(&mut map, NODES, Some(Value::Object(Map::new())));
        }
        let tree = &self.tree;
        if tree.nodes.get(&tree.root_id).is_some_and(|root| root.file == FileNode::Same) {
            put_value(&mut map, ROOT, Some(Value::from(&*tree.root_id)));
        }
        if !tree.leaf.is_repair {
            put_value(&mut map, LEAF, Some(Value::from(&*tree.leaf.id)));
        }
        Value::Object(map)
    }

    fn file_nodes(&self) -> impl Iterator<Item = (&NodeId, &Node)> {
        self.tree.nodes.iter().filter_map(|slot| Some((&slot.id, slot.file_node()?)))
    }
}

fn take_nodes(session: &mut Value, reader: &mut Reader) -> Map<String, Value> {
    match session.get_mut(NODES) {
        Some(Value::Object(nodes)) => std::mem::take(nodes),
        None | Some(Value::Null) => Map::new(),
        Some(other) => {
            reader.at_key(NODES, |reader| reader.wrong_type("an object of nodes", other));
            Map::new()
        }
    }
}

fn read_id(session: &Value, key: &str, reader: &mut Reader) -> Option<String> {
    match session.get(key) {
        Some(Value::String(id)) => Some(id.clone()),
        None | Some(Value::Null) => None,
        Some(other) => {
            reader.at_key(key, |reader| reader.wrong_type("the id of a node", other));
            None
        }
    }
}

fn read_slots(stored: Map<String, Value>, reader: &mut Reader) -> Vec<Slot> {
    let mut slots = Vec::with_capacity(stored.len() + 1);
    slots.push(Slot::default());
    let mut sharing = UnknownKeysCache::default();
    for (key, value) in stored {
        let mut node = reader.at_key(&key, |reader| Node::read(value, reader));
        sharing.share(&mut node.kept);
        slots.push(Slot::new(key.into(), node));
    }
    slots
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(Value::deserialize(deserializer)?, &mut Reader::new()))
    }
}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(outline) = self.outline() else {
            return self.outline().serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(outline.len()))?;
        for (key, value) in &outline {
            match (key.as_str(), value) {
                // Nodes that are not an object are kept in the header.
                (NODES, Value::Object(_)) => map.serialize_entry(key, &FileNodes(self))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

struct FileNodes<'a>(&'a Session);

impl Serialize for FileNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.file_nodes())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Session {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Session".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let node = generator.subschema_for::<Node>();
        let nodes = schemars::json_schema!({ "type": ["object", "null"], "additionalProperties": node });
        let id = || crate::schema::simple("string");
        let tree = [
            (NODES, "Messages by id, including the root.", nodes),
            (ROOT, "Id of the root, which is never sent.", id()),
            (LEAF, "Id of the active leaf: the conversation continues after this message.", id()),
        ];
        let mut schema = SessionHeader::json_schema(generator);
        let about = "A conversation: a tree of messages. The active branch is sent.";
        let tree = crate::schema::object(about, tree);
        schema.insert("description".to_owned(), about.into());
        if let (Some(Value::Object(all)), Some(Value::Object(tree))) =
            (schema.get_mut("properties"), tree.get("properties"))
        {
            all.extend(tree.clone());
        }
        schema
    }
}
