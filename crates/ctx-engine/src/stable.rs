//! Predicts which messages the next turn repeats byte for byte.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_pipeline::internal::Run;
use ctx_processors::internal::{ActiveRules, AgentMacros, LimiterResult, LoadedWindow, WorldbookScan};
use ctx_processors::regex_rules::RuleSet;
use ctx_types::internal::has_marks;
use ctx_types::report::{StablePart, Unstable};
use ctx_types::{
    CacheMark, CachePolicy, Message, Phrase, Place, Placement, Role, Segment, Source, SourceKind, phrase,
};

use crate::compiled_agent::CompiledAgent;

pub(crate) struct Stability<'a> {
    macros: &'a AgentMacros,
    moving: &'a BTreeSet<usize>,
    further: &'a [Message],
    rules: Option<&'a ActiveRules>,
    /// Number of newest messages that depth-limited regex rules may still change.
    settled: usize,
    constant: BTreeSet<Arc<str>>,
    /// Whether the start of the sent conversation moves from turn to turn.
    is_shortened: bool,
}

impl<'a> Stability<'a> {
    pub(crate) fn new(run: &'a Run, agent: &'a CompiledAgent, further: &'a [Message]) -> Self {
        let skipped = run.blackboard.get::<LoadedWindow>().map_or(0, |window| window.skipped);
        let dropped = run.blackboard.get::<LimiterResult>().map_or(0, |result| result.dropped);
        let rules: Option<&ActiveRules> = run.blackboard.get();
        Self {
            macros: &agent.macros,
            moving: &agent.moving,
            further,
            rules,
            settled: rules.map(ActiveRules::rules).map_or(0, RuleSet::settled_depth),
            constant: run.blackboard.get().map(WorldbookScan::constant_entries).unwrap_or_default(),
            is_shortened: skipped > 0 || dropped > 0,
        }
    }

    /// Finds the first text that may differ next turn. O(messages and segments).
    pub(crate) fn part(&self, messages: &[Message]) -> StablePart {
        let said = messages.iter().filter(|message| is_said(message)).count();
        let last = messages.iter().rposition(|message| is_said(message) && !message.is_continuation_prefix);
        let mut older = 0;
        for (index, message) in messages.iter().enumerate() {
            let place = HistoryPosition {
                older,
                newer: said - older,
                is_below: older > 0 && last < Some(index),
                is_before: messages.get(index + 1).is_some_and(is_said),
            };
            if let Some((source, reason)) = self.instability(message, place) {
                let end = Unstable { message: index, source: source.clone(), reason };
                let is_leaving = !is_said(message) && !may_write_other_text(source);
                let earlier = is_leaving.then(|| part_before_join(messages, index)).flatten();
                let part = earlier.unwrap_or(StablePart { messages: index, ended_by: Some(end) });
                return without_placeholders(messages, part);
            }
            older += usize::from(is_said(message));
        }
        let all = StablePart { messages: messages.len(), ended_by: None };
        part_before_join(messages, messages.len()).unwrap_or(all)
    }

    fn instability<'b>(&self, message: &'b Message, place: HistoryPosition) -> Option<(&'b Source, Phrase)> {
        if let Some(reason) = self.movement(message, place) {
            return Some((&message.source, reason));
        }
        if message.written.is_empty() {
            return self.change_reason(&message.source).map(|reason| (&message.source, reason));
        }
        // Messages joined in a slot lose the placement of their parts.
        let is_gap = matches!(message.place, Place::Gap { .. } | Place::History) && is_said(message);
        let mut is_below = is_gap || place.older > 0 && message.placement.is_none();
        message.written.iter().find_map(|segment| self.segment_instability(segment, &mut is_below))
    }

    fn segment_instability<'b>(
        &self,
        segment: &'b Segment,
        is_below: &mut bool,
    ) -> Option<(&'b Source, Phrase)> {
        let sources = || std::iter::once(&segment.source).chain(&segment.via);
        let differs = sources().find_map(|source| Some((source, self.change_reason(source)?)));
        let origin = segment.via.last().unwrap_or(&segment.source);
        let is_moving = origin.index().is_some_and(|index| self.moving.contains(&index));
        let moves = match origin.kind {
            SourceKind::Preset => *is_below || is_moving,
            SourceKind::Worldbook => *is_below,
            _ => false,
        };
        *is_below |= origin.kind.is_history();
        let moves = moves.then(|| (origin, phrase!("below messages of the conversation")));
        differs.or(moves)
    }

    fn movement(&self, message: &Message, place: HistoryPosition) -> Option<Phrase> {
        if message.is_continuation_prefix {
            return Some(phrase!("the reply is being continued"));
        }
        // A message above the conversation may be joined with its first message.
        let is_joined = place.is_before && !message.role.is_instruction();
        let is_first = is_said(message) && (message.place != Place::Pinned || !message.written.is_empty());
        if self.is_shortened && (is_first || is_joined) {
            return Some(phrase!("older messages are dropped; the next turn may drop more"));
        }
        if is_said(message) && self.settled > 0 && place.newer <= self.settled {
            return Some(phrase!("a regex rule changes messages by their depth"));
        }
        match message.placement.as_deref() {
            Some(Placement::Depth { .. } | Placement::Index { at: ..0, .. }) => {
                Some(phrase!("its position is counted from the end of the conversation"))
            }
            Some(Placement::Index { at, .. }) if self.is_shortened || is_beyond(*at, place.older) => {
                Some(phrase!("its position is or was beyond the conversation"))
            }
            _ if place.is_below => Some(phrase!("below the conversation")),
            _ => None,
        }
    }

    fn change_reason(&self, source: &Source) -> Option<Phrase> {
        let id = source.id.as_deref().unwrap_or_default();
        let reason = match source.kind {
            SourceKind::Macro if self.is_volatile(id) => phrase!("the macro changes every turn"),
            SourceKind::Variable => phrase!("a session variable may change"),
            SourceKind::Worldbook if !self.constant.contains(id) => phrase!("the entry may be inactive"),
            SourceKind::Rule if self.rule_is_volatile(source) => {
                phrase!("the rule uses a macro that changes every turn")
            }
            SourceKind::Plugin => phrase!("a plug-in may send different text"),
            _ if self.further.iter().any(|message| message.source == *source) => {
                phrase!("this turn only")
            }
            _ => return None,
        };
        Some(reason)
    }

    fn is_volatile(&self, name: &str) -> bool {
        // An unknown macro was removed by its host.
        self.macros.registry.get(name, self.macros.dialect).is_none_or(|definition| definition.volatile)
    }

    fn rule_is_volatile(&self, rule: &Source) -> bool {
        self.rules.map(ActiveRules::rules).is_some_and(|rules| rules.is_volatile(rule))
    }
}

