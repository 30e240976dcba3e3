//! Files that cannot be read: a message with file and place, exit code 3, and nothing half done.

use insta::assert_snapshot;

use crate::{Folder, ctx};

#[test]
fn a_missing_file_is_named() {
    for arguments in ["assemble missing.yaml", "anchors list missing.yaml --json"] {
        let told = "exit code 3\n=== errors\nerror: cannot read `missing.yaml`: no such file or folder\n";
        assert_eq!(ctx(arguments, &[]), told);
    }
}

#[test]
#[cfg(unix)]
fn a_file_holds_no_file() {
    assert_snapshot!(ctx("assemble a.yaml/b.yaml", &[("a.yaml", "")]), @"
    exit code 3
    === errors
    error: cannot read `a.yaml/b.yaml`: a part of the path is a file
    ");
}

#[test]
fn a_folder_is_no_file() {
    assert_snapshot!(ctx("assemble presets", &[("presets/a.yaml", "")]), @"
    exit code 3
    === errors
    error: `presets` is a folder, not a file
    ");
}

#[test]
fn a_report_that_cannot_be_written_ends_the_run_before_the_result() {
    let folder = Folder::with(&[("file", "")]);
    assert_snapshot!(folder.ctx("assemble --input Hi --report missing/r.json"), @"
    exit code 3
    === errors
    error: cannot write `missing/r.json`: no such file or folder
    ");
    assert_snapshot!(folder.ctx("assemble --input Hi --report ."), @"
    exit code 3
    === errors
    error: cannot write `.`: it is a folder
    ");
    assert_eq!(folder.names(), ["file"]);
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
