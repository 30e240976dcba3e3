use crate::ast::Node;

/// Detects `(?!)`, `[]`, `a^`, and patterns that require them. O(n · nesting).
pub(crate) fn is_unsatisfiable(root: &Node, is_multiline: bool) -> bool {
    SatisfiabilityCheck { is_multiline }.is_unsatisfiable(root)
}

#[derive(Clone, Copy)]
struct SatisfiabilityCheck {
    is_multiline: bool,
}

impl SatisfiabilityCheck {
    /// The parser limits the recursion depth.
    fn is_unsatisfiable(self, node: &Node) -> bool {
        match node {
            Node::Set(set) => set.is_empty(),
            Node::Char(_) | Node::Start | Node::End | Node::WordBoundary { .. } | Node::Backreference(_) => {
                false
            }
            Node::Group(body) | Node::Capture { body, .. } => self.is_unsatisfiable(body),
            Node::Look { body, negated, .. } => {
                if *negated {
                    self.always(body)
                } else {
                    self.is_unsatisfiable(body)
                }
            }
            Node::Repeat(repeat) => repeat.min > 0 && self.is_unsatisfiable(&repeat.body),
            Node::Sequence(nodes) => {
                nodes.iter().any(|node| self.is_unsatisfiable(node)) || self.leaves_text(nodes)
            }
            Node::Alternatives(nodes) => nodes.iter().all(|node| self.is_unsatisfiable(node)),
        }
    }

    /// Possibly with the empty text.
    fn always(self, node: &Node) -> bool {
        match node {
            Node::Char(_)
            | Node::Set(_)
            | Node::Start
            | Node::End
            | Node::WordBoundary { .. }
            | Node::Backreference(_) => false,
            Node::Group(body) | Node::Capture { body, .. } => self.always(body),
            Node::Look { body, negated, .. } => {
                if *negated {
                    self.is_unsatisfiable(body)
                } else {
                    self.always(body)
                }
            }
            Node::Repeat(repeat) => repeat.min == 0 || self.always(&repeat.body),
            Node::Sequence(nodes) => nodes.iter().all(|node| self.always(node)),
            Node::Alternatives(nodes) => nodes.iter().any(|node| self.always(node)),
        }
    }

    /// Whether a character must precede the start or follow the end.
    fn leaves_text(self, nodes: &[Node]) -> bool {
        let (mut is_behind_character, mut is_at_end) = (false, false);
        for node in nodes.iter().filter(|_| !self.is_multiline) {
            let is_character = !node.width().empty;
            if (is_behind_character && is_edge(node, &Node::Start)) || (is_at_end && is_character) {
                return true;
            }
            is_behind_character |= is_character;
            is_at_end |= is_edge(node, &Node::End);
        }
        false
    }
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
