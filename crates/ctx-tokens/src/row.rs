use std::sync::{Arc, OnceLock};

use ctx_regex::{Flags, Limits, Regex};
use ctx_types::{
    Argument, CallIdRule, Diagnostic, Divider, Fix, OutputLimit, Phrase, Reader, ReasoningState,
    RequestRules, SamplerRule, StopRule, ThinkingRule, TopKRule, excerpt, nearest, phrase,
};
use serde_json::{Map, Value};

use crate::budget::read_tokens;
use crate::codes;
use crate::encoding::Encoding;
use crate::media::MediaFamily;
use crate::model::{Capabilities, ModelFacts, Overheads};

#[derive(Debug)]
pub(crate) struct Row {
    pattern: Box<str>,
    regex: OnceLock<Option<Regex>>,
    pub(crate) facts: PartialFacts,
}

impl Row {
    /// Reports an invalid pattern. User patterns are compiled at once, built-in ones on first use.
    pub(crate) fn read(
        value: &Value,
        families: &Families,
        origin: RowOrigin,
        reader: &mut Reader,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            reader.wrong_type("an object", value);
            return None;
        };
        let pattern = read_pattern(map, reader)?;
        let row = Self {
            pattern: pattern.into(),
            regex: OnceLock::new(),
            facts: PartialFacts::read(map, families, reader),
        };
        match origin {
            RowOrigin::Builtin => Some(row),
            RowOrigin::User => row.compiles(reader).then_some(row),
        }
    }

    pub(crate) fn matches(&self, names: &[&str]) -> bool {
        let regex = self.regex.get_or_init(|| compile(&self.pattern).ok());
        regex.as_ref().is_some_and(|regex| names.iter().any(|name| matches(regex, name)))
    }

    fn compiles(&self, reader: &mut Reader) -> bool {
        let compiled = compile(&self.pattern);
        if let Err(error) = &compiled {
            let message = phrase!(
                "invalid pattern `{pattern}`: {error}",
                pattern = excerpt(&self.pattern),
                error = Phrase::original(error.to_string())
            );
            let diagnostic = Diagnostic::error(codes::ROW_PATTERN, message)
                .with_help(phrase!("fix the pattern; the row is ignored until then"));
            reader.at_key("pattern", |reader| reader.report(diagnostic));
        }
        self.regex.get_or_init(|| compiled.ok()).is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrigin {
    Builtin,
    User,
}

pub(crate) type Families = Vec<(Box<str>, PartialFacts)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct PartialFacts {
    pub(crate) name: Option<Arc<str>>,
    encoding: Option<Encoding>,
    is_exact: Option<bool>,
    context_window: Option<u32>,
    max_output: Option<u32>,
    capabilities: [Option<bool>; CAPABILITIES.len()],
    overheads: [Option<u32>; OVERHEADS.len()],
    media: Option<MediaFamily>,
    request: PartialRules,
}

/// Returns the field of a struct that a key sets.
type Field<S, T> = fn(&mut S) -> &mut T;

const CAPABILITIES: [(&str, Field<Capabilities, bool>); 9] = [
    ("vision", |may| &mut may.vision),
    ("audio", |may| &mut may.audio),
    ("video", |may| &mut may.video),
    ("documents", |may| &mut may.documents),
    ("tools", |may| &mut may.tools),
    ("prefill", |may| &mut may.prefill),
    ("midSystem", |may| &mut may.mid_system),
    ("prefixCache", |may| &mut may.prefix_cache),
    ("prefixBoundReasoning", |may| &mut may.prefix_bound_reasoning),
];

const OVERHEADS: [(&str, Field<Overheads, u32>); 5] = [
    ("perMessage", |adds| &mut adds.per_message),
    ("perName", |adds| &mut adds.per_name),
    ("perReply", |adds| &mut adds.per_reply),
    ("perTool", |adds| &mut adds.per_tool),
    ("withTools", |adds| &mut adds.with_tools),
];

fn set_fields<S, T: Copy, const N: usize>(
    target: &mut S,
    fields: [(&str, Field<S, T>); N],
    values: [Option<T>; N],
) {
    for ((_, field), value) in fields.iter().zip(values) {
        *field(target) = value.unwrap_or(*field(target));
    }
}

const KEYS: [&str; 11] = [
    "pattern",
    "name",
    "family",
    "encoding",
    "count",
    "contextWindow",
    "maxOutput",
    "capabilities",
    "overheads",
    "media",
    "request",
];

fn token_range() -> Phrase {
    phrase!("a whole number from 1 to 1000000000")
}

const MAX_OVERHEAD: u32 = 100_000;

impl PartialFacts {
    pub(crate) fn read(map: &Map<String, Value>, families: &Families, reader: &mut Reader) -> Self {
        report_unknown_keys(map, &KEYS, reader);
        let mut said = Self {
            name: field(map, "name", || phrase!("a string"), reader, |value| value.as_str().map(Arc::from)),
            encoding: field(
                map,
                "encoding",
                || phrase!("`o200k_base`, `cl100k_base` or `estimate`"),
                reader,
                |value| Encoding::parse(value.as_str()?),
            ),
            is_exact: field(
                map,
                "count",
                || phrase!("`exact` or `estimate`"),
                reader,
                |value| match value.as_str()? {
                    "exact" => Some(true),
                    "estimate" => Some(false),
                    _ => None,
                },
            ),
            context_window: field(map, "contextWindow", token_range, reader, tokens),
            max_output: field(map, "maxOutput", token_range, reader, tokens),
            media: field(
                map,
                "media",
                || one_of(MediaFamily::names()),
                reader,
                |value| MediaFamily::parse(value.as_str()?),
            ),
            ..Self::default()
        };
        said.capabilities = group(
            map,
            "capabilities",
            || phrase!("true or false"),
            CAPABILITIES.map(|(name, _)| name),
            reader,
            Value::as_bool,
        );
        said.overheads = group(
            map,
            "overheads",
            || phrase!("a whole number from 0 to 100000"),
            OVERHEADS.map(|(name, _)| name),
            reader,
            |value| {
                value
                    .as_u64()
                    .and_then(|count| u32::try_from(count).ok())
                    .filter(|count| *count <= MAX_OVERHEAD)
            },
        );
        if let Some(request) = field(map, "request", || phrase!("an object"), reader, Value::as_object) {
            said.request = reader.at_key("request", |reader| PartialRules::read(request, reader));
        }
        let names = || one_of(families.iter().map(|(name, _)| &**name));
        let family = field(map, "family", names, reader, |value| {
            let wanted = value.as_str()?;
            families.iter().find(|(name, _)| **name == *wanted).map(|(_, facts)| facts)
        });
        match family {
            Some(family) => said.or(family),
            None => said,
        }
    }

    /// Fills missing facts. Inherits `count` only for the same encoding.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        if self.encoding.is_none_or(|mine| Some(mine) == other.encoding) {
            self.is_exact = self.is_exact.or(other.is_exact);
        }
        self.name = self.name.or_else(|| other.name.clone());
        self.encoding = self.encoding.or(other.encoding);
        self.context_window = self.context_window.or(other.context_window);
        self.max_output = self.max_output.or(other.max_output);
        self.media = self.media.or(other.media);
        self.request = self.request.or(other.request);
        for (mine, theirs) in self.capabilities.iter_mut().zip(other.capabilities) {
            *mine = mine.or(theirs);
        }
        for (mine, theirs) in self.overheads.iter_mut().zip(other.overheads) {
            *mine = mine.or(theirs);
        }
        self
    }

    pub(crate) fn complete(self, model: &str) -> ModelFacts {
        let mut unknown = ModelFacts::unknown(model);
        set_fields(&mut unknown.capabilities, CAPABILITIES, self.capabilities);
        set_fields(&mut unknown.overheads, OVERHEADS, self.overheads);
        let encoding = self.encoding.unwrap_or(unknown.encoding);
        let is_known = self.name.is_some();
        ModelFacts {
            name: self.name,
            encoding,
            is_exact: self.is_exact.unwrap_or(unknown.is_exact) && encoding != Encoding::Estimate,
            context_window: self.context_window,
            max_output: self.max_output,
            media: self.media.unwrap_or(unknown.media),
            request: RequestRules {
                max_output: self.max_output,
                late_system: is_known.then_some(unknown.capabilities.mid_system),
                ..self.request.complete()
            },
            ..unknown
        }
    }
}

