//! Repair of invalid links, in memory; each is reported.
//!
//! Afterwards, all well-formed nodes are below the root. `parentId` takes priority over lists of children.

use crate::Phrase;
use crate::phrase;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::codes;
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic};
use crate::fix::Fix;
use crate::persist::Reader;
use crate::session::linear::{free_root_id, root};
use crate::session::links::{Links, StoredLinks};
use crate::session::nodes::{Nodes, Position, Slot, UNKNOWN_DEPTH};
use crate::session::{ActiveLeaf, Node, NodeId};
use crate::wording::excerpt;

pub(super) struct Tree {
    pub(super) root_id: NodeId,
    pub(super) leaf: ActiveLeaf,
    pub(super) is_branch_known: bool,
}

pub(super) fn repair(nodes: &mut Nodes, root: Option<&str>, leaf: Option<&str>, reader: &mut Reader) -> Tree {
    let order: Vec<usize> = nodes.indexes().filter(|index| is_sound(nodes, *index)).collect();
    let mut repair = Repair { nodes, reader, root: 0, order, hung: BTreeSet::new() };
    repair.repair_ids();
    repair.repair_root(root);
    repair.repair_parents();
    repair.break_cycles();
    repair.repair_children();
    repair.repair_selections();
    repair.measure_depths();
    let leaf = repair.repair_leaf(leaf);
    let root_id = repair.id(repair.root);
    let is_branch_known = is_branch_selected(repair.nodes, &leaf.id);
    Tree { root_id, leaf, is_branch_known }
}

fn is_sound(nodes: &Nodes, index: usize) -> bool {
    nodes.slot(index).is_some_and(|slot| !slot.node.is_malformed())
}

fn is_branch_selected(nodes: &Nodes, leaf: &str) -> bool {
    let way = std::iter::successors(nodes.get(leaf), |slot| nodes.parent(slot));
    way.zip(std::iter::successors(nodes.get(leaf), |slot| nodes.parent(slot)).skip(1))
        .all(|(child, above)| above.node.last_selected_child_id.as_ref() == Some(&child.id))
}

struct Repair<'a> {
    nodes: &'a mut Nodes,
    reader: &'a mut Reader,
    root: usize,
    /// Nodes that are not malformed, in file order.
    order: Vec<usize>,
    hung: BTreeSet<usize>,
}

