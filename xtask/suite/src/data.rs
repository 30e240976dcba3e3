//! What is in every archive beside its cases: descriptions, reference pages, tables, examples.

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

/// The pages that say what files mean, and the table of models; as the product has them.
const REFERENCE: [(&str, &str); 8] = [
    ("reference/formats.md", include_str!("../../../docs/formats.md")),
    ("reference/macros.md", include_str!("../../../docs/macros.md")),
    ("reference/dialects.md", include_str!("../../../docs/dialects.md")),
    ("reference/attachments.md", include_str!("../../../docs/attachments.md")),
    ("reference/compression.md", include_str!("../../../docs/compression.md")),
    ("reference/compatibility.md", include_str!("../../../docs/compatibility.md")),
    ("reference/diagnostics.md", include_str!("../../../docs/diagnostics.md")),
    ("data/models.json", include_str!("../../../crates/ctx-tokens/models.json")),
];

/// Where links of the descriptions lead in the repository, and where in the archive.
const MOVED: [(&str, &str); 2] =
    [("../../../docs/", "reference/"), ("../../../crates/ctx-tokens/models.json", "data/models.json")];

/// The pages whose examples are files too.
const EXAMPLES: [(&str, &str); 2] =
    [("counting.md", "vectors/counting.json"), ("draws.md", "vectors/draws.json")];

/// Returns the files that do not depend on the cases.
pub(crate) fn described() -> Files {
    let mut files = Files::new();
    for (path, text) in DESCRIPTION {
        let moved = MOVED.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        files.insert(path.to_owned(), moved.into_bytes());
    }
    for (path, text) in REFERENCE {
        files.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    for (page, path) in EXAMPLES {
        let text = DESCRIPTION.iter().find(|(name, _)| *name == page).map_or("", |(_, text)| text);
        files.insert(path.to_owned(), format!("{}\n", examples(text).unwrap_or_default()).into_bytes());
    }
    files.insert("data/processors.json".to_owned(), lines(&processors()));
    files.insert("data/anchors.json".to_owned(), lines(&anchors()));
    files
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
