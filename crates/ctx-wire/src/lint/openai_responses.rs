//! Bodies of OpenAI's responses.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::{RequestRules, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};

use super::{
    check_effort, check_metadata, check_model, check_output_limit, check_parameters, for_server, is_empty,
    is_served_by_others, parameters, refused, schema, tools,
};
use crate::call_ids::MAX_ID;
use crate::codes;
use crate::json::Json;

/// The lowest limit on the output, in tokens.
const MIN_OUTPUT: u64 = 16;

/// Checks a body.
pub(crate) fn check(body: &Json<'_>, rules: RequestRules) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_model(body, &mut found);
    let mut of_model = Vec::new();
    check_parameters(body, rules, &mut of_model);
    parameters::check_names(body, "", parameters::RESPONSES, &mut of_model);
    parameters::check_ranges(body, "", parameters::OPENAI_RANGES, &mut of_model);
    check_output_limit(body.get("max_output_tokens"), "/max_output_tokens", rules, &mut of_model);
    check_effort(body, body.at(["reasoning", "effort"]), "/reasoning/effort", &mut of_model);
    check_metadata(body, &mut found);
    let limit = match body.get("max_output_tokens") {
        Some(Json::Number(limit)) => limit.as_u64(),
        _ => None,
    };
    if limit.is_some_and(|limit| limit < MIN_OUTPUT) {
        let text = phrase!("`max_output_tokens` must be {limit} or more", limit = MIN_OUTPUT);
        of_model.push(refused(codes::DIALECT_LIMIT, text).at_pointer("/max_output_tokens"));
    }
    if body.get("background") == Some(&Json::Bool(true)) && body.get("store") == Some(&Json::Bool(false)) {
        let text = phrase!("`{name}` needs `{needed}`", name = "background", needed = "store");
        of_model.push(refused(codes::REJECTED_PARAMETER, text).at_pointer("/background"));
    }
    check_schemas(body, &mut found);
    let items = body.get("input").and_then(Json::as_list).unwrap_or_default();
    let is_text = body.get("input").and_then(Json::as_str).is_some_and(|text| !text.trim().is_empty());
    let has = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    let is_continued = has("previous_response_id") || has("conversation");
    if items.is_empty() && !is_text && !is_continued && !has("prompt") {
        found.push(refused(codes::NO_MESSAGES, phrase!("the request has no input")).at_pointer("/input"));
    }
    check_reasoning(body, items, &mut of_model);
    if has("previous_response_id") && has("conversation") {
        let text = phrase!("`previous_response_id` cannot be used with `conversation`");
        found.push(refused(codes::SHAPE, text).at_pointer("/previous_response_id"));
    }
    let mut pairs = Pairs::default();
    let mut ids = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let id = item.get("id").and_then(Json::as_str);
        if let Some(id) = id.filter(|id| kind(item) != "item_reference" && !ids.insert(*id)) {
            let text = phrase!("duplicate item id `{id}`", id = excerpt(id));
            found.push(refused(codes::SHAPE, text).at_pointer(format!("/input/{index}/id")));
        }
        check_function_item(index, item, &mut found, &mut of_model);
        match kind(item) {
            "message" => check_message(index, item, &mut found),
            "function_call" | "custom_tool_call" => pairs.add_call(index, item, &mut found),
            "function_call_output" | "custom_tool_call_output" => pairs.add_result(index, item, &mut found),
            _ => {}
        }
    }
    // The provider knows the items that are not in the body.
    if !is_continued && !items.iter().any(|item| kind(item) == "item_reference") {
        pairs.finish(&mut found);
    }
    let is_provider = !is_served_by_others(body);
    found.extend(of_model.into_iter().map(|finding| for_server(finding, is_provider)));
    let functions = functions(tools::list(body, &mut found));
    tools::check_names(functions.into_iter(), tools::MAX_NAME, &[], &mut found);
    found
}

