use std::sync::{Arc, OnceLock};

use ctx_regex::{Flags, Limits, Regex};
use ctx_types::internal::{
    Argument, CallIdRule, Divider, OutputLimit, ReasoningState, SamplerRule, StopRule, ThinkingRule,
    TopKRule, excerpt, nearest,
};
use ctx_types::{Diagnostic, Fix, Phrase, Reader, phrase};
use serde_json::{Map, Value};

use crate::budget::read_tokens;
use crate::codes;
use crate::encoding::Encoding;
use crate::media::MediaFamily;
use crate::model::ModelFacts;
use crate::prices::{read_price, read_tiers};

#[derive(Debug)]
pub(crate) struct Row {
    pattern: Box<str>,
    regex: OnceLock<Option<Regex>>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) settings: Settings,
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
        let settings = Settings::read(map, families, reader);
        let mut facts = ModelFacts::unknown("");
        settings.apply(&mut facts);
        let row = Self { pattern: pattern.into(), regex: OnceLock::new(), name: facts.name, settings };
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

pub(crate) type Families = Vec<(Box<str>, Settings)>;

/// Valid settings of a row, after those of its family.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(Vec<(SetFact, Value)>);

/// Sets a fact; returns false if the value is invalid.
type SetFact = fn(&mut ModelFacts, &Value) -> bool;

struct Field {
    key: &'static str,
    expected: fn() -> Phrase,
    set: SetFact,
}

/// Lists fields: key, place, valid values, and function that reads a value.
macro_rules! fields {
    ($($key:literal, $($place:ident).+, $expected:expr, $read:expr;)*) => {
        &[$(Field {
            key: $key,
            expected: || $expected,
            set: |facts, value| {
                let read: fn(&Value) -> Option<_> = $read;
                let Some(found) = read(value) else { return false };
                facts.$($place).+ = found.into();
                true
            },
        }),*]
    };
}

const FACTS: &[Field] = fields! {
    "name", name, phrase!("a string"), |value| value.as_str().map(Arc::<str>::from);
    "encoding", encoding, phrase!("`o200k_base`, `cl100k_base` or `estimate`"), encoding;
    "count", is_exact, phrase!("`exact` or `estimate`"), is_exact;
    "contextWindow", context_window, phrase!("a whole number from 1 to 1000000000"), tokens;
    "maxOutput", max_output, phrase!("a whole number from 1 to 1000000000"), tokens;
    "media", media, one_of(MediaFamily::WORDS), |value| MediaFamily::parse(value.as_str()?);
};

const CAPABILITIES: &[Field] = fields! {
    "vision", capabilities.vision, phrase!("true or false"), Value::as_bool;
    "audio", capabilities.audio, phrase!("true or false"), Value::as_bool;
    "video", capabilities.video, phrase!("true or false"), Value::as_bool;
    "documents", capabilities.documents, phrase!("true or false"), Value::as_bool;
    "tools", capabilities.tools, phrase!("true or false"), Value::as_bool;
    "prefill", capabilities.prefill, phrase!("true or false"), Value::as_bool;
    "midSystem", capabilities.mid_system, phrase!("true or false"), Value::as_bool;
    "prefixCache", capabilities.prefix_cache, phrase!("true or false"), Value::as_bool;
    "prefixBoundReasoning", capabilities.prefix_bound_reasoning, phrase!("true or false"), Value::as_bool;
};

const OVERHEADS: &[Field] = fields! {
    "perMessage", overheads.per_message, phrase!("a whole number from 0 to 100000"), overhead;
    "perName", overheads.per_name, phrase!("a whole number from 0 to 100000"), overhead;
    "perReply", overheads.per_reply, phrase!("a whole number from 0 to 100000"), overhead;
    "perTool", overheads.per_tool, phrase!("a whole number from 0 to 100000"), overhead;
    "withTools", overheads.with_tools, phrase!("a whole number from 0 to 100000"), overhead;
};

