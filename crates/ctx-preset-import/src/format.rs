//! What a document is, told by its keys.

mod evidence;

use std::fmt;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::container::base64_text::behind_data_url;
use crate::document::{self, Document, Syntax};
use crate::error::ImportError;
use evidence::detected;
pub(crate) use evidence::{Detected, is_profile, shape, source_format};

/// The form in which a document holds an agent, a conversation or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An agent or preset file of AIO Hub, which is our own unified form too.
    Agent,
    /// An export of AIO Hub: `{version, type: "AIO_Agent_Export", agents}`.
    AgentExport,
    /// The entries of a preset as a bare list, as seed 000 draws them.
    PresetList,
    /// The entries of a preset under `messages`, with or without `groups`.
    PresetFile,
    /// A session of AIO Hub, which is our own unified form too.
    Session,
    /// A session of AIO Hub in two halves: `{index, detail}`.
    SessionHalves,
    /// Messages as OpenAI's chat completions take them, as a list or under `messages`.
    ChatMessages,
    /// Messages as seed 004 stores them, as a list or under `messages`.
    StoredMessages,
    /// A chat of SillyTavern, one message a line.
    SillyTavernChat,
    /// A transcript of a coding agent, which `ctx-traffic` reads.
    AgentTranscript,
    /// A user profile of AIO Hub, which is our own unified form too.
    Profile,
    /// World info of SillyTavern and AIO Hub, which is our own unified form too.
    Worldbook,
    /// The lorebook of a character card, or one of that form by itself.
    CardBook,
    /// A lorebook of NovelAI, Agnai or RisuAI.
    OtherLorebook,
    /// A character card of version 1.
    CardV1,
    /// A character card of version 2.
    CardV2,
    /// A character card of version 3.
    CardV3,
    /// A character card of Pygmalion's time, or the YAML of text-generation-webui.
    Pygmalion,
    /// A chat-completion preset of SillyTavern.
    ChatPreset,
    /// Prompts and their order, as SillyTavern's prompt manager exports them.
    PromptExport,
    /// Regex scripts of SillyTavern: one, or a list of them.
    RegexScripts,
    /// A context template of SillyTavern.
    ContextTemplate,
    /// An instruct template of SillyTavern.
    InstructTemplate,
    /// A system prompt of SillyTavern.
    SystemPrompt,
    /// A reasoning template of SillyTavern.
    ReasoningTemplate,
    /// A master export of SillyTavern: several templates in one file.
    MasterExport,
    /// A sampler preset of SillyTavern for text completion.
    TextPreset,
    /// Personas of SillyTavern.
    Personas,
    /// The settings of SillyTavern.
    Settings,
    /// A preset of RisuAI.
    RisuPreset,
    /// A module of RisuAI.
    RisuModule,
    /// The metadata of a backup of AIO Hub's conversations.
    SessionBackup,
    /// A text without fields.
    PlainText,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Format {
    /// Returns what people call a file of the format, such as `a user profile`.
    pub const fn as_str(self) -> &'static str {
        self.id_and_name().1
    }

    /// Returns the name of the format in reports.
    pub const fn id(self) -> &'static str {
        self.id_and_name().0
    }

    const fn id_and_name(self) -> (&'static str, &'static str) {
        match self {
            Self::Agent => ("agent", "an agent"),
            Self::AgentExport => ("agent_export", "an AIO Hub agent export"),
            Self::PresetList => ("preset_list", "a list of preset entries"),
            Self::PresetFile => ("preset_file", "a preset with `messages`"),
            Self::Session => ("session", "a session"),
            Self::SessionHalves => ("session_halves", "a session as `index` and `detail`"),
            Self::ChatMessages => ("chat_messages", "a list of chat messages"),
            Self::StoredMessages => ("stored_messages", "a list of stored messages"),
            Self::SillyTavernChat => ("sillytavern_chat", "a SillyTavern chat"),
            Self::AgentTranscript => ("agent_transcript", "a transcript of a coding agent"),
            Self::Profile => ("profile", "a user profile"),
            Self::Worldbook => ("lorebook", "a worldbook"),
            Self::CardBook => ("card_book", "a lorebook of a character card"),
            Self::OtherLorebook => ("other_lorebook", "a lorebook of another application"),
            Self::CardV1 => ("card_v1", "a character card"),
            Self::CardV2 => ("card_v2", "a character card"),
            Self::CardV3 => ("card_v3", "a character card"),
            Self::Pygmalion => ("card_pygmalion", "a character card"),
            Self::ChatPreset => ("preset_cc", "a chat completion preset"),
            Self::PromptExport => ("prompt_export", "an export of prompts"),
            Self::RegexScripts => ("regex", "a regex script"),
            Self::ContextTemplate => ("context", "a context template"),
            Self::InstructTemplate => ("instruct", "an instruct template"),
            Self::SystemPrompt => ("sysprompt", "a system prompt"),
            Self::ReasoningTemplate => ("reasoning", "a reasoning template"),
            Self::MasterExport => ("master_export", "a master export of templates"),
            Self::TextPreset => ("preset_text", "a text completion preset"),
            Self::Personas => ("personas", "personas"),
            Self::Settings => ("settings", "SillyTavern's settings"),
            Self::RisuPreset => ("risu_preset", "a RisuAI preset"),
            Self::RisuModule => ("risu_module", "a RisuAI module"),
            Self::SessionBackup => ("session_backup", "a backup of conversations"),
            Self::PlainText => ("plain_text", "a plain text"),
        }
    }

    /// The formats that can be named by hand, by their ids in reports.
    pub const NAMED: [Self; 24] = [
        Self::CardV1,
        Self::CardV2,
        Self::CardV3,
        Self::Pygmalion,
        Self::ChatPreset,
        Self::PromptExport,
        Self::Worldbook,
        Self::CardBook,
        Self::OtherLorebook,
        Self::RegexScripts,
        Self::SystemPrompt,
        Self::ContextTemplate,
        Self::InstructTemplate,
        Self::ReasoningTemplate,
        Self::MasterExport,
        Self::TextPreset,
        Self::Personas,
        Self::Settings,
        Self::RisuPreset,
        Self::RisuModule,
        Self::Agent,
        Self::Session,
        Self::ChatMessages,
        Self::Profile,
    ];

    /// Returns the format of an id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|format| format.id() == id)
    }

    /// Returns whether it is a form of worldbooks.
    pub const fn is_worldbook(self) -> bool {
        matches!(self, Self::Worldbook | Self::CardBook | Self::OtherLorebook)
    }

    /// Returns whether it holds a conversation; a list of messages may be meant as a preset too.
    pub const fn is_conversation(self) -> bool {
        matches!(
            self,
            Self::Session
                | Self::SessionHalves
                | Self::ChatMessages
                | Self::StoredMessages
                | Self::SillyTavernChat
                | Self::AgentTranscript
        )
    }

    /// Returns whether it is a character card, whatever its version.
    pub const fn is_card(self) -> bool {
        matches!(self, Self::CardV1 | Self::CardV2 | Self::CardV3 | Self::Pygmalion)
    }
}

