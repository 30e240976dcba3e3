//! Checks that each command reads files full of one marker to the end.

use crate::Folder;
use crate::markers::{COMMANDS, MARKERS, files, repeated};

/// Size of each text, in bytes.
const BYTES: usize = 32 << 10;

#[track_caller]
fn check(command: &str) {
    let folder = Folder::with(&[]);
    for marker in MARKERS {
        for (name, content) in files(&repeated(marker, BYTES)) {
            folder.write(name, content.as_bytes());
        }
        let output = folder.command(command).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1 | 3 | 5)), "{command} with {marker:?}: {errors}");
        assert!(errors.len() < 100_000, "{command} with {marker:?}: {} bytes of errors", errors.len());
    }
}

#[test]
fn assembles_repeated_markers() {
    check(COMMANDS[0]);
}

#[test]
fn checks_repeated_markers() {
    check(COMMANDS[1]);
}

#[test]
fn imports_repeated_markers() {
    check(COMMANDS[2]);
}

#[test]
fn fits_repeated_markers() {
    check(COMMANDS[3]);
}