fn check_schemas(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let is_strict = |value: &Json<'_>| value.get("strict") == Some(&Json::Bool(true));
    let tools = body.get("tools").and_then(Json::as_list).into_iter().flatten().enumerate();
    for (index, tool) in tools.filter(|(_, tool)| is_strict(tool)) {
        if let Some(parameters) = tool.get("parameters") {
            schema::check_strict(parameters, &format!("/tools/{index}/parameters"), found);
        }
    }
    let format = body.at(["text", "format"]).filter(|format| is_strict(format));
    if let Some(schema) = format.and_then(|format| format.get("schema")) {
        schema::check_strict(schema, "/text/format/schema", found);
    }
}

/// A reasoning item is followed by what the model made of it; without storage it has its content.
fn check_reasoning(body: &Json<'_>, items: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let is_unstored = body.get("store") == Some(&Json::Bool(false));
    let mut is_followed = false;
    let mut followed: Vec<bool> = Vec::with_capacity(items.len());
    for item in items.iter().rev() {
        followed.push(is_followed);
        if kind(item) != "reasoning" {
            is_followed = is_output(item);
        }
    }
    let followed = followed.into_iter().rev();
    for (index, (item, is_followed)) in items.iter().zip(followed).enumerate() {
        if kind(item) != "reasoning" {
            continue;
        }
        if !is_followed {
            let text = phrase!("a reasoning item has no reply or tool call after it");
            // The provider finds the reply by the id.
            let finding = if item.get("id").is_some() {
                refused(codes::THINKING, text)
            } else {
                Diagnostic::warning(codes::THINKING, text)
            };
            found.push(finding.at_pointer(format!("/input/{index}")));
        }
        let content = item.get("encrypted_content").and_then(Json::as_str);
        if is_unstored && content.is_none_or(str::is_empty) {
            let text = phrase!("a reasoning item has no `encrypted_content`, and `store` is off");
            found.push(refused(codes::THINKING, text).at_pointer(format!("/input/{index}")));
        }
    }
}

/// Returns whether a model wrote an item.
fn is_output(item: &Json<'_>) -> bool {
    match kind(item) {
        "message" => item.get("role").and_then(Json::as_str) == Some("assistant"),
        "mcp_approval_response" => false,
        kind => !kind.ends_with("_output"),
    }
}

/// The functions among the tools; the provider's own have no names.
fn functions<'a>(tools: &'a [Json<'a>]) -> Vec<(String, Option<&'a str>)> {
    let functions = tools.iter().enumerate().filter(|(_, tool)| kind(tool) == "function");
    functions
        .map(|(index, tool)| (format!("/tools/{index}"), tool.get("name").and_then(Json::as_str)))
        .collect()
}

fn kind<'a>(value: &'a Json<'_>) -> &'a str {
    value.get("type").and_then(Json::as_str).unwrap_or("message")
}

/// Checks the fields of a function call and of its result.
fn check_function_item(
    index: usize,
    item: &Json<'_>,
    found: &mut Vec<Diagnostic>,
    of_model: &mut Vec<Diagnostic>,
) {
    let mut report = |name: &'static str, text: Phrase| {
        found.push(refused(codes::SHAPE, text).at_pointer(format!("/input/{index}/{name}")));
    };
    match kind(item) {
        "function_call" => {
            if item.get("id").and_then(Json::as_str).is_some_and(|id| !id.starts_with("fc")) {
                let text = phrase!("the id of a function call must begin with `fc`");
                of_model.push(refused(codes::SHAPE, text).at_pointer(format!("/input/{index}/id")));
            }
            if item.get("name").and_then(Json::as_str).is_none_or(str::is_empty) {
                report("name", phrase!("the function call has no name"));
            }
            if !item.get("arguments").is_some_and(Json::is_text) {
                report("arguments", phrase!("the call's arguments must be a string"));
            }
        }
        "function_call_output" if item.get("output").is_none() => {
            report("output", phrase!("the result has no `output`"));
        }
        _ => {}
    }
}

fn check_message(index: usize, item: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let place = || format!("/input/{index}");
    let role = item.get("role").and_then(Json::as_str).unwrap_or_default();
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        let text = phrase!("unknown role `{role}`", role = excerpt(role));
        let finding = super::unknown_role(text, role, &["user", "assistant", "system", "developer"]);
        found.push(finding.at_pointer(format!("{}/role", place())));
    }
    let content = item.get("content");
    if is_empty(content) {
        let text = phrase!("the message of role `{role}` is empty", role = excerpt(role));
        let finding = Diagnostic::warning(codes::EMPTY_CONTENT, text);
        found.push(finding.at_pointer(format!("{}/content", place())));
    }
    let parts = content.and_then(Json::as_list).into_iter().flatten();
    for (position, part) in parts.enumerate() {
        if let Some(text) = refused_part(role, kind(part)) {
            let at = format!("{}/content/{position}", place());
            found.push(refused(codes::PART_NOT_ACCEPTED, text).at_pointer(at));
        }
    }
}

