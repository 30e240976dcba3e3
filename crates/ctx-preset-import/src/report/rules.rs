//! Rules that say of the fields of a format what becomes of them, and their application to a document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use ctx_types::pointer_step;
use serde_json::Value;

use super::fields::Said;
use super::{Expect, Extent, FieldReports, FieldStatus};
use crate::record::Record;

/// What becomes of the fields at some pointers.
///
/// In `at`, `*` stands for any one step, and a last step `**` for any number of them. Each `*` of `to` is the step
/// that the same `*` of `at` stands for, and so is `**`; a `to` of [`SAME`] is the same place as in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    at: &'static str,
    expect: Expect,
    status: FieldStatus,
    to: &'static str,
    /// Whether there is a `*` in `to`.
    has_steps: bool,
    note: Option<&'static str>,
}

/// The same place as in the document, seen from where the rules were linked.
pub(crate) const SAME: &str = "=";

/// A field that is mapped.
pub(crate) const fn mapped(at: &'static str, expect: Expect, to: &'static str) -> Rule {
    rule(at, expect, FieldStatus::Mapped, to, None)
}

/// A field that means nearly the same here.
pub(crate) const fn approximated(at: &'static str, to: &'static str, note: &'static str) -> Rule {
    rule(at, Expect::Any, FieldStatus::Approximated, to, Some(note))
}

/// A field that is kept, with the reason why it is no more than that.
pub(crate) const fn kept(at: &'static str, note: &'static str) -> Rule {
    rule(at, Expect::Any, FieldStatus::Kept, "", Some(note))
}

const fn rule(
    at: &'static str,
    expect: Expect,
    status: FieldStatus,
    to: &'static str,
    note: Option<&'static str>,
) -> Rule {
    let mut has_steps = false;
    let mut index = 0;
    while index < to.len() {
        has_steps |= to.as_bytes()[index] == b'*';
        index += 1;
    }
    Rule { at, expect, status, to, has_steps, note }
}

impl Rule {
    /// The rule for values of one kind only.
    pub(crate) const fn of(self, expect: Expect) -> Self {
        Self { expect, ..self }
    }
}

/// What is said of a field that has another value than its rule is for.
pub(crate) const NOT_READ: &str = "no value that means something there";

/// What is said of a field that is kept nowhere.
pub(crate) const NOWHERE: &str = "something else stands for it";

/// The rules of a format.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSet {
    root: Step,
}

/// The rules that agree in the steps so far.
#[derive(Clone, Debug, Default)]
struct Step {
    /// By their [`rank`]s, and then by their names.
    named: Vec<(&'static str, Step)>,
    /// The ranks of those, in one place, so that hardly a name has to be read to find one.
    ranks: Vec<u32>,
    linked: BTreeMap<String, Link>,
    linked_any: Option<Link>,
    any: Option<Box<Step>>,
    here: Option<Rule>,
    below: Option<Rule>,
}

/// Rules for what stands at one place, with the places where that goes.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    rules: Rc<RuleSet>,
    /// Where that goes; none if where it went without the link.
    to: Option<String>,
    keeping: Keeping,
    /// What an importer recorded, which says all instead of the rules.
    record: Option<Rc<Record>>,
}

/// Where fields that are kept are.
#[derive(Clone, Debug)]
enum Keeping {
    /// As without the link.
    Same,
    /// Below a place.
    At(String),
}

impl Link {
    /// Rules whose `to` are below a place.
    pub(crate) fn new(rules: &Rc<RuleSet>, to: impl Into<String>) -> Self {
        Self { rules: Rc::clone(rules), to: Some(to.into()), keeping: Keeping::Same, record: None }
    }

    /// Rules for what stays where it stood.
    pub(crate) fn here(rules: RuleSet) -> Self {
        Self { rules: Rc::new(rules), to: None, keeping: Keeping::Same, record: None }
    }

    /// What an importer recorded of what stands there.
    pub(crate) fn recorded(record: Record) -> Self {
        Self { record: Some(Rc::new(record)), ..Self::here(RuleSet::default()) }
    }

    /// The same, where fields that are kept are so below another place than those of the document.
    pub(crate) fn keeping_at(self, place: impl Into<String>) -> Self {
        Self { keeping: Keeping::At(place.into()), ..self }
    }
}

