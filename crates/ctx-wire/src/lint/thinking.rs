//! Thinking in bodies of Anthropic's messages: its settings, and the blocks that go back.

use ctx_types::{Diagnostic, Phrase, RequestRules, ThinkingRule, phrase};

use super::anthropic::{blocks, role};
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
    rules: RequestRules,
    found: &mut Vec<Diagnostic>,
) {
    let setting =
        body.get("thinking").and_then(|thinking| thinking.get("type")?.as_str()).unwrap_or_default();
    let mut report = |place: &str, text: Phrase| {
        found.push(refused(codes::THINKING, text).at_pointer(place));
    };
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
    let is_prefill = messages.last().is_some_and(|message| {
        let is_calling = blocks(message).iter().any(|block| is_of(block, "tool_use"));
        role(message) == "assistant" && !is_calling
    });
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
    if is_forced && (setting == "enabled" || rules.thinking == ThinkingRule::Always) {
        report("/tool_choice", phrase!("a tool call cannot be forced while the model thinks"));
    }
    check_blocks(messages, &mut report);
    if setting == "enabled" {
        check_turn(messages, &mut report);
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
        _ => None,
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
    if let Some(limit) = number(body.get("max_tokens")).filter(|limit| budget >= *limit) {
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
fn check_turn(messages: &[Json<'_>], report: &mut impl FnMut(&str, Phrase)) {
    let is_question = |message: &Json<'_>| {
        let has_results = blocks(message).iter().any(|block| is_of(block, "tool_result"));
        role(message) != "assistant" && !has_results
    };
    let start = messages.iter().rposition(is_question).map_or(0, |question| question + 1);
    let mut calling = messages.iter().enumerate().skip(start).filter(|(_, message)| {
        role(message) == "assistant" && blocks(message).iter().any(|block| is_of(block, "tool_use"))
    });
    let Some((index, message)) = calling.next() else { return };
    let blocks = blocks(message);
    if blocks.first().is_some_and(is_thinking) {
        return;
    }
    let text = if blocks.iter().any(is_thinking) {
        phrase!("a reply with tool calls must start with its thinking")
    } else {
        phrase!("a reply with tool calls has no thinking, which the running turn requires")
    };
    report(&format!("/messages/{index}/content/0"), text);
}

fn is_of(block: &Json<'_>, kind: &str) -> bool {
    block.get("type").and_then(Json::as_str) == Some(kind)
}

fn is_thinking(block: &Json<'_>) -> bool {
    is_of(block, "thinking") || is_of(block, "redacted_thinking")
}
