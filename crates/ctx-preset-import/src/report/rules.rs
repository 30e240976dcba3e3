//! Rules that say of the fields of a format what becomes of them, and their application to a document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{FieldReport, FieldStatus};

/// What becomes of the fields at some pointers.
///
/// In `at`, `*` stands for any one step, and a last step `**` for any number of them. Each `*` of `to` is the step
/// that the same `*` of `at` stands for, and so is `**`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    at: &'static str,
    expect: Expect,
    status: FieldStatus,
    to: &'static str,
    note: Option<&'static str>,
}

/// What a field must be for its rule to hold; null always does, and means that the field is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Any,
    Text,
    /// A number, or a text that is one.
    Number,
    Flag,
    /// An empty list, since others are no leaves.
    List,
}

/// A field that is mapped.
pub(crate) const fn mapped(at: &'static str, expect: Expect, to: &'static str) -> Rule {
    Rule { at, expect, status: FieldStatus::Mapped, to, note: None }
}

/// A field that means nearly the same here.
pub(crate) const fn approximated(at: &'static str, to: &'static str, note: &'static str) -> Rule {
    Rule { at, expect: Expect::Any, status: FieldStatus::Approximated, to, note: Some(note) }
}

/// A field that is kept, with the reason why it is no more than that.
pub(crate) const fn kept(at: &'static str, note: &'static str) -> Rule {
    Rule { at, expect: Expect::Any, status: FieldStatus::Kept, to: "", note: Some(note) }
}

/// The rules of a format.
#[derive(Debug, Default)]
pub(crate) struct RuleSet {
    root: Step,
}

/// The rules that agree in the steps so far.
#[derive(Debug, Default)]
struct Step {
    named: BTreeMap<&'static str, Step>,
    any: Option<Box<Step>>,
    here: Option<Rule>,
    below: Option<Rule>,
}

impl RuleSet {
    /// Puts rules together; of two for the same pointers the first holds, and a named step before any other.
    pub(crate) fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut set = Self::default();
        for rule in rules {
            let mut step = &mut set.root;
            let mut is_below = false;
            for name in rule.at.split('/').skip(1) {
                match name {
                    "**" => is_below = true,
                    "*" => step = step.any.get_or_insert_default(),
                    name => step = step.named.entry(name).or_default(),
                }
            }
            if is_below {
                step.below.get_or_insert(rule);
            } else {
                step.here.get_or_insert(rule);
            }
        }
        set
    }

    /// Makes a row for each leaf of a document; what no rule is for is kept below `kept_at`. O(leaves).
    pub(crate) fn rows(&self, document: &Value, kept_at: &str) -> Vec<FieldReport> {
        let mut walk = Walk { pointer: String::new(), steps: Vec::new(), kept_at, rows: Vec::new() };
        walk.visit(document, Some(&self.root), None);
        walk.rows
    }
}

/// A walk over the leaves of a document.
struct Walk<'a> {
    pointer: String,
    /// The steps that stand for `*` so far.
    steps: Vec<String>,
    kept_at: &'a str,
    rows: Vec<FieldReport>,
}

/// The rules one step further.
#[derive(Clone, Copy)]
struct Next<'a> {
    step: Option<&'a Step>,
    /// Whether the step stands for `*`.
    is_any: bool,
    below: Option<Below>,
}

impl<'a> Next<'a> {
    fn of(step: Option<&'a Step>, key: &str, below: Option<Below>) -> Self {
        let named = step.and_then(|step| step.named.get(key));
        let any = step.and_then(|step| step.any.as_deref()).filter(|_| named.is_none());
        Self { step: named.or(any), is_any: any.is_some(), below }
    }
}

/// A rule for everything below a place, and how long the pointer was there.
type Below = (Rule, usize);

impl Walk<'_> {
    fn visit(&mut self, value: &Value, step: Option<&Step>, below: Option<Below>) {
        let here = step.and_then(|step| Some((step.below?, self.pointer.len())));
        let below = here.or(below);
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    self.enter(&key.replace('~', "~0").replace('/', "~1"), value, Next::of(step, key, below));
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    let index = index.to_string();
                    self.enter(&index, value, Next::of(step, &index, below));
                }
            }
            leaf => {
                let here = step.and_then(|step| step.here).map(|rule| (rule, self.pointer.len()));
                self.leaf(leaf, here.or(below));
            }
        }
    }

    fn enter(&mut self, written: &str, value: &Value, next: Next<'_>) {
        let before = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(written);
        if next.is_any {
            self.steps.push(written.to_owned());
        }
        self.visit(value, next.step, next.below);
        if next.is_any {
            self.steps.pop();
        }
        self.pointer.truncate(before);
    }

    fn leaf(&mut self, value: &Value, rule: Option<Below>) {
        let fits = rule.filter(|(rule, _)| rule.expect.fits(value));
        let row = match (fits, rule) {
            (Some((rule, below)), _) => FieldReport {
                pointer: self.pointer.clone(),
                status: rule.status,
                to: self.target(rule, below),
                note: rule.note,
            },
            (None, rule) => FieldReport {
                pointer: self.pointer.clone(),
                status: FieldStatus::Kept,
                to: Some(format!("{}{}", self.kept_at, self.pointer)),
                note: rule.map(|_| "not of the type that the format has there"),
            },
        };
        self.rows.push(row);
    }

    fn target(&self, rule: Rule, below: usize) -> Option<String> {
        match rule.status {
            FieldStatus::Unsupported => return None,
            FieldStatus::Kept => return Some(format!("{}{}", self.kept_at, self.pointer)),
            FieldStatus::Mapped | FieldStatus::Approximated => {}
        }
        let mut target = String::with_capacity(rule.to.len() + 8);
        let mut steps = self.steps.iter();
        for step in rule.to.split('/').skip(1) {
            match step {
                "**" => target.push_str(self.pointer.get(below..).unwrap_or_default()),
                step => {
                    target.push('/');
                    target.push_str(if step == "*" {
                        steps.next().map_or("*", String::as_str)
                    } else {
                        step
                    });
                }
            }
        }
        Some(target)
    }
}

impl Expect {
    fn fits(self, value: &Value) -> bool {
        let is_number = |text: &str| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
        match self {
            Self::Any => true,
            _ if value.is_null() => true,
            Self::Text => value.is_string(),
            Self::Number => value.is_number() || value.as_str().is_some_and(is_number),
            Self::Flag => value.is_boolean(),
            Self::List => value.as_array().is_some_and(Vec::is_empty),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(document: &Value, expected: &[&str]) {
        let rules = RuleSet::new([
            mapped("/name", Expect::Text, "/title"),
            approximated("/list/*/x", "/items/*/y", "rounded"),
            kept("/own/**", "of another application"),
            mapped("/whole/**", Expect::Any, "/there/**"),
        ]);
        let rows = rules.rows(document, "/imported");
        let row = |row: &FieldReport| {
            format!("{} {} {}", row.pointer, row.status, row.to.as_deref().unwrap_or("-"))
        };
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