macro_rules! request_rules {
    ($($field:ident: $rule:ty = $key:literal,)*) => {
        #[derive(Clone, Copy, Debug, Default)]
        struct PartialRules { $($field: Option<$rule>,)* }

        impl PartialRules {
            fn read(map: &Map<String, Value>, reader: &mut Reader) -> Self {
                report_unknown_keys(map, &[$($key),*], reader);
                Self { $($field: word(map, $key, <$rule>::WORDS, <$rule>::parse, reader),)* }
            }

            fn or(self, other: Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)* }
            }

            fn complete(self) -> RequestRules {
                RequestRules { $($field: self.$field.unwrap_or_default(),)* max_output: None, late_system: None }
            }
        }
    };
}

request_rules! {
    output_limit: OutputLimit = "outputLimit",
    samplers: SamplerRule = "samplers",
    top_k: TopKRule = "topK",
    stop: StopRule = "stop",
    thinking: ThinkingRule = "thinking",
    reasoning_state: ReasoningState = "reasoningState",
    call_ids: CallIdRule = "callIds",
}

fn word<T>(
    map: &Map<String, Value>,
    key: &str,
    words: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
    reader: &mut Reader,
) -> Option<T> {
    field(map, key, || one_of(words.iter().copied()), reader, |value| parse(value.as_str()?))
}

