use ctx_pipeline::SettingOrigin;
use ctx_tokens::{
    BudgetRequest,
    internal::{MAX_TOKENS, read_tokens},
};
use ctx_types::internal::excerpt;
use ctx_types::{Agent, Diagnostic, Fix, TurnInput, phrase};
use serde_json::Value;

use crate::codes;
use crate::compiled_agent::{root, stored};
use crate::engine::Compile;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContextLimit {
    /// 0 is the model's context window.
    tokens: Option<i64>,
    includes_answer: bool,
    answer: Option<u32>,
}

impl ContextLimit {
    /// Reads AIO Hub's `contextManagement` from the highest layer that has one, and `maxTokens` from the
    /// highest layer with a valid number. Ignores an invalid `maxContextTokens`.
    pub(crate) fn read(agent: &Agent, with: &Compile, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut limit = Self::default();
        for (origin, parameters) in stored(agent, with) {
            let answer = parameters.get("maxTokens").and_then(read_tokens).filter(|tokens| *tokens > 0);
            limit.answer = answer.or(limit.answer);
            let management = parameters.get("contextManagement").filter(|value| value.is_object());
            let Some(management) = management else { continue };
            let value = management.get("maxContextTokens").filter(|value| !value.is_null());
            let tokens = value.and_then(read_tokens);
            diagnostics.extend(value.filter(|_| tokens.is_none()).map(|value| bad_tokens(origin, value)));
            let is_on = |key: &str| management.get(key).and_then(Value::as_bool) == Some(true);
            limit.tokens = tokens.filter(|_| is_on("enabled")).map(i64::from);
            limit.includes_answer = is_on("includesAnswer");
        }
        limit
    }

    pub(crate) fn request(&self, turn: &TurnInput, tools: u32) -> BudgetRequest {
        let is_shared = self.includes_answer && turn.context_tokens.is_none() && self.tokens > Some(0);
        BudgetRequest {
            context_tokens: turn.context_tokens.or(self.tokens),
            reserve: turn.reserve.or(self.answer.filter(|_| is_shared)),
            answer: self.answer,
            tools,
            fixed: Vec::new(),
        }
    }
}

fn bad_tokens(origin: SettingOrigin, value: &Value) -> Diagnostic {
    let shown = value.to_string();
    let message = phrase!(
        "`maxContextTokens` must be a whole number from 0 to {limit}, found `{value}`",
        limit = MAX_TOKENS,
        value = excerpt(&shown)
    );
    let unquoted = value.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
    let meant = unquoted.as_ref().and_then(read_tokens);
    let help = if let Some(number) = meant {
        phrase!("write `{number}` without quotes; the value is ignored until then", number)
    } else {
        phrase!("write a number, or 0 for the model's context window; the value is ignored until then")
    };
    let mut wrong = Diagnostic::error(codes::CONTEXT_TOKENS, message).with_help(help);
    wrong.fix = meant.map(|number| Box::new(Fix::value(number)));
    wrong.at_pointer(format!("{}/contextManagement/maxContextTokens", root(origin)))
}
