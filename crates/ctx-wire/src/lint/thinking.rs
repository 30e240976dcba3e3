//! Thinking in bodies of Anthropic's messages: its settings, and the blocks that go back.

use ctx_types::internal::{RequestRules, ThinkingRule, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};

use super::anthropic::{Turn, blocks, has_beta, is_of, role};
use super::{model_words, refused};
use crate::codes;
use crate::json::Json;
use crate::parameters::MIN_TOP_P;

/// The least budget of thinking, in tokens.
const MIN_BUDGET: u64 = 1_024;

/// Checks a body.
pub(super) fn check(
    body: &Json<'_>,
    messages: &[Json<'_>],
    turns: &[Turn<'_>],
    rules: RequestRules,
    found: &mut Vec<Diagnostic>,
) {
    let setting =
        body.get("thinking").and_then(|thinking| thinking.get("type")?.as_str()).unwrap_or_default();
    let mut report = |place: &str, text: Phrase| {
        found.push(refused(codes::THINKING, text).at_pointer(place));
    };
    if setting.is_empty() && body.get("thinking").is_some_and(Json::is_object) {
        report("/thinking", phrase!("`thinking` has no `type`"));
    }
    if let Some(text) = refused_setting(setting, rules.thinking) {
        report("/thinking/type", text);
    }
    if setting == "enabled" {
        check_budget(body, &mut report);
    }
    let model = model_words::model(body);
    if setting == "between_tools" && !model_words::thinks_between_tools(model) {
        report("/thinking/type", phrase!("the model does not accept thinking `between_tools`"));
    }
    let effort = body.at(["output_config", "effort"]).and_then(Json::as_str);
    if setting == "disabled"
        && matches!(effort, Some("xhigh" | "max"))
        && model_words::thinks_at_high_effort(model)
    {
        report("/thinking/type", phrase!("thinking can be disabled only up to effort `high`"));
    }
    if matches!(setting, "enabled" | "adaptive") {
        check_samplers(body, rules, &mut report);
    }
    // A compacted conversation is not a prefill. A paused turn ends with a call of a server tool, or with its result.
    let is_calling = |block: &Json<'_>| {
        let kind = block.get("type").and_then(Json::as_str).unwrap_or_default();
        kind.ends_with("tool_use") || kind.ends_with("_tool_result") || kind == "compaction"
    };
    let is_prefill = messages
        .last()
        .is_some_and(|message| role(message) == "assistant" && !blocks(message).iter().any(is_calling));
    let last = format!("/messages/{}", messages.len().saturating_sub(1));
    let has_no_prefill = matches!(
        rules.thinking,
        ThinkingRule::BudgetOrAdaptive | ThinkingRule::Adaptive | ThinkingRule::Always
    );
    if is_prefill && setting == "enabled" {
        report(&last, phrase!("the reply cannot be started (prefill) while the model thinks"));
    } else if is_prefill && has_no_prefill {
        report(&last, phrase!("the model does not support prefill"));
    }
    let choice = body.get("tool_choice").and_then(|choice| choice.get("type")?.as_str());
    let is_forced = matches!(choice, Some("any" | "tool"));
    let always_thinks = rules.thinking == ThinkingRule::Always && !model_words::accepts_forced_calls(model);
    if is_forced && (setting == "enabled" || always_thinks) {
        report("/tool_choice", phrase!("a tool call cannot be forced while the model thinks"));
    }
    check_blocks(messages, &mut report);
    let last_turn = turns.last().filter(|turn| turn.role == "assistant");
    if let Some(block) = last_turn.and_then(|turn| turn.blocks.last()).filter(|last| is_thinking(last.block))
    {
        report(&block.place, phrase!("the last message ends with thinking"));
    }
    if setting == "enabled" {
        check_turn(turns, &mut report);
    }
}

/// What is wrong with the setting for a model.
fn refused_setting(setting: &str, rule: ThinkingRule) -> Option<Phrase> {
    match (setting, rule) {
        ("enabled" | "adaptive", ThinkingRule::Unsupported) => Some(phrase!("the model does not think")),
        ("enabled", ThinkingRule::Adaptive | ThinkingRule::Always) => {
            Some(phrase!("the model has no thinking budget; use `adaptive`"))
        }
        ("adaptive", ThinkingRule::Budget) => {
            Some(phrase!("the model has no adaptive thinking; use `enabled` with a budget"))
        }
        ("disabled", ThinkingRule::Always) => Some(phrase!("the thinking of the model cannot be disabled")),
        ("" | "enabled" | "adaptive" | "disabled" | "between_tools", _) => None,
        _ => Some(phrase!("unknown kind of thinking `{kind}`", kind = excerpt(setting))),
    }
}

fn check_budget(body: &Json<'_>, report: &mut impl FnMut(&str, Phrase)) {
    const PLACE: &str = "/thinking/budget_tokens";
    let number = |value: Option<&Json<'_>>| match value {
        Some(Json::Number(number)) => number.as_u64(),
        _ => None,
    };
    let Some(budget) = number(body.at(["thinking", "budget_tokens"])) else {
        report(PLACE, phrase!("thinking needs a budget, `budget_tokens`"));
        return;
    };
    if budget < MIN_BUDGET {
        report(PLACE, phrase!("the thinking budget must be at least {limit} tokens", limit = MIN_BUDGET));
    }
    // With interleaved thinking, the budget covers the whole turn.
    let is_interleaved = has_beta(body, "interleaved-thinking");
    if let Some(limit) = number(body.get("max_tokens")).filter(|limit| budget >= *limit && !is_interleaved) {
        report(
            PLACE,
            phrase!(
                "the thinking budget of {budget} tokens must be below `max_tokens`, {limit}",
                budget,
                limit
            ),
        );
    }
}

