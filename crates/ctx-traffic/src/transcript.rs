//! Transcripts of coding agents: messages, compactions, and the parts that are missing.

mod claude_code;
mod codex;
mod gemini_cli;
mod opencode;
mod rebuilt;
mod tree;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use ctx_types::session::{NodeId, Session};
use ctx_types::{Message, Phrase, phrase};
use serde::Serialize;
use serde_json::Value;

use crate::usage::Usage;
use claude_code::ClaudeCode;
use codex::Codex;
use gemini_cli::GeminiCli;
use opencode::OpenCode;
use rebuilt::RebuiltRequests;
use tree::Tree;

/// Maximum length of a line in bytes. Longer lines are reported and not read.
pub const MAX_TRANSCRIPT_LINE: usize = 64 << 20;

/// Maximum number of unread records that are listed.
const MAX_UNREAD: usize = 1_000;

/// A transcript of a coding agent.
///
/// The conversation is a session. Its summaries hide the messages that they replaced; rewound turns are branches.
///
/// ```
/// use ctx_traffic::Transcript;
///
/// let log = r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Which port?"}}
/// {"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"8123"}]}}"#;
/// let transcript = Transcript::read(log).unwrap();
/// assert_eq!(transcript.messages()[1].text(), "8123");
/// ```
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The program that wrote it.
    pub format: TranscriptFormat,
    /// The conversation of the main agent.
    pub session: Session,
    /// Compactions of the main conversation, in the order of the transcript.
    pub compactions: Vec<Compaction>,
    /// Conversations of sub-agents.
    pub agents: Vec<SubAgent>,
    /// Tokens of each response, counted once.
    pub responses: Vec<ResponseUsage>,
    /// Parts of the requests that are not in the transcript.
    pub missing: BTreeSet<MissingPart>,
    /// Number of records.
    pub records: u64,
    /// The first 1,000 records that were not read.
    pub unread: Vec<UnreadRecord>,
    /// Number of records that were not read.
    pub unread_count: u64,
    requests: RebuiltRequests,
}

impl Transcript {
    /// Reads a transcript; `None` for other texts. O(bytes).
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let format = TranscriptFormat::detect(text)?;
        let mut reader = TranscriptReader::new(format);
        if is_one_document(text) {
            reader.push(text);
        } else {
            text.lines().for_each(|line| reader.push(line));
        }
        Some(reader.finish())
    }

    /// Returns the messages of the active branch, also those that summaries hide.
    pub fn messages(&self) -> Vec<Message> {
        let path = self.session.path().into_iter();
        path.map(|node| node.to_message(node.id.as_ref().expect("nodes of a path have ids"))).collect()
    }

    /// Rebuilds the requests that the agent logged: lines for [`LogAnalysis::push`](crate::LogAnalysis::push). The
    /// iterator rebuilds one at a time, because together they are much longer than the transcript.
    pub fn requests(&self) -> impl Iterator<Item = String> {
        self.requests.lines()
    }
}

/// A program that writes transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// opencode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Gemini CLI.
    GeminiCli,
}

impl TranscriptFormat {
    /// Returns the format of a text, by its first 20 lines; `None` for other texts.
    pub fn detect(text: &str) -> Option<Self> {
        const MARKS: [&str; 7] = [
            "\"parentUuid\"",
            "\"leafUuid\"",
            "\"sessionId\"",
            "\"payload\"",
            "\"sessionID\"",
            "\"info\"",
            "\"$set\"",
        ];
        let start = text.trim_start_matches('\u{feff}').trim_start();
        if !start.starts_with(['{', '[']) {
            return None;
        }
        let begin = String::from_utf8_lossy(&start.as_bytes()[..start.len().min(65_536)]);
        if !MARKS.iter().any(|mark| begin.contains(mark)) {
            return None;
        }
        if is_one_document(start) {
            return Self::from_record(&serde_json::from_str(start).ok()?);
        }
        let lines = start.lines().take(20).filter_map(|line| serde_json::from_str(line).ok());
        lines.into_iter().find_map(|record| Self::from_record(&record))
    }

