//! JSON of import reports: counts, then diagnostics, then one row per path.

use ctx_types::Diagnostic;
use serde::{Serialize, Serializer};

use super::{FieldCounts, FieldReport, FileReport, ImportReport};

/// The result of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenReport<'a> {
    /// Numbers of fields by status, for all files.
    counts: FieldCounts,
    /// Files, in the given order.
    files: &'a [FileReport],
}

/// The result of importing one file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenFile<'a> {
    /// File name, as given.
    path: &'a str,
    /// File format. `null` if the file is unreadable or unknown.
    format: Option<&'static str>,
    /// Container of the document, such as `png` with the name of its chunk. Missing for a plain document.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    /// Numbers of fields by status.
    counts: FieldCounts,
    /// Diagnostics, most severe first.
    diagnostics: &'a [Diagnostic],
    /// Conversion results, one row per path.
    fields: &'a [FieldReport],
}

impl Serialize for ImportReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenReport { counts: self.counts(), files: &self.files }.serialize(serializer)
    }
}

impl Serialize for FileReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = WrittenFile {
            path: &self.path,
            format: self.format.map(crate::format::Format::id),
            container: self.container.as_deref(),
            counts: self.counts(),
            diagnostics: &self.diagnostics,
            fields: &self.fields,
        };
        written.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator};

    use super::{FileReport, ImportReport, WrittenFile, WrittenReport};

    impl JsonSchema for ImportReport {
        fn schema_name() -> Cow<'static, str> {
            "ImportReport".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            WrittenReport::json_schema(generator)
        }
    }

    impl JsonSchema for FileReport {
        fn schema_name() -> Cow<'static, str> {
            "FileReport".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            WrittenFile::json_schema(generator)
        }
    }
}
