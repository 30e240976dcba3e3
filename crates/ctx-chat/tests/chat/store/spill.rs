//! Results that are too large for a conversation.

use std::fs;

use ctx_chat::SpillFolder;

#[test]
fn small_results_stay() {
    let folder = tempfile::tempdir().unwrap();
    let spilled = SpillFolder::new(folder.path()).spill("c", "call_1", "42");
    assert_eq!((spilled.text.as_str(), spilled.path), ("42", None));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn large_results_leave_a_preview_and_the_way_to_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let spill = SpillFolder::new(folder.path()).with_sizes(10, 4);
    let spilled = spill.spill("c", "call_1", "雪雪 and the end");
    let path = spilled.path.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "雪雪 and the end");
    assert_eq!(
        spilled.text,
        format!("雪\n[... 11 bytes omitted ...]\n end\nFull output: {}", path.display())
    );
}

#[test]
fn no_id_names_a_file_outside() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("inside");
    let spill = SpillFolder::new(&root).with_sizes(0, 1);
    for id in [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a/b",
        "a\\b",
        "a\0b",
        "CON",
        "雪",
        &"x".repeat(5_000),
    ] {
        let path = spill.spill(id, id, "text").path.unwrap();
        assert!(path.starts_with(&root), "{}", path.display());
        assert_eq!(path.components().count(), root.components().count() + 2);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn deletion_takes_the_files_of_one_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let spill = SpillFolder::new(folder.path()).with_sizes(0, 1);
    let (gone, kept) =
        (spill.spill("c1", "a", "text").path.unwrap(), spill.spill("c2", "a", "text").path.unwrap());
    spill.delete("c1").unwrap();
    spill.delete("c1").unwrap();
    assert!(!gone.exists());
    assert!(kept.exists());
}

#[test]
fn the_last_deletion_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("s.db.results");
    let spill = SpillFolder::new(&root).with_sizes(0, 1);
    spill.spill("c1", "a", "text");
    assert_eq!(spill.count("c1").unwrap(), 1);
    spill.delete("c1").unwrap();
    assert_eq!(spill.count("c1").unwrap(), 0);
    assert!(!root.exists());
}

#[test]
fn a_folder_that_cannot_be_written_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let spilled = SpillFolder::new(&file).with_sizes(2, 1).spill("c", "a", "text");
    assert_eq!(spilled.path, None);
    assert!(spilled.text.contains("Cannot save the full output"), "{}", spilled.text);
}
