//! Macros for tools and tests: reads an environment from JSON, and describes macros and results as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_macros::{
    CardTexts, Definition, Dialect, Env, Expansion, Limits, ModelValues, Scope, State,
    internal::{AgentAssets, InstantError, VirtualTime, language_of_dates, read_instant},
};
use ctx_types::internal::{excerpt, nearest, pointer_step};
use ctx_types::{Diagnostic, Fix, Phrase, Segment, Source, Text, Trust, phrase};
use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use serde::Serialize;
use serde_json::{Map, Value, json};

mod messages;

use crate::codes::BAD_ENV;

/// How many findings one file may have; the rest is counted.
const MAX_FINDINGS: usize = 64;

/// An environment and the variables of a run, read from a JSON object.
///
/// Keys, each of them optional: `user`, `char`, `persona`, `input`, `original`, `generation`, `chatId`,
/// `pickAgain`, `tz`, `locale` (texts); `now` (a date and time, or milliseconds); `seed`, `chatIdHash`, `contextTokens`,
/// `responseTokens` (numbers); `isMobile`; `card` (an object with the fields of a character card, or such a card
/// with `data`; its name is `char` if that is absent); `assets`, `assetGroups`, `virtualTimeConfig` (as agents have them); `model` (a text or an object
/// with `id`, `name`, `provider`, `profileId`, `profileName`);
/// `messages` (objects with `role` and `content`, or those of a SillyTavern chat; with `at` or `send_date`,
/// `swipes` and `swipe_id`); `group` (names, or objects with `name` and `muted`); `variables`,
/// `globalVariables`, `outlets`, `texts` (objects); `extensions` (names). What is of another type, or has another
/// name, is left out with a finding.
///
/// ```
/// use ctx_macros::{Dialect, Registry, Template};
/// use ctx_operations::macro_env::EnvFile;
/// use ctx_types::{Source, SourceKind, Text, Trust};
///
/// let file = serde_json::json!({ "char": "Alice", "card": { "description": "{{char}} is tall." } });
/// let EnvFile { env, mut state, diagnostics } = EnvFile::read(&file);
/// assert_eq!(diagnostics, []);
///
/// let text = Text::from("{{description}}");
/// let template = Template::parse(&text, Dialect::SillyTavern, &Registry::builtin());
/// let origin = Source::new(SourceKind::Preset, Trust::Preset);
/// assert_eq!(template.expand(&env, &mut state, &origin).text, "Alice is tall.");
/// ```
#[derive(Clone, Debug)]
pub struct EnvFile {
    /// The environment.
    pub env: Env,
    /// A run with the variables.
    pub state: State,
    /// What was left out.
    pub diagnostics: Vec<Diagnostic>,
}

/// Result of an expansion, for programs.
///
/// It is written directly, not as a [`Value`], because there may be many segments.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionJson<'a> {
    text: &'a Text,
    segments: Vec<Segment>,
    diagnostics: &'a [Diagnostic],
    variables: Map<String, Value>,
    global_variables: Map<String, Value>,
}

impl<'a> ExpansionJson<'a> {
    /// Describes an expansion of a text from `origin`, with the diagnostics and the variables after it.
    pub fn new(
        expansion: &'a Expansion,
        origin: Source,
        diagnostics: &'a [Diagnostic],
        state: &State,
    ) -> Self {
        let mut segments = expansion.segments();
        if segments.is_empty() && !expansion.text.is_empty() {
            segments.push(Segment::full(expansion.text.len(), origin));
        }
        Self {
            text: &expansion.text,
            segments,
            diagnostics,
            variables: state.variables_json(Scope::Local),
            global_variables: state.variables_json(Scope::Global),
        }
    }
}

/// Describes a macro for programs.
pub fn definition_json(definition: &Definition) -> Value {
    json!({
        "name": definition.name,
        "aliases": definition.aliases,
        "dialects": definition.dialects().map(Dialect::as_str).collect::<Vec<_>>(),
        "topic": definition.topic.as_str(),
        "arguments": { "min": definition.arity.min, "max": definition.arity.max },
        "changesState": definition.changes_state,
        "volatile": definition.volatile,
        "description": definition.description,
        "example": definition.example,
    })
}

