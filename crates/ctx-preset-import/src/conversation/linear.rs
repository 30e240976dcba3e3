//! Lists of messages that become sessions without branches.

use std::collections::BTreeSet;

use ctx_types::internal::pointer_step;
use ctx_types::session::{Node, Session, SessionHeader};
use ctx_types::{Diagnostic, Persist, Reader};
use serde_json::{Map, Value, json};

use crate::conversation::Placed;
use crate::document::BadLine;
use crate::format::{Format, stem};
use crate::imported::{Imported, Moved, relocate};
use crate::kept;

/// The messages of a conversation on their way into a session.
#[derive(Debug)]
pub(super) struct Messages {
    format: Format,
    /// Where the list stands in the document, as a JSON pointer.
    place: &'static str,
    nodes: Vec<Node>,
    placed: Placed,
    /// What stands around the list, and where.
    file: Map<String, Value>,
    file_place: String,
    /// Findings, with pointers from the list.
    reader: Reader,
}

impl Messages {
    pub(super) fn new(format: Format, file: Map<String, Value>, place: &'static str) -> Self {
        let (file_place, reader) = (String::new(), Reader::new());
        Self { format, place, nodes: Vec::new(), placed: Placed::default(), file, file_place, reader }
    }

    /// Takes an item of the list for what other forms have around it.
    pub(super) fn set_file(&mut self, index: usize, item: Map<String, Value>) {
        self.file_place = format!("{}/{index}", self.place);
        self.placed.header = Some(index);
        let around = std::mem::replace(&mut self.file, item);
        self.keep("", around);
    }

    /// Keeps parts of the file that stand at a place beside what stands around the list.
    fn keep(&mut self, place: &str, aside: Map<String, Value>) {
        let kept = &mut self.placed.kept;
        let known = kept.len();
        kept.extend(aside.keys().map(|key| kept_at(place, key)));
        if kept::add(&mut self.file, aside) {
            kept.iter_mut().take(known).for_each(|(_, to)| to.insert_str(0, "/imported"));
            kept.push(kept_at(&self.file_place, kept::IMPORTED));
        }
    }

    /// Adds a message; its `repair` brings the keys of a foreign object into ours.
    ///
    /// What is no object becomes a malformed node, which is kept and takes no part.
    pub(super) fn push(
        &mut self,
        index: usize,
        item: Value,
        repair: impl FnOnce(Message, &mut Reader) -> Message,
    ) {
        let mut read = ReadFields::default();
        let node = self.reader.at_index(index, |reader| {
            let item = match item {
                Value::Object(map) => {
                    let message = repair(Message { map, ..Message::default() }, reader);
                    let (map, fields) = message.finish();
                    read = fields;
                    Value::Object(map)
                }
                other => other,
            };
            Node::read(item, reader)
        });
        self.nodes.push(node);
        self.placed.messages.push(index);
        if !read.moved.is_empty() || !read.kept.is_empty() {
            self.placed.fields.push((index, read));
        }
    }

    /// Reports a finding about a message.
    pub(super) fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        self.reader.at_index(index, |reader| reader.report(diagnostic));
    }

    /// Returns the messages and the diagnostics.
    pub(super) fn into_nodes(self) -> (Vec<Node>, Vec<Diagnostic>) {
        let mut diagnostics = self.reader.finish();
        relocate(&mut diagnostics, &[Moved { ours: "", theirs: self.place }]);
        (self.nodes, diagnostics)
    }

    /// Chains the messages, and keeps the fields around them in the session's header.
    pub(super) fn finish(mut self, name: &str, bad_lines: Vec<BadLine>) -> (Imported<Session>, Placed) {
        self.keep_tree(bad_lines);
        let name = match stem(name) {
            "" => "conversation",
            stem => stem,
        };
        let mut diagnostics = self.reader.finish();
        let (mut session, found) = Session::linear(name, self.nodes);
        let messages = &self.placed.messages;
        diagnostics.extend(found.into_iter().map(|finding| from_node(finding, messages)));
        let (header, mut of_file) = header(self.file, name);
        session.header = header;
        relocate(&mut diagnostics, &[Moved { ours: "", theirs: self.place }]);
        relocate(&mut of_file, &[Moved { ours: "", theirs: &self.file_place }]);
        of_file.append(&mut diagnostics);
        (Imported { value: session, format: self.format, diagnostics: of_file }, self.placed)
    }

    /// Moves aside what the tree writes, and keeps lines that are no objects.
    fn keep_tree(&mut self, bad_lines: Vec<BadLine>) {
        let mut aside = Map::new();
        for key in TREE_KEYS {
            kept::displace(&mut self.file, key, &mut aside);
        }
        if !bad_lines.is_empty() {
            let lines = bad_lines.into_iter().map(|bad| json!({ "line": bad.number, "text": bad.text }));
            aside.insert("badLines".to_owned(), lines.collect());
        }
        let place = self.file_place.clone();
        self.keep(&place, aside);
    }
}

