//! JSON schemas in requests: the strict ones of OpenAI, and the subset that Gemini accepts.

use std::collections::BTreeSet;

use ctx_types::{Diagnostic, excerpt, phrase, pointer_step};

use super::refused;
use crate::codes;
use crate::json::{Json, Object};

/// Keywords whose values are schemas by name.
const MAPS: [&str; 3] = ["properties", "$defs", "definitions"];

/// Keywords whose values are a schema or a list of schemas.
const CHILDREN: [&str; 6] = ["items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties"];

/// Keywords of Gemini's schemas.
const GEMINI: [&str; 23] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "property_ordering",
    "required",
    "title",
    "type",
];

/// Reports objects of a strict schema that are open, or have optional properties.
pub(super) fn check_strict(schema: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    each_schema(schema, place, &mut |schema, place| {
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return };
        if schema.get("additionalProperties") != Some(&Json::Bool(false)) {
            let text = phrase!("an object of a strict schema needs `additionalProperties: false`");
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
        let required = schema.get("required").and_then(Json::as_list).unwrap_or_default();
        let required: BTreeSet<&str> = required.iter().filter_map(Json::as_str).collect();
        if let Some((name, _)) = properties.iter().find(|(name, _)| !required.contains(&**name)) {
            let text = phrase!("property `{name}` of a strict schema must be required", name = excerpt(name));
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
    });
}

/// Reports keywords that Gemini's schemas do not have.
pub(super) fn check_gemini(schema: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    each_schema(schema, place, &mut |schema, place| {
        let keys = schema.as_object().into_iter().flat_map(|object| object.iter().map(|(key, _)| &**key));
        for key in keys.filter(|key| !GEMINI.contains(key)) {
            let text = phrase!("Gemini's schemas do not have the keyword `{key}`", key = excerpt(key));
            let place = format!("{place}/{}", pointer_step(key));
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
    });
}

/// Visits a schema and the schemas in it, outer ones first.
fn each_schema<'a>(schema: &'a Json<'a>, place: &str, visit: &mut impl FnMut(&'a Json<'a>, &str)) {
    let mut open = vec![(schema, place.to_owned())];
    while let Some((schema, place)) = open.pop() {
        visit(schema, &place);
        let start = open.len();
        for key in MAPS {
            let named = schema.get(key).and_then(Json::as_object).into_iter().flat_map(Object::iter);
            open.extend(named.map(|(name, child)| (child, format!("{place}/{key}/{}", pointer_step(name)))));
        }
        for key in CHILDREN {
            match schema.get(key) {
                Some(Json::List(children)) => {
                    let children = children.iter().enumerate();
                    open.extend(children.map(|(at, child)| (child, format!("{place}/{key}/{at}"))));
                }
                Some(child) if child.is_object() => open.push((child, format!("{place}/{key}"))),
                _ => {}
            }
        }
        open[start..].reverse();
    }
}
