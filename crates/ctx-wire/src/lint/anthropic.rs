//! Bodies of Anthropic's messages.

use std::collections::BTreeSet;

use ctx_types::internal::{RequestRules, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};

use super::{
    check_model, check_output_limit, check_parameters, for_server, images, is_empty, messages, model_words,
    parameters, refused, thinking, tools,
};
use crate::call_ids::MAX_ID;
use crate::codes;
use crate::json::Json;

/// The most cache marks in one request.
const MAX_CACHE_MARKS: usize = 4;

/// The longest name of a tool, in characters.
const MAX_TOOL_NAME: usize = 128;

/// The API version that refuses documents in replies.
const NEW_VERSION: &str = "2026-10-21";

/// Fields that need a beta.
const BETA_FIELDS: [&str; 6] =
    ["billing_policy", "compaction", "context_management", "fallbacks", "mcp_servers", "thread"];

/// Checks a body.
pub(crate) fn check(body: &Json<'_>, rules: RequestRules) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_model(body, &mut found);
    check_parameters(body, rules, &mut found);
    parameters::check_names(body, "", parameters::ANTHROPIC, &mut found);
    parameters::check_ranges(body, "", parameters::ANTHROPIC_RANGES, &mut found);
    let missing = match body.get("max_tokens") {
        Some(Json::Number(number)) if number.is_u64() => None,
        None => Some(phrase!("required parameter `max_tokens` is missing")),
        Some(_) => Some(phrase!("`max_tokens` must be an integer, 0 or more")),
    };
    found.extend(missing.map(|text| refused(codes::SHAPE, text).at_pointer("/max_tokens")));
    let messages = messages(body, &mut found);
    check_order(messages, rules, &mut found);
    for (index, message) in messages.iter().enumerate() {
        check_content(index, message, index + 1 == messages.len(), &mut found);
    }
    let turns = turns(messages);
    // In a thread, the provider has the earlier messages.
    if body.get("thread").is_none_or(Json::is_null) {
        check_pairs(&turns, &mut found);
    }
    check_kinds(&turns, &mut found);
    check_tools(body, &mut found);
    thinking::check(body, messages, &turns, rules, &mut found);
    check_system(body, &mut found);
    check_marks(body, &mut found);
    check_stops(body, &mut found);
    if !has_beta(body, "output-128k") {
        check_output_limit(body.get("max_tokens"), "/max_tokens", rules, &mut found);
    }
    images::check(messages, &mut found);
    check_version(body, messages, &mut found);
    tools::check(body, |tool| tool.get("name")?.as_str(), MAX_TOOL_NAME, &mut found);
    let is_marked = body.get("cache_control").is_some_and(Json::is_object);
    let marks = cache_marks(body).len() + usize::from(is_marked);
    if marks > MAX_CACHE_MARKS {
        let text = phrase!(
            "the request has {marks} cache marks; the limit is {limit}",
            marks,
            limit = MAX_CACHE_MARKS
        );
        found.push(refused(codes::DIALECT_LIMIT, text));
    }
    let is_other = rules != RequestRules::default() && !model_words::model(body).contains("claude");
    found
        .into_iter()
        .map(|finding| {
            let is_strict = !(is_other && is_of_claude(&finding));
            for_server(finding, is_strict)
        })
        .collect()
}

/// Returns whether a rule may be one of Anthropic's own servers, not of others with its API dialect.
fn is_of_claude(finding: &Diagnostic) -> bool {
    matches!(finding.code, codes::THINKING | codes::DIALECT_LIMIT)
}

pub(super) fn role<'a>(message: &'a Json<'_>) -> &'a str {
    message.get("role").and_then(Json::as_str).unwrap_or_default()
}

