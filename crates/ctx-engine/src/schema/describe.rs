use schemars::Schema;
use schemars::transform::transform_subschemas;
use serde_json::Value;

pub(super) fn plain(schema: &mut Schema) {
    if let Some(Value::String(docs)) = schema.get_mut("description") {
        *docs = text_of(docs);
    }
    // The memory width of a number does not matter in a file.
    schema.remove("format");
    transform_subschemas(&mut (plain as fn(&mut Schema)), schema);
}

fn text_of(docs: &str) -> String {
    let mut paragraphs = vec![String::new()];
    let mut is_example = false;
    for line in docs.lines().map(str::trim) {
        if line.starts_with("```") {
            is_example = !is_example;
        }
        let is_text = !is_example && !line.starts_with("```");
        match paragraphs.last_mut() {
            Some(last) if is_text && !line.is_empty() => {
                let gap = if last.is_empty() { "" } else { " " };
                last.extend([gap, line]);
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    without_links(&paragraphs.join("\n\n"))
}

/// Replaces ``[`Item`](path)`` by `` `Item` ``.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        plain.push_str(before);
        let Some((name, after)) = link.split_once("`]") else {
            plain.push_str("[`");
            rest = link;
            continue;
        };
        plain.extend(["`", name, "`"]);
        rest = match after.strip_prefix('(').and_then(|path| path.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(docs: &str, expected: &str) {
        assert_eq!(text_of(docs), expected);
    }

    #[test]
    fn joins_lines_within_paragraphs() {
        check(
            " One line\n and another.\n\n A second\n paragraph.\n",
            "One line and another.\n\nA second paragraph.",
        );
    }

    #[test]
    fn removes_examples_and_links() {
        check(
            "As [`Kind`](crate::Kind) and [`Other`] say.\n\n```\nlet a = 1;\n```\n",
            "As `Kind` and `Other` say.",
        );
        check("A list [`a", "A list [`a");
    }
}
