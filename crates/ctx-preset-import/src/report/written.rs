//! Reports as they are written: how much became what, then what a person should read, then the many rows.

use ctx_types::Diagnostic;
use serde::{Serialize, Serializer};

#[cfg(feature = "schema")]
use super::FieldReport;
use super::{FieldCounts, FieldReports, FileReport, ImportReport};

/// What became of the files of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenReport<'a> {
    /// How many fields of all files became what.
    counts: FieldCounts,
    /// The files, in the order in which they were given.
    files: &'a [FileReport],
}

/// What became of one file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenFile<'a> {
    /// The name under which the file was given.
    path: &'a str,
    /// What it is; none for what cannot be read or is nothing known.
    format: Option<&'static str>,
    /// What the document was packed in, such as `png` and the name of its chunk; none for a plain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    /// How many of its fields became what.
    counts: FieldCounts,
    /// What a person should read, the worst first.
    diagnostics: &'a [Diagnostic],
    /// One row for each leaf of the document: a scalar, or an empty list or object.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<FieldReport<'static>>"))]
    fields: &'a FieldReports,
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