/// What the reader of a message did with its fields; all others stay where they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadFields {
    /// The fields that went to another place of the node, with that place.
    pub(crate) moved: Vec<(&'static str, &'static str)>,
    /// Where something stands that is kept elsewhere, and where in the node that is.
    pub(crate) kept: Vec<(String, String)>,
}

/// A foreign message on its way into a node.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) map: Map<String, Value>,
    /// What is kept beside it.
    aside: Map<String, Value>,
    fields: ReadFields,
}

impl Message {
    /// Moves a field aside.
    pub(super) fn displace(&mut self, key: &str) {
        kept::displace(&mut self.map, key, &mut self.aside);
    }

    /// Sets a field; what is there already is moved aside.
    pub(super) fn replace(&mut self, key: &str, value: Value) {
        if let Some(foreign) = self.map.insert(key.to_owned(), value) {
            self.aside.insert(key.to_owned(), foreign);
        }
    }

    /// Keeps items of a field that stand at these places below it.
    pub(super) fn keep_items(&mut self, key: &str, items: Vec<(String, Value)>) {
        let (places, items): (Vec<String>, Vec<Value>) = items.into_iter().unzip();
        let places = places.into_iter().enumerate();
        let kept = |(number, below)| (format!("/{key}{below}"), format!("/imported/{key}/{number}"));
        self.fields.kept.extend(places.map(kept));
        if !items.is_empty() {
            self.aside.insert(key.to_owned(), Value::Array(items));
        }
    }

    /// Records that a field went to another place of the node.
    pub(super) fn note_move(&mut self, from: &'static str, to: &'static str) {
        self.fields.moved.push((from, to));
    }

    fn finish(self) -> (Map<String, Value>, ReadFields) {
        let Self { mut map, aside, mut fields } = self;
        let known = fields.kept.iter().filter_map(|(from, _)| from.split('/').nth(1));
        let known: BTreeSet<&str> = known.collect();
        let is_kept = |key: &str| known.contains(key);
        let kept: Vec<_> = aside.keys().filter(|key| !is_kept(key)).map(|key| kept_at("", key)).collect();
        fields.kept.extend(kept);
        if kept::add(&mut map, aside) {
            fields.kept.push(kept_at("", kept::IMPORTED));
        }
        (map, fields)
    }
}

/// Returns where a field of an object that stands at a place is, and where it is below the object when it was moved aside.
pub(super) fn kept_at(place: &str, key: &str) -> (String, String) {
    let key = pointer_step(key);
    (format!("{place}/{key}"), format!("/imported/{key}"))
}

/// Points a finding about the n-th node at its message.
fn from_node(mut finding: Diagnostic, indexes: &[usize]) -> Diagnostic {
    let pointer = finding.location.pointer.as_deref().and_then(|pointer| pointer.strip_prefix('/'));
    if let Some(pointer) = pointer {
        let (node, below) = pointer
            .split_once('/')
            .map_or((pointer, String::new()), |(node, below)| (node, format!("/{below}")));
        let index = node.parse().ok().and_then(|node: usize| indexes.get(node));
        finding.location.pointer = index.map(|index| format!("/{index}{below}"));
    }
    finding
}

/// Keys of a session's file that the tree writes.
pub(super) const TREE_KEYS: [&str; 3] = ["nodes", "rootNodeId", "activeLeafId"];

fn header(file: Map<String, Value>, name: &str) -> (SessionHeader, Vec<Diagnostic>) {
    let unnamed = file.get("id").is_none_or(Value::is_null);
    let mut reader = Reader::new();
    let mut header = SessionHeader::read(Value::Object(file), &mut reader);
    if unnamed {
        header.id = Some(name.into());
    }
    (header, reader.finish())
}
