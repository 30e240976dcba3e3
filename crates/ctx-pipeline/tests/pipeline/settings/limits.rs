use ctx_pipeline::internal::{CompileContext, Pipeline, SettingsLayer};
use ctx_pipeline::{ProcessorRegistry, SettingOrigin, codes};
use ctx_types::Agent;
use serde_json::{Value, json};

use crate::settings::case::{add, registry};

const MANY: usize = 10_000;

fn many_processors() -> ProcessorRegistry {
    let mut registry = ProcessorRegistry::default();
    for index in 0..MANY {
        add(&mut registry, &format!("processor-{index}"), 900, true, Vec::new());
    }
    registry
}

fn entries(prefix: &str, count: usize) -> Value {
    (0..count).map(|index| json!({ "id": format!("{prefix}-{index}"), "enabled": false })).collect()
}

#[test]
fn merges_ten_thousand_processors_and_settings() {
    let registry = many_processors();
    let (layer, found) = SettingsLayer::from_parameters(
        SettingOrigin::User,
        &json!({ "processors": entries("processor", MANY) }),
        "",
    );
    assert_eq!(found, []);
    let pipeline = Pipeline::compile(&registry, &Agent::default(), CompileContext::default(), &[layer]);
    assert_eq!((pipeline.order().count(), pipeline.settings().len()), (0, MANY));
    assert_eq!(pipeline.diagnostics(), []);
}

#[test]
fn reports_first_thousand_unknown_processors() {
    let (layer, _) = SettingsLayer::from_parameters(
        SettingOrigin::User,
        &json!({ "processors": entries("unknown", MANY) }),
        "",
    );
    let (_, found) = many_processors().resolve(&[layer]);
    assert_eq!(found.len(), 1_001);
    assert_eq!(found[1_000].message, "9000 more diagnostics in settings of processors are not shown");
}

#[test]
fn reads_list_up_to_limit() {
    let (layer, found) = SettingsLayer::from_parameters(
        SettingOrigin::User,
        &json!({ "processors": entries("x", 20_000) }),
        "/list",
    );
    assert_eq!((layer.settings.len(), found), (20_000, Vec::new()));
    let (layer, found) = SettingsLayer::from_parameters(
        SettingOrigin::User,
        &json!({ "processors": entries("x", 20_002) }),
        "/list",
    );
    assert_eq!(layer.settings.len(), 20_000);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].code, found[0].message.to_string().as_str()),
        (codes::TOO_MANY_SETTINGS, "more than 20000 entries; the last 2 are ignored")
    );
}

#[test]
fn merges_entry_with_ten_thousand_settings() {
    let config: Value = (0..MANY).map(|index| (format!("key-{index}"), Value::from(index))).collect();
    let (layer, _) = SettingsLayer::from_parameters(
        SettingOrigin::User,
        &json!({ "processors": json!([{ "id": "beta", "config": config }]) }),
        "",
    );
    let (settings, found) = registry().resolve(&[layer]);
    assert_eq!((settings[1].config.values().len(), found.len()), (MANY, 1_001));
}
