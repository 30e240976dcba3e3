//! The attached files of a case: those of its folder `assets`, and transcripts beside them.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};

use ctx_documents::DocumentReader;
use ctx_types::ports::{
    Asset, AssetStore, AttachmentPorts, PortError, PortErrorKind, PortFuture, Transcriber,
};
use ctx_types::{Attachment, Text, phrase};

/// Lends the files of a case. The transcript of `talk.wav` is `talk.wav.transcript`.
pub(crate) struct Attached {
    folder: PathBuf,
    reader: DocumentReader,
}

impl Attached {
    pub(crate) fn of(case: &Path) -> Self {
        Self { folder: case.join("assets"), reader: DocumentReader::default() }
    }

    pub(crate) fn is_any(&self) -> bool {
        self.folder.is_dir()
    }

    pub(crate) fn ports(&self) -> AttachmentPorts<'_> {
        if !self.is_any() {
            return AttachmentPorts::default();
        }
        AttachmentPorts { assets: Some(self), documents: Some(&self.reader), transcriber: Some(self) }
    }

    fn read(&self, attachment: &Attachment, ending: &str) -> Result<Vec<u8>, PortError> {
        let missing = || PortError::new(PortErrorKind::NotFound, phrase!("there is no such file"));
        let path = format!("{}{ending}", attachment.path.as_deref().ok_or_else(missing)?);
        std::fs::read(self.folder.join(path)).map_err(|_| missing())
    }
}

impl AssetStore for Attached {
    fn load<'a>(&'a self, file: &'a Attachment, _: u64) -> PortFuture<'a, Result<Asset, PortError>> {
        Box::pin(std::future::ready(self.read(file, "").map(Asset::new)))
    }

    fn cached(&self, file: &Attachment, _: u64) -> Option<Result<Asset, PortError>> {
        Some(self.read(file, "").map(Asset::new))
    }
}

impl Transcriber for Attached {
    fn transcribe<'a>(&'a self, file: &'a Attachment) -> PortFuture<'a, Result<Text, PortError>> {
        let unsupported =
            |_| PortError::new(PortErrorKind::Unsupported, phrase!("there is no transcript of it"));
        let text = self.read(file, ".transcript").map_err(unsupported);
        Box::pin(std::future::ready(text.map(|text| String::from_utf8_lossy(&text).into_owned().into())))
    }

    fn cached(&self, file: &Attachment) -> Option<Result<Text, PortError>> {
        let text = self.read(file, ".transcript").ok()?;
        Some(Ok(String::from_utf8_lossy(&text).into_owned().into()))
    }
}
