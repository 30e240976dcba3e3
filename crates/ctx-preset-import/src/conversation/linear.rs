//! Lists of messages that become sessions without branches.

use ctx_types::{Diagnostic, Node, Persist, Reader, Session, SessionHeader};
use serde_json::{Map, Value, json};

use crate::conversation::Placed;
use crate::document::BadLine;
use crate::format::Format;
use crate::imported::{Imported, Moved, relocate};
use crate::kept;

/// The messages of a conversation on their way into a session.
#[derive(Debug)]
pub(super) struct Messages {
    format: Format,
    /// Where the list stands in the document, as a JSON pointer.
    place: &'static str,
    nodes: Vec<Node>,
    /// The index in the list of each node.
    indexes: Vec<usize>,
    /// What stands around the list, and where.
    file: Map<String, Value>,
    file_place: String,
    /// The index in the list of what stands around it, if it was there.
    header: Option<usize>,
    /// Findings, with pointers from the list.
    reader: Reader,
}

impl Messages {
    pub(super) fn new(format: Format, file: Map<String, Value>, place: &'static str) -> Self {
        let (nodes, indexes, file_place) = (Vec::new(), Vec::new(), String::new());
        Self { format, place, nodes, indexes, file, file_place, header: None, reader: Reader::new() }
    }

    /// Returns which items became what.
    pub(super) fn placed(&self) -> Placed {
        Placed { messages: self.indexes.clone(), header: self.header }
    }

    /// Takes an item of the list for what other forms have around it.
    pub(super) fn set_file(&mut self, index: usize, item: Map<String, Value>) {
        let around = std::mem::replace(&mut self.file, item);
        kept::add(&mut self.file, around);
        self.file_place = format!("{}/{index}", self.place);
        self.header = Some(index);
    }

    /// Adds a message; its `repair` brings the keys of a foreign object into ours.
    ///
    /// What is no object becomes a malformed node, which is kept and takes no part.
    pub(super) fn push(
        &mut self,
        index: usize,
        item: Value,
        repair: impl FnOnce(Map<String, Value>, &mut Reader) -> Map<String, Value>,
    ) {
        let node = self.reader.at_index(index, |reader| {
            let item = match item {
                Value::Object(map) => Value::Object(repair(map, reader)),
                other => other,
            };
            Node::read(item, reader)
        });
        self.nodes.push(node);
        self.indexes.push(index);
    }

    /// Reports a finding about a message.
    pub(super) fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        self.reader.at_index(index, |reader| reader.report(diagnostic));
    }

    /// Chains the messages, and keeps what stood around them in the session's header.
    pub(super) fn finish(self, name: &str, bad_lines: Vec<BadLine>) -> Imported<Session> {
        let mut diagnostics = self.reader.finish();
        let (mut session, found) = Session::linear(file_stem(name), self.nodes);
        diagnostics.extend(found.into_iter().map(|finding| from_node(finding, &self.indexes)));
        let (header, mut of_file) = header(self.file, bad_lines, file_stem(name));
        session.header = header;
        relocate(&mut diagnostics, &[Moved { ours: "", theirs: self.place }]);
        relocate(&mut of_file, &[Moved { ours: "", theirs: &self.file_place }]);
        of_file.append(&mut diagnostics);
        Imported { value: session, format: self.format, diagnostics: of_file }
    }
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

fn header(
    mut file: Map<String, Value>,
    bad_lines: Vec<BadLine>,
    name: &str,
) -> (SessionHeader, Vec<Diagnostic>) {
    let mut aside = Map::new();
    for key in TREE_KEYS {
        kept::displace(&mut file, key, &mut aside);
    }
    if !bad_lines.is_empty() {
        let lines = bad_lines.into_iter().map(|bad| json!({ "line": bad.number, "text": bad.text }));
        aside.insert("badLines".to_owned(), lines.collect());
    }
    kept::add(&mut file, aside);
    let unnamed = file.get("id").is_none_or(Value::is_null);
    let mut reader = Reader::new();
    let mut header = SessionHeader::read(Value::Object(file), &mut reader);
    if unnamed {
        header.id = Some(name.into());
    }
    (header, reader.finish())
}

/// Names a conversation after its file: the name without folders and ending.
fn file_stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.').map_or(file, |(stem, _)| stem) {
        "" => "conversation",
        stem => stem,
    }
}
