use std::collections::BTreeSet;

use ctx_types::internal::{closest, excerpt};
use ctx_types::session::Node;
use ctx_types::{Message, Phrase, Source, SourceKind, count_of, phrase};

use crate::inspect::message_trace::{MessageTrace, origins};

const MAX_COMPARED: usize = 10_000;

pub(crate) enum Subject<'a> {
    Number(usize),
    Source { name: String, source: Option<&'a Source> },
}

/// No message, sent or not, has this number or source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
pub struct UnknownMessage {
    /// The requested number or source.
    pub wanted: String,
    /// The most similar existing name.
    pub near: Option<String>,
    /// Number of messages in the context.
    pub messages: usize,
}

impl UnknownMessage {
    /// Formats the error as a translatable phrase.
    pub fn phrase(&self) -> Phrase {
        phrase!("no message `{wanted}`; {help}", wanted = excerpt(&self.wanted), help = self.help())
    }

    fn help(&self) -> Phrase {
        let is_number = self.wanted.bytes().all(|byte| byte.is_ascii_digit());
        match (&self.near, self.messages) {
            (Some(near), _) => phrase!("did you mean `{near}`?", near),
            (None, 0) => phrase!("the context has no messages"),
            (None, 1) if is_number => phrase!("the only message is 0"),
            (None, count) if is_number => {
                phrase!("there are {count}, numbered 0 to {last}", count, last = count - 1)
            }
            (None, count) => phrase!(
                "the request has {messages}; name one by number or by source, for example `history:n1`",
                messages = count_of!(count, "message")
            ),
        }
    }
}

impl<'a> Subject<'a> {
    pub(crate) fn find(traces: &MessageTrace<'a>, wanted: &str) -> Result<Self, UnknownMessage> {
        let count = traces.context.messages.len();
        if let Some(number) = wanted.parse().ok().filter(|number| *number < count) {
            return Ok(Self::Number(number));
        }
        let seen = traces.seen_sources();
        let is_known = seen.contains_key(wanted) || is_stored(traces, wanted);
        // A joined message has its own source, but is a single message.
        if let Some(source) = seen.get(wanted).filter(|source| source.kind == SourceKind::Merged) {
            let number = traces.context.messages.iter().position(|message| message.source == **source);
            if let Some(number) = number {
                return Ok(Self::Number(number));
            }
        }
        if is_known {
            return Ok(Self::Source { name: wanted.to_owned(), source: seen.get(wanted).copied() });
        }
        let stored = traces.session.path().into_iter().take(MAX_COMPARED);
        let stored = stored.filter_map(|node| Some(format!("history:{}", node.id.as_deref()?)));
        let names: Vec<String> = seen.into_keys().chain(stored).collect();
        // An id without its kind is usually unambiguous.
        let id = |name: &&String| name.split_once(':').is_some_and(|(_, id)| id == wanted);
        let near = names.iter().find(id).map(String::as_str);
        let near = near.or_else(|| closest(wanted, names.iter().map(String::as_str)));
        Err(UnknownMessage { wanted: wanted.to_owned(), near: near.map(str::to_owned), messages: count })
    }
}

/// Finds subjects that no processor saw.
fn is_stored(traces: &MessageTrace<'_>, wanted: &str) -> bool {
    match wanted.split_once(':') {
        Some(("history", id)) => traces.session.node(id).is_some_and(|node| !node.is_summary()),
        Some(("summary", id)) => traces.session.node(id).is_some_and(Node::is_summary),
        Some(("worldbook", id)) => {
            let scan = traces.trace.scan();
            scan.is_some_and(|scan| scan.set.members().iter().any(|member| &*member.id == id))
        }
        _ => false,
    }
}

pub(crate) fn carriers(messages: &[Message], wanted: &str) -> BTreeSet<usize> {
    let is_carrier = |message: &Message| origins(message).any(|source| is_named(source, wanted));
    let carriers = messages.iter().enumerate().filter(|(_, message)| is_carrier(message));
    carriers.map(|(at, _)| at).collect()
}

fn is_named(source: &Source, wanted: &str) -> bool {
    wanted.starts_with(source.kind.as_str()) && source.to_string() == wanted
}
