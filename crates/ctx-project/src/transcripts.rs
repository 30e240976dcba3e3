//! Transcripts of coding agents in the place of conversations.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

use ctx_compress::request::Meter;
use ctx_engine::{Format, Imported};
use ctx_traffic::{
    CompactionLoss, LossAnalysis, Transcript, TranscriptFormat, TranscriptReader, UnreadReason,
};
use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Message, Phrase, count_of, phrase};

use crate::codes;
use crate::error::Result;
use crate::files;
use crate::request_log;

/// Reads a transcript; `None` for other files.
pub fn read(bytes: &[u8]) -> Option<Transcript> {
    // Lines of other encodings are reported one by one.
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    Transcript::read(&text)
}

/// Reads a transcript of any size; `None` for other files.
pub fn open(path: &Path) -> Result<Option<Transcript>> {
    let Some(format) = format_of(path) else {
        // A document, a database, or a folder; larger files are logs of requests.
        let bytes = if files::is_stdin(path) { None } else { files::read(path).ok() };
        return Ok(bytes.and_then(|bytes| read(&bytes)));
    };
    let mut reader = TranscriptReader::new(format);
    request_log::each_line(&request_log::log_files(path)?, &mut |line, _| {
        match line {
            Some(line) => reader.push(&String::from_utf8_lossy(line)),
            None => reader.push_too_long(),
        }
        ControlFlow::Continue(())
    })?;
    Ok(Some(reader.finish()))
}

/// Returns the format of a transcript in lines, by its first MiB.
fn format_of(path: &Path) -> Option<TranscriptFormat> {
    let mut start = Vec::new();
    if files::is_stdin(path) || !path.is_file() {
        return None;
    }
    File::open(path).ok()?.take(1 << 20).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let is_line = |line: &str| line.starts_with('{') && line.trim_end().ends_with('}');
    TranscriptFormat::detect(&start).filter(|_| start.lines().next().is_some_and(is_line))
}

/// Facts that the compactions of a log lost, with diagnostics.
#[derive(Debug, Default)]
pub struct LogLosses {
    /// The lost facts of each compaction.
    pub losses: Vec<CompactionLoss>,
    /// Missing parts and unread records of a transcript.
    pub diagnostics: Vec<Diagnostic>,
}

impl LogLosses {
    /// Reads a transcript, a request log, or a folder of request logs.
    pub fn read(path: &Path, meter: &Meter<'_>) -> Result<Self> {
        if let Some(transcript) = open(path)? {
            return Ok(Self { losses: transcript.losses(meter), diagnostics: findings(&transcript) });
        }
        let mut analysis = LossAnalysis::default();
        request_log::each_line(&request_log::log_files(path)?, &mut |line, _| {
            match line {
                Some(line) => analysis.push(&String::from_utf8_lossy(line)),
                None => analysis.push_too_long(),
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self { losses: analysis.finish(meter), diagnostics: Vec::new() })
    }
}

/// Returns whether a coding agent wrote a message by itself, such as a list of its tools. Requests repeat these messages.
pub fn is_reminder(message: &Message) -> bool {
    let text = message.text();
    text.starts_with("<system-reminder>") && text.trim_end().ends_with("</system-reminder>")
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