fn check_order(messages: &[Json<'_>], rules: RequestRules, found: &mut Vec<Diagnostic>) {
    for (index, message) in messages.iter().enumerate() {
        let place = || format!("/messages/{index}/role");
        match role(message) {
            "user" => {}
            "assistant" if index > 0 => {}
            // A request may begin with a compacted conversation.
            "assistant" if blocks(message).first().is_some_and(|block| is_of(block, "compaction")) => {}
            "assistant" => {
                let text = phrase!("the first message must be a user message, not an assistant message");
                found.push(refused(codes::ROLE_ORDER, text).at_pointer(place()));
            }
            "system" => {
                let finding = match rules.late_system {
                    Some(true) => None,
                    Some(false) => Some(refused(
                        codes::ROLE_ORDER,
                        phrase!("the model does not accept system messages in the conversation"),
                    )),
                    None => Some(Diagnostic::warning(
                        codes::ROLE_ORDER,
                        phrase!("only the newest models accept system messages in the conversation"),
                    )),
                };
                found.extend(finding.map(|finding| finding.at_pointer(place())));
                if let Some(text) = misplaced(messages, index) {
                    let finding = refused(codes::ROLE_ORDER, text).at_pointer(place());
                    found.push(if index == 0 {
                        finding.with_help(phrase!("move its text to the field `system`"))
                    } else {
                        finding
                    });
                }
            }
            other => {
                let text = phrase!("this API dialect has no role `{other}`", other = excerpt(other));
                let finding = super::unknown_role(text, other, &["user", "assistant"]);
                found.push(finding.at_pointer(place()));
            }
        }
    }
}

/// What is wrong with the place of a system message.
fn misplaced(messages: &[Json<'_>], index: usize) -> Option<Phrase> {
    let before = index.checked_sub(1).and_then(|before| messages.get(before)).map(role);
    let after = messages.get(index + 1).map(role);
    match (before, after) {
        (None, _) => Some(phrase!("the conversation starts with a system message")),
        (Some("system"), _) => Some(phrase!("two consecutive system messages")),
        (Some("assistant"), _) => Some(phrase!("a system message follows an assistant message")),
        (_, None | Some("assistant" | "system")) => None,
        _ => Some(phrase!("a system message precedes a user message")),
    }
}

fn check_content(index: usize, message: &Json<'_>, is_last: bool, found: &mut Vec<Diagnostic>) {
    let place = || format!("/messages/{index}/content");
    let content = message.get("content");
    let is_prefill = is_last && role(message) == "assistant";
    if is_empty(content) {
        // The start of a reply may be empty.
        if is_prefill {
            return;
        }
        found.push(refused(codes::EMPTY_CONTENT, phrase!("the message is empty")).at_pointer(place()));
        return;
    }
    for (position, block) in blocks(message).iter().enumerate() {
        if is_blank_text(block) {
            let text = phrase!("a text block is empty");
            found.push(refused(codes::EMPTY_CONTENT, text).at_pointer(format!("{}/{position}", place())));
        }
    }
    let last = content.and_then(Json::as_str).or_else(|| blocks(message).last()?.get("text")?.as_str());
    if is_prefill && last.is_some_and(|text| text.ends_with(char::is_whitespace)) {
        let text = phrase!("the prefill ends with whitespace");
        found.push(refused(codes::ROLE_ORDER, text).at_pointer(place()));
    }
}

/// A block and its place in the body.
pub(super) struct PlacedBlock<'a> {
    pub(super) block: &'a Json<'a>,
    pub(super) place: String,
}

/// Consecutive messages of one role, which the API joins.
pub(super) struct Turn<'a> {
    pub(super) role: &'a str,
    pub(super) blocks: Vec<PlacedBlock<'a>>,
}

impl<'a> Turn<'a> {
    pub(super) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &PlacedBlock<'a>> {
        self.blocks.iter().filter(move |placed| is_of(placed.block, kind))
    }
}

pub(super) fn turns<'a>(messages: &'a [Json<'a>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if turns.last().is_none_or(|turn| turn.role != role(message)) {
            turns.push(Turn { role: role(message), blocks: Vec::new() });
        }
        let placed = blocks(message).iter().enumerate().map(|(position, block)| PlacedBlock {
            block,
            place: format!("/messages/{index}/content/{position}"),
        });
        let text = message.get("content").filter(|content| content.is_text());
        let text = text.map(|block| PlacedBlock { block, place: format!("/messages/{index}/content") });
        turns.last_mut().expect("a turn was pushed").blocks.extend(text.into_iter().chain(placed));
    }
    turns
}

