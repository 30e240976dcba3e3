//! `cargo xtask diagnostics`: generates the reference of all diagnostic codes from their explanations.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::tidy::anchor;
use crate::workspace;

/// Introduction of the page.
const HEAD: &str = include_str!("diagnostics/head.md");

/// Path of the reference.
const PATH: &str = "docs/diagnostics.md";

/// Folder of the English texts.
const TEXTS: &str = "crates/ctx-language/src/en";

/// Codes that authors meet most often, in the order of the table.
const COMMON: [&str; 12] = [
    "CTX0103", "CTX0100", "CTX0603", "CTX0901", "CTX0200", "CTX0300", "CTX0400", "CTX0410", "CTX0706",
    "CTX0785", "CTX0970", "CTX0631",
];

/// Marks of examples that no command reports; the page omits them.
const REPORTERS: [&str; 2] = [",program\n", ",server\n"];

/// Titles by their codes.
type Titles = BTreeMap<String, String>;

/// Writes the reference; `--check` only compares. Either fails where codes and texts do not agree.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = workspace::has_flag(arguments, "--check", "diagnostics")?;
    let root = workspace::root();
    let texts = texts(&root)?;
    let differences = differences(&declared(&root)?, &texts);
    ensure!(differences.is_empty(), "{}", differences.join("\n"));
    let written = reference(&texts);
    workspace::generated(PATH, &written, is_check, "diagnostics")
}

/// Reads the texts, sorted by the number that starts each file name.
fn texts(root: &Path) -> Result<Vec<String>> {
    let mut paths = files_of(&root.join(TEXTS))?;
    paths.sort_by_key(|path| first_code(path));
    let read =
        |path: &PathBuf| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    paths.iter().map(read).collect()
}

/// Returns the first code of a file such as `200_anchors.md`.
fn first_code(path: &Path) -> Option<u16> {
    path.file_name()?.to_str()?.split('_').next()?.parse().ok()
}

/// Reads the codes that the crates declare, each in its `codes.rs`.
fn declared(root: &Path) -> Result<Titles> {
    let mut titles = Titles::new();
    for path in files_of(&root.join("crates"))?.iter().map(|folder| folder.join("src/codes.rs")) {
        // Not every crate finds something.
        let Ok(source) = fs::read_to_string(&path) else { continue };
        for declaration in source.split("Code::new(").skip(1) {
            let (code, title) =
                code_of(declaration).with_context(|| format!("cannot read a code in {}", path.display()))?;
            ensure!(titles.insert(code.clone(), title).is_none(), "{code} is declared twice");
        }
    }
    Ok(titles)
}

/// Reads `200, "missing anchor target")` and what follows it.
fn code_of(declaration: &str) -> Option<(String, String)> {
    let (number, rest) = declaration.split_once(',')?;
    let title = rest.split('"').nth(1)?;
    Some((format!("CTX{:04}", number.trim().parse::<u16>().ok()?), title.to_owned()))
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Returns what is declared and not explained, or otherwise than it is explained.
fn differences(declared: &Titles, texts: &[String]) -> Vec<String> {
    let headings = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("## "));
    let mut explained = Titles::new();
    let mut found = Vec::new();
    for (code, title) in headings.filter_map(|heading| heading.split_once(": ")) {
        match declared.get(code) {
            None => found.push(format!("{code} is explained, and no crate declares it")),
            Some(known) if known != title => {
                found.push(format!("{code} is declared as `{known}` and explained as `{title}`"));
            }
            Some(_) => {}
        }
        if explained.insert(code.to_owned(), title.to_owned()).is_some() {
            found.push(format!("{code} is explained twice"));
        }
    }
    let missing = declared.keys().filter(|code| !explained.contains_key(*code));
    found.extend(missing.map(|code| format!("{code} is declared, and {TEXTS} does not explain it")));
    found
}

