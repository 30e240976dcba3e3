//! Tools that look at the files of one folder.

use std::fs;
use std::path::Path;

use ctx_chat::{FolderTools, ToolHost as _};
use ctx_pipeline::Cancel;
use ctx_types::ToolCall;

/// A folder with a secret beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("secret.txt", "the secret");
        for (name, text) in [
            ("in/a.txt", "one\ntwo red\nthree\n"),
            ("in/sub/b.md", "red umbrella"),
            ("in/.hidden/c.txt", "red"),
            ("in/empty/.keep", ""),
        ] {
            place.write(name, text);
        }
        fs::write(place.0.path().join("in/bytes.bin"), [0xff, 0xfe]).unwrap();
        place
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn call(&self, name: &str, arguments: &str) -> String {
        let tools = FolderTools::open(&self.0.path().join("in")).unwrap();
        let call = ToolCall { id: "a".into(), name: name.into(), arguments: arguments.into() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(tools.call(&call, &Cancel::default()));
        result.unwrap_or_else(|error| format!("error: {error}"))
    }
}

#[track_caller]
fn check(name: &str, arguments: &str, expected: &str) {
    assert_eq!(Place::new().call(name, arguments), expected, "{name} {arguments}");
}

#[test]
fn a_file_is_read_whole_or_in_part() {
    check("read_file", r#"{"path":"a.txt"}"#, "one\ntwo red\nthree\n");
    check("read_file", r#"{"path":"./sub/b.md"}"#, "red umbrella");
    check(
        "read_file",
        r#"{"path":"a.txt","first_line":2,"lines":1}"#,
        "two red\n[1 more lines; continue at line 3]",
    );
    check("read_file", r#"{"path":"a.txt","first_line":9}"#, "[the file ends before line 9]");
}

#[test]
fn a_folder_is_listed_by_name() {
    check("list_folder", r#"{"path":"."}"#, ".hidden/\na.txt 18\nbytes.bin 2\nempty/\nsub/");
    check("list_folder", "{}", ".hidden/\na.txt 18\nbytes.bin 2\nempty/\nsub/");
}

#[test]
fn a_text_is_found_with_its_file_and_line() {
    check("search_text", r#"{"text":"red"}"#, "a.txt:2: two red\nsub/b.md:1: red umbrella");
    check("search_text", r#"{"text":"red","path":"sub"}"#, "sub/b.md:1: red umbrella");
    check("search_text", r#"{"text":"red","path":"a.txt"}"#, "a.txt:2: two red");
    check("search_text", r#"{"text":"blue"}"#, "[no matches in 3 files]");
}

#[test]
fn what_cannot_be_read_is_told() {
    check("read_file", r#"{"path":"b.txt"}"#, "error: `b.txt`: no such file or folder");
    check("read_file", r#"{"path":"sub"}"#, "error: `sub` is not a file");
    check("read_file", r#"{"path":"bytes.bin"}"#, "error: `bytes.bin` is not valid UTF-8");
    check("list_folder", r#"{"path":"a.txt"}"#, "error: `a.txt`: not a folder");
    check("read_file", "{}", "error: the argument `path` is missing or not a string");
    check(
        "read_file",
        r#"{"path":"a.txt","lines":0}"#,
        "error: the argument `lines` must be a whole number from 1",
    );
    check("search_text", r#"{"text":""}"#, "error: the text to find is empty");
    check("rm", "{}", "error: unknown tool `rm`");
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let place = Place::new();
    let outside = place.0.path().join("secret.txt");
    let paths = [
        "../secret.txt",
        "sub/../../secret.txt",
        "./../secret.txt",
        "..",
        "sub/../..",
        "/etc/passwd",
        outside.to_str().unwrap(),
        "a.txt/../../secret.txt",
        "....//secret.txt",
        "%2e%2e/secret.txt",
        "..\\secret.txt",
        "C:\\Windows\\win.ini",
        "\\\\server\\share",
        "a.txt\u{0}",
        "",
    ];
    for path in paths {
        for name in ["read_file", "list_folder", "search_text"] {
            let arguments = serde_json::json!({ "path": path, "text": "secret" }).to_string();
            let result = place.call(name, &arguments);
            assert!(!result.contains("the secret") && !result.contains("root:"), "{name} {path:?}: {result}");
            let is_folder_itself = path.is_empty() && name != "read_file";
            assert!(result.starts_with("error:") || is_folder_itself, "{name} {path:?}: {result}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let place = Place::new();
    let inside = place.0.path().join("in");
    std::os::unix::fs::symlink("../secret.txt", inside.join("out")).unwrap();
    std::os::unix::fs::symlink(place.0.path(), inside.join("up")).unwrap();
    std::os::unix::fs::symlink("a.txt", inside.join("same")).unwrap();
    for path in ["out", "up/secret.txt", "same", "up"] {
        for name in ["read_file", "list_folder", "search_text"] {
            let arguments = serde_json::json!({ "path": path, "text": "secret" }).to_string();
            let result = place.call(name, &arguments);
            assert_eq!(result, format!("error: `{path}` is not allowed: links are not followed"), "{name}");
        }
    }
    assert_eq!(place.call("search_text", r#"{"text":"secret"}"#), "[no matches in 3 files]");
    assert!(place.call("list_folder", "{}").contains("up (a link; links are not followed)"));
}

#[test]
fn what_is_too_much_is_cut_and_told() {
    let place = Place::new();
    place.write("in/long.txt", &"a red line of a long file\n".repeat(20_000));
    let text = place.call("read_file", r#"{"path":"long.txt","lines":100000}"#);
    assert!(text.ends_with("bytes; continue at line 10083]"), "{}", &text[text.len() - 100..]);
    let text = place.call("read_file", r#"{"path":"long.txt"}"#);
    assert!(text.ends_with("[18000 more lines; continue at line 2001]"));
    let found = place.call("search_text", r#"{"text":"red","path":"long.txt"}"#);
    assert_eq!(found.lines().count(), 200);
    place.write("in/huge.txt", &"x".repeat((4 << 20) + 1));
    assert_eq!(place.call("read_file", r#"{"path":"huge.txt"}"#), "error: `huge.txt` is larger than 4 MiB");
    for number in 0..1_001 {
        place.write(&format!("in/many/{number}"), "");
    }
    assert!(place.call("list_folder", r#"{"path":"many"}"#).ends_with("[1 more entries]"));
}

#[test]
fn a_folder_that_is_none_cannot_be_opened() {
    assert!(FolderTools::open(Path::new("/no/such/folder")).is_err());
}
