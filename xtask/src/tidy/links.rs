//! Links between documents lead somewhere, and the book has every page.

use std::collections::{BTreeMap, BTreeSet};

use super::File;

/// The folder of the book; pages in it link to each other alone, so that the book is whole by itself.
const BOOK: &str = "docs/";

/// The page that lists all others.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks every link of every document, and that the summary lists each page of the book.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let paths: BTreeSet<&str> = files.iter().map(|file| &*file.path).collect();
    let documents: BTreeMap<&str, &str> = files
        .iter()
        .filter(|file| file.extension() == "md" && !file.text.is_empty())
        .map(|file| (&*file.path, &*file.text))
        .collect();
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents.iter().map(|(path, text)| (*path, anchors(text))).collect();
    let is_folder = |path: &str| {
        let folder = format!("{path}/");
        paths.range(&*folder..).next().is_some_and(|next| next.starts_with(&folder))
    };
    let (mut findings, mut listed) = (Vec::new(), BTreeSet::new());
    for (from, text) in &documents {
        for (line, target) in links(text) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if path.is_empty() { (*from).to_owned() } else { resolved(from, path) };
            let fault = if !paths.contains(&*path) && !is_folder(&path) {
                Some("leads to no file".to_owned())
            } else if from.starts_with(BOOK) && !path.starts_with(BOOK) {
                Some("leads out of the book".to_owned())
            } else {
                let known =
                    headings.get(&*path).filter(|known| !anchor.is_empty() && !known.contains(anchor));
                known.map(|_| format!("names no heading of `{path}`"))
            };
            findings.extend(fault.map(|fault| format!("error: {from}:{line}: the link `{target}` {fault}")));
            if *from == SUMMARY {
                listed.insert(path);
            }
        }
    }
    let pages = documents.keys().filter(|path| path.starts_with(BOOK) && **path != SUMMARY);
    let missing = pages.filter(|page| paths.contains(SUMMARY) && !listed.contains(**page));
    findings.extend(missing.map(|page| format!("error: {page}: `{SUMMARY}` does not list it")));
    findings
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

/// Lists the anchors of headings; equal ones are numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        // The target of a link is no part of the title.
        let mut parts = title.split("](");
        let first = parts.next().unwrap_or_default();
        let rest = parts.map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
        let slug = anchor(std::iter::once(first).chain(rest).collect::<String>().trim());
        let next = (0..).map(|count| if count == 0 { slug.clone() } else { format!("{slug}-{count}") });
        anchors.extend(next.into_iter().find(|name| !anchors.contains(name)));
    }
    anchors
}

/// Returns the anchor that mdBook and GitHub give a heading.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
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
    use crate::tidy::tests::findings;

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = "# One `two`, three\n# [A](b.md)\n# A\n[a](b.md#x-y) [b](b.md#z) [c](../R.md#one)\n\
                    [d](c.md) [e](#one-two-three) [f](#a-1) [g](#a-2)\n\
                    ```\n[a](c.md)\n# c\n```\n`[a](c.md)` [c](#c)\n";
        findings(
            &[
                ("R.md", "# One\n[a](docs/a.md) [b](docs) [c](https://example.org/x.md)\n"),
                ("docs/a.md", page),
                ("docs/b.md", "## X – y\n"),
            ],
            &[
                "docs/a.md:4: the link `b.md#x-y` names no heading of `docs/b.md`",
                "docs/a.md:4: the link `b.md#z` names no heading of `docs/b.md`",
                "docs/a.md:4: the link `../R.md#one` leads out of the book",
                "docs/a.md:5: the link `c.md` leads to no file",
                "docs/a.md:5: the link `#a-2` names no heading of `docs/a.md`",
                "docs/a.md:10: the link `#c` names no heading of `docs/a.md`",
            ],
        );
    }

    #[test]
    fn the_summary_lists_every_page() {
        findings(
            &[("docs/SUMMARY.md", "- [a](guide/a.md)\n"), ("docs/b.md", "b"), ("docs/guide/a.md", "a")],
            &["docs/b.md: `docs/SUMMARY.md` does not list it"],
        );
    }
}