/// Every call has its result in the next turn, whose results come first; every result follows its call.
fn check_pairs(turns: &[Turn<'_>], found: &mut Vec<Diagnostic>) {
    let mut open: Vec<(&str, String)> = Vec::new();
    let mut earlier: BTreeSet<&str> = BTreeSet::new();
    for turn in turns {
        let ids: BTreeSet<&str> = open.iter().map(|(id, _)| *id).collect();
        let mut answered = BTreeSet::new();
        let mut has_words = false;
        for PlacedBlock { block, place } in &turn.blocks {
            if !is_of(block, "tool_result") {
                has_words = true;
                continue;
            }
            let id = block.get("tool_use_id").and_then(Json::as_str).unwrap_or_default();
            if let Some(finding) = result(id, ids.contains(id), !answered.insert(id), has_words) {
                found.push(finding.at_pointer(&**place));
            }
        }
        for (id, at) in open.drain(..).filter(|(id, _)| !answered.contains(id)) {
            let text = phrase!("call `{id}` has no result in the next message", id = excerpt(id));
            found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(at));
        }
        open = calls(turn, found);
        for (id, at) in &open {
            if !earlier.insert(id) {
                let text = phrase!("duplicate call id `{id}`, also in an earlier message", id = excerpt(id));
                found.push(refused(codes::DUPLICATE_CALL, text).at_pointer(&**at));
            }
        }
    }
    for (id, at) in open {
        let text = phrase!("call `{id}` has no result", id = excerpt(id));
        found.push(refused(codes::UNANSWERED_CALL, text).at_pointer(at));
    }
}

/// What is wrong with a result.
fn result(id: &str, is_open: bool, is_second: bool, has_words: bool) -> Option<Diagnostic> {
    let shown = excerpt(id);
    Some(if id.is_empty() {
        refused(codes::NO_CALL_ID, phrase!("the result has no call id"))
    } else if !is_open {
        refused(codes::ORPHAN_RESULT, phrase!("the previous message has no call with id `{shown}`", shown))
    } else if is_second {
        refused(codes::DUPLICATE_RESULT, phrase!("call `{shown}` already has a result", shown))
    } else if has_words {
        refused(
            codes::SEPARATED_RESULT,
            phrase!("the result of call `{shown}` must come before other content", shown),
        )
    } else {
        return None;
    })
}

/// Returns the ids of the calls of a turn, with their places. Reports ids that cannot be used.
fn calls<'a>(turn: &Turn<'a>, found: &mut Vec<Diagnostic>) -> Vec<(&'a str, String)> {
    let mut calls: Vec<(&str, String)> = Vec::new();
    let mut ids = BTreeSet::new();
    for PlacedBlock { block, place } in turn.of_kind("tool_use") {
        let at = format!("{place}/id");
        let id = block.get("id").and_then(Json::as_str).unwrap_or_default();
        if id.is_empty() {
            found.push(refused(codes::NO_CALL_ID, phrase!("the call has no id")).at_pointer(at));
            continue;
        }
        if !ids.insert(id) {
            let text = phrase!("duplicate call id `{id}` in one message", id = excerpt(id));
            found.push(refused(codes::DUPLICATE_CALL, text).at_pointer(at));
            continue;
        }
        if id.len() > MAX_ID {
            found.push(super::long_id(id).at_pointer(at.clone()));
        } else if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            let text =
                phrase!("call id `{id}` may contain only letters, digits, `_`, and `-`", id = excerpt(id));
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(at.clone()));
        }
        calls.push((id, at));
    }
    calls
}