impl Repair<'_> {
    fn repair_ids(&mut self) {
        for index in self.order.clone() {
            let Some(slot) = self.nodes.slot(index) else { continue };
            let key = slot.id.clone();
            let own = slot.node.id.clone();
            if own.as_ref() == Some(&key) {
                // Share one string among all references.
                self.change(index, |node| node.id = Some(key));
                continue;
            }
            if let Some(own) = own {
                let is_used = self.nodes.index(&own).is_some();
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
            self.repair(index, |node| node.id = Some(key));
        }
    }

    /// Priority: the named root, the first blank node without a parent, a new root.
    fn repair_root(&mut self, named: Option<&str>) {
        let index = named.and_then(|id| self.nodes.index(id)).filter(|index| is_sound(self.nodes, *index));
        if let Some(index) = index {
            self.root = index;
            self.clear_parent_of_root();
            return;
        }
        let is_blank = |node: &Node| node.content.as_ref().is_none_or(Content::is_blank);
        let is_root = |slot: &Slot| slot.node.parent_id.is_none() && is_blank(&slot.node);
        let found = self.order.iter().copied().find(|index| self.nodes.slot(*index).is_some_and(is_root));
        self.root = found.unwrap_or_else(|| {
            let id = free_root_id(|id| self.nodes.index(id).is_some());
            self.nodes.insert(id.clone(), root(&id), StoredLinks::NotStored, Position::First)
        });
        // Keep the file's value even if no link changes.
        self.repair(self.root, |_| {});
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
        let parent = self.nodes.slot(self.root).and_then(|slot| slot.node.parent_id.clone());
        if let Some(parent) = parent {
            let message = phrase!("the root has parent `{parent}`; it is ignored", parent = excerpt(&parent));
            let diagnostic = Diagnostic::error(codes::BROKEN_LINK, message).with_fix(Fix::value(Value::Null));
            self.report_as(diagnostic, self.root, "parentId");
            self.repair(self.root, |node| node.parent_id = None);
        }
    }

    fn repair_parents(&mut self) {
        for index in self.order.clone() {
            if index == self.root {
                continue;
            }
            let named = self.nodes.slot(index).and_then(|slot| slot.node.parent_id.clone());
            let parent = named.as_deref().and_then(|id| self.nodes.index(id));
            match parent.filter(|parent| *parent != index && is_sound(self.nodes, *parent)) {
                Some(parent) => {
                    let id = self.id(parent);
                    self.change(index, |node| node.parent_id = Some(id));
                    self.set_parent(index, parent);
                }
                None if parent == Some(index) => {
                    self.hang_below_root(index, codes::CYCLIC_PARENTS, &phrase!("it is its own parent"));
                }
                None => self.hang_below_root(index, codes::BROKEN_LINK, &missing_parent(named.as_deref())),
            }
        }
    }

    /// Moves the first node of each cycle, in file order, below the root.
    fn break_cycles(&mut self) {
        // 0 is unvisited; otherwise the number of the walk.
        let mut seen = vec![0_usize; self.nodes.capacity()];
        for (walk, start) in self.order.clone().into_iter().enumerate() {
            let walk = walk + 1;
            let mut index = start;
            while let Some(mark) = seen.get_mut(index).filter(|mark| **mark == 0) {
                *mark = walk;
                let Some(parent) = self.nodes.slot(index).and_then(|slot| slot.parent) else { break };
                index = parent;
            }
            let is_circle = seen.get(index) == Some(&walk);
            if is_circle && self.nodes.slot(index).is_some_and(|slot| slot.parent.is_some()) {
                let first = self.first_of_circle(index);
                self.hang_below_root(first, codes::CYCLIC_PARENTS, &phrase!("its parents form a cycle"));
            }
        }
    }

    fn first_of_circle(&self, start: usize) -> usize {
        let above = |index: &usize| self.nodes.slot(*index)?.parent.filter(|parent| *parent != start);
        // After reading a file, slots are numbered in file order.
        std::iter::successors(Some(start), above).min().unwrap_or(start)
    }

    fn hang_below_root(&mut self, index: usize, code: Code, fault: &Phrase) {
        let root_id = self.id(self.root);
        let message =
            phrase!("node `{index}`: {fault}; it is moved below the root", index = self.name(index), fault);
        self.report(code, index, "parentId", message);
        self.repair(index, |node| node.parent_id = Some(root_id));
        self.set_parent(index, self.root);
        self.hung.insert(index);
    }

    fn repair_children(&mut self) {
        let mut is_listed = vec![false; self.nodes.capacity()];
        for index in self.with_root() {
            self.repair_children_of(index, &mut is_listed);
        }
        for index in self.order.clone() {
            let parent = self.nodes.slot(index).and_then(|slot| slot.parent);
            let Some(parent) = parent.filter(|_| is_listed.get(index) == Some(&false)) else { continue };
            if !self.hung.contains(&index) {
                let (parent_name, name) = (self.name(parent), self.name(index));
                let message =
                    phrase!("`{parent}` does not list its child `{name}`", parent = parent_name, name);
                self.report(codes::BROKEN_LINK, parent, "childrenIds", message);
            }
            let child = self.id(index);
            self.repair(parent, |node| node.children_ids.push(child));
        }
    }

    fn repair_children_of(&mut self, index: usize, is_listed: &mut [bool]) {
        let Some(slot) = self.nodes.slot(index) else { return };
        let named = slot.node.children_ids.clone();
        let mut sound = Vec::with_capacity(named.len());
        for id in &named {
            match self.child(index, id, is_listed) {
                Ok(child) => sound.push(self.id(child)),
                Err(fault) => {
                    let (name, child) = (self.name(index), excerpt(id));
                    let message = phrase!(
                        "node `{name}` lists the child `{child}`, which {fault}",
                        name,
                        child,
                        fault = Phrase::from(fault)
                    );
                    self.report(codes::BROKEN_LINK, index, "childrenIds", message);
                }
            }
        }
        if sound.len() == named.len() {
            self.change(index, |node| node.children_ids = sound);
        } else {
            self.repair(index, |node| node.children_ids = sound);
        }
    }

    fn child(&self, parent: usize, id: &str, is_listed: &mut [bool]) -> Result<usize, &'static str> {
        let child = self.nodes.index(id).filter(|child| is_sound(self.nodes, *child));
        let child = child.ok_or("does not exist")?;
        if self.nodes.slot(child).and_then(|slot| slot.parent) != Some(parent) {
            return Err("has another parent");
        }
        match is_listed.get_mut(child).map(|mark| std::mem::replace(mark, true)) {
            Some(false) => Ok(child),
            _ => Err("it lists twice"),
        }
    }

    fn repair_selections(&mut self) {
        for index in self.with_root() {
            let selected = self.nodes.slot(index).and_then(|slot| slot.node.last_selected_child_id.clone());
            let Some(selected) = selected else { continue };
            let child = self.nodes.get(&selected).filter(|child| child.parent == Some(index));
            if let Some(id) = child.map(|child| child.id.clone()) {
                self.change(index, |node| node.last_selected_child_id = Some(id));
                continue;
            }
            let message = phrase!(
                "the last shown branch `{selected}` is not a child of the node",
                selected = excerpt(&selected)
            );
            let diagnostic = Diagnostic::info(codes::BROKEN_LINK, message).with_fix(Fix::value(Value::Null));
            self.report_as(diagnostic, index, "lastSelectedChildId");
            self.repair(index, |node| node.last_selected_child_id = None);
        }
    }

    fn measure_depths(&mut self) {
        let mut above = Vec::new();
        for index in self.with_root() {
            let mut next = Some(index);
            let mut depth = 0;
            while let Some(slot) = next.and_then(|index| self.nodes.slot(index)) {
                if slot.depth != UNKNOWN_DEPTH {
                    depth = slot.depth + 1;
                    break;
                }
                above.extend(next);
                next = slot.parent;
            }
            while let Some(slot) = above.pop().and_then(|index| self.nodes.slot_mut(index)) {
                slot.depth = depth;
                depth += 1;
            }
        }
    }

    fn repair_leaf(&mut self, named: Option<&str>) -> ActiveLeaf {
        if let Some(slot) = named.and_then(|id| self.nodes.sound(id)) {
            return ActiveLeaf { id: slot.id.clone(), is_repair: false };
        }
        let end = self.nodes.slot(self.root).map(|root| self.nodes.leaf_below(root).id.clone());
        let id = end.unwrap_or_else(|| self.id(self.root));
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

    fn with_root(&self) -> Vec<usize> {
        let made = Some(self.root).filter(|root| !self.order.contains(root));
        made.into_iter().chain(self.order.iter().copied()).collect()
    }

    fn name(&self, index: usize) -> String {
        excerpt(&self.id(index)).into_owned()
    }

    fn id(&self, index: usize) -> NodeId {
        self.nodes.slot(index).map(|slot| slot.id.clone()).unwrap_or_default()
    }

    fn set_parent(&mut self, index: usize, parent: usize) {
        if let Some(slot) = self.nodes.slot_mut(index) {
            slot.parent = Some(parent);
        }
    }

    /// For changes that do not affect the written JSON.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Node)) {
        if let Some(slot) = self.nodes.slot_mut(index) {
            change(&mut slot.node);
        }
    }

    /// Changes links in memory only; the file keeps its links.
    fn repair(&mut self, index: usize, change: impl FnOnce(&mut Node)) {
        let Some(slot) = self.nodes.slot_mut(index) else { return };
        if slot.stored_links == StoredLinks::AsIs {
            slot.stored_links = StoredLinks::Repaired(Box::new(Links::from_node(&slot.node)));
        }
        change(&mut slot.node);
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
