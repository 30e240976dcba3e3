//! Parameters that a model accepts, by the rules of its table row.

use std::collections::BTreeSet;

use ctx_types::internal::{OutputLimit, RequestRules, SamplerRule, StopRule, ThinkingRule, TopKRule};
use ctx_types::{Diagnostic, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::json::Json;

/// Sampling parameters that reasoning models reject.
pub(crate) const SAMPLERS: &[&str] = &[
    "temperature",
    "top_p",
    "topP",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
];

/// Lowest `top_p` that Anthropic accepts while the model thinks.
pub(crate) const MIN_TOP_P: f64 = 0.95;

/// The parameters of a request, and the rules of its model.
#[derive(Clone, Copy)]
pub(crate) struct ModelParameters<'a, 'o> {
    parameters: &'a Map<String, Value>,
    rules: RequestRules,
    client_fields: Option<&'o BTreeSet<String>>,
}

impl<'a, 'o> ModelParameters<'a, 'o> {
    pub(crate) fn new(parameters: &'a Map<String, Value>, rules: RequestRules) -> Self {
        Self { parameters, rules, client_fields: None }
    }

    /// Sends the parameters of these names unchanged.
    pub(crate) fn with_client_fields(self, client_fields: Option<&'o BTreeSet<String>>) -> Self {
        Self { client_fields, ..self }
    }

    /// Returns whether a parameter is sent unchanged.
    pub(crate) fn is_of_client(self, name: &str) -> bool {
        self.client_fields.is_some_and(|fields| fields.contains(name))
    }

    /// Returns the parameters that the model accepts, under the names that it wants. Reports all others.
    pub(crate) fn accepted(self, found: &mut Vec<Diagnostic>) -> Vec<(&'a str, &'a Value)> {
        let mut accepted = Vec::with_capacity(self.parameters.len());
        for (name, value) in self.parameters {
            if let Some(problem) = self.problem(name, value) {
                found.push(problem.not_sent(name));
            } else {
                accepted.push((name.as_str(), value));
            }
        }
        accepted
    }

    /// Returns the name of a limit on the output that the model wants in a chat completion.
    pub(crate) fn limit_name(self, name: &'a str, found: &mut Vec<Diagnostic>) -> &'a str {
        let wanted = match self.rules.output_limit {
            OutputLimit::MaxTokens => "max_tokens",
            OutputLimit::MaxCompletionTokens => "max_completion_tokens",
            _ => return name,
        };
        if wanted == name
            || self.is_of_client(name)
            || !matches!(name, "max_tokens" | "max_completion_tokens")
        {
            return name;
        }
        let text =
            phrase!("parameter `{name}` is sent as `{wanted}`: the model requires this name", name, wanted);
        found.push(Diagnostic::info(codes::PARAMETER_CHANGED, text).at_pointer(format!("/{wanted}")));
        wanted
    }

    /// Returns the parameters of a body that its model rejects, as the provider reports them.
    pub(crate) fn rejected(self) -> Vec<Diagnostic> {
        let problems = self.parameters.iter().filter_map(|(name, value)| {
            let problem = self.problem(name, value)?;
            if matches!(problem, Problem::Rejected | Problem::WhileReasoning) && self.is_default(name, value)
            {
                return None;
            }
            let (text, fix) = match problem {
                Problem::Rejected => (
                    phrase!("the model does not accept parameter `{name}`", name),
                    phrase!("remove `{name}`", name),
                ),
                Problem::WhileReasoning => (
                    phrase!("the model does not accept parameter `{name}` while it reasons", name),
                    phrase!("remove `{name}`, or disable reasoning", name),
                ),
                Problem::Beside(other) => (
                    phrase!("the model does not accept parameter `{name}` with `{other}`", name, other),
                    phrase!("remove `{name}` or `{other}`", name, other),
                ),
                Problem::Zero => return None,
            };
            let rejected = Diagnostic::error(codes::REJECTED_PARAMETER, text).with_help(fix);
            Some(rejected.at_pointer(format!("/{name}")))
        });
        problems.collect()
    }

    /// Returns whether providers accept this value of a sampler that they otherwise reject: the default, or with
    /// Anthropic's thinking a `top_p` from [`MIN_TOP_P`].
    fn is_default(self, name: &str, value: &Value) -> bool {
        let Some(number) = value.as_f64() else { return value.as_bool() == Some(false) };
        let is_one = (number - 1.0).abs() < f64::EPSILON;
        match name {
            "temperature" => is_one,
            "top_p" => is_one || self.thinks() && number >= MIN_TOP_P,
            "frequency_penalty" | "presence_penalty" => number.abs() < f64::EPSILON,
            _ => false,
        }
    }

    /// Returns why a parameter is not sent.
    fn problem(self, name: &str, value: &Value) -> Option<Problem> {
        let is_zero = value.as_f64().is_some_and(|number| number <= 0.0);
        match name {
            name if value.is_null() || self.is_of_client(name) => None,
            "top_k" | "topK" => match self.rules.top_k {
                TopKRule::Rejected => Some(Problem::Rejected),
                TopKRule::Positive if is_zero => Some(Problem::Zero),
                _ => self.thinks().then_some(Problem::WhileReasoning),
            },
            "stop" | "stop_sequences" => (self.rules.stop == StopRule::Rejected).then_some(Problem::Rejected),
            name if SAMPLERS.contains(&name) => self.sampler_problem(name),
            _ => None,
        }
    }

    fn sampler_problem(self, name: &str) -> Option<Problem> {
        if self.thinks() {
            return Some(Problem::WhileReasoning);
        }
        match self.rules.samplers {
            SamplerRule::None => Some(Problem::Rejected),
            SamplerRule::WithoutReasoning => self.reasons(false).then_some(Problem::WhileReasoning),
            SamplerRule::IfReasoningDisabled => self.reasons(true).then_some(Problem::WhileReasoning),
            SamplerRule::TemperatureOrTopP => {
                let (dropped, kept) = self.surplus_sampler()?;
                (dropped == name).then_some(Problem::Beside(kept))
            }
            _ => None,
        }
    }

    /// Returns which of `temperature` and `top_p` is not sent, and which is. A value of 1 has no effect.
    fn surplus_sampler(self) -> Option<(&'static str, &'static str)> {
        let number = |name: &str| self.parameters.get(name).and_then(Value::as_f64);
        let (temperature, top_p) = (number("temperature")?, number("top_p")?);
        let has_no_effect = |number: f64| (number - 1.0).abs() < f64::EPSILON;
        let is_top_p_kept = has_no_effect(temperature) && !has_no_effect(top_p);
        Some(if is_top_p_kept { ("temperature", "top_p") } else { ("top_p", "temperature") })
    }

    /// Returns whether the request enables thinking of an Anthropic model.
    fn thinks(self) -> bool {
        let is_anthropic = !matches!(self.rules.thinking, ThinkingRule::Unknown | ThinkingRule::Unsupported);
        let kind = self.parameters.get("thinking").and_then(|thinking| thinking.get("type")?.as_str());
        is_anthropic && matches!(kind, Some("enabled" | "adaptive"))
    }

    /// Returns whether the model reasons, by the effort that the request names.
    fn reasons(self, by_default: bool) -> bool {
        let effort = self.parameters.get("reasoning_effort");
        let effort = effort.or_else(|| self.parameters.get("reasoning")?.get("effort"));
        effort.and_then(Value::as_str).map_or(by_default, |effort| effort != "none")
    }
}

/// Returns the highest value of a sampler that the API dialect accepts, if a value is above it.
pub(crate) fn lowered<'a>(
    name: &str,
    value: &Value,
    highest: u32,
    found: &mut Vec<Diagnostic>,
) -> Option<Json<'a>> {
    value.as_f64().filter(|number| *number > f64::from(highest))?;
    let text = phrase!("parameter `{name}` is sent as {highest}, the highest accepted value", name, highest);
    found.push(Diagnostic::warning(codes::PARAMETER_CHANGED, text).at_pointer(format!("/{name}")));
    Some(highest.into())
}

/// Why a model does not accept a parameter.
enum Problem {
    Rejected,
    /// The model accepts it while it does not reason.
    WhileReasoning,
    /// The model accepts it without this one.
    Beside(&'static str),
    /// It is 0, which means no limit.
    Zero,
}

impl Problem {
    /// Reports that a parameter is not sent.
    fn not_sent(&self, name: &str) -> Diagnostic {
        let text = match self {
            Self::Rejected => phrase!("parameter `{name}` is not sent: the model does not accept it", name),
            Self::WhileReasoning => {
                phrase!("parameter `{name}` is not sent: the model does not accept it while it reasons", name)
            }
            Self::Beside(kept) => phrase!(
                "parameter `{name}` is not sent: the model accepts it only without `{kept}`",
                name,
                kept
            ),
            Self::Zero => {
                let text = phrase!("parameter `{name}` is not sent: 0 means no limit", name);
                return Diagnostic::info(codes::PARAMETER_NOT_SENT, text);
            }
        };
        Diagnostic::warning(codes::PARAMETER_NOT_SENT, text)
    }
}
