//! What `ctx import` and `ctx migrate` do with files that they cannot read, and what they say of it.

use base64::Engine as _;

use crate::Folder;

const CARD: &str = r#"{"spec":"chara_card_v2","data":{"name":"Ada","description":"D"}}"#;
const CHAT: &str = r#"[{"role":"user","content":"Hi"}]"#;
const JUNK: &str = r#"{"compilerOptions":{"a":1}}"#;
const NOVEL: &str = r#"{"lorebookVersion":5,"entries":""}"#;
const OLD: &str = r#"{"presetMessages":[{"type":"user_profile","content":"User Profile"}]}"#;
const HALVES: &str = r#"{"index":{"id":"s"},"detail":{"rootNodeId":"r","activeLeafId":"r","nodes":{"r":{"id":"r","childrenIds":[]}}}}"#;
const BROKEN: &str = "{\"broken";

/// Runs a command in a folder with these files; checks its exit code, that each line is said, and what the folder
/// holds that was not given.
#[track_caller]
fn check(files: &[(&str, &str)], command: &str, (code, said, made): (i32, &[&str], &[&str])) {
    let folder = Folder::with(files);
    let mut answer = folder.ctx(command);
    answer.retain(|letter| letter != '\r');
    assert!(answer.starts_with(&format!("exit code {code}\n")), "{answer}");
    let lines: Vec<String> =
        answer.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in said {
        assert!(lines.iter().any(|said| said == line), "{line}\n{answer}");
    }
    let is_given = |name: &str| {
        let content = std::fs::read_to_string(folder.path().join(name));
        files.iter().any(|(given, before)| *given == name && content.as_ref().is_ok_and(|now| now == before))
    };
    let mut names = all(folder.path(), "");
    names.retain(|name| !is_given(name) && !name.contains(".ctx/"));
    assert_eq!(names, made, "{answer}");
}

