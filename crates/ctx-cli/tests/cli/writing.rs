//! What is written: never onto a file that the same run reads, never through a link that nobody named.

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT};
use crate::{Folder, ctx};

/// A folder with an agent, a conversation and everything else that a turn may read.
fn project() -> Folder {
    let files = [
        ("a.yaml", AGENT),
        ("c.json", CHAT),
        ("me.yaml", "name: Alex\ncontent: likes tea\n"),
        ("models.json", "[]"),
        ("settings.json", "{}"),
        ("tools.json", "[]"),
        ("ctx.toml", "agent = 'a.yaml'\n"),
    ];
    Folder::with(&files)
}

/// All files that a turn may read.
const ALL: &str = "--session c.json --profile me.yaml --models models.json --model-settings settings.json \
                   --tools tools.json";

/// Runs `ctx`, and checks that it is refused with a message and that all files are as they were.
#[track_caller]
fn check(folder: &Folder, arguments: &str, message: &str) {
    let contents = |folder: &Folder| {
        let contents = |name: &String| std::fs::read(folder.path().join(name)).ok();
        folder.names().iter().map(|name| (name.clone(), contents(name))).collect::<Vec<_>>()
    };
    let before = contents(folder);
    let beside = "from `ctx.toml`: agent `a.yaml`; use `--no-config` to ignore these\n";
    let told = folder.ctx(arguments).replace(beside, "");
    assert_eq!(told, format!("exit code 2\n=== errors\nerror: {message}\n"));
    assert_eq!(contents(folder), before);
}

#[test]
fn a_report_is_not_written_onto_any_file_that_is_read() {
    let folder = project();
    for name in ["a.yaml", "c.json", "me.yaml", "models.json", "settings.json", "tools.json", "ctx.toml"] {
        let message = format!("cannot write `{name}`: this run reads it; use another file");
        check(&folder, &format!("assemble {ALL} --report {name}"), &message);
    }
    let message = "cannot write `a.yaml`: this run reads it; use another file";
    check(&folder, "explain a.yaml --input Hi --html a.yaml", message);
    assert!(folder.ctx(&format!("assemble {ALL} --report r.json")).starts_with("exit code 0\n"));
    assert!(folder.ctx(&format!("assemble {ALL} --report r.json")).starts_with("exit code 0\n"));
}

