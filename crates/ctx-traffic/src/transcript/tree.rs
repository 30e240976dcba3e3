//! The messages of a transcript on their way into a session.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ctx_preset_import::{RequestApi, take_request_messages};
use ctx_types::session::{Node, NodeId, NodeMetadata, Session};
use ctx_types::{Persist as _, Reader};
use serde_json::{Map, Value, json};

use super::Compaction;

/// Maximum number of messages that all summaries of a transcript hide.
const MAX_HIDDEN: usize = 4_000_000;

/// Messages with their parents.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) entries: Vec<Entry>,
    /// Entry whose newest descendant ends the active branch; by default the newest entry.
    pub(super) leaf: Option<usize>,
    compactions: Vec<FoundCompaction>,
    /// Compaction whose reminders still come.
    open: Option<usize>,
    hidden: usize,
    /// Whether the summaries hide too many messages. Further summaries are ordinary messages.
    pub(super) is_over_limit: bool,
}

/// One or more messages of a provider's API, from one record.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: Option<String>,
    pub(super) at: Option<String>,
    pub(super) parent: Option<usize>,
    pub(super) api: RequestApi,
    pub(super) items: Vec<Value>,
    pub(super) kind: EntryKind,
    /// Entries that this summary hides.
    hides: Vec<usize>,
    /// The compaction that wrote this summary.
    compaction: Option<usize>,
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EntryKind {
    #[default]
    Message,
    /// A message that the agent added by itself.
    Reminder,
    /// A message that is only shown to the user.
    Notice,
}

#[derive(Debug)]
struct FoundCompaction {
    entry: usize,
    kept: Vec<usize>,
    injected: Vec<usize>,
    facts: CompactionFacts,
}

/// Fields of a compaction record.
#[derive(Debug, Default)]
pub(super) struct CompactionFacts {
    pub(super) line: u64,
    pub(super) at: Option<String>,
    pub(super) trigger: Option<String>,
    pub(super) is_unreadable: bool,
}

impl Entry {
    pub(super) fn new(api: RequestApi, items: Vec<Value>) -> Self {
        let kind = EntryKind::default();
        Self { id: None, at: None, parent: None, api, items, kind, hides: Vec::new(), compaction: None }
    }

    pub(super) fn with(self, id: Option<&str>, at: Option<&str>) -> Self {
        Self { id: id.map(str::to_owned), at: at.map(str::to_owned), ..self }
    }

    pub(super) const fn is_summary(&self) -> bool {
        self.compaction.is_some()
    }

    pub(super) fn is_reply(&self) -> bool {
        let role = self.items.first().and_then(|item| item.get("role")?.as_str());
        matches!(role, Some("assistant" | "model"))
    }
}

impl Tree {
    /// Adds an entry whose parent is before it.
    pub(super) fn push(&mut self, entry: Entry) -> usize {
        let index = self.entries.len();
        match (self.open, entry.kind) {
            (Some(open), EntryKind::Reminder) => self.compactions[open].injected.push(index),
            (Some(_), EntryKind::Message) if entry.is_reply() => self.open = None,
            _ => {}
        }
        self.entries.push(entry);
        index
    }

    /// Returns the newest entry.
    pub(super) fn last(&self) -> Option<usize> {
        self.entries.len().checked_sub(1)
    }

    /// Adds a summary of the entries up to the end of a branch, without the kept entries. Returns the entry that the next
    /// one follows.
    ///
    /// If the kept entries are the last ones, the summary goes before them, where the agent sends it.
    pub(super) fn compact(
        &mut self,
        mut summary: Entry,
        end: Option<usize>,
        kept: Vec<usize>,
        facts: CompactionFacts,
    ) -> usize {
        let index = self.entries.len();
        let is_kept: HashSet<usize> = kept.iter().copied().collect();
        // Up to the summary before it, which hides the rest.
        let (mut above, mut at, mut older) = (Vec::new(), end, Vec::new());
        while let Some(entry) = at {
            above.push(entry);
            at = self.entries[entry].parent;
            if let Some(before) = self.entries[entry].compaction {
                older.clone_from(&self.compactions[before].kept);
                at = None;
            }
            self.hidden += 1 + older.len();
            if self.hidden > MAX_HIDDEN {
                self.is_over_limit = true;
                summary.parent = end;
                self.entries.push(summary);
                return index;
            }
        }
        let tail = above.iter().take_while(|entry| is_kept.contains(entry)).count();
        summary.parent = match tail.checked_sub(1) {
            Some(first) if tail == kept.len() => self.entries[above[first]].parent.replace(index),
            _ => end,
        };
        let mut seen = is_kept;
        summary.hides = older.into_iter().chain(above).filter(|entry| seen.insert(*entry)).collect();
        summary.compaction = Some(self.compactions.len());
        let next = end.filter(|_| tail > 0 && tail == kept.len()).unwrap_or(index);
        self.entries.push(summary);
        self.open = Some(self.compactions.len());
        self.compactions.push(FoundCompaction { entry: index, kept, injected: Vec::new(), facts });
        next
    }

