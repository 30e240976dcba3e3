//! Repair of invalid links, in memory; each is reported.
//!
//! Afterwards, all well-formed nodes are below the root. `parentId` takes priority over lists of children.

use crate::Phrase;
use crate::phrase;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::codes;
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic};
use crate::fix::Fix;
use crate::persist::Reader;
use crate::session::linear::{free_root_id, root};
use crate::session::nodes::{Nodes, Slot, UNKNOWN_DEPTH};
use crate::session::tree::Tree;
use crate::session::{ActiveLeaf, FileNode, Node, NodeId};
use crate::wording::excerpt;

/// Builds the tree of the nodes of a file: the slots after the first.
pub(super) fn repair(slots: Vec<Slot>, root: Option<&str>, leaf: Option<&str>, reader: &mut Reader) -> Tree {
    let indexes = slots.iter().enumerate().skip(1);
    let by_id = indexes.map(|(index, slot)| (slot.id.clone(), index)).collect();
    let mut repair = Repair { slots, by_id, reader, root: 0, hung: HashSet::new() };
    repair.repair_ids();
    repair.repair_root(root);
    repair.repair_parents();
    repair.break_cycles();
    repair.repair_children();
    repair.repair_selections();
    repair.measure_depths();
    let leaf = repair.repair_leaf(leaf);
    let Repair { slots, root, .. } = repair;
    let root_id = slots[root].id.clone();
    let is_root_missing = slots[root].file == FileNode::Missing;
    let mut nodes = Nodes::new(slots);
    if is_root_missing {
        nodes.move_to_start(root);
    }
    let is_branch_known = is_branch_selected(&nodes, &leaf.id);
    Tree { nodes, root_id, leaf, is_branch_known }
}

fn is_branch_selected(nodes: &Nodes, leaf: &str) -> bool {
    let mut way = std::iter::successors(nodes.get(leaf), |slot| nodes.parent(slot));
    way.all(|child| {
        let selects = |above: &Slot| above.node.last_selected_child_id.as_ref() == Some(&child.id);
        nodes.parent(child).is_none_or(selects)
    })
}

struct Repair<'a> {
    slots: Vec<Slot>,
    by_id: HashMap<NodeId, usize>,
    reader: &'a mut Reader,
    root: usize,
    /// Nodes that were moved below the root.
    hung: HashSet<usize>,
}