    fn from_record(record: &Value) -> Option<Self> {
        if claude_code::is_record(record) {
            Some(Self::ClaudeCode)
        } else if codex::is_record(record) {
            Some(Self::Codex)
        } else if opencode::is_record(record) {
            Some(Self::OpenCode)
        } else if gemini_cli::is_record(record) {
            Some(Self::GeminiCli)
        } else {
            None
        }
    }

    /// Returns the name of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::OpenCode => "opencode",
            Self::GeminiCli => "Gemini CLI",
        }
    }
}

impl fmt::Display for TranscriptFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether a text is one JSON document over several lines, or on one.
fn is_one_document(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.starts_with('[') || !first.trim_end().ends_with('}')
}

/// A place where older messages were replaced.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// Number of the line, from 1.
    pub line: u64,
    /// Time as written.
    pub at: Option<Arc<str>>,
    /// Trigger, such as `auto` or `manual`.
    pub trigger: Option<Arc<str>>,
    /// The summary in the session.
    pub summary: NodeId,
    /// Messages before the compaction that did not change.
    pub kept: Vec<NodeId>,
    /// Messages after the summary that the agent added by itself, such as reminders.
    pub injected: Vec<NodeId>,
    /// Whether the summary is encrypted or not in the transcript.
    pub is_unreadable: bool,
}

/// A conversation of a sub-agent.
#[derive(Clone, Debug)]
pub struct SubAgent {
    /// Id of the agent.
    pub id: Arc<str>,
    /// Id of the tool call that started it.
    pub tool_call: Option<Arc<str>>,
    /// Its conversation.
    pub session: Session,
}

/// Tokens of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResponseUsage {
    /// Id of the response, if it has one.
    pub id: Option<Arc<str>>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// Time as written.
    pub at: Option<Arc<str>>,
    /// The tokens.
    pub usage: Usage,
}

/// A part of the requests that a transcript does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPart {
    /// The system prompt.
    SystemPrompt,
    /// The system block that names the client.
    BillingBlock,
    /// The definitions of the tools.
    ToolSchemas,
    /// Texts that the agent added to messages.
    Reminders,
    /// Parameters, such as the thinking budget.
    Parameters,
    /// Headers and metadata.
    Headers,
    /// The request that wrote a summary.
    SummaryRequest,
    /// The text of an encrypted summary.
    Summary,
    /// Messages before a fork, which are in the transcript of the parent.
    History,
}

impl MissingPart {
    /// Returns a description.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::SystemPrompt => phrase!("system prompt"),
            Self::BillingBlock => phrase!("billing block"),
            Self::ToolSchemas => phrase!("tool definitions"),
            Self::Reminders => phrase!("reminders"),
            Self::Parameters => phrase!("parameters"),
            Self::Headers => phrase!("headers"),
            Self::SummaryRequest => phrase!("the requests for summaries"),
            Self::History => phrase!("messages before the fork"),
            Self::Summary => phrase!("texts of encrypted summaries"),
        }
    }
}

/// A record that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadRecord {
    /// Number of the line, from 1.
    pub line: u64,
    /// Why it was not read.
    pub reason: UnreadReason,
}

/// Why a record was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum UnreadReason {
    /// The line is not a JSON object, or too deep. The last line may be truncated.
    NoJson,
    /// The line is longer than [`MAX_TRANSCRIPT_LINE`].
    TooLong,
    /// The type of the record is unknown.
    UnknownType(String),
    /// The record was read already.
    Repeated,
    /// The record names a parent that is not before it. It follows the record before it.
    UnknownParent,
    /// The request refers to messages that are not in the transcript.
    IncompleteRequest,
    /// The compaction hides more messages than are remembered.
    TooManyMessages,
}

/// Reads a transcript line by line.
#[derive(Debug)]
pub struct TranscriptReader {
    format: TranscriptFormat,
    log: RecordLog,
    records: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    ClaudeCode(Box<ClaudeCode>),
    Codex(Box<Codex>),
    OpenCode(Box<OpenCode>),
    GeminiCli(Box<GeminiCli>),
}

