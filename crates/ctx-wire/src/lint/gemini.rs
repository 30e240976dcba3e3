//! Bodies of Gemini's `generateContent`.

use std::collections::{BTreeMap, VecDeque};

use ctx_types::internal::{ReasoningState, RequestRules, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};

use super::{check_output_limit, model_words, parameters, refused, schema, tools};
use crate::codes;
use crate::json::{Json, Object};

/// The most stop sequences.
const MAX_STOPS: usize = 5;

/// Checks a body.
pub(crate) fn check(body: &Json<'_>, rules: RequestRules) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let contents = body.get("contents").map_or(&[][..], items);
    if contents.is_empty() {
        let finding = refused(codes::NO_MESSAGES, phrase!("the request has no `contents`"));
        found.push(finding.at_pointer("/contents"));
    }
    let has_call =
        |content: &Json<'_>| parts(content).iter().any(|part| field(part, "functionCall").is_some());
    for (index, _) in contents.iter().enumerate().filter(|(_, content)| has_call(content)) {
        let before = index.checked_sub(1).map(|before| role(&contents[before]));
        if matches!(before, None | Some("model")) {
            let text = phrase!("a function call must follow a user turn or a function response");
            found.push(refused(codes::ROLE_ORDER, text).at_pointer(format!("/contents/{index}")));
        }
    }
    if contents.first().is_some_and(|content| role(content) == "model" && !has_call(content)) {
        let text = phrase!("the request starts with the model; some models require a user turn first");
        found.push(Diagnostic::warning(codes::ROLE_ORDER, text).at_pointer("/contents/0/role"));
    }
    for (index, content) in contents.iter().enumerate() {
        check_content(index, content, &mut found);
    }
    check_pairs(contents, &mut found);
    check_thinking(body, &mut found);
    parameters::check_names(body, "", parameters::GEMINI, &mut found);
    if let Some(config) = field(body, "generationConfig") {
        let place = place_of(body, "", &["generationConfig"]);
        parameters::check_names(config, &place, parameters::GEMINI_CONFIG, &mut found);
        parameters::check_ranges(config, &place, parameters::GEMINI_RANGES, &mut found);
        let stops = field(config, "stopSequences").and_then(Json::as_list).map_or(0, <[_]>::len);
        if stops > MAX_STOPS {
            let text =
                phrase!("{count} stop sequences; the limit is {limit}", count = stops, limit = MAX_STOPS);
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(place_of(
                config,
                &place,
                &["stopSequences"],
            )));
        }
    }
    let limit = field_at(body, ["generationConfig", "maxOutputTokens"]);
    let place = |names: &[&str]| place_of(body, "", names);
    check_output_limit(limit, &place(&["generationConfig", "maxOutputTokens"]), rules, &mut found);
    if let Some(schema) = field_at(body, ["generationConfig", "responseSchema"]) {
        if field_at(body, ["generationConfig", "responseMimeType"]).is_none() {
            let text =
                phrase!("`{name}` needs `{needed}`", name = "responseSchema", needed = "responseMimeType");
            found
                .push(refused(codes::SHAPE, text).at_pointer(place(&["generationConfig", "responseSchema"])));
        }
        schema::check_gemini(schema, &place(&["generationConfig", "responseSchema"]), &mut found);
    }
    if rules.reasoning_state == ReasoningState::SignatureRequired {
        check_signatures(contents, &mut found);
    }
    check_tools(body, &mut found);
    found
}

/// Returns a field under its name, or under the same name in snake case: Gemini accepts both. Ignores `null`.
fn field<'a>(value: &'a Json<'a>, name: &str) -> Option<&'a Json<'a>> {
    entry(value, name).map(|(_, value)| value)
}

fn entry<'a>(value: &'a Json<'a>, name: &str) -> Option<(&'a str, &'a Json<'a>)> {
    let is_name = |key: &str| key == name || key.replace('_', "").eq_ignore_ascii_case(name);
    let mut entries = value.as_object()?.iter();
    let (key, value) = entries.find(|(key, value)| is_name(key) && !value.is_null())?;
    Some((key, value))
}

fn field_at<'a, const N: usize>(value: &'a Json<'a>, names: [&str; N]) -> Option<&'a Json<'a>> {
    names.into_iter().try_fold(value, field)
}

/// Returns a pointer to a field, with the spelling of its keys in the body.
fn place_of(value: &Json<'_>, place: &str, names: &[&str]) -> String {
    let mut place = place.to_owned();
    let mut value = Some(value);
    for name in names {
        let found = value.and_then(|value| entry(value, name));
        place.push('/');
        place.push_str(found.map_or(name, |(key, _)| key));
        value = found.map(|(_, value)| value);
    }
    place
}

