use ctx_types::internal::thousands;
use ctx_types::ports::{Asset, AssetStore, Deadline, DocumentText, PortError, PortErrorKind};
use ctx_types::{Attachment, MediaKind, phrase};
use serde_json::Value;

use crate::attachments::measure::measure;
use crate::attachments::media_type::media_type;
use crate::attachments::timeout::within;
use crate::attachments::{AttachmentPolicy, file_resolver};

/// Limit for all files of a request, in bytes. Base64 and the request body take 3 times as much memory.
const MAX_TOTAL: u64 = 48 << 20;

pub(crate) struct Loader<'a> {
    pub(crate) store: Option<&'a dyn AssetStore>,
    pub(crate) documents: Option<&'a dyn DocumentText>,
    pub(crate) is_preview: bool,
    pub(crate) clock: Option<&'a dyn Deadline>,
    pub(crate) total: u64,
}

/// `contradicts` is the declared type if the content has another one.
pub(crate) struct LoadedFile {
    pub(crate) file: Attachment,
    pub(crate) contradicts: Option<String>,
}

impl Loader<'_> {
    pub(crate) async fn load(
        &mut self,
        file: &Attachment,
        policy: Option<&AttachmentPolicy>,
    ) -> Result<LoadedFile, PortError> {
        let max_bytes = policy.map_or(MAX_TOTAL, |policy| policy.max_bytes);
        let mut asset = match &file.loaded {
            Some(asset) => asset.clone(),
            None => self.fetch(file, max_bytes).await?,
        };
        let declared = file.mime_type.as_deref().or(asset.mime_type.as_deref());
        let name = if file.name.is_empty() { file.path.as_deref().unwrap_or_default() } else { &file.name };
        let found = media_type(&asset.bytes, name, declared);
        asset.measures = measure(&asset.bytes, &found.name);
        asset.mime_type = Some(found.name.as_str().into());
        let mut file = Attachment { mime_type: asset.mime_type.clone(), loaded: Some(asset), ..file.clone() };
        let documents = self.documents.filter(|_| file.kind() == MediaKind::Document);
        let pages = documents.and_then(|documents| documents.pages(&file));
        if let Some(asset) = &mut file.loaded {
            asset.measures.pages = pages;
        }
        Ok(LoadedFile { file, contradicts: found.contradicts })
    }

    async fn fetch(&mut self, file: &Attachment, max_bytes: u64) -> Result<Asset, PortError> {
        let store = self.store.ok_or_else(|| {
            PortError::new(PortErrorKind::Unsupported, phrase!("no asset store is configured"))
        })?;
        let max_bytes = max_bytes.min(MAX_TOTAL.saturating_sub(self.total));
        check_len(declared_len(file).unwrap_or_default(), max_bytes)?;
        let asset = if self.is_preview {
            store.cached(file, max_bytes).unwrap_or_else(|| Err(not_cached_error()))?
        } else {
            within(file_resolver::LOAD_TIMEOUT, self.clock, store.load(file, max_bytes)).await?
        };
        let len = asset.bytes.len() as u64;
        check_len(len, max_bytes)?;
        self.total = self.total.saturating_add(len);
        Ok(asset)
    }
}

pub(crate) fn not_cached_error() -> PortError {
    PortError::new(PortErrorKind::Unavailable, phrase!("not cached, and a preview does not load it"))
}

fn check_len(len: u64, max_bytes: u64) -> Result<(), PortError> {
    if len <= max_bytes {
        return Ok(());
    }
    let (len, most) = (thousands(len), thousands(max_bytes));
    let detail = phrase!("{len} bytes exceed the limit of {most}", len, most);
    Err(PortError::new(PortErrorKind::TooLarge, detail))
}

fn declared_len(file: &Attachment) -> Option<u64> {
    let size = |value: &Value| value.get("size").and_then(Value::as_u64);
    size(&file.kept).or_else(|| file.kept.get("metadata").and_then(size))
}
