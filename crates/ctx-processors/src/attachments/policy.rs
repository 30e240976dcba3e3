use ctx_pipeline::{Config, ConfigField};
use ctx_types::MediaKind;

/// Handling of files that the target does not accept, and limits for all files.
///
/// These settings of `asset-resolver` are on the blackboard: earlier processors apply them too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentPolicy {
    /// By kind, in the order of [`MediaKind::ALL`].
    fallbacks: [Fallback; 4],
    /// Maximum file size in bytes.
    pub max_bytes: u64,
    /// Maximum side of an image in pixels. Larger images are resized; 0 disables resizing.
    pub max_side: u32,
    /// Maximum pixels of an image. Larger images are replaced with a placeholder.
    pub max_pixels: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// The text or transcript; a placeholder if neither exists.
    #[default]
    Text,
    Placeholder,
    Error,
}

const FIELDS: [(MediaKind, &str); 4] = [
    (MediaKind::Image, "Unsupported images"),
    (MediaKind::Audio, "Unsupported audio"),
    (MediaKind::Video, "Unsupported video"),
    (MediaKind::Document, "Unsupported documents"),
];

pub(crate) fn policy_fields() -> Vec<ConfigField> {
    let choices = |kind| {
        let text = match kind {
            MediaKind::Document => "text, or a placeholder",
            _ => "transcript, or a placeholder",
        };
        [("text", text), ("placeholder", "a placeholder"), ("error", "fail without a context")]
    };
    let fields = FIELDS.map(|(kind, label)| ConfigField::select(kind.as_str(), label, &choices(kind)));
    let limits = [
        ConfigField::number("maxMegabytes", "Maximum file size (MiB)", 32).between(1.0, 48.0),
        ConfigField::integer("maxImageSide", "Maximum image side (pixels)", 4_096)
            .between(0.0, 65_535.0)
            .with_description("larger images are resized; 0: keep size"),
        ConfigField::number("maxMegapixels", "Maximum image size (megapixels)", 64)
            .between(1.0, 1_000.0)
            .with_description("larger images are replaced with a placeholder"),
    ];
    fields.into_iter().chain(limits).collect()
}

impl AttachmentPolicy {
    /// Reads the settings of `asset-resolver`.
    pub fn from_config(config: &Config) -> Self {
        let fallbacks = FIELDS.map(|(kind, _)| match config.text(kind.as_str()) {
            "placeholder" => Fallback::Placeholder,
            "error" => Fallback::Error,
            _ => Fallback::Text,
        });
        Self {
            fallbacks,
            max_bytes: (config.count("maxMegabytes") as u64) << 20,
            max_side: u32::try_from(config.count("maxImageSide")).unwrap_or(u32::MAX),
            max_pixels: config.count("maxMegapixels") as u64 * 1_000_000,
        }
    }

    pub(crate) fn fallback(&self, kind: MediaKind) -> Fallback {
        let position = FIELDS.iter().position(|(of, _)| *of == kind);
        position.and_then(|position| self.fallbacks.get(position)).copied().unwrap_or_default()
    }
}