fn role<'a>(content: &'a Json<'_>) -> &'a str {
    content.get("role").and_then(Json::as_str).unwrap_or("user")
}

fn parts<'a>(content: &'a Json<'a>) -> &'a [Json<'a>] {
    content.get("parts").map_or(&[], items)
}

/// Returns the items of a list. One object stands for a list of it.
fn items<'a>(value: &'a Json<'a>) -> &'a [Json<'a>] {
    match value {
        Json::List(items) => items,
        Json::Object(_) => std::slice::from_ref(value),
        _ => &[],
    }
}

fn check_content(index: usize, content: &Json<'_>, found: &mut Vec<Diagnostic>) {
    if !matches!(role(content), "user" | "model" | "function") {
        let text = phrase!("this API dialect has no role `{content}`", content = excerpt(role(content)));
        let finding = super::unknown_role(text, role(content), &["user", "model"]);
        found.push(finding.at_pointer(format!("/contents/{index}/role")));
    }
    if parts(content).is_empty() {
        let finding = refused(codes::EMPTY_CONTENT, phrase!("the content has no parts"));
        found.push(finding.at_pointer(format!("/contents/{index}")));
    }
    for (position, part) in parts(content).iter().enumerate() {
        let place = format!("/contents/{index}/parts/{position}");
        if part.as_object().is_none_or(Object::is_empty) {
            let finding = refused(codes::EMPTY_CONTENT, phrase!("the part is empty"));
            found.push(finding.at_pointer(place.clone()));
        }
        check_part(role(content), part, &place, found);
    }
}

/// Reports calls and results on the wrong side, and those whose arguments are not an object.
fn check_part(role: &str, part: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    for (name, values, side) in [("functionCall", "args", "model"), ("functionResponse", "response", "user")]
    {
        let Some(function) = field(part, name) else { continue };
        if role != side && matches!(role, "user" | "model") {
            let text = phrase!("role `{role}` cannot have part `{part}`", role = excerpt(role), part = name);
            found.push(refused(codes::PART_NOT_ACCEPTED, text).at_pointer(place_of(part, place, &[name])));
        }
        if field(function, values).is_some_and(|value| !value.is_object() && !value.is_null()) {
            let text = phrase!("`{name}` must be an object", name = values);
            found.push(refused(codes::SHAPE, text).at_pointer(place_of(part, place, &[name, values])));
        }
    }
}

/// Calls are answered in the next content, each by a result that names its function.
fn check_pairs(contents: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let mut open = OpenCalls::default();
    for (index, content) in contents.iter().enumerate() {
        for (position, part) in parts(content).iter().enumerate() {
            let Some(result) = field(part, "functionResponse") else { continue };
            if let Err((code, text)) = open.answer(result) {
                let place = format!("/contents/{index}/parts/{position}");
                let place = place_of(part, &place, &["functionResponse"]);
                found.push(refused(code, text).at_pointer(place));
            }
        }
        for name in open.unanswered() {
            let text =
                phrase!("the next content has no result for the call of `{name}`", name = excerpt(name));
            let place = format!("/contents/{}", index.saturating_sub(1));
            found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(place));
        }
        open = OpenCalls::new(parts(content));
    }
    for name in open.unanswered() {
        let text = phrase!("the call of `{name}` has no result", name = excerpt(name));
        let place = format!("/contents/{}", contents.len().saturating_sub(1));
        found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(place));
    }
}

/// The calls of one content. The next content must contain their results.
#[derive(Default)]
struct OpenCalls<'a> {
    calls: Vec<OpenCall<'a>>,
    /// Positions of the calls with an id, in order. Calls with a result may be removed from the front.
    by_id: BTreeMap<&'a str, VecDeque<usize>>,
    /// Positions of the calls by function name, in the same way.
    by_name: BTreeMap<&'a str, VecDeque<usize>>,
}

struct OpenCall<'a> {
    name: &'a str,
    is_answered: bool,
}

impl<'a> OpenCalls<'a> {
    fn new(parts: &'a [Json<'a>]) -> Self {
        let mut open = Self::default();
        for call in parts.iter().filter_map(|part| field(part, "functionCall")) {
            let (name, id) = (text(call, "name"), text(call, "id"));
            if !id.is_empty() {
                open.by_id.entry(id).or_default().push_back(open.calls.len());
            }
            open.by_name.entry(name).or_default().push_back(open.calls.len());
            open.calls.push(OpenCall { name, is_answered: false });
        }
        open
    }

    /// Finds the call of a result: the call with its id, or the first open call of its function.
    fn answer(&mut self, result: &Json<'_>) -> Result<(), (ctx_types::Code, Phrase)> {
        let (name, id) = (text(result, "name"), text(result, "id"));
        if let Some(call) = first_open(&mut self.calls, self.by_id.get_mut(id)) {
            if call.name == name {
                call.is_answered = true;
                return Ok(());
            }
            let text = phrase!(
                "the result is named `{name}`, but its call is `{call}`",
                name = excerpt(name),
                call = excerpt(call.name)
            );
            return Err((codes::SHAPE, text));
        }
        let Some(call) = first_open(&mut self.calls, self.by_name.get_mut(name)) else {
            let text = phrase!("the previous content has no open call of `{name}`", name = excerpt(name));
            return Err((codes::ORPHAN_RESULT, text));
        };
        call.is_answered = true;
        Ok(())
    }

    /// Returns the names of the calls without a result.
    fn unanswered(&self) -> impl Iterator<Item = &'a str> {
        self.calls.iter().filter(|call| !call.is_answered).map(|call| call.name)
    }
}

