//! `ctx check --explain`: what codes mean, and that their examples are reported as they say.

use ctx_language::{
    Language,
    internal::{Explanation, Reproduction},
};

use crate::{Folder, ctx};

#[test]
fn a_code_is_explained_without_any_file() {
    let answers =
        ["CTX0200", "ctx0200", "200", "0200"].map(|code| ctx(&format!("check --explain {code}"), &[]));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    assert!(answers[0].starts_with("exit code 0\n=== output\nCTX0200: missing anchor target\n"));
}

#[test]
fn json_has_each_part() {
    let told = crate::assemble::json(&ctx("check --explain 906 --json", &[]));
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "title", "cause", "example", "file", "shownBy", "needs", "wayOut"]);
    assert_eq!(told["shownBy"], "ctx assemble --input Hi --format openai");
    assert_eq!(told["wayOut"], "name a model with `--model`, or in `ctx.toml`.");
}

/// Runs the example of a code in Chinese, if a command shows it, and returns what is printed.
fn shown(explanation: &Explanation) -> Option<String> {
    let Reproduction::Command(command) = explanation.shown else { return None };
    let file = explanation.file.map(|name| (name, explanation.example));
    let folder = Folder::with(file.as_slice());
    if let Some(arguments) = command.strip_prefix("ctx ") {
        return Some(folder.ctx(&format!("{arguments} --lang zh")));
    }
    let lines = command.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let script: Vec<&str> = lines.collect();
    folder.shell(&script.join("\n"), "zh")
}

/// Returns what of an answer to people is not Chinese: it is told behind the code, names of files and of things excepted.
fn left_in_english(answer: &str) -> Vec<String> {
    let is_finding = |line: &&str| line.contains("[CTX") && line.contains("]: ");
    let told = answer.lines().filter(is_finding).filter_map(|line| line.split_once("]: "));
    let helps = answer.lines().filter_map(|line| line.split_once("= 解决办法: "));
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let left = told.chain(helps).filter(|(_, text)| !is_chinese(text));
    left.map(|(code, text)| format!("{code} {text}")).collect()
}

/// Scripts run where there is a shell. Each example runs once, in Chinese: its code is the same in every language.
#[test]
fn examples_are_reported_as_they_say_and_in_chinese() {
    let is_data = |command: &str| command.contains("--json") || command.contains("format json");
    let (mut count, mut left) = (0, Vec::new());
    for explanation in Language::En.explanations() {
        let Some(answer) = shown(&explanation) else { continue };
        assert!(answer.contains(explanation.code), "{}\n{answer}", explanation.code);
        count += 1;
        if !matches!(explanation.shown, Reproduction::Command(command) if is_data(command)) {
            left.extend(left_in_english(&answer));
        }
    }
    assert!(count >= 160, "{count} examples are shown");
    assert!(left.is_empty(), "{} are left:\n{}", left.len(), left.join("\n"));
}
