//! A conversation while it is told, and the labels of what it says.

use serde_json::{Value, json};

use super::values::{Kind, Stated};

/// A conversation with labelled facts.
#[derive(Debug, Default)]
pub(super) struct Story {
    messages: Vec<Value>,
    /// All messages as JSON in lower case, for looking things up.
    written: String,
    /// What was said, by message.
    pub(super) facts: Vec<Fact>,
    /// Values that were replaced by later ones: places in `facts`, old and new.
    pub(super) updates: Vec<(usize, usize)>,
    /// The language of summaries.
    pub(super) is_chinese: bool,
}

/// Something that a reader may need later.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) stated: Stated,
    pub(super) message: String,
}

impl Story {
    /// Starts with the rules of the system, if there are any.
    pub(super) fn new(system: Option<&str>, is_chinese: bool) -> Self {
        let mut story = Self { is_chinese, ..Self::default() };
        if let Some(text) = system {
            story.push("system", json!({ "content": text }));
        }
        story
    }

    /// Returns how many messages there are.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Adds a message.
    pub(super) fn say(&mut self, role: &str, text: &str) {
        self.push(role, json!({ "content": text }));
    }

    /// Adds a message that says things, and their labels; returns the place of the first label.
    pub(super) fn state(&mut self, role: &str, text: &str, stated: Vec<Stated>) -> usize {
        self.say(role, text);
        self.label(stated)
    }

    /// Adds a tool call with its result.
    pub(super) fn call(&mut self, name: &str, arguments: &Value, result: &str) {
        let id = format!("call_{}", self.messages.len());
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let call = json!({ "id": id, "type": "function", "function": function });
        self.push("assistant", json!({ "content": null, "tool_calls": [call] }));
        self.push("tool", json!({ "tool_call_id": id, "content": result }));
    }

    /// Labels what the latest message says; returns the place of the first label.
    pub(super) fn label(&mut self, stated: Vec<Stated>) -> usize {
        let message = format!("m{}", self.messages.len());
        let first = self.facts.len();
        self.facts.extend(stated.into_iter().map(|stated| Fact { stated, message: message.clone() }));
        first
    }

    /// Returns whether a text stands anywhere.
    pub(super) fn has(&self, text: &str) -> bool {
        self.written.contains(&text.to_lowercase())
    }

    /// Returns the file: messages, labels and summaries.
    pub(super) fn into_json(self, summaries: &[Value]) -> Value {
        let facts: Vec<Value> = self.facts.iter().map(Fact::to_json).collect();
        let updates: Vec<Value> =
            self.updates.iter().map(|(old, new)| json!({ "old": old, "new": new })).collect();
        json!({ "messages": self.messages, "facts": facts, "updates": updates, "summaries": summaries })
    }

    fn push(&mut self, role: &str, fields: Value) {
        let mut message = json!({ "id": format!("m{}", self.messages.len() + 1), "role": role });
        if let (Value::Object(message), Value::Object(fields)) = (&mut message, fields) {
            message.extend(fields);
        }
        self.written += &message.to_string().to_lowercase();
        self.messages.push(message);
    }
}

impl Fact {
    fn to_json(&self) -> Value {
        json!({
            "kind": self.stated.kind.name(),
            "spellings": self.stated.spellings(),
            "cues": self.stated.cues,
            "message": self.message,
        })
    }
}

impl Kind {
    /// The name of the kind in the files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date => "date",
            Self::Name => "name",
            Self::Path => "path",
            Self::Identifier => "identifier",
            Self::Quote => "quote",
            Self::Constraint => "constraint",
            Self::Negation => "negation",
            Self::Question => "question",
        }
    }
}
