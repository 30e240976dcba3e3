//! Parts of a request other than messages, and the request body.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use ctx_types::internal::{RequestRules, excerpt};
use ctx_types::ports::ToolDefinition;
use ctx_types::{Attachment, Diagnostic, phrase};
use serde_json::{Map, Value, json};

use crate::body_part::BodyPart;
use crate::codes;
use crate::completion::Template;
use crate::json::{Field, Json, Object, object};

/// Maximum number of diagnostics of a request. If there are more, the most severe ones and the number of the others
/// are reported.
const MAX_DIAGNOSTICS: usize = 1_000;

/// User message before a conversation that begins with the assistant, for dialects that require a user message.
pub(crate) const OPENING: &str = "(The conversation begins.)";

/// Parts of a request other than messages.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model, as the provider names it.
    pub model: &'a str,
    /// Tool definitions in the format of any dialect. Without tools, the body has no list.
    ///
    /// Functions are converted to the dialect. Definitions in its format are unchanged.
    pub tools: &'a [Value],
    /// Further top-level fields, such as `temperature`, written last and in this order.
    ///
    /// A field that the request sets (model, messages or tools) is dropped and reported.
    pub parameters: &'a Map<String, Value>,
}

impl<'a> Request<'a> {
    /// Creates a request without tools and parameters.
    ///
    /// ```
    /// assert_eq!(ctx_wire::openai_chat::encode(&[], &ctx_wire::Request::new("m")).to_string(), r#"{"model":"m","messages":[]}"#);
    /// ```
    pub fn new(model: &'a str) -> Self {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        Self { model, tools: &[], parameters: &NONE }
    }
}

/// Writes a tool in the format of chat completions, which the other dialects convert.
///
/// ```
/// use ctx_types::ports::ToolDefinition;
///
/// let look = ToolDefinition { name: "look".into(), description: None, parameters: Default::default() };
/// let expected = r#"{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}"#;
/// assert_eq!(ctx_wire::tool_definition(&look).to_string(), expected);
/// ```
pub fn tool_definition(tool: &ToolDefinition) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), Value::from(&*tool.name));
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), Value::from(description.as_str()));
    }
    let parameters = match &*tool.parameters {
        Value::Null => json!({ "type": "object", "properties": {} }),
        schema => schema.clone(),
    };
    function.insert("parameters".to_owned(), parameters);
    json!({ "type": "function", "function": function })
}

/// Facts about the model, and options of the request.
///
/// By default, the model continues an unfinished reply, and system messages inside the conversation become user
/// messages in dialects without them.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Whether the model continues an assistant message at the end [default: true].
    ///
    /// If not, a user message requests it, in dialects whose servers reject such requests.
    pub prefill: bool,
    /// Placement of system messages inside the conversation, in dialects without them.
    pub system: SystemPlacement,
    /// Rules of the model; unknown by default.
    pub rules: RequestRules,
    /// Format of turns in a text completion [default: `chatml`].
    pub template: Option<&'a Template>,
    /// Names of parameters from a client of the same API dialect. They are sent unchanged.
    pub client_fields: Option<&'a BTreeSet<String>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            prefill: true,
            system: SystemPlacement::default(),
            rules: RequestRules::default(),
            template: None,
            client_fields: None,
        }
    }
}

/// Placement of a system message inside the conversation, in dialects with a separate field for system messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SystemPlacement {
    /// At its place, as a user message in `<system>` tags.
    #[default]
    Wrapped,
    /// At its place with its role, for models that accept it; wrapped if the rules forbid it.
    InPlace,
}

/// A request body, with its diagnostics.
///
/// Its `Display` is the body as compact JSON; equal inputs give equal bytes. The body borrows the texts and files
/// of the messages and of the request, which are copied once, when the bytes are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded<'a> {
    body: Json<'a>,
    /// Dropped parts, and parts that the provider probably rejects; at most 1,000, and the number of the others.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Encoded<'a> {
    pub(crate) fn new(body: Json<'a>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { body, diagnostics: limit(diagnostics) }
    }

    /// Returns the body as compact JSON in UTF-8, ready to be sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.body.to_json().into_bytes()
    }

    /// Returns the body as a value, with its keys in the order in which they are sent. O(size), a copy.
    pub fn to_value(&self) -> Value {
        self.body.to_value()
    }

    /// Returns the tools, system prompts and messages of the body, in the order in which providers read them. O(size).
    pub fn parts(&self) -> Vec<BodyPart> {
        BodyPart::all(&self.body)
    }

    /// Returns a request that does not borrow the messages. O(size), a copy.
    pub fn into_owned(self) -> Encoded<'static> {
        Encoded { body: self.body.into_owned(), diagnostics: self.diagnostics }
    }
}

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.body, f)
    }
}

/// Adds the parameters to a body, except those that the dialect sets.
pub(crate) fn put_parameters<'a>(
    body: &mut Object<'a>,
    parameters: impl IntoIterator<Item = Field<'a>>,
    reserved: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (name, value) in parameters {
        if reserved.contains(&&*name) {
            let message = phrase!("parameter `{name}` is not sent: ctx sets it", name = excerpt(&name));
            diagnostics.push(Diagnostic::warning(codes::RESERVED_PARAMETER, message));
        } else {
            body.push(name, value);
        }
    }
}

/// Marks the content of a result as an error, in dialects without a field for it.
///
/// A text that begins with the word is unchanged.
pub(crate) fn mark_error(content: &mut Json<'_>, text_part: &'static str) -> Diagnostic {
    const MARK: &str = "Error";
    let marked = |text: &str| {
        let begins = text.get(..MARK.len()).is_some_and(|start| start.eq_ignore_ascii_case(MARK));
        (!begins).then(|| format!("{MARK}: {text}").trim_end().to_owned())
    };
    match content {
        Json::Text(text) => {
            if let Some(new) = marked(text) {
                *content = new.into();
            }
        }
        Json::List(parts) => {
            let first = parts.iter_mut().find_map(|part| part.as_object_mut()?.get_mut("text"));
            match first.map(|text| (marked(text.as_str().unwrap_or_default()), text)) {
                Some((Some(new), text)) => *text = new.into(),
                Some((None, _)) => {}
                None => parts.insert(0, object([("type", text_part.into()), ("text", MARK.into())])),
            }
        }
        _ => {}
    }
    let text = phrase!("the failure of the tool is sent as text: this API dialect has no field for it");
    Diagnostic::info(codes::ERROR_AS_TEXT, text)
}

/// Reports a file that was not loaded.
pub(crate) fn nothing_loaded(file: &Attachment) -> Diagnostic {
    let text = phrase!("attachment `{label}` is not sent: it is not loaded", label = excerpt(file.label()));
    Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text)
}

fn limit(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let hidden = diagnostics.len().saturating_sub(MAX_DIAGNOSTICS);
    if hidden > 0 {
        diagnostics.sort_by_key(|diagnostic| Reverse(diagnostic.severity));
        diagnostics.truncate(MAX_DIAGNOSTICS);
        diagnostics.push(Diagnostic::more(hidden, "this request"));
    }
    diagnostics
}
