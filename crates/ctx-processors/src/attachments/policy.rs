use ctx_pipeline::{ConfigField, SettingsReader};
use ctx_types::MediaKind;

/// Handling of files that the target does not accept, and limits for all files.
///
/// Earlier processors apply these settings of `asset-resolver` too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttachmentPolicy {
    /// By kind, in the order of [`MediaKind::ALL`].
    fallbacks: [Fallback; 4],
    /// Maximum file size in bytes.
    pub max_bytes: u64,
    /// Maximum side of an image in pixels. Larger images are resized; 0 disables resizing.
    pub max_side: u32,
    /// Maximum pixels of an image. Larger images are replaced with a placeholder.
    pub max_pixels: u64,
}

choices! {
    // The text or transcript; a placeholder if neither exists.
    Fallback {
        Text = ("text", "Transcript, or a placeholder"),
        Placeholder = ("placeholder", "A placeholder"),
        Error = ("error", "Report an error instead of a context"),
    }
}

const FIELDS: [(MediaKind, &str); 4] = [
    (MediaKind::Image, "Unsupported images"),
    (MediaKind::Audio, "Unsupported audio"),
    (MediaKind::Video, "Unsupported video"),
    (MediaKind::Document, "Unsupported documents"),
];

impl AttachmentPolicy {
    pub(crate) fn read(settings: &mut SettingsReader<'_>) -> Self {
        let fallbacks = FIELDS.map(|(kind, label)| {
            let mut field = ConfigField::select(kind.as_str(), label, Fallback::OPTIONS);
            if kind == MediaKind::Document {
                field.options[0].label = "Text, or a placeholder".into();
            }
            settings.read(field)
        });
        let max_megabytes: u64 = settings
            .read(ConfigField::number("maxMegabytes", "Maximum file size (MiB)", 32).between(1.0, 48.0));
        let max_side: u64 = settings.read(
            ConfigField::integer("maxImageSide", "Maximum image side (pixels)", 4_096)
                .between(0.0, 65_535.0)
                .with_description("larger images are resized; 0: keep size"),
        );
        let max_megapixels: u64 = settings.read(
            ConfigField::number("maxMegapixels", "Maximum image size (megapixels)", 64)
                .between(1.0, 1_000.0)
                .with_description("larger images are replaced with a placeholder"),
        );
        Self {
            fallbacks,
            max_bytes: max_megabytes << 20,
            max_side: u32::try_from(max_side).unwrap_or(u32::MAX),
            max_pixels: max_megapixels * 1_000_000,
        }
    }

    pub(crate) fn fallback(&self, kind: MediaKind) -> Fallback {
        let position = FIELDS.iter().position(|(of, _)| *of == kind);
        position.map_or(Fallback::Text, |position| self.fallbacks[position])
    }
}
