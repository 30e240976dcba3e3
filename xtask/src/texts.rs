//! `cargo xtask texts`: all templates of texts that people read, one list for one reader, and their translations.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::files;
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

/// A character of code, or a string literal as it reads.
#[derive(Debug, PartialEq)]
enum Token {
    Code(char),
    Literal(String),
}

/// Finds the templates of a file, in their order.
fn templates(text: &str) -> Result<Vec<String>> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let is_begun = |name: &&&str| {
            let end = tokens.get(at..at + name.len()).unwrap_or_default();
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            !end.is_empty()
                && end.iter().zip(name.chars()).all(|(token, c)| *token == Token::Code(c))
                && !matches!(before, Some(Token::Code(c)) if c.is_alphanumeric() || matches!(c, '_' | '$'))
        };
        let Some(name) = MACROS.iter().find(is_begun) else { continue };
        let inside = closed(tokens.get(at + name.len()..).unwrap_or_default());
        if *name == "count_of!(" {
            let thing = literals(inside).last().context("`count_of!` without a literal")?;
            found.extend([format!("1 {thing}"), format!("{{count}} {thing}s")]);
            continue;
        }
        let code = inside.iter().map_while(|token| if let Token::Code(c) = token { Some(*c) } else { None });
        let code: String = code.collect();
        let template = if code.trim().is_empty() {
            literals(inside).next().cloned()
        } else {
            // A name: it is a constant of the file, or a parameter of another macro.
            let name = code.split(',').next().unwrap_or_default().trim();
            let declared = text.split_once(&format!("const {name}: &str ="));
            let declared = declared.and_then(|(_, rest)| rest.split_once(';'));
            declared.and_then(|(literal, _)| literals(&self::tokens(literal)).next().cloned())
        };
        found.extend(template);
    }
    Ok(found)
}

/// Returns what stands before the bracket that closes an open one.
fn closed(tokens: &[Token]) -> &[Token] {
    let mut depth = 1_usize;
    let end = tokens.iter().position(|token| {
        match token {
            Token::Code('(' | '[' | '{') => depth += 1,
            Token::Code(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    tokens.get(..end.unwrap_or(tokens.len())).unwrap_or_default()
}

fn literals(tokens: &[Token]) -> impl DoubleEndedIterator<Item = &String> {
    tokens.iter().filter_map(|token| if let Token::Literal(text) = token { Some(text) } else { None })
}

/// Reads code without its comments, of which `/* */` are not used, and its literals of characters.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = matches!(tokens.last(), Some(Token::Code(c)) if c.is_alphanumeric() || *c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(end) = raw_string(rest).filter(|_| !is_word) {
            tokens.push(Token::Literal(rest.split_at(end).0.to_owned()));
            end
        } else if c == '"' || is_character(rest) {
            let end = quoted(rest, c);
            if c == '"' {
                tokens.push(Token::Literal(unescaped(rest.get(1..end - 1).unwrap_or_default())));
            }
            end
        } else {
            tokens.push(Token::Code(c));
            c.len_utf8()
        };
        rest = rest.split_at(length).1;
    }
    tokens
}

/// Measures up to the closing quote that no backslash escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// A quote begins a literal of a character, or a lifetime.
fn is_character(rest: &str) -> bool {
    let mut characters = rest.chars();
    characters.next() == Some('\'') && (characters.next() == Some('\\') || characters.next() == Some('\''))
}

/// Measures `r"…"`, `r#"…"#` and so on.
fn raw_string(rest: &str) -> Option<usize> {
    let body = ["r", "br"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let content = body.trim_start_matches('#').strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(body.len() - content.len() - 1));
    content.find(&end).map(|at| rest.len() - content.len() + at + end.len())
}

/// Reads the inside of a string literal.
fn unescaped(text: &str) -> String {
    let (mut read, mut rest) = (String::new(), text.chars().peekable());
    while let Some(c) = rest.next() {
        if c != '\\' {
            read.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => read.push('\n'),
            Some('t') => read.push('\t'),
            // The line goes on behind the white space of the next one.
            Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
            Some('u') => {
                let digits: String = rest.by_ref().take_while(|c| *c != '}').filter(|c| *c != '{').collect();
                read.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            other => read.extend(other),
        }
    }
    read
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
            "let b = ['\"', '\\'', '\\\\']; r#\"phrase!(\"no\")\"#; br\"\\\"; a('b: &'b str, phrase!(\"\\\"three\\\"\"))\n",
        );
        let expected = ["one two {b}", "in", "of {a}", "1 message", "{count} messages", "\"three\""];
        assert_eq!(templates(source).unwrap(), expected);
        assert_eq!(holes("a {b} {{c}} {d}"), BTreeSet::from(["b", "d"]));
    }
}
