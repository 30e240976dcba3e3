use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::Value;

use crate::codes;
use crate::model::ModelFacts;

/// Maximum number of tokens, far above any model.
pub const MAX_TOKENS: u32 = 1_000_000_000;

/// Reads an integer from 0 to [`MAX_TOKENS`]; also accepts `8000.0`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range is checked")]
pub fn read_tokens(value: &Value) -> Option<u32> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    (0.0..=f64::from(MAX_TOKENS)).contains(&number).then_some(number as u32)
}

/// Tokens of a request besides messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetRequest {
    /// Context size in place of the model's, up to 1,000,000,000; `None` and 0 use the model's.
    pub context_tokens: Option<i64>,
    /// Response reserve.
    ///
    /// `None` means 0 with a custom context size. Otherwise it means `answer`, up to half of the context
    /// window, or the model's longest response, up to a quarter.
    pub reserve: Option<u32>,
    /// Requested response length, such as `maxTokens` of an agent.
    pub answer: Option<u32>,
    /// Tool definitions.
    pub tools: u32,
    /// Other fixed tokens, by name.
    pub fixed: Vec<(String, u32)>,
}

/// Token budget for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens for messages; `None` means unlimited.
    pub available: Option<u32>,
    /// The context window, if known, then negative deductions. They add up to `available`.
    pub lines: Vec<BudgetLine>,
}

const RESERVE: &str = "response reserve";

/// A line of the computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetLine {
    /// Display name.
    pub name: Phrase,
    /// Tokens; negative for deductions.
    pub tokens: i64,
}

/// Error of a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum BudgetError {
    /// Context size below 0 or above 1,000,000,000.
    OutOfRange {
        /// Requested size.
        context_tokens: i64,
    },
    /// No tokens left for messages.
    NothingLeft {
        /// Computation, as in [`Budget::lines`].
        lines: Vec<BudgetLine>,
    },
}

impl BudgetError {
    /// Describes the error.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::OutOfRange { context_tokens } => phrase!(
                "invalid context size `{context_tokens}`: use 0 to {most}; 0 means the model's context window",
                context_tokens,
                most = MAX_TOKENS
            ),
            Self::NothingLeft { lines } => {
                phrase!("no tokens left for messages: {account}", account = account(lines))
            }
        }
    }
}

impl Budget {
    /// Subtracts the reserve, tools, and overheads from the context size.
    ///
    /// An unknown context window means no limit, and a diagnostic. A size above the model's context window is
    /// accepted, with a diagnostic.
    ///
    /// ```
    /// use ctx_tokens::{Budget, BudgetRequest, ModelTable};
    ///
    /// let (model, _) = ModelTable::builtin().lookup("gpt-4");
    /// let request = BudgetRequest { reserve: Some(1_000), tools: 120, ..BudgetRequest::default() };
    /// let (budget, _) = Budget::compute(&model, &request)?;
    /// assert_eq!(budget.available, Some(8_192 - 1_000 - 120 - 3));
    /// assert_eq!(budget.lines[0].name, "context window of `gpt-4`");
    /// assert_eq!((budget.window(), budget.reserve()), (Some(8_192), 1_000));
    /// # Ok::<(), ctx_tokens::BudgetError>(())
    /// ```
    pub fn compute(
        model: &ModelFacts,
        request: &BudgetRequest,
    ) -> Result<(Self, Vec<Diagnostic>), BudgetError> {
        let mut diagnostics = Vec::new();
        let window = window(model, request, &mut diagnostics)?;
        let mut lines = Vec::new();
        let mut list = |name: Phrase, tokens: i64| {
            if tokens != 0 {
                lines.push(BudgetLine { name, tokens });
            }
        };
        if let Some((name, tokens)) = &window {
            list(name.clone(), i64::from(*tokens));
        }
        list(phrase!(RESERVE), -i64::from(reserve(model, request)));
        list(phrase!("tools"), -i64::from(request.tools));
        list(phrase!("reply prefix"), -i64::from(model.overheads.per_reply));
        for (name, tokens) in &request.fixed {
            list(Phrase::verbatim(name.as_str()), -i64::from(*tokens));
        }
        if window.is_none() {
            return Ok((Self { available: None, lines }, diagnostics));
        }
        let left = lines.iter().fold(0_i64, |sum, line| sum.saturating_add(line.tokens));
        match u32::try_from(left) {
            Ok(left) if left > 0 => Ok((Self { available: Some(left), lines }, diagnostics)),
            _ => Err(BudgetError::NothingLeft { lines }),
        }
    }

    /// Returns the limit for request and response; `None` means unlimited.
    pub fn window(&self) -> Option<u32> {
        let first = self.lines.first().filter(|line| line.tokens > 0)?;
        u32::try_from(first.tokens).ok()
    }

    /// Returns the response reserve.
    pub fn reserve(&self) -> u32 {
        let line = self.lines.iter().find(|line| line.name.template() == RESERVE);
        line.and_then(|line| u32::try_from(line.tokens.unsigned_abs()).ok()).unwrap_or_default()
    }
}

fn window(
    model: &ModelFacts,
    request: &BudgetRequest,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<(Phrase, u32)>, BudgetError> {
    match request.context_tokens {
        Some(context_tokens) if context_tokens != 0 => {
            let tokens = u32::try_from(context_tokens).ok().filter(|tokens| *tokens <= MAX_TOKENS);
            let tokens = tokens.ok_or(BudgetError::OutOfRange { context_tokens })?;
            diagnostics.extend(above_window_diagnostic(tokens, model));
            Ok(Some((phrase!("context limit"), tokens)))
        }
        _ => {
            let shown = model.name.as_deref().unwrap_or(&model.model);
            let window = model
                .context_window
                .map(|tokens| (phrase!("context window of `{model}`", model = shown), tokens));
            if window.is_none() {
                diagnostics.push(no_window_diagnostic(model));
            }
            Ok(window)
        }
    }
}

fn above_window_diagnostic(allowed: u32, model: &ModelFacts) -> Option<Diagnostic> {
    let window = model.context_window.filter(|window| allowed > *window)?;
    let message = phrase!(
        "the limit of {allowed} tokens exceeds the context window of `{model}` ({window})",
        allowed,
        model = excerpt(&model.model),
        window
    );
    Some(Diagnostic::warning(codes::ABOVE_WINDOW, message))
}

fn no_window_diagnostic(model: &ModelFacts) -> Diagnostic {
    let (message, help) = match &*model.model {
        "" => (
            phrase!("no model is set; the context has no token limit"),
            phrase!("set the model, or set a token limit for the context"),
        ),
        name => (
            phrase!(
                "the context window of `{model}` is unknown; the context has no token limit",
                model = excerpt(name)
            ),
            phrase!("set a token limit for the context, or add the model to a model table"),
        ),
    };
    Diagnostic::warning(codes::NO_WINDOW, message).with_help(help)
}

fn reserve(model: &ModelFacts, request: &BudgetRequest) -> u32 {
    if let Some(reserve) = request.reserve {
        return reserve;
    }
    let is_allowed = request.context_tokens.is_some_and(|tokens| tokens > 0);
    let Some(window) = model.context_window.filter(|_| !is_allowed) else { return 0 };
    let answer = request.answer.map(|answer| answer.min(window / 2));
    answer.or_else(|| Some(model.max_output?.min(window / 4))).unwrap_or_default()
}

fn account(lines: &[BudgetLine]) -> Argument {
    let line = |line: &BudgetLine| phrase!("{name} {tokens}", name = line.name, tokens = line.tokens);
    Argument::list(lines.iter().map(line), Divider::Comma)
}