impl RuleSet {
    /// Puts rules together; of two for the same pointers the first holds, and a named step before any other.
    pub(crate) fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut set = Self::default();
        set.add(rules);
        set
    }

    /// Adds rules, which hold where no earlier one does.
    pub(crate) fn add(&mut self, rules: impl IntoIterator<Item = Rule>) {
        for rule in rules {
            let step = self.root.at(rule.at.trim_end_matches("/**"));
            let place = if rule.at.ends_with("/**") { &mut step.below } else { &mut step.here };
            place.get_or_insert(rule);
        }
    }

    /// Says that fields of what stands at a pointer, and all below them, stand where they stood.
    pub(crate) fn same(&mut self, at: &'static str, keys: &[&'static str]) {
        for key in keys {
            self.below(at, key, mapped("", Expect::Any, SAME));
        }
    }

    /// Adds a rule for a field of what stands at a pointer, and for all below it.
    pub(crate) fn below(&mut self, at: &'static str, key: &'static str, rule: Rule) {
        self.root.at(at).named_mut(key).below.get_or_insert(rule);
    }

    /// Adds a rule for a field of what stands at a pointer.
    pub(crate) fn field(&mut self, at: &'static str, key: &'static str, rule: Rule) {
        self.root.at(at).named_mut(key).here.get_or_insert(rule);
    }

    /// Has rules of their own for one field of what stands at a pointer; they hold before all others.
    pub(crate) fn link(&mut self, at: &'static str, key: impl Into<String>, link: Link) {
        self.root.at(at).linked.insert(key.into(), link);
    }

    /// Has rules of their own for all fields or items that have no link.
    pub(crate) fn link_any(&mut self, link: Link) {
        self.root.linked_any = Some(link);
    }

    /// Has one rule for one field of what stands at a pointer, and for all below it.
    pub(crate) fn single(&mut self, at: &'static str, key: impl Into<String>, rule: Rule) {
        let root = Step { here: Some(rule), below: Some(rule), ..Step::default() };
        self.root.at(at).linked.insert(key.into(), Link::here(Self { root }));
    }

    /// Makes a row for each leaf of a document; what no rule is for is kept below `kept_at`. O(leaves).
    ///
    /// What becomes of the others stands below `to`. There is room for rows that were counted before.
    pub(crate) fn rows(&self, document: &Value, to: &str, kept_at: &str, extent: Extent) -> FieldReports {
        let mut walk = Walk {
            way: Way::default(),
            place: Place { start: 0, to, kept_start: 0, kept_at },
            rows: FieldReports::with_room(extent),
        };
        walk.visit(document, Some(&self.root), None);
        walk.rows
    }
}

impl Step {
    fn at(&mut self, pointer: &'static str) -> &mut Self {
        let mut step = self;
        for name in pointer.split('/').skip(1) {
            step = match name {
                "*" => step.any.get_or_insert_default(),
                name => step.named_mut(name),
            };
        }
        step
    }

    fn named(&self, name: &str) -> Option<&Self> {
        self.named.get(self.position(name).ok()?).map(|(_, step)| step)
    }

    fn linked(&self, key: &str) -> Option<&Link> {
        self.linked.get(key).or(self.linked_any.as_ref())
    }

    fn named_mut(&mut self, name: &'static str) -> &mut Self {
        let at = self.position(name).unwrap_or_else(|at| {
            self.named.insert(at, (name, Self::default()));
            self.ranks.insert(at, rank(name));
            at
        });
        &mut self.named[at].1
    }

    /// Finds where a name is, or else where it would be.
    fn position(&self, name: &str) -> Result<usize, usize> {
        let rank = rank(name);
        let start = self.ranks.partition_point(|other| *other < rank);
        let equal = self.ranks[start..].iter().take_while(|other| **other == rank).count();
        let found = self.named[start..start + equal].binary_search_by(|(other, _)| (*other).cmp(name));
        found.map(|at| start + at).map_err(|at| start + at)
    }
}

/// Returns by what names are ordered: their lengths, first and last bytes, in which those of a format mostly differ.
fn rank(name: &str) -> u32 {
    let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
    let end = |byte: Option<&u8>| byte.copied().unwrap_or_default();
    let bytes = name.as_bytes();
    u32::from(length) << 16 | u32::from(end(bytes.first())) << 8 | u32::from(end(bytes.last()))
}