const REQUEST: &[Field] = fields! {
    "outputLimit", request.output_limit, one_of(OutputLimit::WORDS), |value| OutputLimit::parse(value.as_str()?);
    "samplers", request.samplers, one_of(SamplerRule::WORDS), |value| SamplerRule::parse(value.as_str()?);
    "topK", request.top_k, one_of(TopKRule::WORDS), |value| TopKRule::parse(value.as_str()?);
    "stop", request.stop, one_of(StopRule::WORDS), |value| StopRule::parse(value.as_str()?);
    "thinking", request.thinking, one_of(ThinkingRule::WORDS), |value| ThinkingRule::parse(value.as_str()?);
    "reasoningState", request.reasoning_state, one_of(ReasoningState::WORDS),
        |value| ReasoningState::parse(value.as_str()?);
    "callIds", request.call_ids, one_of(CallIdRule::WORDS), |value| CallIdRule::parse(value.as_str()?);
};

const PRICES: &[Field] = fields! {
    "input", prices.input, phrase!("dollars per million tokens, from 0 to 10000"), read_price;
    "cached", prices.cached, phrase!("dollars per million tokens, from 0 to 10000"), read_price;
    "write", prices.write, phrase!("dollars per million tokens, from 0 to 10000"), read_price;
    "writeLong", prices.write_long, phrase!("dollars per million tokens, from 0 to 10000"), read_price;
    "output", prices.output, phrase!("dollars per million tokens, from 0 to 10000"), read_price;
    "tiers", prices.tiers, phrase!("a list of objects with `above` and prices"), read_tiers;
};

const GROUPS: [(&str, &[Field]); 4] =
    [("capabilities", CAPABILITIES), ("overheads", OVERHEADS), ("request", REQUEST), ("prices", PRICES)];

const KEYS: [&str; 12] = [
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
    "prices",
    "request",
];

impl Settings {
    pub(crate) fn read(map: &Map<String, Value>, families: &Families, reader: &mut Reader) -> Self {
        report_unknown_keys(map, &KEYS, reader);
        let mut own = read_fields(map, FACTS, reader);
        for (key, fields) in GROUPS {
            let Some(object) = field(map, key, || phrase!("an object"), reader, Value::as_object) else {
                continue;
            };
            reader.at_key(key, |reader| {
                let known: Vec<&str> = fields.iter().map(|field| field.key).collect();
                report_unknown_keys(object, &known, reader);
                own.extend(read_fields(object, fields, reader));
            });
        }
        let names = || one_of(families.iter().map(|(name, _)| &**name));
        let family = field(map, "family", names, reader, |value| {
            let wanted = value.as_str()?;
            families.iter().find(|(name, _)| **name == *wanted).map(|(_, family)| family)
        });
        let mut settings = family.cloned().unwrap_or_default();
        settings.0.extend(own);
        settings
    }

    /// Replaces the facts that the row states. A changed encoding resets `count`, which describes
    /// the former encoding; an estimate is never exact.
    pub(crate) fn apply(&self, facts: &mut ModelFacts) {
        for (set, value) in &self.0 {
            let before = facts.encoding;
            set(facts, value);
            facts.is_exact &= facts.encoding == before && before != Encoding::Estimate;
        }
    }
}

fn read_fields(map: &Map<String, Value>, fields: &[Field], reader: &mut Reader) -> Vec<(SetFact, Value)> {
    let mut ignored = ModelFacts::unknown("");
    let read = |Field { key, expected, set }: &Field| {
        let value = field(map, key, expected, reader, |value| set(&mut ignored, value).then_some(value));
        Some((*set, value?.clone()))
    };
    fields.iter().filter_map(read).collect()
}

fn encoding(value: &Value) -> Option<Encoding> {
    Encoding::parse(value.as_str()?)
}

fn is_exact(value: &Value) -> Option<bool> {
    match value.as_str()? {
        "exact" => Some(true),
        "estimate" => Some(false),
        _ => None,
    }
}

fn tokens(value: &Value) -> Option<u32> {
    read_tokens(value).filter(|tokens| *tokens > 0)
}

fn overhead(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count <= MAX_OVERHEAD)
}

const MAX_OVERHEAD: u32 = 100_000;

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

fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Phrase {
    phrase!("one of {names}", names = Argument::names(names, Divider::Comma))
}

fn report_unknown_keys(map: &Map<String, Value>, known: &[&str], reader: &mut Reader) {
    reader.unknown_fields(map, known, |key, near| {
        let message = phrase!("unknown key `{key}`", key = excerpt(key));
        Diagnostic::warning(codes::ROW_KEY, message).with_guess_or(near, Fix::key, || {
            phrase!("use one of {known}", known = Argument::list(known, Divider::Comma))
        })
    });
}
