mod stream;

use std::sync::OnceLock;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::persist::{Persist, Reader, UnknownKeysCache, put_value};
use crate::session::fold::Folds;
use crate::session::links::StoredLinks;
use crate::session::nodes::{Nodes, Position, Slot};
use crate::session::repair::repair;
use crate::session::{Node, Session, SessionHeader};

const NODES: &str = "nodes";
const ROOT: &str = "rootNodeId";
const LEAF: &str = "activeLeafId";

impl Persist for Session {
    /// Repairs invalid links in memory. O(nodes + links).
    fn read(mut value: Value, reader: &mut Reader) -> Self {
        let stored = take_nodes(&mut value, reader);
        Self::from_parts(value, |reader| reader.at_key(NODES, |reader| read_nodes(stored, reader)), reader)
    }

    fn write(&self) -> Value {
        let Value::Object(mut map) = self.outline() else { return self.outline() };
        if self.has_stored_nodes() {
            let nodes = self.stored_nodes().map(|slot| (slot.id.to_string(), write_node(slot)));
            map.insert(NODES.to_owned(), Value::Object(nodes.collect()));
        }
        Value::Object(map)
    }
}

impl Session {
    fn from_parts(value: Value, nodes: impl FnOnce(&mut Reader) -> Nodes, reader: &mut Reader) -> Self {
        let root = read_id(&value, ROOT, reader);
        let leaf = read_id(&value, LEAF, reader);
        let header = SessionHeader::read(value, reader);
        let mut nodes = nodes(reader);
        let tree = repair(&mut nodes, root.as_deref(), leaf.as_deref(), reader);
        let session = Self {
            header,
            nodes,
            root_id: tree.root_id,
            leaf: tree.leaf,
            is_branch_known: tree.is_branch_known,
            sent: OnceLock::new(),
            folds: Folds::default(),
        };
        // Cache this now instead of in the first turn.
        session.sent_len();
        session
    }

    pub(super) fn outline(&self) -> Value {
        let mut map = match self.header.write() {
            Value::Object(map) => map,
            malformed if !self.has_stored_nodes() => return malformed,
            _ => Map::new(),
        };
        if self.has_stored_nodes() && !map.get(NODES).is_some_and(Value::is_object) {
            put_value(&mut map, NODES, Some(Value::Object(Map::new())));
        }
        if self.nodes.get(&self.root_id).is_some_and(|root| root.stored_links == StoredLinks::AsIs) {
            put_value(&mut map, ROOT, Some(Value::from(&*self.root_id)));
        }
        if !self.leaf.is_repair {
            put_value(&mut map, LEAF, Some(Value::from(&*self.leaf.id)));
        }
        Value::Object(map)
    }

    fn stored_nodes(&self) -> impl Iterator<Item = &Slot> {
        self.nodes.iter().filter(|slot| slot.stored_links != StoredLinks::NotStored)
    }

    fn has_stored_nodes(&self) -> bool {
        self.stored_nodes().next().is_some()
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

fn read_nodes(stored: Map<String, Value>, reader: &mut Reader) -> Nodes {
    let mut nodes = Nodes::default();
    nodes.reserve(stored.len());
    let mut sharing = UnknownKeysCache::default();
    for (key, value) in stored {
        let mut node = reader.at_key(&key, |reader| Node::read(value, reader));
        sharing.share(&mut node.kept);
        nodes.insert(key.into(), node, StoredLinks::AsIs, Position::Last);
    }
    nodes
}

fn write_node(slot: &Slot) -> Value {
    match &slot.stored_links {
        StoredLinks::AsIs | StoredLinks::NotStored => slot.node.write(),
        StoredLinks::Repaired(links) => {
            let (mut node, mut links) = (slot.node.clone(), links.clone());
            links.swap(&mut node);
            node.write()
        }
    }
}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(outline) = self.outline() else {
            return self.outline().serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(outline.len()))?;
        for (key, value) in &outline {
            match key.as_str() {
                NODES if self.has_stored_nodes() => map.serialize_entry(key, &StoredNodes(self))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

struct StoredNodes<'a>(&'a Session);

impl Serialize for StoredNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.stored_nodes().map(|slot| (&*slot.id, write_node(slot))))
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