impl Repair<'_> {
    fn repair_ids(&mut self) {
        for index in self.sound_nodes() {
            let key = self.id(index);
            let own = self.node(index).id.clone();
            if own.as_ref() == Some(&key) {
                // Share one string among all references.
                self.node_mut(index).id = Some(key);
                continue;
            }
            if let Some(own) = own {
                let is_used = self.by_id.contains_key(&own);
                let whose = Phrase::from(if is_used { ", which belongs to another node" } else { "" });
                let message = phrase!(
                    "node `{key}` has the field `id` set to `{own}`{whose}; the key is used",
                    key = excerpt(&key),
                    own = excerpt(&own),
                    whose
                );
                let diagnostic = Diagnostic::error(codes::NODE_ID, message).with_fix(Fix::value(&*key));
                self.report_as(diagnostic, index, "id");
            }
            self.repair(index).id = Some(key);
        }
    }

    /// Priority: the named root, the first blank node without a parent, a new root.
    fn repair_root(&mut self, named: Option<&str>) {
        if let Some(index) = named.and_then(|id| self.sound(id)) {
            self.root = index;
            self.clear_parent_of_root();
            return;
        }
        let is_blank = |node: &Node| node.content.as_ref().is_none_or(Content::is_blank);
        let is_root = |index: &usize| {
            let node = self.node(*index);
            node.parent_id.is_none() && is_blank(node)
        };
        let found = self.sound_nodes().into_iter().find(is_root);
        self.root = found.unwrap_or(self.slots.len());
        if found.is_some() {
            // Keep the file's value even if no link changes.
            self.repair(self.root);
        } else {
            let id = free_root_id(|id| self.by_id.contains_key(id));
            self.by_id.insert(id.clone(), self.root);
            self.slots.push(Slot { file: FileNode::Missing, ..Slot::new(id.clone(), root(&id)) });
        }
        let used = self.name(self.root);
        let fault = if let Some(id) = named {
            phrase!("root `{id}` does not exist", id = excerpt(id))
        } else {
            phrase!("the session has no root")
        };
        let remedy = Phrase::from(if found.is_some() { "is used" } else { "is created in memory" });
        let message = phrase!("{fault}; `{used}` {remedy}", fault, used, remedy);
        let mut diagnostic = Diagnostic::error(codes::NO_ROOT, message);
        diagnostic.fix = found.map(|root| Box::new(Fix::value(&*self.id(root))));
        self.reader.at_key("rootNodeId", |reader| reader.report(diagnostic));
    }

    fn clear_parent_of_root(&mut self) {
        if let Some(parent) = self.node(self.root).parent_id.clone() {
            let message = phrase!("the root has parent `{parent}`; it is ignored", parent = excerpt(&parent));
            let diagnostic = Diagnostic::error(codes::BROKEN_LINK, message).with_fix(Fix::value(Value::Null));
            self.report_as(diagnostic, self.root, "parentId");
            self.repair(self.root).parent_id = None;
        }
    }

    fn repair_parents(&mut self) {
        for index in self.sound_nodes() {
            if index == self.root {
                continue;
            }
            let named = self.node(index).parent_id.clone();
            match named.as_deref().and_then(|id| self.sound(id)) {
                Some(parent) if parent == index => {
                    self.hang_below_root(index, codes::CYCLIC_PARENTS, &phrase!("it is its own parent"));
                }
                Some(parent) => {
                    self.node_mut(index).parent_id = Some(self.id(parent));
                    self.slots[index].parent = Some(parent);
                }
                None => self.hang_below_root(index, codes::BROKEN_LINK, &missing_parent(named.as_deref())),
            }
        }
    }

    /// Moves the first node of each cycle, in file order, below the root.
    fn break_cycles(&mut self) {
        // 0 is unvisited; otherwise the start of the walk.
        let mut seen = vec![0; self.slots.len()];
        for start in self.sound_nodes() {
            let mut index = start;
            while seen[index] == 0 {
                seen[index] = start;
                index = self.slots[index].parent.unwrap_or(index);
            }
            if seen[index] == start && self.slots[index].parent.is_some() {
                let above = |place: &usize| self.slots[*place].parent.filter(|parent| *parent != index);
                let first = std::iter::successors(Some(index), above).min().unwrap_or(index);
                self.hang_below_root(first, codes::CYCLIC_PARENTS, &phrase!("its parents form a cycle"));
            }
        }
    }

    fn hang_below_root(&mut self, index: usize, code: Code, fault: &Phrase) {
        let message =
            phrase!("node `{index}`: {fault}; it is moved below the root", index = self.name(index), fault);
        self.report(code, index, "parentId", message);
        self.repair(index).parent_id = Some(self.id(self.root));
        self.slots[index].parent = Some(self.root);
        self.hung.insert(index);
    }

    fn repair_children(&mut self) {
        let mut is_listed = vec![false; self.slots.len()];
        for index in self.sound_nodes() {
            self.repair_children_of(index, &mut is_listed);
        }
        for index in self.sound_nodes() {
            let Some(parent) = self.slots[index].parent.filter(|_| !is_listed[index]) else { continue };
            if !self.hung.contains(&index) {
                let (parent_name, name) = (self.name(parent), self.name(index));
                let message =
                    phrase!("`{parent}` does not list its child `{name}`", parent = parent_name, name);
                self.report(codes::BROKEN_LINK, parent, "childrenIds", message);
            }
            let child = self.id(index);
            self.repair(parent).children_ids.push(child);
        }
    }

    fn repair_children_of(&mut self, index: usize, is_listed: &mut [bool]) {
        let named = self.node(index).children_ids.clone();
        let mut sound = Vec::with_capacity(named.len());
        for id in &named {
            let child = self.sound(id);
            let fault = match child {
                None => "does not exist",
                Some(child) if self.slots[child].parent != Some(index) => "has another parent",
                Some(child) if std::mem::replace(&mut is_listed[child], true) => "it lists twice",
                Some(child) => {
                    sound.push(self.id(child));
                    continue;
                }
            };
            let (name, child) = (self.name(index), excerpt(id));
            let message = phrase!(
                "node `{name}` lists the child `{child}`, which {fault}",
                name,
                child,
                fault = Phrase::from(fault)
            );
            self.report(codes::BROKEN_LINK, index, "childrenIds", message);
        }
        let is_sound = sound.len() == named.len();
        let node = if is_sound { self.node_mut(index) } else { self.repair(index) };
        node.children_ids = sound;
    }

    fn repair_selections(&mut self) {
        for index in self.sound_nodes() {
            let Some(selected) = self.node(index).last_selected_child_id.clone() else { continue };
            let child = self.sound(&selected).filter(|child| self.slots[*child].parent == Some(index));
            if let Some(child) = child {
                self.node_mut(index).last_selected_child_id = Some(self.id(child));
                continue;
            }
            let message = phrase!(
                "the last shown branch `{selected}` is not a child of the node",
                selected = excerpt(&selected)
            );
            let diagnostic = Diagnostic::info(codes::BROKEN_LINK, message).with_fix(Fix::value(Value::Null));
            self.report_as(diagnostic, index, "lastSelectedChildId");
            self.repair(index).last_selected_child_id = None;
        }
    }

    fn measure_depths(&mut self) {
        self.slots[self.root].depth = 0;
        let mut below = Vec::new();
        for index in self.sound_nodes() {
            let mut next = index;
            while self.slots[next].depth == UNKNOWN_DEPTH {
                below.push(next);
                next = self.slots[next].parent.unwrap_or(self.root);
            }
            let mut depth = self.slots[next].depth;
            while let Some(index) = below.pop() {
                depth += 1;
                self.slots[index].depth = depth;
            }
        }
    }

    fn repair_leaf(&mut self, named: Option<&str>) -> ActiveLeaf {
        if let Some(leaf) = named.and_then(|id| self.sound(id)) {
            return ActiveLeaf { id: self.id(leaf), is_repair: false };
        }
        let selected = |index: &usize| self.sound(self.node(*index).selected_child_id()?);
        let id = self.id(std::iter::successors(Some(self.root), selected).last().unwrap_or(self.root));
        let fault = if let Some(named) = named {
            phrase!("active leaf `{id}` does not exist", id = excerpt(named))
        } else {
            phrase!("the session has no active leaf")
        };
        let used = excerpt(&id);
        let message = phrase!("{fault}; `{used}`, the leaf of the last shown branch, is used", fault, used);
        let diagnostic = Diagnostic::error(codes::DANGLING_LEAF, message).with_fix(Fix::value(&*id));
        self.reader.at_key("activeLeafId", |reader| reader.report(diagnostic));
        ActiveLeaf { id, is_repair: true }
    }

    /// Returns the nodes that are not malformed, in file order.
    fn sound_nodes(&self) -> Vec<usize> {
        (1..self.slots.len()).filter(|index| !self.node(*index).is_malformed()).collect()
    }

    fn sound(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied().filter(|index| !self.node(*index).is_malformed())
    }

    fn name(&self, index: usize) -> String {
        excerpt(&self.slots[index].id).into_owned()
    }

    fn id(&self, index: usize) -> NodeId {
        self.slots[index].id.clone()
    }

    fn node(&self, index: usize) -> &Node {
        &self.slots[index].node
    }

    /// For changes that do not affect the written JSON.
    fn node_mut(&mut self, index: usize) -> &mut Node {
        Arc::make_mut(&mut self.slots[index].node)
    }

    /// For changes in memory only; the file keeps its node.
    fn repair(&mut self, index: usize) -> &mut Node {
        let slot = &mut self.slots[index];
        if slot.file == FileNode::Same {
            slot.file = FileNode::Other(slot.node.clone());
        }
        Arc::make_mut(&mut slot.node)
    }

    fn report(&mut self, code: Code, index: usize, key: &str, message: Phrase) {
        self.report_as(Diagnostic::error(code, message), index, key);
    }

    fn report_as(&mut self, diagnostic: Diagnostic, index: usize, key: &str) {
        // A pointer costs the length of the id, and a node may have many errors.
        if self.reader.suppress(diagnostic.severity) {
            return;
        }
        let id = self.id(index);
        self.reader.at_key("nodes", |reader| {
            reader.at_key(&id, |reader| reader.at_key(key, |reader| reader.report(diagnostic)));
        });
    }
}

fn missing_parent(named: Option<&str>) -> Phrase {
    if let Some(id) = named {
        phrase!("its parent `{id}` does not exist", id = excerpt(id))
    } else {
        phrase!("it has no parent and is not the root")
    }
}
