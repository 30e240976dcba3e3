//! Bodies with one field misspelt: each must be refused, else the check is worth nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bodies::Body;

/// What is put behind the name of a field.
const TYPO: &str = "x";

/// Misspells every field of every shape once: a field is known by its dialect and the names on the way to it.
pub(super) fn of_bodies(bodies: &[Body]) -> Vec<Body> {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for body in bodies {
        let mut places = Vec::new();
        collect(&body.value, &mut Vec::new(), body.dialect.free, &mut places);
        for place in places {
            if !seen.insert((body.dialect.name, shape(&body.value, &place))) {
                continue;
            }
            let name = format!("wrong_{}__{}", wrong.len(), body.dialect.name);
            wrong.push(Body { name, dialect: body.dialect, value: misspell(&body.value, &place) });
        }
    }
    wrong
}

/// A step into a value.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Lists the way to every field, but for those below fields in which anything may stand.
fn collect(value: &Value, way: &mut Vec<Step>, free: &[&str], places: &mut Vec<Vec<Step>>) {
    match value {
        Value::Object(map) => {
            for (key, item) in map {
                way.push(Step::Key(key.clone()));
                places.push(way.clone());
                if !free.contains(&key.as_str()) {
                    collect(item, way, free, places);
                }
                way.pop();
            }
        }
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                way.push(Step::Index(index));
                collect(item, way, free, places);
                way.pop();
            }
        }
        _ => {}
    }
}

/// The names on the way to a field, each with the `type` or `role` of the object that it stands in.
fn shape(value: &Value, way: &[Step]) -> String {
    let (mut at, mut shape) = (value, String::new());
    for step in way {
        let next = match step {
            Step::Key(key) => {
                let kind = at.get("type").or_else(|| at.get("role")).and_then(Value::as_str);
                shape.extend(["/", kind.unwrap_or_default(), ".", key]);
                at.get(key)
            }
            Step::Index(index) => at.get(index),
        };
        let Some(next) = next else { break };
        at = next;
    }
    shape
}

/// Renames the field at the end of the way, in its place.
fn misspell(value: &Value, way: &[Step]) -> Value {
    let Some((step, rest)) = way.split_first() else { return value.clone() };
    match (value, step) {
        (Value::Object(map), Step::Key(wanted)) => {
            let renamed = map.iter().map(|(key, item)| match (key == wanted, rest.is_empty()) {
                (true, true) => (format!("{key}{TYPO}"), item.clone()),
                (true, false) => (key.clone(), misspell(item, rest)),
                (false, _) => (key.clone(), item.clone()),
            });
            Value::Object(renamed.collect::<Map<String, Value>>())
        }
        (Value::Array(list), Step::Index(wanted)) => {
            let items = list.iter().enumerate();
            let changed =
                items.map(|(index, item)| if index == *wanted { misspell(item, rest) } else { item.clone() });
            changed.collect()
        }
        _ => value.clone(),
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
