use ctx_pipeline::Config;
use serde_json::{Value, json};

use crate::settings::case::resolve;

fn alpha(config: &Value) -> Config {
    let layers = json!([["agent", { "processors": [{ "id": "alpha", "config": config }] }]]);
    resolve(&layers).into_iter().find(|setting| &*setting.id == "alpha").unwrap().config
}

#[track_caller]
fn check(config: &Value, key: &str, expected: (&str, f64, usize, bool)) {
    let config = alpha(config);
    let found = (config.text(key), config.number(key), config.count(key), config.is_on(key));
    assert_eq!(found, expected, "{key}");
}

#[test]
fn reads_setting_only_as_its_type() {
    check(&json!({ "mark": "*" }), "mark", ("*", 0.0, 0, false));
    check(&json!({ "limit": 7 }), "limit", ("", 7.0, 7, false));
    check(&json!({ "loud": true }), "loud", ("", 0.0, 0, true));
    check(&json!({}), "limit", ("", 5.0, 5, false));
    check(&json!({}), "nothing", ("", 0.0, 0, false));
}

#[test]
fn keeps_and_reads_undeclared_key() {
    check(&json!({ "own": -2.5 }), "own", ("", -2.5, 0, false));
    let config = alpha(&json!({ "own": [1], "mark": "*" }));
    assert_eq!(config.get("own"), Some(&json!([1])));
    assert_eq!(config.get("mark"), Some(&json!("*")));
    assert_eq!(config.get("other"), None);
}
