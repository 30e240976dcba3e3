//! Attached files of a folder: which paths are refused, and that nothing outside is read.

use std::path::Path;

use ctx_chat::assets::FolderAssets;
use ctx_types::Attachment;
use ctx_types::ports::{AssetStore as _, PortErrorKind};
use serde_json::json;

/// What stands in every file outside of the folder.
const SECRET: &str = "SECRET";

/// Makes a folder `inside` with a few files, and secrets around it.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let inside = world.path().join("inside");
    std::fs::create_dir_all(inside.join("sub")).unwrap();
    std::fs::create_dir(world.path().join("inside-not")).unwrap();
    for secret in ["secret.txt", "inside-not/secret.txt"] {
        std::fs::write(world.path().join(secret), SECRET).unwrap();
    }
    for file in ["a.txt", "sub/b.txt", "with blank.txt", "中文.txt", "100%.txt"] {
        std::fs::write(inside.join(file), "inside").unwrap();
    }
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, inside.join(name)).unwrap();
        link("../secret.txt", "link.txt");
        link("..", "up");
        link("a.txt", "inner.txt");
        link("sub", "inner");
        link("/etc", "etc");
        link("loop", "loop");
    }
    world
}

#[track_caller]
fn check(world: &Path, path: &str, expected: Result<&str, PortErrorKind>) {
    let assets = FolderAssets::open([world.join("inside")]).unwrap();
    let found = assets.read(path, 1_000).map(|asset| String::from_utf8(asset.bytes.to_vec()).unwrap());
    assert_eq!(found.as_deref().map_err(|error| error.kind), expected, "{path:?}: {found:?}");
}

#[test]
fn paths_below_the_folder_are_read_in_any_spelling() {
    let world = world();
    for path in [
        "a.txt",
        "./a.txt",
        "sub/b.txt",
        "sub\\b.txt",
        "sub//b.txt",
        "with blank.txt",
        "中文.txt",
        "100%.txt",
    ] {
        check(world.path(), path, Ok("inside"));
    }
}

/// The path escapes of the threat model, and more: none of them reads anything.
const ESCAPES: &[(&str, PortErrorKind)] = &[
    ("../secret.txt", PortErrorKind::Denied),
    ("sub/../../secret.txt", PortErrorKind::Denied),
    ("sub/../a.txt", PortErrorKind::Denied),
    ("..\\secret.txt", PortErrorKind::Denied),
    ("sub\\..\\..\\secret.txt", PortErrorKind::Denied),
    ("./../secret.txt", PortErrorKind::Denied),
    ("..", PortErrorKind::Denied),
    (".", PortErrorKind::Denied),
    ("", PortErrorKind::Denied),
    ("/etc/passwd", PortErrorKind::Denied),
    ("//etc/passwd", PortErrorKind::Denied),
    ("\\etc\\passwd", PortErrorKind::Denied),
    ("../inside-not/secret.txt", PortErrorKind::Denied),
    ("%2e%2e/secret.txt", PortErrorKind::NotFound),
    ("..%2fsecret.txt", PortErrorKind::NotFound),
    ("%2e%2e%5csecret.txt", PortErrorKind::NotFound),
    ("..%c0%afsecret.txt", PortErrorKind::NotFound),
    ("‥/secret.txt", PortErrorKind::NotFound),
    ("\u{ff0e}\u{ff0e}/secret.txt", PortErrorKind::NotFound),
    ("a.txt\0.png", PortErrorKind::Denied),
    ("a.txt\n", PortErrorKind::Denied),
    ("C:\\Windows\\win.ini", PortErrorKind::Denied),
    ("C:secret.txt", PortErrorKind::Denied),
    ("a.txt:stream", PortErrorKind::Denied),
    ("\\\\server\\share\\x", PortErrorKind::Denied),
    ("\\\\?\\C:\\x", PortErrorKind::Denied),
    ("\\\\.\\pipe\\x", PortErrorKind::Denied),
    ("file:///etc/passwd", PortErrorKind::Denied),
    ("CON", PortErrorKind::Denied),
    ("sub/nul.txt", PortErrorKind::Denied),
    ("COM1", PortErrorKind::Denied),
    ("lpt9.log", PortErrorKind::Denied),
    ("... /secret.txt", PortErrorKind::Denied),
    ("a.txt.", PortErrorKind::Denied),
    ("~/secret.txt", PortErrorKind::NotFound),
    ("$HOME/secret.txt", PortErrorKind::NotFound),
    ("a.txt/secret.txt", PortErrorKind::NotFound),
    ("sub", PortErrorKind::Invalid),
];