#[test]
fn another_path_to_a_file_that_is_read_is_refused_too() {
    let folder = project();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let message = |name: &str| {
        format!(
            "cannot write `{name}`: it is the same file as `a.yaml`, which this run reads; use another file"
        )
    };
    check(&folder, "assemble a.yaml --report deep/../a.yaml", &message("deep/../a.yaml"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../a.yaml", folder.path().join("deep/link.json")).unwrap();
        check(&folder, "assemble a.yaml --report deep/link.json", &message("deep/link.json"));
        std::fs::hard_link(folder.path().join("a.yaml"), folder.path().join("other.json")).unwrap();
        check(&folder, "assemble a.yaml --report other.json", &message("other.json"));
    }
}

#[test]
#[cfg(unix)]
fn the_files_behind_standard_input_and_output_are_refused_too() {
    use std::process::Stdio;

    let folder = project();
    let run = |arguments: &[&str], input: &str, output: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ctx"));
        command.current_dir(folder.path()).args(arguments).args(["--no-config", "--report", "r.json"]);
        let input = std::fs::File::open(folder.path().join(input)).unwrap();
        let output = std::fs::File::options().append(true).open(folder.path().join(output)).unwrap();
        let child = command.stdin(input).stdout(output).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    folder.write("r.json", CHAT.as_bytes());
    folder.write("out", b"");
    let same = "error: cannot write `r.json`: it is the same file as `standard input`, which this run reads; \
        use another file\n";
    assert_eq!(run(&["assemble", "--session", "-"], "r.json", "out"), (2, same.to_owned()));
    let output = "error: cannot write `r.json`: standard output is redirected to it; use another file\n";
    assert_eq!(run(&["assemble", "--session", "c.json"], "out", "r.json"), (2, output.to_owned()));
    assert_eq!(std::fs::read(folder.path().join("r.json")).unwrap(), CHAT.as_bytes());
}

#[test]
fn standard_input_is_no_place_to_write_to() {
    let message = "cannot write to `-`; name a file";
    check(&project(), "assemble --report -", message);
    check(&project(), "init -", message);
}

#[test]
fn a_result_that_a_case_takes_as_its_own_file_is_not_updated() {
    let folder = Folder::with(&[
        ("tests/a/case.yaml", "session: expected.txt\nagent: ../../a.yaml\n"),
        ("tests/a/expected.txt", CHAT),
        ("tests/b/agent.yaml", AGENT),
        ("a.yaml", AGENT),
    ]);
    assert_snapshot!(folder.ctx("test tests --update"), @"
    exit code 2
    === errors
    error: cannot write `tests/a/expected.txt`: this run reads it; use another file
    ");
    assert!(!folder.path().join("tests/b/expected.txt").exists());
    assert_eq!(std::fs::read_to_string(folder.path().join("tests/a/expected.txt")).unwrap(), CHAT);
}

#[test]
#[cfg(unix)]
fn only_a_link_that_the_user_names_is_followed() {
    use std::os::unix::fs::symlink;

    let folder = Folder::with(&[
        ("tests/a/agent.yaml", AGENT),
        ("tests/a/real", "old"),
        ("demo/x", ""),
        ("real", "old"),
    ]);
    symlink("real", folder.path().join("tests/a/expected.txt")).unwrap();
    symlink("../real", folder.path().join("demo/profile.yaml")).unwrap();
    symlink("real", folder.path().join("link.json")).unwrap();
    symlink("nowhere", folder.path().join("broken.json")).unwrap();
    assert_snapshot!(folder.ctx("test tests --update"), @"
    exit code 3
    === errors
    error: cannot write `tests/a/expected.txt`: it is a link
    ");
    assert_snapshot!(folder.ctx("init demo --force"), @"
    exit code 3
    === errors
    error: cannot write `demo/profile.yaml`: it is a link
    ");
    assert_eq!(std::fs::read_dir(folder.path().join("demo")).unwrap().count(), 2);
    assert_snapshot!(folder.ctx("assemble --input Hi --report broken.json"), @"
    exit code 3
    === errors
    error: cannot write `broken.json`: it is a broken link
    ");
    let real = || std::fs::read_to_string(folder.path().join("real")).unwrap();
    assert_eq!(real(), "old");
    folder.ctx("assemble --input Hi --report link.json");
    assert!(folder.path().join("link.json").is_symlink() && real().starts_with('{'));
}

#[test]
fn a_protected_file_stays() {
    let folder = Folder::with(&[("r.json", "old"), ("demo/agent.yaml", "old")]);
    for name in ["r.json", "demo/agent.yaml"] {
        let path = folder.path().join(name);
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
    }
    assert_snapshot!(folder.ctx("assemble --input Hi --report r.json"), @"
    exit code 3
    === errors
    error: cannot write `r.json`: permission denied
    ");
    assert_snapshot!(folder.ctx("init demo --force"), @"
    exit code 3
    === errors
    error: cannot write `demo/agent.yaml`: permission denied
    ");
    assert_eq!(folder.names(), ["demo", "r.json"]);
}

#[test]
#[cfg(unix)]
fn a_report_may_go_to_a_pipe_and_leaves_no_other_file() {
    let folder = project();
    let answer = folder.ctx("assemble --input Hi --format text --no-config --report /dev/stdout");
    assert!(answer.starts_with("exit code 0\n=== output\n{") && answer.ends_with("[user]\nHi\n"), "{answer}");
    assert!(ctx("assemble --input Hi --report /dev/null", &[]).starts_with("exit code 0\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    use std::process::{Command, Stdio};

    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    let command = command.args(["anchors", "list"]).stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: cannot write to standard output: No space left on device\n"
    );
}
