//! Files that were made to hurt: no verb panics, hangs or floods the terminal.

use crate::Folder;

/// Files that mean harm, or nothing.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let line = |n| format!("a{n}: &a{n} [{}]\n", format!("*a{},", n - 1).repeat(9));
    let bomb = (1..12).map(line).collect::<Vec<_>>().concat();
    vec![
        ("empty", Vec::new()),
        ("nul", b"\0\0\0\0".to_vec()),
        ("bytes", (0..=255).collect()),
        ("half a mark", b"\xFF\xFE\x00".to_vec()),
        ("brackets", b"[".repeat(200_000)),
        ("braces", b"{\"a\":".repeat(40_000)),
        ("yaml brackets", [b"a: ".to_vec(), b"[".repeat(200_000)].concat()),
        ("dashes", b"- ".repeat(100_000)),
        ("bomb", format!("a0: &a0 [x,x,x,x,x,x,x,x,x]\n{bomb}").into_bytes()),
        ("self", b"presetMessages: &a [*a]\n".to_vec()),
        ("merge", b"presetMessages: &a\n  <<: *a\n".to_vec()),
        ("null", b"null".to_vec()),
        ("number", b"1e999".to_vec()),
        ("lone surrogate", b"{\"presetMessages\":[{\"\\ud800\":\"\\udfff\"}]}".to_vec()),
        ("long line", [b"[{\"content\":\"".to_vec(), b"x{{".repeat(500_000), b"\"}]".to_vec()].concat()),
        ("cycle", b"{\"rootNodeId\":\"a\",\"activeLeafId\":\"a\",\"nodes\":{\"a\":{\"parentId\":\"a\",\"childrenIds\":[\"a\",\"a\"]}}}".to_vec()),
        ("odd nodes", b"{\"rootNodeId\":[],\"nodes\":{\"\":null,\"b\":7,\"c\":{\"parentId\":\"\"}}}".to_vec()),
    ]
}

#[test]
fn no_file_makes_any_verb_panic() {
    let folder = Folder::with(&[]);
    for (name, bytes) in hostile() {
        folder.write("f.yaml", &bytes);
        for verb in [
            "assemble",
            "assemble --session",
            "assemble --profile",
            "assemble --tools",
            "anchors list",
            "check",
        ] {
            let output = folder.command(&format!("{verb} f.yaml")).output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{verb} of {name}: {errors}");
            assert!(!errors.contains("panicked") && errors.len() < 100_000, "{verb} of {name}: {errors}");
        }
    }
}

#[test]
fn shows_no_control_characters_of_arguments() {
    let evil = "--\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}.json";
    let folder = Folder::with(&[("agent.yaml", "name: Ada\n")]);
    for lang in ["en", "zh"] {
        for arguments in [
            vec!["check", evil],
            vec!["--lang", evil],
            vec!["macros", evil],
            vec!["assemble", "--context-tokens", evil],
            vec!["assemble", "--worldbook", "a\u{1b}[2Jb"],
            vec!["migrate", "\u{1b}[2Jx.json"],
            vec!["export", "agent.yaml", "--to", "st-preset", "--out", "\u{1b}]0;x\u{7}.json"],
        ] {
            let output = folder.command("").env("CTX_LANG", lang).args(&arguments).output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            let is_bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!errors.contains(is_bad), "{arguments:?}: {errors:?}");
            let wrote = String::from_utf8(output.stdout).unwrap();
            assert!(!wrote.contains(is_bad), "{arguments:?}: {wrote:?}");
        }
    }
}
