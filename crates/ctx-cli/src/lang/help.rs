//! Help texts of the command line in another language than English.
//!
//! Texts of several lines are translated before they are laid out, all others line by line behind that: so the
//! columns are those of the parser, and a text without a translation stays as it is.

use std::sync::OnceLock;

use clap::Command;
use ctx_language::{Catalogue, Language};

use super::word;
use crate::args;

/// Returns the command line as it is parsed, laid out without breaks in its lines.
pub(crate) fn command() -> Command {
    with_paragraphs(args::command()).term_width(0)
}

/// Translates what the parser has laid out.
pub(crate) fn laid_out(shown: &str) -> String {
    shown.lines().map(|shown| line(shown) + "\n").collect()
}

/// Translates the paragraphs below the options, whose lines are divided by hand.
fn with_paragraphs(command: Command) -> Command {
    let below = command.get_after_help().map(|below| paragraphs(&below.to_string()).concat());
    let command = match below {
        Some(below) => command.after_help(below),
        None => command,
    };
    command.mut_subcommands(with_paragraphs)
}

/// Divides a text into its parts: sentences that belong together, which are translated, and lines of examples.
fn paragraphs(below: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for paragraph in below.split("\n\n") {
        let mut sentences: Vec<&str> = Vec::new();
        for line in paragraph.lines() {
            if !line.starts_with("  ") {
                sentences.push(line);
                continue;
            }
            parts.extend(joined(&mut sentences));
            parts.push(format!("{line}\n"));
        }
        parts.extend(joined(&mut sentences));
        parts.push("\n".to_owned());
    }
    parts.pop();
    parts
}

fn joined(sentences: &mut Vec<&str>) -> Option<String> {
    let whole = std::mem::take(sentences).join(" ");
    (!whole.is_empty()).then(|| translated(&whole).unwrap_or(whole) + "\n")
}

/// Translates a line that was laid out: a heading, a text, or a text behind what it is about.
fn line(shown: &str) -> String {
    if let Some(usage) = shown.strip_prefix("Usage: ") {
        return format!("用法：{usage}");
    }
    let own = shown.trim_start();
    let indent = shown.strip_suffix(own).unwrap_or_default();
    if let Some(whole) = with_defaults(own) {
        return format!("{indent}{whole}");
    }
    let value = own.strip_prefix("- ").and_then(|own| own.split_once(':'));
    if let Some((name, other)) = value.and_then(|(name, about)| Some((name, translated(about.trim())?))) {
        return format!("{indent}- {name}：{other}");
    }
    let about = shown.rsplit_once("  ").map(|(_, about)| about).filter(|about| !about.is_empty());
    if let Some((about, other)) = about.and_then(|about| Some((about, with_defaults(about)?))) {
        return format!("{}{other}", shown.strip_suffix(about).unwrap_or_default());
    }
    format!("{indent}{}", word(Language::Zh, own))
}

/// What the parser puts behind a text.
const MARKS: [(&str, &str); 2] = [("[default: ", "[默认值："), ("[possible values: ", "[可选值：")];

/// Translates a text, and what the parser puts behind it.
fn with_defaults(shown: &str) -> Option<String> {
    if let Some(whole) = translated(shown) {
        return Some(whole);
    }
    let end = MARKS.iter().filter_map(|(mark, _)| shown.find(mark)).min().unwrap_or(shown.len());
    let (about, behind) = shown.split_at(end);
    let behind = MARKS.iter().fold(behind.to_owned(), |behind, (mark, other)| behind.replace(mark, other));
    match (about.trim_end(), behind.is_empty()) {
        ("", true) => None,
        ("", false) => Some(behind),
        (about, true) => translated(about),
        (about, false) => Some(format!("{} {behind}", translated(about)?)),
    }
}

/// The texts of the help, read when they are first needed.
fn catalogue() -> &'static Catalogue {
    static HELP: OnceLock<Catalogue> = OnceLock::new();
    HELP.get_or_init(|| Catalogue::read(&[include_str!("zh/help.txt")]))
}

/// Translates a paragraph, with or without a full stop at its end.
fn translated(english: &str) -> Option<String> {
    let sentence = english.strip_suffix('.');
    let other = catalogue().word(english).or_else(|| catalogue().word(sentence?))?;
    let stop = if sentence.is_some() { "。" } else { "" };
    Some(format!("{other}{stop}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects what has no translation.
    fn collect(command: &Command, missing: &mut Vec<String>) {
        let mut texts: Vec<String> = Vec::new();
        let about = [command.get_about(), command.get_long_about()];
        texts.extend(about.into_iter().flatten().map(ToString::to_string));
        for argument in command.get_arguments() {
            let help = [argument.get_help(), argument.get_long_help()];
            texts.extend(help.into_iter().flatten().map(ToString::to_string));
            let values = argument.get_possible_values();
            texts.extend(values.iter().filter_map(|value| value.get_help()).map(ToString::to_string));
            texts.extend(argument.get_help_heading().map(str::to_owned));
        }
        let paragraphs = texts.iter().flat_map(|text| text.split("\n\n"));
        missing.extend(paragraphs.filter(|text| translated(text).is_none()).map(str::to_owned));
        if let Some(below) = command.get_after_help().map(ToString::to_string) {
            let own = super::paragraphs(&below).concat();
            let is_english =
                |line: &&str| !line.starts_with("  ") && line.is_ascii() && !line.trim().is_empty();
            missing.extend(own.lines().filter(is_english).map(str::to_owned));
            // What an example is good for stands behind it.
            let examples =
                own.lines().filter_map(|line| line.strip_prefix("  ")?.trim_start().rsplit_once("  "));
            let comments = examples.map(|(_, comment)| comment).filter(|comment| !comment.is_empty());
            missing.extend(comments.filter(|comment| translated(comment).is_none()).map(str::to_owned));
        }
        for verb in command.get_subcommands() {
            collect(verb, missing);
        }
    }

    #[test]
    fn each_help_text_has_a_translation() {
        let mut missing = Vec::new();
        collect(&args::command(), &mut missing);
        missing.sort();
        missing.dedup();
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}
