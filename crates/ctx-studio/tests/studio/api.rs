//! The API follows its schema: each response of each test is compared with it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::client::Answer;

/// What answers must be, by method and path of their routes.
struct Answers {
    routes: Vec<(String, Vec<String>, Option<Validator>)>,
    failure: Validator,
}

/// Compares an answer with what the schema says.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    static ANSWERS: OnceLock<Answers> = OnceLock::new();
    let answers = ANSWERS.get_or_init(|| Answers::of(&ctx_studio::api_schema()));
    if answer.header("content-type") != Some("application/json") {
        return;
    }
    let asked: Vec<&str> = path.split('?').next().unwrap().split('/').collect();
    let is_asked = |route: &[String]| {
        let fits = |(own, asked): (&String, &&str)| own == asked || own.starts_with('{');
        route.len() == asked.len() && route.iter().zip(&asked).all(fits)
    };
    let validator = match answer.status {
        200 => {
            let route = answers.routes.iter().find(|(own, route, _)| own == method && is_asked(route));
            route
                .and_then(|(.., validator)| validator.as_ref())
                .unwrap_or_else(|| panic!("no answer of {path}"))
        }
        _ => &answers.failure,
    };
    let value = answer.json();
    let found: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(found.is_empty(), "{method} {path}: {found:#?}\n{value:#}");
}

impl Answers {
    fn of(schema: &Value) -> Self {
        // A key that no type has is a fault too: the page would not know of it.
        let types: BTreeMap<&String, Value> =
            schema["$defs"].as_object().unwrap().iter().map(|(name, own)| (name, closed(own))).collect();
        let validator =
            |own: &Value| jsonschema::validator_for(&json!({ "allOf": [own], "$defs": types })).unwrap();
        let routes = schema["routes"].as_array().unwrap().iter().map(|route| {
            let path = route["path"].as_str().unwrap().split('/').map(str::to_owned).collect();
            (route["method"].as_str().unwrap().to_owned(), path, route.get("answer").map(validator))
        });
        Self { routes: routes.collect(), failure: validator(&schema["failure"]) }
    }
}

/// A schema whose objects have no other keys than those that it names.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.iter().map(|(key, member)| (key.clone(), closed(member))).collect();
            if members.contains_key("properties") {
                members.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_route_says_what_it_takes_and_answers() {
    let schema = ctx_studio::api_schema();
    let routes = schema["routes"].as_array().unwrap();
    let known: Vec<_> = ctx_studio::routes().filter(|route| route.path.starts_with("/api/")).collect();
    assert_eq!(routes.len(), known.len());
    for (route, known) in routes.iter().zip(known) {
        assert_eq!(route["path"], known.path);
        let is_json = known.content_type == Some("application/json");
        assert_eq!(route.get("request").is_some(), is_json, "{}", known.path);
        assert_eq!(route.get("answer").is_some(), known.path != "/api/events", "{}", known.path);
    }
}
