//! Words in quotation marks.

use std::ops::Range;

/// The longest quotation that is told as one, in bytes.
const LONGEST: usize = 400;

/// Finds quotations with their marks, in the order of the text; `is_code` tells which bytes are code. O(bytes).
pub(super) fn quotes(text: &str, is_code: &dyn Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut before = None;
    let mut end = 0;
    // A mark that nothing closes is looked for once for each sign, not once for each mark.
    let mut closed_until = 0;
    for (at, c) in text.char_indices() {
        let close = closing(c).filter(|_| at >= end && !is_code(at) && at >= closed_until);
        if let Some(close) = close.filter(|close| *close != '"' || opens(text, at, before)) {
            match closed(text, at, c, close) {
                Some(until) => {
                    found.push(at..until);
                    end = until;
                }
                None if close != '"' => closed_until = at + c.len_utf8(),
                None => {}
            }
        }
        before = Some(c);
    }
    found
}

/// Returns the mark that ends what a mark begins.
const fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' => '"',
        '“' => '”',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        _ => return None,
    })
}

/// Returns whether a straight mark begins a quotation: it stands before a word and behind none.
fn opens(text: &str, at: usize, before: Option<char>) -> bool {
    let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
    let is_behind =
        before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '!' | '?' | '\\' | '='));
    next.is_some_and(|c| !c.is_whitespace() && !matches!(c, ',' | '.' | ';' | ':' | ')' | '"')) && !is_behind
}

/// Finds the end of a quotation, within one paragraph.
fn closed(text: &str, at: usize, open: char, close: char) -> Option<usize> {
    let inner = at + open.len_utf8();
    let mut depth = 0_usize;
    for (offset, c) in
        text.get(inner..)?.char_indices().take_while(|(offset, c)| *offset < LONGEST && *c != '\n')
    {
        if c == close && depth == 0 {
            let is_some =
                text.get(inner..inner + offset)?.chars().filter(|c| c.is_alphanumeric()).count() >= 2;
            return is_some.then_some(inner + offset + c.len_utf8());
        }
        if c == close {
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = quotes(text, &|_| false).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn quotations_have_marks_of_many_kinds() {
        check("He said \"come here\" and “go”.", &["\"come here\"", "“go”"]);
        check("《红楼梦》和「你好」", &["《红楼梦》", "「你好」"]);
        check("\"My name is X,\" says he, \"and I go.\"", &["\"My name is X,\"", "\"and I go.\""]);
    }

    #[test]
    fn inches_and_lone_marks_begin_none() {
        check("a 5\" pipe and a 6\" one", &[]);
        check("\"never closed\nnext line\"", &[]);
        check("“one\ntwo”", &[]);
    }
}
