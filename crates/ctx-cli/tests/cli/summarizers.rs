//! Programs that write summaries: here they are scripts.

use insta::assert_snapshot;

use crate::masks::{AT, chat, folder};

/// Compresses by a script, and checks that the file is as it was unless the script is good.
#[track_caller]
fn run(script: &str, more: &str) -> String {
    let folder = folder();
    folder.write("s.sh", script.as_bytes());
    let before = chat(&folder);
    let mut command = folder.command("compress run --session chat.json --mask --from 1 --to 10 --write");
    command.args(AT.split(' ')).args(more.split_whitespace()).args(["--summarizer", "cmd:/bin/sh s.sh"]);
    command.env("PATH", "/usr/bin:/bin");
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    assert_eq!(chat(&folder) == before, code != 0, "a failure changes nothing");
    let text = String::from_utf8(if code == 0 { output.stdout } else { output.stderr }).unwrap();
    format!("exit code {code}\n{text}")
}

#[test]
fn a_program_writes_the_summary() {
    assert_snapshot!(run("grep -q '=== conversation ===' && echo 'Ada Bell has room 12, B-7781.'", ""), @"
    exit code 0
    summarize 10 messages (257 tokens) from `n1` to `n10`

    `compression_8c38f6836520a663` (system, 11 tokens; written by the summarizer):
      Ada Bell has room 12, B-7781.

    compressed 10 messages, saved 246 tokens
    sent now: 54 of 300 tokens; 1 summary hides 10 messages
    wrote `chat.json`; undo this with `ctx session undo`
    ");
}

#[test]
fn what_is_no_summary_is_refused() {
    let all = ["echo no key >&2; exit 1", "echo 'They have booked a room for'"];
    assert_snapshot!(all.map(|script| run(script, "--set summaryRetries=0")).concat(), @"
    exit code 4
    error: the summarizer failed (not available): `/bin/sh` exited with code 1: no key; `chat.json` is unchanged
    exit code 4
    error: invalid summary: the reply is truncated; `chat.json` is unchanged
    ");
}

#[test]
fn an_interrupt_ends_the_wait() {
    assert_snapshot!(run("kill -INT $PPID; exec sleep 1000", ""), @"
    exit code 4
    error: cancelled or timed out; `chat.json` is unchanged
    ");
}

#[test]
fn a_failure_is_data_too() {
    let folder = folder();
    let answer = folder
        .ctx("compress run --session chat.json --mask --json --from 1 --to 4 --summarizer cmd:/nowhere/llm");
    let message = "the summarizer failed (not found): `/nowhere/llm`: no such program";
    assert!(answer.starts_with("exit code 4\n"), "{answer}");
    assert!(
        answer.ends_with(&format!("=== errors\nerror: {message}; `chat.json` is unchanged\n")),
        "{answer}"
    );
    let result = crate::assemble::json(&answer);
    let outcome = serde_json::json!({ "kind": "failed", "reason": "notFound", "detail": message });
    assert_eq!(result["outcome"], outcome);
    assert_eq!((&result["plan"]["after"], &result["written"]), (&"n4".into(), &false.into()));
}

#[test]
fn a_window_makes_parts() {
    let script = "cat > last; echo 'Ada Bell has room 12.'";
    let answer = run(script, "--summarizer-window 690 --set summaryMaxTokens=60");
    assert!(answer.contains("written by the summarizer, in "), "{answer}");
}

#[test]
fn a_file_that_changes_meanwhile_is_not_written_over() {
    let run = |change: &str| {
        let folder = folder();
        let script = format!("sed '{change}' chat.json > x && cp x chat.json; echo 'Ada Bell has room 12.'");
        folder.write("s.sh", script.as_bytes());
        let mut command = folder.command("compress run --session chat.json --mask --from 1 --to 10 --write");
        command.args(["--summarizer", "cmd:/bin/sh s.sh"]).env("PATH", "/usr/bin:/bin");
        (command.output().unwrap(), folder)
    };
    let (output, folder) = run("s/Rex is added to/Rex was added to/");
    assert!(output.status.success() && chat(&folder).contains("isCompressionNode"));
    assert!(chat(&folder).contains("Rex was added to"), "a change elsewhere stays");

    let (output, folder) = run("s/room 12 is booked/room 14 is booked/");
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"error: the messages changed during summarization; `chat.json` is unchanged");
    assert!(!chat(&folder).contains("isCompressionNode"));
}