/// Reports blocks that a side does not have, and calls whose input is not an object.
fn check_kinds(turns: &[Turn<'_>], found: &mut Vec<Diagnostic>) {
    for turn in turns {
        for PlacedBlock { block, place } in &turn.blocks {
            let kind = block.get("type").and_then(Json::as_str).unwrap_or_default();
            let is_misplaced = match kind {
                "tool_use" | "thinking" | "redacted_thinking" => turn.role == "user",
                "tool_result" | "image" => turn.role == "assistant",
                "image_url" | "input_text" | "input_image" | "input_audio" | "output_text" | "file" => true,
                _ => false,
            };
            if is_misplaced {
                let role = excerpt(turn.role);
                let text = phrase!("role `{role}` cannot have part `{part}`", role, part = excerpt(kind));
                found.push(refused(codes::PART_NOT_ACCEPTED, text).at_pointer(&**place));
            }
            if kind == "tool_use" && !block.get("input").is_some_and(Json::is_object) {
                let text = phrase!("the input of a call must be an object");
                found.push(refused(codes::SHAPE, text).at_pointer(format!("{place}/input")));
            }
            for (inner, nested) in blocks(block).iter().enumerate() {
                if is_blank_text(nested) && nested.get("cache_control").is_none() {
                    let text = phrase!("a text block is empty");
                    let place = format!("{place}/content/{inner}");
                    found.push(refused(codes::EMPTY_CONTENT, text).at_pointer(place));
                }
            }
        }
    }
}

/// Checks the schemas of functions, and that the tool choice names one of the tools.
fn check_tools(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let tools = body.get("tools").and_then(Json::as_list).unwrap_or_default();
    for (index, tool) in tools.iter().enumerate() {
        let is_function = matches!(tool.get("type").and_then(Json::as_str), None | Some("custom"));
        if is_function && tool.at(["input_schema", "type"]).and_then(Json::as_str) != Some("object") {
            let text = phrase!("the tool needs `input_schema` of type `object`");
            found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(format!("/tools/{index}")));
        }
    }
    let Some(kind) = body.at(["tool_choice", "type"]).and_then(Json::as_str) else { return };
    let wanted = body.at(["tool_choice", "name"]).and_then(Json::as_str).unwrap_or_default();
    let has_name = |tool: &Json<'_>| tool.get("name").and_then(Json::as_str) == Some(wanted);
    let is_set = |tool: &Json<'_>| tool.get("type").and_then(Json::as_str).is_some_and(tools::is_toolset);
    let has_servers = body.get("mcp_servers").is_some();
    let text = if matches!(kind, "any" | "tool") && tools.is_empty() && !has_servers {
        phrase!("`tool_choice` needs `tools`")
    } else if kind == "tool" && !has_servers && !tools.iter().any(|tool| has_name(tool) || is_set(tool)) {
        phrase!("`tool_choice` names `{name}`, which is not among the tools", name = excerpt(wanted))
    } else {
        return;
    };
    found.push(refused(codes::SHAPE, text).at_pointer("/tool_choice"));
}

pub(super) fn is_of(block: &Json<'_>, kind: &str) -> bool {
    block.get("type").and_then(Json::as_str) == Some(kind)
}

fn is_blank_text(block: &Json<'_>) -> bool {
    let text = block.get("text").and_then(Json::as_str);
    is_of(block, "text") && text.is_none_or(|text| text.trim().is_empty())
}

pub(super) fn blocks<'a>(message: &'a Json<'a>) -> &'a [Json<'a>] {
    message.get("content").and_then(Json::as_list).unwrap_or_default()
}

/// The blocks with a cache mark in the order in which the provider reads them, each with its place.
fn cache_marks<'a>(body: &'a Json<'a>) -> Vec<(String, &'a Json<'a>)> {
    let lists = ["tools", "system"].into_iter().flat_map(|key| {
        let list = body.get(key).and_then(Json::as_list).unwrap_or_default();
        list.iter().enumerate().map(move |(position, block)| (format!("/{key}/{position}"), block))
    });
    let messages = body.get("messages").and_then(Json::as_list).unwrap_or_default();
    let contents = messages.iter().enumerate().flat_map(|(index, message)| {
        blocks(message).iter().enumerate().flat_map(move |(position, block)| {
            let place = format!("/messages/{index}/content/{position}");
            // Those of a result come before the mark of the result.
            let of_result = blocks(block).iter().enumerate();
            let inner = of_result.map(|(position, block)| (format!("{place}/content/{position}"), block));
            inner.chain([(place.clone(), block)]).collect::<Vec<_>>()
        })
    });
    let is_marked = |block: &Json<'_>| block.get("cache_control").is_some_and(Json::is_object);
    lists.chain(contents).filter(|(_, block)| is_marked(block)).collect()
}

