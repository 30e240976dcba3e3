//! How many tokens a context may have, and why.

use ctx_types::{Argument, Diagnostic, Divider, Phrase, excerpt, phrase};
use serde_json::Value;

use crate::codes;
use crate::model::ModelFacts;

/// The most tokens that anything may have here: a billion, far above any model.
pub const MAX_TOKENS: u32 = 1_000_000_000;

/// Reads a number of tokens: a whole number from 0 to [`MAX_TOKENS`]; `None` for anything else.
///
/// One rule for all files and options that have such a number. JSON has one kind of number: `8000.0` is a whole
/// one too.
///
/// ```
/// use ctx_tokens::read_tokens;
/// use serde_json::json;
///
/// assert_eq!((read_tokens(&json!(8_000)), read_tokens(&json!(8e3))), (Some(8_000), Some(8_000)));
/// assert_eq!((read_tokens(&json!(-1)), read_tokens(&json!(1e30)), read_tokens(&json!("1"))), (None, None, None));
/// ```
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub fn read_tokens(value: &Value) -> Option<u32> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    (0.0..=f64::from(MAX_TOKENS)).contains(&number).then_some(number as u32)
}

/// What a request takes from the window before the first message is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetRequest {
    /// What the user allows in place of the model's window, up to [`MAX_TOKENS`]; absent or 0 means the window.
    pub context_tokens: Option<i64>,
    /// What is kept free for the answer.
    ///
    /// Absent: nothing if the user allows a number of tokens, for that number is then meant for the context;
    /// otherwise the longest answer that is asked for, but no more than half of the window; otherwise the model's
    /// longest answer, but no more than a quarter of the window.
    pub reserve: Option<u32>,
    /// The longest answer that is asked for, such as `maxTokens` of an agent, where `reserve` is absent.
    pub answer: Option<u32>,
    /// The tokens of the definitions of tools, as [`tools_cost`](crate::tools_cost) counts them.
    pub tools: u32,
    /// Anything else that is sent in any case, by name.
    pub fixed: Vec<(String, u32)>,
}

/// How many tokens a context may have, with the account of how that came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is left for messages; `None` if nothing limits them.
    pub available: Option<u32>,
    /// The account: the window first, then what goes off, as negative numbers. They add up to `available`.
    ///
    /// Without a window only what goes off is listed.
    pub lines: Vec<BudgetLine>,
}

/// The line of what is kept free for the answer.
const RESERVE: &str = "response reserve";

/// One line of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetLine {
    /// What it is, for people.
    pub name: Phrase,
    /// Its tokens; negative if they go off the window.
    pub tokens: i64,
}

/// Why there is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum BudgetError {
    /// The user allows a number of tokens that is negative or above [`MAX_TOKENS`].
    OutOfRange {
        /// What was asked for.
        context_tokens: i64,
    },
    /// Nothing is left for messages.
    NothingLeft {
        /// The account, as in [`Budget::lines`].
        lines: Vec<BudgetLine>,
    },
}

impl BudgetError {
    /// Writes it in one phrase.
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
    /// Computes the window, or what the user allows, minus the reserve for the answer, tools and overheads.
    ///
    /// Without either there is no limit, and a diagnostic says so. A number above the model's window is taken as
    /// it is, with a diagnostic.
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
}

impl Budget {
    /// Returns how many tokens a request and its answer may have together; `None` if nothing limits them.
    pub fn window(&self) -> Option<u32> {
        let first = self.lines.first().filter(|line| line.tokens > 0)?;
        u32::try_from(first.tokens).ok()
    }

    /// Returns how many tokens are kept free for the answer.
    pub fn reserve(&self) -> u32 {
        let line = self.lines.iter().find(|line| line.name.template() == RESERVE);
        line.and_then(|line| u32::try_from(line.tokens.unsigned_abs()).ok()).unwrap_or_default()
    }
}

/// Returns what limits the context, with its name.
fn window(
    model: &ModelFacts,
    request: &BudgetRequest,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<(Phrase, u32)>, BudgetError> {
    match request.context_tokens {
        Some(context_tokens) if context_tokens != 0 => {
            let tokens = u32::try_from(context_tokens).ok().filter(|tokens| *tokens <= MAX_TOKENS);
            let tokens = tokens.ok_or(BudgetError::OutOfRange { context_tokens })?;
            diagnostics.extend(above_window(tokens, model));
            Ok(Some((phrase!("context limit"), tokens)))
        }
        _ => {
            let shown = model.name.as_deref().unwrap_or(&model.model);
            let window = model
                .context_window
                .map(|tokens| (phrase!("context window of `{model}`", model = shown), tokens));
            if window.is_none() {
                diagnostics.push(no_window(model));
            }
            Ok(window)
        }
    }
}

fn above_window(allowed: u32, model: &ModelFacts) -> Option<Diagnostic> {
    let window = model.context_window.filter(|window| allowed > *window)?;
    let message = phrase!(
        "the limit of {allowed} tokens exceeds the context window of `{model}` ({window})",
        allowed,
        model = excerpt(&model.model),
        window
    );
    Some(Diagnostic::warning(codes::ABOVE_WINDOW, message))
}

fn no_window(model: &ModelFacts) -> Diagnostic {
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
