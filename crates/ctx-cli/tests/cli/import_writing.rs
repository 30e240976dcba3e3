//! What `ctx import` writes: all below its folder, all or nothing.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::Folder;

fn card() -> Value {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Ada", "description": "D" } })
}

fn book(name: &str) -> Value {
    json!({ "name": name, "entries": { "0": { "key": ["a"], "content": "c" } } })
}

/// A card with a file of this name beside it.
fn archive(name: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [("card.json", card().to_string()), (name, "mine".to_owned())] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// All files below a folder with what they hold, but for what is below `out`; links are not followed.
fn outside(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let (kind, path) = entry.map(|entry| (entry.file_type().unwrap(), entry.path())).unwrap();
            if kind.is_dir() && !path.ends_with("out") {
                folders.push(path.clone());
            }
            let content = if kind.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            if !path.ends_with("out") {
                found.insert(path, content);
            }
        }
    }
    found
}

/// Runs an import below a folder of its own; returns the exit code and the errors, and checks that all outside of
/// `out` is as it was.
#[track_caller]
fn import(folder: &Folder, arguments: &str) -> (i32, String) {
    let before = outside(folder.path());
    let output = folder.command(&format!("import {arguments}")).output().unwrap();
    assert_eq!(outside(folder.path()), before, "{arguments}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    (output.status.code().expect("no signal ended it"), errors)
}

#[test]
fn names_in_archives_lead_nowhere_else() {
    for name in ["../own", "/etc/own", "..\\..\\own", "agent.yaml"] {
        let folder = Folder::with(&[]);
        folder.write("deep/er/card.charx", &archive(name));
        let (code, errors) = import(&folder, "deep/er/card.charx --out out");
        assert!(matches!(code, 0 | 3), "{name:?}: {code} {errors}");
        let agent = std::fs::read_to_string(folder.path().join("out/agent.yaml"));
        assert_eq!(agent.is_ok(), code == 0, "{name:?}");
        assert!(agent.is_err() || agent.unwrap().contains("Ada"), "{name:?}");
    }
}

#[test]
fn what_is_in_the_way_stays_and_nothing_is_written() {
    let card = card().to_string();
    let is_in_the_way = |name: &str, said: &str| {
        let folder = Folder::with(&[("card.json", card.as_str()), (name, "mine")]);
        let (code, errors) = import(&folder, "card.json --out out");
        assert!(code != 0 && errors.contains(said), "{name}: {code} {errors}");
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "mine");
        assert!(!folder.path().join("out/profile.yaml").exists());
    };
    is_in_the_way("out", "`out`");
    is_in_the_way("out/agent.yaml/mine", "it is a folder");
    let folder = Folder::with(&[
        ("card.json", card.as_str()),
        ("book.json", book("Sky").to_string().as_str()),
        ("out/worldbooks", "mine"),
    ]);
    let (code, errors) = import(&folder, "card.json book.json --out out");
    assert!(code != 0 && errors.contains("worldbooks"), "{code} {errors}");
    assert!(!folder.path().join("out/agent.yaml").exists());
}

#[test]
fn keeps_edited_files_without_force() {
    let folder = Folder::with(&[
        ("card.json", card().to_string().as_str()),
        ("book.json", book("Sky").to_string().as_str()),
    ]);
    let import_all = |options: &str| import(&folder, &format!("card.json book.json --out out{options}"));
    assert_eq!(import_all("").0, 0);
    // The same content is not a change.
    assert_eq!(import_all("").0, 0);
    folder.write("out/mine.txt", b"mine");
    folder.write("out/agent.yaml", b"name: Edited\n");
    let (code, errors) = import_all("");
    let expected =
        "nothing written: `out/agent.yaml` exists and differs; use another folder, or add `--force`\n";
    assert!(code == 2 && errors.ends_with(expected), "{code} {errors}");
    folder.write("out/worldbooks/Sky.json", b"{}");
    let (code, errors) = import_all("");
    assert!(
        code == 2 && errors.contains("2 files exist and differ, such as `out/agent.yaml`"),
        "{code} {errors}"
    );
    assert_eq!(std::fs::read(folder.path().join("out/agent.yaml")).unwrap(), b"name: Edited\n");
    assert_eq!(import_all(" --force").0, 0);
    assert!(std::fs::read_to_string(folder.path().join("out/agent.yaml")).unwrap().contains("Ada"));
    assert_eq!(std::fs::read(folder.path().join("out/mine.txt")).unwrap(), b"mine");
}