/// Tells whether a leaf holds nothing.
pub(crate) fn is_empty(leaf: &Value) -> bool {
    match leaf {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
        // Lists and objects are leaves where nothing is in them.
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Where a link leads.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// How long the pointer was at the link.
    start: usize,
    to: &'a str,
    /// How long the pointer was where `kept_at` began to hold.
    kept_start: usize,
    /// The place below which fields are kept.
    kept_at: &'a str,
}

/// The way to a field.
#[derive(Default)]
struct Way {
    pointer: String,
    /// The steps that stand for `*` so far: where the pointer has them.
    steps: Vec<(usize, usize)>,
}

impl Way {
    /// Returns the pointer from a byte on.
    fn from(&self, start: usize) -> &str {
        self.pointer.get(start..).unwrap_or_default()
    }
}

/// A walk over the leaves of a document.
struct Walk<'a> {
    way: Way,
    place: Place<'a>,
    rows: FieldReports,
}

/// The rules one step further.
#[derive(Clone, Copy)]
struct Next<'a> {
    step: Option<&'a Step>,
    /// Whether the step stands for `*`.
    is_any: bool,
    below: Option<Below<'a>>,
}

impl<'a> Next<'a> {
    fn of(step: Option<&'a Step>, key: &str, below: Option<Below<'a>>) -> Self {
        let named = step.and_then(|step| step.named(key));
        let any = step.and_then(|step| step.any.as_deref()).filter(|_| named.is_none());
        Self { step: named.or(any), is_any: any.is_some(), below }
    }
}

/// A rule for everything below a place, and how long the pointer was there.
type Below<'a> = (&'a Rule, usize);

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &Value, step: Option<&'a Step>, below: Option<Below<'a>>) {
        let here = step.and_then(|step| Some((step.below.as_ref()?, self.way.pointer.len())));
        let below = here.or(below);
        let before = self.way.pointer.len();
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    self.way.pointer.push('/');
                    self.way.pointer.push_str(&pointer_step(key));
                    let linked = step.and_then(|step| step.linked(key));
                    self.enter(before, value, linked, Next::of(step, key, below));
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    // Writing into a string never fails.
                    let _ = write!(self.way.pointer, "/{index}");
                    let key = self.way.from(before + 1);
                    let linked = step.and_then(|step| step.linked(key));
                    let next = Next::of(step, key, below);
                    self.enter(before, value, linked, next);
                }
            }
            leaf => {
                let here =
                    step.and_then(|step| step.here.as_ref()).map(|rule| (rule, self.way.pointer.len()));
                self.leaf(leaf, here.or(below));
            }
        }
    }

    /// Looks at what the pointer leads to, by a link if there is one, and goes back to where it was.
    fn enter(&mut self, before: usize, value: &Value, linked: Option<&'a Link>, next: Next<'a>) {
        if let Some(link) = linked {
            self.follow(link, value);
        } else {
            if next.is_any {
                self.way.steps.push((before + 1, self.way.pointer.len()));
            }
            self.visit(value, next.step, next.below);
            if next.is_any {
                self.way.steps.pop();
            }
        }
        self.way.pointer.truncate(before);
    }

    fn follow(&mut self, link: &'a Link, value: &Value) {
        if let Some(record) = &link.record {
            record.write(value, &mut self.way.pointer, "", &mut self.rows);
            return;
        }
        let (place, start) = (self.place, self.way.pointer.len());
        let (to_start, to) = link.to.as_deref().map_or((place.start, place.to), |to| (start, to));
        let (kept_start, kept_at) = match &link.keeping {
            Keeping::Same => (place.kept_start, place.kept_at),
            Keeping::At(kept_at) => (start, kept_at.as_str()),
        };
        self.place = Place { start: to_start, to, kept_start, kept_at };
        let steps = std::mem::take(&mut self.way.steps);
        self.visit(value, Some(&link.rules.root), None);
        self.way.steps = steps;
        self.place = place;
    }

    fn leaf(&mut self, value: &Value, rule: Option<Below<'_>>) {
        let (way, place, is_empty) = (&self.way, self.place, is_empty(value));
        if let Some(rule) = rule.filter(|(rule, _)| rule.expect.fits(value)) {
            let (&Rule { status, note, .. }, _) = rule;
            self.rows.push(&way.pointer, Said { status, note, is_sure: false, is_empty }, |text| {
                place.write(text, way, rule)
            });
        } else {
            let note = rule.map(|_| NOT_READ);
            let said = Said { status: FieldStatus::Kept, note, is_sure: false, is_empty };
            self.rows.push(&way.pointer, said, |text| place.write_kept(text, way));
        }
    }
}

