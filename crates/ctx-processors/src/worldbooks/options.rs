use ctx_pipeline::{ConfigField, PrepareInput};
use ctx_types::{Injection, Order, Placement};
use ctx_worldbook::{CharacterStrategy, Settings};
use serde_json::Value;

use crate::gap_lanes::Lanes;

pub(crate) const ANCHOR_FORMAT: &str = "anchorFormat";

/// Settings of `worldbook-processor`.
#[derive(Debug)]
pub(crate) struct WorldbookOptions {
    pub(crate) scan: Settings,
    pub(crate) own: BookSettings,
    lanes: Lanes,
}

settings! {
    /// Defaults are AIO Hub's, with SillyTavern's budget.
    pub(crate) BookSettings {
        books: Vec<String> =
            ConfigField::list("books", "Global worldbooks").with_description("ids or names of worldbooks"),
        depth: u64 = count(DEPTH, "Scan depth", 2),
        recursive: bool = ConfigField::boolean(RECURSIVE, "Recursive scanning", true),
        budget_percent: f64 = ConfigField::number("budgetPercent", "Budget (% of the context)", 25)
            .between(0.0, 100.0)
            .with_description("token budget of all entries; 0: no limit"),
        budget_cap: u64 =
            count("budgetCap", "Budget cap (tokens)", 0).with_description("0: only the percentage applies"),
        case_sensitive: bool = ConfigField::boolean("caseSensitive", "Case-sensitive", false),
        match_whole_words: bool = ConfigField::boolean("matchWholeWords", "Match whole words", false),
        include_names: bool = ConfigField::boolean("includeNames", "Include names", false),
        min_activations: u64 = count("minActivations", "Min activations", 0)
            .with_description("scans more messages until enough entries are active"),
        min_activations_depth_max: u64 =
            count("minActivationsDepthMax", "Max depth for min activations", 0).with_description("0: no limit"),
        max_recursion_steps: u64 = count("maxRecursionSteps", "Max recursion steps", 0)
            .with_description("includes the first pass; 0: no limit"),
        use_group_scoring: bool = ConfigField::boolean("useGroupScoring", "Use group scoring", false),
        strategy: Strategy = ConfigField::select("strategy", "Insertion strategy", Strategy::OPTIONS),
        anchor_format: String =
            ConfigField::text(ANCHOR_FORMAT, "Format of entries before and after the character", "")
                .with_description("`{0}` is replaced with the entries; empty: one message per entry"),
        has_equal_order: bool = ConfigField::select("gapOrder", "Order at a depth", &[
            ("entry", "Order of each entry"),
            ("equal", "100 for all; the tie-breakers decide"),
        ]),
    }
}

choices! {
    Strategy {
        CharacterFirst = ("character_first", "Character first"),
        GlobalFirst = ("global_first", "Global first"),
        Evenly = ("evenly", "Sorted evenly"),
    }
}

const DEPTH: &str = "depth";
const RECURSIVE: &str = "recursive";

fn count(key: &str, label: &str, default: u32) -> ConfigField {
    ConfigField::integer(key, label, default).between(0.0, 1_000_000_000.0)
}

impl WorldbookOptions {
    /// The agent's `worldbookSettings` override settings of the user and the model.
    pub(crate) fn read(input: &mut PrepareInput<'_>) -> Self {
        let own = BookSettings::read(&mut input.settings);
        let mut scan = own.to_scan();
        if let Some(agent) = input.agent.worldbook_settings.as_ref().filter(|agent| !agent.is_null()) {
            override_scan(&mut scan, agent, input);
        }
        Self { scan, own, lanes: Lanes::read(&mut input.settings) }
    }

    pub(crate) fn at_gap(&self, mut injection: Injection) -> Injection {
        if let Placement::Depth { order, .. } | Placement::Index { order, .. } = &mut injection.placement {
            if self.own.has_equal_order {
                *order = Order::DEFAULT;
            }
            injection.lane = self.lanes.of(injection.role);
        }
        injection
    }
}

impl BookSettings {
    fn to_scan(&self) -> Settings {
        Settings {
            depth: self.depth,
            min_activations: self.min_activations,
            min_activations_depth_max: self.min_activations_depth_max,
            budget_percent: self.budget_percent,
            budget_cap: self.budget_cap,
            include_names: self.include_names,
            recursive: self.recursive,
            case_sensitive: self.case_sensitive,
            match_whole_words: self.match_whole_words,
            strategy: match self.strategy {
                Strategy::CharacterFirst => CharacterStrategy::CharacterFirst,
                Strategy::GlobalFirst => CharacterStrategy::GlobalFirst,
                Strategy::Evenly => CharacterStrategy::Evenly,
            },
            use_group_scoring: self.use_group_scoring,
            max_recursion_steps: self.max_recursion_steps,
        }
    }
}

fn override_scan(scan: &mut Settings, own: &Value, input: &mut PrepareInput<'_>) {
    let mut wanted = own.clone();
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.retain(|key, _| match key.as_str() {
            "disableRecursion" => !input.settings.is_set_by_agent(RECURSIVE),
            "defaultScanDepth" => !input.settings.is_set_by_agent(DEPTH),
            _ => true,
        });
    }
    for finding in scan.set(&wanted) {
        let below = finding.location.pointer.clone().unwrap_or_default();
        input.cx.report(finding.at_pointer(format!("/worldbookSettings{}", below.trim_end_matches('/'))));
    }
}
