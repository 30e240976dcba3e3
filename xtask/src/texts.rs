//! `cargo xtask texts`: all templates of texts that people read, one list for one reader, and their translations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::{code_only, files};
use crate::workspace;

/// Where the translations are: the English template, and below it the other one.
const TRANSLATIONS: [&str; 1] = ["crates/ctx-cli/src/lang/zh/library.txt"];

/// Prints the templates of each crate in the order of their files; `--check` compares them with the translations.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("usage: cargo xtask texts [--check]"),
    };
    let by_crate = by_crate()?;
    if is_check {
        return check(&by_crate);
    }
    for (name, templates) in &by_crate {
        println!("\n# {name}\n");
        for template in templates {
            println!("{template}");
        }
    }
    Ok(())
}

/// Returns the templates of each crate, each once.
fn by_crate() -> Result<BTreeMap<String, Vec<String>>> {
    let mut by_crate: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for file in files(&workspace::root())? {
        let Some((name, path)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if file.extension() != "rs" || path.ends_with("tests.rs") || path.contains("tests/") {
            continue;
        }
        let templates = templates(&file.text).with_context(|| format!("in {}", file.path))?;
        let templates =
            templates.into_iter().filter(|template| !template.is_empty() && known.insert(template.clone()));
        by_crate.entry(name.to_owned()).or_default().extend(templates);
    }
    by_crate.retain(|_, templates| !templates.is_empty());
    Ok(by_crate)
}

fn check(by_crate: &BTreeMap<String, Vec<String>>) -> Result<()> {
    let mut translated = BTreeMap::new();
    for path in TRANSLATIONS {
        let text = fs::read_to_string(workspace::root().join(path))
            .with_context(|| format!("cannot read {path}"))?;
        for block in text.split("\n\n") {
            let mut lines = block.lines().filter(|line| !line.starts_with(['#', '[']) && !line.is_empty());
            if let (Some(english), Some(other)) = (lines.next(), lines.next()) {
                translated.insert(english.to_owned(), other.to_owned());
            }
        }
    }
    let mut faults = Vec::new();
    for template in by_crate.values().flatten() {
        match translated.get(template) {
            None => faults.push(format!("no translation: {template}")),
            Some(other) if holes(other) != holes(template) => faults.push(format!("other holes: {template}")),
            Some(_) => {}
        }
    }
    ensure!(faults.is_empty(), "{} in {}:\n{}", faults.len(), TRANSLATIONS.join(", "), faults.join("\n"));
    Ok(())
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