/// A long-lived mark stands before all others, and no mark on an empty text.
fn check_marks(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let mut is_short = false;
    // The mark of the body goes to its last block.
    let of_body = body.get("cache_control").is_some_and(Json::is_object).then(|| (String::new(), body));
    for (place, block) in cache_marks(body).into_iter().chain(of_body) {
        let ttl = block.at(["cache_control", "ttl"]).filter(|ttl| !ttl.is_null());
        let is_long = ttl.and_then(Json::as_str) == Some("1h");
        if ttl.is_some_and(|ttl| !is_long && ttl.as_str() != Some("5m")) {
            let text = phrase!("the lifetime of a cache mark must be `5m` or `1h`");
            found.push(refused(codes::SHAPE, text).at_pointer(format!("{place}/cache_control/ttl")));
        }
        if is_long && is_short {
            let text = phrase!("a long-lived cache mark follows a short-lived one");
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(&*place));
        }
        is_short |= !is_long;
        if block.get("text").and_then(Json::as_str).is_some_and(|text| text.trim().is_empty()) {
            let text = phrase!("an empty text block cannot have a cache mark");
            found.push(refused(codes::EMPTY_CONTENT, text).at_pointer(&*place));
        }
    }
}

/// Returns whether the body enables a beta, by the start of its name. A header may enable more.
pub(super) fn has_beta(body: &Json<'_>, prefix: &str) -> bool {
    let betas = body.get("anthropic_beta").and_then(Json::as_list).unwrap_or_default();
    betas.iter().filter_map(Json::as_str).any(|beta| beta.starts_with(prefix))
}

/// Checks what depends on the version and the betas, where the body names them as it does for cloud providers.
fn check_version(body: &Json<'_>, messages: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let Some(version) = body.get("anthropic_version").and_then(Json::as_str) else { return };
    let has_betas = body.get("anthropic_beta").and_then(Json::as_list).is_some_and(|betas| !betas.is_empty());
    for name in BETA_FIELDS.into_iter().filter(|name| !has_betas && body.get(name).is_some()) {
        let text = phrase!("parameter `{name}` needs a beta in `anthropic_beta`", name);
        let finding = refused(codes::REJECTED_PARAMETER, text).at_pointer(format!("/{name}"));
        // Vertex has the betas in a header.
        found.push(for_server(finding, !version.starts_with("vertex")));
    }
    if version != NEW_VERSION {
        return;
    }
    for name in ["temperature", "top_p", "top_k"].into_iter().filter(|name| body.get(name).is_some()) {
        let text = phrase!("API version {version} has no parameter `{name}`", version = NEW_VERSION, name);
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer(format!("/{name}")));
    }
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| role(message) == "assistant") {
        for (position, block) in blocks(message).iter().enumerate() {
            if block.get("type").and_then(Json::as_str) == Some("document") {
                let text =
                    phrase!("role `{role}` cannot have part `{part}`", role = "assistant", part = "document");
                let place = format!("/messages/{index}/content/{position}");
                found.push(refused(codes::PART_NOT_ACCEPTED, text).at_pointer(place));
            }
        }
    }
}

/// Reports blank texts of the field `system`.
fn check_system(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let blocks = body.get("system").and_then(Json::as_list).unwrap_or_default();
    for (index, _) in blocks.iter().enumerate().filter(|(_, block)| is_blank_text(block)) {
        let text = phrase!("a text block is empty");
        found.push(refused(codes::EMPTY_CONTENT, text).at_pointer(format!("/system/{index}")));
    }
}

fn check_stops(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    if body.get("stop_sequences").is_some_and(Json::is_text) {
        let text = phrase!("`{name}` must be a list", name = "stop_sequences");
        found.push(refused(codes::SHAPE, text).at_pointer("/stop_sequences"));
    }
    let stops = body.get("stop_sequences").and_then(Json::as_list).into_iter().flatten();
    for (index, stop) in stops.enumerate() {
        if stop.as_str().is_some_and(|stop| stop.trim().is_empty()) {
            let text = phrase!("the stop sequence is blank");
            found.push(refused(codes::SHAPE, text).at_pointer(format!("/stop_sequences/{index}")));
        }
    }
}