fn read_pattern<'a>(map: &'a Map<String, Value>, reader: &mut Reader) -> Option<&'a str> {
    match map.get("pattern").and_then(Value::as_str) {
        Some(pattern) if !pattern.is_empty() => Some(pattern),
        _ => {
            let message = phrase!("the row needs a `pattern`: a regular expression for model names");
            let found = Diagnostic::error(codes::ROW_PATTERN, message);
            let is_unknown = |key: &&String| !KEYS.contains(&key.as_str());
            let misspelled = map.keys().filter(is_unknown).find(|key| nearest(key, ["pattern"]).is_some());
            let help = match misspelled {
                Some(key) => phrase!("rename `{key}` to `pattern`", key = excerpt(key)),
                None if map.contains_key("pattern") => {
                    phrase!("fix the pattern; the row is ignored until then")
                }
                None => phrase!("add `pattern`, for example `^my-model$`; the row is ignored until then"),
            };
            reader.report(found.with_help(help));
            None
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, ctx_regex::Error> {
    let limits = Limits {
        pattern_bytes: 4 << 10,
        compiled_bytes: 1 << 20,
        nest: 32,
        steps: 20_000,
        ..Limits::default()
    };
    Regex::new(pattern, Flags::IGNORE_CASE, &limits)
}

/// A pattern that exceeds its steps does not match.
fn matches(regex: &Regex, name: &str) -> bool {
    regex.is_match(name).unwrap_or(false)
}

fn field<'a, T>(
    map: &'a Map<String, Value>,
    key: &str,
    expected: impl Fn() -> Phrase,
    reader: &mut Reader,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Option<T> {
    reader.field(map, key, read, |value| {
        let value = excerpt(&value.to_string()).into_owned();
        let message = phrase!("`{key}` must be {expected}, not `{value}`", key, expected = expected(), value);
        Diagnostic::warning(codes::ROW_VALUE, message)
            .with_help(phrase!("correct the value; the field is ignored until then"))
    })
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> Phrase {
    phrase!("one of {names}", names = Argument::names(names, Divider::Comma))
}

#[expect(clippy::too_many_arguments, reason = "private function with two callers")]
fn group<T: Copy, const N: usize>(
    map: &Map<String, Value>,
    key: &str,
    expected: impl Fn() -> Phrase,
    names: [&'static str; N],
    reader: &mut Reader,
    read: impl Fn(&Value) -> Option<T>,
) -> [Option<T>; N] {
    let Some(object) = field(map, key, || phrase!("an object"), reader, Value::as_object) else {
        return [None; N];
    };
    reader.at_key(key, |reader| {
        report_unknown_keys(object, &names, reader);
        names.map(|name| field(object, name, &expected, reader, &read))
    })
}

fn report_unknown_keys(map: &Map<String, Value>, known: &[&'static str], reader: &mut Reader) {
    reader.unknown_fields(map, known, |key, near| {
        let message = phrase!("unknown key `{key}`", key = excerpt(key));
        Diagnostic::warning(codes::ROW_KEY, message).with_guess_or(near, Fix::key, || {
            phrase!("use one of {known}", known = Argument::list(known, Divider::Comma))
        })
    });
}

fn tokens(value: &Value) -> Option<u32> {
    read_tokens(value).filter(|tokens| *tokens > 0)
}
