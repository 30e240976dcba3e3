//! The API as a JSON Schema, for tests, for programs that talk to the server, and for the types of the page.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::{Failure, Notice};
use crate::routes::{Describe, ROUTES};

/// Describes what every route below `/api` takes and answers.
///
/// `routes` lists them in the order of [`routes`](crate::routes()): `method`, `path`, and the schemas of its
/// `request` and its `answer`, each where that is JSON. `failure` is the body of every answer whose status is 400 or
/// more, `notice` what the socket tells. `$defs` has the types, by their names.
pub fn api_schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut requests = settings.clone().for_deserialize().into_generator();
    let mut answers = settings.for_serialize().into_generator();
    let mut routes = Vec::new();
    for (route, known) in
        ROUTES.iter().zip(crate::routes()).filter(|(_, known)| known.path.starts_with("/api/"))
    {
        let mut described = Map::from_iter([
            ("method".to_owned(), Value::from(known.method)),
            ("path".to_owned(), Value::from(known.path)),
        ]);
        let mut put = |name: &str, describe: Option<Describe>, generator: &mut SchemaGenerator| {
            let schema = describe.map(|describe| Value::from(describe(generator)));
            described.extend(schema.map(|schema| (name.to_owned(), schema)));
        };
        put("request", route.taken, &mut requests);
        put("answer", route.answered, &mut answers);
        routes.push(Value::Object(described));
    }
    let failure = answers.subschema_for::<Failure>();
    let notice = answers.subschema_for::<Notice>();
    let mut types = requests.take_definitions(true);
    types.extend(answers.take_definitions(true));
    types.sort_keys();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The API of `ctx studio`",
        "routes": routes,
        "failure": failure,
        "notice": notice,
        "$defs": types,
    })
}
