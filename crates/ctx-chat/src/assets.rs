//! Loads attachments from folders. Paths cannot leave the folders.

mod path;

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ctx_types::internal::{excerpt, thousands};
use ctx_types::ports::{Asset, AssetStore, PortError, PortErrorKind, PortFuture};
use ctx_types::{Attachment, phrase};

use crate::files;

/// Files of one or more folders, opened relative to handles of these.
///
/// A path is relative, in the spelling of any system; it is looked for in one folder after the other. What leads
/// upwards, over a link, to a device, or is no file, is refused, and whatever happens between the check and the
/// opening, the handle lets nothing lead out. See [`Self::read`] for all that is refused.
///
/// ```
/// use ctx_chat::assets::FolderAssets;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("note.txt"), "hello")?;
/// let assets = FolderAssets::open([folder.path()])?;
/// assert_eq!(&*assets.read("note.txt", 100).unwrap().bytes, b"hello");
/// assert!(assets.read("../note.txt", 100).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FolderAssets {
    folders: Vec<Arc<Dir>>,
}

impl FolderAssets {
    /// Opens folders.
    pub fn open(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> std::io::Result<Self> {
        let open = |path: &Path| Dir::open_ambient_dir(path, ambient_authority()).map(Arc::new);
        let folders = paths.into_iter().map(|path| open(path.as_ref()));
        Ok(Self { folders: folders.collect::<Result<_, _>>()? })
    }

    /// Adds folders, which are searched after the others.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.folders.extend(other.folders);
        self
    }

    /// Reads a file of at most `max_bytes`.
    ///
    /// # Errors
    ///
    /// Returns [`PortErrorKind::Denied`] for a path that is absolute, contains `..` or a link, or has a name with a
    /// special meaning on some system (a device, drive, or stream). Also returns [`PortErrorKind::NotFound`],
    /// [`PortErrorKind::TooLarge`], or [`PortErrorKind::Invalid`] if the path is not a file.
    pub fn read(&self, path: &str, max_bytes: u64) -> Result<Asset, PortError> {
        let names = path::names(path)?;
        for folder in &self.folders {
            match read_in(folder, &names, path, max_bytes) {
                Err(error) if error.kind == PortErrorKind::NotFound => {}
                answer => return answer,
            }
        }
        Err(PortError::new(PortErrorKind::NotFound, phrase!("no file `{path}`", path = excerpt(path))))
    }

    fn read_attachment(&self, attachment: &Attachment, max_bytes: u64) -> Result<Asset, PortError> {
        match attachment.path.as_deref() {
            Some(path) => self.read(path, max_bytes),
            None => Err(PortError::new(PortErrorKind::NotFound, phrase!("the attachment has no path"))),
        }
    }
}

impl AssetStore for FolderAssets {
    /// Reads the file on a separate thread if there is a runtime.
    fn load<'a>(
        &'a self,
        attachment: &'a Attachment,
        max_bytes: u64,
    ) -> PortFuture<'a, Result<Asset, PortError>> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Box::pin(std::future::ready(self.read_attachment(attachment, max_bytes)));
        }
        let (assets, attachment) = (self.clone(), attachment.clone());
        let work = tokio::task::spawn_blocking(move || assets.read_attachment(&attachment, max_bytes));
        Box::pin(async move {
            let failed = |_| PortError::new(PortErrorKind::Unavailable, phrase!("reading was canceled"));
            work.await.map_err(failed)?
        })
    }

    /// Files of a folder are always available.
    fn cached(&self, attachment: &Attachment, max_bytes: u64) -> Option<Result<Asset, PortError>> {
        Some(self.read_attachment(attachment, max_bytes))
    }
}

/// Reads a file of one folder.
fn read_in(folder: &Dir, names: &[&str], shown: &str, max_bytes: u64) -> Result<Asset, PortError> {
    let fault = |error: std::io::Error| fault(shown, error);
    let path = path::without_links(folder, names).map_err(|error| match error {
        path::Fault::Io(error) => fault(error),
        path::Fault::Link => path::refused(shown, &phrase!("links are not followed")),
    })?;
    check_file(folder.symlink_metadata(&path).map_err(fault)?.is_file(), shown)?;
    let file = files::open_regular_in(folder, &path).map_err(fault)?;
    check_len(file.metadata().map_err(fault)?.len(), max_bytes)?;
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(fault)?;
    check_len(bytes.len() as u64, max_bytes)?;
    Ok(Asset::new(bytes))
}

fn check_file(is_file: bool, shown: &str) -> Result<(), PortError> {
    let text = || phrase!("`{path}` is not a file", path = excerpt(shown));
    if is_file { Ok(()) } else { Err(PortError::new(PortErrorKind::Invalid, text())) }
}

fn check_len(len: u64, max_bytes: u64) -> Result<(), PortError> {
    let text = || {
        phrase!("{len} bytes exceed the limit of {most}", len = thousands(len), most = thousands(max_bytes))
    };
    if len <= max_bytes { Ok(()) } else { Err(PortError::new(PortErrorKind::TooLarge, text())) }
}

fn fault(shown: &str, error: std::io::Error) -> PortError {
    let (kind, why) = match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            (PortErrorKind::NotFound, phrase!("no such file"))
        }
        std::io::ErrorKind::PermissionDenied => (PortErrorKind::Denied, phrase!("permission denied")),
        _ => (PortErrorKind::Unavailable, phrase!("cannot read the file")),
    };
    PortError::new(kind, phrase!("`{path}`: {why}", path = excerpt(shown), why)).with_source(error)
}
