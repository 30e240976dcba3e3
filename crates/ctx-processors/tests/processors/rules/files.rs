use ctx_macros::{Dialect, Registry};
use ctx_processors::regex_rules::{Rule, RuleSet, RuleSource};
use ctx_types::{Persist as _, Reader, RegexConfig, Trust};
use serde_json::{Value, json};

#[track_caller]
fn check(files: &[Value], expected: &[&str]) {
    let configs: Vec<_> =
        files.iter().map(|file| RegexConfig::read(file.clone(), &mut Reader::new())).collect();
    let source = |config| RuleSource { config, place: "", document: None, trust: Trust::Preset };
    let sources: Vec<_> = configs.iter().map(source).collect();
    let (set, found) = RuleSet::compile(&sources, Dialect::Aio, &Registry::builtin());
    assert_eq!(found, []);
    let titles: Vec<&str> = set.rules().iter().map(Rule::title).collect();
    assert_eq!(titles, expected);
}

fn rule(name: &str, order: Value) -> Value {
    json!({ "regex": "a", "name": name, "order": order })
}

#[test]
fn keeps_order_of_files_presets_and_rules() {
    let file = |a: &str, b: &str| json!({ "presets": [{ "rules": [rule(a, Value::Null)] }, { "rules": [rule(b, Value::Null)] }] });
    check(&[file("1", "2"), file("3", "4")], &["1", "2", "3", "4"]);
}

#[test]
fn sorts_presets_by_order() {
    let preset = |name: &str, order: Value| json!({ "order": order, "rules": [rule(name, Value::Null)] });
    let presets = [preset("b", json!(2)), preset("a", json!(1)), preset("0", Value::Null)];
    check(&[json!({ "presets": presets })], &["0", "a", "b"]);
}

#[test]
fn skips_disabled_rules() {
    let off = json!({ "regex": "a", "name": "off", "enabled": false });
    let on = json!({ "regex": "a", "name": "on", "enabled": true });
    let presets = json!([
        { "rules": [off, on, "no rule"] },
        { "enabled": false, "rules": [on] },
        { "enabled": true, "rules": [{ "regex": "a", "id": "r7" }, { "regex": "a" }] },
    ]);
    let configs = RegexConfig::read(json!({ "presets": presets }), &mut Reader::new());
    let source = RuleSource { config: &configs, place: "/x", document: None, trust: Trust::Preset };
    let (set, found) = RuleSet::compile(&[source], Dialect::Aio, &Registry::builtin());
    assert_eq!(found, []);
    let titles: Vec<&str> = set.rules().iter().map(Rule::title).collect();
    assert_eq!(titles, ["on", "r7", "/x/presets/2/rules/1"]);
}