impl TranscriptReader {
    /// Creates a reader of a format.
    pub fn new(format: TranscriptFormat) -> Self {
        let state = match format {
            TranscriptFormat::ClaudeCode => State::ClaudeCode(Box::default()),
            TranscriptFormat::Codex => State::Codex(Box::default()),
            TranscriptFormat::OpenCode => State::OpenCode(Box::default()),
            TranscriptFormat::GeminiCli => State::GeminiCli(Box::default()),
        };
        Self { format, log: RecordLog::default(), records: 0, state }
    }

    /// Adds a line, or a whole document.
    pub fn push(&mut self, line: &str) {
        if line.len() > MAX_TRANSCRIPT_LINE {
            return self.push_too_long();
        }
        self.log.line += 1;
        if line.trim().is_empty() {
            return;
        }
        let Ok(record @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(line) else {
            return self.log.report(UnreadReason::NoJson);
        };
        self.records += 1;
        match &mut self.state {
            State::ClaudeCode(state) => state.push(record, &mut self.log),
            State::Codex(state) => state.push(record, &mut self.log),
            State::OpenCode(state) => state.push(record, &mut self.log),
            State::GeminiCli(state) => state.push(record, &mut self.log),
        }
    }

    /// Adds a line that was not read because it is too long.
    pub fn push_too_long(&mut self) {
        self.log.line += 1;
        self.log.report(UnreadReason::TooLong);
    }

    /// Returns the transcript.
    pub fn finish(mut self) -> Transcript {
        let found = match self.state {
            State::ClaudeCode(state) => state.finish(&mut self.log),
            State::Codex(state) => state.finish(),
            State::OpenCode(state) => state.finish(),
            State::GeminiCli(state) => state.finish(),
        };
        if found.main.is_over_limit || found.agents.iter().any(|agent| agent.tree.is_over_limit) {
            self.log.report(UnreadReason::TooManyMessages);
        }
        let (session, compactions) = found.main.finish(found.id.as_deref().unwrap_or("transcript"));
        let mut missing = found.missing;
        if !compactions.is_empty() {
            missing.insert(MissingPart::SummaryRequest);
        }
        if compactions.iter().any(|compaction| compaction.is_unreadable) {
            missing.insert(MissingPart::Summary);
        }
        let agents = found.agents.into_iter().map(|agent| {
            let (session, _) = agent.tree.finish(&agent.id);
            SubAgent { id: agent.id.into(), tool_call: agent.tool_call.map(Into::into), session }
        });
        Transcript {
            format: self.format,
            session,
            compactions,
            agents: agents.collect(),
            responses: found.responses,
            missing,
            records: self.records,
            unread: self.log.unread,
            unread_count: self.log.count,
            requests: found.requests,
        }
    }
}

/// Result of a reader of one format.
#[derive(Debug, Default)]
struct Found {
    id: Option<String>,
    main: Tree,
    agents: Vec<FoundAgent>,
    responses: Vec<ResponseUsage>,
    missing: BTreeSet<MissingPart>,
    requests: RebuiltRequests,
}

#[derive(Debug)]
struct FoundAgent {
    id: String,
    tool_call: Option<String>,
    tree: Tree,
}

/// The current line, and the records that were not read.
#[derive(Debug, Default)]
struct RecordLog {
    line: u64,
    unread: Vec<UnreadRecord>,
    count: u64,
}

impl RecordLog {
    fn report(&mut self, reason: UnreadReason) {
        self.count += 1;
        if self.unread.len() < MAX_UNREAD {
            self.unread.push(UnreadRecord { line: self.line, reason });
        }
    }

    fn report_type(&mut self, kind: Option<&str>) {
        let kind: String = kind.unwrap_or_default().chars().take(100).collect();
        self.report(UnreadReason::UnknownType(kind));
    }
}

/// Returns a field that is a text.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Takes a field out of an object.
fn take(value: Option<&mut Value>, key: &str) -> Value {
    value.and_then(|value| value.get_mut(key)).map(Value::take).unwrap_or_default()
}
