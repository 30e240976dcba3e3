//! Facts that compactions lost, and how often they were used later.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ctx_compress::quality::{FactKind, FactUses, Place, QualityReport};
use ctx_compress::request::{CompressionPipeline, Meter, PassOutcome, Protection, RequestConfig};
use ctx_preset_import::{RequestApi, take_request_messages};
use ctx_types::Message;
use ctx_types::session::{Node, NodeId};
use ctx_wire::Dialect;
use serde::Serialize;
use serde_json::Value;

use crate::blocks::hash_of;
use crate::entry::LogLine;
use crate::transcript::Transcript;

/// Minimum number of messages of a request before a compaction. Smaller requests are titles, checks, and the like.
const MIN_MESSAGES: usize = 4;

/// Number of conversations of a log whose latest request is remembered.
const MAX_CONVERSATIONS: usize = 16;

/// Facts that a compaction lost.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionLoss {
    /// Number of the line, from 1.
    pub line: u64,
    /// Time as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Arc<str>>,
    /// Trigger, such as `auto` or `manual`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Arc<str>>,
    /// Estimated tokens of the messages before it.
    pub tokens_before: u64,
    /// Estimated tokens of the summary and the messages that stayed.
    pub tokens_after: u64,
    /// Number of facts that stayed.
    pub kept: usize,
    /// Lost facts, the most used first.
    pub lost: Vec<LostFact>,
    /// Whether the summary cannot be read. Then `lost` is empty.
    pub is_unknown: bool,
    /// Number of facts that a digest of `ctx` of the same size has; `None` if the tokens are too few for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by_digest: Option<usize>,
}

/// A fact that a compaction lost.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LostFact {
    /// The kind.
    pub kind: FactKind,
    /// Its words at its first place.
    pub text: String,
    /// Its first place in the messages before.
    pub place: Place,
    /// Number of its places in the messages before.
    pub count: usize,
    /// Number of its places after the compaction.
    pub uses: usize,
    /// Whether a digest of `ctx` of the same size has it.
    pub is_in_digest: bool,
}

/// Compares the messages before a compaction with those that replace them. O(bytes).
///
/// ```
/// use ctx_compress::quality::FactUses;
/// use ctx_compress::request::Meter;
/// use ctx_traffic::compaction_loss;
/// use ctx_types::{Message, Role, Source};
///
/// let said = |text: &str| [Message::new(Role::User, text, Source::history("n1", Role::User))];
/// let mut later = FactUses::default();
/// later.add(&said("Which token? Was it ZX-4471?"));
/// let before = said("The service listens on port 8123 and has the token ZX-4471.");
/// let loss = compaction_loss(&before, &said("A port and a token were chosen."), &later, &Meter::estimate());
/// assert_eq!((&*loss.lost[0].text, loss.lost[0].uses), ("ZX-4471", 1));
/// ```
pub fn compaction_loss(
    before: &[Message],
    after: &[Message],
    later: &FactUses,
    meter: &Meter<'_>,
) -> CompactionLoss {
    let report = QualityReport::with_uses(before, after, later);
    let (tokens_before, tokens_after) = (meter.messages(before), meter.messages(after));
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(tokens_after)).with_meter(meter.clone());
    let digest = pipeline.compress(before, Protection::LastUserMessage);
    let is_possible = !matches!(digest.report.outcome, PassOutcome::Infeasible(_));
    let digest = is_possible.then(|| QualityReport::of(before, &digest.messages));
    let key = |place: &Place| (place.message, place.call, place.start);
    let missing: HashSet<_> =
        digest.iter().flat_map(|digest| &digest.lost).map(|lost| key(&lost.places[0])).collect();
    let lost = report.lost.into_iter().map(|mut fact| {
        let place = fact.places.swap_remove(0);
        LostFact {
            kind: fact.kind,
            text: fact.text,
            count: fact.count,
            uses: fact.uses.unwrap_or(0),
            is_in_digest: digest.is_some() && !missing.contains(&key(&place)),
            place,
        }
    });
    let mut lost: Vec<LostFact> = lost.collect();
    lost.sort_by_key(|fact| std::cmp::Reverse((fact.uses, fact.count)));
    let kept_by_digest = digest.map(|digest| digest.kept.len());
    CompactionLoss {
        tokens_before,
        tokens_after,
        kept: report.kept.len(),
        lost,
        kept_by_digest,
        ..CompactionLoss::default()
    }
}

