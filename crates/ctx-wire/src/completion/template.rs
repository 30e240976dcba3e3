//! Templates: how a model was taught to see turns in one text.

use std::sync::OnceLock;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Diagnostic, Fix, Reader, phrase};
use serde_json::{Map, Value};

use crate::codes;

/// How turns are written in one text.
///
/// The built-in ones are what the makers of the models publish with them. One of one's own is an object with
/// `begin`, `system`, `user`, `assistant` and `tool` (each with `before` and `after`), `systemInUser`, `stop` and
/// `borders`.
///
/// ```
/// use ctx_wire::completion::Template;
/// use serde_json::json;
///
/// let (template, found) = Template::read(&json!({
///     "user": { "before": "Q: ", "after": "\n" },
///     "assistant": { "before": "A:", "after": "\n" },
///     "stop": ["Q:"],
/// }));
/// assert!(found.is_empty());
/// assert_eq!(template.stop(), ["Q:"]);
/// assert_eq!(Template::for_model("openrouter/meta-llama/llama-3.3-70b").name(), "llama3");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    name: String,
    models: Vec<String>,
    pub(super) begin: String,
    pub(super) system: Frame,
    pub(super) user: Frame,
    pub(super) assistant: Frame,
    pub(super) tool: Option<Frame>,
    pub(super) is_system_in_user: bool,
    stop: Vec<String>,
    pub(super) borders: Vec<String>,
}

/// What stands before and after the words of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) before: String,
    pub(super) after: String,
}

/// The templates that come with the crate.
const BUILTIN: &str = include_str!("../../templates.json");

/// The template of models of which nothing is known.
const USUAL: &str = "chatml";

/// The longest text of a template, in bytes; longer ones are cut.
const MAX_TEXT: usize = 4 << 10;

/// The most entries of a list of a template.
const MAX_LIST: usize = 64;

const KEYS: [&str; 10] =
    ["name", "models", "begin", "system", "user", "assistant", "tool", "systemInUser", "stop", "borders"];

impl Template {
    /// Returns the built-in template of a name.
    pub fn builtin(name: &str) -> Option<Self> {
        builtin().iter().find(|template| template.name == name).cloned()
    }

    /// Returns the names of the built-in templates.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin().iter().map(|template| template.name.as_str())
    }

    /// Returns the template that suits the name of a model; `chatml` where nothing is known.
    pub fn for_model(model: &str) -> Self {
        let model = model.to_lowercase();
        let suits = |template: &&Self| template.models.iter().any(|part| model.contains(part.as_str()));
        let named = builtin().iter().find(suits).cloned();
        named.or_else(|| Self::builtin(USUAL)).unwrap_or_default()
    }

    /// Reads a template of one's own; what cannot be read is reported and empty.
    pub fn read(value: &Value) -> (Self, Vec<Diagnostic>) {
        let mut reader = Reader::new();
        let template = match value {
            Value::Object(map) => Self::of_map(map, &mut reader),
            other => {
                reader.wrong_type("an object", other);
                Self::default()
            }
        };
        (template, reader.finish())
    }

    /// Returns the name; empty for one that has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the texts at which an answer ends.
    pub fn stop(&self) -> &[String] {
        &self.stop
    }

    fn of_map(map: &Map<String, Value>, reader: &mut Reader) -> Self {
        reader.unknown_fields(map, &KEYS, |key, near| {
            let message = phrase!("unknown key `{key}` in a template", key = excerpt(key));
            Diagnostic::warning(codes::TEMPLATE, message).with_guess_or(near, Fix::key, || {
                phrase!("use one of {keys}", keys = Argument::list(KEYS, Divider::Comma))
            })
        });
        let mut fields = Fields { map, reader };
        Self {
            name: fields.text("name"),
            models: fields.list("models"),
            begin: fields.text("begin"),
            system: fields.frame("system").unwrap_or_default(),
            user: fields.frame("user").unwrap_or_default(),
            assistant: fields.frame("assistant").unwrap_or_default(),
            tool: fields.frame("tool"),
            is_system_in_user: fields.flag("systemInUser"),
            stop: fields.list("stop"),
            borders: fields.list("borders"),
        }
    }
}

fn builtin() -> &'static [Template] {
    static TEMPLATES: OnceLock<Vec<Template>> = OnceLock::new();
    TEMPLATES.get_or_init(|| read_builtin().0)
}

fn read_builtin() -> (Vec<Template>, Vec<Diagnostic>) {
    let mut reader = Reader::new();
    // The tests see to it that it parses.
    let value: Value = serde_json::from_str(BUILTIN).unwrap_or_default();
    let empty = Map::new();
    let named = value.as_object().unwrap_or(&empty).iter();
    let templates = named.filter_map(|(name, value)| {
        let template = Template::of_map(value.as_object()?, &mut reader);
        Some(Template { name: name.clone(), ..template })
    });
    (templates.collect(), reader.finish())
}

/// The fields of a template's object.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    reader: &'a mut Reader,
}

impl Fields<'_> {
    fn text(&mut self, key: &str) -> String {
        match self.map.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => shortened(text),
            Some(other) => {
                self.reader.at_key(key, |reader| reader.wrong_type("a string", other));
                String::new()
            }
        }
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.map.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.reader.at_key(key, |reader| reader.wrong_type("true or false", other));
                false
            }
        }
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => {
                let texts = list.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
                texts.take(MAX_LIST).map(shortened).collect()
            }
            Some(other) => {
                self.reader.at_key(key, |reader| reader.wrong_type("a list of strings", other));
                Vec::new()
            }
        }
    }

    fn frame(&mut self, key: &str) -> Option<Frame> {
        match self.map.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => self.reader.at_key(key, |reader| {
                let mut fields = Fields { map, reader };
                Some(Frame { before: fields.text("before"), after: fields.text("after") })
            }),
            Some(other) => {
                let expected = "an object with `before` and `after`";
                self.reader.at_key(key, |reader| reader.wrong_type(expected, other));
                None
            }
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_templates_have_no_mistakes() {
        let (templates, found) = read_builtin();
        assert_eq!(found, []);
        let map: Map<String, Value> = serde_json::from_str(BUILTIN).unwrap();
        assert_eq!(templates.len(), map.len());
    }

    #[test]
    fn what_parts_turns_is_a_border_in_each() {
        for template in builtin() {
            let frames = [&template.system, &template.user, &template.assistant];
            for text in frames.iter().flat_map(|frame| [&frame.before, &frame.after]) {
                let is_known = template.borders.iter().any(|border| text.contains(border.as_str()));
                assert!(text.trim().is_empty() || is_known, "`{text}` of {}", template.name);
            }
            assert!(template.stop.iter().all(|stop| template.borders.contains(stop)), "{}", template.name);
        }
    }
}
