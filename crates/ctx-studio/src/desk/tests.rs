//! The files of a folder that other programs change.

use tempfile::TempDir;

use super::*;
use crate::references::ChangedReferrer;

const BY: By<'static> = By { window: None, language: Language::En };

/// Writes files, and looks at their folder.
fn desk(files: &[(&str, &str)]) -> (TempDir, Desk) {
    let place = tempfile::tempdir().unwrap();
    for (path, text) in files {
        std::fs::write(place.path().join(path), text).unwrap();
    }
    let notices = Arc::new(Notices::new("run".to_owned()));
    let folder = Folder::open(place.path()).unwrap();
    let desk = Desk::new(folder, false, Checker::on(Engine::new(), &[]).unwrap(), notices);
    desk.look();
    (place, desk)
}

fn view(desk: &Desk, path: &str) -> FileView {
    desk.view(&id_of(path), Language::En).unwrap()
}

/// Replaces the text of a draft.
fn edit(desk: &Desk, path: &str, text: &str) {
    let base = view(desk, path).revision;
    let (id, text) = (format!("e{base}"), Some(text.to_owned()));
    let edits = api_files::Edits { base, id, edits: None, text, rewrite: false };
    desk.edit(&id_of(path), edits, BY).unwrap();
}

/// Looks at the folder; returns whether this reports a changed file to windows.
fn is_reported(desk: &Desk, path: &str) -> bool {
    let before = desk.notices.seq();
    desk.look();
    let (told, _) = desk.notices.listen(Some("run"), Some(before));
    told.iter().any(|notice| notice.kind == NoticeKind::File && notice.id == Some(id_of(path)))
}

#[test]
fn continues_revisions_of_file_that_comes_back() {
    let (place, desk) = desk(&[("a.yaml", "name: Ada\n")]);
    let full = place.path().join("a.yaml");
    for text in ["name: Eve\n", "name: Robin\n"] {
        let before = view(&desk, "a.yaml");
        std::fs::remove_file(&full).unwrap();
        desk.look();
        std::fs::write(&full, text).unwrap();
        assert!(is_reported(&desk, "a.yaml"));
        let after = view(&desk, "a.yaml");
        assert_eq!(after.text, text);
        assert!(after.revision > before.revision, "{} {}", after.revision, before.revision);
    }
}

#[test]
fn continues_revisions_of_name_that_a_file_takes() {
    let (_place, desk) = desk(&[("a.yaml", "name: Ada\n"), ("b.yaml", "name: Eve\n")]);
    edit(&desk, "b.yaml", "name: Eva\n");
    edit(&desk, "b.yaml", "name: Evi\n");
    let before = view(&desk, "b.yaml").revision;
    desk.delete(&id_of("b.yaml"), BY).unwrap();
    desk.rename(&id_of("a.yaml"), "b.yaml", &[], BY).unwrap();
    let after = view(&desk, "b.yaml");
    assert_eq!(after.text, "name: Ada\n");
    assert!(after.revision > before);
}

#[test]
fn reports_change_that_one_window_has_read() {
    let (place, desk) = desk(&[("a.yaml", "name: Ada\n")]);
    let before = view(&desk, "a.yaml").revision;
    // Unedited files are closed.
    lock(&desk.state).files.get_mut(&id_of("a.yaml")).unwrap().open = None;
    std::fs::write(place.path().join("a.yaml"), "name: Robin\n").unwrap();
    let after = view(&desk, "a.yaml");
    assert_eq!(after.text, "name: Robin\n");
    assert!(after.revision > before);
    assert!(is_reported(&desk, "a.yaml"));
    assert!(!is_reported(&desk, "a.yaml"));
}

#[test]
fn joins_restored_draft_with_file_that_comes_back() {
    let (place, desk) = desk(&[]);
    let base = "name: Ada\nother: x\n";
    let (path, text) = ("a.yaml".to_owned(), "name: Eve\nother: x\n".to_owned());
    desk.restore(vec![KeptDraft { path, hash: hash(base.as_bytes()), text, ids: Vec::new() }]);
    std::fs::write(place.path().join("a.yaml"), base).unwrap();
    assert!(is_reported(&desk, "a.yaml"));
    let back = view(&desk, "a.yaml");
    assert_eq!((back.text.as_str(), back.is_dirty), ("name: Eve\nother: x\n", true));
    assert!(back.outside.is_none());
    std::fs::write(place.path().join("a.yaml"), base.replace("other: x", "other: longer")).unwrap();
    desk.look();
    assert_eq!(view(&desk, "a.yaml").text, "name: Eve\nother: longer\n");
}

#[test]
fn keeps_draft_of_deleted_file_whose_name_is_wanted() {
    let (place, desk) = desk(&[("a.yaml", "name: Ada\n"), ("b.yaml", "name: Eve\n")]);
    edit(&desk, "b.yaml", "name: Robin\n");
    std::fs::remove_file(place.path().join("b.yaml")).unwrap();
    desk.look();
    assert!(desk.rename(&id_of("a.yaml"), "b.yaml", &[], BY).is_err());
    assert!(desk.create("b.yaml", b"name: New\n", BY).is_err());
    assert!(place.path().join("a.yaml").exists() && !place.path().join("b.yaml").exists());
    assert_eq!(view(&desk, "b.yaml").text, "name: Robin\n");
    assert_eq!(desk.unsaved().len(), 1);
}

#[test]
fn reads_renamed_file_that_changed_before() {
    let (place, desk) = desk(&[("a.yaml", "name: Ada\n"), ("b.yaml", "name: Eve\nother: x\n")]);
    view(&desk, "a.yaml");
    edit(&desk, "b.yaml", "name: Eve\nother: mine\n");
    std::fs::write(place.path().join("a.yaml"), "name: Robin\n").unwrap();
    std::fs::write(place.path().join("b.yaml"), "name: Theirs\nother: x\n").unwrap();
    for (path, to, text) in
        [("a.yaml", "c.yaml", "name: Robin\n"), ("b.yaml", "d.yaml", "name: Theirs\nother: mine\n")]
    {
        desk.rename(&id_of(path), to, &[], BY).unwrap();
        assert_eq!(view(&desk, to).text, text);
    }
}

#[test]
fn renames_with_all_referrers_or_not_at_all() {
    let (place, desk) =
        desk(&[("a.yaml", "name: Ada\n"), ("b.yaml", "agent: a.yaml\n"), ("c.yaml", "other\n")]);
    let referrer = |path: &str| ChangedReferrer {
        path: path.to_owned(),
        before: b"agent: a.yaml\n".to_vec(),
        bytes: b"agent: d.yaml\n".to_vec(),
    };
    let text = |path: &str| std::fs::read_to_string(place.path().join(path)).unwrap();
    // Another program has changed the second one.
    let refused = desk.rename(&id_of("a.yaml"), "d.yaml", &[referrer("b.yaml"), referrer("c.yaml")], BY);
    assert!(refused.is_err());
    // The new name is taken.
    assert!(desk.rename(&id_of("a.yaml"), "c.yaml", &[referrer("b.yaml")], BY).is_err());
    assert_eq!(
        [text("a.yaml"), text("b.yaml"), text("c.yaml")],
        ["name: Ada\n", "agent: a.yaml\n", "other\n"]
    );
    desk.rename(&id_of("a.yaml"), "d.yaml", &[referrer("b.yaml")], BY).unwrap();
    assert_eq!([text("d.yaml"), text("b.yaml")], ["name: Ada\n", "agent: d.yaml\n"]);
    assert!(!place.path().join("a.yaml").exists());
}
