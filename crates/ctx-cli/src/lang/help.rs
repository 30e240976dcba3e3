//! Translation of help texts.
//!
//! Paragraphs below the options are translated before the parser formats the help. All other texts are translated
//! afterwards, line by line, which keeps the parser's columns. Text without a translation stays English.

use std::sync::OnceLock;

use clap::Command;
use ctx_language::{Language, internal::Catalogue};

use super::word;
use crate::args;

/// Returns the command line, which formats its help without line breaks.
pub(crate) fn command() -> Command {
    with_paragraphs(args::command()).term_width(0)
}

/// Translates formatted help.
pub(crate) fn laid_out(shown: &str) -> String {
    shown.lines().map(|shown| line(shown) + "\n").collect()
}

/// Translates the paragraphs below the options, which have line breaks.
fn with_paragraphs(command: Command) -> Command {
    let below = command.get_after_help().map(|below| paragraphs(&below.to_string()).concat());
    let command = match below {
        Some(below) => command.after_help(below),
        None => command,
    };
    command.mut_subcommands(with_paragraphs)
}

/// Translates each paragraph of a text. Indented lines are examples: only their quoted sentences are translated.
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
            parts.push(example(line) + "\n");
        }
        parts.extend(joined(&mut sentences));
        parts.push("\n".to_owned());
    }
    parts.pop();
    parts
}

/// Translates a quoted sentence of an example.
fn example(line: &str) -> String {
    let quoted = line.split('"').nth(1);
    let other = quoted.and_then(|quoted| Some((quoted, catalogue().word(quoted)?)));
    other.map_or_else(|| line.to_owned(), |(quoted, other)| line.replacen(quoted, other, 1))
}

fn joined(sentences: &mut Vec<&str>) -> Option<String> {
    let whole = std::mem::take(sentences).join(" ");
    (!whole.is_empty()).then(|| translated(&whole).unwrap_or(whole) + "\n")
}

/// Translates a line of formatted help: a heading, a text, or a name with a text.
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

/// Start of a default value or of a list of values, which the parser appends to a text.
const MARKS: [(&str, &str); 2] = [("[default: ", "[默认："), ("[possible values: ", "[可选值：")];

/// Translates a text with the default and the values that the parser appends.
///
/// A text can contain a default of its own, so the shortest appended part is tried first.
fn with_defaults(shown: &str) -> Option<String> {
    if let Some(whole) = translated(shown.trim_end()) {
        return Some(whole);
    }
    let mut starts: Vec<usize> = MARKS.iter().filter_map(|(mark, _)| shown.find(mark)).collect();
    starts.sort_unstable();
    starts.into_iter().rev().find_map(|start| {
        let (about, appended) = shown.split_at(start);
        let appended =
            MARKS.iter().fold(appended.replace(", ", "、"), |text, (mark, other)| text.replace(mark, other));
        match about.trim_end() {
            "" => Some(appended),
            about => Some(format!("{} {appended}", translated(about)?)),
        }
    })
}

/// Returns the translations of help texts, which are read on first use.
fn catalogue() -> &'static Catalogue {
    static HELP: OnceLock<Catalogue> = OnceLock::new();
    HELP.get_or_init(|| Catalogue::read(&[include_str!("zh/help.txt")]))
}

/// Translates a paragraph, with or without a final period.
fn translated(english: &str) -> Option<String> {
    let sentence = english.strip_suffix('.');
    let other = catalogue().word(english).or_else(|| catalogue().word(sentence?))?;
    let stop = if sentence.is_some() { "。" } else { "" };
    Some(format!("{other}{stop}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_quoted_sentences_of_examples() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            assert_eq!(example(line), expected);
        }
        check("  ctx recall \"May she eat nuts?\" --json", "  ctx recall \"她能吃坚果吗？\" --json");
        check("  ctx recall \"room 12\" --budget 200", "  ctx recall \"12 号房\" --budget 200");
        check("  ctx run --summarizer \"cmd:llm\"", "  ctx run --summarizer \"cmd:llm\"");
        check("  ctx assemble", "  ctx assemble");
    }

    /// Collects texts without a translation.
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
            // An example can end with a comment.
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
        let start = args::START.lines().filter(|line| !line.starts_with("  ") && !line.is_empty());
        missing.extend(start.filter(|line| translated(line).is_none()).map(str::to_owned));
        missing.sort();
        missing.dedup();
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}
