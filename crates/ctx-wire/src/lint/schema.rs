//! JSON schemas in requests: the strict ones of OpenAI, and the subset that Gemini accepts.

use std::collections::BTreeSet;

use ctx_types::internal::{excerpt, pointer_step};
use ctx_types::{Diagnostic, phrase};

use super::refused;
use crate::codes;
use crate::json::{Json, Object};

/// Keywords whose values are schemas by name.
const MAPS: [&str; 3] = ["properties", "$defs", "definitions"];

/// Keywords whose values are a schema or a list of schemas.
const CHILDREN: [&str; 7] =
    ["items", "prefixItems", "anyOf", "any_of", "oneOf", "allOf", "additionalProperties"];

/// Bytes of the longest place that is visited: a long name costs its length for each schema below it.
const MAX_PLACE: usize = 2_000;

/// Maximum number of findings of one schema.
const MAX_FINDINGS: usize = 100;

/// Keywords of Gemini's schemas.
const GEMINI: [&str; 22] = [
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
    "required",
    "title",
    "type",
];

/// Reports objects of a strict schema that are open, or have optional properties.
pub(super) fn check_strict(schema: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let most = found.len() + MAX_FINDINGS;
    each_schema(schema, place, &mut |schema, place| {
        if found.len() >= most {
            return;
        }
        if schema.get("oneOf").is_some() {
            let text = phrase!("a strict schema cannot have `oneOf`; use `anyOf`");
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
        let properties = schema.get("properties").and_then(Json::as_object);
        if properties.is_none() && schema.get("type").and_then(Json::as_str) != Some("object") {
            return;
        }
        if schema.get("additionalProperties") != Some(&Json::Bool(false)) {
            let text = phrase!("an object of a strict schema needs `additionalProperties: false`");
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
        let required = schema.get("required").and_then(Json::as_list).unwrap_or_default();
        let required: BTreeSet<&str> = required.iter().filter_map(Json::as_str).collect();
        let mut properties = properties.into_iter().flat_map(Object::iter);
        if let Some((name, _)) = properties.find(|(name, _)| !required.contains(&**name)) {
            let text = phrase!("property `{name}` of a strict schema must be required", name = excerpt(name));
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
    });
}

/// Reports keywords that Gemini's schemas do not have.
pub(super) fn check_gemini(schema: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let most = found.len() + MAX_FINDINGS;
    each_schema(schema, place, &mut |schema, place| {
        let keys = schema.as_object().into_iter().flat_map(|object| object.iter().map(|(key, _)| &**key));
        let room = most.saturating_sub(found.len());
        for key in keys.filter(|key| !is_known_to_gemini(key)).take(room) {
            let text = phrase!("Gemini's schemas do not have the keyword `{key}`", key = excerpt(key));
            let place = format!("{place}/{}", pointer_step(key));
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
        let kind = schema.get("type");
        let text = if kind.is_some_and(|kind| kind.as_list().is_some()) {
            phrase!("Gemini's schemas have one type; use `nullable` for null")
        } else if kind.and_then(Json::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
            && schema.get("items").is_none()
        {
            phrase!("an array of Gemini's schemas needs `items`")
        } else {
            return;
        };
        if found.len() < most {
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
        }
    });
}

/// Gemini reads each keyword in snake case too.
fn is_known_to_gemini(key: &str) -> bool {
    GEMINI.contains(&key) || GEMINI.iter().any(|known| is_snake_case_of(key, known))
}

/// Returns whether `key` is `name` in snake case, such as `max_items` for `maxItems`.
fn is_snake_case_of(key: &str, name: &str) -> bool {
    key.len() > name.len()
        && key.split('_').flat_map(str::chars).eq(name.chars().map(|c| c.to_ascii_lowercase()))
}

/// Visits a schema and the schemas in it, outer ones first, but not those whose place is longer
/// than [`MAX_PLACE`].
fn each_schema<'a>(schema: &'a Json<'a>, place: &str, visit: &mut impl FnMut(&'a Json<'a>, &str)) {
    let mut place = place.to_owned();
    visit_below(schema, &mut place, visit);
}

/// Visits a schema and those in it. `place` is the same before and after.
fn visit_below<'a>(schema: &'a Json<'a>, place: &mut String, visit: &mut impl FnMut(&'a Json<'a>, &str)) {
    visit(schema, place);
    let outer = place.len();
    let mut descend = |child: &'a Json<'a>, key: &str, step: Option<&str>| {
        if outer + key.len() + step.map_or(0, str::len) > MAX_PLACE {
            return;
        }
        place.push('/');
        place.push_str(key);
        if let Some(step) = step {
            place.push('/');
            place.push_str(&pointer_step(step));
        }
        visit_below(child, place, visit);
        place.truncate(outer);
    };
    for key in MAPS {
        for (name, child) in schema.get(key).and_then(Json::as_object).into_iter().flat_map(Object::iter) {
            descend(child, key, Some(name));
        }
    }
    for key in CHILDREN {
        match schema.get(key) {
            Some(Json::List(children)) => {
                for (at, child) in children.iter().enumerate() {
                    descend(child, key, Some(&at.to_string()));
                }
            }
            Some(child) if child.is_object() => descend(child, key, None),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Gives the places of what Gemini refuses in a schema.
    fn refused_by_gemini(schema: &serde_json::Value) -> Vec<String> {
        let mut found = Vec::new();
        check_gemini(&Json::from(schema), "/s", &mut found);
        found.iter().map(|one| one.location.pointer.clone().unwrap_or_default()).collect()
    }

    #[test]
    fn names_the_place_of_each_keyword() {
        let schema = json!({
            "properties": { "a/b": { "items": { "$id": 1 } }, "c": { "anyOf": [{}, { "const": 2 }] } },
            "not": {},
        });
        let places = ["/s/not", "/s/properties/a~1b/items/$id", "/s/properties/c/anyOf/1/const"];
        assert_eq!(
            refused_by_gemini(&json!({ "properties": { "": { "const": 1 } } })),
            ["/s/properties//const"]
        );
        assert_eq!(refused_by_gemini(&schema), places);
    }

    #[test]
    fn limits_places_and_findings() {
        let children = vec![json!({ "const": 1 }); 1_000];
        let long = "n".repeat(MAX_PLACE);
        let schema = json!({ "properties": { (long): { "anyOf": children.clone() } } });
        assert!(refused_by_gemini(&schema).is_empty());
        assert_eq!(refused_by_gemini(&json!({ "anyOf": children })).len(), MAX_FINDINGS);
    }
}
