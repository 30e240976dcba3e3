//! Texts required by every match.

use crate::ast::Node;
use crate::code_set::CodeSet;

const MAX_LITERALS: usize = 16;

/// Shorter texts occur nearly everywhere.
const MIN_LENGTH: usize = 2;

const MAX_LENGTH: usize = 64;

const MAX_MEMBERS: usize = 8;

/// One of these texts occurs in the lower-case form of every match. Empty if unknown. O(n).
pub(crate) fn find(root: &Node) -> Vec<Box<str>> {
    let required_literals = find_in_node(root).unwrap_or_default();
    let are_long = required_literals.iter().all(|literal| literal.len() >= MIN_LENGTH);
    if are_long { required_literals.into_iter().map(String::into_boxed_str).collect() } else { Vec::new() }
}

/// The parser limits the recursion depth.
fn find_in_node(node: &Node) -> Option<Vec<String>> {
    match node {
        Node::Char(_) | Node::Set(_) => Some(vec![lower(node)?]),
        Node::Group(body) | Node::Capture { body, .. } => find_in_node(body),
        Node::Repeat(repeat) if repeat.min > 0 => find_in_node(&repeat.body),
        Node::Sequence(nodes) => find_in_sequence(nodes),
        Node::Alternatives(nodes) => find_in_alternatives(nodes),
        _ => None,
    }
}

/// Prefers the candidate whose shortest text is longest.
fn find_in_sequence(nodes: &[Node]) -> Option<Vec<String>> {
    let mut best: Option<Vec<String>> = None;
    let mut run = String::new();
    let mut offer = |required_literals: Vec<String>| {
        if length(&required_literals) > best.as_deref().map_or(0, length) {
            best = Some(required_literals);
        }
    };
    for node in nodes {
        if let Some(letter) = lower(node) {
            if run.len() < MAX_LENGTH {
                run.push_str(&letter);
            }
            continue;
        }
        offer(vec![std::mem::take(&mut run)]);
        find_in_node(node).into_iter().for_each(&mut offer);
    }
    offer(vec![run]);
    best
}

fn find_in_alternatives(nodes: &[Node]) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for node in nodes {
        all.extend(find_in_node(node)?);
        if all.len() > MAX_LITERALS {
            return None;
        }
    }
    Some(all)
}

fn length(required_literals: &[String]) -> usize {
    required_literals.iter().map(String::len).min().unwrap_or_default()
}

fn lower(node: &Node) -> Option<String> {
    match node {
        Node::Char(c) => lower_char(*c),
        Node::Set(set) => lower_set(set),
        _ => None,
    }
}

fn lower_set(set: &CodeSet) -> Option<String> {
    if set.len() > MAX_MEMBERS {
        return None;
    }
    let mut members = set.ranges().iter().flat_map(|(first, last)| *first..=*last);
    let first = lower_char(char::from_u32(members.next()?)?)?;
    let are_equal = members.all(|code| char::from_u32(code).and_then(lower_char).as_ref() == Some(&first));
    are_equal.then_some(first)
}

fn lower_char(c: char) -> Option<String> {
    // A capital sigma depends on its context.
    (c != 'Σ').then(|| c.to_lowercase().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Limits, parser};

    #[track_caller]
    fn check(pattern: &str, flags: &str, expected: &[&str]) {
        let flags = Flags::parse(flags).unwrap();
        let parsed = parser::parse(pattern, flags, &Limits::default()).unwrap();
        assert_eq!(
            find(&parsed.root).iter().map(|literal| &**literal).collect::<Vec<_>>(),
            expected,
            "{pattern}"
        );
    }

    #[test]
    fn requires_longest_run_of_characters() {
        check("dragon", "", &["dragon"]);
        check(r"\bDragons?\b", "", &["dragon"]);
        check("a.*dragon[0-9]x", "", &["dragon"]);
        check("巨?龙", "", &["龙"]);
    }

    #[test]
    fn ignores_case() {
        check("Dragon", "i", &["dragon"]);
        check("kite", "iu", &["kite"]);
        check("moss", "iu", &["mo"]);
        check("ΣΑΣ", "", &["α"]);
    }

    #[test]
    fn requires_one_literal_per_alternative() {
        check("(?:cat|dogs)!", "", &["cat", "dogs"]);
        check("drag(on|oon)", "", &["drag"]);
        check("cat|d", "", &[]);
        check("cat|.*", "", &[]);
        check("(?:abc){2,}|xyz", "", &["abc", "xyz"]);
    }

    #[test]
    fn omits_optional_literals() {
        check("(?:cat)?", "", &[]);
        check("(?:cat)*d", "", &[]);
        check("[a-z]+", "", &[]);
        check("(?!cat)x.", "", &[]);
    }
}
