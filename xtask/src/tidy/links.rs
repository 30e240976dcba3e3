//! Links between documents lead somewhere, and the book has every page.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding};

/// The folder of the book; pages in it link to each other alone, so that the book is whole by itself.
const BOOK: &str = "docs/";

/// The page that lists all others.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks every link of every document, and that the summary lists each page of the book.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let documents: Vec<&File> = files.iter().filter(|file| is_document(file)).collect();
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents.iter().map(|file| (&*file.path, anchors(&file.text))).collect();
    let paths: BTreeSet<&str> = files.iter().map(|file| &*file.path).collect();
    let mut findings = Vec::new();
    let mut listed = BTreeSet::new();
    for file in &documents {
        for (line, target) in links(&file.text) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if path.is_empty() { file.path.clone() } else { resolved(&file.path, path) };
            if let Some(fault) = fault(&file.path, &path, anchor, &paths, &headings) {
                findings.push(Finding::at(&file.path, line, format!("the link `{target}` {fault}")));
            }
            if file.path == SUMMARY {
                listed.insert(path);
            }
        }
    }
    let pages = documents.iter().filter(|file| file.path.starts_with(BOOK) && file.path != SUMMARY);
    let missing = pages.filter(|page| paths.contains(SUMMARY) && !listed.contains(&page.path));
    findings.extend(missing.map(|page| Finding::of(&page.path, format!("`{SUMMARY}` does not list it"))));
    findings
}

/// Returns whether a file is a document whose text was read.
fn is_document(file: &File) -> bool {
    file.extension() == "md" && !file.text.is_empty()
}

/// Describes what is wrong with a link, if anything.
fn fault(
    from: &str,
    path: &str,
    anchor: &str,
    paths: &BTreeSet<&str>,
    headings: &BTreeMap<&str, BTreeSet<String>>,
) -> Option<String> {
    let is_folder = || paths.range(path..).next().is_some_and(|next| next.starts_with(&format!("{path}/")));
    if !paths.contains(path) && !is_folder() {
        return Some("leads to no file".to_owned());
    }
    if from.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Some("leads out of the book".to_owned());
    }
    let known = headings.get(path)?;
    (!anchor.is_empty() && !known.contains(anchor)).then(|| format!("names no heading of `{path}`"))
}

/// Lists the relative links outside of code, each with the number of its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for part in line.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// Lists the anchors of headings, spelled as GitHub and mdBook spell them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let plain = title.split("](").map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
        let title: String = if title.contains("](") { plain.collect() } else { title.to_owned() };
        let slug = slug(title.trim());
        let next = (0..).map(|count| if count == 0 { slug.clone() } else { format!("{slug}-{count}") });
        anchors.extend(next.into_iter().find(|name| !anchors.contains(name)));
    }
    anchors
}

fn slug(title: &str) -> String {
    let kept = title.chars().filter_map(|it| match it {
        ' ' => Some('-'),
        '-' | '_' => Some(it),
        _ => it.is_alphanumeric().then_some(it),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Lists the lines that are outside of blocks of code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let ticks = line.trim_start().chars().take_while(|&it| it == '`').count();
        match fence {
            Some(open) if ticks >= open && line.trim().len() == ticks => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            None => lines.push((number, line)),
            Some(_) => {}
        }
    }
    lines
}

/// Leaves out what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Finds the path that a link means, from the root of the repository.
fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::check_rule;

    #[track_caller]
    fn findings(files: &[(&str, &str)], expected: &[&str]) {
        check_rule(check, files, expected);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = "# One `two`, three\n[a](b.md#x-y) [b](b.md#z) [c](../README.md#one)\n[d](c.md) [e](#one-two-three)\n";
        findings(
            &[
                ("README.md", "# One\n[a](docs/a.md) [b](docs) [c](https://example.org/x.md)\n"),
                ("docs/a.md", page),
                ("docs/b.md", "## X – y\n"),
            ],
            &[
                "error: docs/a.md:2: the link `b.md#x-y` names no heading of `docs/b.md`",
                "error: docs/a.md:2: the link `b.md#z` names no heading of `docs/b.md`",
                "error: docs/a.md:2: the link `../README.md#one` leads out of the book",
                "error: docs/a.md:3: the link `c.md` leads to no file",
            ],
        );
    }

    #[test]
    fn equal_headings_are_numbered() {
        findings(
            &[("a.md", "# A\n# A\n[a](#a-1) [b](#a-2)\n")],
            &["error: a.md:3: the link `#a-2` names no heading of `a.md`"],
        );
    }

    #[test]
    fn code_has_no_links_and_no_headings() {
        findings(
            &[("a.md", "```\n[a](b.md)\n# c\n```\n`[a](b.md)` [c](#c)\n")],
            &["error: a.md:5: the link `#c` names no heading of `a.md`"],
        );
    }

    #[test]
    fn the_summary_lists_every_page() {
        findings(
            &[("docs/SUMMARY.md", "- [a](guide/a.md)\n"), ("docs/b.md", "b"), ("docs/guide/a.md", "a")],
            &["error: docs/b.md: `docs/SUMMARY.md` does not list it"],
        );
    }
}
