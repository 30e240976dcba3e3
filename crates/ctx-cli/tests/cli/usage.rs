//! Command lines that are wrong, and paths that cannot be used: exit code and message.

use crate::Folder;
use crate::assemble::{AGENT, CHAT};

/// Runs each command line of a table: its exit code, and below it how its error begins. Nothing is printed or written.
#[track_caller]
fn check(table: &str) {
    let folder = Folder::with(&[("a.yaml", AGENT), ("c.json", CHAT), ("presets/p.yaml", "")]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let lines: Vec<&str> = table.trim().lines().map(str::trim).collect();
    for row in lines.chunks(2) {
        let (code, command) = row[0].split_once(' ').unwrap();
        let told = folder.ctx(command);
        let expected = format!("exit code {code}\n=== errors\nerror: {}", row[1]);
        assert!(told.starts_with(&expected), "{command}: {told}");
    }
    let mut names = folder.names();
    names.retain(|name| name != ".home");
    assert_eq!(names, ["a.yaml", "c.json", "empty", "presets"]);
}

#[test]
fn usage_errors_are_told() {
    check(
        r"
        2 asemble
            unrecognized subcommand 'asemble'
        2 assemble --at yesterday
            `--at yesterday` is not an RFC 3339 time such as 2026-01-31T12:00:00Z
        2 assemble --tz Mars/Base
            `--tz Mars/Base` is not a time zone; use a name such as Asia/Shanghai or UTC
        2 assemble --seed -1
            invalid value '-1' for '--seed <N>': expected a whole number from 0 to 18446744073709551615
        2 assemble --context-tokens -1
            invalid value '-1' for '--context-tokens <N>': expected a whole number from 0 to 1000000000; use 0 for the model's context window
        2 assemble --input Hi --reserve 1e30
            invalid value '1e30' for '--reserve <N>': expected a whole number from 0 to 1000000000
        2 assemble --input Hi --format completion --template chatmi
            `--template chatmi` is neither a template nor a file; did you mean `chatml`?
        2 recall - --session -
            standard input (`-`) can be read only once
        2 recall walnuts --session c.json --budget -1
            unexpected argument '-1' found
        2 chat a.yaml --once Hello
            no API key; set `OPENAI_API_KEY`, use `--key-env` or `--key-file`, or name a local server with `--base-url`
        2 chat a.yaml --once Hello --key-env NO_SUCH_KEY
            the environment variable `NO_SUCH_KEY` is not set
        2 check --explain CTX0219
            unknown code `CTX0219`; did you mean `CTX0209` (unknown group), `CTX0210` (invalid pattern in modelMatch) or `CTX0211` (invalid historyWhenUnplaced)?
        2 check --explain 9999
            unknown code `CTX9999`; docs/diagnostics.md lists all codes
        2 check --explain 65536
            `65536` is not a diagnostic code; use a code such as `CTX0200`
        2 check --explain CTX02OO
            `CTX02OO` is not a diagnostic code; use a code such as `CTX0200`
        2 check --explain CTX0200 a.yaml
            the argument
        2 completions tcsh
            invalid value 'tcsh'
        2 compress budget --session c.json
            name a model with `--model`, or several with `--what-if`
        2 compress plan --session c.json --budget 150 --counter model
            `--counter model` requires a model; set one with `--model`
        2 compress run --session c.json --budget 30 --strategy telegrafic
            unknown strategy `telegrafic`; did you mean `telegraphic`?
        2 explain 3
            no agent file `3`; to select a message, use `--message 3`
        2 explain preset:identity
            no agent file `preset:identity`; to select a message, use `--message preset:identity`
        2 explain --message 0
            no message `0`; the context has no messages
        2 schema agnet
            unknown schema `agnet`; did you mean `agent`?
        2 schema card
            unknown schema `card`; use one of agent, preset, session, profile, worldbook, case, config, report, life, import-report
        ",
    );
}

#[test]
fn paths_that_cannot_be_used_are_told() {
    check(
        r"
        3 assemble missing.yaml
            cannot read `missing.yaml`: no such file or folder
        3 anchors list missing.yaml --json
            cannot read `missing.yaml`: no such file or folder
        3 assemble presets
            `presets` is a folder, not a file
        3 assemble --input Hi --report missing/r.json
            cannot write `missing/r.json`: no such file or folder
        3 assemble --input Hi --report .
            cannot write `.`: it is a folder
        3 assemble a.yaml --assets a.yaml --input Hi
            `a.yaml` is a file, not a folder
        3 chat a.yaml --once Hi --model m --base-url http://127.0.0.1:9 --tools-dir a.yaml
            `a.yaml` is a file, not a folder
        3 check empty
            nothing to check in `empty`: no JSON, JSON Lines or YAML file of a known type, and no `ctx.toml`
        3 compress plan --session none/*.json --mask
            no conversations in `none/*.json`
        3 init a.yaml
            `a.yaml` is a file; name a folder
        3 macros expand {{user}} --env none.json
            cannot read `none.json`: no such file or folder
        3 schema agent --out a.yaml
            cannot create the folder `a.yaml`: a file of that name exists
        3 serve a.yaml
            `a.yaml` is a file, not a folder
        3 session list --store s.db
            no store `s.db`
        3 studio a.yaml --no-open
            `a.yaml` is a file, not a folder
        3 studio missing --no-open --port 0
            cannot open the folder `missing`
        3 test presets
            no test case in `presets`; a case needs an `agent`, `session`, or `case` file, or `expected.txt`
        3 test nowhere
            cannot read the folder `nowhere`: no such file or folder
        3 trust nope
            cannot open the folder `nope`: no such file or folder
        ",
    );
    #[cfg(unix)]
    check(
        r"
        3 assemble a.yaml/b.yaml
            cannot read `a.yaml/b.yaml`: a part of the path is a file
        3 init a.yaml/demo
            cannot create the folder `a.yaml/demo`: a part of the path is a file
        ",
    );
}
