//! The file of a store: who may read it, and that it stays the same one.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use ctx_chat::{ConversationStore as _, SqliteStore, StoreError};
use ctx_types::Role;
use ctx_types::session::Node;

use crate::store::{block_on, chat, words};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn creates_files_for_their_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = SqliteStore::open(&path("chats.db")).unwrap();
    block_on(chat(&store, &["a"])).unwrap();
    for name in ["chats.db", "chats.db-wal", "chats.db-shm"] {
        assert_eq!(mode(&path(name)), 0o600, "{name}");
    }
    // A link may lead to a file that does not exist yet.
    std::os::unix::fs::symlink(path("linked.db"), path("link.db")).unwrap();
    drop(SqliteStore::open(&path("link.db")).unwrap());
    assert_eq!(mode(&path("linked.db")), 0o600);
    // An existing file keeps its permissions.
    fs::write(path("old.db"), "").unwrap();
    fs::set_permissions(path("old.db"), fs::Permissions::from_mode(0o640)).unwrap();
    drop(SqliteStore::open(&path("old.db")).unwrap());
    assert_eq!(mode(&path("old.db")), 0o640);
}

#[test]
fn creates_folders_of_results_for_their_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("chats.db.results");
    let spill = ctx_chat::SpillFolder::new(root.clone()).with_sizes(4, 2);
    drop(spill.spill("c", "m", "a long result"));
    let below = |path: &Path| fs::read_dir(path).unwrap().next().unwrap().unwrap().path();
    let of_conversation = below(&root);
    assert_eq!([&root, &of_conversation].map(|path| mode(path)), [0o700; 2]);
    assert_eq!(mode(&below(&of_conversation)), 0o600);
}

/// Changes the files of an open store. After that, writes must fail.
#[track_caller]
fn check_replaced(name: &str, change: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = chat(&store, &["a"]).await.unwrap();
        change(&folder.path().join(name));
        let refused = chat.append(&store, Node::new(Role::User, "b"), None).await;
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{name}: {refused:?}");
        assert_eq!(words(&chat), ["a"]);
        let refused = store.hold("c", None, Duration::ZERO).await;
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{name}: {refused:?}");
    });
}

#[test]
fn refuses_to_write_to_a_deleted_or_replaced_file() {
    check_replaced("chats.db", |path| fs::remove_file(path).unwrap());
    check_replaced("chats.db", |path| fs::rename(path, path.with_extension("old")).unwrap());
    check_replaced("chats.db", |path| {
        fs::copy(path, path.with_extension("new")).unwrap();
        fs::rename(path.with_extension("new"), path).unwrap();
    });
    check_replaced("chats.db-wal", |path| fs::remove_file(path).unwrap());
    check_replaced("chats.db-shm", |path| fs::remove_file(path).unwrap());
}
