use std::ops::Range;

use ctx_pipeline::PipelineContext;
use ctx_types::{Agent, Decision, Message, Role, Session};

use crate::compression::cache::{MessageOutcome, is_free, is_same};
use crate::compression::report::runs;
use crate::compression::result::CompressionResult;
use crate::injection_assembler::InjectionAssembler;
use crate::message_costs::MessageCosts;
use crate::regex_processor::ActiveRules;
use crate::regex_rules::RuleSet;
use crate::variable_processor::VariableProcessor;
use crate::window::{LoadedWindow, WindowSize};
use crate::worldbook_processor::WorldbookProcessor;

/// The oldest loaded messages that are no longer sent, with their decisions.
///
/// No processor changed them, and none can change them in a later turn ([`leaves_unchanged`]).
#[derive(Debug)]
pub(crate) struct CompressedPrefix {
    positions: Range<usize>,
    /// The next message. If it is unchanged, the messages before it are too.
    next: Message,
    /// Token limit of the loader in that run.
    window: u64,
    pub(super) decisions: Vec<Decision>,
}

impl CompressedPrefix {
    /// Finds the prefix in the loaded messages. O(prefix).
    ///
    /// Excludes the last compressed message, which identifies the rest in later turns, and messages that a
    /// regex rule can still change at a greater depth. Returns `None` if a rule's pattern contains macros.
    pub(crate) fn find(
        cx: &PipelineContext<'_>,
        given: &[Message],
        result: &CompressionResult,
    ) -> Option<Self> {
        let last = result.cache.last_covered()?;
        let (session, window) = (cx.inputs.session, cx.blackboard.get::<LoadedWindow>()?);
        let size = cx.blackboard.get::<WindowSize>()?.tokens;
        let rules = cx.blackboard.get::<ActiveRules>().and_then(ActiveRules::rules);
        if !rules.is_none_or(RuleSet::is_fixed) {
            return None;
        }
        let first = window.pinned + window.skipped;
        let settled =
            session.sent_len().checked_sub(first.saturating_add(rules.map_or(0, RuleSet::settled_depth)))?;
        let start = given.iter().position(is_free)?;
        let is_gone = |(message, (place, position)): &(&Message, (usize, usize))| {
            let stored = session.sent_message(*position);
            result.message_outcome(*place).is_some_and(MessageOutcome::is_gone)
                && stored.is_some_and(|stored| stored.is_shared_with(message))
                && message.attachments.is_empty()
                && is_free(message)
                && !is_same(message, last)
        };
        let free = given.get(start..)?.iter().zip((start..).zip(first..));
        let mut count = free.take(settled).take_while(is_gone).count();
        // A tool result stays with its call, and an injection keeps its position.
        let stays = |message: &Message| message.role == Role::Tool || !is_free(message);
        while count > 0 && given.get(start + count).is_none_or(stays) {
            count -= 1;
        }
        if count == 0 {
            return None;
        }
        let positions = first..first + count;
        let costing = MessageCosts::new(cx);
        let next = session.sent_message(positions.end)?.clone();
        let decisions = runs(Vec::new(), given.get(..start + count)?, result, &costing);
        Some(Self { positions, next, window: size, decisions })
    }

    pub(super) fn matches(&self, session: &Session, pinned: usize, window: u64) -> bool {
        let next = session.sent_message(self.positions.end);
        next.is_some_and(|message| message.is_shared_with(&self.next))
            && (self.positions.start == pinned || window <= self.window)
    }

    pub(crate) fn positions(&self) -> Range<usize> {
        self.positions.clone()
    }
}

/// Returns whether a processor between the loader and the compressor leaves a message unchanged in later
/// turns if it did so once.
///
/// Returns `false` for custom processors. The compressor checks regex rules itself.
pub fn leaves_unchanged(id: &str, agent: &Agent) -> bool {
    match id {
        VariableProcessor::ID => agent.variable_config.is_none(),
        InjectionAssembler::ID | WorldbookProcessor::ID => true,
        // These processors have no `ID` constant.
        _ => OTHERS.contains(&id),
    }
}

const OTHERS: [&str; 6] = [
    "author-note",
    "dialogue-examples",
    "generation-prompt",
    "merge-injections",
    "regex-processor",
    "transcription-processor",
];