/// What is wrong with a part of a message: each side has kinds of its own, and recordings neither.
fn refused_part(role: &str, kind: &str) -> Option<Phrase> {
    let is_output = matches!(kind, "output_text" | "refusal");
    let is_input = matches!(kind, "input_text" | "input_image" | "input_file");
    if (role == "assistant" && is_output) || (role != "assistant" && is_input) {
        return None;
    }
    Some(phrase!("role `{role}` cannot have part `{part}`", role = excerpt(role), part = excerpt(kind)))
}

/// Every call has one result behind it, and every result a call before it.
#[derive(Default)]
struct Pairs<'a> {
    /// Where each call stands, and whether it has a result, by its id.
    calls: BTreeMap<&'a str, (usize, bool)>,
    /// Asynchronous calls, whose results may come in a later request.
    deferred: BTreeSet<&'a str>,
    /// Results whose calls are not in the body.
    orphans: Vec<(usize, &'a str)>,
}

impl<'a> Pairs<'a> {
    fn add_call(&mut self, index: usize, item: &'a Json<'a>, found: &mut Vec<Diagnostic>) {
        let Some(id) = call_id(index, item, found) else { return };
        if self.calls.contains_key(id) {
            let text = phrase!("duplicate call id `{id}`", id = excerpt(id));
            found.push(refused(codes::DUPLICATE_CALL, text).at_pointer(place_of_id(index)));
            return;
        }
        self.calls.insert(id, (index, false));
        if item.get("async") == Some(&Json::Bool(true)) {
            self.deferred.insert(id);
        }
    }

    fn add_result(&mut self, index: usize, item: &'a Json<'a>, found: &mut Vec<Diagnostic>) {
        let Some(id) = call_id(index, item, found) else { return };
        match self.calls.get_mut(id) {
            None => self.orphans.push((index, id)),
            Some((_, is_answered)) if !*is_answered => *is_answered = true,
            Some(_) => {
                let text = phrase!("call `{id}` already has a result", id = excerpt(id));
                found.push(refused(codes::DUPLICATE_RESULT, text).at_pointer(place_of_id(index)));
            }
        }
    }

    /// Reports what has no counterpart; not to be asked where the provider knows an earlier part.
    fn finish(self, found: &mut Vec<Diagnostic>) {
        for (index, id) in self.orphans {
            let text = phrase!("no earlier call has id `{id}`", id = excerpt(id));
            found.push(refused(codes::ORPHAN_RESULT, text).at_pointer(place_of_id(index)));
        }
        let is_open = |id: &str, is_answered: bool| !is_answered && !self.deferred.contains(id);
        let open = self.calls.iter().filter(|(id, (_, is_answered))| is_open(id, *is_answered));
        let mut open: Vec<(usize, &str)> = open.map(|(id, (index, _))| (*index, *id)).collect();
        open.sort_unstable();
        for (index, id) in open {
            let text = phrase!("call `{id}` has no result", id = excerpt(id));
            found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(place_of_id(index)));
        }
    }
}

/// The id of a call or of a result; none is reported.
fn call_id<'a>(index: usize, item: &'a Json<'a>, found: &mut Vec<Diagnostic>) -> Option<&'a str> {
    let id = item.get("call_id").and_then(Json::as_str).filter(|id| !id.is_empty());
    if let Some(id) = id.filter(|id| id.len() > MAX_ID) {
        found.push(super::long_id(id).at_pointer(place_of_id(index)));
    }
    if id.is_none() {
        let finding = refused(codes::NO_CALL_ID, phrase!("the item has no call id"));
        found.push(finding.at_pointer(format!("/input/{index}")));
    }
    id
}

fn place_of_id(index: usize) -> String {
    format!("/input/{index}/call_id")
}