impl Transcript {
    /// Returns the lost facts of each compaction of the main conversation. O(bytes).
    pub fn losses(&self, meter: &Meter<'_>) -> Vec<CompactionLoss> {
        let message = |id: &NodeId| self.session.node(id).map(|node| node.to_message(id));
        let read =
            |ids: &mut dyn Iterator<Item = &NodeId>| -> Vec<Message> { ids.filter_map(message).collect() };
        let mut later = FactUses::default();
        let mut losses = Vec::with_capacity(self.compactions.len());
        let mut segments = self.segments();
        for compaction in self.compactions.iter().rev() {
            later.add(&read(&mut segments.pop().unwrap_or_default().iter()));
            let summary = &compaction.summary;
            let hidden = self.session.node(summary).map(Node::summarized_ids).unwrap_or_default();
            let mut before: Vec<&NodeId> = hidden.iter().chain(&compaction.kept).collect();
            before.sort_by_key(|id| self.session.depth(id));
            let before = read(&mut before.into_iter());
            let after = std::iter::once(summary).chain(&compaction.kept).chain(&compaction.injected);
            let after = read(&mut { after });
            let found = if compaction.is_unreadable {
                let (tokens_before, tokens_after) = (meter.messages(&before), meter.messages(&after));
                CompactionLoss { tokens_before, tokens_after, is_unknown: true, ..CompactionLoss::default() }
            } else {
                compaction_loss(&before, &after, &later, meter)
            };
            let (at, trigger) = (compaction.at.clone(), compaction.trigger.clone());
            losses.push(CompactionLoss { line: compaction.line, at, trigger, ..found });
        }
        losses.reverse();
        losses
    }

    /// Returns the messages of the active branch after each compaction, up to the next.
    fn segments(&self) -> Vec<Vec<NodeId>> {
        let mut owners = HashMap::new();
        for (index, compaction) in self.compactions.iter().enumerate() {
            owners.insert(&compaction.summary, Owner::Summary(index));
            // They were written before the summary, which the session has before them.
            owners.extend(compaction.kept.iter().map(|id| (id, Owner::Kept(index))));
        }
        let mut segments = vec![Vec::new(); self.compactions.len()];
        let mut current = None;
        for node in self.session.path() {
            let Some(id) = &node.id else { continue };
            let place = match owners.get(id) {
                Some(Owner::Summary(index)) => {
                    current = Some(*index);
                    None
                }
                Some(Owner::Kept(index)) if current == Some(*index) => index.checked_sub(1),
                _ => current,
            };
            if let Some(place) = place {
                segments[place].push(id.clone());
            }
        }
        segments
    }
}

#[derive(Clone, Copy)]
enum Owner {
    Summary(usize),
    Kept(usize),
}

/// Finds the compactions of a log of requests: most messages of a conversation are gone in its next request.
#[derive(Debug, Default)]
pub struct LossAnalysis {
    line: u64,
    /// The most recent is last.
    conversations: Vec<Conversation>,
    found: Vec<FoundLoss>,
}

#[derive(Debug)]
struct Conversation {
    thread: Option<String>,
    messages: Vec<Message>,
    hashes: HashSet<u64>,
    /// The last compaction in it.
    loss: Option<usize>,
}

#[derive(Debug)]
struct FoundLoss {
    line: u64,
    at: Option<i64>,
    before: Vec<Message>,
    after: Vec<Message>,
    later: Vec<Message>,
    /// The compaction before it in the same conversation.
    previous: Option<usize>,
}