/// Reports samplers beside thinking; those of models with rules are reported by them.
fn check_samplers(body: &Json<'_>, rules: RequestRules, report: &mut impl FnMut(&str, Phrase)) {
    if !matches!(rules.thinking, ThinkingRule::Unknown | ThinkingRule::Unsupported) {
        return;
    }
    let number = |name: &str| match body.get(name) {
        Some(Json::Number(number)) => number.as_f64(),
        _ => None,
    };
    let is_refused = |name: &str, number: f64| match name {
        "temperature" => (number - 1.0).abs() > f64::EPSILON,
        "top_p" => number < MIN_TOP_P,
        _ => true,
    };
    for name in ["temperature", "top_p", "top_k"] {
        if number(name).is_some_and(|number| is_refused(name, number)) {
            let text = phrase!("the model does not accept parameter `{name}` while it reasons", name);
            report(&format!("/{name}"), text);
        }
    }
}

/// Blocks of thinking have a signature and no cache mark.
fn check_blocks(messages: &[Json<'_>], report: &mut impl FnMut(&str, Phrase)) {
    for (index, message) in messages.iter().enumerate() {
        for (position, block) in blocks(message).iter().enumerate().filter(|(_, block)| is_thinking(block)) {
            let place = format!("/messages/{index}/content/{position}");
            let key = if is_of(block, "thinking") { "signature" } else { "data" };
            if block.get(key).and_then(Json::as_str).is_none_or(str::is_empty) {
                report(&place, phrase!("a thinking block has no signature"));
            }
            if block.get("cache_control").is_some_and(Json::is_object) {
                report(&place, phrase!("a thinking block cannot have a cache mark"));
            }
        }
    }
}

/// The first reply with calls in the running turn begins with its thinking. Later ones may have none.
fn check_turn(turns: &[Turn<'_>], report: &mut impl FnMut(&str, Phrase)) {
    let is_question =
        |turn: &Turn<'_>| turn.role != "assistant" && turn.of_kind("tool_result").next().is_none();
    let start = turns.iter().rposition(is_question).map_or(0, |question| question + 1);
    let is_calling = |turn: &&Turn<'_>| turn.role == "assistant" && turn.of_kind("tool_use").next().is_some();
    let Some(turn) = turns.iter().skip(start).find(is_calling) else { return };
    let Some(first) = turn.blocks.first().filter(|first| !is_thinking(first.block)) else { return };
    let text = if turn.blocks.iter().any(|placed| is_thinking(placed.block)) {
        phrase!("a reply with tool calls must start with its thinking")
    } else {
        phrase!("a reply with tool calls has no thinking, which the running turn requires")
    };
    report(&first.place, text);
}

fn is_thinking(block: &Json<'_>) -> bool {
    is_of(block, "thinking") || is_of(block, "redacted_thinking")
}
