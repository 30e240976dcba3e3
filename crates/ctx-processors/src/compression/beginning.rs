//! What of a conversation need not be loaded, because it stands compressed and none of it is sent.

use std::ops::Range;

use ctx_pipeline::PipelineContext;
use ctx_types::{Agent, Decision, Message, Role, Session};

use crate::compression::account::runs;
use crate::compression::kept::{Became, is_free, is_same};
use crate::compression::outcome::Outcome;
use crate::costing::Costing;
use crate::injection_assembler::InjectionAssembler;
use crate::regex_processor::ActiveRules;
use crate::regex_rules::RuleSet;
use crate::variable_processor::VariableProcessor;
use crate::window::{LoadedWindow, WindowSize};
use crate::worldbook_processor::WorldbookProcessor;

/// Messages side by side that are gone from the request, and what was decided about them.
///
/// They were the oldest that were loaded, just as the conversation has them: no stage had changed them, and none may
/// change them in a later turn ([`leaves_unchanged`]).
#[derive(Debug)]
pub(crate) struct Beginning {
    /// Their positions among what is sent of the conversation.
    positions: Range<usize>,
    /// The message behind them. As long as the conversation has this very one there, all before it are the same.
    next: Message,
    /// How many tokens could be loaded when they were.
    window: u64,
    /// What became of them.
    pub(super) decisions: Vec<Decision>,
}

impl Beginning {
    /// Finds them in what a run loaded. O(those messages).
    ///
    /// The last message that was rewritten is not among them, by which the rest is known again, nor is one that a
    /// regex rule may still change when it moves deeper. There are none where a rule looks for something else in each turn.
    pub(crate) fn find(cx: &PipelineContext<'_>, given: &[Message], outcome: &Outcome) -> Option<Self> {
        let last = outcome.kept.last_covered()?;
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
            outcome.became_of(*place).is_some_and(Became::is_gone)
                && stored.is_some_and(|stored| stored.is_shared_with(message))
                && message.attachments.is_empty()
                && is_free(message)
                && !is_same(message, last)
        };
        let free = given.get(start..)?.iter().zip((start..).zip(first..));
        let mut count = free.take(settled).take_while(is_gone).count();
        // What answers a call stays with it, and what stands among the messages keeps its place among those.
        let stays = |message: &Message| message.role == Role::Tool || !is_free(message);
        while count > 0 && given.get(start + count).is_none_or(stays) {
            count -= 1;
        }
        if count == 0 {
            return None;
        }
        let positions = first..first + count;
        let costing = Costing::of(cx);
        let next = session.sent_message(positions.end)?.clone();
        let decisions = runs(Vec::new(), given.get(..start + count)?, outcome, &costing);
        Some(Self { positions, next, window: size, decisions })
    }

    /// Returns whether they are of a conversation, and a window of so many tokens behind so many leading instructions
    /// loads none that is older.
    pub(super) fn is_of(&self, session: &Session, pinned: usize, window: u64) -> bool {
        let next = session.sent_message(self.positions.end);
        next.is_some_and(|message| message.is_shared_with(&self.next))
            && (self.positions.start == pinned || window <= self.window)
    }

    /// Returns their positions among what is sent of the conversation.
    pub(crate) fn positions(&self) -> Range<usize> {
        self.positions.clone()
    }
}

/// Returns whether a processor that runs between the loader and the compressor leaves messages of the conversation as
/// they are in a later turn where it has left them so in an earlier one, whatever else that turn brings; of regex rules the
/// compressor finds that out. Processors of others may do anything.
pub fn leaves_unchanged(id: &str, agent: &Agent) -> bool {
    match id {
        VariableProcessor::ID => agent.variable_config.is_none(),
        InjectionAssembler::ID | WorldbookProcessor::ID => true,
        // Of these nobody else asks for the id.
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