impl LossAnalysis {
    /// Adds the next line of a log. A line that holds no request is ignored.
    pub fn push(&mut self, line: &str) {
        self.line += 1;
        let Some((entry, messages)) = read_messages(line) else { return };
        let hashes: Vec<u64> = messages.iter().map(hash_of_message).collect();
        let shared = |known: &Conversation| hashes.iter().filter(|hash| known.hashes.contains(hash)).count();
        let candidates = self.conversations.iter().enumerate();
        let candidates = candidates.filter(|(_, known)| known.thread == entry.thread);
        let nearest = candidates.map(|(index, known)| (shared(known), index)).max();
        let nearest =
            nearest.filter(|(shared, _)| *shared > 0 || entry.thread.is_some() || is_summarized(&messages));
        let Some((shared, index)) = nearest else {
            return self.remember(Conversation {
                thread: entry.thread,
                hashes: hashes.into_iter().collect(),
                messages,
                loss: None,
            });
        };
        let known = &self.conversations[index];
        let is_small = messages.len() < MIN_MESSAGES && !is_summarized(&messages);
        let is_compacted = known.messages.len() >= MIN_MESSAGES
            && 2 * shared < known.messages.len()
            && messages.len() < known.messages.len();
        if is_compacted && is_small {
            // A title or another small request of the same client.
            return;
        }
        let mut known = self.conversations.remove(index);
        if is_compacted {
            let before = std::mem::take(&mut known.messages);
            let (after, later) = (messages.clone(), Vec::new());
            self.found.push(FoundLoss {
                line: self.line,
                at: entry.at,
                before,
                after,
                later,
                previous: known.loss,
            });
            known.loss = Some(self.found.len() - 1);
        } else if let Some(loss) = known.loss {
            let new = messages.iter().zip(&hashes).filter(|(_, hash)| !known.hashes.contains(hash));
            self.found[loss].later.extend(new.map(|(message, _)| message.clone()));
        }
        (known.messages, known.hashes) = (messages, hashes.into_iter().collect());
        self.remember(known);
    }

    fn remember(&mut self, conversation: Conversation) {
        if self.conversations.len() >= MAX_CONVERSATIONS {
            self.conversations.remove(0);
        }
        self.conversations.push(conversation);
    }

    /// Adds a line that was not read because it is too long.
    pub const fn push_too_long(&mut self) {
        self.line += 1;
    }

    /// Returns the lost facts of each compaction, in the order of the log.
    pub fn finish(self, meter: &Meter<'_>) -> Vec<CompactionLoss> {
        // The newest first: its later messages are also later than the compactions before it.
        let mut uses: HashMap<usize, FactUses> = HashMap::new();
        let mut losses = Vec::with_capacity(self.found.len());
        for (index, found) in self.found.iter().enumerate().rev() {
            let mut later = uses.remove(&index).unwrap_or_default();
            later.add(&found.later);
            let loss = compaction_loss(&found.before, &found.after, &later, meter);
            let at = found.at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
            losses.push(CompactionLoss { line: found.line, at: at.map(|at| at.to_string().into()), ..loss });
            uses.extend(found.previous.map(|previous| (previous, later)));
        }
        losses.reverse();
        losses
    }
}

/// Reads the messages of a request, without its system prompt.
fn read_messages(line: &str) -> Option<(LogLine<'_>, Vec<Message>)> {
    let entry = LogLine::read(line).ok()?;
    let body: Value = serde_json::from_str(entry.body).ok()?;
    let api = match entry.dialect.or_else(|| ctx_wire::lint::detect(&body))? {
        Dialect::Anthropic => RequestApi::Anthropic,
        Dialect::Gemini => RequestApi::Gemini,
        Dialect::OpenaiResponses => RequestApi::Responses,
        _ => RequestApi::ChatCompletions,
    };
    let Value::Object(mut body) = body else { return None };
    for key in ["system", "instructions", "systemInstruction", "system_instruction"] {
        body.shift_remove(key);
    }
    let nodes = take_request_messages(&mut body, api).nodes;
    let id = |index: usize| NodeId::from(format!("message {}", index + 1));
    let messages: Vec<Message> =
        nodes.iter().enumerate().map(|(index, node)| node.to_message(&id(index))).collect();
    (!messages.is_empty()).then_some((entry, messages))
}

/// Returns a hash of the role, text, and calls of a message.
fn hash_of_message(message: &Message) -> u64 {
    let calls: Vec<_> =
        message.tool_calls.iter().map(|call| (&call.id, &call.name, call.arguments.to_string())).collect();
    hash_of(&(message.role.as_str(), message.text(), calls, &message.tool_call_id))
}

/// Returns whether one of the first messages looks like a summary.
fn is_summarized(messages: &[Message]) -> bool {
    const MARKS: [&str; 4] =
        ["continued from a previous conversation", "<summary>", "<state_snapshot>", "handoff summary"];
    messages.iter().take(4).any(|message| {
        let text = message.text();
        MARKS.iter().any(|mark| text.contains(mark))
    })
}
