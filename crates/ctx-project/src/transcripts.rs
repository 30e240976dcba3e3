//! Transcripts of coding agents in the place of conversations.

use std::borrow::Cow;

use ctx_engine::{Format, Imported};
use ctx_traffic::{Transcript, UnreadReason};
use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Phrase, count_of, phrase};

use crate::codes;

/// Reads a transcript; `None` for other files.
pub fn read(bytes: &[u8]) -> Option<Transcript> {
    // Lines of other encodings are reported one by one.
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    Transcript::read(&text)
}

/// Returns the conversation of a transcript, with diagnostics.
pub(crate) fn conversation(transcript: Transcript, name: &str) -> Imported<Session> {
    let diagnostics = findings(&transcript).into_iter().map(|found| found.in_document(name)).collect();
    Imported { value: transcript.session, format: Format::AgentTranscript, diagnostics }
}

/// Reports the missing parts of a transcript, and its unread records.
pub fn findings(transcript: &Transcript) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let parts = transcript.missing.iter().map(|part| part.phrase());
    if !transcript.missing.is_empty() {
        let message = phrase!(
            "the transcript of {agent} does not contain: {parts}",
            agent = transcript.format.as_str(),
            parts = Argument::list(parts, Divider::Comma)
        );
        let help = phrase!("record complete requests with `ctx tap`");
        found.push(Diagnostic::info(codes::MISSING_PARTS, message).with_help(help));
    }
    if let Some(first) = transcript.unread.first() {
        let message = phrase!(
            "{records} not read; line {line}: {reason}",
            records = count_of!(usize::try_from(transcript.unread_count).unwrap_or(usize::MAX), "record"),
            line = usize::try_from(first.line).unwrap_or(usize::MAX),
            reason = reason(&first.reason)
        );
        found.push(Diagnostic::warning(codes::UNREAD_RECORDS, message));
    }
    found
}

fn reason(reason: &UnreadReason) -> Phrase {
    match reason {
        UnreadReason::NoJson => phrase!("not a JSON object"),
        UnreadReason::TooLong => phrase!("too long"),
        UnreadReason::UnknownType(kind) => phrase!("unknown type `{kind}`", kind = excerpt(kind)),
        UnreadReason::Repeated => phrase!("repeats an earlier record"),
        UnreadReason::UnknownParent => phrase!("its parent is missing"),
        UnreadReason::IncompleteRequest => phrase!("the request refers to missing messages"),
        UnreadReason::TooManyMessages => phrase!("too many compacted messages"),
    }
}
