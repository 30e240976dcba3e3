//! `cargo xtask texts`: all templates of texts that people read, one list for one reader, and their translations.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::{code_only, files};
use crate::workspace;

/// Where the translations of what libraries say are: the English template, and below it the other one.
const LIBRARY: &str = "crates/ctx-language/src/zh/library.txt";

/// The crates that have catalogues of their own, for what no library says.
const HOSTS: [(&str, &str); 1] = [("ctx-cli", "crates/ctx-cli/src/lang/zh/texts.txt")];

/// The folders of all translations.
const FOLDERS: [&str; 2] = ["crates/ctx-language/src/zh/", "crates/ctx-cli/src/lang/zh/"];

/// Prints the templates of each crate in the order of their files; `--check` compares them with the translations.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        [flag] if flag == "--record" => return pages::record(),
        _ => bail!("usage: cargo xtask texts [--check | --record]"),
    };
    let by_crate = by_crate()?;
    if is_check {
        check(&by_crate)?;
        return pages::check();
    }
    for (name, templates) in &by_crate {
        println!("\n# {name}\n");
        for template in templates {
            println!("{template}");
        }
    }
    Ok(())
}

/// Returns the templates of each crate, each once; what a library says too is not a host's.
fn by_crate() -> Result<BTreeMap<String, Vec<String>>> {
    let mut by_crate: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(&workspace::root())? {
        let Some((name, path)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if file.extension() != "rs" || path.ends_with("tests.rs") || path.contains("tests/") {
            continue;
        }
        let templates = templates(&file.text).with_context(|| format!("in {}", file.path))?;
        by_crate.entry(name.to_owned()).or_default().extend(templates);
    }
    let mut known = BTreeSet::from([String::new()]);
    let (hosts, libraries): (Vec<_>, Vec<_>) =
        by_crate.iter_mut().partition(|(name, _)| HOSTS.iter().any(|(host, _)| host == name));
    for (_, templates) in libraries.into_iter().chain(hosts) {
        templates.retain(|template| known.insert(template.clone()));
    }
    by_crate.retain(|_, templates| !templates.is_empty());
    Ok(by_crate)
}

fn check(by_crate: &BTreeMap<String, Vec<String>>) -> Result<()> {
    let host = |name: &str| HOSTS.iter().find(|(host, _)| *host == name).map(|(_, file)| *file);
    let mut faults = Vec::new();
    for file in HOSTS.iter().map(|(_, file)| *file).chain([LIBRARY]) {
        let own = by_crate.iter().filter(|(name, _)| host(name).unwrap_or(LIBRARY) == file);
        let templates: BTreeSet<&str> = own.flat_map(|(_, own)| own).map(String::as_str).collect();
        let text = fs::read_to_string(workspace::root().join(file))
            .with_context(|| format!("cannot read {file}"))?;
        let of_file = faults_of(&templates, &translations(&text));
        faults.extend(of_file.iter().map(|fault| format!("{file}: {fault}")));
    }
    for file in files(&workspace::root())? {
        if FOLDERS.iter().any(|folder| file.path.starts_with(folder)) {
            faults.extend(unpaired(&file.text).map(|line| format!("{}: not a pair: {line}", file.path)));
        }
    }
    ensure!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

/// Returns the templates of a catalogue, each with its translation.
fn translations(text: &str) -> BTreeMap<&str, &str> {
    let mut is_of_templates = false;
    let pair = |block| {
        let mut lines = str::lines(block).filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut first = lines.next()?;
        if first.starts_with('[') && first.ends_with(']') {
            is_of_templates = first == "[templates]";
            first = lines.next()?;
        }
        Some((first, lines.next()?)).filter(|_| is_of_templates)
    };
    text.split("\n\n").filter_map(pair).collect()
}

/// Returns the first line of each block that is no pair of a text and its translation.
fn unpaired(text: &str) -> impl Iterator<Item = &str> {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with(['#', '[']);
    text.split("\n\n").filter_map(move |block| {
        let mut lines = block.lines().filter(is_text);
        let first = lines.next()?;
        (lines.count() != 1).then_some(first)
    })
}

/// Compares templates with their translations.
fn faults_of(templates: &BTreeSet<&str>, translated: &BTreeMap<&str, &str>) -> Vec<String> {
    let missing = templates.iter().filter(|template| !translated.contains_key(**template));
    let missing = missing.map(|template| format!("no translation: {template}"));
    let dead = translated.keys().filter(|template| !templates.contains(**template));
    let dead = dead.map(|template| format!("no template any more: {template}"));
    let odd = translated.iter().filter(|(template, other)| holes(template) != holes(other));
    let odd = odd.map(|(template, _)| format!("other holes: {template}"));
    missing.chain(dead).chain(odd).collect()
}

/// Returns the names of the holes of a template.
fn holes(template: &str) -> BTreeSet<&str> {
    let bare = template.split("{{").flat_map(|part| part.split("}}"));
    bare.flat_map(|part| part.split('{').skip(1)).filter_map(|part| part.split('}').next()).collect()
}

/// The macros that make phrases, and which of their literals is the template.
const MACROS: [&str; 3] = ["phrase!(", "unusable!(", "count_of!("];

/// Finds the templates of a file, in their order.
fn templates(text: &str) -> Result<Vec<String>> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (code, raw): (Vec<char>, Vec<char>) = (code_only(text).chars().collect(), text.chars().collect());
    let mut found = Vec::new();
    for at in 0..code.len() {
        let begins = |name: &&&str| {
            let is_it = name.chars().eq(code.iter().copied().skip(at).take(name.len()));
            is_it
                && !code
                    .get(at.wrapping_sub(1))
                    .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        };
        let Some(name) = MACROS.iter().find(begins) else { continue };
        let (start, end) = (at + name.len(), closing(&code, at + name.len()));
        let inside: String = raw.get(start..end).unwrap_or_default().iter().collect();
        if *name == "count_of!(" {
            let thing = literals(&inside).pop().context("`count_of!` without a literal")?;
            found.extend([format!("1 {thing}"), format!("{{count}} {thing}s")]);
            continue;
        }
        let inside = inside.trim_start();
        let template = if inside.starts_with('"') {
            literals(inside).into_iter().next()
        } else {
            // A name: it is a constant of the file, or a parameter of another macro.
            let name = inside.split([',', ')']).next().unwrap_or_default().trim();
            let declared = text.split_once(&format!("const {name}: &str ="));
            let declared = declared.and_then(|(_, rest)| rest.split_once(';'));
            declared.and_then(|(literal, _)| literals(literal).into_iter().next())
        };
        found.extend(template);
    }
    Ok(found)
}

/// Returns the place of the bracket that closes what is open at `start`.
fn closing(code: &[char], start: usize) -> usize {
    let mut depth = 1_usize;
    for (at, c) in code.iter().enumerate().skip(start) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// Returns the string literals of a text, as they read.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '"' {
            continue;
        }
        let mut literal = String::new();
        while let Some(c) = rest.next() {
            match c {
                '"' => break,
                '\\' => match rest.next() {
                    Some('n') => literal.push('\n'),
                    Some('t') => literal.push('\t'),
                    // The line goes on behind the white space of the next one.
                    Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                    Some('u') => {
                        let digits: String =
                            rest.by_ref().take_while(|c| *c != '}').filter(|c| *c != '{').collect();
                        literal.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                    }
                    other => literal.extend(other),
                },
                other => literal.push(other),
            }
        }
        found.push(literal);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_and_translations_belong_together() {
        let translated = translations("# Why\n\n[templates]\na {b}\n甲 {c}\n\nold\n旧\n\n[words]\nw\n字\n");
        let expected = ["no translation: new", "no template any more: old", "other holes: a {b}"];
        assert_eq!(faults_of(&BTreeSet::from(["a {b}", "new"]), &translated), expected);
        let blocks = "# Why\n\n[words]\na\n甲\n\n乙\n\nc\n丙\nd\n丁\n";
        assert_eq!(unpaired(blocks).collect::<Vec<_>>(), ["乙", "c"]);
    }

    #[test]
    fn templates_are_found_in_code_alone() {
        let source = concat!(
            "const NAME: &str = \"of {a}\";\n// phrase!(\"no\")\nlet a = phrase!(\"one \\\n  two {b}\", b = phrase!(\"in\"));\n",
            "phrase!(NAME, a); count_of!(x.len(), \"message\"); \"phrase!(no)\"; $crate::phrase!(x);\n",
        );
        let expected = ["one two {b}", "in", "of {a}", "1 message", "{count} messages"];
        assert_eq!(templates(source).unwrap(), expected);
        assert_eq!(holes("a {b} {{c}} {d}"), BTreeSet::from(["b", "d"]));
    }
}
