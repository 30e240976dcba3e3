use std::sync::Arc;

use ctx_pipeline::{ConfigField, Descriptor, ProcessorRegistry};

use crate::settings::case::{Idle, registry};

#[track_caller]
fn check(descriptor: Descriptor, expected: Result<(), &str>) {
    let found = registry().register(Arc::new(Idle(descriptor)));
    assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
}

fn named(id: &str) -> Descriptor {
    Descriptor::new(id, "Name", "What it does")
}

fn with_fields(fields: &[ConfigField]) -> Descriptor {
    named("own").with(|descriptor| descriptor.config_fields = fields.to_vec())
}

#[test]
fn rejects_registered_id_in_any_spelling() {
    check(named("own"), Ok(()));
    check(named("alpha"), Err("processor `alpha` is registered already"));
    check(named("post:alpha"), Err("processor `alpha` is registered already"));
}

#[test]
fn rejects_ids_that_settings_cannot_name() {
    check(named("  "), Err("`` cannot be the id of a processor"));
    check(named("message-formatters"), Err("`message-formatters` cannot be the id of a processor"));
}

#[test]
fn rejects_field_with_invalid_default() {
    let bad = ConfigField::number("limit", "Limit", 5).between(6.0, 7.0);
    check(
        with_fields(&[bad]),
        Err("setting `limit` of processor `own` has the default `5`, expected a number from 6 to 7"),
    );
    check(
        with_fields(&[ConfigField::select("scope", "Scope", &[])]),
        Err("setting `scope` of processor `own` has the default `null`, expected one of "),
    );
}

#[test]
fn rejects_duplicate_field() {
    let field = ConfigField::text("mark", "Mark", "");
    check(with_fields(&[field.clone(), field]), Err("setting `mark` of processor `own` is declared twice"));
}

#[test]
fn strips_prefix_of_registered_id() {
    let mut registry = ProcessorRegistry::default();
    registry.register(Arc::new(Idle(named("post:own")))).unwrap();
    assert_eq!(registry.get("own").map(|descriptor| &*descriptor.id), Some("own"));
    assert_eq!(registry.get("primary:own").map(|descriptor| &*descriptor.name), Some("Name"));
}

#[test]
fn defaults_to_enabled_at_priority_900() {
    let descriptor = named("own");
    assert_eq!((descriptor.priority, descriptor.default_enabled, descriptor.is_core), (900, true, false));
}