#[test]
fn hint_names_imported_profile_and_conversation() {
    let folder = Folder::with(&[("card.json", card().to_string().as_str())]);
    folder.write("personas.json", br#"{"personas":{"a.png":"Kim"},"default_persona":"a.png","persona_descriptions":{"a.png":{"description":"A sailor."}}}"#);
    folder.write("chat.json", br#"[{"role":"user","content":"Hi"}]"#);
    let hint = |files: &str| {
        let (code, errors) = import(&folder, &format!("{files} --out out --force"));
        assert_eq!(code, 0, "{errors}");
        errors.lines().last().unwrap_or_default().to_owned()
    };
    let told = |files: &str| {
        format!("next: `ctx assemble {files} --input \"Hello\"` shows the messages that a model receives")
    };
    assert_eq!(hint("card.json"), told("out/agent.yaml"));
    let all = "out/agent.yaml --profile out/profile.yaml --session out/conversations/chat.json";
    assert_eq!(hint("card.json personas.json chat.json"), told(all));
}

#[test]
#[cfg(unix)]
fn links_in_the_folder_are_not_followed() {
    for (link, target) in [("out/worldbooks", "../elsewhere"), ("out/agent.yaml", "../elsewhere/file")] {
        let files = [("card.json", card().to_string()), ("book.json", book("Sky").to_string())];
        let folder = Folder::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
        folder.write("elsewhere/file", b"mine");
        std::fs::create_dir(folder.path().join("out")).unwrap();
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
        let (code, errors) = import(&folder, "card.json book.json --out out");
        assert!(code != 0 && errors.contains("link"), "{link}: {code} {errors}");
    }
}

#[test]
fn a_report_is_not_written_onto_the_agent() {
    let folder = Folder::with(&[("card.json", card().to_string().as_str())]);
    for report in ["out/agent.yaml", "./out/agent.yaml"] {
        let (code, errors) = import(&folder, &format!("card.json --out out --report-file {report}"));
        assert!(code == 2 && errors.contains("a file of this import"), "{code} {errors}");
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn a_report_is_not_written_onto_the_agent_of_another_import() {
    let folder = Folder::with(&[("card.json", card().to_string().as_str())]);
    folder.write("chat.json", br#"[{"role":"user","content":"Hi"}]"#);
    assert_eq!(import(&folder, "card.json --out out").0, 0);
    let agent = || std::fs::read(folder.path().join("out/agent.yaml")).unwrap();
    let before = agent();
    let (code, errors) = import(&folder, "chat.json --out out --report-file out/agent.yaml");
    let expected =
        "error: cannot write the report to `out/agent.yaml`, the agent file of an import; use another file\n";
    assert!(code == 2 && errors.ends_with(expected), "{code} {errors}");
    assert_eq!(agent(), before);
    assert!(!folder.path().join("out/conversations").exists());
}

/// Runs an import on a system that lets no file have more than some hundred kilobytes, as one whose disk is full.
#[cfg(unix)]
fn import_on_a_full_disk(folder: &Folder) -> (Option<i32>, String) {
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" import card.json book.json --out out --force";
    let mut command = std::process::Command::new("sh");
    command.current_dir(folder.path()).env_clear().args(["-c", script, env!("CARGO_BIN_EXE_ctx")]);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_all_as_it_was() {
    let mut large = card();
    large["data"]["description"] = "d".repeat(1_000_000).into();
    let files = [("card.json", large.to_string()), ("book.json", book("Sky").to_string())];
    let folder = Folder::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let (code, errors) = import_on_a_full_disk(&folder);
    assert!(code == Some(3) && errors.contains("cannot write `out/agent.yaml`"), "{code:?} {errors}");
    assert!(!folder.path().join("out").exists());
    folder.write("out/agent.yaml", b"old: 1\n");
    let (code, errors) = import_on_a_full_disk(&folder);
    assert_eq!(code, Some(3), "{errors}");
    assert_eq!(std::fs::read(folder.path().join("out/agent.yaml")).unwrap(), b"old: 1\n");
    assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
}

/// Returns the files of a folder whose names are not those of temporary files.
#[cfg(unix)]
fn whole(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    files.filter(|path| path.extension().is_none_or(|ending| ending != "tmp")).collect()
}

#[test]
#[cfg(unix)]
fn an_import_that_is_killed_leaves_whole_files_and_the_agent_last() {
    const BOOKS: usize = 60;
    let folder = Folder::with(&[("card.json", card().to_string().as_str())]);
    let names: Vec<String> = (0..BOOKS).map(|number| format!("b{number}.json")).collect();
    for name in &names {
        folder.write(name, book(name).to_string().as_bytes());
    }
    for wait in [0, 1, BOOKS / 2, BOOKS] {
        let out = format!("out{wait}");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ctx"));
        command.current_dir(folder.path()).args(["import", "card.json"]).args(&names).args(["--out", &out]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        let books = folder.path().join(&out).join("worldbooks");
        while whole(&books).len() < wait && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for path in whole(&books) {
            let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert!(value.get("entries").is_some(), "{}", path.display());
        }
        if folder.path().join(&out).join("agent.yaml").exists() {
            assert_eq!(whole(&books).len(), BOOKS);
        }
    }
}