    /// Makes the session.
    pub(super) fn finish(self, id: &str) -> (Session, Vec<Compaction>) {
        let Self { entries, leaf, compactions, .. } = self;
        let mut ids = FreeIds::default();
        let (mut nodes, mut spans) = (Vec::new(), Vec::with_capacity(entries.len()));
        let (mut parents, mut hides) = (Vec::with_capacity(entries.len()), HashMap::new());
        for (index, entry) in entries.into_iter().enumerate() {
            let start = nodes.len();
            parents.push(entry.parent);
            if !entry.hides.is_empty() {
                hides.insert(index, entry.hides);
            }
            let mut read = read_nodes(entry.api, entry.items);
            for (position, node) in read.iter_mut().enumerate() {
                let wanted = entry.id.as_deref().filter(|_| position == 0);
                node.id = Some(ids.take(wanted));
                node.timestamp = entry.at.as_deref().map(Arc::from);
                node.is_enabled = (entry.kind == EntryKind::Notice).then_some(false);
                if entry.compaction.is_some() {
                    let metadata = node.metadata.get_or_insert_with(Box::<NodeMetadata>::default);
                    metadata.is_compression_node = Some(position == 0);
                }
            }
            nodes.append(&mut read);
            spans.push(start..nodes.len());
        }
        // Entries without a node are passed over.
        let last_of = |mut entry: Option<usize>| loop {
            match entry {
                Some(index) if spans[index].is_empty() => entry = parents[index],
                other => return other.map(|index| spans[index].end - 1),
            }
        };
        let ids_of = |list: &[usize]| -> Vec<NodeId> {
            let indexes = list.iter().flat_map(|index| spans[*index].clone());
            indexes.filter_map(|node| nodes[node].id.clone()).collect()
        };
        let compactions: Vec<Compaction> = compactions
            .into_iter()
            .filter_map(|found| {
                Some(Compaction {
                    line: found.facts.line,
                    at: found.facts.at.map(Into::into),
                    trigger: found.facts.trigger.map(Into::into),
                    summary: ids_of(&[found.entry]).into_iter().next()?,
                    kept: ids_of(&found.kept),
                    injected: ids_of(&found.injected),
                    is_unreadable: found.facts.is_unreadable,
                })
            })
            .collect();
        let mut links = vec![None; nodes.len()];
        let mut lists: Vec<(usize, Vec<NodeId>)> = Vec::new();
        for (index, span) in spans.iter().enumerate() {
            for node in span.clone() {
                links[node] = if node == span.start { last_of(parents[index]) } else { Some(node - 1) };
            }
            if let Some(hidden) = hides.get(&index).filter(|_| !span.is_empty()) {
                lists.push((span.start, ids_of(hidden)));
            }
        }
        for (node, list) in lists {
            let metadata = nodes[node].metadata.get_or_insert_with(Box::<NodeMetadata>::default);
            metadata.compressed_node_ids = list;
        }
        let leaf = leaf.and_then(|leaf| last_of(Some(leaf)));
        (session(id, nodes, &links, leaf), compactions)
    }
}

/// Reads messages of an API.
fn read_nodes(api: RequestApi, items: Vec<Value>) -> Vec<Node> {
    let mut body = Map::from_iter([(api.messages_key().to_owned(), Value::Array(items))]);
    take_request_messages(&mut body, api).nodes
}

/// Links nodes into a session. The active branch ends with the newest descendant of `leaf`.
fn session(id: &str, nodes: Vec<Node>, parents: &[Option<usize>], leaf: Option<usize>) -> Session {
    if parents.iter().enumerate().all(|(index, parent)| *parent == index.checked_sub(1)) {
        return Session::linear(id, nodes).0;
    }
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.id.clone().expect("each node has an id")).collect();
    let taken: HashSet<&str> = ids.iter().map(|id| &**id).collect();
    let root = (0..=ids.len()).map(|number| format!("root-{number}")).find(|id| !taken.contains(id.as_str()));
    let root = root.expect("there are more names than nodes");
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len() + 1];
    for (index, parent) in parents.iter().enumerate() {
        children[parent.unwrap_or(nodes.len())].push(index);
    }
    let mut end = leaf.or(nodes.len().checked_sub(1));
    while let Some(child) = end.and_then(|end| children[end].last()) {
        end = Some(*child);
    }
    let links = |list: &[usize]| -> Vec<&NodeId> { list.iter().map(|child| &ids[*child]).collect() };
    let mut map = Map::with_capacity(nodes.len() + 1);
    map.insert(
        root.clone(),
        json!({ "id": root, "parentId": null, "childrenIds": links(&children[nodes.len()]), "role": "system",
            "content": "" }),
    );
    for (index, node) in nodes.iter().enumerate() {
        let mut value = node.write();
        value["parentId"] = json!(parents[index].map_or(root.as_str(), |parent| &*ids[parent]));
        value["childrenIds"] = json!(links(&children[index]));
        map.insert(ids[index].to_string(), value);
    }
    let leaf = end.map_or(root.as_str(), |end| &*ids[end]);
    let file = json!({ "id": id, "nodes": map, "rootNodeId": root, "activeLeafId": leaf });
    Session::read(file, &mut Reader::new())
}

/// Assigns unique ids.
#[derive(Default)]
struct FreeIds {
    taken: HashSet<NodeId>,
    number: usize,
}

impl FreeIds {
    fn take(&mut self, wanted: Option<&str>) -> NodeId {
        if let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty() && !self.taken.contains(*wanted)) {
            let id = NodeId::from(wanted);
            self.taken.insert(id.clone());
            return id;
        }
        loop {
            self.number += 1;
            let id = NodeId::from(format!("n{}", self.number));
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}
