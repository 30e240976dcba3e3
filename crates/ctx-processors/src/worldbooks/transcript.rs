use std::ops::Range;
use std::sync::Arc;

use ctx_macros::Env;
use ctx_pipeline::PipelineContext;
use ctx_types::session::Session;
use ctx_types::{Content, Message, Phrase, Place, Role, Source, SourceKind, Text, phrase};
use ctx_worldbook::ScanMessage;

use crate::session_loader::message_at;
use crate::window::{InstructingInput, LoadedWindow};

/// The newest messages, up to the scan depth.
///
/// Excludes tool results and calls without text. Includes silent messages with their speakers. Unloaded
/// messages are searched as stored.
pub(crate) struct Transcript {
    /// Oldest first.
    pub(crate) messages: Vec<ScanMessage>,
    pub(crate) sources: Vec<Source>,
    /// Number of messages in the conversation.
    pub(crate) length: u64,
}

impl Transcript {
    pub(crate) fn new(cx: &PipelineContext<'_>, depth: usize, names: Option<&Env>) -> Self {
        let mut transcript = Self { messages: Vec::new(), sources: Vec::new(), length: 0 };
        let has_instruction = cx.blackboard.get::<InstructingInput>().is_some();
        let is_instruction = |message: &Message| has_instruction && message.source.kind == SourceKind::Input;
        let drafted = cx.draft.messages();
        let spoken = drafted.iter().rev();
        let spoken = spoken.filter(|message| message.place != Place::Pinned && !is_instruction(message));
        let window = cx.blackboard.get::<LoadedWindow>().copied().unwrap_or_default();
        let skipped = window.skipped;
        let pinned = drafted.iter().filter(|message| message.place == Place::Pinned).count();
        transcript.length = (drafted.len() - pinned - usize::from(has_instruction) + skipped) as u64;
        for message in spoken {
            if transcript.messages.len() == depth {
                break;
            }
            transcript.push(message, names);
        }
        if skipped > 0 && transcript.messages.len() < depth {
            transcript.push_stored(cx.inputs.session, window.unloaded(), depth, names);
        }
        transcript.messages.reverse();
        transcript.sources.reverse();
        transcript
    }

    /// A scan does not search inserted texts as messages.
    pub(crate) fn remove_inserted(&mut self) {
        let is_inserted = |source: &Source| matches!(source.kind, SourceKind::Preset | SourceKind::Worldbook);
        let (sources, messages): (Vec<Source>, Vec<ScanMessage>) = std::mem::take(&mut self.sources)
            .into_iter()
            .zip(std::mem::take(&mut self.messages))
            .filter(|(source, _)| !is_inserted(source))
            .unzip();
        self.sources = sources;
        self.messages = messages;
    }

    fn push_stored(&mut self, session: &Session, skipped: Range<usize>, depth: usize, names: Option<&Env>) {
        for position in skipped.rev() {
            if self.messages.len() == depth {
                break;
            }
            if let Some(message) = message_at(session, position) {
                self.push(&message, names);
            }
        }
    }

    fn push(&mut self, message: &Message, names: Option<&Env>) {
        let is_wordless = message.content.is_blank()
            && (message.content.is_empty() || !message.tool_calls.is_empty())
            && !message.is_silent;
        if message.role == Role::Tool || is_wordless {
            return;
        }
        let text = match &message.content {
            Content::Text(text) => text.clone(),
            Content::Parts(_) => Text::from(&*message.text()),
        };
        let name = names.and_then(|names| message.name.clone().or_else(|| speaker(message.role, names)));
        self.messages.push(ScanMessage { name, text });
        self.sources.push(message.source.clone());
    }

    pub(crate) fn name(&self, newest: usize) -> Phrase {
        message_name(&self.sources, newest)
    }
}

pub(crate) fn message_name(sources: &[Source], newest: usize) -> Phrase {
    let at = sources.len().checked_sub(newest + 1);
    at.and_then(|at| sources.get(at))
        .map_or_else(|| phrase!("a message"), |source| phrase!("{source}", source = source.to_string()))
}

fn speaker(role: Role, names: &Env) -> Option<Arc<str>> {
    let name = match role {
        Role::User => names.user.as_ref(),
        Role::Assistant => names.char.as_ref(),
        _ => None,
    };
    name.map(|name| Arc::from(name.as_str()))
}