impl EnvFile {
    /// Reads an object; anything else is an empty one with a finding.
    ///
    /// Of very many findings the first are kept, and the others counted.
    pub fn read(value: &Value) -> Self {
        let mut reader = Reader::default();
        let empty = Map::new();
        let root = reader.object(value, "").unwrap_or(&empty);
        let mut state = State::new(Limits::default());
        let env = reader.env(root, &mut state);
        let mut diagnostics = reader.found;
        let left_out = diagnostics.len().saturating_sub(MAX_FINDINGS);
        if left_out > 0 {
            diagnostics.truncate(MAX_FINDINGS);
            diagnostics.push(Diagnostic::more(left_out, "this text"));
        }
        Self { env, state, diagnostics }
    }
}

/// The fields of an environment, for those that are misspelt.
const FIELDS: [&str; 28] = [
    "user",
    "char",
    "persona",
    "input",
    "original",
    "generation",
    "tz",
    "locale",
    "now",
    "seed",
    "chatId",
    "chatIdHash",
    "pickAgain",
    "contextTokens",
    "responseTokens",
    "isMobile",
    "card",
    "model",
    "assets",
    "assetGroups",
    "virtualTimeConfig",
    "messages",
    "group",
    "variables",
    "globalVariables",
    "outlets",
    "texts",
    "extensions",
];

#[derive(Default)]
struct Reader {
    found: Vec<Diagnostic>,
}

impl Reader {
    fn env(&mut self, root: &Map<String, Value>, state: &mut State) -> Env {
        let mut env = Env::default();
        let mut card_name = None;
        env.zone = root.get("tz").and_then(|name| self.zone(name, "/tz"));
        let zone = env.zone.clone();
        let zone = zone.as_deref();
        for (key, value) in root {
            let at = below("", key);
            match key.as_str() {
                "user" => env.user = self.text(value, &at),
                "char" => env.char = self.text(value, &at),
                "persona" => env.persona = self.text(value, &at),
                "input" => env.input = self.text(value, &at),
                "original" => env.original = self.text(value, &at),
                "generation" => env.generation = self.name(value, &at),
                "tz" => {}
                "locale" => env.locale = self.locale(value, &at),
                "now" => env.at_millis = self.instant(value, &at, zone),
                "seed" => env.seed = self.number(value, &at).unwrap_or(0),
                "chatId" => env.conversation.id = self.name(value, &at),
                "chatIdHash" => env.conversation.id_hash = self.number(value, &at),
                "pickAgain" => env.conversation.pick_again = self.name(value, &at),
                "contextTokens" => env.model.context_tokens = self.number(value, &at),
                "responseTokens" => env.model.response_tokens = self.number(value, &at),
                "isMobile" => env.is_mobile = self.truth(value, &at),
                "card" => card_name = self.card(value, &at, &mut env),
                "model" => self.model(value, &at, &mut env.model),
                "assets" => {
                    self.files(value, &at);
                    env.assets = AgentAssets::read(Some(value), root.get("assetGroups"));
                }
                "assetGroups" => self.files(value, &at),
                "virtualTimeConfig" => env.virtual_time = self.clock(value, &at),
                "messages" => self.messages(value, &at, zone, &mut env.conversation),
                "group" => env.group = self.members(value, &at),
                "variables" => self.variables(value, &at, Scope::Local, state),
                "globalVariables" => self.variables(value, &at, Scope::Global, state),
                "outlets" => env.outlets = self.texts(value, &at),
                "texts" => env.texts = self.texts(value, &at),
                "extensions" => env.extensions = self.names(value, &at),
                _ => self.unknown(&at, key),
            }
        }
        env.char = env.char.or(card_name);
        env
    }

