//! What is in every archive beside its cases: descriptions, reference pages, tables, examples.

use std::path::Path;

use anyhow::{Context as _, Result};
use ctx_engine::Engine;
use serde_json::{Value, json};

use crate::pack::{Files, lines};

/// The pages that describe the archive, and the schemas; as they lie in `format/`.
const DESCRIPTION: [(&str, &str); 6] = [
    ("FORMAT.md", include_str!("../format/FORMAT.md")),
    ("counting.md", include_str!("../format/counting.md")),
    ("draws.md", include_str!("../format/draws.md")),
    ("schemas/manifest.json", include_str!("../format/manifest.json")),
    ("schemas/case.json", include_str!("../format/case.json")),
    ("schemas/expected.json", include_str!("../format/expected.json")),
];

/// The pages that say what files mean, and the table of models: as they lie in the repository, and in the archive.
const REFERENCE: [(&str, &str); 16] = [
    ("docs/formats.md", "reference/formats.md"),
    ("docs/agents.md", "reference/agents.md"),
    ("docs/cases.md", "reference/cases.md"),
    ("docs/conversations.md", "reference/conversations.md"),
    ("docs/ctx-toml.md", "reference/ctx-toml.md"),
    ("docs/models.md", "reference/models.md"),
    ("docs/profiles.md", "reference/profiles.md"),
    ("docs/report.md", "reference/report.md"),
    ("docs/worldbooks.md", "reference/worldbooks.md"),
    ("docs/macros.md", "reference/macros.md"),
    ("docs/dialects.md", "reference/dialects.md"),
    ("docs/attachments.md", "reference/attachments.md"),
    ("docs/compression.md", "reference/compression.md"),
    ("docs/compatibility.md", "reference/compatibility.md"),
    ("docs/diagnostics.md", "reference/diagnostics.md"),
    ("crates/ctx-tokens/models.json", "data/models.json"),
];

/// Where links of the descriptions lead in the repository, and where in the archive.
const MOVED: [(&str, &str); 2] =
    [("../../../docs/", "reference/"), ("../../../crates/ctx-tokens/models.json", "data/models.json")];

/// The pages whose examples are files too.
const EXAMPLES: [(&str, &str); 2] =
    [("counting.md", "vectors/counting.json"), ("draws.md", "vectors/draws.json")];

/// Returns the files that do not depend on the cases.
///
/// Errors: a file of the repository cannot be read.
pub(crate) fn described(repository: &Path) -> Result<Files> {
    let mut files = Files::new();
    for (path, text) in DESCRIPTION {
        let moved = MOVED.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        files.insert(path.to_owned(), moved.into_bytes());
    }
    for (from, to) in REFERENCE {
        let path = repository.join(from);
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        files.insert(to.to_owned(), bytes);
    }
    for (page, path) in EXAMPLES {
        let text = DESCRIPTION.iter().find(|(name, _)| *name == page).map_or("", |(_, text)| text);
        files.insert(path.to_owned(), format!("{}\n", examples(text).unwrap_or_default()).into_bytes());
    }
    files.insert("data/processors.json".to_owned(), lines(&processors()));
    files.insert("data/anchors.json".to_owned(), lines(&anchors()));
    Ok(files)
}

/// Returns the examples of a page: its first block of JSON.
pub fn examples(page: &str) -> Option<&str> {
    let (_, behind) = page.split_once("```json\n")?;
    Some(behind.split_once("\n```")?.0)
}

/// The built-in processors in the order in which they run, with the defaults of their settings.
fn processors() -> Value {
    let registry = Engine::new().processors();
    let mut rows: Vec<_> = registry.descriptors().collect();
    rows.sort_by_key(|descriptor| descriptor.priority);
    let fields = |fields: &Value| -> Value {
        let defaults = fields.as_array().into_iter().flatten();
        let defaults = defaults
            .filter_map(|field| Some((field.get("key")?.as_str()?.to_owned(), field["default"].clone())));
        Value::Object(defaults.collect())
    };
    rows.into_iter()
        .map(|descriptor| {
            json!({
                "id": descriptor.id,
                "description": descriptor.description,
                "priority": descriptor.priority,
                "isOn": descriptor.default_enabled,
                "isCore": descriptor.is_core,
                "settings": fields(&json!(descriptor.config_fields)),
            })
        })
        .collect()
}

/// The built-in anchors, with the texts that those with a template begin with.
fn anchors() -> Value {
    let engine = Engine::new();
    let rows = engine.anchors.definitions().iter().map(|anchor| {
        json!({
            "id": anchor.id,
            "description": anchor.description,
            "hasTemplate": anchor.has_template,
            "defaultTemplate": anchor.default_template.as_ref().map(ctx_types::Text::as_str),
        })
    });
    rows.collect()
}
