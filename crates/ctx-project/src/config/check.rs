//! Checks a `ctx.toml` file independently of any command.

use std::path::Path;

use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel};
use ctx_engine::internal::USER_SETTINGS;
use ctx_engine::{Compile, Engine};
use ctx_types::{Agent, Diagnostic};
use serde_json::Value;

use crate::files::Once;
use crate::sources::Sources;
use crate::{codes, files};

use super::document::{ConfigDocument, parse, shown, too_large};
use super::guard::Guard;
use super::{Config, named};

/// Checks the bytes of a `ctx.toml` file and registers its text in `sources`.
///
/// Reports invalid keys, invalid settings of processors and compression, and missing or invalid files, except for syntax
/// errors of `checked` files. Returns an error if the bytes are not valid TOML.
pub fn check(
    bytes: &[u8],
    path: &Path,
    engine: &Engine,
    sources: &mut Sources,
    checked: &Once,
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let name = files::name(path);
    if let Some(fault) = too_large(bytes, &name) {
        return Err(Box::new(Diagnostic::error(codes::UNREADABLE_FILE, fault).in_document(&*name)));
    }
    sources.add(&name, &shown(bytes));
    let value = parse(bytes, &name, sources)?;
    let config = Config::of(&value, path.parent().unwrap_or(Path::new("")));
    let layer = |value: &Value| MaskLayer {
        level: MaskLevel::Global,
        value: value.clone(),
        pointer: "/compression".to_owned(),
    };
    let layers: Vec<MaskLayer> = config.compression.iter().map(layer).collect();
    let of_compression = MaskConfig::resolve(&layers).diagnostics;
    let with = Compile::default().with(|compile| compile.user_parameters = config.user_parameters.clone());
    let compiled = engine.compile(&Agent::default(), &with);
    let is_of_user = |found: &&Diagnostic| found.location.document.as_deref() == Some(USER_SETTINGS);
    let of_processors = compiled.diagnostics().iter().filter(is_of_user).cloned().collect();
    let file =
        ConfigDocument { folder: config.folder.clone(), name: name.clone(), bytes: bytes.to_vec(), value };
    let is_guarded = Guard::of(&file, &Value::Null, None).withholds();
    let named = named::faults(&config, engine, is_guarded, checked);
    let found = [config.found, of_compression, of_processors, named].concat();
    Ok(found.into_iter().map(|found| found.in_document(&*name)).collect())
}
