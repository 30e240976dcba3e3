//! Files and folders that are private from their creation.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Returns options that create files with mode 0600.
pub(crate) fn file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "other systems have no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder and its missing parents with mode 0700.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// ctx_chat::create_private_folder(&folder.path().join("a/b"))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