    fn zone(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        let name = self.name(value, at)?;
        if TimeZoneDatabase::bundled().get(&name).is_ok() {
            return Some(name);
        }
        self.report(at, phrase!("unknown time zone `{name}`; UTC is used", name = excerpt(&name)));
        None
    }

    fn locale(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        let name = self.name(value, at)?;
        if language_of_dates(&name).is_some() {
            return Some(name);
        }
        let name = excerpt(&name);
        self.report(at, phrase!("cannot format dates in the language `{name}`; using `en-US`", name));
        None
    }

    /// Reports what is no list of objects with an `id`, which alone are read.
    fn files(&mut self, value: &Value, at: &str) {
        let list = self.list(value, at).map(Vec::as_slice).unwrap_or_default();
        for (index, item) in list.iter().enumerate() {
            if item.get("id").and_then(Value::as_str).is_none_or(str::is_empty) {
                self.wrong::<()>(&format!("{at}/{index}"), "an object with an `id`");
            }
        }
    }

    fn clock(&mut self, value: &Value, at: &str) -> Option<VirtualTime> {
        let clock = VirtualTime::read(value);
        clock.map_err(|problem| self.report(at, problem)).ok()
    }

    /// Reads a card; returns its name.
    fn card(&mut self, value: &Value, at: &str, env: &mut Env) -> Option<Text> {
        let root = self.object(value, at)?;
        let data = root.get("data").filter(|data| !data.is_null());
        let inner = format!("{at}/data");
        let inside = data.and_then(|data| Some((self.object(data, &inner)?, inner.as_str())));
        let (fields, at) = inside.unwrap_or((root, at));
        let mut text_at = |value: &Value, path: &str| self.text(value, &format!("{at}/{path}"));
        let note = fields.get("extensions").and_then(|value| value.pointer("/depth_prompt/prompt"));
        let note = note.and_then(|note| text_at(note, "extensions/depth_prompt/prompt"));
        let mut text = |name: &str| fields.get(name).and_then(|value| text_at(value, name));
        let name = text("name");
        env.description = text("description");
        env.personality = text("personality");
        env.scenario = text("scenario");
        env.card = CardTexts {
            first_message: text("first_mes"),
            greetings: Vec::new(),
            examples: text("mes_example"),
            system_prompt: text("system_prompt"),
            post_history: text("post_history_instructions"),
            depth_prompt: text("depth_prompt").or(note),
            creator_notes: text("creator_notes"),
            version: text("character_version"),
            visual_guideline: text("visual_guideline"),
        };
        if let Some(greetings) = fields.get("alternate_greetings") {
            let at = format!("{at}/alternate_greetings");
            // Greetings are called by number, so what is none leaves its place empty.
            let list = self.list(greetings, &at).map(Vec::as_slice).unwrap_or_default();
            let texts = list.iter().enumerate();
            let texts = texts.map(|(index, value)| self.element(value, &format!("{at}/{index}")));
            env.card.greetings = texts.map(Option::unwrap_or_default).collect();
        }
        name
    }

    fn model(&mut self, value: &Value, at: &str, model: &mut ModelValues) {
        if let Some(id) = value.as_str() {
            model.id = Some(Text::from(id));
            return;
        }
        let Some(fields) = self.object(value, at) else { return };
        let mut text = |name: &str| fields.get(name).and_then(|value| self.text(value, &below(at, name)));
        model.id = text("id");
        model.name = text("name");
        model.provider = text("provider");
        model.profile_id = text("profileId");
        model.profile_name = text("profileName");
    }

    fn variables(&mut self, value: &Value, at: &str, scope: Scope, state: &mut State) {
        let Some(fields) = self.object(value, at) else { return };
        for (name, value) in fields {
            let set = match value {
                Value::Number(number) => {
                    let number = number.as_f64().unwrap_or(f64::NAN);
                    state.set_number(scope, name, number, Trust::User)
                }
                Value::String(text) => {
                    state.set_variable(scope, name, Text::from(text.as_str()), Trust::User)
                }
                other => state.set_variable(scope, name, Text::from(other.to_string()), Trust::User),
            };
            if let Err(failure) = set {
                self.found.push(failure.into_diagnostic().at_pointer(below(at, name)));
            }
        }
    }

