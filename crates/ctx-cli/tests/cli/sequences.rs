//! Checks that each command reads files full of one marker to the end.

use crate::Folder;
use crate::markers::{COMMANDS, Files, MARKERS, files, lists, repeated};

/// Size of each text, in bytes.
const BYTES: usize = 32 << 10;

/// Number of items in each list.
const ITEMS: usize = 2_000;

#[track_caller]
fn check(command: &str) {
    let folder = Folder::with(&[]);
    let texts = MARKERS.iter().map(|marker| (*marker, files(&repeated(marker, BYTES))));
    for (name, files) in texts.chain([("lists", lists(ITEMS))]) {
        read_to_the_end(&folder, command, name, files);
    }
}

#[track_caller]
fn read_to_the_end(folder: &Folder, command: &str, name: &str, files: Files) {
    for (name, content) in files {
        folder.write(name, content.as_bytes());
    }
    let output = folder.command(command).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3 | 5)), "{command} with {name:?}: {errors}");
    assert!(errors.len() < 100_000, "{command} with {name:?}: {} bytes of errors", errors.len());
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