#[test]
fn no_path_leads_out_of_the_folder() {
    let world = world();
    for (path, expected) in ESCAPES {
        check(world.path(), path, Err(*expected));
    }
    let long = "a/".repeat(3_000) + "a.txt";
    check(world.path(), &long, Err(PortErrorKind::Denied));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_wherever_they_lead() {
    let world = world();
    for path in ["link.txt", "up/secret.txt", "inner.txt", "inner/b.txt", "etc/passwd", "loop", "loop/x"] {
        check(world.path(), path, Err(PortErrorKind::Denied));
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_becomes_a_link_meanwhile_gives_nothing_away() {
    let world = world();
    let inside = world.path().join("inside");
    let assets = FolderAssets::open([&inside]).unwrap();
    let swap = inside.join("swap.txt");
    let swapper = std::thread::spawn(move || {
        for _ in 0..500 {
            std::fs::write(&swap, "inside").unwrap();
            std::fs::remove_file(&swap).unwrap();
            std::os::unix::fs::symlink("../secret.txt", &swap).unwrap();
            std::fs::remove_file(&swap).unwrap();
        }
    });
    while !swapper.is_finished() {
        let found = assets.read("swap.txt", 1_000).map(|asset| asset.bytes.to_vec());
        assert_ne!(found.ok().as_deref(), Some(SECRET.as_bytes()));
    }
    swapper.join().unwrap();
}

#[test]
fn files_have_a_largest_size() {
    let world = world();
    let assets = FolderAssets::open([world.path().join("inside")]).unwrap();
    assert!(assets.read("a.txt", 6).is_ok());
    assert_eq!(assets.read("a.txt", 5).unwrap_err().kind, PortErrorKind::TooLarge);
    let huge = std::fs::File::create(world.path().join("inside/huge.bin")).unwrap();
    huge.set_len(1 << 30).unwrap();
    assert_eq!(assets.read("huge.bin", 32 << 20).unwrap_err().kind, PortErrorKind::TooLarge);
}

#[test]
fn folders_are_looked_into_one_after_the_other() {
    let (one, two) = (world(), tempfile::tempdir().unwrap());
    std::fs::write(two.path().join("a.txt"), "second").unwrap();
    std::fs::write(two.path().join("c.txt"), "second").unwrap();
    let assets = FolderAssets::open([one.path().join("inside"), two.path().to_owned()]).unwrap();
    let read = |path| assets.read(path, 100).unwrap().bytes.to_vec();
    assert_eq!((read("a.txt"), read("c.txt")), (b"inside".to_vec(), b"second".to_vec()));
}

#[test]
fn attachments_are_read_with_and_without_a_runtime() {
    let world = world();
    let assets = FolderAssets::open([world.path().join("inside")]).unwrap();
    let file = Attachment::from_value(&json!({ "id": "1", "path": "a.txt" }));
    let nowhere = Attachment::from_value(&json!({ "id": "1", "name": "a.txt" }));
    let outside = pollster::block_on(assets.load(&file, 100)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(assets.load(&file, 100)).unwrap(), outside);
    assert_eq!(assets.cached(&file, 100).unwrap().unwrap(), outside);
    assert_eq!(assets.cached(&nowhere, 100).unwrap().unwrap_err().kind, PortErrorKind::NotFound);
}