    fn texts(&mut self, value: &Value, at: &str) -> BTreeMap<Arc<str>, Text> {
        let Some(fields) = self.object(value, at) else { return BTreeMap::new() };
        let mut texts = BTreeMap::new();
        for (name, value) in fields {
            if let Some(text) = self.text(value, &below(at, name)) {
                texts.insert(Arc::from(name.as_str()), text);
            }
        }
        texts
    }

    fn names(&mut self, value: &Value, at: &str) -> Vec<Arc<str>> {
        let list = self.list(value, at).map(Vec::as_slice).unwrap_or_default();
        let names = list.iter().enumerate();
        let names = names.filter_map(|(index, value)| self.element(value, &format!("{at}/{index}")));
        names.map(|name| Arc::from(name.as_str())).collect()
    }

    fn name(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        self.text(value, at).map(|text| Arc::from(text.as_str()))
    }

    fn text(&mut self, value: &Value, at: &str) -> Option<Text> {
        match value {
            Value::String(text) => Some(Text::from(text.as_str())),
            Value::Null => None,
            _ => self.wrong(at, "a string"),
        }
    }

    /// Reads a text of a list, in which nothing is no text.
    fn element(&mut self, value: &Value, at: &str) -> Option<Text> {
        value.as_str().map(Text::from).or_else(|| self.wrong(at, "a string"))
    }

    fn number(&mut self, value: &Value, at: &str) -> Option<u64> {
        value.as_u64().or_else(|| self.wrong(at, "a whole number from 0 on"))
    }

    fn truth(&mut self, value: &Value, at: &str) -> bool {
        value.as_bool().or_else(|| self.wrong(at, "true or false")).unwrap_or(false)
    }

    fn instant(&mut self, value: &Value, at: &str, zone: Option<&str>) -> Option<i64> {
        let read = match value {
            Value::Null => return None,
            Value::Number(number) => match number.as_i64() {
                Some(millis) if Timestamp::from_millisecond(millis).is_ok() => Ok(millis),
                Some(_) => Err(InstantError::OutOfRange),
                None => Err(InstantError::NotADate),
            },
            Value::String(text) => read_instant(text, zone),
            _ => Err(InstantError::NotADate),
        };
        match read {
            Ok(millis) => Some(millis),
            Err(problem) => {
                self.report(at, phrase!("ignored: this is {problem}", problem = problem.phrase()));
                None
            }
        }
    }

    fn object<'v>(&mut self, value: &'v Value, at: &str) -> Option<&'v Map<String, Value>> {
        value.as_object().or_else(|| self.wrong(at, "an object"))
    }

    fn list<'v>(&mut self, value: &'v Value, at: &str) -> Option<&'v Vec<Value>> {
        value.as_array().or_else(|| self.wrong(at, "a list"))
    }

    fn unknown(&mut self, at: &str, key: &str) {
        let message = phrase!("unknown environment field `{key}`", key = excerpt(key));
        let finding = Diagnostic::warning(BAD_ENV, message).at_pointer(at).about_key();
        self.found.push(match nearest(key, FIELDS) {
            Some(near) => finding.with_guess(near, Fix::key),
            None => finding,
        });
    }

    fn wrong<T>(&mut self, at: &str, expected: &'static str) -> Option<T> {
        self.report(at, phrase!("ignored: this is not {expected}", expected = Phrase::from(expected)));
        None
    }

    fn report(&mut self, at: &str, message: Phrase) {
        self.found.push(Diagnostic::warning(BAD_ENV, message).at_pointer(at));
    }
}

/// Returns the JSON pointer of a field of what stands at another.
fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", pointer_step(name))
}

#[cfg(test)]
mod tests;