/// Returns the format of a document, by the same evidence as [`crate::Importer`]. If there is no evidence, the error
/// names the nearest formats.
///
/// Some documents can be read as two things: a list of `{role, content}` is a preset as well as a
/// conversation (here: a conversation). [`crate::read_agent`] and its siblings read what they are asked for, and warn
/// where other files have the same evidence.
///
/// ```
/// use ctx_preset_import::{Format, detect};
///
/// let of = |text: &str| detect(text.as_bytes(), "a.json");
/// assert_eq!(of(r#"{"presetMessages": []}"#)?, Format::Agent);
/// assert!(of(r#"{"name": "Actor", "content": "You are an actor."}"#).is_err());
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, ImportError> {
    let document = Document::read(bytes, name)?;
    match detected_in(&document, name) {
        Detected::Certain(format) | Detected::Guess(format, _) => Ok(format),
        Detected::Unknown(nearest) => Err(ImportError::UnknownShape {
            expected: "an agent, a preset, a worldbook, a conversation, a request body or a user profile",
            found: describe_keys(&document.value),
            help: Some(help_for_text(&document.value).unwrap_or_else(|| help_unknown(&readers_of(&nearest)))),
        }
        .or_invalid_json(document.json_error)),
    }
}

/// Returns what a document of a file with this name is, and how sure that is.
pub(crate) fn detected_in(document: &Document, name: &str) -> Detected {
    match (&document.value, document.syntax) {
        // A picture as text is nobody's profile, and JSON is no plain text.
        (Value::String(text), syntax)
            if syntax != Syntax::Yaml || behind_data_url(text.as_bytes()).is_some() =>
        {
            Detected::Unknown(Vec::new())
        }
        (value, _) => detected(value, stem(name)),
    }
}

