use ctx_pipeline::{Config, ConfigField, SettingOrigin};
use ctx_types::{Agent, Diagnostic, Injection, Order, Placement};
use ctx_worldbook::{CharacterStrategy, Settings};
use serde_json::Value;

use crate::gap_lanes::{lane, lane_fields};

const BOOKS: &str = "books";
const DEPTH: &str = "depth";
const RECURSIVE: &str = "recursive";
const BUDGET_PERCENT: &str = "budgetPercent";
const BUDGET_CAP: &str = "budgetCap";
const CASE_SENSITIVE: &str = "caseSensitive";
const MATCH_WHOLE_WORDS: &str = "matchWholeWords";
const INCLUDE_NAMES: &str = "includeNames";
const MIN_ACTIVATIONS: &str = "minActivations";
const MIN_ACTIVATIONS_DEPTH_MAX: &str = "minActivationsDepthMax";
const MAX_RECURSION_STEPS: &str = "maxRecursionSteps";
const USE_GROUP_SCORING: &str = "useGroupScoring";
const STRATEGY: &str = "strategy";

pub(crate) const ANCHOR_FORMAT: &str = "anchorFormat";
const GAP_ORDER: &str = "gapOrder";
const EQUAL: &str = "equal";
const GAP_ORDERS: [(&str, &str); 2] =
    [("entry", "Order of each entry"), (EQUAL, "100 for all; the tie-breakers decide")];

const STRATEGIES: [(&str, CharacterStrategy, &str); 3] = [
    ("character_first", CharacterStrategy::CharacterFirst, "Character first"),
    ("global_first", CharacterStrategy::GlobalFirst, "Global first"),
    ("evenly", CharacterStrategy::Evenly, "Sorted evenly"),
];

/// Defaults are AIO Hub's, with SillyTavern's budget.
pub(crate) fn fields() -> Vec<ConfigField> {
    let count = |key: &str, label: &str, default: u32| {
        ConfigField::integer(key, label, default).between(0.0, 1_000_000_000.0)
    };
    let strategies = STRATEGIES.map(|(name, _, label)| (name, label));
    vec![
        ConfigField::list(BOOKS, "Global worldbooks").with_description("ids or names of worldbooks"),
        count(DEPTH, "Scan depth", 2),
        ConfigField::boolean(RECURSIVE, "Recursive scanning", true),
        ConfigField::number(BUDGET_PERCENT, "Context %", 25)
            .between(0.0, 100.0)
            .with_description("token budget of all entries; 0: no limit"),
        count(BUDGET_CAP, "Budget cap (tokens)", 0).with_description("0: only the percentage applies"),
        ConfigField::boolean(CASE_SENSITIVE, "Case-sensitive", false),
        ConfigField::boolean(MATCH_WHOLE_WORDS, "Match whole words", false),
        ConfigField::boolean(INCLUDE_NAMES, "Include names", false),
        count(MIN_ACTIVATIONS, "Min activations", 0)
            .with_description("scans more messages until enough entries are active"),
        count(MIN_ACTIVATIONS_DEPTH_MAX, "Max depth for min activations", 0).with_description("0: no limit"),
        count(MAX_RECURSION_STEPS, "Max recursion steps", 0)
            .with_description("includes the first pass; 0: no limit"),
        ConfigField::boolean(USE_GROUP_SCORING, "Use group scoring", false),
        ConfigField::select(STRATEGY, "Insertion strategy", &strategies),
        ConfigField::text(ANCHOR_FORMAT, "Format of entries before and after the character", "")
            .with_description("`{0}` is replaced with the entries; empty: one message per entry"),
        ConfigField::select(GAP_ORDER, "Order at a depth", &GAP_ORDERS),
    ]
    .into_iter()
    .chain(lane_fields())
    .collect()
}

/// The agent's `worldbookSettings` override settings of the user and the model.
pub(crate) fn settings(config: &Config, agent: &Agent) -> (Settings, Vec<Diagnostic>) {
    let mut settings = settings_from_config(config);
    let Some(own) = agent.worldbook_settings.as_ref().filter(|own| !own.is_null()) else {
        return (settings, Vec::new());
    };
    let below_agent = |key: &str| {
        let set = config.values().iter().find(|value| value.key == key);
        set.is_none_or(|value| value.setting.origin < SettingOrigin::Agent)
    };
    let wanted = own.as_object().into_iter().flatten().filter(|(key, _)| match key.as_str() {
        "disableRecursion" => below_agent(RECURSIVE),
        "defaultScanDepth" => below_agent(DEPTH),
        _ => true,
    });
    let wanted: Value = match own {
        Value::Object(_) => wanted.map(|(key, value)| (key.clone(), value.clone())).collect(),
        other => other.clone(),
    };
    let found = settings.set(&wanted).into_iter().map(|finding| {
        let below = finding.location.pointer.clone().unwrap_or_default();
        finding.at_pointer(format!("/worldbookSettings{}", below.trim_end_matches('/')))
    });
    let found = found.collect();
    (settings, found)
}

fn settings_from_config(config: &Config) -> Settings {
    let count = |key: &str| config.count(key) as u64;
    let strategy = config.text(STRATEGY);
    let strategy = STRATEGIES.iter().find(|(name, ..)| *name == strategy).map(|(_, strategy, _)| *strategy);
    Settings {
        depth: count(DEPTH),
        min_activations: count(MIN_ACTIVATIONS),
        min_activations_depth_max: count(MIN_ACTIVATIONS_DEPTH_MAX),
        budget_percent: config.number(BUDGET_PERCENT),
        budget_cap: count(BUDGET_CAP),
        include_names: config.is_on(INCLUDE_NAMES),
        recursive: config.is_on(RECURSIVE),
        case_sensitive: config.is_on(CASE_SENSITIVE),
        match_whole_words: config.is_on(MATCH_WHOLE_WORDS),
        strategy: strategy.unwrap_or_default(),
        use_group_scoring: config.is_on(USE_GROUP_SCORING),
        max_recursion_steps: count(MAX_RECURSION_STEPS),
    }
}

pub(crate) fn books(config: &Config) -> Vec<std::sync::Arc<str>> {
    let listed = config.get(BOOKS).and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(Into::into).collect()
}

pub(crate) fn at_gap(mut injection: Injection, config: &Config) -> Injection {
    let is_equal = config.text(GAP_ORDER) == EQUAL;
    if let Placement::Depth { order, .. } | Placement::Index { order, .. } = &mut injection.placement {
        if is_equal {
            *order = Order::DEFAULT;
        }
        injection.lane = lane(config, injection.role);
    }
    injection
}
