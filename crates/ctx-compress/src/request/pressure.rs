//! Shortens required messages that exceed the budget. A digest may replace older tool rounds.

use std::collections::BTreeMap;

use ctx_types::{Message, Role};

use crate::request::last_rounds::{tool_names, tool_of};
use crate::request::layout::{LaidGroup, Layout, Part, older_rounds};
use crate::request::meter::Meter;
use crate::request::outcome::Overflow;
use crate::request::preview::{gist, preview, without_middle};

/// Characters kept of a result or text, step by step.
const STEPS: [usize; 4] = [600, 240, 80, 0];

/// Characters kept of a result in an older round, before a digest replaces the round.
const PREVIEW_STEPS: [usize; 3] = [600, 240, 80];

/// Minimum length of the last user message in characters.
const LAST_WORDS: usize = 16;

/// Shortens the running turn until all required messages have at most `budget` tokens. Does nothing if they fit.
///
/// 1. Tool results of all rounds but the newest 2 become previews, the oldest first.
/// 2. These rounds become history, which a digest may replace.
/// 3. The other results become previews, then shorter ones.
/// 4. Long texts lose their middle, the oldest first and the last user message last.
///
/// Stops as soon as everything fits. Calls, ids and roles stay, and no text becomes empty. Returns the new messages by
/// index.
pub(crate) fn relieve(
    messages: &[Message],
    layout: &mut Layout,
    meter: &Meter<'_>,
    budget: u64,
) -> Result<BTreeMap<usize, Message>, Box<Overflow>> {
    let older = older_rounds(messages);
    let mut relief =
        Relief { messages, meter, shortened: BTreeMap::new(), tokens: layout.fixed_tokens(), budget };
    for max_chars in PREVIEW_STEPS {
        for group in layout.groups.iter().filter(|group| group.is_current_in(&older)) {
            relief.shorten_results(group, max_chars);
        }
    }
    if relief.tokens > budget {
        layout.release_older_rounds(&older);
        relief.shortened.clear();
        relief.tokens = layout.fixed_tokens();
    }
    let current: Vec<&LaidGroup> = layout.groups.iter().filter(|group| group.part == Part::Current).collect();
    let each_step =
        || STEPS.iter().flat_map(|max_chars| current.iter().map(move |group| (*group, *max_chars)));
    each_step().for_each(|(group, max_chars)| relief.shorten_results(group, max_chars));
    each_step().for_each(|(group, max_chars)| relief.shorten_texts(group, max_chars, layout.last_user));
    if let Some(last) = layout.last_user {
        relief.shorten_last_words(last);
    }
    if relief.tokens > budget {
        let saved =
            |group: &LaidGroup| saved_tokens(messages, relief.shortened.range(group.range.clone()), meter);
        return Err(Box::new(Overflow::of(messages, layout, budget, saved)));
    }
    Ok(relief.shortened)
}

/// Returns the tokens that shorter messages save.
pub(crate) fn saved_tokens<'a>(
    messages: &[Message],
    shortened: impl Iterator<Item = (&'a usize, &'a Message)>,
    meter: &Meter<'_>,
) -> u64 {
    shortened.map(|(index, short)| meter.message(&messages[*index]) - meter.message(short)).sum()
}

struct Relief<'a> {
    messages: &'a [Message],
    meter: &'a Meter<'a>,
    shortened: BTreeMap<usize, Message>,
    /// Tokens of all protected messages.
    tokens: u64,
    budget: u64,
}

impl Relief<'_> {
    fn shorten_results(&mut self, group: &LaidGroup, max_chars: usize) {
        let members = self.messages.get(group.range.clone()).unwrap_or_default();
        let tools = tool_names(members);
        for (index, message) in
            group.range.clone().zip(members).filter(|(_, message)| message.role == Role::Tool)
        {
            self.replace(index, message, |message| preview(message, tool_of(message, &tools), max_chars));
        }
    }

    fn shorten_texts(&mut self, group: &LaidGroup, max_chars: usize, last_user: Option<usize>) {
        let members = self.messages.get(group.range.clone()).unwrap_or_default();
        let is_text = |role: Role| matches!(role, Role::User | Role::Assistant);
        for (index, message) in group.range.clone().zip(members).filter(|(_, message)| is_text(message.role))
        {
            if Some(index) != last_user {
                self.replace(index, message, |message| gist(message, max_chars.max(LAST_WORDS)));
            }
        }
    }

    /// Shortens the last user message to the remaining tokens.
    fn shorten_last_words(&mut self, index: usize) {
        let Some(message) = self.messages.get(index) else { return };
        let mut chars = message.text().chars().count();
        while chars > LAST_WORDS {
            // Small steps of 10% remove little more than necessary.
            chars = (chars - chars.div_ceil(10)).max(LAST_WORDS);
            self.replace(index, message, |message| without_middle(message, chars));
        }
    }

    /// Replaces a message by a shorter one while the budget is exceeded.
    fn replace(
        &mut self,
        index: usize,
        message: &Message,
        shorten: impl FnOnce(&Message) -> Option<Message>,
    ) {
        if self.tokens <= self.budget {
            return;
        }
        let Some(short) = shorten(message) else { return };
        let before = self.meter.message(self.shortened.get(&index).unwrap_or(message));
        let after = self.meter.message(&short);
        if after < before {
            self.tokens -= before - after;
            self.shortened.insert(index, short);
        }
    }
}
