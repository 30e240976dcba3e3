use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Reader, phrase};
use serde_json::Value;

use crate::codes;
use crate::variables::tag::{is_name, is_reserved};
use crate::variables::value::VariableValue;

const MAX_DEFINITIONS: usize = 1_000;

const MAX_DEPTH: usize = 16;

pub(crate) const MAX_VALUE: usize = 64 * 1024;

/// The variables that an agent defines, with groups flattened.
#[derive(Clone, Debug, Default)]
pub struct VariableDefinitions {
    list: Vec<VariableDefinition>,
    /// Never iterated.
    by_path: HashMap<Arc<str>, usize>,
    /// Differs if definitions may give other values.
    pub(crate) fingerprint: u64,
}

/// A variable that an agent defines.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDefinition {
    /// Keys of its groups and its own key, joined with dots.
    pub path: Arc<str>,
    /// Display name.
    pub display_name: Option<Arc<str>>,
    /// Meaning, for the user and the model.
    pub description: Option<Arc<str>>,
    /// Value before any message, within the bounds.
    pub initial: VariableValue,
    /// Minimum of a number.
    pub min: Option<f64>,
    /// Maximum of a number.
    pub max: Option<f64>,
    /// Whether the variable or its group is hidden in lists of all variables.
    pub is_hidden: bool,
}

impl VariableDefinitions {
    /// Reads an agent's `variableConfig`; `None` if it is not enabled.
    ///
    /// Invalid items are ignored, and reported with a JSON pointer into the agent's file.
    pub fn read(config: &Value, report: &mut dyn FnMut(Diagnostic)) -> Option<Self> {
        let mut reader = Reader::new();
        let definitions = reader.at_key("variableConfig", |reader| Self::read_config(config, reader));
        reader.finish().into_iter().for_each(report);
        definitions
    }

    fn read_config(config: &Value, reader: &mut Reader) -> Option<Self> {
        let Value::Object(fields) = config else {
            if !config.is_null() {
                let message = phrase!("`variableConfig` must be an object; the variables are ignored");
                reader.report(warning(message));
            }
            return None;
        };
        let is_enabled = reader.field(fields, "enabled", Value::as_bool, |_| {
            warning(phrase!("`enabled` must be `true` or `false`; the variables are ignored"))
        });
        if is_enabled != Some(true) {
            return None;
        }
        let mut definitions = Self::default();
        if let Some(items) = config.get("definitions").filter(|items| !items.is_null()) {
            let mut hasher = DefaultHasher::new();
            hasher.write(items.to_string().as_bytes());
            definitions.fingerprint = hasher.finish();
            reader.at_key("definitions", |reader| definitions.read_group(items, &Group::default(), reader));
        }
        Some(definitions)
    }

    /// Returns the variables in file order.
    pub fn iter(&self) -> impl Iterator<Item = &VariableDefinition> {
        self.list.iter()
    }

    /// Returns the variable with this name.
    pub fn get(&self, path: &str) -> Option<&VariableDefinition> {
        self.list.get(*self.by_path.get(path)?)
    }

    fn read_group(&mut self, items: &Value, group: &Group, reader: &mut Reader) {
        let mut warn = |message: Phrase| reader.report(warning(message));
        let Value::Array(items) = items else { return warn(phrase!("the variables must be a list")) };
        if group.depth == MAX_DEPTH {
            return warn(phrase!("variable groups are nested deeper than {limit} levels", limit = MAX_DEPTH));
        }
        for (index, item) in items.iter().enumerate() {
            if self.list.len() == MAX_DEFINITIONS {
                let limit = MAX_DEFINITIONS;
                return reader
                    .report(warning(phrase!("more than {limit} variables; the rest is ignored", limit)));
            }
            reader.at_index(index, |reader| {
                if let Err(problem) = self.read_item(item, group, reader) {
                    reader.report(warning(problem));
                }
            });
        }
    }

    fn read_item(&mut self, item: &Value, group: &Group, reader: &mut Reader) -> Result<(), Phrase> {
        let text = |key: &str| item.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let key = text("key").map(str::trim).ok_or_else(|| phrase!("a variable has no `key`"))?;
        let path = if group.path.is_empty() { key.to_owned() } else { format!("{}.{key}", group.path) };
        if !is_name(&path) {
            return Err(phrase!("invalid variable name `{name}`", name = excerpt(&path)));
        }
        let is_hidden = group.is_hidden || item.get("hidden").and_then(Value::as_bool) == Some(true);
        if text("type") == Some("group") || item.get("children").is_some_and(Value::is_array) {
            let inner = Group { path, depth: group.depth + 1, is_hidden };
            if let Some(children) = item.get("children").filter(|children| !children.is_null()) {
                reader.at_key("children", |reader| self.read_group(children, &inner, reader));
            }
            return Ok(());
        }
        if is_reserved(&path) {
            return Err(phrase!("reserved variable name `{path}`: it means all variables", path));
        }
        if self.by_path.contains_key(path.as_str()) {
            return Err(phrase!("duplicate variable `{path}`; the first one is used", path));
        }
        let mut warn = |message: Phrase| reader.report(warning(message));
        let (min, max) = bounds(item, &path, &mut warn);
        let initial = VariableValue::from_json(item.get("initialValue").unwrap_or(&Value::Null));
        if initial.size() > MAX_VALUE {
            return Err(phrase!(
                "the initial value of `{path}` exceeds {limit} bytes",
                path,
                limit = MAX_VALUE
            ));
        }
        let path: Arc<str> = Arc::from(path);
        let mut definition = VariableDefinition {
            path: path.clone(),
            display_name: text("displayName").map(Arc::from),
            description: text("description").map(Arc::from),
            initial: VariableValue::Number(0.0),
            min,
            max,
            is_hidden,
        };
        definition.initial = definition.clamp(initial.clone());
        if definition.initial != initial {
            warn(phrase!(
                "the initial value of `{path}` is out of bounds; {value} is used",
                path,
                value = definition.initial.to_text()
            ));
        }
        self.by_path.insert(path, self.list.len());
        self.list.push(definition);
        Ok(())
    }
}

