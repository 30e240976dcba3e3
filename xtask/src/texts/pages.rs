//! Pages in two languages: a page and its translation must change together.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use flate2::Crc;

use crate::tidy::files;
use crate::workspace;

/// Checksums of each translated page and of its English page, as of the last time that both said the same.
const RECORD: &str = "docs/translations.txt";

const SUFFIX: &str = ".zh-CN.md";

const HEAD: &str =
    "# Written by `cargo xtask texts --record`. Run it after a page and its translation say the same.\n";

/// Fails if a page or its translation changed alone, or if the two do not link to each other.
pub(super) fn check() -> Result<()> {
    let current = current()?;
    let text = fs::read_to_string(workspace::root().join(RECORD))
        .with_context(|| format!("cannot read {RECORD}"))?;
    let recorded: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let stale: Vec<&str> = current
        .iter()
        .filter(|(page, checksums)| recorded.get(page.as_str()) != Some(&checksums.as_str()))
        .map(|(page, _)| page.as_str())
        .collect();
    ensure!(
        stale.is_empty(),
        "a page or its translation changed; compare the two, then run `cargo xtask texts --record`:\n{}",
        stale.join("\n")
    );
    Ok(())
}

/// Records the current pages.
pub(super) fn record() -> Result<()> {
    let lines: Vec<String> =
        current()?.iter().map(|(page, checksums)| format!("{page} {checksums}\n")).collect();
    fs::write(workspace::root().join(RECORD), HEAD.to_owned() + &lines.concat())
        .with_context(|| format!("cannot write {RECORD}"))
}

/// Returns the two checksums of each translated page.
fn current() -> Result<BTreeMap<String, String>> {
    let files = files(&workspace::root())?;
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let translated = files.iter().filter(|file| file.path.ends_with(SUFFIX));
    translated
        .map(|file| {
            let english = file.path.replace(SUFFIX, ".md");
            let source = text(&english).with_context(|| format!("{} has no English page", file.path))?;
            for (page, own, other) in
                [(&file.path, &file.text, &english), (&english, &source.to_owned(), &file.path)]
            {
                let name = other.rsplit('/').next().unwrap_or(other);
                ensure!(own.contains(&format!("]({name})")), "{page} does not link to {name}");
            }
            Ok((file.path.clone(), format!("{} {}", checksum(source), checksum(&file.text))))
        })
        .collect()
}

/// Returns the CRC-32 of a page without the output of commands, which a test compares.
fn checksum(text: &str) -> String {
    let parts = text.split("```console").enumerate();
    let prose = parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once("\n```").map_or("", |split| split.1) });
    let mut crc = Crc::new();
    prose.for_each(|part| crc.update(part.as_bytes()));
    format!("{:08x}", crc.sum())
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn ignores_output_of_commands() {
        let page = |output: &str, end: &str| format!("Start\n```console\n$ ctx\n{output}\n```\n{end}\n");
        assert_eq!(checksum(&page("a", "End")), checksum(&page("b", "End")));
        assert_ne!(checksum(&page("a", "End")), checksum(&page("a", "The end")));
    }
}
