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
