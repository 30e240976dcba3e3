//! The schemas of all files and reports of the command.

use ctx_engine::Engine;
use ctx_engine::schema::FILE_SCHEMAS;
pub(crate) use ctx_engine::schema::FileSchema;

/// Returns the schemas, in the order in which they are listed.
pub(crate) fn all() -> Vec<FileSchema> {
    FILE_SCHEMAS.to_vec()
}

/// Returns the name of the file that holds a schema.
pub(crate) fn file_name(schema: &FileSchema) -> String {
    format!("{}.schema.json", schema.name)
}

/// Writes a schema as people read it, with a line break at its end.
pub(crate) fn text(schema: &FileSchema, engine: &Engine) -> String {
    format!("{:#}\n", (schema.write)(engine))
}
