//! Summaries by asking a model, through the same client as everything else.

use std::sync::Arc;

use ctx_pipeline::Cancel;
use ctx_tokens::ModelTable;
use ctx_types::ports::{
    PortError, PortErrorKind, PortFuture, Summarizer, SummaryAnswer, SummaryFinish, SummaryRequest,
};
use ctx_types::{Message, Role, Source, SourceKind, Trust};
use ctx_wire::{FailureKind, Finish, Options, Reply};
use serde_json::Value;

use crate::error::ClientError;
use crate::model::{ChatModel, RequestFailure};
use crate::turn::{RequestShape, Target};

/// Asks a model for summaries.
#[derive(Clone)]
pub struct ModelSummarizer {
    model: Arc<dyn ChatModel>,
    shape: RequestShape,
    profile: Option<Arc<str>>,
    window: Option<u32>,
    models: Arc<ModelTable>,
}

impl std::fmt::Debug for ModelSummarizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelSummarizer")
            .field("shape", &self.shape)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl ModelSummarizer {
    /// Asks through this; `shape` names the model that is asked unless a request names another.
    pub fn new(model: Arc<dyn ChatModel>, shape: RequestShape) -> Self {
        Self { model, shape, profile: None, window: None, models: Arc::new(ModelTable::builtin()) }
    }

    /// Sets how many tokens a prompt and its answer may have together.
    #[must_use]
    pub const fn with_window(mut self, window: Option<u32>) -> Self {
        self.window = window;
        self
    }

    /// Sets the table with the request rules of models. By default, the built-in table.
    #[must_use]
    pub fn with_models(mut self, models: Arc<ModelTable>) -> Self {
        self.models = models;
        self
    }

    /// Sets the name of the profile through which is asked, which may stand before the name of a model.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<str>>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// The request for a summary: no tools, one message of the user.
    fn body(&self, request: &SummaryRequest) -> Vec<u8> {
        let mut shape = self.shape.clone();
        if let Some(model) = request.model.as_deref() {
            let stripped =
                self.profile.as_deref().and_then(|profile| model.strip_prefix(profile)?.strip_prefix(':'));
            stripped.unwrap_or(model).clone_into(&mut shape.model);
        }
        if let Some(temperature) = request.temperature {
            shape.parameters.insert("temperature".to_owned(), Value::from(temperature));
        }
        if let Some(most) = request.max_tokens {
            shape.parameters.insert("max_tokens".to_owned(), Value::from(most));
        }
        let source = Source::new(SourceKind::Summary, Trust::Preset);
        let prompt = Message::new(Role::User, request.prompt.clone(), source);
        let rules = self.models.lookup(&shape.model).0.request;
        let options = Options { rules, ..Options::default() };
        let target = Target { dialect: self.model.dialect(), model: "", options };
        shape.encode(&target, &[prompt], &[]).bytes
    }
}

impl Summarizer for ModelSummarizer {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        Box::pin(async move {
            // Whoever gives up drops the future, which ends the request.
            let cancel = Cancel::default();
            let asked = self.model.ask(self.body(request).into(), &mut |_| (), &cancel).await;
            asked.map(answer).map_err(failure)
        })
    }

    fn window(&self) -> Option<u32> {
        self.window
    }
}

fn answer(reply: Reply) -> SummaryAnswer {
    let finish = match reply.finish {
        _ if !reply.tool_calls.is_empty() => SummaryFinish::ToolCall,
        Finish::Length => SummaryFinish::Length,
        Finish::Refused => SummaryFinish::Refused,
        _ => SummaryFinish::Complete,
    };
    SummaryAnswer { text: reply.text, finish }
}

fn failure(failure: RequestFailure) -> PortError {
    let kind = match &failure.cause {
        ClientError::Cancelled => PortErrorKind::Cancelled,
        ClientError::TimedOut { .. } => PortErrorKind::TimedOut,
        ClientError::Config(_) => PortErrorKind::Denied,
        ClientError::TooLarge { .. } => PortErrorKind::Invalid,
        cause => match cause.failure().map(|failure| failure.kind) {
            Some(FailureKind::Overflow) => PortErrorKind::TooLarge,
            Some(FailureKind::Unauthorized | FailureKind::QuotaExhausted) => PortErrorKind::Denied,
            Some(FailureKind::NotFound) => PortErrorKind::NotFound,
            Some(FailureKind::Refused | FailureKind::Unreadable) => PortErrorKind::Invalid,
            _ => PortErrorKind::Unavailable,
        },
    };
    PortError::new(kind, failure.cause.phrase()).with_source(failure)
}