/// Writes the page: introduction, table of common codes, and all texts with headings one level lower.
fn reference(texts: &[String]) -> String {
    let mut written = HEAD.to_owned();
    written.push_str("\n## Most common\n\n| code | problem | fix |\n|---|---|---|\n");
    written.extend(COMMON.iter().filter_map(|code| common_row(code, texts)));
    for text in texts {
        // Lines of examples may begin like headings.
        let (title, codes) = text.split_once('\n').unwrap_or((text, ""));
        let codes = codes.replace("\n## CTX", "\n### CTX");
        let codes = REPORTERS.iter().fold(codes, |codes, mark| codes.replace(mark, "\n"));
        written.extend(["\n#", title, "\n", &codes]);
    }
    written
}

/// Returns the table row of a code, or `None` if the texts do not explain it.
fn common_row(code: &str, texts: &[String]) -> Option<String> {
    let heading = format!("\n## {code}: ");
    let (_, section) = texts.iter().find_map(|text| text.split_once(&heading))?;
    let (title, section) = section.split_once('\n')?;
    let (_, fix) = section.split_once("\nFix: ")?;
    let fix = fix.lines().next()?.replace('|', "\\|");
    Some(format!("| [{code}](#{}) | {title} | {fix} |\n", anchor(&format!("{code}: {title}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(declared: &[(&str, &str)], text: &str, expected: &[&str]) {
        let declared =
            declared.iter().map(|(code, title)| ((*code).to_owned(), (*title).to_owned())).collect();
        assert_eq!(differences(&declared, &[text.to_owned()]), expected);
    }

    #[test]
    fn each_declared_code_is_explained_under_its_title() {
        let root = workspace::root();
        let found = differences(&declared(&root).unwrap(), &texts(&root).unwrap());
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn codes_and_texts_that_do_not_agree_are_told() {
        let known = [("CTX0100", "wrong type"), ("CTX0101", "more findings")];
        check(&known, "# A\n\n## CTX0100: wrong type\n\n## CTX0101: more findings\n", &[]);
        check(
            &known,
            "## CTX0100: wrong typ\n## CTX0100: wrong type\n## CTX0109: odd\n",
            &[
                "CTX0100 is declared as `wrong type` and explained as `wrong typ`",
                "CTX0100 is explained twice",
                "CTX0109 is explained, and no crate declares it",
                "CTX0101 is declared, and crates/ctx-language/src/en does not explain it",
            ],
        );
    }

    #[test]
    fn a_declaration_may_stand_in_several_lines() {
        let found = code_of("\n    7,\n    \"odd, and \",\n);");
        assert_eq!(found, Some(("CTX0007".to_owned(), "odd, and ".to_owned())));
    }

    #[test]
    fn common_codes_have_rows() {
        let texts = texts(&workspace::root()).unwrap();
        let missing: Vec<&str> =
            COMMON.into_iter().filter(|code| common_row(code, &texts).is_none()).collect();
        assert_eq!(missing, [""; 0]);
        let text = "# A\n\n## CTX0100: `a` b: odd\n\nC.\n\nFix: write `a|b`.\n".to_owned();
        let row = "| [CTX0100](#ctx0100-a-b-odd) | `a` b: odd | write `a\\|b`. |\n";
        assert_eq!(common_row("CTX0100", &[text]).as_deref(), Some(row));
    }

    #[test]
    fn page_omits_reporters_of_examples() {
        let page = reference(&["# A\n\n## CTX0100: odd\n\n```text,server\nGET /\n```\n".to_owned()]);
        assert!(page.ends_with("### CTX0100: odd\n\n```text\nGET /\n```\n"), "{page}");
    }

    #[test]
    fn headings_are_one_level_lower_in_the_page() {
        let page = reference(&["# A: 100 to 199\n\n## CTX0100: odd\n\n```yaml\n# a note\n```\n".to_owned()]);
        let expected = "\n## A: 100 to 199\n\n### CTX0100: odd\n\n```yaml\n# a note\n```\n";
        assert!(page.ends_with(expected), "{page}");
    }
}
