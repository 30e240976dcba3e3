//! Texts in blocks of YAML, `|` and `>`: how one is written in the place of another one.

use std::ops::Range;

use ctx_preset_import::Document;

/// Returns the bytes of a text in a block: from its sign to the end of its last line. The value is known to begin at
/// `start`, or to be led in right before it. None if it is no block, or begins with more than its sign.
///
/// Blank lines below belong to it only where its sign keeps them (`|+`).
pub fn block_range(source: &str, start: usize) -> Option<Range<usize>> {
    let rest = source.get(start..)?;
    let sign = if rest.starts_with(SIGNS) {
        start
    } else {
        let before = source.get(..start)?.trim_end().trim_end_matches(CHOMPS);
        before.len().checked_sub(1).filter(|_| before.ends_with(SIGNS))?
    };
    let (head, lines) = source.get(sign..)?.split_once('\n')?;
    let chomp = head.get(1..)?.trim_end();
    let is_known = chomp.is_empty() || (chomp.len() == 1 && chomp.starts_with(CHOMPS));
    let mut indent = None;
    let (mut end, mut at) = (None, sign + head.len() + 1);
    for line in lines.split_inclusive('\n') {
        let is_blank = line.trim_matches([' ', '\r', '\n']).is_empty();
        if !is_blank && indent_of(line) < *indent.get_or_insert(indent_of(line).max(1)) {
            break;
        }
        at += line.len();
        if !is_blank || chomp == "+" {
            end = Some(at);
        }
    }
    // An empty text is a line of blanks, which say how far a text would be indented.
    let blanks =
        lines.split_inclusive('\n').next().filter(|line| line.starts_with(' ') && line.trim().is_empty());
    let empty = blanks.filter(|_| end.is_none()).map(|line| sign + head.len() + 1 + line.len());
    end.or(empty).filter(|_| is_known).map(|end| sign..end)
}

/// Writes another text as a block of the same kind and indentation, or returns `None` where such a block cannot hold it;
/// `old` is what [`block_range`] names, and has to say `was`.
pub fn block_written(old: &str, was: &str, new: &str) -> Option<String> {
    let (head, lines) = old.split_once('\n')?;
    let line_end = if head.ends_with('\r') { "\r\n" } else { "\n" };
    let (sign, chomp) = head.trim_end().split_at_checked(1)?;
    let texts = lines.lines().find(|line| !line.trim().is_empty());
    let indent = texts.or(lines.lines().next()).map(indent_of).filter(|indent| *indent > 0)?;
    let (said, chomp) = match new.strip_suffix('\n') {
        None => (new, "-"),
        Some(said) if chomp == "+" => (said, chomp),
        Some(said) => (said, ""),
    };
    let mut written = format!("{sign}{chomp}{line_end}");
    let mut is_first = true;
    for line in said.split('\n') {
        // A break between two lines of a folded text is a blank; one line more is a break.
        if sign == ">" && !is_first && !line.is_empty() {
            written.push_str(line_end);
        }
        is_first = false;
        if !line.is_empty() || said.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent));
            written.push_str(line);
        }
        written.push_str(line_end);
    }
    // At the end of a file the last line may have no end.
    let is_open = !old.ends_with('\n');
    let is_held = says(&format!("{old}{}", if is_open { line_end } else { "" }), was) && says(&written, new);
    if is_open && chomp == "-" {
        written.truncate(written.len() - line_end.len());
    }
    is_held.then_some(written)
}

const SIGNS: [char; 2] = ['|', '>'];

const CHOMPS: [char; 2] = ['-', '+'];

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns whether a block says a text wherever it stands.
fn says(block: &str, text: &str) -> bool {
    let read = Document::read(format!("- {block}- end\n").as_bytes(), "a.yaml");
    read.is_ok_and(|read| read.value == serde_json::json!([text, "end"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what stands in a source in the place of its one block; `-` if a block cannot say the new text.
    #[track_caller]
    fn check(source: &str, new: &str, expected: &str) {
        let read = Document::read(source.as_bytes(), "a.yaml").unwrap();
        let was = read.value["a"].as_str().unwrap().to_owned();
        let range = block_range(source, source.find(['|', '>']).unwrap()).unwrap();
        let Some(written) = block_written(&source[range.clone()], &was, new) else {
            return assert_eq!("-", expected);
        };
        let result = [&source[..range.start], &written, &source[range.end..]].concat();
        assert_eq!(result, expected);
        let read = Document::read(result.as_bytes(), "a.yaml").unwrap();
        assert_eq!(read.value["a"], new);
    }

    #[test]
    fn lines_are_replaced_and_blank_ones_below_stay() {
        check("a: |\n    x\n\n    y\n\n\nb: 1\n", "x\n\nz\n", "a: |\n    x\n\n    z\n\n\nb: 1\n");
        check("a: |-\r\n  x\r\n\r\nb: 1\r\n", "y\nz", "a: |-\r\n  y\r\n  z\r\n\r\nb: 1\r\n");
        check("a: |\n  x\n # no part of it\nb: 1\n", "y\n", "a: |\n  y\n # no part of it\nb: 1\n");
    }

    #[test]
    fn the_sign_says_how_the_text_ends() {
        check("a: |\n  x\n\nb: 1\n", "y", "a: |-\n  y\n\nb: 1\n");
        check("a: |-\n  x\n", "y\n", "a: |\n  y\n");
        check("a: |-\n  x", "y\nz", "a: |-\n  y\n  z");
        check("a: |-\n  x", "y\n", "a: |\n  y\n");
        check("a: |+\n  x\n\n\nb: 1\n", "x\n\n", "a: |+\n  x\n\nb: 1\n");
        check("a: |\n  x\n", "x\n\n", "-");
    }

    #[test]
    fn an_empty_text_keeps_its_indentation() {
        check("a: |\n   x\n\nb: 1\n", "", "a: |-\n   \n\nb: 1\n");
        check("a: |-\n   \n\nb: 1\n", "y\nz", "a: |-\n   y\n   z\n\nb: 1\n");
    }

    #[test]
    fn folded_texts_stay_folded() {
        check("a: >-\n  one\n  two\n\nb: 1\n", "one two three", "a: >-\n  one two three\n\nb: 1\n");
        check("a: >\n  one\n", "one\ntwo\n\nthree\n", "a: >\n  one\n\n  two\n\n\n  three\n");
        check("a: >\n  one\n", "one\n two\n", "-");
    }

    #[test]
    fn what_needs_another_form_is_not_written() {
        check("a: |\n  x\n", " led by a blank\n", "-");
        check("a: |\n  x\n", "a carriage\rreturn\n", "-");
    }
}
