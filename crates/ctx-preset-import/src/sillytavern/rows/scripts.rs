//! What becomes of each field of regex scripts.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use crate::loose::whole_of;
use crate::report::Expect::{Among, Any, Flag, List, Text, Whole};
use crate::report::{Link, Making, NOT_READ, Rule, RuleSet, kept, mapped};

/// Where the rules of a list go; its number among the others is known when all files are there.
pub(crate) const LIST: &str = "/regexConfig/presets/*";

/// The fields of a script whatever else it says.
const SCRIPT: [Rule; 12] = [
    mapped("/id", Text, "/id"),
    mapped("/scriptName", Text, "/name"),
    mapped("/findRegex", Text, "/regex"),
    mapped("/replaceString", Text, "/replacement"),
    // An empty list is not written.
    mapped("/trimStrings", List, ""),
    mapped("/trimStrings/*", Text, "/trimStrings/*"),
    mapped("/placement", List, "/targetRoles"),
    mapped("/disabled", Flag, "/enabled"),
    mapped("/runOnEdit", Flag, "/runOnEdit"),
    mapped("/substituteRegex", Among(&[0, 1, 2]), "/substitutionMode"),
    mapped("/minDepth", Whole(-1), "/depthRange/min"),
    mapped("/maxDepth", Whole(0), "/depthRange/max"),
];

const STAGES: [Rule; 2] =
    [mapped("/markdownOnly", Flag, "/applyTo/render"), mapped("/promptOnly", Flag, "/applyTo/request")];

const EVERYWHERE: [Rule; 2] = [
    kept("/markdownOnly", "a script of the old kind for the display is for all that is shown and sent"),
    kept("/promptOnly", "a script of the old kind for the display is for all that is shown and sent"),
];

/// Returns the rules for a script or a list of them, whose regex rules go below a place.
pub(crate) fn of(scripts: &Value, to: &str) -> RuleSet {
    let mut rules = RuleSet::default();
    let place = |index: usize| format!("{to}/rules/{index}");
    match scripts {
        Value::Array(list) => {
            let mut kinds = BTreeMap::new();
            for (index, script) in list.iter().enumerate() {
                let kind = placements(script);
                let set = kinds.entry(kind).or_insert_with_key(|kind| Rc::new(script_rules(kind)));
                let link = Link::new(set, place(index));
                let below = if script.is_object() { "/imported" } else { "" };
                rules.link("", index.to_string(), link.keeping_below(below).making(Making::Said));
            }
            rules.add([mapped("", List, "")]);
        }
        script => rules = script_rules(&placements(script)),
    }
    rules
}

/// Returns the rules for a list of scripts inside of a file.
pub(crate) fn of_list(scripts: &Value) -> Link {
    Link::new(&Rc::new(of(scripts, LIST)), LIST)
}

/// Returns what a script says of the texts that it is for: a number each.
fn placements(script: &Value) -> Vec<Option<i64>> {
    let listed = script.get("placement").and_then(Value::as_array);
    listed.into_iter().flatten().map(whole_of).collect()
}

/// Returns the rules for a script that is for some texts.
fn script_rules(placements: &[Option<i64>]) -> RuleSet {
    let stages = if placements.contains(&Some(0)) { EVERYWHERE } else { STAGES };
    let mut rules = RuleSet::new(SCRIPT.into_iter().chain(stages));
    for (index, number) in placements.iter().enumerate() {
        let rule = match number {
            Some(0) => mapped("", Any, "/applyTo"),
            Some(1 | 2) => mapped("", Any, "/targetRoles"),
            Some(5 | 6) => mapped("", Any, "/targetTexts"),
            Some(3 | 4) => kept("", "there are no slash commands that the script could change"),
            _ => kept("", NOT_READ),
        };
        rules.single("/placement", index.to_string(), rule);
    }
    rules
}
