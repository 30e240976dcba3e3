//! Bodies with one field misspelt: each must be refused, else the check is worth nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::bodies::Body;

/// What is put behind the name of a field.
const TYPO: &str = "x";

/// Misspells every field of every shape once: a field is known by its dialect and the names on the way to it.
pub(super) fn of_bodies(bodies: &[Body]) -> Vec<Body> {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for body in bodies {
        let mut fields = Vec::new();
        collect(&body.value, (String::new(), String::new()), body.dialect.free, &mut fields);
        for field in fields {
            if !seen.insert((body.dialect.name, field.shape)) {
                continue;
            }
            let mut value = body.value.clone();
            if let Some(object) = value.pointer_mut(&field.object).and_then(Value::as_object_mut) {
                let typo = |key: String| if key == field.key { key + TYPO } else { key };
                *object = std::mem::take(object).into_iter().map(|(key, item)| (typo(key), item)).collect();
            }
            let name = format!("wrong_{}__{}", wrong.len(), body.dialect.name);
            wrong.push(Body { name, dialect: body.dialect, value });
        }
    }
    wrong
}

/// A field of a body.
struct Field {
    /// The JSON pointer of the object that it stands in.
    object: String,
    key: String,
    /// The names on the way to it, each with the `type` or `role` of the object that it stands in.
    shape: String,
}

/// Lists all fields of a value with a pointer and a shape, but for those below fields in which anything may stand.
fn collect(value: &Value, (pointer, shape): (String, String), free: &[&str], fields: &mut Vec<Field>) {
    match value {
        Value::Object(map) => {
            let kind = map.get("type").or_else(|| map.get("role")).and_then(Value::as_str);
            for (key, item) in map {
                let shape = format!("{shape}/{}.{key}", kind.unwrap_or_default());
                fields.push(Field { object: pointer.clone(), key: key.clone(), shape: shape.clone() });
                if !free.contains(&key.as_str()) {
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    collect(item, (format!("{pointer}/{escaped}"), shape), free, fields);
                }
            }
        }
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                collect(item, (format!("{pointer}/{index}"), shape.clone()), free, fields);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conformance::bodies::TYPED;

    #[test]
    fn each_field_of_each_shape_is_misspelt_once() {
        let dialect = TYPED.iter().find(|typed| typed.name == "openai").unwrap();
        let value = json!({
            "messages": [{ "role": "user", "content": "a" }, { "role": "user", "content": "b" }],
            "tools": [{ "function": { "parameters": { "any": 1 } } }],
        });
        let wrong = of_bodies(&[Body { name: "b".into(), dialect, value }]);
        let written: Vec<String> = wrong.iter().map(|body| body.value.to_string()).collect();
        let typos: Vec<&str> =
            written.iter().map(|text| text.split('"').find(|word| word.ends_with('x')).unwrap()).collect();
        assert_eq!(typos, ["messagesx", "rolex", "contentx", "toolsx", "functionx", "parametersx"]);
    }
}
