//! What a request holds beside its messages, and the body that comes out.

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
use crate::dialect::Dialect;
use crate::json::{Field, Json, Object, object};
use crate::lint;

/// How many findings one request reports; beyond it the most severe are kept and the rest is counted.
const MAX_DIAGNOSTICS: usize = 1_000;

/// The user message before a conversation that the assistant begins, in dialects where the user has to begin.
pub(crate) const OPENING: &str = "(The conversation begins.)";

/// Everything that a request holds beside its messages.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model, as the provider names it.
    pub model: &'a str,
    /// Tool definitions in the form of any dialect; none means that no list is written.
    ///
    /// Functions are written as the dialect has them, and a definition in its own form stays as it is.
    pub tools: &'a [Value],
    /// Further top-level fields, such as `temperature`, written last and in this order.
    ///
    /// A field that the request sets itself (its model, messages or tools) is left out and reported.
    pub parameters: &'a Map<String, Value>,
}

impl<'a> Request<'a> {
    /// Creates the request that holds nothing beside its messages: no tools, no parameters.
    ///
    /// ```
    /// assert_eq!(ctx_wire::openai_chat::encode(&[], &ctx_wire::Request::new("m")).to_string(), r#"{"model":"m","messages":[]}"#);
    /// ```
    pub fn new(model: &'a str) -> Self {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        Self { model, tools: &[], parameters: &NONE }
    }
}

/// Writes a tool as chat completions define one; the other dialects make their own form of it.
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

/// What is known about the target beyond its dialect, and how the caller wants things written.
///
/// By default the model continues an unfinished answer, and system messages inside the conversation become the
/// user's where the dialect has none.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Whether the model goes on where a last message of the assistant ends; by default it does.
    ///
    /// Where it does not, a user's message asks it to, in dialects whose servers refuse such requests.
    pub prefill: bool,
    /// Where system messages inside the conversation go, in dialects that have none there.
    pub system: SystemPlacement,
    /// What the model accepts; by default nothing is known.
    pub rules: RequestRules,
    /// How a text completion writes turns; `chatml` by default.
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

/// Where a system message inside the conversation goes, in dialects that have a field of their own for
/// instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SystemPlacement {
    /// In its place as the user's, wrapped in `<system>`.
    #[default]
    Wrapped,
    /// In its place with its role, for models that take it there; wrapped where the rules forbid that.
    InPlace,
}

/// A request body, with what was found on the way.
///
/// Its `Display` is the body as compact JSON; equal inputs give equal bytes. The body borrows the texts and files
/// of the messages and of the request, which are copied once, when the bytes are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded<'a> {
    body: Json<'a>,
    /// What was left out, and what the provider will probably refuse; at most 1,000 and a count of the rest.
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

    /// Returns the request with texts and files of its own, for those who cannot keep the messages. O(size).
    pub fn into_owned(self) -> Encoded<'static> {
        Encoded { body: self.body.into_owned(), diagnostics: self.diagnostics }
    }

    /// Finds what the provider would refuse in the body, as [`lint::check`] does.
    pub fn lint(&self, dialect: Dialect) -> Vec<Diagnostic> {
        lint::check_tree(&self.body, dialect, RequestRules::default())
    }
}

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.body, f)
    }
}

/// Adds the parameters to a body, except those that the dialect sets itself.
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
/// A text that begins with the word itself stays.
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

/// Reports a file that is a reference still.
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