/// Ends the stable part one message earlier, if that message may be joined with a later message or the reply
/// once the message at `end` moves.
fn part_before_join(messages: &[Message], end: usize) -> Option<StablePart> {
    let last = end.checked_sub(1)?;
    let message = messages.get(last).filter(|message| message.role != Role::Tool)?;
    let after = messages.get(end + 1..).unwrap_or_default();
    let next = after.iter().position(is_said);
    let mut following = after.iter().take(next.map_or(after.len(), |next| next + 1));
    let meets_answer = next.is_none() && message.role == Role::Assistant;
    if !meets_answer && !following.any(|other| other.role == message.role) {
        return None;
    }
    let reason = phrase!("it may be joined with the next message");
    let ended_by = Unstable { message: last, source: message.source.clone(), reason };
    Some(StablePart { messages: last, ended_by: Some(ended_by) })
}

/// A formatter's placeholders depend on later messages.
fn without_placeholders(messages: &[Message], part: StablePart) -> StablePart {
    let stable = messages.get(..part.messages).unwrap_or_default();
    let written = stable.iter().rev().take_while(|message| message.source.kind == SourceKind::Formatter);
    StablePart { messages: stable.len() - written.count(), ..part }
}

/// Position relative to the conversation; counts only its messages.
#[derive(Clone, Copy)]
struct HistoryPosition {
    /// Number above.
    older: usize,
    /// Number below, including the message itself.
    newer: usize,
    /// Whether it is below the whole conversation.
    is_below: bool,
    is_before: bool,
}

/// Such a message was moved there.
fn is_beyond(at: i64, older: usize) -> bool {
    // `usize` is 32 bits wide in WebAssembly.
    i64::try_from(older).is_ok_and(|older| at > older)
}

/// Also matches messages that were joined with the conversation.
fn is_said(message: &Message) -> bool {
    let has_joined = || message.written.iter().any(|segment| segment.source.kind.is_history());
    message.place == Place::History || has_joined()
}

/// Whether a source may write other text into the same message.
fn may_write_other_text(source: &Source) -> bool {
    matches!(source.kind, SourceKind::Macro | SourceKind::Variable | SourceKind::Rule)
}

/// The leading system messages get a separate mark: it survives edits of the conversation. Those of the agent get
/// another one: the client's can have a clock. Marks of the conversation replace all.
pub(crate) fn mark(policy: CachePolicy, messages: &mut [Message], stable: &StablePart) {
    if policy != CachePolicy::Stable || messages.iter().any(has_marks) {
        return;
    }
    let stable = messages.get_mut(..stable.messages).unwrap_or_default();
    let leading = stable.iter().take_while(|message| message.role.is_instruction()).count();
    let is_of_agent = |message: &&Message| !message.source.kind.is_history();
    let of_agent = stable.iter().take(leading).take_while(is_of_agent).count();
    for end in BTreeSet::from([of_agent, leading, stable.len()]) {
        let last = end.checked_sub(1).and_then(|last| stable.get_mut(last));
        if let Some(last) = last.filter(|message| message.cache_mark.is_none()) {
            last.cache_mark = Some(CacheMark::Short);
        }
    }
}
