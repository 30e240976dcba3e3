//! What a model answered, in one shape for every dialect.

use std::collections::BTreeSet;

use ctx_types::internal::BlockOrder;
use ctx_types::{
    Content, ContentPart, Diagnostic, Message, MessageExtras, Reasoning, Role, Source, Text, ToolCall, phrase,
};

use crate::codes;

/// An answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// The words; empty if there were only calls.
    pub text: Text,
    /// The words of each block of text, if there are several with something in between.
    pub text_blocks: Vec<Text>,
    /// The order of reasoning, text and calls, if it is not this one.
    pub block_order: Option<BlockOrder>,
    /// What the model thought, as far as the provider shows or signs it.
    pub reasoning: Option<Reasoning>,
    /// The calls that the model asks for, in order; ids are neither blank nor twice the same.
    pub tool_calls: Vec<ToolCall>,
    /// Why the answer ended.
    pub finish: Finish,
    /// What the provider counted.
    pub usage: Option<ReplyUsage>,
    /// What was odd and has been repaired.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reply {
    /// Returns the assistant message that says the same; usage and findings are not part of it.
    pub fn to_message(&self, source: Source) -> Message {
        let mut message = Message::new(Role::Assistant, "", source);
        message.content = self.content();
        message.with_extras(MessageExtras::default().with(|extras| {
            extras.tool_calls = self.tool_calls.clone();
            extras.reasoning = self.reasoning.clone();
            extras.block_order = self.block_order.clone();
        }))
    }

    /// Returns the words: a part for each block of text, if there are several and their words are unchanged.
    pub fn content(&self) -> Content {
        let mut rest = self.text.as_str();
        let is_next = |block: &Text| match rest.strip_prefix(block.as_str()) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        };
        if self.text_blocks.is_empty() || !self.text_blocks.iter().all(is_next) || !rest.is_empty() {
            return Content::Text(self.text.clone());
        }
        Content::Parts(self.text_blocks.iter().cloned().map(ContentPart::Text).collect())
    }

    /// Returns whether there is nothing: no word and no call.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.tool_calls.is_empty()
    }

    /// Gives every call an id of its own, and reports those that had none or one that was taken.
    pub(crate) fn repair_ids(&mut self) {
        let mut ids = CallIds::default();
        let mut is_fine = |call: &ToolCall| !call.id.is_empty() && ids.taken.insert(call.id.to_string());
        let fine: Vec<bool> = self.tool_calls.iter().map(&mut is_fine).collect();
        let calls = self.tool_calls.iter_mut().enumerate().zip(fine);
        for ((index, call), _) in calls.filter(|(_, is_fine)| !is_fine) {
            let (id, finding) = ids.settle(index, "");
            call.id = id.into();
            self.diagnostics.extend(finding);
        }
    }
}

/// The ids of the calls of an answer, which are settled in the order in which the calls begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallIds {
    taken: BTreeSet<String>,
    next: usize,
}

impl CallIds {
    /// Returns the id of a call: the given one, or where that is blank or taken another, with a finding.
    pub(crate) fn settle(&mut self, index: usize, given: &str) -> (String, Option<Diagnostic>) {
        if !given.is_empty() && self.taken.insert(given.to_owned()) {
            return (given.to_owned(), None);
        }
        // `call_` and the first number from the call's place on that is free.
        self.next = self.next.max(index);
        let mut new = format!("call_{}", self.next);
        while self.taken.contains(&new) {
            self.next += 1;
            new = format!("call_{}", self.next);
        }
        self.next += 1;
        self.taken.insert(new.clone());
        let text = phrase!("call {index} of the reply has no id; `{new}` is used", index, new = new.clone());
        (new, Some(Diagnostic::warning(codes::REPLY_REPAIRED, text)))
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model was done.
    #[default]
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The limit of tokens cut it off.
    Length,
    /// The model or the provider refused.
    Refused,
    /// Something else, as the provider calls it.
    Other(String),
}

impl Finish {
    /// Returns its name, as chat completions call it; of something else, what the provider calls it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Other(other) => other,
        }
    }
}

/// What a provider counted, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyUsage {
    /// The request, what came from the cache included.
    pub input: u64,
    /// The part of `input` that came from the cache, if the provider says so.
    pub cached: Option<u64>,
    /// The answer, reasoning included.
    pub output: u64,
}

impl ReplyUsage {
    /// Adds what was counted for another answer; absurd counts stay as large as numbers get.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let cached = other.cached.map(|cached| cached.saturating_add(self.cached.unwrap_or(0)));
        Self {
            input: self.input.saturating_add(other.input),
            cached: cached.or(self.cached),
            output: self.output.saturating_add(other.output),
        }
    }
}