impl Place<'_> {
    /// Writes where a field is kept.
    fn write_kept(&self, text: &mut String, way: &Way) -> bool {
        text.push_str(self.kept_at);
        text.push_str(way.from(self.kept_start));
        true
    }

    /// Writes where a rule says that a field goes, if that is anywhere.
    fn write(&self, text: &mut String, way: &Way, (rule, below): Below<'_>) -> bool {
        match rule.status {
            FieldStatus::Unsupported => return false,
            FieldStatus::Kept => return self.write_kept(text, way),
            FieldStatus::Mapped | FieldStatus::Approximated => {}
        }
        text.push_str(self.to);
        if rule.to == SAME {
            text.push_str(way.from(self.start));
            return true;
        }
        if !rule.has_steps {
            if !rule.to.is_empty() && !rule.to.starts_with('/') {
                text.push('/');
            }
            text.push_str(rule.to);
            return true;
        }
        let mut steps = way.steps.iter().filter_map(|(start, end)| way.pointer.get(*start..*end));
        for step in rule.to.trim_start_matches('/').split('/').filter(|step| !step.is_empty()) {
            if step == "**" {
                text.push_str(way.from(below));
                continue;
            }
            text.push('/');
            text.push_str(if step == "*" { steps.next().unwrap_or("*") } else { step });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::FieldReport;
    use super::*;

    #[track_caller]
    fn check(document: &Value, expected: &[&str]) {
        let rules = RuleSet::new([
            mapped("/name", Expect::Text, "/title"),
            approximated("/list/*/x", "/items/*/y", "rounded"),
            kept("/own/**", "of another application"),
            mapped("/whole/**", Expect::Any, "/there/**"),
        ]);
        let rows = rules.rows(document, "", "/imported", Extent::default());
        let row = |row: FieldReport<'_>| format!("{} {} {}", row.pointer, row.status, row.to.unwrap_or("-"));
        assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn linked_rules_say_where_things_go_from_there() {
        let mut rules = RuleSet::default();
        let mut entry = RuleSet::new([mapped("/keys/*", Expect::Text, "/key/*"), kept("/odd", "odd")]);
        entry.same("", &["text"]);
        rules.link("/list", "1", Link::new(&Rc::new(entry), "/book/7").keeping_at("/book/7/imported"));
        let document =
            json!({ "list": [{ "text": "a" }, { "keys": ["k", 1], "odd": 1, "text": { "b": 1 } }] });
        let rows = rules.rows(&document, "", "/imported", Extent::default());
        let row = |row: FieldReport<'_>| format!("{} {}", row.pointer, row.to.unwrap_or("-"));
        let expected = [
            "/list/0/text /imported/list/0/text",
            "/list/1/keys/0 /book/7/key/0",
            "/list/1/keys/1 /book/7/imported/keys/1",
            "/list/1/odd /book/7/imported/odd",
            "/list/1/text/b /book/7/text/b",
        ];
        assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_leaf_has_one_row_by_the_rule_for_its_pointer() {
        check(
            &json!({ "name": "a", "list": [{ "x": 1 }, {}] }),
            &["/name mapped /title", "/list/0/x approximated /items/0/y", "/list/1 kept /imported/list/1"],
        );
        check(&json!({ "name": 1 }), &["/name kept /imported/name"]);
        check(
            &json!({ "own": { "a~/b": [] }, "whole": { "p": [{ "q": 1 }] } }),
            &["/own/a~0~1b kept /imported/own/a~0~1b", "/whole/p/0/q mapped /there/p/0/q"],
        );
        check(&json!("text"), &[" kept /imported"]);
    }
}