impl VariableDefinition {
    /// Limits a number to the bounds. Other values are unchanged.
    pub fn clamp(&self, value: VariableValue) -> VariableValue {
        match value {
            VariableValue::Number(number) => {
                let number = self.min.map_or(number, |min| number.max(min));
                VariableValue::Number(self.max.map_or(number, |max| number.min(max)))
            }
            other => other,
        }
    }
}

#[derive(Default)]
struct Group {
    path: String,
    depth: usize,
    is_hidden: bool,
}

fn bounds(item: &Value, path: &str, warn: &mut dyn FnMut(Phrase)) -> (Option<f64>, Option<f64>) {
    let mut bound = |key: &str| {
        let value = item.get(key).filter(|value| !value.is_null() && value.as_str() != Some(""))?;
        let number = VariableValue::from_json(value).as_number();
        if number.is_none() {
            warn(phrase!("`{key}` of `{path}` is not a number; it is ignored", key, path));
        }
        number
    };
    let (min, max) = (bound("min"), bound("max"));
    match (min, max) {
        (Some(least), Some(greatest)) if least > greatest => {
            warn(phrase!("`min` of `{path}` is above `max`; both are ignored", path));
            (None, None)
        }
        bounds => bounds,
    }
}

fn warning(message: Phrase) -> Diagnostic {
    Diagnostic::warning(codes::VARIABLE_DEFINITION, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Writes variables as `path=initial[min,max]`, hidden ones with `~`.
    #[track_caller]
    fn check(definitions: &Value, expected: &[&str], findings: &[&str]) {
        let mut found = Vec::new();
        let config = json!({ "enabled": true, "definitions": definitions });
        let read =
            VariableDefinitions::read(&config, &mut |finding| found.push(finding.to_string())).unwrap();
        let shown = read.iter().map(|one| {
            let bound = |bound: Option<f64>| bound.map_or_else(String::new, |bound| bound.to_string());
            let hidden = if one.is_hidden { "~" } else { "" };
            format!("{hidden}{}={}[{},{}]", one.path, one.initial.to_text(), bound(one.min), bound(one.max))
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(found, findings);
    }

    #[test]
    fn flattens_groups_into_paths() {
        let group = json!([
            { "key": "hero", "type": "group", "children": [
                { "key": "hp", "type": "variable", "initialValue": "80", "min": 0, "max": 100 },
                { "key": "bag", "type": "group", "hidden": true, "children": [{ "key": "gold", "initialValue": 5 }] },
            ] },
            { "key": "天气", "type": "variable", "initialValue": "晴" },
            { "key": "empty", "type": "group" },
        ]);
        check(&group, &["hero.hp=80[0,100]", "~hero.bag.gold=5[,]", "天气=晴[,]"], &[]);
    }

    #[test]
    fn skips_invalid_definitions() {
        check(
            &json!([{ "key": "svars" }, { "key": "svars::list" }, { "key": "svars", "children": [{ "key": "a" }] }]),
            &["svars.a=[,]"],
            &[
                "warning[CTX0760]: reserved variable name `svars`: it means all variables (at /variableConfig/definitions/0)",
                "warning[CTX0760]: reserved variable name `svars::list`: it means all variables (at /variableConfig/definitions/1)",
            ],
        );
        check(
            &json!({ "key": "a" }),
            &[],
            &["warning[CTX0760]: the variables must be a list (at /variableConfig/definitions)"],
        );
    }

    #[test]
    fn limits_group_nesting() {
        let mut value = json!([{ "key": "v" }]);
        for _ in 0..20 {
            value = json!([{ "key": "g", "type": "group", "children": value }]);
        }
        let mut found = 0;
        let config = json!({ "enabled": true, "definitions": value });
        let read = VariableDefinitions::read(&config, &mut |_| found += 1).unwrap();
        assert_eq!((read.iter().count(), found), (0, 1));
    }

    #[test]
    fn reads_no_variables_unless_enabled() {
        let check = |config: Value, expected: &[&str]| {
            let mut found = Vec::new();
            let read = VariableDefinitions::read(&config, &mut |finding| found.push(finding.to_string()));
            assert!(read.is_none());
            assert_eq!(found, expected);
        };
        for config in [json!({}), json!({ "enabled": false, "definitions": [] }), json!(null)] {
            check(config, &[]);
        }
        let no_object = "warning[CTX0760]: `variableConfig` must be an object; the variables are ignored (at /variableConfig)";
        check(json!([1]), &[no_object]);
        check(json!(5), &[no_object]);
        check(
            json!({ "enabled": "yes" }),
            &[
                "warning[CTX0760]: `enabled` must be `true` or `false`; the variables are ignored (at /variableConfig/enabled)",
            ],
        );
    }
}
