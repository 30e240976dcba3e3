use crate::ast::Node;

/// Detects `(?!)`, `[]`, `a^`, and patterns that require them. O(n · nesting).
pub(crate) fn is_unsatisfiable(root: &Node, is_multiline: bool) -> bool {
    frequency(root, is_multiline) == Frequency::Never
}

/// Frequency of matches, including the empty text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Frequency {
    Never,
    Sometimes,
    Always,
}

/// The parser limits the recursion depth.
fn frequency(node: &Node, is_multiline: bool) -> Frequency {
    let each = |node| frequency(node, is_multiline);
    match node {
        Node::Set(set) if set.is_empty() => Frequency::Never,
        Node::Char(_)
        | Node::Set(_)
        | Node::Start
        | Node::End
        | Node::WordBoundary { .. }
        | Node::Backreference(_) => Frequency::Sometimes,
        Node::Group(body) | Node::Capture { body, .. } => frequency(body, is_multiline),
        Node::Look { body, negated, .. } => match frequency(body, is_multiline) {
            Frequency::Never if *negated => Frequency::Always,
            Frequency::Always if *negated => Frequency::Never,
            body => body,
        },
        Node::Repeat(repeat) if repeat.min == 0 => Frequency::Always,
        Node::Repeat(repeat) => frequency(&repeat.body, is_multiline),
        Node::Sequence(nodes) if !is_multiline && leaves_text(nodes) => Frequency::Never,
        Node::Sequence(nodes) => nodes.iter().map(each).min().unwrap_or(Frequency::Always),
        Node::Alternatives(nodes) => nodes.iter().map(each).max().unwrap_or(Frequency::Never),
    }
}

/// Whether a character must precede the start or follow the end.
fn leaves_text(nodes: &[Node]) -> bool {
    let (mut is_behind_character, mut is_at_end) = (false, false);
    for node in nodes {
        let is_character = !node.width().empty;
        if (is_behind_character && is_edge(node, &Node::Start)) || (is_at_end && is_character) {
            return true;
        }
        is_behind_character |= is_character;
        is_at_end |= is_edge(node, &Node::End);
    }
    false
}

fn is_edge(node: &Node, edge: &Node) -> bool {
    match node {
        Node::Group(body) | Node::Capture { body, .. } => is_edge(body, edge),
        Node::Sequence(nodes) => {
            nodes.iter().all(|node| !node.width().some) && nodes.iter().any(|node| is_edge(node, edge))
        }
        Node::Alternatives(nodes) => nodes.iter().all(|node| is_edge(node, edge)),
        node => std::mem::discriminant(node) == std::mem::discriminant(edge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Limits, parser};

    #[track_caller]
    fn check(pattern: &str, flags: &str, expected: bool) {
        let flags = Flags::parse(flags).unwrap();
        let parsed = parser::parse(pattern, flags, &Limits::default()).unwrap();
        assert_eq!(is_unsatisfiable(&parsed.root, flags.contains(Flags::MULTILINE)), expected, "{pattern}");
    }

    #[test]
    fn detects_unsatisfiable_parts_anywhere() {
        for pattern in [
            "(?!)",
            "a(?!)",
            "(?:x|y)(?!)z",
            "(?<!)",
            "(?!|a)",
            "(?!a*)",
            "(?!(?=))",
            "((?!))+b",
            "(?:(?!)){2}",
            "(?!)|[]",
            "[]",
            "a[]b",
            "(?=[])",
            "(?=(?!))",
            "(?!(?![]))",
            "(?!(?:))",
            r"\b(?!)\b",
            "(?!x{0})",
        ] {
            check(pattern, "", true);
        }
    }

    #[test]
    fn detects_characters_outside_the_text() {
        for pattern in ["a^", "$a", "(a)(^)b", "x+?^", "(?:$)b?c", "(?<=a^)b", "(?=$b)"] {
            check(pattern, "", true);
            check(pattern, "m", false);
        }
    }

    #[test]
    fn accepts_satisfiable_patterns() {
        for pattern in [
            "",
            "a",
            "(?!)|a",
            "(?:(?!))?a",
            "(?:(?!))*",
            "(?!a)b",
            "(?!a)",
            "(?=)",
            "[^]",
            "a?^",
            "$b?",
            "(?!a|b)",
            r"(?!\b)",
            "(?![])",
            r"(a)\1",
            "(?<!a)",
            "^a$",
            "(?!(?!))",
            "(?!^)",
            "(?:^|a)b",
            "a(?:^|b)",
        ] {
            check(pattern, "", false);
        }
    }
}
