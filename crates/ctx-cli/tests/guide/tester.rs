//! The tester itself: it must fail where a page is wrong.

use std::path::Path;

use crate::output::{is_shown, renewed};
use crate::page::Page;
use crate::play::{Played, play};

#[track_caller]
fn played(page: &str) -> Played {
    play(&Page::read(page), &crate::root())
}

/// Checks how many faults a page has; `~~~` in it is a fence.
#[track_caller]
fn check(page: &str, faults: usize) {
    let played = played(&page.replace("~~~", "```"));
    assert_eq!(played.faults.len(), faults, "{:#?}", played.faults);
}

#[test]
fn what_is_printed_must_be_shown() {
    check("~~~console\n$ echo one\none\n$ echo 'two | three'\ntwo | three\n~~~\n", 0);
    check("~~~console\n$ echo one\ntwo\n~~~\n", 1);
    check("~~~console\n$ echo one\n~~~\n", 1);
    check("~~~console\n$ echo one\none\nmore\n$ echo two\n~~~\n", 2);
}

#[test]
fn a_failure_must_be_shown() {
    let error = "error: unknown code `CTX9999`; docs/diagnostics.md lists all codes";
    check(&format!("~~~console\n$ ctx check --explain 9999\n{error}\n[exit code 2]\n~~~\n"), 0);
    check(&format!("~~~console\n$ ctx check --explain 9999\n{error}\n~~~\n"), 1);
}

#[test]
fn files_and_folders_are_there_for_the_commands_below_them() {
    check(
        "~~~text notes/a.txt\nred\n~~~\n~~~console\n$ cd notes\n$ ls\na.txt\n$ cat a.txt > b\n$ cat b\nred\n~~~\n",
        0,
    );
    let change = "~~~diff notes/a.txt\n one\n-two\n+three\n~~~\n";
    check(
        &format!(
            "~~~text notes/a.txt\none\ntwo\n~~~\n{change}~~~console\n$ cat notes/a.txt\none\nthree\n~~~\n"
        ),
        0,
    );
    check(
        "~~~text a\nb\n~~~\n<!-- folder: crates/ctx-project/templates -->\n~~~console\n$ ls\nagent.yaml  case.yaml  conversation.json  ctx.toml  expected.txt  profile.yaml\n~~~\n",
        0,
    );
    check("~~~console\n$ echo Hello | ctx count --model gpt-5\nabout 0 tokens\n~~~\n", 1);
}

#[test]
fn commands_without_output_must_succeed() {
    let file = "~~~text a/b.yaml\npresetMessages: []\n~~~\n";
    check(&format!("{file}~~~sh\nctx check a/*.yaml   # a remark\nexport X=1\npip install x\n~~~\n"), 0);
    check("~~~sh\nctx check a.yaml\n~~~\n", 1);
    check("~~~sh\nctx macros list --dialekt aio\nctx studio no-such-folder\n~~~\n", 2);
    check("~~~sh\ncargo run -p ctx-cli -- check no-such-file.yaml\n~~~\n", 1);
}

#[test]
fn a_model_answers_what_the_page_says() {
    let agent = "~~~yaml agent.yaml\nname: Ada\npresetMessages: []\n~~~\n";
    let ask = "~~~console\n$ ctx chat agent.yaml --once Hello --model gpt-4o --base-url http://localhost:8080\nHi.\n~~~\n";
    check(&format!("<!-- answer: Hi. -->\n{agent}{ask}"), 0);
    check(&format!("<!-- answer: Ho. -->\n{agent}{ask}"), 1);
    check(&format!("<!-- answer: Hi. -->\n<!-- answer: Ho. -->\n{agent}{ask}"), 1);
}

#[test]
fn a_line_of_dots_stands_for_any_number_of_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(is_shown(&lines("a\n…\nd"), "a\nb\nc\nd\n"));
    assert!(is_shown(&lines("a\n…"), "a\n"));
    assert!(!is_shown(&lines("a\n…\nd"), "a\nb\n"));
    assert!(!is_shown(&lines("a\n…\na"), "a\n"));
    assert!(is_shown(&lines("took 3 ms\nin all"), "took 12 ms\nin all\n"));
    assert!(!is_shown(&lines("took 3 s"), "took 12 s\n"));
    assert_eq!(renewed(&lines("a\n…\nd"), "1\n2\n3\n4\n"), ["1", "…", "4"]);
    assert_eq!(renewed(&lines("a\n…\nd"), "1\n2\n"), ["1", "2"]);
}

#[test]
fn what_is_printed_is_written_into_the_page() {
    let page = "Say:\n\n~~~console\n$ echo one\ntwo\n\n$ echo three\n~~~\n\nEnd.\n".replace("~~~", "```");
    let renewed = played(&page).text;
    assert_eq!(
        renewed,
        "Say:\n\n~~~console\n$ echo one\none\n$ echo three\nthree\n~~~\n\nEnd.\n".replace("~~~", "```")
    );
    assert!(played(&renewed).faults.is_empty());
    assert!(Path::new(env!("CARGO_BIN_EXE_ctx")).exists());
}
