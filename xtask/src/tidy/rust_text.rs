//! Rust source without what is no code, so that rules do not trip over prose and test data.

/// Blanks comments, strings and character literals; every line keeps its number.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hidden = hidden_length(rest, code.chars().next_back());
        let (blanked, after) = rest.split_at(hidden);
        code.extend(blanked.chars().map(|it| if it == '\n' { '\n' } else { ' ' }));
        rest = after;
        if hidden == 0 {
            code.push(first);
            rest = rest.split_at(first.len_utf8()).1;
        }
    }
    code
}

/// Returns whether a character can be part of a Rust identifier.
pub(super) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Measures the comment or literal that `rest` begins with, in bytes; 0 for code.
fn hidden_length(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    if rest.starts_with('"') {
        return quoted_length(rest, '"');
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    if before.is_some_and(is_word) { 0 } else { raw_string_length(rest) }
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let step = if tail.starts_with("/*") {
            depth += 1;
            2
        } else if tail.starts_with("*/") {
            depth -= 1;
            2
        } else {
            tail.chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Measures up to the closing quote that no backslash escapes.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if character == quote && !is_escaped {
            return at + character.len_utf8();
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    rest.len()
}

/// A quote begins a character literal or a lifetime; the latter is code.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted_length(rest, '\''),
        _ => 0,
    }
}

/// Measures `r"…"`, `r#"…"#` and so on, also with the prefixes `b` and `c`.
fn raw_string_length(rest: &str) -> usize {
    let Some(body) = rest.trim_start_matches(['b', 'c']).strip_prefix('r') else { return 0 };
    let hashes = body.len() - body.trim_start_matches('#').len();
    let prefix = rest.len() - body.len();
    let Some(content) = body.split_at(hashes).1.strip_prefix('"') else { return 0 };
    let end = format!("\"{}", "#".repeat(hashes));
    content.find(&end).map_or(rest.len(), |at| prefix + hashes + 1 + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::code_only;

    #[track_caller]
    fn check(text: &str, code: &str) {
        assert_eq!(code_only(text), code);
    }

    #[test]
    fn comments_are_blank_and_lines_stay() {
        check("a // b\nc /* d /* e\n */ f */ g", "a     \nc          \n         g");
    }

    #[test]
    fn strings_are_blank_whatever_they_hold() {
        check(r#"a("b\" // c", d)"#, "a(          , d)");
        check("a(r#\"b\" c\"#, d)", "a(         , d)");
        check(r#"a(br"\", b"c")"#, "a(     , b   )");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        check("fn r#a<'b>(c: &'b str) { '\"' }", "fn r#a<'b>(c: &'b str) {     }");
        check(r"('\'', '\\', 'é') ok", "(    ,     ,    ) ok");
    }

    #[test]
    fn an_open_end_hides_the_rest() {
        check("a \"b", "a   ");
        check("a /* b", "a     ");
        check("a r\"b", "a    ");
    }
}
