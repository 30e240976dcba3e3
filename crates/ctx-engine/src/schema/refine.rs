//! Adds an engine's anchors, macro syntaxes, processors and settings to schemas.

use ctx_anchors::AnchorDefinition;
use ctx_macros::Dialect;
use ctx_pipeline::Descriptor;
use ctx_pipeline::internal::MAX_PRIORITY;
use serde_json::{Map, Value, json};

use crate::engine::Engine;

pub(super) fn refine(schema: &mut Value, root: &str, engine: &Engine) {
    let anchors = engine.anchors.definitions();
    let dialects = Dialect::ALL.map(Dialect::as_str);
    refine_one(schema, root, "Agent", "dialect", |field| {
        let dialects = dialects.map(Value::from).into_iter();
        field.insert("enum".to_owned(), dialects.chain([Value::Null]).collect());
    });
    refine_one(schema, root, "PresetMessage", "type", |field| set_any_of(field, types(anchors)));
    for noun in ["PresetMessage", "InjectionStrategy"] {
        refine_one(schema, root, noun, "anchorTarget", |field| {
            set_any_of(field, anchors.iter().map(named).collect());
        });
    }
    if let Some(setting) = schema.pointer_mut("/definitions/ProcessorSetting") {
        set_processors(setting, engine);
    }
}

fn refine_one(
    schema: &mut Value,
    root: &str,
    noun: &str,
    key: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let pointer = if noun == root {
        format!("/properties/{key}")
    } else {
        format!("/definitions/{noun}/properties/{key}")
    };
    if let Some(Value::Object(field)) = schema.pointer_mut(&pointer) {
        change(field);
    }
}

fn set_any_of(field: &mut Map<String, Value>, known: Vec<Value>) {
    field.shift_remove("type");
    let other = json!({ "type": ["string", "null"] });
    field.insert("anyOf".to_owned(), known.into_iter().chain([other]).collect());
}

fn types(anchors: &[AnchorDefinition]) -> Vec<Value> {
    let message = json!({ "const": "message", "description": "A normal message." });
    let placeholder =
        json!({ "const": "placeholder", "description": "A custom anchor; its `id` is its name." });
    std::iter::once(message).chain(anchors.iter().map(named)).chain([placeholder]).collect()
}

fn named(anchor: &AnchorDefinition) -> Value {
    json!({ "const": anchor.id, "description": format!("{}: {}", anchor.name, anchor.description) })
}

fn set_processors(setting: &mut Value, engine: &Engine) {
    let registry = engine.processors();
    let known = registry.descriptors().map(|processor| {
        let about = format!("{}: {}", processor.name, processor.description);
        json!({ "const": processor.id, "description": about })
    });
    let known: Vec<Value> = known.chain([json!({ "type": "string" })]).collect();
    let in_range = json!({ "minimum": -MAX_PRIORITY, "maximum": MAX_PRIORITY });
    let or_null = json!({ "type": ["object", "null"] });
    for (key, more) in [("id", json!({ "anyOf": known })), ("priority", in_range), ("config", or_null)] {
        let slot = setting.pointer_mut(&format!("/properties/{key}")).and_then(Value::as_object_mut);
        if let (Some(slot), Value::Object(more)) = (slot, more) {
            slot.extend(more);
        }
    }
    if let Value::Object(setting) = setting {
        setting.insert("required".to_owned(), json!(["id"]));
        setting.insert("additionalProperties".to_owned(), Value::Bool(false));
        setting.insert("allOf".to_owned(), registry.descriptors().map(settings).collect());
    }
}

/// The settings apply if the `id` matches.
fn settings(processor: &Descriptor) -> Value {
    let ids = ["", "primary:", "post:"].map(|prefix| format!("{prefix}{}", processor.id));
    let fields = processor.config_fields.iter();
    let fields: Map<String, Value> =
        fields.map(|field| (field.key.to_string(), Value::from(field.schema()))).collect();
    json!({
        "if": { "properties": { "id": { "enum": ids } }, "required": ["id"] },
        "then": { "properties": { "config": { "properties": fields, "additionalProperties": false } } },
    })
}
