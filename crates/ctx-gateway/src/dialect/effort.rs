//! The strength of reasoning in each API dialect.

use ctx_types::internal::ThinkingRule;
use ctx_wire::Dialect;
use serde_json::{Map, Value, json};

use super::mapping::{Loss, Reason, Target, put, take};

/// Converts the strength of reasoning, with the numbers of `LiteLLM` 1.110.2.
pub(super) fn map_effort(
    given: &mut Map<String, Value>,
    mapped: &mut Map<String, Value>,
    client: Dialect,
    target: Target<'_>,
    lost: &mut Vec<Loss>,
) {
    let (field, effort) = match client {
        Dialect::Anthropic => ("thinking", take_thinking(given)),
        Dialect::Gemini => ("generationConfig.thinkingConfig", take_thinking_config(given)),
        Dialect::OpenaiResponses => ("reasoning.effort", take(given, "reasoning.effort")),
        _ => ("reasoning_effort", take(given, "reasoning_effort")),
    };
    let Some(effort) = effort.filter(|effort| !effort.is_null()) else { return };
    let Some(word) = effort.as_str().filter(|word| EFFORTS.contains(word)) else {
        return lost.push(Loss::new(field, Reason::Value));
    };
    match target.dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            mapped.insert("reasoning_effort".to_owned(), json!(word));
        }
        Dialect::Anthropic => match target.rules.thinking {
            ThinkingRule::Unsupported if word == "none" => {}
            ThinkingRule::Unsupported => lost.push(Loss::new(field, Reason::Field)),
            ThinkingRule::Always if word == "none" => lost.push(Loss::new(field, Reason::Value)),
            _ if word == "none" => put(mapped, "thinking.type", json!("disabled")),
            ThinkingRule::Budget => {
                let limit = mapped.get("max_tokens").and_then(Value::as_u64).or(target.max_tokens);
                if let (None, Some(max_output)) = (limit, target.rules.max_output) {
                    // The default limit would leave no tokens for the reply.
                    mapped.insert("max_tokens".to_owned(), json!(max_output));
                }
                let most = limit.or(target.rules.max_output.map(u64::from)).unwrap_or(DEFAULT_MAX_TOKENS);
                if most > MIN_BUDGET {
                    let budget = budget_for_effort(word).min(most - 1);
                    let thinking = json!({ "type": "enabled", "budget_tokens": budget });
                    mapped.insert("thinking".to_owned(), thinking);
                } else {
                    lost.push(Loss::new(field, Reason::Value));
                }
            }
            _ => {
                let thinking = json!({ "type": "adaptive", "display": "summarized" });
                mapped.insert("thinking".to_owned(), thinking);
                put(mapped, "output_config.effort", json!(if word == "minimal" { "low" } else { word }));
            }
        },
        Dialect::Gemini if target.model.contains("gemini-2") => {
            let budget = match word {
                "none" => 0,
                "minimal" if target.model.contains("lite") => 512,
                "minimal" if target.model.contains("pro") => 128,
                "minimal" => 1,
                word => budget_for_effort(word),
            };
            put(mapped, "generationConfig.thinkingConfig.thinkingBudget", json!(budget));
        }
        Dialect::Gemini => {
            let level = match word {
                "none" => "minimal",
                "xhigh" | "max" => "high",
                word => word,
            };
            put(mapped, "generationConfig.thinkingConfig.thinkingLevel", json!(level));
        }
        _ => lost.push(Loss::new(field, Reason::Field)),
    }
}

/// The strengths of reasoning.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The smallest budget that Anthropic accepts, in tokens.
const MIN_BUDGET: u64 = 1_024;

/// The limit of a reply of Anthropic if neither client nor agent nor model table has one.
const DEFAULT_MAX_TOKENS: u64 = 4_096;

fn budget_for_effort(word: &str) -> u64 {
    match word {
        "medium" => 2_048,
        "high" => 4_096,
        "xhigh" => 8_192,
        "max" => 16_384,
        _ => MIN_BUDGET,
    }
}

fn effort_for_budget(budget: u64) -> &'static str {
    let words = [(8_192, "xhigh"), (4_096, "high"), (2_048, "medium"), (1, "low")];
    words.into_iter().find(|(least, _)| budget >= *least).map_or("none", |(_, word)| word)
}

/// Takes the effort of Anthropic. Without one, adaptive thinking is the default of a model.
fn take_thinking(given: &mut Map<String, Value>) -> Option<Value> {
    let effort = take(given, "output_config.effort");
    let Some(thinking) = take(given, "thinking") else { return effort };
    match thinking.get("type").and_then(Value::as_str) {
        Some("disabled") => Some(json!("none")),
        Some("enabled") => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
            effort.or_else(|| budget.map(|budget| json!(effort_for_budget(budget))))
        }
        _ => effort,
    }
}

/// Takes the effort of Gemini. The budget -1 lets the model decide.
fn take_thinking_config(given: &mut Map<String, Value>) -> Option<Value> {
    let level = take(given, "generationConfig.thinkingConfig.thinkingLevel");
    let budget = take(given, "generationConfig.thinkingConfig.thinkingBudget");
    let level = level.as_ref().and_then(Value::as_str).map(|level| json!(level.to_lowercase()));
    level.or_else(|| Some(json!(effort_for_budget(budget?.as_u64()?))))
}