/// Returns the names of the files below a folder, in order.
fn all(folder: &std::path::Path, before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{before}{}", entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            let below = all(&entry.path(), &format!("{name}/"));
            names.extend(if below.is_empty() { vec![format!("{name}/")] } else { below });
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

#[test]
fn where_nothing_can_be_imported_nothing_is_written() {
    let unknown = "error[CTX0622]: unknown file format";
    let nothing = "error: no importable files";
    for (name, content, row, found) in [
        ("a.json", JUNK, "a.json unknown", unknown),
        ("a.yaml", "a: 1\nb: 2\n", "a.yaml unknown", unknown),
        (
            "a.json",
            NOVEL,
            "a.json unknown",
            "error[CTX0607]: expected a worldbook (an object with `entries`), found a lorebook of another application",
        ),
        ("a.json", BROKEN, "a.json unreadable", "--> a.json"),
    ] {
        check(&[(name, content)], &format!("import {name} --out out"), (3, &[row, found, nothing], &[]));
        let command = format!("import {name} --out out --report-file report.json");
        check(&[(name, content)], &command, (3, &[row, nothing, "wrote report.json"], &["report.json"]));
    }
}

#[test]
fn a_file_of_which_nothing_has_an_effect_is_told() {
    let said = ["warning[CTX0625]: nothing in the file has an effect; it is kept unchanged"];
    for (file, made) in [
        (r#"{"spec":"chara_card_v2","data":5}"#, ["out/agent.yaml"].as_slice()),
        (r#"{"power_user":{"x":5}}"#, &["out/agent.yaml"]),
    ] {
        check(&[("a.json", file)], "import a.json --out out", (0, &said, made));
    }
}

#[test]
fn what_is_unknown_is_kept_where_there_is_an_agent() {
    let rows = ["junk.json unknown", "card.json card_v2"];
    let files = [("junk.json", JUNK), ("card.json", CARD)];
    check(&files, "import junk.json card.json --out out", (3, &rows, &["out/agent.yaml"]));
    let rows = ["junk.json unknown", "chat.json chat_messages"];
    let files = [("junk.json", JUNK), ("chat.json", CHAT)];
    check(&files, "import junk.json chat.json --out out", (3, &rows, &["out/conversations/chat.json"]));
}

#[test]
fn a_file_that_cannot_be_read_takes_nothing_from_an_agent_that_is_there() {
    for (name, content) in [("bad.json", BROKEN), ("bad.json", JUNK), ("bad.json", NOVEL)] {
        let fresh = [(name, content), ("card.json", CARD)];
        check(
            &fresh,
            "import bad.json card.json --out out",
            (3, &["wrote 2 files to out"], &["out/agent.yaml"]),
        );
        let there = [(name, content), ("card.json", CARD), ("out/agent.yaml", "mine: 1\n")];
        let said = "error: nothing written: `out` has an `agent.yaml`, and `bad.json` is unreadable; omit it or use another folder";
        check(&there, "import bad.json card.json --out out", (3, &[said], &[]));
    }
}

#[test]
fn strict_writes_nothing_but_the_report() {
    let said = ["error: nothing written: `--strict` rejects errors and unsupported fields"];
    for bad in [BROKEN, JUNK, NOVEL, CARD] {
        let files = [("card.json", CARD), ("bad.json", bad), ("out/agent.yaml", "mine: 1\n")];
        check(&files, "import card.json bad.json --out out --strict", (1, &said, &[]));
        let command = "import card.json bad.json --out new --strict --report-file report.json";
        check(&files, command, (1, &["wrote report.json"], &["report.json"]));
    }
    check(&[("card.json", CARD)], "import card.json --out out --strict", (0, &[], &["out/agent.yaml"]));
}

#[test]
fn findings_in_pictures_and_base64_show_no_bytes_of_these() {
    let book = r#"{"spec":"chara_card_v2","data":{"name":"Ada","character_book":{"entries":[{"keys":5}]}}}"#;
    let card = serde_json::from_str(book).unwrap();
    let folder = Folder::with(&[]);
    let picture = ctx_preset_import::export_card_picture(&card, None).unwrap();
    folder.write("picture.png", &picture);
    folder.write("base64.txt", base64::engine::general_purpose::STANDARD.encode(book).as_bytes());
    for name in ["picture.png", "base64.txt"] {
        let answer = folder.ctx(&format!("import {name} --out {name}.out"));
        let place = format!("--> {name} /data/character_book/entries/0/keys\n");
        assert!(answer.contains(&place) && !answer.contains(" | "), "{answer}");
    }
}

#[test]
fn migrate_changes_all_or_none() {
    let files = [("a.json", OLD), ("h.json", HALVES), ("card.json", CARD)];
    let said = ["would change a.json", "would change 2 of 3 files; cannot migrate 1"];
    check(&files, "migrate a.json h.json card.json", (3, &said, &[]));
    let said = [
        "would change a.json",
        "nothing changed: cannot migrate 1 of 3 files; remove these from the command",
        "= help: use `ctx import` for files of other applications; they cannot be migrated",
    ];
    check(&files, "migrate a.json h.json card.json --write", (3, &said, &[]));
    let said = ["changed a.json", "changed 2 of 2 files"];
    let made = ["a.json", "a.json.bak", "h.json", "h.json.bak"];
    check(&files, "migrate a.json h.json ./a.json --write", (0, &said, &made));
}

#[test]
fn migrate_names_a_backup_that_is_in_the_way() {
    let files = [("a.json", OLD), ("h.json", HALVES), ("h.json.bak", "mine")];
    let said = "error: nothing changed: `h.json.bak` exists; move it away, then migrate again";
    check(&files, "migrate a.json h.json --write", (3, &[said], &[]));
}

#[test]
fn migrate_takes_backups_back_where_a_file_cannot_be_written() {
    let folder = Folder::with(&[("a.json", OLD), ("h.json", HALVES)]);
    let path = folder.path().join("h.json");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let told = folder.ctx("migrate a.json h.json --write");
    assert!(told.ends_with("error: cannot write `h.json`: permission denied\n"), "{told}");
    assert!(told.starts_with("exit code 3\n"), "{told}");
    assert_eq!(folder.names(), ["a.json", "h.json"]);
    let content = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!([content("a.json"), content("h.json")], [OLD, HALVES]);
}

#[test]
fn a_script_that_cannot_run_is_told_at_its_place() {
    let scripts = r#"[{"scriptName":"x","findRegex":"/a(b/g","replaceString":"","placement":[2]}]"#;
    let said = [
        "warning[CTX0770]: invalid regex pattern `/a(b/g`: invalid pattern at byte 1: unterminated group",
        "--> x.json:1:32",
    ];
    check(&[("x.json", scripts)], "import x.json", (0, &said, &[]));
}
