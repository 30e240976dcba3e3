//! A registry with every type of setting.

use std::sync::Arc;

use ctx_pipeline::internal::{EffectiveSetting, SettingsLayer};
use ctx_pipeline::{
    ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError, ProcessorRegistry,
    SettingOrigin, async_trait,
};
use ctx_types::Diagnostic;
use serde_json::Value;

/// `layers` is a list of `[origin, parameters]`. `expected` has one line per processor that differs from the
/// defaults; `findings` has severity, pointer and message.
#[track_caller]
pub(crate) fn check(layers: Value, expected: &[&str], findings: &[&str]) {
    let (layers, mut found) = read(&layers);
    let (settings, merged) = registry().resolve(&layers);
    found.extend(merged);
    let mut lines = Vec::new();
    for setting in &settings {
        let json = serde_json::to_value(setting).unwrap();
        let config = json["config"].as_array().into_iter().flatten();
        let values = [("enabled", &json["enabled"]), ("priority", &json["priority"])].into_iter();
        let values = values.chain(config.map(|value| (value["key"].as_str().unwrap(), value)));
        let set = values.filter(|(_, value)| value["origin"] != "built-in");
        let set: Vec<String> = set
            .map(|(key, value)| format!("{key}={} ({})", value["value"], value["origin"].as_str().unwrap()))
            .collect();
        if !set.is_empty() {
            lines.push(format!("{}: {}", setting.id, set.join(" ")));
        }
    }
    assert_eq!(lines, expected);
    assert_eq!(found.iter().map(finding).collect::<Vec<_>>(), findings);
}

#[track_caller]
pub(crate) fn check_help(layers: Value, expected: &str) {
    let (layers, mut found) = read(&layers);
    found.extend(registry().resolve(&layers).1);
    let helps: Vec<_> = found.iter().filter_map(|diagnostic| diagnostic.help.as_ref()).collect();
    assert_eq!(helps, [expected]);
}

pub(crate) fn resolve(layers: &Value) -> Vec<EffectiveSetting> {
    registry().resolve(&read(layers).0).0
}

fn read(layers: &Value) -> (Vec<SettingsLayer>, Vec<Diagnostic>) {
    let layers = layers.as_array().unwrap().iter().map(|layer| {
        let origin = match layer[0].as_str().unwrap() {
            "user" => SettingOrigin::User,
            "model" => SettingOrigin::Model,
            "agent" => SettingOrigin::Agent,
            _ => SettingOrigin::CommandLine,
        };
        SettingsLayer::from_parameters(origin, &layer[1], "/parameters")
    });
    let (layers, found): (Vec<_>, Vec<_>) = layers.unzip();
    (layers, found.concat())
}

fn finding(diagnostic: &Diagnostic) -> String {
    let pointer = diagnostic.location.pointer.as_deref().unwrap_or("-");
    format!("{} {pointer}: {}", diagnostic.severity, diagnostic.message)
}

/// `alpha` (100) with every type of setting, `beta` (200, disabled), `token-limiter` and the four formatters.
pub(crate) fn registry() -> ProcessorRegistry {
    let mut registry = ProcessorRegistry::default();
    let alpha = vec![
        ConfigField::text("mark", "Mark", "-"),
        ConfigField::text("word", "Word", "yes").required(),
        ConfigField::integer("limit", "Limit", 5).between(0.0, 100.0),
        ConfigField::boolean("loud", "Loud", false),
        ConfigField::select("scope", "Scope", &[("preset", "Preset"), ("all", "All")]),
    ];
    add(&mut registry, "alpha", 100, true, alpha);
    add(&mut registry, "beta", 200, false, Vec::new());
    let limiter = vec![ConfigField::number("retainedCharacters", "Kept", 0)];
    add(&mut registry, "token-limiter", 400, true, limiter);
    for (id, priority, is_on) in [
        ("merge-system-to-head", 500, true),
        ("merge-consecutive-roles", 600, true),
        ("convert-system-to-user", 700, false),
    ] {
        add(&mut registry, id, priority, is_on, vec![ConfigField::text("separator", "Between", "---")]);
    }
    let placeholder = vec![ConfigField::text("userPlaceholder", "Says", "go on")];
    add(&mut registry, "ensure-alternating-roles", 800, false, placeholder);
    registry
}

pub(crate) fn add(
    registry: &mut ProcessorRegistry,
    id: &str,
    priority: i64,
    is_on: bool,
    fields: Vec<ConfigField>,
) {
    let descriptor = Descriptor::new(id, id, "for tests").with(|descriptor| {
        descriptor.priority = priority;
        descriptor.default_enabled = is_on;
        descriptor.config_fields = fields;
    });
    registry.register(Arc::new(Idle(descriptor))).unwrap();
}

pub(crate) struct Idle(pub(crate) Descriptor);

#[async_trait]
impl ContextProcessor for Idle {
    fn descriptor(&self) -> Descriptor {
        self.0.clone()
    }

    async fn execute(&self, _cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        Ok(())
    }
}