/// Returns the first call of a queue without a result. Removes the earlier calls from the queue.
fn first_open<'c, 'a>(
    calls: &'c mut [OpenCall<'a>],
    queue: Option<&mut VecDeque<usize>>,
) -> Option<&'c mut OpenCall<'a>> {
    let queue = queue?;
    while queue.front().is_some_and(|place| calls[*place].is_answered) {
        queue.pop_front();
    }
    let place = *queue.front()?;
    calls.get_mut(place)
}

/// Returns a text of a call or a result, or an empty text if it is missing.
fn text<'a>(value: &'a Json<'_>, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// The model thinks by a level or by a budget.
fn check_thinking(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let config = field_at(body, ["generationConfig", "thinkingConfig"]);
    let has = |key: &str| config.is_some_and(|config| field(config, key).is_some());
    let place =
        |names: &[&str]| place_of(body, "", &[&["generationConfig", "thinkingConfig"][..], names].concat());
    if has("thinkingLevel") && has("thinkingBudget") {
        let text = phrase!("`thinkingLevel` cannot be used with `thinkingBudget`");
        found.push(refused(codes::THINKING, text).at_pointer(place(&[])));
    }
    let model = model_words::model(body);
    let budget = match config.and_then(|config| field(config, "thinkingBudget")) {
        Some(Json::Number(budget)) => budget.as_i64().filter(|budget| *budget != DYNAMIC_BUDGET),
        _ => None,
    };
    if let Some((budget, (least, most))) = budget.zip(model_words::thinking_budgets(model))
        && !(least..=most).contains(&budget)
        && !(budget == 0 && model.contains("lite"))
    {
        let text = phrase!(
            "a thinking budget of {budget} is not accepted; the model accepts {least} to {most}, and -1",
            budget,
            least,
            most
        );
        found.push(refused(codes::THINKING, text).at_pointer(place(&["thinkingBudget"])));
    }
    let level = config.and_then(|config| field(config, "thinkingLevel")?.as_str());
    if let Some((level, known)) = level.zip(model_words::thinking_levels(model))
        && !known.contains(&level.to_ascii_lowercase().as_str())
    {
        let text = phrase!("the model has no thinking level `{level}`", level = excerpt(level));
        found.push(refused(codes::THINKING, text).at_pointer(place(&["thinkingLevel"])));
    }
}

/// The budget with which the model decides how much it thinks.
const DYNAMIC_BUDGET: i64 = -1;

/// The first call of each step of the running turn has a thought signature.
fn check_signatures(contents: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let is_question = |content: &Json<'_>| {
        role(content) == "user" && parts(content).iter().any(|part| field(part, "functionResponse").is_none())
    };
    let start = contents.iter().rposition(is_question).map_or(0, |question| question + 1);
    for (index, content) in contents.iter().enumerate().skip(start) {
        let mut calls = parts(content).iter().enumerate();
        let first = calls.find(|(_, part)| field(part, "functionCall").is_some());
        if let Some((position, _)) = first.filter(|(_, part)| field(part, "thoughtSignature").is_none()) {
            let text = phrase!("the first call of a step has no thought signature");
            let place = format!("/contents/{index}/parts/{position}");
            found.push(refused(codes::THINKING, text).at_pointer(place));
        }
    }
}

fn check_tools(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let mut names = Vec::new();
    for (index, tool) in tools::list(body, found).iter().enumerate() {
        let functions = field(tool, "functionDeclarations").and_then(Json::as_list);
        for (position, function) in functions.into_iter().flatten().enumerate() {
            let place = place_of(tool, &format!("/tools/{index}"), &["functionDeclarations"]);
            let place = format!("{place}/{position}");
            for key in ["parameters", "response"] {
                if let Some(schema) = function.get(key) {
                    schema::check_gemini(schema, &format!("{place}/{key}"), found);
                }
            }
            names.push((place, function.get("name").and_then(Json::as_str)));
        }
    }
    tools::check_names(names.into_iter(), tools::MAX_NAME, &['.', ':'], found);
}