/// Returns the readers of formats, each once.
fn readers_of(formats: &[Format]) -> Vec<Format> {
    let mut readers = Vec::new();
    for format in formats {
        let reader = match format {
            format if format.is_conversation() => Format::Session,
            format if format.is_worldbook() => Format::Worldbook,
            Format::Profile | Format::PlainText | Format::Personas => Format::Profile,
            _ => Format::Agent,
        };
        if !readers.contains(&reader) {
            readers.push(reader);
        }
    }
    readers
}

/// Returns the fix of a plain text with full-width punctuation where YAML or JSON needs ASCII.
pub(crate) fn help_for_text(value: &Value) -> Option<Phrase> {
    document::help_for_text(value.as_str()?)
}

/// Says what to do about a file that nothing tells.
pub(crate) fn help_unknown(nearest: &[Format]) -> Phrase {
    if nearest.is_empty() {
        return phrase!(
            "check the keys: agents have `presetMessages`, worldbooks `entries`, conversations and requests `messages`"
        );
    }
    let nearest = Argument::names(nearest.iter().map(|format| format.id()), Divider::Comma);
    phrase!("name the format with `--as`, for example {nearest}", nearest)
}

/// Returns a warning that names the evidence by which a document is read as what was asked for, where other files have
/// that evidence too.
pub(crate) fn weakly_told(value: &Value, is_asked: fn(Format) -> bool) -> Option<Diagnostic> {
    let (format, what) = evidence::weak_evidence(value, is_asked)?;
    let help = phrase!("if this is wrong, choose another file");
    Some(guessed(format, what).with_help(help).at_pointer(""))
}

/// Returns a warning about messages of a user that are read as preset entries: the file may be a conversation.
pub(crate) fn messages_as_preset(value: &Value) -> Option<Diagnostic> {
    let is_told = |item: &Value| ["id", "isEnabled", "type"].iter().any(|key| item.get(*key).is_some());
    let is_said = |item: &Value| item.get("role").and_then(Value::as_str) == Some("user");
    let items = value.as_array().or_else(|| value.get("messages")?.as_array())?;
    let is_named = value.get("name").is_some() || value.get("version").is_some();
    if is_named || shape(value) != Some(Format::ChatMessages) || items.iter().any(is_told) {
        return None;
    }
    items.iter().any(is_said).then(|| {
        let message = phrase!("the chat messages in this file are read as preset entries");
        let help = phrase!("if the file is a conversation, use it with `ctx assemble --session FILE`");
        Diagnostic::warning(codes::GUESSED_FORMAT, message).with_help(help).at_pointer("")
    })
}

/// Describes by what a format was guessed.
pub(crate) fn guessed(format: Format, what: &'static str) -> Diagnostic {
    let message = phrase!(
        "the file is read as {format} because of {what}",
        format = Phrase::from(format.as_str()),
        what = Phrase::from(what)
    );
    Diagnostic::warning(codes::GUESSED_FORMAT, message)
}

/// Returns the name of a file without folders and ending.
pub(crate) fn stem(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// Names a value that is not what was asked for, by what it is or by its keys.
pub(crate) fn describe(value: &Value) -> Phrase {
    let foreign = || foreign(value);
    shape(value).or_else(foreign).map_or_else(|| describe_keys(value), |format| Phrase::from(format.as_str()))
}

/// Returns whether another application wrote a value, for certain.
pub(crate) fn is_foreign(value: &Value) -> bool {
    foreign(value).is_some()
}

fn foreign(value: &Value) -> Option<Format> {
    value.as_object().and_then(evidence::foreign)
}

/// Names a value by its keys.
fn describe_keys(value: &Value) -> Phrase {
    match value {
        Value::Null => phrase!("null"),
        Value::Bool(_) | Value::Number(_) => phrase!("a single value"),
        Value::String(_) => phrase!("a plain text"),
        Value::Array(items) if items.iter().any(Value::is_object) => phrase!("a list of unknown objects"),
        Value::Array(_) => phrase!("a list without messages"),
        Value::Object(map) if map.is_empty() => phrase!("an empty object"),
        Value::Object(map) => describe_object(map),
    }
}

/// How many keys of an unknown object are named.
const SHOWN_KEYS: usize = 8;

fn describe_object(map: &Map<String, Value>) -> Phrase {
    let keys = Argument::names(map.keys().take(SHOWN_KEYS).map(|key| excerpt(key)), Divider::Comma);
    if map.len() > SHOWN_KEYS {
        return phrase!("an object with the keys {keys} and more", keys);
    }
    phrase!("an object with the keys {keys}", keys)
}
